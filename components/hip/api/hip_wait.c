/* Waiting for commands of the driver: the engine runs in a thread that waits, and other host
 * threads take turns meanwhile (components/hip/turns). */
#include "components/hip/api/code/hip_hostcall.h"
#include "components/hip/api/memory/hip_host_memory.h"
#include "components/hip/api/streams/hip_stream.h"
#include "components/hip/turns/hip_turns.h"

#include "hip_internal.h"

/* The engine failed while it ran for all threads that wait; each finds out when it continues. */
static bool has_failed;

bool hip_is_ticket_done(uint64_t ticket)
{
    uint64_t done_ps;
    return ticket == 0 || has_failed || hip.api->time_of(ticket, &done_ps) != DRIVER_NOT_READY;
}

static uint64_t now_ps(void)
{
    return hip.api ? hip.api->now() : 0;
}

static bool pass_time(uint64_t span_ps)
{
    hip_lock();
    bool runs = hip.state == HIP_OPEN && hip.device_error == hipSuccess;
    hip_lock_pause();
    enum driver_status status = runs ? hip.api->pass(span_ps) : DRIVER_NOT_READY;
    hip_lock_resume();
    runs = hip_status_of(status, "sleep") == hipSuccess;
    hip_unlock();
    return runs;
}

static void step_engine(bool polls)
{
    hip_lock_resume();
    bool has_served = hip_hostcall_step();
    hip_lock_pause();
    if (!has_served && hip.api->advance(polls) != DRIVER_OK)
        has_failed = true;
}

const struct hip_turns_engine hip_turns_engine = {.is_done = hip_is_ticket_done,
                                                  .now_ps = now_ps,
                                                  .pass = pass_time,
                                                  .step = step_engine,
                                                  .leave = hip_hide_state};

bool hip_yield_turn(uint64_t ticket, bool polls)
{
    hip_lock_pause();
    bool is_ordered = hip_turns_wait_ticket(ticket, polls);
    hip_lock_resume();
    return is_ordered;
}

hipError_t hip_wait_alone(uint64_t ticket)
{
    hipError_t error = hip_hostcall_wait_ticket(ticket);
    if (error != hipSuccess)
        return error;
    hip_lock_pause();
    enum driver_status status = hip.api->wait(ticket);
    hip_lock_resume();
    return hip_status(status);
}

hipError_t hip_wait_ticket(uint64_t ticket)
{
    hip_host_memory_mark_waited();
    hip_yield_turn(ticket, false);
    return hip_wait_alone(ticket);
}

hipError_t hip_wait_device(int device)
{
    return hip_streams_wait(device, hip_wait_ticket);
}

hipError_t hip_wait_all_devices(void)
{
    hipError_t error = hipSuccess;
    for (int device = 0; device < hip.device_count && error == hipSuccess; device++)
        error = hip_is_device(device) ? hip_wait_device(device) : hipSuccess;
    return error;
}

hipError_t hip_wait_here(uint64_t ticket)
{
    hipError_t error = hip_hostcall_wait_ticket(ticket);
    return error == hipSuccess ? hip_status(hip.api->wait(ticket)) : error;
}

/* The table of services (hip_services.h), each of which is a function of this library. */
#include "hip_services.h"

#include "components/hip/api/code/hip_hostcall.h"
#include "components/hip/api/commands/hip_launch.h"
#include "components/hip/api/memory/hip_host_memory.h"
#include "components/hip/api/streams/hip_capture.h"
#include "components/hip/api/streams/hip_graph.h"
#include "components/hip/api/streams/hip_stream.h"
#include "components/hip/turns/hip_turns.h"

#include "hip_findings.h"
#include "hip_internal.h"

static bool hip_is_open(void)
{
    return hip.state == HIP_OPEN;
}

static hipError_t hip_device_error(void)
{
    return hip.device_error;
}

static bool hip_is_functional(void)
{
    return hip.is_functional;
}

static void hip_play_calls(void)
{
    hip.plays_trace = true;
}

static const struct driver_api *hip_driver(void)
{
    return hip.api;
}

static int hip_device_count(void)
{
    return hip.device_count;
}

static const struct driver_device_info *hip_device_info(int device)
{
    return &hip.devices[device].info;
}

static uint32_t hip_device_number(int device)
{
    return hip.devices[device].number;
}

static uint32_t hip_device_queue(int device)
{
    return hip.devices[device].queue;
}

/* The lock of turns is taken first, so that no wake() of the table comes in between. */
static bool hip_wait_for(const void *address, bool watches)
{
    const struct timespec until = hip_turns_later(&(struct timespec){.tv_sec = 1});
    hip_turns_lock();
    hip_lock_pause();
    bool is_woken = hip_turns_wait(address, HIP_TURNS_SIGNAL, watches ? &until : NULL)
                    || !hip_turns_are_all_ordered();
    hip_turns_unlock();
    hip_lock_resume();
    return is_woken;
}

static void hip_wake(const void *address)
{
    hip_turns_wake(address, HIP_TURNS_SIGNAL, UINT32_MAX);
}

/* The thread is ordered if the program's are, as code that uses this library has created it. */
static int hip_make_thread(void *(*start)(void *), void *argument)
{
    pthread_t thread;
    pthread_attr_t attributes;
    const void *code = NULL;
    memcpy(&code, &start, sizeof code);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    int error = hip_turns_create(&thread, &attributes, start, argument, code);
    pthread_attr_destroy(&attributes);
    return error;
}

const struct hip_services *heddleServices(void)
{
    static const struct hip_services services = {
#define HIP_SERVICE(type, name, function, parameters) .name = (function),
#include "hip_services.def"
#undef HIP_SERVICE
    };
    return &services;
}

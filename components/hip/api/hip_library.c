/* The one lock, the begin and end of calls, and the end of the library.
 *
 * The platform is opened by the first call that needs a device, never by the constructors that
 * register kernels, so a program that only prints its usage starts no simulator. It is closed by
 * this library's destructor, which runs after the program's own exit handlers. Options come from
 * the environment that `heddle run` sets, and the outcome goes back to it;
 * runtime/engine/options.h and runtime/session/run_ledger.h describe both. */
#include "components/hip/api/memory/hip_host_memory.h"
#include "components/hip/api/process/hip_process.h"
#include "components/hip/api/record/hip_record.h"
#include "components/hip/api/streams/hip_stream.h"
#include "components/hip/turns/hip_turns.h"
#include "runtime/session/run_ledger.h"

#include "hip_findings.h"
#include "hip_unsupported.h"

struct hip_library hip = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local int current_device;
static _Thread_local bool is_inside;
static _Thread_local const char *current_call; /* the function that has the lock, or NULL */
static _Thread_local bool is_reported; /* the driver knows of the call of hip_begin_outer_call() */

bool hip_is_inside(void)
{
    return is_inside;
}

void hip_lock(void)
{
    hip_turns_inside(1);
    pthread_mutex_lock(&hip.lock);
    is_inside = true;
    if (hip.state == HIP_OPEN)
        hip.api->enter_call();
}

void hip_hide_state(void)
{
    if (hip.state == HIP_OPEN)
        hip.api->hide();
}

void hip_unlock(void)
{
    is_inside = false;
    if (hip.state == HIP_OPEN)
        hip.api->leave_call(is_reported && hip_outer_call() ? NULL : hip_current_call());
    is_reported |= current_call != NULL;
    current_call = NULL;
    hip_hide_state();
    pthread_mutex_unlock(&hip.lock);
    hip_turns_inside(-1);
}

void hip_lock_pause(void)
{
    pthread_mutex_unlock(&hip.lock);
}

void hip_lock_resume(void)
{
    pthread_mutex_lock(&hip.lock);
}

/* The program uses the interface of another vendor's devices. */
static hipError_t fail_interface(void)
{
    const char *isa = hip.devices[0].info.isa;
    if (hip.executes_ptx)
        hip_say("the GPUs of this platform are NVIDIA's (%s), but the program uses HIP or OpenCL, "
                "which need GPUs of AMD's: platforms/r9nano.heddle has one",
                isa);
    else
        hip_say("the GPUs of this platform are AMD's (%s), but the program uses CUDA, which needs "
                "GPUs of NVIDIA's: platforms/a100.heddle has one",
                isa);
    run_ledger_report(EXIT_UNABLE);
    return hipErrorNoDevice;
}

const char *hip_current_call(void)
{
    return current_call && hip_outer_call() ? hip_outer_call() : current_call;
}

hipError_t hip_enter(const char *function)
{
    hip_set_step(function);
    hip_turns_check_caller();
    hip_lock();
    current_call = function;
    if (hip.state == HIP_CLOSED)
        hip.state = hip_open_platform();
    if (hip.state == HIP_FINISHED)
        return hipErrorDeinitialized;
    if (hip.state == HIP_FORKED)
        return hip_fail_forked();
    if (hip.state == HIP_OPEN && !hip.plays_trace && hip.executes_ptx != (hip_outer_call() != NULL))
        return fail_interface();
    return hip.state == HIP_OPEN ? hipSuccess : hipErrorNoDevice;
}

const char *hip_begin_outer_call(const char *function)
{
    is_reported = false;
    return hip_set_outer_call(function);
}

void hip_end_outer_call(const char *before)
{
    const char *function = hip_set_outer_call(before);
    if (!is_reported)
        hip_report_call(function);
}

void hip_report_call(const char *function)
{
    if (!hip.reports_calls || hip_is_inside() || hip.state != HIP_OPEN)
        return;
    hip_lock();
    current_call = function;
    hip_unlock();
}

hipError_t hip_leave(hipError_t error)
{
    hipError_t fetched = hip_host_memory_fetch();
    error = error == hipSuccess ? fetched : error;
    hip_record_end_call();
    hip_unlock();
    if (error != hipSuccess && error != hipErrorNotReady)
        hip_set_last_error(error);
    return error;
}

/* Commands that are still queued at the end are executed, as a program may end without waiting for
 * its last kernel, unless the driver finds that they do not end. The thread that ends the program
 * keeps its turn, and stays inside of the library. */
__attribute__((destructor)) static void close_library(void)
{
    if (hip_process_is_child())
        return;
    if (hip.state == HIP_FINISHED)
        return; /* in the middle of a call (hip_process.c) */
    hip_lock();
    hip_set_step("end of the program");
    enum hip_state state = hip.state;
    hip.state = HIP_FINISHED;
    if (hip.has_unseen_error) {
        hip_say("kernels were not launched, since they have no code for their device, and the "
                "program has not asked for the error");
        run_ledger_report(EXIT_GAVE_UP);
    }
    if (state != HIP_OPEN) {
        hip_say_repeats();
        return;
    }
    for (int device = 0; device < hip.device_count && hip.device_error == hipSuccess; device++) {
        if (!hip_is_device(device))
            continue;
        hip_streams_wait(device, hip_wait_alone);
    }
    hip_say_repeats();
    hip_report_leaks();
    hip_record_close();
    hip_process_close();
}

int hip_current_device(void)
{
    return current_device;
}

hipError_t hip_set_current_device(int device)
{
    if (!hip_is_device(device))
        return hipErrorInvalidDevice;
    if (device != current_device)
        hip_record_call(
            &(struct api_trace_call){.kind = API_TRACE_SET_DEVICE, .device = (uint32_t)device});
    current_device = device;
    return hipSuccess;
}

void hip_say_missing(const char *name, const char *result)
{
    hip_say("%s: not in this HIP library; the program goes on with %s (reference/hip.md of "
            "'./dev docs' lists what works)",
            name, result);
    hip_set_last_error(hipErrorNotSupported);
}

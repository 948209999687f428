/* Opening the platform, the one lock, and errors.
 *
 * The platform is opened by the first call that needs a device, never by the constructors that
 * register kernels, so a program that only prints its usage starts no simulator. It is finished by
 * this library's destructor, which runs after the program's own exit handlers. Options come from
 * the environment that `heddle run` sets, and the outcome goes back to it;
 * runtime/engine/options.h and runtime/session/run_ledger.h describe both. */
#include "hip_findings.h"
#include "hip_recorder.h"
#include "hip_unsupported.h"
#include "components/amd/isa/isa_target.h"
#include "components/hip/api/code/hip_hostcall.h"
#include "components/hip/api/memory/hip_host_memory.h"
#include "components/hip/api/process/hip_process.h"
#include "components/hip/api/streams/hip_stream.h"
#include "components/hip/turns/hip_turns.h"
#include "components/kfd/guest/guest_driver.h"

#include "runtime/engine/options.h"
#include "runtime/session/run_ledger.h"
#include "runtime/state/platform.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

struct hip_library hip = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local int current_device;
static _Thread_local hipError_t last_error;

/* The address of a function from the object that dlsym() gives, without a cast that ISO C lacks. */
static bool find_open_function(void *object, const struct heddle_platform *(**open)(uint32_t))
{
    void *symbol = dlsym(object, "heddle_platform_open");
    memcpy(open, &symbol, sizeof symbol);
    return symbol != NULL;
}

static const char *unified; /* --unified, or NULL */

static void take_driver(const struct driver_api *api)
{
    hip.api = api;
    uint32_t flags = hip.api->stream_flags();
    hip.orders_streams = (flags & DRIVER_STREAMS_FRONT_END) != 0;
    hip.fill_waits = (flags & DRIVER_STREAMS_FILL_WAITS) != 0;
    hip.copy_returns = (flags & DRIVER_STREAMS_COPY_RETURNS) != 0;
    hip.tells_calls = (flags & DRIVER_STREAMS_TELL_CALLS) != 0;
}

/* The machine is in another process, which several share. */
static bool join_machine(const char *path)
{
    const struct driver_api *api = guest_driver_open(path, &hip.functional);
    if (!api)
        return false;
    hip_process_guard(NULL);
    take_driver(api);
    return true;
}

static bool load_platform(const char *path)
{
    const struct heddle_platform *(*open)(uint32_t) = NULL;
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!object) {
        hip_say("cannot open the platform that HEDDLE_PLATFORM names: %s", dlerror());
        return false;
    }
    if (!find_open_function(object, &open)) {
        hip_say("'%s' is not a platform built by heddle", path);
        return false;
    }
    const struct heddle_platform *platform = open(PLATFORM_ABI);
    if (!platform) {
        hip_say("'%s' was built by another version of heddle; build it again", path);
        return false;
    }
    const char *options = hip_process_open();
    if (!options || !platform->start(options))
        return false; /* the reason was said */
    const char *mode = option_text("mode");
    unified = option_text("unified");
    hip.functional = mode && strcmp(mode, "functional") == 0;
    const struct driver_api *api = platform->driver();
    if (!api) {
        hip_say("'%s' has no driver component, so that no program can run on it", path);
        return false;
    }
    if (api->version != DRIVER_API_VERSION) {
        hip_say("'%s' speaks version %u of the driver interface, this library version %u; build it "
                "again",
                path, api->version, DRIVER_API_VERSION);
        return false;
    }
    take_driver(api);
    if (api->set_caller)
        api->set_caller(hip_caller);
    hip_process_guard(platform);
    return true;
}

/* Features of code objects follow from the architecture: ECC of on-chip SRAM is on where it exists,
 * retry of page faults is off. */
void hip_set_features(struct hip_device *device)
{
    const struct isa_traits *traits = isa_traits_of(device->info.isa);
    device->sramecc = traits && traits->sramecc;
    device->has_xnack = traits && traits->xnack;
}

/* The variable of the environment that chooses devices. */
static const char *choice_name(void)
{
    return hip.executes_ptx ? "CUDA_VISIBLE_DEVICES" : "HIP_VISIBLE_DEVICES";
}

/* Opens the devices that the variable names, in its order, or all: "2,0". */
static bool open_devices(uint32_t count)
{
    const char *list = getenv(choice_name()), *at = list ? list : "";
    bool seen[HIP_DEVICES_MAX] = {false};
    for (uint32_t i = 0; i < count && !list; i++)
        if (hip_open_device((int)i, i) != hipSuccess)
            return false;
    for (int slot = 0; list && (slot == 0 || *at == ','); slot++) {
        char *end = NULL;
        at += slot > 0;
        unsigned long number = *at >= '0' && *at <= '9' ? strtoul(at, &end, 10) : ULONG_MAX;
        if (number >= count || seen[number] || (*end && *end != ',')) {
            hip_say("%s=%s: GPUs of the platform are 0 to %u, each named once, with commas between "
                    "them",
                    choice_name(), list, count - 1);
            return false;
        }
        if (hip_open_device(slot, (uint32_t)number) != hipSuccess)
            return false;
        seen[number] = true;
        at = end;
    }
    return true;
}

/* The window has four times the room of all memory, so that addresses are not reused soon after a
 * free. */
static bool start_devices(void)
{
    uint32_t count = hip.api->device_count();
    uint64_t memory = 0;
    hip.page_bytes = 4096;
    if (count == 0 || count > HIP_DEVICES_MAX) {
        hip_say("the platform has %u devices; 1 to %d can be used", count, HIP_DEVICES_MAX);
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct driver_device_info info;
        if (hip_status_of(hip.api->device_info(i, &info), "opening the platform") != hipSuccess)
            return false;
        hip.executes_ptx = driver_executes_ptx(&info);
        memory += info.memory_bytes;
        hip.page_bytes = info.page_bytes > hip.page_bytes ? info.page_bytes : hip.page_bytes;
    }
    uint64_t window = 1ull << 40;
    while (window < memory * 4)
        window *= 2;
    if (!hip_reserve_window(window)
        || hip_status_of(hip.api->set_window(hip.window_base, hip.window_size),
                         "opening the platform")
               != hipSuccess)
        return false;
    if (unified && !hip_unify_all(unified))
        return false;
    if (!unified && !open_devices(count))
        return false;
    hip.platform_devices = hip.device_count;
    hip_install_fault_handler();
    return true;
}

static enum hip_state open_library(void)
{
    const char *path = getenv(OPTIONS_ENV_PLATFORM);
    if (!path || !*path) {
        hip_say("no platform is chosen; run it through: heddle run PLATFORM -- PROGRAM");
        return HIP_FAILED;
    }
    if (!hip_run_apart(guest_driver_is(path) ? join_machine : load_platform, path)
        || !start_devices()) {
        run_ledger_report(EXIT_NOT_STARTED);
        return HIP_FAILED;
    }
    if (!hip_recorder.open()) {
        run_ledger_report(EXIT_NOT_STARTED);
        return HIP_FAILED;
    }
    if (getenv(choice_name()))
        HIP_RECORD_STEP(refuse("a variable of the environment chooses its GPUs"));
    return HIP_OPEN;
}

static _Thread_local bool has_lock;
static _Thread_local const char *entered; /* the function of the interface that holds it, if any */
static _Thread_local bool has_told; /* the driver of the call that hip_call_begins_as() names */

bool hip_has_lock(void)
{
    return has_lock;
}

void hip_lock(void)
{
    hip_turns_inside(1);
    pthread_mutex_lock(&hip.lock);
    has_lock = true;
    if (hip.state == HIP_OPEN)
        hip.api->enter_call();
}

static void hide_state(void)
{
    if (hip.state == HIP_OPEN)
        hip.api->hide();
}

void hip_unlock(void)
{
    has_lock = false;
    if (hip.state == HIP_OPEN)
        hip.api->leave_call(has_told && hip_called_as() ? NULL : hip_entered());
    has_told |= entered != NULL;
    entered = NULL;
    hide_state();
    pthread_mutex_unlock(&hip.lock);
    hip_turns_inside(-1);
}

/* The program uses the interface of another vendor's devices. */
static hipError_t refuse_interface(void)
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
    run_ledger_report(EXIT_NOT_STARTED);
    return hipErrorNoDevice;
}

const char *hip_entered(void)
{
    return entered && hip_called_as() ? hip_called_as() : entered;
}

hipError_t hip_enter(const char *function)
{
    hip_doing(function);
    hip_turns_check_caller();
    hip_lock();
    entered = function;
    if (hip.state == HIP_CLOSED)
        hip.state = open_library();
    if (hip.state == HIP_FINISHED)
        return hipErrorDeinitialized;
    if (hip.state == HIP_FORKED)
        return hip_process_refuse();
    if (hip.state == HIP_OPEN && !hip.plays && hip.executes_ptx != (hip_called_as() != NULL))
        return refuse_interface();
    return hip.state == HIP_OPEN ? hipSuccess : hipErrorNoDevice;
}

const char *hip_call_begins_as(const char *function)
{
    has_told = false;
    return hip_call_as(function);
}

void hip_call_ends_as(const char *before)
{
    const char *function = hip_call_as(before);
    if (!has_told)
        hip_called(function);
}

void hip_called(const char *function)
{
    if (!hip.tells_calls || hip_has_lock() || hip.state != HIP_OPEN)
        return;
    hip_lock();
    entered = function;
    hip_unlock();
}

void hip_set_last_error(hipError_t error)
{
    last_error = error;
}

hipError_t hip_leave(hipError_t error)
{
    hipError_t fetched = hip_host_memory_fetch();
    error = error == hipSuccess ? fetched : error;
    hip_recorder.leave();
    hip_unlock();
    if (error != hipSuccess && error != hipErrorNotReady)
        last_error = error;
    return error;
}

/* The exit status of `heddle run` when the device was lost. */
static enum exit_status outcome_of(enum driver_status status)
{
    return status == DRIVER_LIMIT      ? EXIT_LIMIT
           : status == DRIVER_STALL    ? EXIT_STALL
           : status == DRIVER_DEADLOCK ? EXIT_DEADLOCK
                                       : EXIT_GAVE_UP;
}

/* Numbers of cudaError that HIP has no name for. */
enum { CUDA_ERROR_ILLEGAL_INSTRUCTION = 715, CUDA_ERROR_MISALIGNED_ADDRESS = 716 };

/* What a kernel did by which the device is lost. */
static hipError_t fault_error(void)
{
    static const int errors[] = {
        [DRIVER_PTX_NO_FAULT] = hipErrorLaunchFailure, /* the machine is at fault */
        [DRIVER_PTX_ADDRESS] = hipErrorIllegalAddress,
        [DRIVER_PTX_MISALIGNED] = CUDA_ERROR_MISALIGNED_ADDRESS,
        [DRIVER_PTX_TRAP] = hipErrorLaunchFailure,
        [DRIVER_PTX_ASSERT] = hipErrorAssert,
        [DRIVER_PTX_STACK] = hipErrorIllegalAddress,
        [DRIVER_PTX_INSTRUCTION] = CUDA_ERROR_ILLEGAL_INSTRUCTION,
    };
    return hip.executes_ptx ? (hipError_t)errors[hip.api->ptx_fault()] : hipErrorIllegalAddress;
}

hipError_t hip_status(enum driver_status status)
{
    static const hipError_t errors[] = {
        [DRIVER_OK] = hipSuccess,
        [DRIVER_NOT_READY] = hipErrorNotReady,
        [DRIVER_OUT_OF_MEMORY] = hipErrorOutOfMemory,
        [DRIVER_INVALID_DEVICE] = hipErrorInvalidDevice,
        [DRIVER_INVALID_ADDRESS] = hipErrorInvalidValue,
        [DRIVER_INVALID_VALUE] = hipErrorInvalidValue,
        [DRIVER_TOO_LARGE] = hipErrorLaunchOutOfResources,
        [DRIVER_DEADLOCK] = hipErrorLaunchFailure,
        [DRIVER_STALL] = hipErrorIllegalState,
        [DRIVER_LIMIT] = hipErrorLaunchTimeOut,
    };
    if (status == DRIVER_OK || status == DRIVER_NOT_READY)
        return errors[status];
    if ((unsigned)status >= sizeof errors / sizeof errors[0]) {
        hip_complain("the driver answered with the unknown status %u", (unsigned)status);
        return hipErrorUnknown;
    }
    const hipError_t error = status == DRIVER_FAULT ? fault_error() : errors[status];
    const char *text = hip.api->error_text();
    bool breaks_device = status == DRIVER_FAULT || status == DRIVER_DEADLOCK
                         || status == DRIVER_STALL || status == DRIVER_LIMIT;
    if (breaks_device)
        hip_process_park();
    if (!breaks_device)
        hip_complain("%s", text);
    else if (hip.lost == hipSuccess)
        hip_complain_always(text);
    if (breaks_device && hip.lost == hipSuccess) {
        hip.lost = error;
        run_ledger_report(outcome_of(status));
    }
    return error;
}

hipError_t hip_status_of(enum driver_status status, const char *step)
{
    const char *before = hip_doing(step);
    hipError_t error = hip_status(status);
    hip_doing(before);
    return error;
}

/* The engine failed while it ran for all threads that wait; each finds out when it goes on. */
static bool step_failed;

bool hip_ticket_done(uint64_t ticket)
{
    uint64_t done_ps;
    return ticket == 0 || step_failed || hip.api->time_of(ticket, &done_ps) != DRIVER_NOT_READY;
}

static uint64_t now_ps(void)
{
    return hip.api ? hip.api->now() : 0;
}

static bool pass(uint64_t span_ps)
{
    hip_lock();
    bool runs = hip.state == HIP_OPEN && hip.lost == hipSuccess;
    pthread_mutex_unlock(&hip.lock);
    enum driver_status status = runs ? hip.api->pass(span_ps) : DRIVER_NOT_READY;
    pthread_mutex_lock(&hip.lock);
    runs = hip_status_of(status, "sleep") == hipSuccess;
    hip_unlock();
    return runs;
}

static void step_engine(bool poll)
{
    pthread_mutex_lock(&hip.lock);
    bool polled = hip_hostcall_step();
    pthread_mutex_unlock(&hip.lock);
    if (!polled && hip.api->advance(poll) != DRIVER_OK)
        step_failed = true;
}

const struct hip_turns_engine hip_turns_engine = {.is_done = hip_ticket_done,
                                                  .now_ps = now_ps,
                                                  .pass = pass,
                                                  .step = step_engine,
                                                  .leave = hide_state};

bool hip_take_turn(uint64_t ticket, bool poll)
{
    pthread_mutex_unlock(&hip.lock);
    bool ordered = hip_turns_wait_ticket(ticket, poll);
    pthread_mutex_lock(&hip.lock);
    return ordered;
}

/* Waits without giving other threads their turn. */
static hipError_t wait_alone(uint64_t ticket)
{
    hipError_t error = hip_hostcall_wait_ticket(ticket);
    if (error != hipSuccess)
        return error;
    pthread_mutex_unlock(&hip.lock);
    enum driver_status status = hip.api->wait(ticket);
    pthread_mutex_lock(&hip.lock);
    return hip_status(status);
}

hipError_t hip_wait_ticket(uint64_t ticket)
{
    hip_host_memory_waited();
    hip_take_turn(ticket, false);
    return wait_alone(ticket);
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

/* Commands that are still queued at the end are executed, as a program may end without waiting for
 * its last kernel, unless the driver finds that they do not end. The thread that ends the program
 * keeps its turn, and stays inside of the library. */
__attribute__((destructor)) static void finish_library(void)
{
    if (hip_process_is_child())
        return;
    if (hip.state == HIP_FINISHED)
        return; /* in the middle of a call (hip_process.c) */
    hip_lock();
    hip_doing("end of the program");
    enum hip_state state = hip.state;
    hip.state = HIP_FINISHED;
    if (hip.unheard) {
        hip_say("kernels were not launched, since they have no code for their device, and the "
                "program has not asked for the error");
        run_ledger_report(EXIT_GAVE_UP);
    }
    if (state != HIP_OPEN) {
        hip_say_repeats();
        return;
    }
    for (int device = 0; device < hip.device_count && hip.lost == hipSuccess; device++) {
        if (!hip_is_device(device))
            continue;
        hip_streams_wait(device, wait_alone);
    }
    hip_say_repeats();
    hip_report_leaks();
    hip_recorder.finish();
    hip_process_finish();
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
        HIP_RECORD(.kind = API_TRACE_SET_DEVICE, .device = (uint32_t)device);
    current_device = device;
    return hipSuccess;
}

void hip_refuse(const char *name, const char *result)
{
    hip_say("%s: not in this HIP library; the program goes on with %s (reference/hip.md of "
            "'./dev docs' lists what works)",
            name, result);
    last_error = hipErrorNotSupported;
}

hipError_t hipGetLastError(void)
{
    hip_called(__func__);
    hipError_t error = last_error;
    hip.unheard = false;
    last_error = hipSuccess;
    return error;
}

hipError_t hipPeekAtLastError(void)
{
    hip_called(__func__);
    hip.unheard = false;
    return last_error;
}

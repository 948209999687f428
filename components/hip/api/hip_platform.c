/* Opening the platform and its devices: the shared object that the environment names, or the
 * machine of another process. See hip_library.c for when. */
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "components/amd/isa/isa_target.h"
#include "components/hip/api/process/hip_process.h"
#include "components/hip/api/record/hip_record.h"
#include "components/hip/turns/hip_turns.h"
#include "components/host/start/open_platform.h"
#include "components/kfd/guest/guest_driver.h"
#include "runtime/engine/options.h"
#include "runtime/session/run_ledger.h"

#include "hip_findings.h"

static const char *unified; /* --unified, or NULL */

static void use_driver(const struct driver_api *api)
{
    hip.api = api;
    uint32_t flags = hip.api->stream_flags();
    hip.orders_streams = (flags & DRIVER_STREAMS_FRONT_END) != 0;
    hip.fill_waits = (flags & DRIVER_STREAMS_FILL_WAITS) != 0;
    hip.copy_returns = (flags & DRIVER_STREAMS_COPY_RETURNS) != 0;
    hip.reports_calls = (flags & DRIVER_STREAMS_TELL_CALLS) != 0;
}

/* The machine is in another process, which several share. */
static bool join_machine(const char *path)
{
    const struct driver_api *api = guest_driver_open(path, &hip.is_functional);
    if (!api)
        return false;
    hip_process_guard(NULL);
    use_driver(api);
    return true;
}

static bool load_platform(const char *path)
{
    const struct heddle_platform *platform = open_platform(path);
    const char *options = platform ? hip_process_open() : NULL;
    const struct driver_api *api = options ? start_platform(platform, options, path) : NULL;
    if (!api)
        return false;
    const char *mode = option_text("mode");
    unified = option_text("unified");
    hip.is_functional = mode && strcmp(mode, "functional") == 0;
    use_driver(api);
    if (api->set_caller)
        api->set_caller(hip_find_caller);
    hip_process_guard(platform);
    return true;
}

/* Features of code objects follow from the architecture: ECC of on-chip SRAM is on where it exists,
 * retry of page faults is off. */
void hip_set_features(struct hip_device *device)
{
    const struct isa_traits *traits = isa_traits_of(device->info.isa);
    device->uses_sramecc = traits && traits->sramecc;
    device->has_xnack = traits && traits->xnack;
}

/* The range of device addresses is four times as large as all memory, so that addresses are not
 * reused soon after a free. */
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
        hip.page_bytes = max(info.page_bytes, hip.page_bytes);
    }
    uint64_t range = 1ull << 40;
    while (range < memory * 4)
        range *= 2;
    if (!hip_reserve_addresses(range)
        || hip_status_of(hip.api->set_window(hip.device_base, hip.device_size),
                         "opening the platform")
               != hipSuccess)
        return false;
    if (unified && !hip_unify_all(unified))
        return false;
    if (!unified && !hip_open_visible_devices(count))
        return false;
    hip.platform_devices = hip.device_count;
    hip_install_fault_handler();
    return true;
}

enum hip_state hip_open_platform(void)
{
    const char *path = getenv(OPTIONS_ENV_PLATFORM);
    if (!path || !*path) {
        hip_say("no platform is chosen; run it through: heddle run PLATFORM -- PROGRAM");
        return HIP_FAILED;
    }
    if (!hip_run_apart(guest_driver_is(path) ? join_machine : load_platform, path)
        || !start_devices()) {
        run_ledger_report(EXIT_UNABLE);
        return HIP_FAILED;
    }
    if (!hip_record_open()) {
        run_ledger_report(EXIT_UNABLE);
        return HIP_FAILED;
    }
    if (hip_environment_chooses_devices())
        hip_record_give_up("a variable of the environment chooses its GPUs");
    return HIP_OPEN;
}

/* Calls about devices and errors. */
#include <stdio.h>

#include "base/number.h"

#include "mmio_state.h"

static bool get_last_error(struct mmio *c, struct mmio_call *k)
{
    struct mmio_thread *t = thread_of(c, k->request.thread);
    int32_t error = t->error;
    t->error = MMIO_SUCCESS;
    call_end(c, k, MMIO_SUCCESS);
    k->answer.error = error;
    return true;
}

static bool peek_at_last_error(struct mmio *c, struct mmio_call *k)
{
    call_end(c, k, MMIO_SUCCESS);
    k->answer.error = thread_of(c, k->request.thread)->error;
    return true;
}

static bool get_error_string(struct mmio *c, struct mmio_call *k)
{
    static const struct {
        int32_t code;
        const char *text;
    } texts[] = {{MMIO_SUCCESS, "no error"},
                 {MMIO_INVALID_VALUE, "invalid argument"},
                 {MMIO_OUT_OF_MEMORY, "out of memory"},
                 {MMIO_INVALID_CONFIGURATION, "invalid configuration argument"},
                 {MMIO_INVALID_SYMBOL, "invalid device symbol"},
                 {MMIO_INVALID_POINTER, "invalid device pointer"},
                 {MMIO_INVALID_DIRECTION, "invalid copy direction for memcpy"},
                 {MMIO_MISSING_CONFIGURATION, "global function call is not configured"},
                 {MMIO_INVALID_FUNCTION, "invalid device function"},
                 {MMIO_INVALID_DEVICE, "invalid device ordinal"},
                 {MMIO_INVALID_IMAGE, "device kernel image is invalid"},
                 {MMIO_NO_BINARY, "no kernel image is available for execution on the device"},
                 {MMIO_INVALID_HANDLE, "invalid resource handle"},
                 {MMIO_NOT_FOUND, "named symbol not found"},
                 {MMIO_NOT_READY, "device not ready"},
                 {MMIO_LAUNCH_FAILURE, "unspecified launch failure"},
                 {MMIO_NOT_SUPPORTED, "operation not supported"}};
    const char *text = "unknown error";
    for (size_t i = 0; i < ARRAY_COUNT(texts); i++)
        if (texts[i].code == k->request.get_error_string.code)
            text = texts[i].text;
    snprintf(k->answer.get_error_string.text, sizeof k->answer.get_error_string.text, "%s", text);
    return end_call(c, k, MMIO_SUCCESS);
}

static bool get_device_count(struct mmio *c, struct mmio_call *k)
{
    k->answer.get_device_count.count = c->device_count;
    return end_call(c, k, MMIO_SUCCESS);
}

static bool get_device(struct mmio *c, struct mmio_call *k)
{
    k->answer.get_device.device = device_of(c, k);
    return end_call(c, k, MMIO_SUCCESS);
}

static bool set_device(struct mmio *c, struct mmio_call *k)
{
    if (k->request.set_device.device >= c->device_count)
        return end_call(c, k, MMIO_INVALID_DEVICE);
    thread_of(c, k->request.thread)->device = k->request.set_device.device;
    return end_call(c, k, MMIO_SUCCESS);
}

/* Flags choose how a host thread waits, which no packet shows. */
static bool set_device_flags(struct mmio *c, struct mmio_call *k)
{
    return end_call(c, k, MMIO_SUCCESS);
}

static bool get_device_properties(struct mmio *c, struct mmio_call *k)
{
    enum { GRID_MAX = 2147483647, LANES = 64, BUS_BITS = 4096 };
    uint32_t device = k->request.get_device_properties.device;
    if (device >= c->device_count)
        return end_call(c, k, MMIO_INVALID_DEVICE);
    const struct driver_device_info *info = info_of(c, device);
    struct api_answer *a = &k->answer;
    uint32_t waves = info->wavefronts_per_simd * info->simds_per_cu;
    snprintf(a->get_device_properties.name, sizeof a->get_device_properties.name, "%s", info->name);
    snprintf(a->get_device_properties.architecture, sizeof a->get_device_properties.architecture,
             "%s", info->isa);
    a->get_device_properties.totalGlobalMem = info->memory_bytes;
    a->get_device_properties.totalConstMem = info->memory_bytes;
    a->get_device_properties.sharedMemPerBlock = info->lds_bytes_per_cu;
    a->get_device_properties.maxSharedMemoryPerMultiProcessor = info->lds_bytes_per_cu;
    a->get_device_properties.regsPerBlock = info->vgprs_per_simd * info->simds_per_cu * LANES;
    a->get_device_properties.warpSize = LANES;
    a->get_device_properties.maxThreadsPerBlock = info->max_work_group;
    a->get_device_properties.maxThreadsPerMultiProcessor = waves * LANES;
    a->get_device_properties.maxThreadsDim_x = info->max_work_group;
    a->get_device_properties.maxThreadsDim_y = info->max_work_group;
    a->get_device_properties.maxThreadsDim_z = info->max_work_group;
    a->get_device_properties.maxGridSize_x = GRID_MAX;
    a->get_device_properties.maxGridSize_y = GRID_MAX;
    a->get_device_properties.maxGridSize_z = GRID_MAX;
    a->get_device_properties.clockRate = (uint32_t)(info->clock_hz / 1000);
    a->get_device_properties.memoryBusWidth = BUS_BITS;
    a->get_device_properties.l2CacheSize = (uint32_t)info->l2_bytes;
    a->get_device_properties.multiProcessorCount = info->compute_units;
    a->get_device_properties.concurrentKernels = true;
    return end_call(c, k, MMIO_SUCCESS);
}

/* Numbers of hipDeviceAttribute_t, as hip_runtime_api.h 5.2 has them. */
static bool device_get_attribute(struct mmio *c, struct mmio_call *k)
{
    uint32_t device = k->request.device_get_attribute.device;
    if (device >= c->device_count)
        return end_call(c, k, MMIO_INVALID_DEVICE);
    const struct driver_device_info *info = info_of(c, device);
    uint64_t waves = (uint64_t)info->wavefronts_per_simd * info->simds_per_cu;
    const struct {
        int32_t attribute;
        uint64_t value;
    } values[] = {{5 /* ClockRate */, info->clock_hz / 1000},
                  {8 /* ConcurrentKernels */, 1},
                  {19 /* L2CacheSize */, info->l2_bytes},
                  {24 /* ManagedMemory */, 0},
                  {26 /* MaxBlockDimX */, info->max_work_group},
                  {29 /* MaxGridDimX */, INT32_MAX},
                  {56 /* MaxThreadsPerBlock */, info->max_work_group},
                  {57 /* MaxThreadsPerMultiProcessor */, waves * 64},
                  {63 /* MultiprocessorCount */, info->compute_units},
                  {74 /* MaxSharedMemoryPerBlock */, info->lds_bytes_per_cu},
                  {87 /* WarpSize */, 64}};
    for (size_t i = 0; i < ARRAY_COUNT(values); i++)
        if (values[i].attribute == k->request.device_get_attribute.attribute) {
            uint64_t value = values[i].value;
            k->answer.device_get_attribute.value = value > INT32_MAX ? INT32_MAX : (int32_t)value;
            return end_call(c, k, MMIO_SUCCESS);
        }
    return end_call(c, k, MMIO_INVALID_VALUE);
}

/* Host memory is the host's own affair: it knows where its memory is free, the device does not. */
static bool refuse_call(struct mmio *c, struct mmio_call *k)
{
    return end_call(c, k, MMIO_NOT_SUPPORTED);
}

/* Memory stays; what is under way ends first. */
static bool device_reset(struct mmio *c, struct mmio_call *k)
{
    return !streams_of(c)->pending && end_call(c, k, MMIO_SUCCESS);
}

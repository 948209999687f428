/* Questions of a program about a kernel: attributes, and how many work-groups fit on a compute
 * unit.
 */
#include "components/hip/api/hip_internal.h"

#include <string.h>

static unsigned smaller(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* The driver knows how NVIDIA's devices hand out registers and shared memory. */
static unsigned count_blocks(const struct hip_function *function, unsigned threads,
                             size_t dynamic_lds)
{
    uint32_t blocks = 0;
    const uint64_t entry = function->module->base + function->kernel->entry_address;
    return hip_status(hip.api->ptx_blocks(hip.devices[function->module->device].number, entry,
                                          threads, dynamic_lds, &blocks))
                   == hipSuccess
               ? blocks
               : 0;
}

/* Work-groups of `threads` work-items that one compute unit holds at a time: the tightest of
 * wavefront slots, vector and scalar registers, LDS and work-group slots. */
static unsigned count_work_groups(const struct hip_function *function, unsigned threads,
                                  size_t dynamic_lds)
{
    const struct driver_device_info *info = &hip.devices[function->module->device].info;
    const struct code_object_kernel *kernel = function->kernel;
    unsigned wavefronts = (threads + HIP_WAVEFRONT - 1) / HIP_WAVEFRONT;
    if (threads == 0 || threads > info->max_work_group || dynamic_lds > info->lds_bytes_per_cu)
        return 0;
    if (function->module->is_ptx)
        return count_blocks(function, threads, dynamic_lds);
    unsigned slots = info->wavefronts_per_simd;
    if (kernel->registers.vgprs > 0)
        slots = smaller(slots, info->vgprs_per_simd / kernel->registers.vgprs);
    if (kernel->registers.sgprs > 0)
        slots = smaller(slots, info->sgprs_per_simd / kernel->registers.sgprs);
    unsigned groups = slots * info->simds_per_cu / wavefronts;
    size_t lds = kernel->group_size + dynamic_lds;
    if (lds > 0)
        groups = smaller(groups, (unsigned)(info->lds_bytes_per_cu / lds));
    return smaller(groups, info->work_groups_per_cu);
}

static unsigned threads_limit(const struct hip_function *function)
{
    unsigned limit = hip.devices[function->module->device].info.max_work_group;
    unsigned bound = function->kernel->max_group_threads;
    return bound > 0 ? smaller(limit, bound) : limit;
}

/* The function of a handle or, for the calls without "Module", of a registered host function. */
static hipError_t find_function(const void *either, bool is_handle,
                                const struct hip_function **function)
{
    if (!is_handle)
        return hip_find_host_function(either, hip_current_device(), function);
    *function = hip_check_function((hipFunction_t)(uintptr_t)either);
    return *function ? hipSuccess : hipErrorInvalidHandle;
}

hipError_t hip_active_blocks(int *count, const void *either, bool is_handle, int threads,
                             size_t dynamic_lds)
{
    const struct hip_function *function = NULL;
    if (!count || threads <= 0)
        return hipErrorInvalidValue;
    hipError_t error = find_function(either, is_handle, &function);
    if (error == hipSuccess) {
        *count = (unsigned)threads > threads_limit(function)
                     ? 0
                     : (int)count_work_groups(function, (unsigned)threads, dynamic_lds);
    }
    return error;
}

/* The largest work-group among those that fill a compute unit best, and a grid that fills the
 * device. */
static hipError_t best_block(int *grid, int *block, const void *either, bool is_handle,
                             size_t dynamic_lds, int limit)
{
    const struct hip_function *function = NULL;
    if (!grid || !block)
        return hipErrorInvalidValue;
    hipError_t error = find_function(either, is_handle, &function);
    if (error != hipSuccess)
        return error;
    unsigned most = threads_limit(function), best = 0, best_groups = 0;
    const unsigned lanes = hip.devices[function->module->device].info.lanes;
    most = limit > 0 ? smaller(most, (unsigned)limit) : most;
    for (unsigned threads = most; threads > 0;) {
        unsigned groups = count_work_groups(function, threads, dynamic_lds);
        if (groups * threads > best_groups * best) {
            best = threads;
            best_groups = groups;
        }
        threads = threads % lanes ? threads - threads % lanes : threads - lanes;
    }
    *block = (int)best;
    *grid = (int)(best_groups * hip.devices[function->module->device].info.compute_units);
    return best > 0 ? hipSuccess : hipErrorLaunchOutOfResources;
}

/* Bytes of dynamic LDS that a launch can have: as things are or, with `asked`, at most. */
static uint32_t dynamic_lds_limit(const struct hip_function *function, bool asked)
{
    const struct driver_device_info *info = &hip.devices[function->module->device].info;
    if (function->dynamic_lds_most > 0 && !asked)
        return function->dynamic_lds_most;
    uint32_t limit = asked ? info->lds_bytes_per_work_group : info->lds_bytes_unasked;
    uint32_t used = function->kernel->group_size;
    return limit > used ? limit - used : 0;
}

HIP_DEFINE(hipFuncGetAttributes, (attributes, host_function), hipFuncAttributes *attributes,
           const void *host_function)
{
    const struct hip_function *function = NULL;
    if (!attributes)
        return hipErrorInvalidValue;
    hipError_t error = find_function(host_function, false, &function);
    if (error != hipSuccess)
        return error;
    const struct code_object_kernel *kernel = function->kernel;
    *attributes = (hipFuncAttributes){
        .binaryVersion = (int)function->module->object.version,
        .localSizeBytes = kernel->private_size,
        .maxDynamicSharedSizeBytes = (int)dynamic_lds_limit(function, false),
        .maxThreadsPerBlock = (int)threads_limit(function),
        .numRegs = (int)kernel->registers.vgprs,
        .sharedSizeBytes = kernel->group_size,
    };
    return hipSuccess;
}

HIP_DEFINE(hipFuncGetAttribute, (value, attribute, handle), int *value,
           hipFunction_attribute attribute, hipFunction_t handle)
{
    const struct hip_function *function = hip_check_function(handle);
    if (!value || !function)
        return value ? hipErrorInvalidHandle : hipErrorInvalidValue;
    const struct code_object_kernel *kernel = function->kernel;
    switch (attribute) {
    case HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = (int)threads_limit(function);
        return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        *value = (int)kernel->group_size;
        return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        *value = (int)kernel->private_size;
        return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_NUM_REGS:
        *value = (int)kernel->registers.vgprs;
        return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_BINARY_VERSION:
        *value = (int)function->module->object.version;
        return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = (int)dynamic_lds_limit(function, false);
        return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
    case HIP_FUNC_ATTRIBUTE_PTX_VERSION:
    case HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA:
    case HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        *value = 0;
        return hipSuccess;
    default:
        return hipErrorInvalidValue;
    }
}

/* AMD's devices give LDS without being asked; more than there is must not be promised. */
HIP_DEFINE(hipFuncSetAttribute, (host_function, attribute, value), const void *host_function,
           hipFuncAttribute attribute, int value)
{
    const struct hip_function *function = NULL;
    hipError_t error = find_function(host_function, false, &function);
    if (error != hipSuccess)
        return error;
    switch (attribute) {
    case hipFuncAttributeMaxDynamicSharedMemorySize:
        if (value < 0 || (uint32_t)value > dynamic_lds_limit(function, true))
            return hipErrorInvalidValue;
        hip_set_dynamic_lds(function, (uint32_t)value);
        return hipSuccess;
    case hipFuncAttributePreferredSharedMemoryCarveout:
        return value >= -1 && value <= 100 ? hipSuccess : hipErrorInvalidValue;
    default:
        return hipErrorInvalidValue;
    }
}

hipError_t hipFuncSetCacheConfig(const void *host_function, hipFuncCache_t config)
{
    (void)host_function; /* a hint that no modelled architecture has a switch for */
    HIP_API((unsigned)config <= hipFuncCachePreferEqual ? hipSuccess : hipErrorInvalidValue);
}

hipError_t hipFuncSetSharedMemConfig(const void *host_function, hipSharedMemConfig config)
{
    (void)host_function;
    HIP_API((unsigned)config <= hipSharedMemBankSizeEightByte ? hipSuccess : hipErrorInvalidValue);
}

HIP_CALL(hipOccupancyMaxActiveBlocksPerMultiprocessor,
         (int *count, const void *host_function, int threads, size_t dynamic_lds),
         hip_active_blocks(count, host_function, false, threads, dynamic_lds));

hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *count,
                                                                 const void *host_function,
                                                                 int threads, size_t dynamic_lds,
                                                                 unsigned flags)
{
    (void)flags;
    HIP_API(hip_active_blocks(count, host_function, false, threads, dynamic_lds));
}

HIP_CALL(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor,
         (int *count, hipFunction_t function, int threads, size_t dynamic_lds),
         hip_active_blocks(count, function, true, threads, dynamic_lds));

hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *count, hipFunction_t function, int threads, size_t dynamic_lds, unsigned flags)
{
    (void)flags;
    HIP_API(hip_active_blocks(count, function, true, threads, dynamic_lds));
}

HIP_CALL(hipOccupancyMaxPotentialBlockSize,
         (int *grid, int *block, const void *host_function, size_t dynamic_lds, int limit),
         best_block(grid, block, host_function, false, dynamic_lds, limit));
HIP_CALL(hipModuleOccupancyMaxPotentialBlockSize,
         (int *grid, int *block, hipFunction_t function, size_t dynamic_lds, int limit),
         best_block(grid, block, function, true, dynamic_lds, limit));

hipError_t hipModuleOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block,
                                                            hipFunction_t function,
                                                            size_t dynamic_lds, int limit,
                                                            unsigned flags)
{
    (void)flags;
    HIP_API(best_block(grid, block, function, true, dynamic_lds, limit));
}

static const char *kernel_name(const void *either, bool is_handle)
{
    const struct hip_function *function = NULL;
    hipError_t error = hip_enter("hipKernelNameRef");
    if (error == hipSuccess)
        error = find_function(either, is_handle, &function);
    const char *name = error == hipSuccess ? function->kernel->name : NULL;
    hip_leave(error);
    return name;
}

const char *hipKernelNameRef(const hipFunction_t function)
{
    hip_called(__func__);
    return kernel_name(function, true);
}

const char *hipKernelNameRefByPtr(const void *host_function, hipStream_t stream)
{
    (void)stream;
    hip_called(__func__);
    return kernel_name(host_function, false);
}

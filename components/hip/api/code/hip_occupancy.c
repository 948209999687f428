/* Occupancy: the number of work-groups of a kernel that fit on a compute unit, and the size of
 * work-group that fills it best. */
#include "base/number.h"
#include "components/hip/api/hip_internal.h"

unsigned hip_threads_limit(const struct hip_function *function)
{
    unsigned limit = hip.devices[function->module->device].info.max_work_group;
    unsigned bound = function->kernel->max_group_threads;
    return bound > 0 ? min(limit, bound) : limit;
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
    unsigned wavefronts = divide_up(threads, HIP_WAVEFRONT);
    if (threads == 0 || threads > info->max_work_group || dynamic_lds > info->lds_bytes_per_cu)
        return 0;
    if (function->module->is_ptx)
        return count_blocks(function, threads, dynamic_lds);
    unsigned slots = info->wavefronts_per_simd;
    if (kernel->registers.vgprs > 0)
        slots = min(slots, info->vgprs_per_simd / kernel->registers.vgprs);
    if (kernel->registers.sgprs > 0)
        slots = min(slots, info->sgprs_per_simd / kernel->registers.sgprs);
    unsigned groups = slots * info->simds_per_cu / wavefronts;
    size_t lds = kernel->group_size + dynamic_lds;
    if (lds > 0)
        groups = min(groups, (unsigned)(info->lds_bytes_per_cu / lds));
    return min(groups, info->work_groups_per_cu);
}

hipError_t hip_active_blocks(int *count, const void *either, bool is_handle, int threads,
                             size_t dynamic_lds)
{
    const struct hip_function *function = NULL;
    if (!count || threads <= 0)
        return hipErrorInvalidValue;
    hipError_t error = hip_find_function(either, is_handle, &function);
    if (error == hipSuccess) {
        *count = (unsigned)threads > hip_threads_limit(function)
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
    hipError_t error = hip_find_function(either, is_handle, &function);
    if (error != hipSuccess)
        return error;
    unsigned most = hip_threads_limit(function), best = 0, best_groups = 0;
    const unsigned lanes = hip.devices[function->module->device].info.lanes;
    most = limit > 0 ? min(most, (unsigned)limit) : most;
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

HIP_DEFINE(hipOccupancyMaxActiveBlocksPerMultiprocessor,
           (count, host_function, threads, dynamic_lds), int *count, const void *host_function,
           int threads, size_t dynamic_lds)
{
    return hip_active_blocks(count, host_function, false, threads, dynamic_lds);
}

HIP_DEFINE(hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
           (count, host_function, threads, dynamic_lds, flags), int *count,
           const void *host_function, int threads, size_t dynamic_lds, unsigned flags)
{
    (void)flags;
    return hip_active_blocks(count, host_function, false, threads, dynamic_lds);
}

HIP_DEFINE(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor,
           (count, function, threads, dynamic_lds), int *count, hipFunction_t function, int threads,
           size_t dynamic_lds)
{
    return hip_active_blocks(count, function, true, threads, dynamic_lds);
}

HIP_DEFINE(hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
           (count, function, threads, dynamic_lds, flags), int *count, hipFunction_t function,
           int threads, size_t dynamic_lds, unsigned flags)
{
    (void)flags;
    return hip_active_blocks(count, function, true, threads, dynamic_lds);
}

HIP_DEFINE(hipOccupancyMaxPotentialBlockSize, (grid, block, host_function, dynamic_lds, limit),
           int *grid, int *block, const void *host_function, size_t dynamic_lds, int limit)
{
    return best_block(grid, block, host_function, false, dynamic_lds, limit);
}

HIP_DEFINE(hipModuleOccupancyMaxPotentialBlockSize, (grid, block, function, dynamic_lds, limit),
           int *grid, int *block, hipFunction_t function, size_t dynamic_lds, int limit)
{
    return best_block(grid, block, function, true, dynamic_lds, limit);
}

HIP_DEFINE(hipModuleOccupancyMaxPotentialBlockSizeWithFlags,
           (grid, block, function, dynamic_lds, limit, flags), int *grid, int *block,
           hipFunction_t function, size_t dynamic_lds, int limit, unsigned flags)
{
    (void)flags;
    return best_block(grid, block, function, true, dynamic_lds, limit);
}

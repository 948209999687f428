/* Launches, and questions about kernels. */
#include "cuda_internal.h"

/* Limits of all architectures that execute PTX of today (CUDA C++ Programming Guide, "Technical
 * Specifications per Compute Capability"); those of threads are the device's. */
enum { GRID_YZ_MAX = 65535, BLOCK_Z_MAX = 64 };

static hipError_t check_shape(dim3 grid, dim3 block)
{
    if (grid.y <= GRID_YZ_MAX && grid.z <= GRID_YZ_MAX && block.z <= BLOCK_Z_MAX)
        return hipSuccess;
    cuda_face()->complain("a grid of %u x %u x %u blocks of %u x %u x %u threads; y and z of the "
                          "grid go up to %d, z of the block up to %d",
                          grid.x, grid.y, grid.z, block.x, block.y, block.z, GRID_YZ_MAX,
                          BLOCK_Z_MAX);
    return hipErrorInvalidConfiguration;
}

hipError_t cuda_launch(const void *function, dim3 grid, dim3 block, void **values, size_t shared,
                       hipStream_t stream)
{
    hipError_t error = check_shape(grid, block);
    return error == hipSuccess ? hipLaunchKernel(function, grid, block, values, shared, stream)
                               : error;
}

hipError_t cuda_launch_cooperative(const void *function, dim3 grid, dim3 block, void **values,
                                   size_t shared, hipStream_t stream)
{
    hipError_t error = check_shape(grid, block);
    if (shared > UINT32_MAX)
        return hipErrorInvalidValue;
    return error == hipSuccess
               ? hipLaunchCooperativeKernel(function, grid, block, values, (unsigned)shared, stream)
               : error;
}

/* Attributes that are hints change nothing: priorities, windows of caches, early starts. */
hipError_t cuda_launch_config(const struct cuda_launch_config *config, const void *function,
                              void **values, int per_thread)
{
    bool cooperative = false;
    if (!config || (config->attribute_count > 0 && !config->attributes))
        return hipErrorInvalidValue;
    for (unsigned i = 0; i < config->attribute_count; i++) {
        const struct cuda_launch_attribute *attribute = &config->attributes[i];
        const unsigned *cluster = attribute->value.cluster;
        if (attribute->id == CUDA_ATTRIBUTE_COOPERATIVE)
            cooperative = attribute->value.cooperative != 0;
        if (attribute->id == CUDA_ATTRIBUTE_CLUSTER
            && (cluster[0] > 1 || cluster[1] > 1 || cluster[2] > 1))
            return cuda_refuse("cudaLaunchKernelExC with clusters of blocks");
    }
    hipStream_t stream = per_thread ? cuda_stream_own(config->stream) : cuda_stream(config->stream);
    return cooperative
               ? cuda_launch_cooperative(function, config->grid, config->block, values,
                                         config->shared, stream)
               : cuda_launch(function, config->grid, config->block, values, config->shared, stream);
}

hipError_t cuda_function_attributes(struct cuda_function_attributes *attributes,
                                    const void *function)
{
    hipFuncAttributes from;
    hipError_t error = attributes ? hipFuncGetAttributes(&from, function) : hipErrorInvalidValue;
    if (error == hipSuccess)
        *attributes = (struct cuda_function_attributes){
            .shared_bytes = from.sharedSizeBytes,
            .constant_bytes = from.constSizeBytes,
            .local_bytes = from.localSizeBytes,
            .max_threads = from.maxThreadsPerBlock,
            .registers = from.numRegs,
            .ptx_version = from.binaryVersion,
            .binary_version = from.binaryVersion,
            .max_dynamic_shared_bytes = from.maxDynamicSharedSizeBytes,
            .preferred_carveout = -1,
        };
    return error;
}

hipError_t cuda_set_function_attribute(const void *function, int attribute, int value)
{
    enum { DYNAMIC_SHARED = 8, CARVEOUT, CLUSTER_MUST_BE_SET, NON_PORTABLE_CLUSTER = 14 };
    if (attribute == DYNAMIC_SHARED || attribute == CARVEOUT)
        return hipFuncSetAttribute(function, (hipFuncAttribute)attribute, value);
    if (attribute == NON_PORTABLE_CLUSTER)
        return hipSuccess;
    return attribute >= CLUSTER_MUST_BE_SET && attribute < NON_PORTABLE_CLUSTER
               ? cuda_refuse("cudaFuncSetAttribute for clusters of blocks")
               : hipErrorInvalidValue;
}

hipError_t cuda_function_name(const char **name, const void *function)
{
    if (!name)
        return hipErrorInvalidValue;
    *name = hipKernelNameRefByPtr(function, NULL);
    return *name ? hipSuccess : hipErrorInvalidDeviceFunction;
}

hipError_t cuda_same_handle(const void **found, const void *symbol)
{
    if (!found || !symbol)
        return hipErrorInvalidValue;
    *found = symbol;
    return hipSuccess;
}

hipError_t cuda_available_shared(size_t *bytes, const void *function, int blocks, int threads)
{
    hipFuncAttributes attributes;
    int device = 0;
    if (!bytes || blocks <= 0 || threads <= 0)
        return hipErrorInvalidValue;
    hipError_t error = hipFuncGetAttributes(&attributes, function);
    error = error == hipSuccess ? hipGetDevice(&device) : error;
    if (error != hipSuccess)
        return error;
    const struct driver_device_info *info = &cuda_face()->library->devices[device].info;
    size_t share = info->lds_bytes_per_cu / (size_t)blocks;
    const size_t used = info->lds_bytes_reserved + attributes.sharedSizeBytes;
    if (share > info->lds_bytes_reserved + info->lds_bytes_per_work_group)
        share = info->lds_bytes_reserved + info->lds_bytes_per_work_group;
    *bytes = share > used ? share - used : 0;
    return hipSuccess;
}

/* Launches, and questions about kernels. */
#include "base/number.h"
#include "components/protocols/command/aql_packet.h"

#include "cuda_internal.h"

/* Limits of all architectures that execute PTX of today (CUDA C++ Programming Guide, "Technical
 * Specifications per Compute Capability"); those of threads are the device's. */
enum { GRID_YZ_MAX = 65535, BLOCK_Z_MAX = 64 };
/* Blocks of a cluster, where the kernel has an attribute for it and elsewhere; devices that have
 * clusters. */
enum { CLUSTER_MAX = 16, CLUSTER_PORTABLE = 8, CLUSTER_CAPABILITY = 90 };
enum { INVALID_CLUSTER_SIZE = 912 }; /* cudaErrorInvalidClusterSize */

static hipError_t check_shape(dim3 grid, dim3 block)
{
    if (grid.y <= GRID_YZ_MAX && grid.z <= GRID_YZ_MAX && block.z <= BLOCK_Z_MAX)
        return hipSuccess;
    return cuda_services()->fail(
        hipErrorInvalidConfiguration,
        "a grid of %u x %u x %u blocks of %u x %u x %u threads; y and z of the "
        "grid go up to %d, z of the block up to %d",
        grid.x, grid.y, grid.z, block.x, block.y, block.z, GRID_YZ_MAX, BLOCK_Z_MAX);
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

/* The kernel on the current device, on which it may be marked. */
static hipError_t find_kernel(const char *caller, const void *function,
                              const struct hip_function **kernel,
                              const struct driver_device_info **info)
{
    const struct hip_services *services = cuda_services();
    int device = 0;
    hipError_t error = hipGetDevice(&device);
    if (error != hipSuccess)
        return error;
    error = services->enter(caller);
    if (error == hipSuccess) {
        *info = services->device_info(device);
        error = services->find_host_function(function, device, kernel);
    }
    return services->leave(error);
}

/* The most blocks of a cluster: more than the portable number if the program has asked for it. */
static unsigned most_blocks(const struct hip_function *kernel,
                            const struct driver_device_info *info)
{
    return driver_capability(info) < CLUSTER_CAPABILITY ? 0
           : kernel->allows_large_clusters              ? CLUSTER_MAX
                                                        : CLUSTER_PORTABLE;
}

static unsigned cluster_blocks(const unsigned size[3])
{
    return size[0] > CLUSTER_MAX || size[1] > CLUSTER_MAX || size[2] > CLUSTER_MAX
               ? 0
               : size[0] * size[1] * size[2];
}

/* The calling thread's next launch is in clusters of that size. */
static hipError_t set_cluster(const void *function, dim3 grid, const unsigned size[3])
{
    const struct hip_services *services = cuda_services();
    const struct hip_function *kernel = NULL;
    const struct driver_device_info *info = NULL;
    const unsigned blocks = cluster_blocks(size);
    hipError_t error = find_kernel("cudaLaunchKernelExC", function, &kernel, &info);
    if (error != hipSuccess)
        return error;
    if (blocks == 0 || blocks > most_blocks(kernel, info) || grid.x % size[0] || grid.y % size[1]
        || grid.z % size[2])
        return services->fail(
            (hipError_t)INVALID_CLUSTER_SIZE,
            "clusters of %u x %u x %u blocks in a grid of %u x %u x %u; they have to "
            "divide it, may have %d blocks (%d after "
            "cudaFuncAttributeNonPortableClusterSizeAllowed), and need a device of sm_%d",
            size[0], size[1], size[2], grid.x, grid.y, grid.z, CLUSTER_PORTABLE, CLUSTER_MAX,
            CLUSTER_CAPABILITY);
    services->next_cluster(aql_of_cluster(size));
    return hipSuccess;
}

/* Attributes that are hints change nothing: priorities, windows of caches, early starts. */
hipError_t cuda_launch_config(const struct cuda_launch_config *config, const void *function,
                              void **values, int per_thread)
{
    bool is_cooperative = false;
    const unsigned *cluster = NULL;
    if (!config || (config->attribute_count > 0 && !config->attributes))
        return hipErrorInvalidValue;
    for (unsigned i = 0; i < config->attribute_count; i++) {
        const struct cuda_launch_attribute *attribute = &config->attributes[i];
        if (attribute->id == CUDA_ATTRIBUTE_COOPERATIVE)
            is_cooperative = attribute->value.cooperative != 0;
        if (attribute->id == CUDA_ATTRIBUTE_CLUSTER)
            cluster = attribute->value.cluster;
    }
    hipStream_t stream = per_thread ? cuda_stream_own(config->stream) : cuda_stream(config->stream);
    hipError_t error = cluster ? set_cluster(function, config->grid, cluster) : hipSuccess;
    if (error != hipSuccess)
        return error;
    error = is_cooperative ? cuda_launch_cooperative(function, config->grid, config->block, values,
                                                     config->shared, stream)
                           : cuda_launch(function, config->grid, config->block, values,
                                         config->shared, stream);
    cuda_services()->next_cluster(0); /* a launch that failed has not used the cluster */
    return error;
}

hipError_t cuda_most_clusters(int *count, const void *function,
                              const struct cuda_launch_config *config)
{
    unsigned blocks = 1, units = 0;
    int blocks_per_unit = 0, device = 0;
    if (!count || !config)
        return hipErrorInvalidValue;
    for (unsigned i = 0; i < config->attribute_count; i++)
        if (config->attributes[i].id == CUDA_ATTRIBUTE_CLUSTER)
            blocks = cluster_blocks(config->attributes[i].value.cluster);
    hipError_t error = hipGetDevice(&device);
    if (error == hipSuccess)
        error = hipOccupancyMaxActiveBlocksPerMultiprocessor(
            &blocks_per_unit, function, (int)(config->block.x * config->block.y * config->block.z),
            config->shared);
    units = cuda_services()->device_info(device)->compute_units;
    *count = blocks > 0 ? blocks_per_unit * (int)units / (int)blocks : 0;
    return error;
}

/* As many blocks as the kernel is allowed, and the device holds at once. */
hipError_t cuda_largest_cluster(int *blocks, const void *function,
                                const struct cuda_launch_config *config)
{
    const struct hip_function *kernel = NULL;
    const struct driver_device_info *info = NULL;
    int blocks_per_unit = 0;
    if (!blocks || !config)
        return hipErrorInvalidValue;
    hipError_t error =
        find_kernel("cudaOccupancyMaxPotentialClusterSize", function, &kernel, &info);
    if (error == hipSuccess)
        error = hipOccupancyMaxActiveBlocksPerMultiprocessor(
            &blocks_per_unit, function, (int)(config->block.x * config->block.y * config->block.z),
            config->shared);
    if (error != hipSuccess)
        return error;
    unsigned most = most_blocks(kernel, info),
             resident = (unsigned)blocks_per_unit * info->compute_units;
    *blocks = (int)min(resident, most);
    return hipSuccess;
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

static hipError_t allow_large_clusters(const void *function, bool allows)
{
    const struct hip_function *kernel = NULL;
    const struct driver_device_info *info = NULL;
    hipError_t error = find_kernel("cudaFuncSetAttribute", function, &kernel, &info);
    if (error == hipSuccess)
        cuda_services()->allow_large_clusters(kernel, allows);
    return error;
}

hipError_t cuda_set_function_attribute(const void *function, int attribute, int value)
{
    enum { DYNAMIC_SHARED = 8, CARVEOUT, CLUSTER_MUST_BE_SET, NON_PORTABLE_CLUSTER = 14 };
    if (attribute == DYNAMIC_SHARED || attribute == CARVEOUT)
        return hipFuncSetAttribute(function, (hipFuncAttribute)attribute, value);
    if (attribute == NON_PORTABLE_CLUSTER)
        return allow_large_clusters(function, value != 0);
    return attribute >= CLUSTER_MUST_BE_SET && attribute < NON_PORTABLE_CLUSTER
               ? cuda_fail_missing("cudaFuncSetAttribute for clusters of blocks")
               : hipErrorInvalidValue;
}

hipError_t cuda_function_name(const char **name, const void *function)
{
    if (!name)
        return hipErrorInvalidValue;
    *name = hipKernelNameRefByPtr(function, NULL);
    return *name ? hipSuccess : hipErrorInvalidDeviceFunction;
}

hipError_t cuda_same_handle(const void **handle, const void *symbol)
{
    if (!handle || !symbol)
        return hipErrorInvalidValue;
    *handle = symbol;
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
    const struct driver_device_info *info = cuda_services()->device_info(device);
    size_t share = info->lds_bytes_per_cu / (size_t)blocks;
    const size_t used = info->lds_bytes_reserved + attributes.sharedSizeBytes;
    if (share > info->lds_bytes_reserved + info->lds_bytes_per_work_group)
        share = info->lds_bytes_reserved + info->lds_bytes_per_work_group;
    *bytes = share > used ? share - used : 0;
    return hipSuccess;
}

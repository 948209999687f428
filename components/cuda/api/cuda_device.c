/* Properties, attributes and limits of devices.
 *
 * Properties follow from what the driver says of the device, in the layout of CUDA 12; that of 13
 * is copied from it, member by member, and attributes are read from it. Members that are not filled
 * (limits of textures, other processes, NUMA) are 0, so that programs which ask do not use them.
 * Limits of sizes are those of the manual's table "Technical Specifications per Compute
 * Capability". */
#include <stdio.h>
#include <string.h>

#include "base/number.h"

#include "cuda_internal.h"

enum {
    GRID_X_MAX = 2147483647,
    GRID_YZ_MAX = 65535,
    BLOCK_Z_MAX = 64,
    CONSTANT_BYTES = 65536,
    TEXTURE_ALIGN = 512,
    TEXTURE_PITCH_ALIGN = 32,
    ATTRIBUTE_MAX = 150,
    NODE_NONE = -1
};

static const struct driver_device_info *info_of(int device)
{
    return cuda_services()->device_info(device);
}

/* Single-precision operations for each double-precision one: sm_80 and sm_90 have a unit for half
 * of the lanes, others one in 64 (CUDA C++ Programming Guide, "Arithmetic Instructions"). */
static int double_ratio(int sm)
{
    return sm % 10 == 0 ? 2 : 64;
}

static void fill_features(struct cuda_properties_12 *to)
{
    to->deviceOverlap = 1;
    to->canMapHostMemory = 1;
    to->concurrentKernels = 1;
    to->unifiedAddressing = 1;
    to->streamPrioritiesSupported = 1;
    to->globalL1CacheSupported = 1;
    to->localL1CacheSupported = 1;
    to->managedMemory = 1;
    to->canUseHostPointerForRegisteredMem = 1;
    to->cooperativeLaunch = 1;
    to->hostRegisterSupported = 1;
    to->memoryPoolsSupported = 1;
}

static void fill_sizes(struct cuda_properties_12 *to, const struct driver_device_info *info)
{
    to->sharedMemPerBlock = info->lds_bytes_unasked;
    to->sharedMemPerBlockOptin = info->lds_bytes_per_work_group;
    to->sharedMemPerMultiprocessor = info->lds_bytes_per_cu;
    to->reservedSharedMemPerBlock = info->lds_bytes_reserved;
    to->regsPerBlock = to->regsPerMultiprocessor = (int)info->registers_per_cu;
    to->warpSize = (int)info->lanes;
    to->maxThreadsDim[2] = BLOCK_Z_MAX;
    to->maxGridSize[0] = GRID_X_MAX;
    to->maxGridSize[1] = to->maxGridSize[2] = GRID_YZ_MAX;
    to->maxThreadsPerMultiProcessor =
        (int)(info->simds_per_cu * info->wavefronts_per_simd * info->lanes);
    to->maxBlocksPerMultiProcessor = (int)info->work_groups_per_cu;
    to->asyncEngineCount = info->dma_engines > 0 ? (int)info->dma_engines : 1;
    to->totalConstMem = CONSTANT_BYTES;
    to->textureAlignment = to->surfaceAlignment = TEXTURE_ALIGN;
    to->texturePitchAlignment = TEXTURE_PITCH_ALIGN;
}

hipError_t cuda_properties_12(struct cuda_properties_12 *properties, int device)
{
    hipDeviceProp_t from;
    hipError_t error = properties ? hipGetDeviceProperties(&from, device) : hipErrorInvalidValue;
    if (error != hipSuccess)
        return error;
    const struct driver_device_info *info = info_of(device);
    const int sm = (int)driver_capability(info);
    struct cuda_properties_12 to = {
        .totalGlobalMem = from.totalGlobalMem,
        .memPitch = from.memPitch,
        .maxThreadsPerBlock = from.maxThreadsPerBlock,
        .maxThreadsDim = {from.maxThreadsDim[0], from.maxThreadsDim[1], 0},
        .clockRate = from.clockRate,
        .major = sm / 10,
        .minor = sm % 10,
        .multiProcessorCount = from.multiProcessorCount,
        .integrated = from.integrated,
        .pciBusID = from.pciBusID,
        .memoryClockRate = from.memoryClockRate,
        .memoryBusWidth = from.memoryBusWidth,
        .l2CacheSize = from.l2CacheSize,
        .clusterLaunch = sm >= 90,
        .singleToDoublePrecisionPerfRatio = double_ratio(sm),
    };
    memcpy(to.name, from.name, sizeof to.name);
    snprintf(to.uuid.bytes, sizeof to.uuid.bytes, "heddle gpu %d", device);
    fill_features(&to);
    fill_sizes(&to, info);
    *properties = to;
    return hipSuccess;
}

hipError_t cuda_properties_11(void *properties, int device)
{
    struct cuda_properties_12 from;
    hipError_t error = properties ? cuda_properties_12(&from, device) : hipErrorInvalidValue;
    if (error == hipSuccess)
        memcpy(properties, &from, CUDA_PROPERTIES_11_BYTES);
    return error;
}

hipError_t cuda_properties_13(struct cuda_properties_13 *properties, int device)
{
    struct cuda_properties_12 from;
    hipError_t error = properties ? cuda_properties_12(&from, device) : hipErrorInvalidValue;
    if (error != hipSuccess)
        return error;
    memset(properties, 0, sizeof *properties);
#define HEDDLE_PROPERTY(type, name, dimension)                                                     \
    memcpy(&properties->name, &from.name, sizeof from.name);
#define HEDDLE_PROPERTY_12(type, name, dimension)
#define HEDDLE_PROPERTY_13(type, name, dimension)
#include "components/cuda/include/heddle/properties.def"
    properties->hostNumaId = NODE_NONE;
    return hipSuccess;
}

/* ---- attributes ---- */

/* Numbers of cudaDeviceAttr, and the members that they ask for; `wide` ones are size_t. */
#define MEMBER(number, name)                                                                       \
    {                                                                                              \
        number, offsetof(struct cuda_properties_12, name),                                         \
            sizeof((struct cuda_properties_12 *)NULL)->name == sizeof(size_t)                      \
    }
static const struct {
    int number;
    size_t offset;
    bool is_size; /* size_t, not int */
} attributes[] = {
    MEMBER(1, maxThreadsPerBlock),
    MEMBER(2, maxThreadsDim[0]),
    MEMBER(3, maxThreadsDim[1]),
    MEMBER(4, maxThreadsDim[2]),
    MEMBER(5, maxGridSize[0]),
    MEMBER(6, maxGridSize[1]),
    MEMBER(7, maxGridSize[2]),
    MEMBER(8, sharedMemPerBlock),
    MEMBER(9, totalConstMem),
    MEMBER(10, warpSize),
    MEMBER(11, memPitch),
    MEMBER(12, regsPerBlock),
    MEMBER(13, clockRate),
    MEMBER(14, textureAlignment),
    MEMBER(15, deviceOverlap),
    MEMBER(16, multiProcessorCount),
    MEMBER(18, integrated),
    MEMBER(19, canMapHostMemory),
    MEMBER(30, surfaceAlignment),
    MEMBER(31, concurrentKernels),
    MEMBER(33, pciBusID),
    MEMBER(36, memoryClockRate),
    MEMBER(37, memoryBusWidth),
    MEMBER(38, l2CacheSize),
    MEMBER(39, maxThreadsPerMultiProcessor),
    MEMBER(40, asyncEngineCount),
    MEMBER(41, unifiedAddressing),
    MEMBER(51, texturePitchAlignment),
    MEMBER(75, major),
    MEMBER(76, minor),
    MEMBER(78, streamPrioritiesSupported),
    MEMBER(79, globalL1CacheSupported),
    MEMBER(80, localL1CacheSupported),
    MEMBER(81, sharedMemPerMultiprocessor),
    MEMBER(82, regsPerMultiprocessor),
    MEMBER(83, managedMemory),
    MEMBER(87, singleToDoublePrecisionPerfRatio),
    MEMBER(91, canUseHostPointerForRegisteredMem),
    MEMBER(95, cooperativeLaunch),
    MEMBER(120, clusterLaunch),
    MEMBER(97, sharedMemPerBlockOptin),
    MEMBER(99, hostRegisterSupported),
    MEMBER(106, maxBlocksPerMultiProcessor),
    MEMBER(111, reservedSharedMemPerBlock),
    MEMBER(115, memoryPoolsSupported),
};

enum { ATTRIBUTE_HOST_NUMA = 134 };

hipError_t cuda_attribute(int *value, int attribute, int device)
{
    struct cuda_properties_12 properties;
    if (!value || attribute < 1 || attribute > ATTRIBUTE_MAX)
        return hipErrorInvalidValue;
    hipError_t error = cuda_properties_12(&properties, device);
    if (error != hipSuccess)
        return error;
    *value = attribute == ATTRIBUTE_HOST_NUMA ? NODE_NONE : 0; /* features that are not there */
    for (size_t i = 0; i < ARRAY_COUNT(attributes); i++) {
        const char *member = (const char *)&properties + attributes[i].offset;
        size_t wide = 0;
        if (attributes[i].number != attribute)
            continue;
        memcpy(attributes[i].is_size ? (void *)&wide : (void *)value, member,
               attributes[i].is_size ? sizeof wide : sizeof *value);
        *value = attributes[i].is_size ? (int)wide : *value;
    }
    return hipSuccess;
}

/* cudaDeviceP2PAttr: a rank of speed, access, atomics, arrays. */
hipError_t cuda_peer_attribute(int *value, int attribute, int device, int peer)
{
    enum { RANK = 1, ACCESS, ATOMICS, ARRAYS };
    if (!value || attribute < RANK || attribute > ARRAYS)
        return hipErrorInvalidValue;
    hipError_t error = hipDeviceCanAccessPeer(value, device, peer);
    if (error == hipSuccess && (attribute == RANK || attribute == ARRAYS))
        *value = 0;
    return error;
}

/* All devices of a platform are as good as each other. */
hipError_t cuda_choose_device(int *device, const void *wanted)
{
    int count = 0;
    hipError_t error = device && wanted ? hipGetDeviceCount(&count) : hipErrorInvalidValue;
    if (error == hipSuccess)
        *device = 0;
    return error;
}

hipError_t cuda_set_valid_devices(const int *devices, int count)
{
    int present = 0;
    hipError_t error = hipGetDeviceCount(&present);
    for (int i = 0; i < count && error == hipSuccess; i++)
        if (!devices || devices[i] < 0 || devices[i] >= present)
            error = hipErrorInvalidDevice;
    return error;
}

hipError_t cuda_version(int *version, int number)
{
    if (!version)
        return hipErrorInvalidValue;
    *version = number;
    return hipSuccess;
}

/* ---- limits ---- */

/* In the order of cudaLimit, with the values that devices have by default. */
enum { LIMIT_STACK, LIMIT_PRINTF, LIMIT_HEAP, LIMIT_DEPTH, LIMIT_PENDING, LIMIT_FETCH, LIMIT_L2 };
static size_t limits[] = {
    [LIMIT_STACK] = 1024,   [LIMIT_PRINTF] = 1 << 20, [LIMIT_HEAP] = 8 << 20, [LIMIT_DEPTH] = 2,
    [LIMIT_PENDING] = 2048, [LIMIT_FETCH] = 64,       [LIMIT_L2] = 0};

static bool is_limit(int limit)
{
    return limit >= 0 && (size_t)limit < ARRAY_COUNT(limits);
}

hipError_t cuda_get_limit(size_t *value, int limit)
{
    if (!value || !is_limit(limit))
        return value ? hipErrorUnsupportedLimit : hipErrorInvalidValue;
    *value = __atomic_load_n(&limits[limit], __ATOMIC_RELAXED);
    return hipSuccess;
}

static hipError_t set_heap(size_t bytes)
{
    const struct hip_services *services = cuda_services();
    int device = 0;
    hipError_t error = hipGetDevice(&device);
    if (error != hipSuccess)
        return error;
    error = services->enter("cudaDeviceSetLimit");
    const struct driver_api *driver = error == hipSuccess ? services->driver() : NULL;
    if (driver && driver->set_kernel_heap)
        error = services->status(driver->set_kernel_heap(services->device_number(device), bytes));
    return services->leave(error);
}

/* The heap is the only one that kernels notice: stacks grow as they must, and what is printed is
 * printed. */
hipError_t cuda_set_limit(int limit, size_t value)
{
    if (!is_limit(limit))
        return hipErrorUnsupportedLimit;
    hipError_t error = limit == LIMIT_HEAP ? set_heap(value) : hipSuccess;
    if (error == hipSuccess)
        __atomic_store_n(&limits[limit], value, __ATOMIC_RELAXED);
    return error;
}

/* Devices: counting, choosing, properties, attributes, peers.
 *
 * Properties follow from struct driver_device_info; what a simulated GPU does not have (textures,
 * concurrent managed access) is 0, so that programs which ask do not use it.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "components/hip/api/hip_internal.h"
#include "components/hip/api/record/hip_record.h"

/* Limits of an AQL dispatch packet and of ROCm's answers on real devices of these architectures. */
enum {
    GRID_MAX = 2147483647,
    PITCH_MAX = 2147483647,
    TEXTURE_ALIGN = 256,
    HBM_BUS_BITS = 4096 /* R9 Nano and later: four stacks of 1024 bits */
};

/* "gfx90a" -> 9, 0, 10: the last two characters are hexadecimal digits of minor version and
 * stepping. */
struct architecture {
    int major, minor, stepping;
};

static struct architecture architecture_of(const char *isa)
{
    size_t length = strlen(isa);
    if (strncmp(isa, "gfx", 3) != 0 || length < 6)
        return (struct architecture){0, 0, 0};
    struct architecture read = {0, 0, 0};
    for (size_t i = 3; i < length - 2; i++)
        read.major = read.major * 10 + (isa[i] - '0');
    long low = strtol(isa + length - 2, NULL, 16);
    read.minor = (int)low >> 4;
    read.stepping = (int)low & 15;
    return read;
}

static void architecture_name(const struct hip_device *device, char *text, size_t size)
{
    struct code_object_target target = {.xnack = CODE_OBJECT_FEATURE_UNSUPPORTED};
    snprintf(target.gfx, sizeof target.gfx, "%s", device->info.isa);
    if (device->uses_sramecc)
        target.sramecc = CODE_OBJECT_FEATURE_ON;
    if (device->has_xnack)
        target.xnack = CODE_OBJECT_FEATURE_OFF;
    code_object_target_name(&target, text, size);
}

static hipDeviceArch_t architecture_flags(void)
{
    return (hipDeviceArch_t){
        .hasGlobalInt32Atomics = 1,
        .hasGlobalFloatAtomicExch = 1,
        .hasSharedInt32Atomics = 1,
        .hasSharedFloatAtomicExch = 1,
        .hasFloatAtomicAdd = 1,
        .hasGlobalInt64Atomics = 1,
        .hasSharedInt64Atomics = 1,
        .hasDoubles = 1,
        .hasWarpVote = 1,
        .hasWarpBallot = 1,
        .hasWarpShuffle = 1,
        .hasThreadFenceSystem = 1,
        .has3dGrid = 1,
    };
}

static int clamp_int(uint64_t value)
{
    return value > INT32_MAX ? INT32_MAX : (int)value;
}

/* Four stacks, or eight where four of HBM3 (JESD238: 819 GB/s each) would not do. */
static int bus_bits(uint64_t bytes_per_s)
{
    return bytes_per_s > 4 * 819200000000u ? 2 * HBM_BUS_BITS : HBM_BUS_BITS;
}

/* Programs compute the peak as 2 x clock x bus width: a clock is chosen that gives the modelled
 * one. */
static void fill_memory_properties(const struct driver_device_info *info,
                                   hipDeviceProp_t *properties)
{
    const int bits = bus_bits(info->memory_bandwidth_bytes_per_s);
    properties->totalGlobalMem = info->memory_bytes;
    properties->totalConstMem = (size_t)clamp_int(info->memory_bytes);
    properties->memoryBusWidth = bits;
    properties->memoryClockRate =
        clamp_int(info->memory_bandwidth_bytes_per_s / (2 * (unsigned)bits / 8) / 1000);
    properties->l2CacheSize = clamp_int(info->l2_bytes);
    properties->memPitch = PITCH_MAX;
}

static void fill_properties(int number, hipDeviceProp_t *properties)
{
    const struct hip_device *device = &hip.devices[number];
    const struct driver_device_info *info = &device->info;
    memset(properties, 0, sizeof *properties);
    snprintf(properties->name, sizeof properties->name, "%s", info->name);
    architecture_name(device, properties->gcnArchName, sizeof properties->gcnArchName);
    const struct architecture architecture = architecture_of(info->isa);
    properties->gcnArch =
        architecture.major * 100 + architecture.minor * 10 + architecture.stepping;
    properties->arch = architecture_flags();
    properties->major = architecture.major;
    properties->minor = architecture.minor;
    fill_memory_properties(info, properties);
    properties->sharedMemPerBlock = info->lds_bytes_per_cu;
    properties->maxSharedMemoryPerMultiProcessor = info->lds_bytes_per_cu;
    properties->regsPerBlock =
        clamp_int((uint64_t)info->vgprs_per_simd * info->simds_per_cu * HIP_WAVEFRONT);
    properties->warpSize = HIP_WAVEFRONT;
    properties->managedMemory = 1;
    properties->cooperativeLaunch = 1;
    properties->integrated = info->shares_memory;
    properties->canMapHostMemory = 1;
    properties->maxThreadsPerBlock = clamp_int(info->max_work_group);
    for (int dimension = 0; dimension < 3; dimension++) {
        properties->maxThreadsDim[dimension] = properties->maxThreadsPerBlock;
        properties->maxGridSize[dimension] = GRID_MAX;
    }
    properties->clockRate = clamp_int(info->clock_hz / 1000);
    properties->clockInstructionRate = properties->clockRate;
    properties->multiProcessorCount = clamp_int(info->compute_units);
    properties->maxThreadsPerMultiProcessor =
        clamp_int((uint64_t)info->simds_per_cu * info->wavefronts_per_simd * HIP_WAVEFRONT);
    properties->concurrentKernels = 1;
    properties->pciBusID = number + 1;
    properties->textureAlignment = TEXTURE_ALIGN;
    properties->texturePitchAlignment = TEXTURE_ALIGN;
}

bool hip_is_device(int device)
{
    return device >= 0 && device < hip.device_count && hip.devices[device].is_open;
}

static hipError_t get_properties(hipDeviceProp_t *properties, int device)
{
    if (!properties || !hip_is_device(device))
        return properties ? hipErrorInvalidDevice : hipErrorInvalidValue;
    fill_properties(device, properties);
    return hipSuccess;
}

/* Attributes that are members of the properties; `wide` ones are size_t. */
#define INT_ATTRIBUTE(name, member)                                                                \
    {                                                                                              \
        hipDeviceAttribute##name, offsetof(hipDeviceProp_t, member), false                         \
    }
#define SIZE_ATTRIBUTE(name, member)                                                               \
    {                                                                                              \
        hipDeviceAttribute##name, offsetof(hipDeviceProp_t, member), true                          \
    }
static const struct {
    hipDeviceAttribute_t attribute;
    size_t offset;
    bool is_size; /* size_t, not int */
} attributes[] = {
    INT_ATTRIBUTE(ClockRate, clockRate),
    INT_ATTRIBUTE(ComputeMode, computeMode),
    INT_ATTRIBUTE(ConcurrentKernels, concurrentKernels),
    INT_ATTRIBUTE(ComputeCapabilityMajor, major),
    INT_ATTRIBUTE(ComputeCapabilityMinor, minor),
    INT_ATTRIBUTE(L2CacheSize, l2CacheSize),
    INT_ATTRIBUTE(MaxBlockDimX, maxThreadsDim[0]),
    INT_ATTRIBUTE(MaxBlockDimY, maxThreadsDim[1]),
    INT_ATTRIBUTE(MaxBlockDimZ, maxThreadsDim[2]),
    INT_ATTRIBUTE(MaxGridDimX, maxGridSize[0]),
    INT_ATTRIBUTE(MaxGridDimY, maxGridSize[1]),
    INT_ATTRIBUTE(MaxGridDimZ, maxGridSize[2]),
    INT_ATTRIBUTE(MaxThreadsPerBlock, maxThreadsPerBlock),
    INT_ATTRIBUTE(MaxThreadsPerMultiProcessor, maxThreadsPerMultiProcessor),
    INT_ATTRIBUTE(MemoryBusWidth, memoryBusWidth),
    INT_ATTRIBUTE(MemoryClockRate, memoryClockRate),
    INT_ATTRIBUTE(MultiprocessorCount, multiProcessorCount),
    INT_ATTRIBUTE(PhysicalMultiProcessorCount, multiProcessorCount),
    INT_ATTRIBUTE(PciBusId, pciBusID),
    INT_ATTRIBUTE(PciDeviceId, pciDeviceID),
    INT_ATTRIBUTE(PciDomainID, pciDomainID),
    INT_ATTRIBUTE(MaxRegistersPerBlock, regsPerBlock),
    INT_ATTRIBUTE(MaxRegistersPerMultiprocessor, regsPerBlock),
    INT_ATTRIBUTE(WarpSize, warpSize),
    INT_ATTRIBUTE(ManagedMemory, managedMemory),
    INT_ATTRIBUTE(Integrated, integrated),
    INT_ATTRIBUTE(CooperativeLaunch, cooperativeLaunch),
    INT_ATTRIBUTE(CanMapHostMemory, canMapHostMemory),
    INT_ATTRIBUTE(ClockInstructionRate, clockInstructionRate),
    INT_ATTRIBUTE(GcnArch, gcnArch),
    SIZE_ATTRIBUTE(MaxPitch, memPitch),
    SIZE_ATTRIBUTE(MaxSharedMemoryPerBlock, sharedMemPerBlock),
    SIZE_ATTRIBUTE(SharedMemPerBlockOptin, sharedMemPerBlock),
    SIZE_ATTRIBUTE(SharedMemPerMultiprocessor, maxSharedMemoryPerMultiProcessor),
    SIZE_ATTRIBUTE(MaxSharedMemoryPerMultiprocessor, maxSharedMemoryPerMultiProcessor),
    SIZE_ATTRIBUTE(TextureAlignment, textureAlignment),
    SIZE_ATTRIBUTE(TexturePitchAlignment, texturePitchAlignment),
    SIZE_ATTRIBUTE(TotalConstantMemory, totalConstMem),
    SIZE_ATTRIBUTE(TotalGlobalMem, totalGlobalMem),
};

/* Attributes that are known and 0 on a simulated GPU: what it cannot do. */
static bool is_absent_feature(hipDeviceAttribute_t attribute)
{
    return (attribute >= hipDeviceAttributeCudaCompatibleBegin
            && attribute <= hipDeviceAttributeMemoryPoolsSupported
            && attribute != hipDeviceAttributeName && attribute != hipDeviceAttributeUuid
            && attribute != hipDeviceAttributeLuid)
           || (attribute >= hipDeviceAttributeAmdSpecificBegin
               && attribute <= hipDeviceAttributeFineGrainSupport
               && attribute != hipDeviceAttributeGcnArchName
               && attribute != hipDeviceAttributeArch);
}

HIP_DEFINE_ALWAYS(hipDeviceGetAttribute, (value, attribute, device), int *value,
                  hipDeviceAttribute_t attribute, int device)
{
    hipDeviceProp_t properties;
    hipError_t error = value ? get_properties(&properties, device) : hipErrorInvalidValue;
    if (error != hipSuccess)
        return error;
    for (size_t i = 0; i < ARRAY_COUNT(attributes); i++) {
        if (attributes[i].attribute == attribute) {
            const char *member = (const char *)&properties + attributes[i].offset;
            size_t wide = 0;
            memcpy(attributes[i].is_size ? (void *)&wide : (void *)value, member,
                   attributes[i].is_size ? sizeof wide : sizeof *value);
            *value = attributes[i].is_size ? clamp_int(wide) : *value;
            return hipSuccess;
        }
    }
    *value = attribute == hipDeviceAttributeMaxBlocksPerMultiProcessor
                 ? clamp_int(hip.devices[device].info.work_groups_per_cu)
             : attribute == hipDeviceAttributeUnifiedAddressing ? 1
                                                                : 0;
    return *value != 0 || is_absent_feature(attribute) ? hipSuccess : hipErrorInvalidValue;
}

HIP_DEFINE_ALWAYS(hipInit, (flags), unsigned flags)
{
    return flags == 0 ? hipSuccess : hipErrorInvalidValue;
}

/* The count is 0 also where no platform can be opened. */
hipError_t hipGetDeviceCount(int *count)
{
    hipError_t error = hip_enter(__func__);
    if (count)
        *count = error == hipSuccess ? hip.device_count : 0;
    else if (error == hipSuccess)
        error = hipErrorInvalidValue;
    return hip_leave(error);
}

HIP_DEFINE_ALWAYS(hipSetDevice, (device), int device)
{
    return hip_set_current_device(device);
}

HIP_DEFINE_ALWAYS(hipGetDevice, (device), int *device)
{
    if (!device)
        return hipErrorInvalidValue;
    *device = hip_current_device();
    return hipSuccess;
}

HIP_DEFINE_ALWAYS(hipGetDeviceProperties, (properties, device), hipDeviceProp_t *properties,
                  int device)
{
    return get_properties(properties, device);
}

HIP_DEFINE_ALWAYS(hipDeviceGetName, (name, size, device), char *name, int size, int device)
{
    if (!name || size <= 0 || !hip_is_device(device))
        return hip_is_device(device) ? hipErrorInvalidValue : hipErrorInvalidDevice;
    snprintf(name, (size_t)size, "%s", hip.devices[device].info.name);
    return hipSuccess;
}

HIP_DEFINE_ALWAYS(hipDeviceGetPCIBusId, (text, size, device), char *text, int size, int device)
{
    if (!text || size < 13 || !hip_is_device(device)) /* dddd:bb:dd.f and the NUL */
        return hip_is_device(device) ? hipErrorInvalidValue : hipErrorInvalidDevice;
    snprintf(text, (size_t)size, "0000:%02x:00.0", (unsigned)(device + 1) & 0xff);
    return hipSuccess;
}

HIP_DEFINE_ALWAYS(hipDeviceGetByPCIBusId, (device, text), int *device, const char *text)
{
    unsigned domain = 0, bus = 0;
    if (!device || !text)
        return hipErrorInvalidValue;
    if (sscanf(text, "%x:%x", &domain, &bus) != 2 || domain != 0 || bus < 1
        || !hip_is_device((int)bus - 1))
        return hipErrorInvalidDevice;
    *device = (int)bus - 1;
    return hipSuccess;
}

HIP_DEFINE_ALWAYS(hipDeviceTotalMem, (bytes, device), size_t *bytes, int device)
{
    if (!bytes || !hip_is_device(device))
        return bytes ? hipErrorInvalidDevice : hipErrorInvalidValue;
    *bytes = hip.devices[device].info.memory_bytes;
    return hipSuccess;
}

HIP_DEFINE_ALWAYS(hipDeviceComputeCapability, (major, minor, device), int *major, int *minor,
                  int device)
{
    hipDeviceProp_t properties;
    hipError_t error = major && minor ? get_properties(&properties, device) : hipErrorInvalidValue;
    if (error == hipSuccess) {
        *major = properties.major;
        *minor = properties.minor;
    }
    return error;
}

hipError_t hip_synchronize_device(void)
{
    hip_record_call(&(struct api_trace_call){.kind = API_TRACE_DEVICE_SYNCHRONIZE});
    return hip_wait_device(hip_current_device());
}

HIP_DEFINE(hipDeviceSynchronize, (), void)
{
    return hip_synchronize_device();
}

/* All of the program's memory stays: what a reset frees on real devices, the end of the program
 * frees here. */
HIP_DEFINE(hipDeviceReset, (), void)
{
    return hip_synchronize_device();
}

HIP_DEFINE_ALWAYS(hipDeviceGetLimit, (value, limit), size_t *value, enum hipLimit_t limit)
{
    if (!value || limit != hipLimitMallocHeapSize)
        return value ? hipErrorUnsupportedLimit : hipErrorInvalidValue;
    *value = 0; /* device code cannot allocate */
    return hipSuccess;
}

/* Hints about caches and banks that no modelled architecture has a switch for. */
HIP_DEFINE_ALWAYS(hipDeviceSetCacheConfig, (config), hipFuncCache_t config)
{
    return (unsigned)config <= hipFuncCachePreferEqual ? hipSuccess : hipErrorInvalidValue;
}

HIP_DEFINE_ALWAYS(hipDeviceSetSharedMemConfig, (config), hipSharedMemConfig config)
{
    return (unsigned)config <= hipSharedMemBankSizeEightByte ? hipSuccess : hipErrorInvalidValue;
}

HIP_DEFINE_ALWAYS(hipDeviceGetCacheConfig, (config), hipFuncCache_t *config)
{
    if (config)
        *config = hipFuncCachePreferNone;
    return config ? hipSuccess : hipErrorInvalidValue;
}

HIP_DEFINE_ALWAYS(hipDeviceGetSharedMemConfig, (config), hipSharedMemConfig *config)
{
    if (config)
        *config = hipSharedMemBankSizeFourByte;
    return config ? hipSuccess : hipErrorInvalidValue;
}

/* A profiler of hardware is not attached; `heddle run` has its own. */
#pragma GCC visibility push(default)
hipError_t hipProfilerStart(void);
hipError_t hipProfilerStop(void);
#pragma GCC visibility pop

HIP_DEFINE_ALWAYS(hipProfilerStart, (), void)
{
    return hipSuccess;
}

HIP_DEFINE_ALWAYS(hipProfilerStop, (), void)
{
    return hipSuccess;
}

HIP_DEFINE_ALWAYS(hipSetDeviceFlags, (flags), unsigned flags)
{
    (void)flags; /* how a host thread waits: it does not wait in simulated time */
    return hipSuccess;
}

HIP_DEFINE_ALWAYS(hipGetDeviceFlags, (flags), unsigned *flags)
{
    if (!flags)
        return hipErrorInvalidValue;
    *flags = hipDeviceScheduleAuto;
    return hipSuccess;
}

static hipError_t get_version(int *version)
{
    if (!version) {
        hip_set_last_error(hipErrorInvalidValue);
        return hipErrorInvalidValue;
    }
    *version = HIP_VERSION;
    return hipSuccess;
}

hipError_t hipDriverGetVersion(int *version)
{
    hip_report_call(__func__);
    return get_version(version);
}

hipError_t hipRuntimeGetVersion(int *version)
{
    hip_report_call(__func__);
    return get_version(version);
}

/* ---- peers ---- */

/* All devices of a platform share one address space, but kernels access another device's memory
 * only after that was enabled. True if the two are joined, so that kernels on one can access memory
 * of the other. Devices that the program has made (heddle_hip.h) are no peers. */
static bool are_joined(int device, int peer)
{
    return device != peer && device < hip.platform_devices && peer < hip.platform_devices
           && hip.devices[device].info.has_fabric && hip.devices[peer].info.has_fabric;
}

HIP_DEFINE_ALWAYS(hipDeviceCanAccessPeer, (answer, device, peer), int *answer, int device, int peer)
{
    if (!answer || !hip_is_device(device) || !hip_is_device(peer))
        return answer ? hipErrorInvalidDevice : hipErrorInvalidValue;
    *answer = are_joined(device, peer);
    return hipSuccess;
}

static hipError_t switch_peer(int peer, bool is_on)
{
    if (!hip_is_device(peer) || peer == hip_current_device())
        return hipErrorInvalidDevice;
    if (!are_joined(hip_current_device(), peer))
        return hipErrorPeerAccessUnsupported;
    uint8_t *enabled = &hip.devices[hip_current_device()].peers[peer];
    if (*enabled == is_on)
        return is_on ? hipErrorPeerAccessAlreadyEnabled : hipErrorPeerAccessNotEnabled;
    hipError_t error = hip_status_of(hip.api->set_peer(hip.devices[hip_current_device()].number,
                                                       hip.devices[peer].number, is_on),
                                     "peer access");
    *enabled = error == hipSuccess ? is_on : *enabled;
    if (error == hipSuccess)
        hip_record_call(&(struct api_trace_call){
            .kind = API_TRACE_PEER, .device = (uint32_t)peer, .value = is_on});
    return error;
}

HIP_DEFINE_ALWAYS(hipDeviceEnablePeerAccess, (peer, flags), int peer, unsigned flags)
{
    return flags == 0 ? switch_peer(peer, true) : hipErrorInvalidValue;
}

HIP_DEFINE_ALWAYS(hipDeviceDisablePeerAccess, (peer), int peer)
{
    return switch_peer(peer, false);
}

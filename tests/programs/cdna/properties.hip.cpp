// What the runtime says of a GPU of CDNA: `KEY VALUE` lines, which the tests compare, and the occupancy of two kernels, one of
// which needs half of the registers of a SIMD. Attributes must agree with properties.
#include "../check.hpp"

__global__ void few(float *out)
{
    out[threadIdx.x] = 1;
}

// 200 values that live across a loop.
__global__ __launch_bounds__(256) void many(float *out, int rounds)
{
    float value[200];
    for (int i = 0; i < 200; i++) {
        value[i] = out[i * blockDim.x + threadIdx.x];
    }
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < 200; i++) {
            value[i] = value[i] * value[(i + 7) % 200] + out[round];
        }
    }
    for (int i = 0; i < 200; i++) {
        out[i * blockDim.x + threadIdx.x] = value[i];
    }
}

static int attribute(hipDeviceAttribute_t which)
{
    int value = -1;
    HIP_MUST(hipDeviceGetAttribute(&value, which, 0));
    return value;
}

static int occupancy(const void *kernel, int block, size_t lds)
{
    int groups = -1;
    HIP_MUST(hipOccupancyMaxActiveBlocksPerMultiprocessor(&groups, kernel, block, lds));
    return groups;
}

int main()
{
    hipDeviceProp_t p;
    HIP_MUST(hipGetDeviceProperties(&p, 0));
    std::printf("name %s\narch %s\nversion %d.%d\ncus %d\nclock_khz %d\nmemory %zu\nl2 %d\n", p.name,
                p.gcnArchName, p.major, p.minor, p.multiProcessorCount, p.clockRate,
                p.totalGlobalMem, p.l2CacheSize);
    std::printf("lds %zu\nwarp %d\nthreads %d %d\nbus %d\nintegrated %d\n", p.sharedMemPerBlock,
                p.warpSize, p.maxThreadsPerBlock, p.maxThreadsPerMultiProcessor, p.memoryBusWidth,
                p.integrated);
    double bytes = 2.0 * p.memoryClockRate * 1e3 * p.memoryBusWidth / 8;
    std::printf("terabytes_s %.2f\n", bytes / 1e12);
    hipFuncAttributes f;
    HIP_MUST(hipFuncGetAttributes(&f, reinterpret_cast<const void *>(many)));
    std::printf("many_registers %s\n", f.numRegs > 128 ? "more" : "few");
    const void *small = reinterpret_cast<const void *>(few), *large =
                                                                 reinterpret_cast<const void *>(many);
    std::printf("occupancy %d %d %d %d %d\n", occupancy(small, 64, 0), occupancy(small, 1024, 0),
                occupancy(small, 256, 16384), occupancy(small, 256, 65536),
                occupancy(large, 256, 0) * 4 * f.numRegs <= 2048 && occupancy(large, 256, 0) > 0);
    bool same = attribute(hipDeviceAttributeMultiprocessorCount) == p.multiProcessorCount
                && attribute(hipDeviceAttributeClockRate) == p.clockRate
                && attribute(hipDeviceAttributeL2CacheSize) == p.l2CacheSize
                && attribute(hipDeviceAttributeMemoryBusWidth) == p.memoryBusWidth
                && attribute(hipDeviceAttributeWarpSize) == p.warpSize
                && attribute(hipDeviceAttributeIntegrated) == p.integrated
                && attribute(hipDeviceAttributeMaxThreadsPerBlock) == p.maxThreadsPerBlock;
    if (!same) {
        std::printf("FAIL properties: an attribute differs\n");
        return 1;
    }
    return pass("properties");
}

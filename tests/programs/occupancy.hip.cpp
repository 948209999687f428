// What a program may ask of a kernel before it launches it: attributes, and how many work-groups fit on a compute unit;
// the answers are consistent with the device's properties, and a launch of the best block size runs.
#include "check.hpp"

__global__ void plain(int *data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        data[i] = 2 * i + 1;
    }
}

__global__ void __launch_bounds__(128) with_lds(int *data)
{
    __shared__ int tile[2048];
    tile[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}

#define EXPECT(condition)                                                \
    do {                                                                 \
        if (!(condition)) {                                              \
            std::printf("FAIL occupancy: line %d: %s\n", __LINE__, #condition); \
            return 1;                                                    \
        }                                                                \
    } while (0)

int main()
{
    hipDeviceProp_t device;
    HIP_MUST(hipGetDeviceProperties(&device, 0));
    int small = 0, large = 0, lds = 0, dynamic = 0, none = 0;
    HIP_MUST(hipOccupancyMaxActiveBlocksPerMultiprocessor(&small, plain, 64, 0));
    HIP_MUST(hipOccupancyMaxActiveBlocksPerMultiprocessor(&large, plain, 1024, 0));
    HIP_MUST(hipOccupancyMaxActiveBlocksPerMultiprocessor(&lds, with_lds, 64, 0));
    HIP_MUST(hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&dynamic, with_lds, 64, 24576, hipOccupancyDefault));
    HIP_MUST(hipOccupancyMaxActiveBlocksPerMultiprocessor(&none, with_lds, 256, 0));
    EXPECT(small >= 1 && small * 64 <= device.maxThreadsPerMultiProcessor);
    EXPECT(large >= 1 && large * 1024 <= device.maxThreadsPerMultiProcessor && large < small);
    EXPECT(lds == int(device.maxSharedMemoryPerMultiProcessor / 8192));
    EXPECT(dynamic == int(device.maxSharedMemoryPerMultiProcessor / 32768));
    EXPECT(none == 0); // beyond the kernel's launch bounds
    hipFuncAttributes attributes;
    HIP_MUST(hipFuncGetAttributes(&attributes, reinterpret_cast<const void *>(with_lds)));
    EXPECT(attributes.sharedSizeBytes == 8192 && attributes.maxThreadsPerBlock == 128 && attributes.numRegs > 0);
    EXPECT(hipOccupancyMaxActiveBlocksPerMultiprocessor(&none, plain, 0, 0) == hipErrorInvalidValue);
    EXPECT(hipGetLastError() == hipErrorInvalidValue);

    int grid = 0, block = 0;
    HIP_MUST(hipOccupancyMaxPotentialBlockSize(&grid, &block, plain, 0, 0));
    EXPECT(block % 64 == 0 && block >= 64 && block <= device.maxThreadsPerBlock);
    EXPECT(grid % device.multiProcessorCount == 0 && grid > 0);
    int n = 2 * block + 17;
    std::vector<int> got(n), want(n);
    for (int i = 0; i < n; i++) {
        want[i] = 2 * i + 1;
    }
    int *data = to_device(got);
    plain<<<blocks_for(n, block), block>>>(data, n);
    HIP_MUST(hipGetLastError());
    HIP_MUST(hipMemcpy(got.data(), data, n * sizeof(int), hipMemcpyDeviceToHost));
    return same_or_report("occupancy", got, want) ? pass("occupancy") : 1;
}

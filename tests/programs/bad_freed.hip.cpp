// Freed device memory used in every way: freed again, copied from, and written by a kernel.
#include "check.hpp"

__global__ void write_freed(int *out)
{
    out[threadIdx.x] = 1;
}

int main()
{
    std::vector<int> data(1024, 1);
    int *freed = nullptr;
    HIP_MUST(hipMalloc(reinterpret_cast<void **>(&freed), data.size() * sizeof(int)));
    HIP_MUST(hipFree(freed));
    hipError_t again = hipFree(freed);
    hipError_t copy = hipMemcpy(data.data(), freed, 64 * sizeof(int), hipMemcpyDeviceToHost);
    write_freed<<<1, 64>>>(freed);
    hipError_t kernel = hipDeviceSynchronize();
    if (again != hipErrorInvalidValue || copy != hipErrorInvalidValue
        || kernel != hipErrorIllegalAddress) {
        std::printf("FAIL bad_freed: free %s, copy %s, kernel %s\n", hipGetErrorName(again),
                    hipGetErrorName(copy), hipGetErrorName(kernel));
        return 1;
    }
    return pass("bad_freed");
}

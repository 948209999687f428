// Host pointers where device pointers are needed: as a copy's device side, to hipFree, to a kernel.
#include "check.hpp"

__global__ void read_host(const int *in, int *out)
{
    out[threadIdx.x] = in[threadIdx.x];
}

int main()
{
    std::vector<int> data(64, 1), other(64, 2);
    int *out = to_device(data);
    hipError_t copy = hipMemcpy(other.data(), data.data(), 256, hipMemcpyHostToDevice);
    hipError_t release = hipFree(data.data());
    read_host<<<1, 64>>>(data.data(), out);
    hipError_t kernel = hipDeviceSynchronize();
    if (copy != hipErrorInvalidValue || release != hipErrorInvalidValue
        || kernel != hipErrorIllegalAddress) {
        std::printf("FAIL bad_hostptr: copy %s, free %s, kernel %s\n", hipGetErrorName(copy),
                    hipGetErrorName(release), hipGetErrorName(kernel));
        return 1;
    }
    return pass("bad_hostptr");
}

// A kernel in one context is given memory of another one: nothing is mapped there in its process.
#include "check.hpp"
#include "components/hip/api/heddle_hip.h"

__global__ void read_other(const int *from, int *to)
{
    to[threadIdx.x] = from[threadIdx.x];
}

int main()
{
    int context = -1;
    int *other = nullptr, *own = nullptr;
    HIP_MUST(hipMalloc(reinterpret_cast<void **>(&other), 4096));
    HIP_MUST(static_cast<hipError_t>(heddleCreateContext(&context, 0)));
    HIP_MUST(hipSetDevice(context));
    HIP_MUST(hipMalloc(reinterpret_cast<void **>(&own), 4096));
    read_other<<<1, 64>>>(own, own);
    HIP_MUST(hipDeviceSynchronize());
    read_other<<<1, 64>>>(other, own);
    hipError_t error = hipDeviceSynchronize();
    if (error != hipErrorIllegalAddress) {
        std::printf("FAIL bad_context: %s\n", hipGetErrorName(error));
        return 1;
    }
    return pass("bad_context");
}

// Device code allocates memory, which is not supported: the kernel ends with a fault that says so,
// or gets a null pointer and a message, depending on how its compiler allocates.
#include "check.hpp"

__global__ void allocate(int *out)
{
    int *own = static_cast<int *>(malloc(64));
    if (own == nullptr) {
        out[threadIdx.x] = -1;
        return;
    }
    own[0] = static_cast<int>(threadIdx.x) * 3;
    out[threadIdx.x] = own[0];
    free(own);
}

int main()
{
    int *device, host[64];
    HIP_MUST(hipMalloc(&device, sizeof host));
    allocate<<<1, 64>>>(device);
    hipError_t error = hipMemcpy(host, device, sizeof host, hipMemcpyDeviceToHost);
    bool null = error == hipSuccess && host[63] == -1;
    std::printf("%s bad_malloc: %s\n", null || error != hipSuccess ? "PASS" : "FAIL",
                hipGetErrorName(error));
    return null || error != hipSuccess ? 0 : 1;
}

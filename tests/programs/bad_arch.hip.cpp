// Compiled for gfx90a only. On another device the launch fails, with the architectures in the
// message.
#include "check.hpp"

__global__ void nothing()
{
}

int main()
{
    nothing<<<1, 64>>>();
    hipError_t error = hipGetLastError();
    if (error != hipErrorNoBinaryForGpu) {
        std::printf("FAIL bad_arch: %s\n", hipGetErrorName(error));
        return 1;
    }
    return pass("bad_arch");
}

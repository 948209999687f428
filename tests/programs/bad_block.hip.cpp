// A work-group of 2048 threads, and an empty one. Expected: invalid configuration, and the next
// launch works.
#include "check.hpp"

__global__ void identity(int *out)
{
    out[threadIdx.x] = threadIdx.x;
}

int main()
{
    std::vector<int> data(64, -1), want(64);
    for (int i = 0; i < 64; i++) {
        want[i] = i;
    }
    int *out = to_device(data);
    identity<<<1, 2048>>>(out);
    hipError_t large = hipGetLastError();
    identity<<<1, 0>>>(out);
    hipError_t empty = hipGetLastError();
    identity<<<1, 64>>>(out);
    HIP_MUST(hipGetLastError());
    from_device(data, out);
    if (large != hipErrorInvalidConfiguration || empty != hipErrorInvalidConfiguration) {
        std::printf("FAIL bad_block: large %s, empty %s\n", hipGetErrorName(large),
                    hipGetErrorName(empty));
        return 1;
    }
    return same_or_report("bad_block", data, want) ? pass("bad_block") : 1;
}

// Asks for 1 MiB of dynamic LDS. Expected: the launch is refused and the next one works.
#include "check.hpp"

__global__ void through_lds(int *out)
{
    extern __shared__ int values[];
    values[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = values[63 - threadIdx.x];
}

int main()
{
    std::vector<int> data(64, -1), want(64);
    for (int i = 0; i < 64; i++) {
        want[i] = 63 - i;
    }
    int *out = to_device(data);
    through_lds<<<1, 64, 1 << 20>>>(out);
    hipError_t large = hipGetLastError();
    through_lds<<<1, 64, 64 * sizeof(int)>>>(out);
    HIP_MUST(hipGetLastError());
    from_device(data, out);
    if (large != hipErrorInvalidConfiguration) {
        std::printf("FAIL bad_lds: %s\n", hipGetErrorName(large));
        return 1;
    }
    return same_or_report("bad_lds", data, want) ? pass("bad_lds") : 1;
}

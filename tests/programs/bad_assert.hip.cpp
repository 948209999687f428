// An assertion in device code that fails in one lane. Expected: its text on the program's output, and an error at the
// next synchronisation.
#include "check.hpp"

#include <cassert>

__global__ void check_values(const int *values)
{
    assert(values[threadIdx.x] != 13);
}

int main()
{
    std::vector<int> values(64);
    for (int i = 0; i < 64; i++) {
        values[i] = i;
    }
    check_values<<<1, 64>>>(to_device(values));
    hipError_t error = hipDeviceSynchronize();
    if (error == hipSuccess) {
        std::printf("FAIL bad_assert: no error\n");
        return 1;
    }
    std::printf("PASS bad_assert: %s\n", hipGetErrorName(error));
    return 0;
}

// A kernel that gives up by a trap: the run fails and names the kernel. Arguments: [0: __builtin_trap, 1: abort].
#include "check.hpp"

__global__ void traps(int *data, int which)
{
    if (data[threadIdx.x] == 7) {
        if (which == 0) {
            __builtin_trap();
        }
        abort();
    }
    data[threadIdx.x] = 0;
}

int main(int argc, char **argv)
{
    std::vector<int> data(64);
    for (int i = 0; i < 64; i++) {
        data[i] = i;
    }
    traps<<<1, 64>>>(to_device(data), argc > 1 ? std::atoi(argv[1]) : 0);
    hipError_t error = hipDeviceSynchronize();
    if (error == hipSuccess) {
        std::printf("FAIL bad_trap: no error\n");
        return 1;
    }
    std::printf("PASS bad_trap: %s\n", hipGetErrorName(error));
    return 0;
}

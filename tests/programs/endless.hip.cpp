// A kernel that spins for ever: waits for a flag that nobody sets. The run's limit on cycles must
// end it. `endless exit`: the program does not wait for it; `late`: it ends when the kernel runs;
// `count`: nor does it wait, and the kernel counts its loops; `turn`: the kernel only computes.
#include "check.hpp"

#include <chrono>
#include <thread>

__global__ void spin(volatile int *flag, bool counts)
{
    int loops = 0;
    while (*flag == 0) {
        loops += counts;
    }
    *flag = loops;
}

__global__ void turn(int number)
{
    for (;;) {
        number = number * 3 + 1;
        asm volatile("" : "+v"(number));
    }
}

int main(int argc, char **argv)
{
    std::vector<int> zero(1, 0);
    int *flag = to_device(zero);
    const bool turns = argc > 1 && !std::strcmp(argv[1], "turn");
    if (turns) {
        turn<<<1, 64>>>(1);
    } else {
        spin<<<1, 64>>>(flag, argc > 1 && !std::strcmp(argv[1], "count"));
    }
    if (argc > 2) {
        std::this_thread::sleep_for(std::chrono::milliseconds(500));
    }
    if (argc > 1 && !turns) {
        return 0;
    }
    hipError_t error = hipDeviceSynchronize();
    std::printf("FAIL endless: came back with %s\n", hipGetErrorName(error));
    return 1;
}

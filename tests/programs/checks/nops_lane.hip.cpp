// The number of a lane is computed by a vector instruction. WRONG: too shortly before its use.
// finds: wait-states: v_readfirstlane_b32 | v_readlane_b32
#include "hazard.hpp"

__global__ void spread(int *data)
{
    int lane = data[threadIdx.x], value = threadIdx.x, number, result;
    asm volatile("v_readfirstlane_b32 %0, %2\n" UNLESS_WRONG("s_nop 3") "v_readlane_b32 %1, %3, %0"
                 : "=&s"(number), "=&s"(result)
                 : "v"(lane), "v"(value));
    data[threadIdx.x] = result;
}

int main()
{
    return run_on_integers(spread);
}

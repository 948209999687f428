// A lane reads its neighbour's register by DPP. WRONG: right after it was written.
// finds: wait-states: v_mul_lo_u32 | v_mov_b32_dpp
#include "hazard.hpp"

__global__ void shift(int *data)
{
    int value = data[threadIdx.x], made, result = 0;
    asm volatile("v_mul_lo_u32 %0, %2, 3\n" UNLESS_WRONG("s_nop 1")
                 "v_mov_b32_dpp %1, %0 row_shr:1 row_mask:0xf bank_mask:0xf"
                 : "=&v"(made), "+v"(result)
                 : "v"(value));
    data[threadIdx.x] = result;
}

int main()
{
    return run_on_integers(shift);
}

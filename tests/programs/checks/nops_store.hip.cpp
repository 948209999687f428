// Four registers are stored, and one of them is used again. WRONG: by the next instruction.
// finds: wait-states: flat_store_dwordx4 | v_mov_b32
#include "hazard.hpp"

__global__ void store(int *data)
{
    int *at = data + 4 * (threadIdx.x & 15);
    asm volatile("v_mov_b32 v8, 1\n"
                 "v_mov_b32 v9, 2\n"
                 "v_mov_b32 v10, 3\n"
                 "v_mov_b32 v11, 4\n"
                 "flat_store_dwordx4 %0, v[8:11]\n" UNLESS_WRONG("s_nop 0") "v_mov_b32 v10, 7\n"
                 "s_waitcnt vmcnt(0) lgkmcnt(0)"
                 :
                 : "v"(at)
                 : "v8", "v9", "v10", "v11", "memory");
}

int main()
{
    return run_on_integers(store);
}

// A register is loaded and then set. WRONG: while the load may still be on its way.
// finds: early-write: flat_load_dword | v_mov_b32
#include "hazard.hpp"

__global__ void set(int *data)
{
    int *at = data + threadIdx.x, value;
    asm volatile("flat_load_dword %0, %1\n" UNLESS_WRONG("s_waitcnt vmcnt(0) lgkmcnt(0)")
                 "v_mov_b32 %0, 7\n"
                 "s_waitcnt vmcnt(0) lgkmcnt(0)"
                 : "=&v"(value)
                 : "v"(at)
                 : "memory");
    *at = value;
}

int main()
{
    return run_on_integers(set);
}

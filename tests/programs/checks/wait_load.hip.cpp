// A vector load. WRONG: its register is read without a wait.
// finds: early-read: flat_load_dword | v_add_u32
#include "hazard.hpp"

__global__ void add(int *data)
{
    int *at = data + threadIdx.x, value;
    asm volatile("flat_load_dword %0, %1\n" UNLESS_WRONG("s_waitcnt vmcnt(0) lgkmcnt(0)")
                 "v_add_u32 %0, vcc, 1, %0\n"
                 "s_waitcnt vmcnt(0) lgkmcnt(0)"
                 : "=&v"(value)
                 : "v"(at)
                 : "vcc", "memory");
    *at = value;
}

int main()
{
    return run_on_integers(add);
}

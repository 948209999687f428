// Two vector loads, of which the first is waited for by a count. WRONG: by one that is too large.
// finds: early-read: flat_load_dword | v_add_u32
#include "hazard.hpp"

#ifdef WRONG
#define WAIT "s_waitcnt vmcnt(2)\n"
#else
#define WAIT "s_waitcnt vmcnt(1)\n"
#endif

__global__ void add(int *data)
{
    int *at = data + threadIdx.x, first, second;
    asm volatile("flat_load_dword %0, %2\n"
                 "flat_load_dword %1, %2\n" WAIT "v_add_u32 %0, vcc, 1, %0\n"
                 "s_waitcnt vmcnt(0) lgkmcnt(0)"
                 : "=&v"(first), "=&v"(second)
                 : "v"(at)
                 : "vcc", "memory");
    *at = first + second;
}

int main()
{
    return run_on_integers(add);
}

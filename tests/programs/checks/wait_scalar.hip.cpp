// A scalar load. WRONG: its register is read without a wait.
// finds: early-read: s_load_dword | s_add_i32
#include "hazard.hpp"

__global__ void add(int *data)
{
    int value;
    asm volatile("s_load_dword %0, %1, 0x0\n" UNLESS_WRONG("s_waitcnt lgkmcnt(0)")
                 "s_add_i32 %0, %0, 1\n"
                 "s_waitcnt lgkmcnt(0)"
                 : "=&s"(value)
                 : "s"(data)
                 : "scc", "memory");
    data[threadIdx.x] = value;
}

int main()
{
    return run_on_integers(add);
}

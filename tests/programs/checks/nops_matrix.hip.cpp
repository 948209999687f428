// A matrix product is added up. WRONG: before the matrix unit has written it. For gfx90a.
// finds: wait-states: v_mfma_f32_16x16x4f32 | v_add_f32
#include "hazard.hpp"

__global__ void multiply(int *data)
{
#ifdef __gfx90a__
    float first;
    asm volatile("v_mov_b32 v8, 0\n"
                 "v_mov_b32 v9, 0\n"
                 "v_mov_b32 v10, 0\n"
                 "v_mov_b32 v11, 0\n"
                 "s_nop 1\n"
                 "v_mfma_f32_16x16x4f32 v[8:11], %1, %2, v[8:11]\n" UNLESS_WRONG("s_nop 10")
                 "v_add_f32 %0, 1.0, v9\n"
                 "s_nop 15"
                 : "=&v"(first)
                 : "v"(1.0f * threadIdx.x), "v"(2.0f)
                 : "v8", "v9", "v10", "v11");
    data[threadIdx.x] = static_cast<int>(first);
#endif
}

int main()
{
    return run_on_integers(multiply);
}

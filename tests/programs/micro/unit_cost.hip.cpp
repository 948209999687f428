// What a wavefront instruction costs the host in the compute unit alone: loops that touch no memory, on all compute
// units of an R9 Nano, two wavefronts a SIMD. Arguments: kind (vector, scalar, lds, mixed), iterations. The number
// of instructions stands in the statistics; the difference of two lengths leaves out what the run costs besides.
#include "micro.hpp"

#define LOOP(name, body)                                                                           \
    __global__ void loop_##name(int iterations, uint32_t *out)                                     \
    {                                                                                              \
        __shared__ uint32_t words[1024];                                                           \
        uint32_t value = threadIdx.x, at = threadIdx.x * 4;                                        \
        words[threadIdx.x] = value;                                                                \
        asm volatile("s_mov_b32 m0, -1" ::"v"(words));                                             \
        _Pragma("unroll 1") for (int i = 0; i < iterations; i++) body;                             \
        if (value == 0x7fffffff) {                                                                 \
            out[0] = value + words[at / 4];                                                        \
        }                                                                                          \
    }

LOOP(vector, asm volatile(".rept 32\n\tv_fma_f32 %0, %0, %0, 1.0\n\t.endr" : "+v"(value)))
LOOP(scalar, asm volatile(".rept 32\n\ts_add_u32 s20, s20, 1\n\t.endr" ::: "s20", "scc"))
LOOP(lds, asm volatile(".rept 8\n\tds_read_b32 %0, %1\n\ts_waitcnt lgkmcnt(0)\n\t.endr"
                       : "=v"(value)
                       : "v"(at)))
LOOP(mixed, asm volatile(".rept 4\n\tv_fma_f32 %0, %0, %0, 1.0\n\tv_add_u32 %0, vcc, %0, %0\n\t"
                         "s_add_u32 s20, s20, 1\n\tv_mul_lo_u32 %0, %0, %0\n\tv_xor_b32 %0, %0, %1\n\t"
                         "v_lshlrev_b32 %0, 1, %0\n\t.endr\n\tds_read_b32 %0, %1\n\t"
                         "s_waitcnt lgkmcnt(0)"
                         : "+v"(value)
                         : "v"(at)
                         : "s20", "vcc", "scc"))

int main(int argc, char **argv)
{
    struct kind {
        const char *name;
        void (*kernel)(int, uint32_t *);
    };
    static const kind kinds[] = {
        {"vector", loop_vector}, {"scalar", loop_scalar}, {"lds", loop_lds}, {"mixed", loop_mixed}};
    int iterations = size_argument(argc, argv, 2, 100);
    uint32_t *out = device_zeros<uint32_t>(1);
    for (const kind &k : kinds) {
        if (argc < 2 || std::strcmp(argv[1], k.name) == 0) {
            k.kernel<<<64, 512>>>(iterations, out);
            HIP_MUST(hipDeviceSynchronize());
        }
    }
    return pass("micro_unit_cost");
}

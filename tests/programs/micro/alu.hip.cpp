// Cycles that an instruction keeps its SIMD: of each class, 256 in a straight line, by 1 and by 4
// wavefronts a SIMD of one compute unit; dependent on each other or not. The code runs twice, the
// second time counts. Argument: one of the names.
#include "micro.hpp"

struct probe {
    const char *name;
    void (*kernel)(uint64_t *);
};

#define PROBE(name, instruction)                                                                   \
    __global__ void probe_##name(uint64_t *times)                                                  \
    {                                                                                              \
        uint64_t begin = 0, end = 0;                                                               \
        asm volatile("v_mov_b32 v10, 1.0\n\tv_mov_b32 v11, 1.0\n\tv_mov_b32 v12, 0\n\t"            \
                     "v_mov_b32 v13, 0x3ff00000\n\ts_mov_b32 s20, 1\n\ts_mov_b32 s21, 0" ::        \
                         : "v10", "v11", "v12", "v13", "s20", "s21");                              \
        _Pragma("unroll 1") for (int i = 0; i < 2; i++)                                            \
        {                                                                                          \
            __syncthreads();                                                                       \
            begin = micro_now();                                                                   \
            asm volatile(".rept 256\n\t" instruction "\n\t.endr" ::                                \
                             : "v8", "v9", "v10", "v11", "v12", "v13", "s20", "s21", "s22", "s23", \
                               "scc", "memory");                                                   \
            end = micro_now();                                                                     \
        }                                                                                          \
        micro_note(times, begin, end);                                                             \
    }

PROBE(f32_add, "v_add_f32 v8, v10, v11")
PROBE(f32_add_chain, "v_add_f32 v10, v10, v11")
PROBE(f32_multiply, "v_mul_f32 v8, v10, v11")
PROBE(f32_fma, "v_fma_f32 v8, v10, v11, v10")
#ifdef MICRO_CDNA
PROBE(i32_add, "v_add_u32 v8, v10, v11")
PROBE(i32_multiply_add, "v_mad_u64_u32 v[8:9], s[20:21], v10, v11, v[12:13]")
PROBE(f32_convert, "v_cvt_f32_i32 v8, v10")
PROBE(f32_cosine, "v_cos_f32 v8, v10")
PROBE(f32_logarithm, "v_log_f32 v8, v10")
PROBE(f32_reciprocal_root, "v_rsq_f32 v8, v10")
PROBE(f16_exponential, "v_exp_f16 v8, v10")
PROBE(f16_logarithm, "v_log_f16 v8, v10")
PROBE(f16_reciprocal, "v_rcp_f16 v8, v10")
PROBE(f16_sine, "v_sin_f16 v8, v10")
PROBE(f16_pairs, "v_pk_fma_f16 v8, v10, v11, v10")
PROBE(f32_pairs, "v_pk_fma_f32 v[8:9], v[12:13], v[12:13], v[12:13]")
PROBE(f64_convert, "v_cvt_f64_f32 v[8:9], v10")
PROBE(f64_reciprocal_root, "v_rsq_f64 v[8:9], v[12:13]")
PROBE(f64_square_root, "v_sqrt_f64 v[8:9], v[12:13]")
#else
PROBE(i32_add, "v_add_u32 v8, vcc, v10, v11")
#endif
PROBE(i32_multiply, "v_mul_lo_u32 v8, v10, v11")
PROBE(f32_reciprocal, "v_rcp_f32 v8, v10")
PROBE(f32_square_root, "v_sqrt_f32 v8, v10")
PROBE(f32_sine, "v_sin_f32 v8, v10")
PROBE(f32_exponential, "v_exp_f32 v8, v10")
PROBE(f64_add, "v_add_f64 v[8:9], v[12:13], v[12:13]")
PROBE(f64_multiply, "v_mul_f64 v[8:9], v[12:13], v[12:13]")
PROBE(f64_fma, "v_fma_f64 v[8:9], v[12:13], v[12:13], v[12:13]")
PROBE(f64_reciprocal, "v_rcp_f64 v[8:9], v[12:13]")
PROBE(scalar_add, "s_add_u32 s22, s20, s21")
PROBE(scalar_multiply, "s_mul_i32 s22, s20, s21")

// LDS reads whose lanes are `stride` dwords apart: cycles that one keeps the LDS.
__global__ void probe_lds(uint64_t *times, uint32_t stride)
{
    __shared__ uint32_t words[16384];
    uint32_t at = threadIdx.x % 64 * stride * 4;
    uint64_t begin = 0, end = 0;
    asm volatile("s_mov_b32 m0, -1");
#pragma unroll 1
    for (int i = 0; i < 2; i++) {
        __syncthreads();
        begin = micro_now();
        asm volatile(".rept 256\n\tds_read_b32 v8, %0\n\t.endr\n\ts_waitcnt lgkmcnt(0)" ::"v"(at),
                     "v"(words)
                     : "v8", "memory");
        end = micro_now();
    }
    micro_note(times, begin, end);
}

int main(int argc, char **argv)
{
#define ONE(name)                                                                                  \
    {                                                                                              \
#name, probe_##name                                                                        \
    }
    static const probe probes[] = {
        ONE(f32_add),  ONE(f32_add_chain),   ONE(f32_multiply),   ONE(f32_fma),
        ONE(i32_add),  ONE(i32_multiply),    ONE(f32_reciprocal), ONE(f32_square_root),
        ONE(f32_sine), ONE(f32_exponential), ONE(f64_add),        ONE(f64_multiply),
        ONE(f64_fma),  ONE(f64_reciprocal),  ONE(scalar_add),     ONE(scalar_multiply),
#ifdef MICRO_CDNA
        ONE(i32_multiply_add), ONE(f32_convert), ONE(f32_cosine), ONE(f32_logarithm),
        ONE(f32_reciprocal_root), ONE(f16_exponential), ONE(f16_logarithm), ONE(f16_reciprocal),
        ONE(f16_sine), ONE(f16_pairs), ONE(f32_pairs), ONE(f64_convert), ONE(f64_reciprocal_root),
        ONE(f64_square_root),
#endif
    };
    uint64_t *times = device_zeros<uint64_t>(32);
    for (const probe &p : probes) {
        if (argc > 1 && std::strcmp(argv[1], p.name) != 0) {
            continue;
        }
        char name[64];
        for (int waves = 1; waves <= 4; waves *= 4) { // a SIMD
            p.kernel<<<1, waves * 256>>>(times);
            double cycles = micro_span(times, static_cast<size_t>(waves) * 4);
            std::snprintf(name, sizeof name, "%s/%d", p.name, waves);
            micro_result(name, cycles / 256 / waves);
        }
    }
    static const int strides[] = {0, 1, 2, 3, 4, 8, 16, 17, 32, 64};
    for (int stride : strides) {
        char name[64];
        std::snprintf(name, sizeof name, "lds_stride_%d", stride);
        if (argc > 1 && std::strcmp(argv[1], name) != 0) {
            continue;
        }
        probe_lds<<<1, 1024>>>(times, static_cast<uint32_t>(stride));
        micro_result(name, micro_span(times, 16) / 256 / 16);
    }
    return pass("micro_alu");
}

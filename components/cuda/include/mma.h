/* Matrix fragments of a warp (CUDA C++ Programming Guide, "Warp matrix functions"): nvcuda::wmma
 * for m16n16k16, m32n8k16 and m8n32k16 of halves, bfloats and bytes, m16n16k8 of tf32 and m8n8k4 of
 * double. Each function is one instruction, wmma.load, wmma.store or wmma.mma. */
#ifndef HEDDLE_CUDA_MMA_H
#define HEDDLE_CUDA_MMA_H

#include "cuda_bf16.h"
#include "cuda_fp16.h"

#ifdef __CUDA__

namespace nvcuda
{
namespace wmma
{

struct row_major {
};
struct col_major {
};
struct matrix_a {
};
struct matrix_b {
};
struct accumulator {
};
namespace precision
{
struct tf32 {
};
} // namespace precision
enum layout_t { mem_row_major, mem_col_major };

/* Elements of a fragment in registers, and the registers' type: of the manual of PTX, "matrix
 * fragments for wmma". */
template <typename Use, int m, int n, int k, typename T, typename Layout = void> class fragment;

#define HEDDLE_WMMA static __device__ __forceinline__

#define HEDDLE_FRAGMENT(use, m, n, k, kind, element, count, word)                                  \
    template <typename Layout> class fragment<use, m, n, k, kind, Layout>                          \
    {                                                                                              \
      public:                                                                                      \
        enum { num_elements = count, num_storage_elements = count };                               \
        typedef element element_type;                                                              \
        typedef word word_type;                                                                    \
        element x[count];                                                                          \
    };                                                                                             \
    template <typename Layout>                                                                     \
    HEDDLE_WMMA word *heddle_words(fragment<use, m, n, k, kind, Layout> &f)                        \
    {                                                                                              \
        return (word *)(void *)f.x;                                                                \
    }                                                                                              \
    template <typename Layout>                                                                     \
    HEDDLE_WMMA const word *heddle_words(const fragment<use, m, n, k, kind, Layout> &f)            \
    {                                                                                              \
        return (const word *)(const void *)f.x;                                                    \
    }

#define HEDDLE_OUT_8(w)                                                                            \
    "=" w(d[0]), "=" w(d[1]), "=" w(d[2]), "=" w(d[3]), "=" w(d[4]), "=" w(d[5]), "=" w(d[6]),     \
        "=" w(d[7])
#define HEDDLE_OUT_4(w)   "=" w(d[0]), "=" w(d[1]), "=" w(d[2]), "=" w(d[3])
#define HEDDLE_OUT_2(w)   "=" w(d[0]), "=" w(d[1])
#define HEDDLE_OUT_1(w)   "=" w(d[0])
#define HEDDLE_IN_8(w, v) w(v[0]), w(v[1]), w(v[2]), w(v[3]), w(v[4]), w(v[5]), w(v[6]), w(v[7])
#define HEDDLE_IN_4(w, v) w(v[0]), w(v[1]), w(v[2]), w(v[3])
#define HEDDLE_IN_2(w, v) w(v[0]), w(v[1])
#define HEDDLE_IN_1(w, v) w(v[0])
#define HEDDLE_NAMES_8    "{%0, %1, %2, %3, %4, %5, %6, %7}"
#define HEDDLE_NAMES_4    "{%0, %1, %2, %3}"
#define HEDDLE_NAMES_2    "{%0, %1}"
#define HEDDLE_NAMES_1    "{%0}"
#define HEDDLE_NEXT_8     "[%8], %9;"
#define HEDDLE_NEXT_4     "[%4], %5;"
#define HEDDLE_NEXT_2     "[%2], %3;"
#define HEDDLE_NEXT_1     "[%1], %2;"
#define HEDDLE_LAST_8     "{%2, %3, %4, %5, %6, %7, %8, %9}"
#define HEDDLE_LAST_4     "{%2, %3, %4, %5}"
#define HEDDLE_LAST_2     "{%2, %3}"

/* Loads of a and b, whose layout is a part of their type. */
#define HEDDLE_LOAD_AS(use, letter, m, n, k, kind, from, count, w, shape, type, layout, text)      \
    HEDDLE_WMMA void load_matrix_sync(fragment<use, m, n, k, kind, layout> &f, const from *p,      \
                                      unsigned int stride)                                         \
    {                                                                                              \
        auto *d = heddle_words(f);                                                                 \
        asm volatile("wmma.load." letter ".sync.aligned." text "." shape "." type                  \
                     " " HEDDLE_NAMES_##count ", " HEDDLE_NEXT_##count                             \
                     : HEDDLE_OUT_##count(w)                                                       \
                     : "l"(p), "r"(stride)                                                         \
                     : "memory");                                                                  \
    }
#define HEDDLE_LOAD(use, letter, m, n, k, kind, from, count, w, shape, type)                       \
    HEDDLE_LOAD_AS(use, letter, m, n, k, kind, from, count, w, shape, type, row_major, "row")      \
    HEDDLE_LOAD_AS(use, letter, m, n, k, kind, from, count, w, shape, type, col_major, "col")

/* Loads and stores of accumulators, whose layout is an argument. */
#define HEDDLE_ACCUMULATOR_AS(m, n, k, kind, count, w, shape, type, text)                          \
    if (layout == (text[0] == 'r' ? mem_row_major : mem_col_major))                                \
        asm volatile("wmma.load.c.sync.aligned." text "." shape "." type " " HEDDLE_NAMES_##count  \
                     ", " HEDDLE_NEXT_##count                                                      \
                     : HEDDLE_OUT_##count(w)                                                       \
                     : "l"(p), "r"(stride)                                                         \
                     : "memory");
#define HEDDLE_STORE_AS(count, w, shape, type, text)                                               \
    if (layout == (text[0] == 'r' ? mem_row_major : mem_col_major))                                \
        asm volatile("wmma.store.d.sync.aligned." text "." shape "." type                          \
                     " [%0], " HEDDLE_LAST_##count ", %1;" ::"l"(p),                               \
                     "r"(stride), HEDDLE_IN_##count(w, s)                                          \
                     : "memory");
#define HEDDLE_ACCUMULATOR(m, n, k, kind, count, w, shape, type)                                   \
    HEDDLE_WMMA void load_matrix_sync(fragment<accumulator, m, n, k, kind> &f, const kind *p,      \
                                      unsigned int stride, layout_t layout)                        \
    {                                                                                              \
        auto *d = heddle_words(f);                                                                 \
        HEDDLE_ACCUMULATOR_AS(m, n, k, kind, count, w, shape, type, "row")                         \
        HEDDLE_ACCUMULATOR_AS(m, n, k, kind, count, w, shape, type, "col")                         \
    }                                                                                              \
    HEDDLE_WMMA void store_matrix_sync(kind *p, const fragment<accumulator, m, n, k, kind> &f,     \
                                       unsigned int stride, layout_t layout)                       \
    {                                                                                              \
        const auto *s = heddle_words(f);                                                           \
        HEDDLE_STORE_AS(count, w, shape, type, "row")                                              \
        HEDDLE_STORE_AS(count, w, shape, type, "col")                                              \
    }

/* d = a b + c, for each pair of layouts. `names` are the operands behind d's. */
#define HEDDLE_MMA_AS(m, n, k, in, out, na, nb, nd, wa, wd, shape, types, names, la, ta, lb, tb)   \
    HEDDLE_WMMA void mma_sync(fragment<accumulator, m, n, k, out> &result,                         \
                              const fragment<matrix_a, m, n, k, in, la> &first,                    \
                              const fragment<matrix_b, m, n, k, in, lb> &second,                   \
                              const fragment<accumulator, m, n, k, out> &third)                    \
    {                                                                                              \
        auto *d = heddle_words(result);                                                            \
        const auto *a = heddle_words(first);                                                       \
        const auto *b = heddle_words(second);                                                      \
        const auto *c = heddle_words(third);                                                       \
        asm volatile("wmma.mma.sync.aligned." ta "." tb "." shape "." types " " HEDDLE_NAMES_##nd  \
                     ", " names ";"                                                                \
                     : HEDDLE_OUT_##nd(wd)                                                         \
                     : HEDDLE_IN_##na(wa, a), HEDDLE_IN_##nb(wa, b), HEDDLE_IN_##nd(wd, c));       \
    }
#define HEDDLE_MMA(m, n, k, in, out, na, nb, nd, wa, wd, shape, types, names)                      \
    HEDDLE_MMA_AS(m, n, k, in, out, na, nb, nd, wa, wd, shape, types, names, row_major, "row",     \
                  row_major, "row")                                                                \
    HEDDLE_MMA_AS(m, n, k, in, out, na, nb, nd, wa, wd, shape, types, names, row_major, "row",     \
                  col_major, "col")                                                                \
    HEDDLE_MMA_AS(m, n, k, in, out, na, nb, nd, wa, wd, shape, types, names, col_major, "col",     \
                  row_major, "row")                                                                \
    HEDDLE_MMA_AS(m, n, k, in, out, na, nb, nd, wa, wd, shape, types, names, col_major, "col",     \
                  col_major, "col")

#define HEDDLE_HALF_8_8_8                                                                          \
    "{%8, %9, %10, %11, %12, %13, %14, %15}, {%16, %17, %18, %19, %20, %21, %22, %23}, "           \
    "{%24, %25, %26, %27, %28, %29, %30, %31}"
#define HEDDLE_HALF_8_8_4                                                                          \
    "{%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15, %16, %17, %18, %19}, "               \
    "{%20, %21, %22, %23}"
#define HEDDLE_BYTE_2_2_8 "{%8, %9}, {%10, %11}, {%12, %13, %14, %15, %16, %17, %18, %19}"
#define HEDDLE_WORD_4_4_8                                                                          \
    "{%8, %9, %10, %11}, {%12, %13, %14, %15}, {%16, %17, %18, %19, %20, %21, %22, %23}"

/* The three shapes with k = 16: halves; m16n16k16 also for bfloats and bytes. */
#define HEDDLE_HALVES(m, n, shape)                                                                 \
    HEDDLE_FRAGMENT(matrix_a, m, n, 16, __half, __half, 16, unsigned int)                          \
    HEDDLE_FRAGMENT(matrix_b, m, n, 16, __half, __half, 16, unsigned int)                          \
    HEDDLE_FRAGMENT(accumulator, m, n, 16, float, float, 8, float)                                 \
    HEDDLE_FRAGMENT(accumulator, m, n, 16, __half, __half, 8, unsigned int)                        \
    HEDDLE_LOAD(matrix_a, "a", m, n, 16, __half, __half, 8, "r", shape, "f16")                     \
    HEDDLE_LOAD(matrix_b, "b", m, n, 16, __half, __half, 8, "r", shape, "f16")                     \
    HEDDLE_ACCUMULATOR(m, n, 16, float, 8, "f", shape, "f32")                                      \
    HEDDLE_ACCUMULATOR(m, n, 16, __half, 4, "r", shape, "f16")                                     \
    HEDDLE_MMA(m, n, 16, __half, float, 8, 8, 8, "r", "f", shape, "f32.f32", HEDDLE_HALF_8_8_8)    \
    HEDDLE_MMA(m, n, 16, __half, __half, 8, 8, 4, "r", "r", shape, "f16.f16", HEDDLE_HALF_8_8_4)
HEDDLE_HALVES(16, 16, "m16n16k16")
HEDDLE_HALVES(32, 8, "m32n8k16")
HEDDLE_HALVES(8, 32, "m8n32k16")

HEDDLE_FRAGMENT(matrix_a, 16, 16, 16, __nv_bfloat16, __nv_bfloat16, 8, unsigned int)
HEDDLE_FRAGMENT(matrix_b, 16, 16, 16, __nv_bfloat16, __nv_bfloat16, 8, unsigned int)
HEDDLE_LOAD(matrix_a, "a", 16, 16, 16, __nv_bfloat16, __nv_bfloat16, 4, "r", "m16n16k16", "bf16")
HEDDLE_LOAD(matrix_b, "b", 16, 16, 16, __nv_bfloat16, __nv_bfloat16, 4, "r", "m16n16k16", "bf16")
HEDDLE_MMA(16, 16, 16, __nv_bfloat16, float, 4, 4, 8, "r", "f", "m16n16k16", "f32.bf16.bf16.f32",
           HEDDLE_WORD_4_4_8)

#define HEDDLE_BYTES(kind, type)                                                                   \
    HEDDLE_FRAGMENT(matrix_a, 16, 16, 16, kind, kind, 8, unsigned int)                             \
    HEDDLE_FRAGMENT(matrix_b, 16, 16, 16, kind, kind, 8, unsigned int)                             \
    HEDDLE_LOAD(matrix_a, "a", 16, 16, 16, kind, kind, 2, "r", "m16n16k16", type)                  \
    HEDDLE_LOAD(matrix_b, "b", 16, 16, 16, kind, kind, 2, "r", "m16n16k16", type)                  \
    HEDDLE_MMA(16, 16, 16, kind, int, 2, 2, 8, "r", "r", "m16n16k16", "s32." type "." type ".s32", \
               HEDDLE_BYTE_2_2_8)
HEDDLE_FRAGMENT(accumulator, 16, 16, 16, int, int, 8, int)
HEDDLE_ACCUMULATOR(16, 16, 16, int, 8, "r", "m16n16k16", "s32")
HEDDLE_BYTES(signed char, "s8")
HEDDLE_BYTES(unsigned char, "u8")

HEDDLE_FRAGMENT(matrix_a, 16, 16, 8, precision::tf32, float, 4, unsigned int)
HEDDLE_FRAGMENT(matrix_b, 16, 16, 8, precision::tf32, float, 4, unsigned int)
HEDDLE_FRAGMENT(accumulator, 16, 16, 8, float, float, 8, float)
HEDDLE_LOAD(matrix_a, "a", 16, 16, 8, precision::tf32, float, 4, "r", "m16n16k8", "tf32")
HEDDLE_LOAD(matrix_b, "b", 16, 16, 8, precision::tf32, float, 4, "r", "m16n16k8", "tf32")
HEDDLE_ACCUMULATOR(16, 16, 8, float, 8, "f", "m16n16k8", "f32")
HEDDLE_MMA(16, 16, 8, precision::tf32, float, 4, 4, 8, "r", "f", "m16n16k8", "f32.tf32.tf32.f32",
           HEDDLE_WORD_4_4_8)

HEDDLE_FRAGMENT(matrix_a, 8, 8, 4, double, double, 1, double)
HEDDLE_FRAGMENT(matrix_b, 8, 8, 4, double, double, 1, double)
HEDDLE_FRAGMENT(accumulator, 8, 8, 4, double, double, 2, double)
HEDDLE_LOAD(matrix_a, "a", 8, 8, 4, double, double, 1, "d", "m8n8k4", "f64")
HEDDLE_LOAD(matrix_b, "b", 8, 8, 4, double, double, 1, "d", "m8n8k4", "f64")
HEDDLE_ACCUMULATOR(8, 8, 4, double, 2, "d", "m8n8k4", "f64")
HEDDLE_MMA(8, 8, 4, double, double, 1, 1, 2, "d", "d", "m8n8k4", "f64.f64.f64.f64",
           "{%2}, {%3}, {%4, %5}")

template <typename Use, int m, int n, int k, typename T, typename Layout, typename V>
HEDDLE_WMMA void fill_fragment(fragment<Use, m, n, k, T, Layout> &f, V value)
{
    for (int i = 0; i < f.num_elements; i++)
        f.x[i] = value;
}

HEDDLE_WMMA float __float_to_tf32(float v)
{
    unsigned int bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(v));
    return __builtin_bit_cast(float, bits);
}

#undef HEDDLE_WMMA
#undef HEDDLE_FRAGMENT
#undef HEDDLE_OUT_8
#undef HEDDLE_OUT_4
#undef HEDDLE_OUT_2
#undef HEDDLE_OUT_1
#undef HEDDLE_IN_8
#undef HEDDLE_IN_4
#undef HEDDLE_IN_2
#undef HEDDLE_IN_1
#undef HEDDLE_NAMES_8
#undef HEDDLE_NAMES_4
#undef HEDDLE_NAMES_2
#undef HEDDLE_NAMES_1
#undef HEDDLE_NEXT_8
#undef HEDDLE_NEXT_4
#undef HEDDLE_NEXT_2
#undef HEDDLE_NEXT_1
#undef HEDDLE_LAST_8
#undef HEDDLE_LAST_4
#undef HEDDLE_LAST_2
#undef HEDDLE_LOAD_AS
#undef HEDDLE_LOAD
#undef HEDDLE_ACCUMULATOR_AS
#undef HEDDLE_STORE_AS
#undef HEDDLE_ACCUMULATOR
#undef HEDDLE_MMA_AS
#undef HEDDLE_MMA
#undef HEDDLE_HALVES
#undef HEDDLE_BYTES
#undef HEDDLE_HALF_8_8_8
#undef HEDDLE_HALF_8_8_4
#undef HEDDLE_BYTE_2_2_8
#undef HEDDLE_WORD_4_4_8

} // namespace wmma
} // namespace nvcuda

using nvcuda::wmma::__float_to_tf32;

#endif

#endif

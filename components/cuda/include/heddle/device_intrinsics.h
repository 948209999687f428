/* Intrinsic functions of the CUDA C++ Programming Guide that clang's headers leave out. */
#ifndef HEDDLE_CUDA_DEVICE_INTRINSICS_H
#define HEDDLE_CUDA_DEVICE_INTRINSICS_H

#define HEDDLE_INTRINSIC static __device__ __forceinline__

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
HEDDLE_INTRINSIC void __nanosleep(unsigned int ns)
{
    asm volatile("nanosleep.u32 %0;" ::"r"(ns) : "memory");
}

/* Lanes with the same value, and whether all of them have it. */
#define HEDDLE_MATCH(type, as, width)                                                              \
    HEDDLE_INTRINSIC unsigned int __match_any_sync(unsigned int mask, type v)                      \
    {                                                                                              \
        return __match##width##_any_sync(mask, __builtin_bit_cast(as, v));                         \
    }                                                                                              \
    HEDDLE_INTRINSIC unsigned int __match_all_sync(unsigned int mask, type v, int *all)            \
    {                                                                                              \
        return __match##width##_all_sync(mask, __builtin_bit_cast(as, v), all);                    \
    }
HEDDLE_MATCH(int, unsigned int, 32)
HEDDLE_MATCH(unsigned int, unsigned int, 32)
HEDDLE_MATCH(float, unsigned int, 32)
HEDDLE_MATCH(long, unsigned long long, 64)
HEDDLE_MATCH(unsigned long, unsigned long long, 64)
HEDDLE_MATCH(long long, unsigned long long, 64)
HEDDLE_MATCH(unsigned long long, unsigned long long, 64)
HEDDLE_MATCH(double, unsigned long long, 64)
#undef HEDDLE_MATCH
#endif

/* Sums of products of bytes, and of halfwords with the low or high bytes. */
#define HEDDLE_DOT(name, op, type, result)                                                         \
    HEDDLE_INTRINSIC result name(type a, type b, result c)                                         \
    {                                                                                              \
        result d;                                                                                  \
        asm(op " %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));                             \
        return d;                                                                                  \
    }
HEDDLE_DOT(__dp4a, "dp4a.s32.s32", int, int)
HEDDLE_DOT(__dp4a, "dp4a.u32.u32", unsigned int, unsigned int)
HEDDLE_DOT(__dp2a_lo, "dp2a.lo.s32.s32", int, int)
HEDDLE_DOT(__dp2a_lo, "dp2a.lo.u32.u32", unsigned int, unsigned int)
HEDDLE_DOT(__dp2a_hi, "dp2a.hi.s32.s32", int, int)
HEDDLE_DOT(__dp2a_hi, "dp2a.hi.u32.u32", unsigned int, unsigned int)
#undef HEDDLE_DOT

/* Loads and stores of global memory with a cache operator: of 1, 2, 4, 8 and 16 bytes. */
struct __heddle_wide {
    unsigned long long low, high;
};
#define HEDDLE_LOAD_OF(op, bytes, as, letter, bits)                                                \
    if constexpr (sizeof(type) == bytes) {                                                         \
        as v;                                                                                      \
        asm volatile("ld.global." op "." bits " %0, [%1];"                                         \
                     : "=" letter(v)                                                               \
                     : "l"(__cvta_generic_to_global(from))                                         \
                     : "memory");                                                                  \
        return __builtin_bit_cast(type, v);                                                        \
    }
#define HEDDLE_LOAD(name, op)                                                                      \
    template <typename type> HEDDLE_INTRINSIC type name(const type *from)                          \
    {                                                                                              \
        HEDDLE_LOAD_OF(op, 2, unsigned short, "h", "b16")                                          \
        HEDDLE_LOAD_OF(op, 4, unsigned int, "r", "b32")                                            \
        HEDDLE_LOAD_OF(op, 8, unsigned long long, "l", "b64")                                      \
        if constexpr (sizeof(type) == 1) {                                                         \
            unsigned short v;                                                                      \
            asm volatile("ld.global." op ".u8 %0, [%1];"                                           \
                         : "=h"(v)                                                                 \
                         : "l"(__cvta_generic_to_global(from))                                     \
                         : "memory");                                                              \
            return __builtin_bit_cast(type, (unsigned char)v);                                     \
        }                                                                                          \
        if constexpr (sizeof(type) == 16) {                                                        \
            __heddle_wide v;                                                                       \
            asm volatile("ld.global." op ".v2.b64 {%0, %1}, [%2];"                                 \
                         : "=l"(v.low), "=l"(v.high)                                               \
                         : "l"(__cvta_generic_to_global(from))                                     \
                         : "memory");                                                              \
            return __builtin_bit_cast(type, v);                                                    \
        }                                                                                          \
    }
#define HEDDLE_STORE_OF(op, bytes, as, letter, bits)                                               \
    if constexpr (sizeof(type) == bytes)                                                           \
        asm volatile("st.global." op "." bits " [%0], %1;" ::"l"(__cvta_generic_to_global(to)),    \
                     letter(__builtin_bit_cast(as, value))                                         \
                     : "memory");
#define HEDDLE_STORE(name, op)                                                                     \
    template <typename type> HEDDLE_INTRINSIC void name(type *to, type value)                      \
    {                                                                                              \
        HEDDLE_STORE_OF(op, 2, unsigned short, "h", "b16")                                         \
        HEDDLE_STORE_OF(op, 4, unsigned int, "r", "b32")                                           \
        HEDDLE_STORE_OF(op, 8, unsigned long long, "l", "b64")                                     \
        if constexpr (sizeof(type) == 1)                                                           \
            asm volatile("st.global." op ".u8 [%0], %1;" ::"l"(__cvta_generic_to_global(to)),      \
                         "h"((unsigned short)__builtin_bit_cast(unsigned char, value))             \
                         : "memory");                                                              \
        if constexpr (sizeof(type) == 16) {                                                        \
            __heddle_wide v = __builtin_bit_cast(__heddle_wide, value);                            \
            asm volatile("st.global." op                                                           \
                         ".v2.b64 [%0], {%1, %2};" ::"l"(__cvta_generic_to_global(to)),            \
                         "l"(v.low), "l"(v.high)                                                   \
                         : "memory");                                                              \
        }                                                                                          \
    }
HEDDLE_LOAD(__ldca, "ca")
HEDDLE_LOAD(__ldcg, "cg")
HEDDLE_LOAD(__ldcs, "cs")
HEDDLE_LOAD(__ldlu, "lu")
HEDDLE_LOAD(__ldcv, "cv")
HEDDLE_STORE(__stwb, "wb")
HEDDLE_STORE(__stcg, "cg")
HEDDLE_STORE(__stcs, "cs")
HEDDLE_STORE(__stwt, "wt")
#undef HEDDLE_LOAD_OF
#undef HEDDLE_LOAD
#undef HEDDLE_STORE_OF
#undef HEDDLE_STORE

/* Sums and extremes of dynamic programming, of 32 bits ("DPX"). */
#define HEDDLE_EXTREMES(kind, letter, type)                                                        \
    HEDDLE_INTRINSIC type __vi##kind##3_##letter##32(type a, type b, type c)                       \
    {                                                                                              \
        return kind(kind(a, b), c);                                                                \
    }                                                                                              \
    HEDDLE_INTRINSIC type __viadd##kind##_##letter##32(type a, type b, type c)                     \
    {                                                                                              \
        return kind((type)((unsigned int)a + (unsigned int)b), c);                                 \
    }
HEDDLE_EXTREMES(max, s, int)
HEDDLE_EXTREMES(min, s, int)
HEDDLE_EXTREMES(max, u, unsigned int)
HEDDLE_EXTREMES(min, u, unsigned int)
#undef HEDDLE_EXTREMES
HEDDLE_INTRINSIC int __vimax_s32_relu(int a, int b) { return max(max(a, b), 0); }
HEDDLE_INTRINSIC int __vimax3_s32_relu(int a, int b, int c) { return max(max(max(a, b), c), 0); }
HEDDLE_INTRINSIC int __viaddmax_s32_relu(int a, int b, int c)
{
    return max(max((int)((unsigned int)a + (unsigned int)b), c), 0);
}

#undef HEDDLE_INTRINSIC

#endif

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

#undef HEDDLE_INTRINSIC

#endif

/* Half precision: __half and __half2 with the functions of the manual "CUDA Math API". Host code
 * calculates in float and rounds once, which is exact for +, -, * and /. */
#ifndef HEDDLE_CUDA_FP16_H
#define HEDDLE_CUDA_FP16_H

#include "heddle/narrow_floats.h"

HEDDLE_NARROW(__half, __half2, _Float16, half, half2, f16)

typedef __half half;
typedef __half2 half2;
typedef __half nv_half;
typedef __half2 nv_half2;
struct __half_raw {
    unsigned short x;
};
#define __half_as_short(h)     ((short)__half_as_ushort(h))
#define __short_as_half(s)     __ushort_as_half((unsigned short)(s))
#define CUDART_INF_FP16        __ushort_as_half((unsigned short)0x7c00U)
#define CUDART_NAN_FP16        __ushort_as_half((unsigned short)0x7fffU)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7bffU)
#define CUDART_ONE_FP16        __ushort_as_half((unsigned short)0x3c00U)
#define CUDART_ZERO_FP16       __ushort_as_half((unsigned short)0x0000U)

#endif

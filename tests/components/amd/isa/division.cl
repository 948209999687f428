/*
 * division.cl - quotients, square roots and fused multiply-adds, as compilers make them of several
 * instructions; run by test_isa_division.c.
 */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

#define KERNELS(T, bits)                                                                           \
    kernel void divide##bits(global const T *a, global const T *b, global T *c)                    \
    {                                                                                              \
        size_t i = get_global_id(0);                                                               \
        c[i] = a[i] / b[i];                                                                        \
    }                                                                                              \
    kernel void root##bits(global const T *a, global const T *b, global T *c)                      \
    {                                                                                              \
        size_t i = get_global_id(0);                                                               \
        c[i] = sqrt(a[i]);                                                                         \
    }                                                                                              \
    kernel void fused##bits(global const T *a, global const T *b, global T *c)                     \
    {                                                                                              \
        size_t i = get_global_id(0);                                                               \
        c[i] = fma(a[i], b[i], c[i]);                                                              \
    }

KERNELS(half, 16)
KERNELS(float, 32)
KERNELS(double, 64)

// Kernels of test_isa_kernels.c: the shared expressions, then private arrays, LDS, generic pointers, atomics and half precision.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#include "kernel_ops.h"

#define PUT(T, e) out[slot++] = (e);
#define KERNEL(NAME, T, LIST)                                              \
    kernel void NAME(global const T *xs, global const T *ys, global T *all) \
    {                                                                      \
        size_t i = get_global_id(0);                                       \
        T x = xs[i], y = ys[i];                                            \
        global T *out = all + i * 64;                                      \
        int slot = 0;                                                      \
        LIST                                                               \
    }
KERNEL(int_char, char, INTEGER_OPS(PUT, char, uchar, 8))
KERNEL(int_short, short, INTEGER_OPS(PUT, short, ushort, 16))
KERNEL(int_int, int, INTEGER_OPS(PUT, int, uint, 32))
KERNEL(int_uint, uint, INTEGER_OPS(PUT, uint, uint, 32))
KERNEL(int_long, long, INTEGER_OPS(PUT, long, ulong, 64))
KERNEL(int_ulong, ulong, INTEGER_OPS(PUT, ulong, ulong, 64))
KERNEL(exact_float, float, FLOAT_OPS(PUT, float))
KERNEL(exact_double, double, FLOAT_OPS(PUT, double))
KERNEL(library_float, float, LIBRARY_OPS(PUT, float))
KERNEL(library_double, double, LIBRARY_OPS(PUT, double))

kernel void private_array(global const int *xs, global const int *ys, global int *all)
{
    size_t i = get_global_id(0);
    int table[48];
    char bytes[40];
    double wide[12];
    for (int k = 0; k < 48; k++)
        table[k] = xs[i] * k;
    for (int k = 0; k < 40; k++)
        bytes[k] = (char)(ys[i] + k);
    for (int k = 0; k < 12; k++)
        wide[k] = k * 0.5;
    int at = xs[i] & 31;
    for (int k = 0; k < 100; k++) {
        table[(at + k) % 48] ^= bytes[(at * 3 + k) % 40];
        bytes[k % 40] += (char)table[(k * 7) % 48];
        wide[(k + at) % 12] += table[k % 48];
    }
    for (int k = 0; k < 48; k++)
        all[i * 64 + k] = table[k];
    all[i * 64 + 48] = bytes[at];
    all[i * 64 + 49] = (int)wide[at % 12];
}

kernel void local_memory(global const int *xs, global const int *ys, global int *all)
{
    local int words[64];
    local short halves[64];
    local uchar bytes[64];
    local double wide[64];
    local int sum;
    int l = get_local_id(0);
    size_t i = get_global_id(0);
    words[l] = xs[i];
    halves[l] = (short)ys[i];
    bytes[l] = (uchar)xs[i];
    wide[l] = ys[i];
    if (l == 0)
        sum = 5;
    barrier(CLK_LOCAL_MEM_FENCE);
    global int *out = all + i * 64;
    out[0] = words[63 - l];
    out[1] = halves[l ^ 5];
    out[2] = bytes[(l + 9) & 63];
    out[3] = (int)wide[(l * 3) & 63];
    out[4] = words[(l + 1) & 63] + words[(l + 2) & 63];
    atomic_add(&sum, l);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[5] = sum;
    atomic_max(&words[l & 7], l);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[6] = words[l & 7];
}

kernel void generic_pointers(global const int *xs, global const int *ys, global int *all)
{
    size_t i = get_global_id(0);
    int own[4] = {1, 2, 3, 4};
    local int shared[64];
    int l = get_local_id(0);
    shared[l] = 1000 + l;
    barrier(CLK_LOCAL_MEM_FENCE);
    global int *out = all + i * 64;
    for (int k = 0; k < 4; k++) {
        int which = (xs[i] + k) % 3;
        generic int *p = which == 0 ? (generic int *)&own[k] : which == 1 ? (generic int *)&shared[l] : (generic int *)&out[8 + k];
        out[8 + k] = 50 + k;
        *p += ys[i] & 255;
        out[k] = *p;
    }
    out[4] = own[0] + own[1] * 3 + own[2] * 5 + own[3] * 7;
    out[5] = shared[l];
}

kernel void global_atomics(global const int *xs, global const int *ys, global int *all)
{
    size_t i = get_global_id(0);
    global int *out = all + i * 64;
    for (int k = 0; k < 16; k++)
        out[k] = ys[i];
    out[32] = atomic_add(out, xs[i]);
    out[33] = atomic_sub(out + 1, xs[i]);
    out[34] = atomic_xchg(out + 2, xs[i]);
    out[35] = atomic_min(out + 3, xs[i]);
    out[36] = atomic_max(out + 4, xs[i]);
    out[37] = atomic_and(out + 5, xs[i]);
    out[38] = atomic_or(out + 6, xs[i]);
    out[39] = atomic_xor(out + 7, xs[i]);
    out[40] = atomic_inc(out + 8);
    out[41] = atomic_dec(out + 9);
    out[42] = atomic_cmpxchg(out + 10, ys[i], 77);
    out[43] = atomic_cmpxchg(out + 11, ys[i] + 1, 77);
    out[44] = (int)atomic_min((global uint *)out + 12, (uint)xs[i]);
    out[45] = (int)atomic_max((global uint *)out + 13, (uint)xs[i]);
    out[46] = (int)atom_add((global long *)(out + 14), 0x100000001L);
}

kernel void half_precision(global const float *xs, global const float *ys, global float *all)
{
    size_t i = get_global_id(0);
    half x = (half)xs[i], y = (half)ys[i];
    global float *out = all + i * 64;
    out[0] = x;
    out[1] = x + y;
    out[2] = x * y;
    out[3] = x - y;
    out[4] = x < y;
    out[5] = fmin(x, y);
    out[6] = floor(x);
    out[7] = fma(x, y, x);
    out[8] = (half)(short)x;
    out[9] = x / y;
    out[10] = sqrt(fabs(x));
}

#ifdef __OPTIMIZE__ /* the device library's cross-lane functions do not compile without */
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
kernel void cross_lane(global const int *xs, global const int *ys, global int *all)
{
    size_t i = get_global_id(0);
    global int *out = all + i * 64;
    out[0] = sub_group_reduce_add(xs[i]);
    out[1] = sub_group_reduce_max(xs[i]);
    out[2] = sub_group_scan_inclusive_add(xs[i]);
    out[3] = sub_group_scan_exclusive_min(ys[i]);
    out[4] = sub_group_broadcast(xs[i], 37);
    out[5] = sub_group_any(xs[i] == 5);
    if (get_local_id(0) < 24)
        out[6] = sub_group_reduce_add(ys[i]);
    out[7] = get_sub_group_local_id();
}
#endif

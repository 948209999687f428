/* What work-items of a group do together: local memory, barriers, copies, reductions, exchanges. */
#include "prelude.h"

/* 16 x 16 tiles, through local memory padded by one. */
kernel __attribute__((reqd_work_group_size(16, 16, 1))) void
groups_transposed(global const int *in, global int *out, int width)
{
    local int tile[16][17];
    int x = get_group_id(0) * 16, y = get_group_id(1) * 16;
    int lx = get_local_id(0), ly = get_local_id(1);
    tile[ly][lx] = in[(y + ly) * width + x + lx];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[(x + ly) * get_global_size(1) + y + lx] = tile[lx][ly];
}

/* A matrix product in integers, with tiles of both sources in arrays of the host's choice. */
kernel void groups_product(global const int *as, global const int *bs, global int *out, int n,
                           local int *ta, local int *tb)
{
    int w = get_local_size(0), lx = get_local_id(0), ly = get_local_id(1);
    int x = get_global_id(0), y = get_global_id(1), sum = 0;
    for (int k = 0; k < n; k += w) {
        ta[ly * w + lx] = as[y * n + k + lx];
        tb[ly * w + lx] = bs[(k + ly) * n + x];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int j = 0; j < w; j++) {
            sum += ta[ly * w + j] * tb[j * w + lx];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[y * n + x] = sum;
}

kernel void groups_sum(global const long *in, global long *out, local long *partial)
{
    size_t l = get_local_id(0);
    partial[l] = in[get_global_id(0)];
    for (size_t half_size = get_local_size(0) / 2; half_size > 0; half_size /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < half_size) {
            partial[l] += partial[l + half_size];
        }
    }
    if (l == 0) {
        out[get_group_id(0)] = partial[0];
    }
}

/* Inclusive, exclusive and backwards, in doubles of small integers, so that any order is exact. */
kernel void groups_scanned(global const int *in, global double *out)
{
    local double sums[2][256];
    size_t i = get_global_id(0), l = get_local_id(0), n = get_local_size(0);
    int put = 0, page = 0;
    double own = in[i] % 4096;
    sums[0][l] = own;
    for (size_t step_size = 1; step_size < n; step_size *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        double sum = sums[page][l];
        if (l >= step_size) {
            sum += sums[page][l - step_size];
        }
        page ^= 1;
        sums[page][l] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    PUT(sums[page][l]);
    PUT(sums[page][l] - own);
    PUT(sums[page][n - 1] - sums[page][l]);
}

kernel void groups_sorted(global const uint *in, global uint *out, local uint *keys)
{
    uint l = get_local_id(0), n = get_local_size(0);
    keys[l] = in[get_global_id(0)];
    for (uint k = 2; k <= n; k *= 2) {
        for (uint j = k / 2; j > 0; j /= 2) {
            barrier(CLK_LOCAL_MEM_FENCE);
            uint other = l ^ j;
            if (other > l) {
                uint a = keys[l], b = keys[other];
                if ((a > b) == ((l & k) == 0)) {
                    keys[l] = b;
                    keys[other] = a;
                }
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = keys[l];
}

kernel void groups_copied(global const float4 *in, global float4 *out, global const short *shorts,
                          global short *others)
{
    local float4 staged[64];
    local short spread[128];
    size_t group = get_group_id(0), l = get_local_id(0);
    prefetch(in + group * 64, 64);
    event_t first = async_work_group_copy(staged, in + group * 64, 64, 0);
    first = async_work_group_strided_copy(spread, shorts + group * 384, 128, 3, first);
    wait_group_events(1, &first);
    staged[l] = staged[l].wzyx * 2;
    spread[l] += 3;
    spread[l + 64] -= 3;
    barrier(CLK_LOCAL_MEM_FENCE);
    event_t last[2];
    last[0] = async_work_group_copy(out + group * 64, staged, 64, 0);
    last[1] = async_work_group_strided_copy(others + group * 384, spread, 128, 3, 0);
    wait_group_events(2, last);
}

/* Functions of work-groups and sub-groups; the host, which has none, does it by hand. */
kernel __attribute__((reqd_work_group_size(64, 1, 1))) void
groups_functions(global const int *in, global int *out)
{
    size_t i = get_global_id(0);
    int a = in[i];
    int put = 0;
#ifdef ORACLE
    global const int *all_of = in + get_group_id(0) * 64;
    size_t l = get_local_id(0);
    int sum = 0, least = INT_MAX, most = INT_MIN, before = 0, most_so_far = INT_MIN, any_of = 0;
    int every = 1;
    for (size_t k = 0; k < 64; k++) {
        int b = all_of[k];
        sum += b;
        least = min(least, b);
        most = max(most, b);
        before += k < l ? b : 0;
        most_so_far = k <= l ? max(most_so_far, b) : most_so_far;
        any_of |= b % 16 == 0;
        every &= b % 64 != 0;
    }
    for (int twice = 0; twice < 2; twice++) {
        PUT(sum);
        PUT(least);
        PUT(most);
        PUT(before);
        PUT(before + a);
        PUT(most_so_far);
        PUT(all_of[17]);
        PUT(any_of);
        PUT(every);
    }
    PUT((int)l);
    PUT(64);
#else
#define FUNCTIONS(kind)                                                                            \
    PUT(kind##_reduce_add(a));                                                                     \
    PUT(kind##_reduce_min(a));                                                                     \
    PUT(kind##_reduce_max(a));                                                                     \
    PUT(kind##_scan_exclusive_add(a));                                                             \
    PUT(kind##_scan_inclusive_add(a));                                                             \
    PUT(kind##_scan_inclusive_max(a));                                                             \
    PUT(kind##_broadcast(a, 17));                                                                  \
    PUT(kind##_any(a % 16 == 0) != 0);                                                             \
    PUT(kind##_all(a % 64 != 0) != 0)
    FUNCTIONS(work_group);
    FUNCTIONS(sub_group);
    PUT((int)get_sub_group_local_id());
    PUT((int)get_sub_group_size());
#endif
}

/* The same over groups of several wavefronts. */
kernel __attribute__((reqd_work_group_size(256, 1, 1))) void
groups_wide(global const float *in, global float *out)
{
    size_t i = get_global_id(0);
    float a = trunc(in[i]);
    int put = 0;
#ifdef ORACLE
    global const float *all_of = in + get_group_id(0) * 256;
    float sum = 0, most = -INFINITY, before = 0;
    for (size_t k = 0; k < 256; k++) {
        float b = trunc(all_of[k]);
        sum += b;
        most = fmax(most, b);
        before += k < get_local_id(0) ? b : 0;
    }
    PUT(sum);
    PUT(most);
    PUT(before);
    PUT(before + a);
    PUT(trunc(all_of[200]));
#else
    PUT(work_group_reduce_add(a));
    PUT(work_group_reduce_max(a));
    PUT(work_group_scan_exclusive_add(a));
    PUT(work_group_scan_inclusive_add(a));
    PUT(work_group_broadcast(a, 200));
#endif
}

kernel void groups_shape(global uint *out)
{
    size_t x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    size_t n = get_global_size(0) * get_global_size(1) * get_global_size(2);
    size_t at = (z * get_global_size(1) + y) * get_global_size(0) + x;
#ifdef ORACLE /* where PoCL has 0 for sizes beyond the third, OpenCL has 1 */
    uint beyond = 0x110;
#else
    uint beyond = get_global_id(3) | get_local_size(3) << 4 | get_num_groups(3) << 8;
#endif
    uint value[8] = {
        get_local_id(0) | get_local_id(1) << 8 | get_local_id(2) << 16,
        get_group_id(0) | get_group_id(1) << 8 | get_group_id(2) << 16,
        get_local_size(0) | get_local_size(1) << 8 | get_local_size(2) << 16,
        get_num_groups(0) | get_num_groups(1) << 8 | get_num_groups(2) << 16,
        get_global_size(0) | get_global_size(1) << 8 | get_global_size(2) << 16,
        get_work_dim() << 8 | get_global_offset(1),
        at * 3,
        beyond,
    };
    for (int k = 0; k < 8; k++) {
        out[k * n + at] = value[k];
    }
}

kernel void groups_stencil(global const float *in, global float *out)
{
    size_t w = get_global_size(0), h = get_global_size(1), d = get_global_size(2);
    size_t x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    size_t at = (z * h + y) * w + x;
    float sum = in[at] * -6;
    sum += x > 0 ? in[at - 1] : 0;
    sum += x + 1 < w ? in[at + 1] : 0;
    sum += y > 0 ? in[at - w] : 0;
    sum += y + 1 < h ? in[at + w] : 0;
    sum += z > 0 ? in[at - w * h] : 0;
    sum += z + 1 < d ? in[at + w * h] : 0;
    out[at] = sum;
}

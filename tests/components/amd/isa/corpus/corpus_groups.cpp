/* corpus_groups.cpp - work-items that work together: LDS, barriers, atomics, moves between lanes. */
#include "corpus.h"

#ifdef __AMDGCN__
#define BARRIER()                                                                                  \
    do {                                                                                           \
        __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");                                     \
        __builtin_amdgcn_s_barrier();                                                              \
        __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");                                     \
    } while (0)

FN inline u32 move(u32 value, u32 from)
{
    return (u32)__builtin_amdgcn_ds_bpermute((i32)(from * 4), (i32)value);
}
FN inline u64 ballot(bool condition)
{
    return __builtin_amdgcn_uicmp((u32)condition, 0u, 33);
}

GROUP(lds_reverse)
{
    SHARED u32 words[64 * 8];
    for (u32 k = 0; k < 8; k++)
        words[k * 64 + lane] = x[8 * lane + k];
    BARRIER();
    for (u32 k = 0; k < 8; k++)
        y[8 * lane + k] = words[(7 - k) * 64 + 63 - lane];
}
GROUP(lds_reduce)
{
    SHARED u32 sum[64];
    SHARED u64 most[64];
    sum[lane] = x[8 * lane], most[lane] = wide(x + 8 * lane + 1);
    for (u32 step = 32; step; step /= 2) {
        BARRIER();
        if (lane < step) {
            sum[lane] += sum[lane + step];
            most[lane] = most[lane] > most[lane + step] ? most[lane] : most[lane + step];
        }
    }
    BARRIER();
    y[8 * lane] = sum[0], y[8 * lane + 1] = sum[lane];
    put_wide(y + 8 * lane + 2, most[0]);
}
GROUP(lds_histogram)
{
    SHARED u32 bins[16];
    SHARED u8 bytes[256];
    if (lane < 16)
        bins[lane] = 0;
    BARRIER();
    for (u32 k = 0; k < 8; k++) {
        __atomic_fetch_add(&bins[x[8 * lane + k] >> 4 & 15], 1, __ATOMIC_RELAXED);
        bytes[lane * 4 + (k & 3)] = (u8)(x[8 * lane + k] + k);
    }
    BARRIER();
    for (u32 k = 0; k < 8; k++)
        y[8 * lane + k] = bins[(lane + k) & 15] << 8 | bytes[(lane * 7 + k * 5) & 255];
}
GROUP(lds_atomics)
{
    SHARED u32 v[8];
    SHARED u64 w[4];
    if (!lane) {
        for (u32 k = 0; k < 8; k++)
            v[k] = k == 1 || k == 4 ? ~0u : 0;
        w[0] = 0, w[1] = ~0ull, w[2] = 0, w[3] = 0x5555;
    }
    BARRIER();
    const u32 *own = x + 8 * lane;
    __atomic_fetch_add(&v[0], own[0], __ATOMIC_RELAXED);
    __atomic_fetch_and(&v[1], own[1] | 0xff, __ATOMIC_RELAXED);
    __atomic_fetch_or(&v[2], own[2] & 0xff00ff, __ATOMIC_RELAXED);
    __atomic_fetch_xor(&v[3], own[3], __ATOMIC_RELAXED);
    __atomic_fetch_min(&v[4], own[4], __ATOMIC_RELAXED);
    __atomic_fetch_max(&v[5], own[5], __ATOMIC_RELAXED);
    __atomic_fetch_max((i32 *)&v[6], (i32)own[6], __ATOMIC_RELAXED);
    __atomic_fetch_sub(&v[7], own[7], __ATOMIC_RELAXED);
    __atomic_fetch_add(&w[0], wide(own), __ATOMIC_RELAXED);
    __atomic_fetch_min(&w[1], wide(own + 2), __ATOMIC_RELAXED);
    __atomic_fetch_max(&w[2], wide(own + 4), __ATOMIC_RELAXED);
    u64 old = __atomic_load_n(&w[3], __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&w[3], &old, old * 3 + 1, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) {
    }
    BARRIER();
    for (u32 k = 0; k < 8; k++)
        y[8 * lane + k] = v[k] ^ (u32)(w[k & 3] >> (k & 4) * 8);
}
GROUP(global_atomics)
{
    u32 *v = y;
    u64 *w = (u64 *)(y + 16);
    for (u32 k = 0; k < 8; k++) /* the output is zero */
        y[8 * lane + k] = 0;
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
    BARRIER();
    const u32 *own = x + 8 * lane;
    __atomic_fetch_add(&v[0], own[0], __ATOMIC_RELAXED);
    __atomic_fetch_or(&v[1], own[1], __ATOMIC_RELAXED);
    __atomic_fetch_xor(&v[2], own[2], __ATOMIC_RELAXED);
    __atomic_fetch_max(&v[3], own[3], __ATOMIC_RELAXED);
    __atomic_fetch_min((i32 *)&v[4], (i32)own[4], __ATOMIC_RELAXED);
    __atomic_fetch_add(&w[0], wide(own), __ATOMIC_RELAXED);
    __atomic_fetch_xor(&w[1], wide(own + 2), __ATOMIC_RELAXED);
    __atomic_fetch_max((i64 *)&w[2], (i64)wide(own + 4), __ATOMIC_RELAXED);
    u32 old = __atomic_load_n(&v[5], __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&v[5], &old, old + (own[5] & 255), false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) {
    }
    u32 ticket = __atomic_fetch_add(&v[6], 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&v[7], ticket, __ATOMIC_RELAXED);
}
GROUP(lanes_moved)
{
    const u32 *own = x + 8 * lane;
    u32 *to = y + 8 * lane;
    to[0] = move(own[0], 63 - lane);
    to[1] = move(own[1], (lane * 5 + 3) & 63);
    to[2] = (u32)__builtin_amdgcn_ds_permute((i32)(((lane + 9) & 63) * 4), (i32)own[2]);
    to[3] = (u32)__builtin_amdgcn_ds_swizzle((i32)own[3], 0x041f);
    to[4] = __builtin_amdgcn_readlane(own[4], 37);
    to[5] = __builtin_amdgcn_readfirstlane(own[5]);
    to[6] = (u32)__builtin_amdgcn_mov_dpp((i32)own[6], 0x1b, 15, 15, true);
    to[7] = (u32)__builtin_amdgcn_update_dpp((i32)lane, (i32)own[7], 0x111, 15, 15, false);
}
GROUP(lanes_counted)
{
    const u32 *own = x + 8 * lane;
    u32 *to = y + 8 * lane;
    u64 odd = ballot(own[0] & 1);
    put_wide(to, odd);
    to[2] = __builtin_popcountll(odd);
    to[3] = __builtin_amdgcn_mbcnt_hi((u32)(odd >> 32), __builtin_amdgcn_mbcnt_lo((u32)odd, 0));
    u32 sum = own[1];
    for (u32 step = 1; step < 64; step *= 2) {
        u32 other = move(sum, lane >= step ? lane - step : lane);
        sum += lane >= step ? other : 0;
    }
    to[4] = sum;
    u32 most = own[2];
    for (u32 step = 32; step; step /= 2) {
        u32 other = move(most, lane ^ step);
        most = most > other ? most : other;
    }
    to[5] = most;
    if (own[3] & 1) /* within a branch */
        to[6] = (u32)__builtin_popcountll(ballot(own[4] & 2));
    else
        to[6] = 1000;
    to[7] = lane;
}
GROUP(generic_pointers)
{
    SHARED u32 shared[64];
    u32 own[4] = {1, 2, 3, 4};
    const u32 *in = x + 8 * lane;
    u32 *to = y + 8 * lane;
    shared[lane] = lane * 3;
    for (u32 k = 0; k < 8; k++)
        to[k] = k;
    for (u32 k = 0; k < 4; k++) {
        u32 which = in[k] % 3;
        u32 *p = which == 0 ? &own[k] : which == 1 ? &shared[lane] : &to[4 + k];
        *p += in[k + 4] & 0xff;
        to[k] = *p;
    }
    to[4] += own[0] + own[1] * 5 + own[2] * 25 + own[3] * 125;
    to[5] += shared[lane];
}
GROUP(matrix_tiles)
{
    SHARED u32 a[8][9], b[8][9];
    u32 row = lane / 8, column = lane % 8;
    a[row][column] = x[8 * lane], b[row][column] = x[8 * lane + 1];
    BARRIER();
    u32 sum = 0;
    for (u32 k = 0; k < 8; k++)
        sum += a[row][k] * b[k][column];
    y[8 * lane] = sum;
    y[8 * lane + 1] = a[column][row];
}
GROUP(sorted_in_lds)
{
    SHARED u32 v[64];
    v[lane] = x[8 * lane] * 64 + lane;
    for (u32 size = 2; size <= 64; size *= 2) /* bitonic */
        for (u32 step = size / 2; step; step /= 2) {
            BARRIER();
            u32 other = lane ^ step;
            bool up = !(lane & size);
            if (other > lane && (v[lane] > v[other]) == up) {
                u32 t = v[lane];
                v[lane] = v[other], v[other] = t;
            }
        }
    BARRIER();
    y[8 * lane] = v[lane];
}

#else /* what each leaves, by the host */

HOST_GROUP(lds_reverse)
{
    for (u32 i = 0; i < 512; i++)
        y[i] = x[511 - i];
}
HOST_GROUP(lds_reduce)
{
    u32 sum[64];
    u64 most = 0;
    for (u32 i = 0; i < 64; i++) {
        sum[i] = x[8 * i];
        most = wide(x + 8 * i + 1) > most ? wide(x + 8 * i + 1) : most;
    }
    for (u32 step = 32; step; step /= 2)
        for (u32 i = 0; i < step; i++)
            sum[i] += sum[i + step];
    for (u32 i = 0; i < 64; i++) {
        y[8 * i] = sum[0], y[8 * i + 1] = sum[i];
        put_wide(y + 8 * i + 2, most);
    }
}
HOST_GROUP(lds_histogram)
{
    u32 bins[16] = {};
    u8 bytes[256];
    for (u32 i = 0; i < 512; i++) {
        bins[x[i] >> 4 & 15]++;
        bytes[i / 8 * 4 + (i & 3)] = (u8)(x[i] + (i & 7));
    }
    for (u32 i = 0; i < 512; i++)
        y[i] = bins[(i / 8 + i % 8) & 15] << 8 | bytes[(i / 8 * 7 + i % 8 * 5) & 255];
}
HOST_GROUP(lds_atomics)
{
    u32 v[8] = {0, ~0u, 0, 0, ~0u, 0, 0, 0};
    u64 w[4] = {0, ~0ull, 0, 0x5555};
    for (u32 i = 0; i < 64; i++) {
        const u32 *own = x + 8 * i;
        v[0] += own[0], v[1] &= own[1] | 0xff, v[2] |= own[2] & 0xff00ff, v[3] ^= own[3];
        v[4] = own[4] < v[4] ? own[4] : v[4], v[5] = own[5] > v[5] ? own[5] : v[5];
        v[6] = (i32)own[6] > (i32)v[6] ? own[6] : v[6], v[7] -= own[7];
        w[0] += wide(own);
        w[1] = wide(own + 2) < w[1] ? wide(own + 2) : w[1];
        w[2] = wide(own + 4) > w[2] ? wide(own + 4) : w[2];
        w[3] = w[3] * 3 + 1;
    }
    for (u32 i = 0; i < 512; i++)
        y[i] = v[i & 7] ^ (u32)(w[i & 3] >> (i & 4) * 8);
}
HOST_GROUP(global_atomics)
{
    u64 w[3] = {0, 0, 0};
    for (u32 i = 0; i < 512; i++)
        y[i] = 0;
    for (u32 i = 0; i < 64; i++) {
        const u32 *own = x + 8 * i;
        y[0] += own[0], y[1] |= own[1], y[2] ^= own[2];
        y[3] = own[3] > y[3] ? own[3] : y[3];
        y[4] = (i32)own[4] < (i32)y[4] ? own[4] : y[4];
        y[5] += own[5] & 255, y[6]++, y[7] += i;
        w[0] += wide(own), w[1] ^= wide(own + 2);
        w[2] = (i64)wide(own + 4) > (i64)w[2] ? wide(own + 4) : w[2];
    }
    for (u32 k = 0; k < 3; k++)
        put_wide(y + 16 + 2 * k, w[k]);
}
HOST_GROUP(lanes_moved)
{
    for (u32 i = 0; i < 64; i++) {
        u32 *to = y + 8 * i;
        to[0] = x[8 * (63 - i)];
        to[1] = x[8 * ((i * 5 + 3) & 63) + 1];
        to[2] = x[8 * ((i - 9) & 63) + 2];
        to[3] = x[8 * (i ^ 1) + 3];
        to[4] = x[8 * 37 + 4];
        to[5] = x[5];
        to[6] = x[8 * (i ^ 3) + 6];
        to[7] = i % 16 ? x[8 * (i - 1) + 7] : i;
    }
}
HOST_GROUP(lanes_counted)
{
    u64 odd = 0;
    u32 sum = 0, most = 0, inside = 0;
    for (u32 i = 0; i < 64; i++) {
        odd |= (u64)(x[8 * i] & 1) << i;
        most = x[8 * i + 2] > most ? x[8 * i + 2] : most;
        inside += (x[8 * i + 3] & 1) && (x[8 * i + 4] & 2);
    }
    for (u32 i = 0; i < 64; i++) {
        u32 *to = y + 8 * i;
        sum += x[8 * i + 1];
        put_wide(to, odd);
        to[2] = __builtin_popcountll(odd);
        to[3] = __builtin_popcountll(odd & ((1ull << i) - 1));
        to[4] = sum;
        to[5] = most;
        to[6] = x[8 * i + 3] & 1 ? inside : 1000;
        to[7] = i;
    }
}
HOST_GROUP(generic_pointers)
{
    for (u32 i = 0; i < 64; i++) {
        const u32 *in = x + 8 * i;
        u32 own[4] = {1, 2, 3, 4}, shared = i * 3, *to = y + 8 * i;
        for (u32 k = 0; k < 8; k++)
            to[k] = k;
        for (u32 k = 0; k < 4; k++) {
            u32 which = in[k] % 3;
            u32 *p = which == 0 ? &own[k] : which == 1 ? &shared : &to[4 + k];
            *p += in[k + 4] & 0xff;
            to[k] = *p;
        }
        to[4] += own[0] + own[1] * 5 + own[2] * 25 + own[3] * 125;
        to[5] += shared;
    }
}
HOST_GROUP(matrix_tiles)
{
    for (u32 i = 0; i < 64; i++) {
        u32 sum = 0;
        for (u32 k = 0; k < 8; k++)
            sum += x[8 * (i / 8 * 8 + k)] * x[8 * (k * 8 + i % 8) + 1];
        y[8 * i] = sum;
        y[8 * i + 1] = x[8 * (i % 8 * 8 + i / 8)];
    }
}
HOST_GROUP(sorted_in_lds)
{
    u32 v[64];
    for (u32 i = 0; i < 64; i++)
        v[i] = x[8 * i] * 64 + i;
    for (u32 i = 1; i < 64; i++)
        for (u32 j = i; j && v[j - 1] > v[j]; j--) {
            u32 t = v[j];
            v[j] = v[j - 1], v[j - 1] = t;
        }
    for (u32 i = 0; i < 64; i++)
        y[8 * i] = v[i];
}
#endif

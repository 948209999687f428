/* Kernel features of OpenCL C 2.0 and 3.0, each against the words of the specification. Each
 * work-item checks what it sees and writes a mask of what was wrong; `in[i]` is i, which no compiler
 * knows. The name of a kernel says what it is about; opencl_features.c launches each. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define BEGIN                                                                                      \
    uint wrong = 0;                                                                                \
    const int g = (int)get_global_linear_id(), l = (int)get_local_linear_id();                     \
    const int n = (int)(get_local_size(0) * get_local_size(1) * get_local_size(2))
#define IS(bit, condition) wrong |= (condition) ? 0u : 1u << (bit)
#define END                out[g] = wrong
#define ARGUMENTS          global uint *out, global const int *in

/* ---- work-groups and sub-groups ---- */

#ifdef __opencl_c_work_group_collective_functions
kernel void collective_functions(ARGUMENTS)
{
    BEGIN;
    const int x = in[l] + 1;
    IS(0, work_group_reduce_add(x) == n * (n + 1) / 2);
    IS(1, work_group_reduce_min(x) == 1 && work_group_reduce_max((long)x << 40) == (long)n << 40);
    IS(2, work_group_scan_inclusive_add(x) == x * (x + 1) / 2);
    IS(3, work_group_scan_exclusive_add((ulong)x) == (ulong)x * (x - 1) / 2);
    IS(4, work_group_scan_exclusive_max(x) == (l == 0 ? INT_MIN : x - 1));
    IS(5, work_group_scan_exclusive_min((uint)x) == (l == 0 ? UINT_MAX : 1u));
    IS(6, work_group_scan_inclusive_max((float)-x) == -1.0f);
    IS(7, work_group_scan_exclusive_min((double)x) == (l == 0 ? (double)INFINITY : 1.0));
    IS(8, work_group_all(x > 0) && !work_group_all(x > 1));
    IS(9, work_group_any(x == n) && !work_group_any(x > n));
    END;
}

kernel void broadcasts_in_three_dimensions(ARGUMENTS)
{
    BEGIN;
    const size_t x = get_local_size(0) - 1, y = get_local_size(1) / 2, z = get_local_size(2) - 1;
    const int from = (int)((z * get_local_size(1) + y) * get_local_size(0) + x);
    IS(0, work_group_broadcast(in[l] * 3, x, y, z) == from * 3);
    IS(1, work_group_broadcast((float)in[l], 0, 0, 0) == 0.0f);
    IS(2, l == (int)((get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0)
                     + get_local_id(0)));
    IS(3, get_global_size(0) == get_num_groups(0) * get_local_size(0));
    IS(4, get_global_id(2) == get_group_id(2) * get_local_size(2) + get_local_id(2));
    IS(5, get_work_dim() == 3 && get_local_size(3) == 1 && get_global_id(3) == 0);
    END;
}
#endif

#ifdef __opencl_c_subgroups
kernel void sub_groups(ARGUMENTS)
{
    BEGIN;
    const int size = (int)get_sub_group_size(), i = (int)get_sub_group_local_id();
    const int most = (int)get_max_sub_group_size();
    IS(0, size > 0 && size <= most && i < size);
    IS(1, (int)get_num_sub_groups() == (n + most - 1) / most);
    IS(2, l == (int)get_sub_group_id() * most + i);
    IS(3, sub_group_reduce_add(in[i] + 1) == size * (size + 1) / 2);
    IS(4, sub_group_scan_exclusive_add(1) == i && sub_group_scan_inclusive_max(in[i]) == i);
    IS(5, sub_group_broadcast(in[i] * 5, (uint)size - 1) == (size - 1) * 5);
    IS(6, sub_group_all(in[i] >= 0) && sub_group_any(in[i] == size - 1));
    IS(7, sub_group_reduce_min((float)-i) == (float)(1 - size));
    END;
}
#endif

void swap_neighbours(local int *a, int i)
{
    const int other = a[i ^ 1];
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    a[i] = other;
    barrier(CLK_LOCAL_MEM_FENCE);
}

kernel void barriers_in_loops(ARGUMENTS)
{
    local int a[64];
    BEGIN;
    a[l] = in[l];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = 0; step < in[5]; step++) {
        swap_neighbours(a, l);
        if (step == in[2])
            break;
    }
    IS(0, a[l] == (l ^ 1));
    END;
}

/* ---- atomics ---- */

kernel void atomics_with_scopes(ARGUMENTS)
{
    local atomic_int sum, least, bits;
    local atomic_flag flag;
    local atomic_int winners;
    BEGIN;
    if (l == 0) {
        atomic_init(&sum, 0);
        atomic_init(&least, INT_MAX);
        atomic_init(&bits, 0);
        atomic_init(&winners, 0);
        atomic_flag_clear_explicit(&flag, memory_order_relaxed, memory_scope_work_group);
    }
    work_group_barrier(CLK_LOCAL_MEM_FENCE, memory_scope_work_group);
    atomic_fetch_add_explicit(&sum, in[l], memory_order_relaxed, memory_scope_work_group);
    atomic_fetch_min_explicit(&least, -in[l], memory_order_acq_rel, memory_scope_work_group);
    atomic_fetch_or_explicit(&bits, 1 << (l & 31), memory_order_relaxed, memory_scope_work_group);
    if (!atomic_flag_test_and_set_explicit(&flag, memory_order_acq_rel, memory_scope_work_group))
        atomic_fetch_add_explicit(&winners, 1, memory_order_relaxed, memory_scope_work_group);
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    IS(0, atomic_load_explicit(&sum, memory_order_acquire, memory_scope_work_group)
              == n * (n - 1) / 2);
    IS(1, atomic_load_explicit(&least, memory_order_relaxed, memory_scope_work_group) == 1 - n);
    IS(2, atomic_load_explicit(&bits, memory_order_seq_cst, memory_scope_work_group) == -1);
    IS(3, atomic_load_explicit(&winners, memory_order_seq_cst, memory_scope_device) == 1);
    END;
}

global atomic_uint arrived = ATOMIC_VAR_INIT(0);
global uint parts[64];

/* The last work-group to arrive sees what all others have written. */
kernel void last_group_sums(ARGUMENTS)
{
    local uint before;
    BEGIN;
    const uint groups = (uint)get_num_groups(0);
    if (l == 0) {
        parts[get_group_id(0)] = (uint)in[get_group_id(0)] + 1;
        before = atomic_fetch_add_explicit(&arrived, 1, memory_order_acq_rel, memory_scope_device);
    }
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    if (before == groups - 1 && l == 0) {
        uint sum = 0;
        for (uint i = 0; i < groups; i++)
            sum += parts[i];
        IS(0, sum == groups * (groups + 1) / 2);
        atomic_store_explicit(&arrived, 0, memory_order_relaxed, memory_scope_device);
    }
    IS(1, before < groups);
    END;
}

kernel void compare_exchange(ARGUMENTS)
{
    local atomic_int lock, shared;
    BEGIN;
    if (l == 0) {
        atomic_init(&lock, 0);
        atomic_init(&shared, 0);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    int expected = l, seen = 0;
    do
        seen = atomic_load_explicit(&shared, memory_order_relaxed, memory_scope_work_group);
    while (!atomic_compare_exchange_strong_explicit(&shared, &seen, seen + 3, memory_order_relaxed,
                                                    memory_order_relaxed,
                                                    memory_scope_work_group));
    IS(0, seen % 3 == 0);
    barrier(CLK_LOCAL_MEM_FENCE);
    IS(1, atomic_load_explicit(&shared, memory_order_relaxed, memory_scope_work_group) == 3 * n);
    expected = -1;
    IS(2, !atomic_compare_exchange_strong_explicit(&lock, &expected, 5, memory_order_relaxed,
                                                   memory_order_relaxed, memory_scope_work_group)
              && expected == 0);
    END;
}

/* ---- address spaces ---- */

global int first = 7;
global int *global pointer = &first;
global int calls;
constant float table[4] = {1, 2, 4, 8};

kernel void variables_of_the_program(ARGUMENTS)
{
    BEGIN;
    IS(0, first == 7 && *pointer == 7);
    IS(1, table[in[g & 3]] == (float)(1 << (g & 3)));
    if (g == 0)
        calls++;
    END;
}

kernel void variables_are_kept(ARGUMENTS)
{
    BEGIN;
    IS(0, calls == 1 || g != 0);
    if (g == 0)
        calls = 0;
    END;
}

int through(const int *where, int at)
{
    return where[at];
}

kernel void generic_pointers(ARGUMENTS)
{
    local int shared[64];
    int own[4];
    BEGIN;
    shared[l] = in[l] * 2;
    for (int i = 0; i < 4; i++)
        own[i] = in[i] + l;
    barrier(CLK_LOCAL_MEM_FENCE);
    IS(0, through(shared, in[l] ^ 1) == (l ^ 1) * 2);
    IS(1, through(own, in[l & 3]) == (l & 3) + l);
    const int *any = (l & 1) ? (const int *)shared : (const int *)own;
    IS(2, *any == ((l & 1) ? 0 : l));
    IS(3, (to_local(any) != 0) == (l & 1) && (to_private(any) != 0) == !(l & 1));
    IS(4, to_global(any) == 0);
    IS(5, get_fence(any) == ((l & 1) ? CLK_LOCAL_MEM_FENCE : 0) || !(l & 1));
    any = 0;
    IS(6, !any && (&shared[in[9]] - &shared[in[4]]) == 5);
    END;
}

kernel void private_arrays(ARGUMENTS)
{
    int own[96];
    BEGIN;
    for (int i = 0; i < 96; i++)
        own[in[i]] = i * l;
    for (int i = 1; i < 96; i++)
        own[in[i]] += own[in[i - 1]];
    IS(0, own[in[95]] == 95 * 96 / 2 * l);
    IS(1, own[in[l]] == l * (l + 1) / 2 * l);
    END;
}

/* ---- copies ---- */

kernel void asynchronous_copies(ARGUMENTS)
{
    local int shared[64], strided[16];
    BEGIN;
    event_t done = async_work_group_copy(shared, in + 3, (size_t)n, 0);
    done = async_work_group_strided_copy(strided, in, 16, 3, done);
    wait_group_events(1, &done);
    IS(0, shared[l] == l + 3);
    IS(1, strided[l & 15] == (l & 15) * 3);
    barrier(CLK_LOCAL_MEM_FENCE);
    done = async_work_group_copy((global int *)out + get_group_id(0) * n, shared, (size_t)n, 0);
    wait_group_events(1, &done);
    prefetch(in, 16);
    work_group_barrier(CLK_GLOBAL_MEM_FENCE);
    IS(2, out[g] == l + 3);
    END;
}

kernel void halves_in_memory(ARGUMENTS)
{
    local half at[64 * 4];
    BEGIN;
    vstore_half((float)in[l] * 0.5f, (size_t)l, at);
    IS(0, vload_half((size_t)l, at) == 0.5f * l);
    vstore_half_rtz(1.0f + 0x1.8p-11f, (size_t)l, at);
    IS(1, as_ushort(at[l]) == 0x3c00);
    vstore_half_rtp(1.0f + 0x1p-20f * (in[l] + 1), (size_t)l, at);
    IS(2, as_ushort(at[l]) == 0x3c01);
    vstore_half_rte(65520.0f + in[l], (size_t)l, at);
    IS(3, as_ushort(at[l]) == 0x7c00);
    barrier(CLK_LOCAL_MEM_FENCE);
    vstore_half4((float4)(l, 1, 2, -3), (size_t)l, at);
    IS(4, all(vload_half4((size_t)l, at) == (float4)(l, 1, 2, -3)));
    IS(5, as_ushort(at[4 * l + 3]) == 0xc200);
    vstorea_half4_rtn((float4)(in[1] - 0x1p-20f), (size_t)l, at);
    IS(6, all(vloada_half4((size_t)l, at) == (float4)0x1.ffcp-1f));
    END;
}

/* ---- values ---- */

kernel void vectors(ARGUMENTS)
{
    BEGIN;
    const int4 a = (int4)(in[0], in[1], in[2], in[3]) + l;
    IS(0, all(a.wzyx == (int4)(l + 3, l + 2, l + 1, l)) && a.odd.y == l + 3 && a.even.y == l + 2);
    IS(1, all(shuffle(a, (uint4)(3, 3, 0, 1)) == (int4)(l + 3, l + 3, l, l + 1)));
    IS(2, all(shuffle2(a, -a, (uint4)(4, 0, 7, 3)) == (int4)(-l, l, -l - 3, l + 3)));
    IS(3, all(select(a, -a, a > l + 1) == (int4)(l, l + 1, -l - 2, -l - 3)));
    IS(4, as_int(as_float(in[l]) * 1.0f) == in[l] || l < 0x800000);
    IS(5, all(bitselect(a, (int4)-1, (int4)0xf0) == (a | 0xf0)));
    IS(6, any(a == l + 3) && !any(a == l + 4) && !all(a == l));
    const char16 c = convert_char16_sat((int16)(in[l] * 100));
    IS(7, all(c == (char16)(l * 100 > 127 ? 127 : l * 100)));
    IS(8, dot((float3)(1, 2, in[3]), (float3)(in[4], 5, 6)) == 32.0f);
    IS(9, vec_step(int3) == 4 && sizeof(float3) == 16);
    long2 wide = upsample((int2)(in[1], -in[1]), (uint2)(in[l], 5));
    IS(10, wide.x == (1l << 32) + l && wide.y == -(1l << 32) + 5);
    END;
}

kernel void integers(ARGUMENTS)
{
    BEGIN;
    const int x = in[l] + 1, big = INT_MAX - in[l];
    IS(0, mul_hi((ulong)x << 40, (ulong)x << 40) == (ulong)x * x << 16);
    IS(1, mul_hi(-x, in[2]) == -1 && mad_hi(x, in[1], 4) == 4);
    IS(2, add_sat(big, x + 1) == INT_MAX && sub_sat(-big - 2, x) == -big - 2 - x
              || sub_sat(-big - 2, x) == INT_MIN);
    IS(3, mad_sat(big, in[3], x) == INT_MAX
              && mad_sat((short)-300, (short)300, (short)x) == -32768);
    IS(4, hadd(big, big) == big && rhadd(x, x + 1) == x + 1 && hadd(x, x + 1) == x);
    IS(5, rotate((uchar)(x & 0xff), (uchar)9) == (uchar)((x & 0xff) << 1 | (x & 0xff) >> 7));
    IS(6, 1 << (31 - clz(x)) <= x && 2 << (31 - clz(x)) > x && ctz(x << 7) >= 7
              && popcount((ulong)-1 >> l) == 64 - l);
    IS(7, abs_diff(INT_MIN + in[l], INT_MAX) == UINT_MAX - (uint)l);
    IS(8, mul24(x, -x) == -x * x && mad24(x, in[7], in[5]) == 7 * x + 5);
    IS(9, clamp(in[l], 3, 5) == (l < 3 ? 3 : l > 5 ? 5 : l) && max((long)x, -1l) == x);
    IS(10, (x << (in[33] & 31)) == x * 2 && -x >> in[1] == (-x - (x & 1)) / 2);
    END;
}

struct mixed {
    char letter;
    float4 four;
    short number;
    double wide;
    uchar rest[3];
};

kernel void structures_by_value(ARGUMENTS, struct mixed mixed, char3 small, half narrow, long8 many)
{
    BEGIN;
    IS(0, mixed.letter == 'x' && mixed.number == -5 && mixed.wide == 0.25);
    IS(1, all(mixed.four == (float4)(1, 2, 3, 4)));
    IS(2, mixed.rest[0] == 9 && mixed.rest[2] == 11);
    IS(3, all(small == (char3)(1, 2, 3)) && (float)narrow == 1.5f);
    IS(4, many.s0 == 0 && many.s7 == 7l << 33);
    END;
}

kernel void several_local_arguments(ARGUMENTS, local char *bytes, local double *wide,
                                    local int4 *vectors)
{
    local int own[64];
    BEGIN;
    bytes[l] = (char)l;
    wide[l] = l * 0.5;
    vectors[l] = (int4)l;
    own[l] = -l;
    barrier(CLK_LOCAL_MEM_FENCE);
    const int o = n - 1 - l;
    IS(0, bytes[o] == (char)o && wide[o] == o * 0.5 && all(vectors[o] == o) && own[o] == -o);
    IS(1, (ulong)wide % 8 == 0 && (ulong)vectors % 16 == 0);
    END;
}

kernel void floats_keep_their_order(ARGUMENTS)
{
#pragma OPENCL FP_CONTRACT OFF
    BEGIN;
    const float a = 1.0f + 0x1p-12f * in[1], tiny = 0x1p-24f * (in[l] + 1);
    IS(0, a * a - (1.0f + 0x1p-11f) == 0.0f);
    IS(1, fma(a, a, -(1.0f + 0x1p-11f)) == 0x1p-24f);
    IS(2, (1.0f + tiny) - 1.0f != tiny || l > 0);
    IS(3, isnan(nan((uint)l)) && isinf(1.0f / in[0]) && signbit(-0.0f * (in[0] + 1)));
    float whole;
    IS(4, nextafter((float)in[l], INFINITY) > (float)in[l] || (FLUSHES && l == 0));
    IS(5, fract((float)-in[3] - 0.25f, &whole) == 0.75f && whole == -4.0f);
    IS(6, convert_int_rte(2.5f + in[0]) == 2 && convert_int_rtp(2.1f + in[0]) == 3
              && convert_int_rtn(-2.1f - in[0]) == -3);
    IS(7, convert_uchar_sat(-1.0f - in[l]) == 0
              && convert_float_rtz(16777217 + in[0]) == 16777216.0f);
    END;
}

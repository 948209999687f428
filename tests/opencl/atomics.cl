/* Atomic functions on local and global memory; what comes out does not depend on an order. */
#include "prelude.h"
#ifdef cl_khr_int64_base_atomics
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
#endif

#define COMMON(add, sub, minimum, maximum, and_, or_, xor_, p, a)                                  \
    add(p + 0, a);                                                                                 \
    sub(p + 1, a);                                                                                 \
    minimum(p + 2, a);                                                                             \
    maximum(p + 3, a);                                                                             \
    and_(p + 4, a | 0xff00);                                                                       \
    or_(p + 5, a & 0xf0f0f);                                                                       \
    xor_(p + 6, a)

kernel void atomics_global(global const int *in, global int *out, global uint *unsigned_out)
{
    int a = in[get_global_id(0)];
    COMMON(atomic_add, atomic_sub, atomic_min, atomic_max, atomic_and, atomic_or, atomic_xor, out,
           a);
    atomic_inc(out + 7);
    atomic_dec(out + 8);
    COMMON(atomic_add, atomic_sub, atomic_min, atomic_max, atomic_and, atomic_or, atomic_xor,
           unsigned_out, (uint)a);
    atomic_add(unsigned_out + 8 + (a & 7), 1u);
}

kernel void atomics_local(global const int *in, global int *out, global uint *unsigned_out)
{
    local int signed_cells[16];
    local uint cells[16];
    size_t l = get_local_id(0);
    if (l < 16) {
        signed_cells[l] = out[get_group_id(0) * 16 + l];
        cells[l] = unsigned_out[get_group_id(0) * 16 + l];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    int a = in[get_global_id(0)];
    COMMON(atomic_add, atomic_sub, atomic_min, atomic_max, atomic_and, atomic_or, atomic_xor,
           signed_cells, a);
    atomic_inc(signed_cells + 7);
    atomic_dec(signed_cells + 8);
    COMMON(atomic_add, atomic_sub, atomic_min, atomic_max, atomic_and, atomic_or, atomic_xor, cells,
           (uint)a);
    atomic_add(cells + 8 + (a & 7), 1u);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 16) {
        out[get_group_id(0) * 16 + l] = signed_cells[l];
        unsigned_out[get_group_id(0) * 16 + l] = cells[l];
    }
}

kernel void atomics_long(global const long *in, global long *out, global ulong *unsigned_out)
{
    local long cells[8];
    size_t l = get_local_id(0);
    if (l < 8) {
        cells[l] = 5;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    long a = in[get_global_id(0)];
    COMMON(atom_add, atom_sub, atom_min, atom_max, atom_and, atom_or, atom_xor, out, a);
    COMMON(atom_add, atom_sub, atom_min, atom_max, atom_and, atom_or, atom_xor, unsigned_out,
           (ulong)a);
    COMMON(atom_add, atom_sub, atom_min, atom_max, atom_and, atom_or, atom_xor, cells, a);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 8) {
        atom_add(out + 8 + l, cells[l]);
    }
}

/* What each work-item gets back is one of a set: its sum is the same in any order. */
kernel void atomics_returned(global const int *in, global int *cells, global int *tickets,
                             global int *sum)
{
    int a = in[get_global_id(0)];
    int ticket = atomic_inc(cells);
    tickets[ticket] = 1;
    atomic_add(sum, ticket);
    atomic_add(sum + 1, atomic_xchg(cells + 1, a));
    atomic_add(sum + 2, atomic_dec(cells + 2));
    int seen = cells[3], expected;
    do {
        expected = seen;
        seen = atomic_cmpxchg(cells + 3, expected, expected * 3 + 1);
    } while (seen != expected);
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (get_global_id(0) == 0) {
        atomic_add(sum + 3, a);
    }
}

/* Sums of floats, by comparing and exchanging; of small integers, so any order is exact. */
kernel void atomics_float(global const int *in, global float *sums, global double *wide)
{
    int a = in[get_global_id(0)] & 15;
    global uint *cell = (global uint *)(sums + (a & 3));
    uint old = *cell, seen;
    do {
        seen = old;
        old = atomic_cmpxchg(cell, seen, as_uint(as_float(seen) + a));
    } while (old != seen);
    global ulong *wide_cell = (global ulong *)(wide + (a & 1));
    ulong wide_old = *wide_cell, wide_seen;
    do {
        wide_seen = wide_old;
        wide_old = atom_cmpxchg(wide_cell, wide_seen, as_ulong(as_double(wide_seen) + a * 0.5));
    } while (wide_old != wide_seen);
}

/* Atomics of C11, with orders and scopes. */
kernel void atomics_ordered(global const int *in, global int *out)
{
    int a = in[get_global_id(0)];
    global atomic_int *cells = (global atomic_int *)out;
    local atomic_int shared;
    if (get_local_id(0) == 0) {
        atomic_init(&shared, 100);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_fetch_add_explicit(&cells[0], a, memory_order_relaxed, memory_scope_device);
    atomic_fetch_sub_explicit(&cells[1], a, memory_order_acq_rel, memory_scope_device);
    atomic_fetch_or_explicit(&cells[2], a & 0xff, memory_order_release, memory_scope_device);
    atomic_fetch_xor_explicit(&cells[3], a, memory_order_acquire, memory_scope_device);
    atomic_fetch_and_explicit(&cells[4], a | 0xffff, memory_order_seq_cst, memory_scope_device);
    atomic_fetch_min_explicit(&cells[5], a, memory_order_relaxed, memory_scope_device);
    atomic_fetch_max_explicit(&cells[6], a, memory_order_relaxed, memory_scope_device);
    atomic_fetch_add_explicit(&shared, a, memory_order_relaxed, memory_scope_work_group);
    int expected = atomic_load_explicit(&cells[7], memory_order_acquire, memory_scope_device);
    while (!atomic_compare_exchange_weak_explicit(&cells[7], &expected, expected + (a & 7),
                                                  memory_order_acq_rel, memory_order_acquire,
                                                  memory_scope_device)) {
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        int sum = atomic_exchange_explicit(&shared, 0, memory_order_relaxed,
                                           memory_scope_work_group);
        atomic_fetch_add_explicit(&cells[8], sum, memory_order_relaxed, memory_scope_device);
        atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_release, memory_scope_device);
        atomic_store_explicit(&cells[9], 4711, memory_order_release, memory_scope_device);
    }
}

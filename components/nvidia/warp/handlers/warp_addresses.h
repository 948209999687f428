/* Finds the host's bytes at the lanes' addresses. Included by handlers of memory. Private to
 * components/nvidia/warp.
 *
 * warp_reach() checks all active lanes before anything is read or written: an instruction that
 * faults has done nothing. */
#ifndef HEDDLE_COMPONENTS_NVIDIA_WARP_HANDLERS_WARP_ADDRESSES_H
#define HEDDLE_COMPONENTS_NVIDIA_WARP_HANDLERS_WARP_ADDRESSES_H

#include "base/likely.h"

#include "warp_lanes.h"

enum warp_shape {
    REACH_NONE,      /* it has faulted: m->fault */
    REACH_SCATTERED, /* m->at[]; inactive lanes have that of an active one */
    REACH_UNIFORM,   /* all active lanes have the bytes at m->at[0] */
    REACH_RUN        /* all lanes are active, lane i's bytes are at m->at[0] + i * bytes */
};

/* Addresses that lie together in the host: lane i's address a has its bytes at host + (a - start) +
 * i * stride. */
struct warp_region {
    char *host; /* NULL: none */
    u64 start, size, stride;
    uint8_t space;
    u64 window; /* what is observed counts from there */
};

/* The region of an address, by the operation's space. */
struct warp_region warp_region_of(struct warp_machine *m, const struct warp_op *op, u64 address);

/* Lane by lane, for accesses to several regions and accesses that fault. */
enum warp_shape warp_reach_slowly(struct warp_machine *m, const struct warp_op *op, uint32_t mask,
                                  u64 bytes, bool writes);

/* Computes the addresses of all lanes; inactive lanes get the address of the first active lane. */
static ALWAYS_INLINE void reach_addresses(struct warp_machine *m, const struct warp_op *op,
                                          uint32_t mask)
{
    u64 *to = m->address, offset = op->value;
    if (op->bank[1] == WARP_NARROW) {
        const u32 *a = warp_source(m, op, 1);
        LANES to[i] = (u64)a[i] + offset;
    } else {
        const u64 *a = warp_source(m, op, 1);
        LANES to[i] = a[i] + offset;
    }
    if (mask != (uint32_t)WARP_ALL) {
        u64 first = to[__builtin_ctz(mask)];
        LANES to[i] = (u64)mask >> i & 1 ? to[i] : first;
    }
}

/* warp_region_of(), where most accesses to shared memory need no call. */
static ALWAYS_INLINE struct warp_region reach_region(struct warp_machine *m,
                                                     const struct warp_op *op, u64 address)
{
    if (op->combine == PTX_SPACE_SHARED)
        return (struct warp_region){m->shared, 0, m->block->shared, 0, PTX_SPACE_SHARED, 0};
    return warp_region_of(m, op, address);
}

static ALWAYS_INLINE enum warp_shape warp_reach(struct warp_machine *m, const struct warp_op *op,
                                                uint32_t mask, u64 bytes, bool writes)
{
    reach_addresses(m, op, mask);
    u64 *a = m->address, first = a[__builtin_ctz(mask)];
    m->bytes = (uint32_t)bytes;
    struct warp_region r = reach_region(m, op, first);
    if (!r.host || r.size < bytes || (writes && r.space == PTX_SPACE_PARAM))
        return warp_reach_slowly(m, op, mask, bytes, writes);
    u64 limit = r.size - bytes, outside = 0, run = 0, same = 0, low = 0;
    /* a distance beyond the limit has an upper bit, or its distance to the limit has */
    LANES
    {
        u64 d = a[i] - r.start;
        outside |= d | (limit - d);
        low |= a[i];
        run |= a[i] ^ (first + i * bytes);
        same |= a[i] ^ first;
    }
    if (outside >> 63 || low & (bytes - 1))
        return warp_reach_slowly(m, op, mask, bytes, writes);
    m->space = r.space;
    char *host = r.host;
    if (r.stride)
        LANES m->at[i] = host + (a[i] - r.start) + i * r.stride;
    else if (!run && mask == (uint32_t)WARP_ALL)
        m->at[0] = host + (first - r.start);
    else
        LANES m->at[i] = host + (a[i] - r.start);
    if (r.window)
        LANES a[i] -= r.window;
    if (r.stride)
        return REACH_SCATTERED;
    if (!run && mask == (uint32_t)WARP_ALL)
        return REACH_RUN;
    return same ? REACH_SCATTERED : REACH_UNIFORM;
}

#endif

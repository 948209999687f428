/* From the lanes' addresses to bytes of the host. Included by handlers of memory. Private to
 * components/nvidia/warp.
 *
 * warp_reach() checks all active lanes before anything is read or written: an instruction that
 * faults has done nothing. */
#ifndef HEDDLE_WARP_REACH_H
#define HEDDLE_WARP_REACH_H

#include "warp_lanes.h"

enum warp_shape {
    REACH_NONE,      /* it has faulted: m->fault says how */
    REACH_SCATTERED, /* m->at[] of active lanes */
    REACH_UNIFORM,   /* all active lanes have m->at[first] */
    REACH_RUN        /* lane i at m->at[0] + i * bytes, also for inactive lanes */
};

/* Addresses of all lanes, inactive ones get that of the first active lane. */
WARP_INLINE void reach_addresses(struct warp_machine *m, const struct warp_op *op, uint32_t mask)
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

/* Are all addresses in [low, low + size), with `bytes` each? */
enum warp_shape warp_reach_slowly(struct warp_machine *m, const struct warp_op *op, uint32_t mask,
                                  u64 bytes, bool writes);

/* The bytes of the host at [low, high], or NULL. */
char *warp_reach_global(struct warp_machine *m, const struct warp_op *op, u64 low, u64 bytes);

WARP_INLINE enum warp_shape warp_reach(struct warp_machine *m, const struct warp_op *op,
                                       uint32_t mask, u64 bytes, bool writes)
{
    reach_addresses(m, op, mask);
    const u64 *a = m->address;
    u64 first = a[__builtin_ctz(mask)], start = first - (u64)__builtin_ctz(mask) * bytes;
    u64 run = 0, same = 0;
    LANES run |= (u64)mask >> i & 1 ? a[i] ^ (start + i * bytes) : 0;
    LANES same |= a[i] ^ first;
    m->bytes = (uint32_t)bytes;
    m->space = op->combine;
    bool is_run = !run, is_uniform = !same;
    if ((is_run || is_uniform) && !(first & (bytes - 1))) {
        u64 low = is_run ? start : first, size = is_run ? bytes * WARP_LANES : bytes;
        char *host = NULL;
        if (op->combine == PTX_SPACE_SHARED)
            host =
                low < m->block->shared && m->block->shared - low >= size ? m->shared + low : NULL;
        else if (op->combine == PTX_SPACE_GLOBAL || op->combine == PTX_SPACE_GENERIC
                 || op->combine == PTX_SPACE_CONST)
            host = warp_reach_global(m, op, low, size);
        if (host) {
            m->space = op->combine == PTX_SPACE_GENERIC ? PTX_SPACE_GLOBAL : op->combine;
            m->at[0] = host;
            if (is_run)
                return REACH_RUN;
            LANES m->at[i] = host;
            return REACH_UNIFORM;
        }
    }
    return warp_reach_slowly(m, op, mask, bytes, writes);
}

#endif

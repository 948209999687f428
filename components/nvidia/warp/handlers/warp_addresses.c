/* The places of the lanes' bytes. */
#include "components/memory/page_table/host_view.h"
#include "components/nvidia/warp/warp_cluster.h"

/* The span of the view that holds an address, by the hint of the operation. */
static const struct host_span *span_of(struct warp_machine *m, const struct warp_op *op,
                                       u64 address)
{
    struct host_view *view = m->launch->view;
    uint8_t *hint = &m->hint[op->instruction % WARP_HINTS];
    const struct host_span *span = &view->span[*hint];
    if (*hint < view->count && host_span_holds(span, address, 1))
        return span;
    span = host_view_find(view, address);
    if (span)
        *hint = (uint8_t)(span - view->span);
    return span;
}

static unsigned window_of(u64 address)
{
    if (address - WARP_SHARED < WARP_WINDOW_BYTES)
        return PTX_SPACE_SHARED;
    if (address - WARP_LOCAL < WARP_WINDOW_BYTES)
        return PTX_SPACE_LOCAL;
    if (address - WARP_PARAM < WARP_WINDOW_BYTES)
        return PTX_SPACE_PARAM;
    return PTX_SPACE_GLOBAL;
}

struct warp_region warp_region_of(struct warp_machine *m, const struct warp_op *op, u64 address)
{
    const struct warp_block *b = m->block;
    bool generic = op->combine == PTX_SPACE_GENERIC;
    unsigned space = generic ? window_of(address) : op->combine;
    u64 window = generic ? warp_window_begin(space) : 0;
    switch (space) {
    case PTX_SPACE_SHARED:
        if ((address - window) >> WARP_RANK_SHIFT)
            return warp_cluster_region(m, address, window);
        return (struct warp_region){m->shared, window, b->shared, 0, PTX_SPACE_SHARED, window};
    case PTX_SPACE_LOCAL:
        return (struct warp_region){m->local, window, b->local, b->local, PTX_SPACE_LOCAL, window};
    case PTX_SPACE_PARAM:
        return (struct warp_region){(char *)(uintptr_t)m->launch->parameters,
                                    window,
                                    m->launch->kernel->parameter_bytes,
                                    0,
                                    PTX_SPACE_PARAM,
                                    window};
    default: {
        const struct host_span *span = span_of(m, op, address);
        return span ? (struct warp_region){span->host, span->start,      span->size,
                                           0,          PTX_SPACE_GLOBAL, 0}
                    : (struct warp_region){.host = NULL};
    }
    }
}

static const char *outside(unsigned space, u64 address)
{
    if (space == PTX_SPACE_SHARED && (address & UINT32_MAX) >> WARP_RANK_SHIFT)
        return "in shared memory of a block that is over, has not begun, or has no such bytes";
    switch (space) {
    case PTX_SPACE_SHARED:
        return "outside of the block's shared memory";
    case PTX_SPACE_LOCAL:
        return "outside of the thread's local memory";
    case PTX_SPACE_PARAM:
        return "outside of the kernel's parameters";
    default:
        return "where nothing is allocated";
    }
}

enum warp_shape warp_reach_slowly(struct warp_machine *m, const struct warp_op *op, uint32_t mask,
                                  u64 bytes, bool writes)
{
    bool generic = op->combine == PTX_SPACE_GENERIC;
    for (uint32_t left = mask; left; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctz(left);
        u64 address = m->address[i];
        struct warp_region r = warp_region_of(m, op, address);
        unsigned space = generic                          ? window_of(address)
                         : op->combine == PTX_SPACE_CONST ? PTX_SPACE_GLOBAL
                                                          : op->combine;
        u64 whole = generic ? address : address + warp_window_begin(space);
        if (address & (bytes - 1)) {
            warp_fault_at(m, WARP_FAULT_MISALIGNED, i, whole,
                          writes ? "a misaligned store" : "a misaligned load");
            return REACH_NONE;
        }
        u64 d = address - r.start;
        if (!r.host || d >= r.size || r.size - d < bytes || (writes && space == PTX_SPACE_PARAM)) {
            warp_fault_at(m, WARP_FAULT_ADDRESS, i, whole, outside(space, whole));
            return REACH_NONE;
        }
        m->at[i] = r.host + d + i * r.stride;
        m->address[i] = address - r.window;
        m->space = (uint8_t)space;
    }
    for (unsigned i = 0; i < WARP_LANES; i++)
        if (!(mask >> i & 1))
            m->at[i] = m->at[__builtin_ctz(mask)];
    return REACH_SCATTERED;
}

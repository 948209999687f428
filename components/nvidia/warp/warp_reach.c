/* Where the lanes' bytes lie; see warp_reach.h. Called by handlers of memory. */
#include "warp_reach.h"

#include "components/protocols/page_table/host_view.h"

char *warp_reach_global(struct warp_machine *m, const struct warp_op *op, u64 low, u64 bytes)
{
    struct host_view *view = m->launch->view;
    uint8_t *hint = &m->hint[op->instruction % WARP_HINTS];
    const struct host_span *span = &view->span[*hint];
    if (*hint < view->count && host_span_holds(span, low, bytes))
        return span->host + (low - span->start);
    span = host_view_find(view, low);
    if (!span || !host_span_holds(span, low, bytes))
        return NULL;
    *hint = (uint8_t)(span - view->span);
    return span->host + (low - span->start);
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

/* One lane's bytes, or NULL. `address` counts in the space. */
static char *lane_bytes(struct warp_machine *m, const struct warp_op *op, unsigned space,
                        unsigned lane, u64 address, u64 bytes)
{
    const struct warp_block *b = m->block;
    switch (space) {
    case PTX_SPACE_SHARED:
        return address < b->shared && b->shared - address >= bytes ? m->shared + address : NULL;
    case PTX_SPACE_LOCAL:
        return address < b->local && b->local - address >= bytes
                   ? m->local + (u64)lane * b->local + address
                   : NULL;
    case PTX_SPACE_PARAM: {
        u64 size = m->launch->kernel->parameter_bytes;
        const char *p = m->launch->parameters;
        return address < size && size - address >= bytes ? (char *)(uintptr_t)(p + address) : NULL;
    }
    default:
        return warp_reach_global(m, op, address, bytes);
    }
}

static u64 window_base(unsigned space)
{
    return space == PTX_SPACE_SHARED  ? WARP_SHARED
           : space == PTX_SPACE_LOCAL ? WARP_LOCAL
           : space == PTX_SPACE_PARAM ? WARP_PARAM
                                      : 0;
}

static const char *outside(unsigned space)
{
    return space == PTX_SPACE_SHARED  ? "outside of the block's shared memory"
           : space == PTX_SPACE_LOCAL ? "outside of the thread's local memory"
           : space == PTX_SPACE_PARAM ? "outside of the kernel's parameters"
                                      : "where nothing is allocated";
}

enum warp_shape warp_reach_slowly(struct warp_machine *m, const struct warp_op *op, uint32_t mask,
                                  u64 bytes, bool writes)
{
    unsigned declared = op->combine == PTX_SPACE_CONST ? PTX_SPACE_GLOBAL : op->combine;
    for (uint32_t left = mask; left; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctz(left);
        u64 address = m->address[i];
        unsigned space = declared == PTX_SPACE_GENERIC ? window_of(address) : declared;
        u64 inside = declared == PTX_SPACE_GENERIC ? address - window_base(space) : address;
        u64 whole = inside + window_base(space);
        if (address & (bytes - 1)) {
            warp_fault_at(m, WARP_FAULT_MISALIGNED, i, whole,
                          writes ? "a misaligned store" : "a misaligned load");
            return REACH_NONE;
        }
        m->at[i] =
            writes && space == PTX_SPACE_PARAM ? NULL : lane_bytes(m, op, space, i, inside, bytes);
        if (!m->at[i]) {
            warp_fault_at(m, WARP_FAULT_ADDRESS, i, whole, outside(space));
            return REACH_NONE;
        }
        m->address[i] = inside;
        m->space = (uint8_t)space;
    }
    return REACH_SCATTERED;
}

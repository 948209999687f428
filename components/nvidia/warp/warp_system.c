/* vprintf, malloc, free and __assertfail, as the ABI of device code has them (PTX Writer's Guide to
 * Interoperability, "System Calls"). */
#include "warp_system.h"

#include <stdio.h>

#include "components/memory/page_table/host_view.h"

bool warp_read(const struct warp_launch *l, const struct warp_block *b, uint32_t thread,
               uint64_t address, void *to, size_t bytes)
{
    uint64_t here;
    const void *at = warp_look_memory(b, l, thread, address, &here);
    if (here < bytes)
        return false;
    if (at) {
        memcpy(to, at, bytes);
        return true;
    }
    if (!host_view_is_allocated(l->view, address, bytes))
        return false;
    host_view_read(l->view, address, to, bytes);
    return true;
}

static uint64_t argument(const struct warp_machine *m, const struct warp_op *op, unsigned i,
                         unsigned lane)
{
    return ((const uint64_t *)warp_source(m, op, i))[lane];
}

/* A string of the device's memory, cut to the room. */
static void read_string(const struct warp_machine *m, uint32_t thread, uint64_t address, char *to,
                        size_t room)
{
    size_t n = 0;
    while (n + 1 < room && warp_read(m->launch, m->block, thread, address + n, to + n, 1) && to[n])
        n++;
    to[n] = 0;
}

static void assertion(struct warp_machine *m, const struct warp_op *op, unsigned lane)
{
    uint32_t thread = m->number * WARP_LANES + lane;
    char message[80], file[80], function[48];
    read_string(m, thread, argument(m, op, 1, lane), message, sizeof message);
    read_string(m, thread, argument(m, op, 2, lane), file, sizeof file);
    read_string(m, thread, argument(m, op, 4, lane), function, sizeof function);
    snprintf(m->text, sizeof m->text, "%s:%u: %s: assertion `%s' failed", file,
             (unsigned)argument(m, op, 3, lane), function, message);
    warp_fault_at(m, WARP_FAULT_ASSERT, lane, 0, m->text);
}

bool warp_system(struct warp_machine *m, const struct warp_op *op, uint32_t mask)
{
    struct warp_launch *l = m->launch;
    for (; mask && !m->fault; mask &= mask - 1) {
        unsigned lane = (unsigned)__builtin_ctz(mask);
        uint32_t thread = m->number * WARP_LANES + lane;
        uint64_t first = argument(m, op, 1, lane);
        switch ((enum warp_system)op->target) {
        case WARP_VPRINTF: {
            int printed =
                l->print ? l->print(l->context, m->block, thread, first, argument(m, op, 2, lane))
                         : -1;
            ((uint32_t *)warp_target(m, op))[lane] = (uint32_t)printed;
            break;
        }
        case WARP_MALLOC: {
            uint64_t address = l->allocate ? l->allocate(l->context, first) : 0;
            ((uint64_t *)warp_target(m, op))[lane] = address;
            break;
        }
        case WARP_FREE:
            if (l->release && first)
                l->release(l->context, first);
            break;
        case WARP_ASSERTFAIL:
            assertion(m, op, lane);
            break;
        }
    }
    return !m->fault;
}

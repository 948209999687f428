/* Touches as components/sampling/warmup.h hands them on, in pieces of 64 bytes: two sectors. What
 * is not here is passed to the next level. sector_touch.c changes the cache. */
#include "sector_state.h"

/* The bytes of a piece that lie in `sectors` of its line. */
static uint64_t warm_mask(unsigned sectors, unsigned half)
{
    unsigned two = sectors >> (2 * half);
    return (two & 1 ? UINT32_MAX : 0) | (two & 2 ? (uint64_t)UINT32_MAX << 32 : 0);
}

/* Sectors of the line at `address` go to the next level. */
static void warm_below(const struct sector_cache *c, const struct warm_access *a, uint64_t address,
                       enum warm_kind kind, unsigned sectors)
{
    for (unsigned half = 0; half < SECTOR_LINE / WARM_LINE; half++) {
        struct warm_access below = *a;
        below.address = below.physical = address + half * WARM_LINE;
        below.mask = warm_mask(sectors, half);
        below.kind = (uint8_t)kind;
        if (below.mask)
            warm_pass(ring_number(c->io.bottom_request), &below);
    }
}

static void sector_cache_warm_touch(struct component *self, const struct warm_access *a)
{
    static const uint8_t kinds[WARM_KINDS] = {[WARM_READ] = SECTOR_MEM_LOAD,
                                              [WARM_COHERENT] = SECTOR_MEM_LOAD,
                                              [WARM_WRITE] = SECTOR_MEM_STORE,
                                              [WARM_ATOMIC] = SECTOR_MEM_ATOMIC,
                                              [WARM_FILL] = SECTOR_MEM_FILL};
    struct sector_cache *c = (struct sector_cache *)(void *)self;
    unsigned half = (unsigned)(a->physical / WARM_LINE % 2), low = (uint32_t)a->mask != 0,
             high = a->mask >> 32 != 0, partial = (uint32_t)a->mask != UINT32_MAX;
    uint64_t line = a->physical / SECTOR_LINE * SECTOR_LINE;
    partial |= (a->mask >> 32 != UINT32_MAX) << 1;
    bool shared = sector_cache_params(c)->atomics == SECTOR_CACHE_ATOMICS_HERE;
    if (a->kind == WARM_PAGE || (a->kind == WARM_COHERENT && !shared)) {
        warm_pass(ring_number(c->io.bottom_request), a);
        return;
    }
    struct sector_touched t =
        sector_cache_touch(c, (enum sector_mem_request_kind)kinds[a->kind], line,
                           (low | high << 1) << (2 * half), partial << (2 * half));
    warm_below(c, a, t.evicted, WARM_WRITE, t.evicted_sectors);
    warm_below(c, a, line, WARM_READ, t.load);
    if (t.store)
        warm_pass(ring_number(c->io.bottom_request), a); /* with its bytes */
    warm_below(c, a, line, WARM_ATOMIC, t.atomic);
    warm_below(c, a, line, WARM_FILL, t.fill);
}

static void sector_cache_warm_drop(struct component *self)
{
    sector_cache_clear((struct sector_cache *)(void *)self);
}

static void sector_cache_warm_carve(struct component *self, uint32_t bytes)
{
    sector_cache_warm_drop(self);
    sector_carve((struct sector_cache *)(void *)self, bytes);
}

static const struct warm_ops sector_cache_warm_ops = {.touch = sector_cache_warm_touch,
                                                      .drop = sector_cache_warm_drop,
                                                      .carve = sector_cache_warm_carve};

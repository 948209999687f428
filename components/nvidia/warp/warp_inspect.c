/* Shows blocks to a debugger: places, registers, memory. */
#include "base/number.h"

#include "warp_cluster.h"

static const struct warp_state *warp_of(const struct warp_block *b, uint32_t warp)
{
    return (const struct warp_state *)(const void *)((const char *)b + b->warps_offset) + warp;
}

/* The order of warp_schedule.c; splits that can execute are before those that wait. */
static bool goes_before(const struct warp_split *a, const struct warp_split *b)
{
    bool a_waits = a->state > WARP_GRANTED, b_waits = b->state > WARP_GRANTED;
    if (a_waits != b_waits)
        return b_waits;
    if (a->turn != b->turn)
        return a->turn < b->turn;
    return a->narrow != b->narrow ? a->narrow > b->narrow : a->pc < b->pc;
}

uint32_t warp_inspect_place(const struct warp_block *b, const struct warp_launch *l, uint32_t warp,
                            uint32_t *lanes)
{
    const struct warp_state *w = warp_of(b, warp);
    const struct warp_split *best = w->split;
    *lanes = 0;
    if (!w->count)
        return PTX_NONE;
    for (uint32_t i = 1; i < w->count; i++)
        best = goes_before(&w->split[i], best) ? &w->split[i] : best;
    *lanes = best->mask;
    return l->code->ops[best->pc].instruction;
}

uint32_t warp_inspect_register(const struct warp_block *b, const struct warp_launch *l,
                               uint32_t warp, uint32_t function, uint32_t number,
                               uint64_t value[WARP_LANES])
{
    const struct warp_state *w = warp_of(b, warp);
    const struct warp_register *r = &l->code->functions[function].named[number];
    const char *block = (const char *)b;
    uint32_t found = 0;
    if (r->first == UINT32_MAX)
        return 0;
    for (uint32_t i = 0; i < w->count; i++) {
        const struct warp_split *s = &w->split[i];
        if (s->pc > r->last || s->pc < r->first || (s->pc == r->first && !r->enters))
            continue;
        uint64_t narrow = (uint64_t)warp * b->narrow_capacity + s->narrow;
        const uint32_t *words =
            (const void *)(block + b->narrow_offset + narrow * WARP_NARROW_BYTES + r->at);
        const uint64_t *wide =
            (const void *)(block + b->wide_offset
                           + ((uint64_t)warp * b->wide + s->wide) * WARP_WIDE_BYTES + r->at);
        const uint32_t *predicate =
            (const uint32_t *)(const void *)(block + b->predicates_offset) + narrow + r->at;
        found |= s->mask;
        for (uint32_t left = s->mask; left; left &= left - 1) {
            unsigned lane = (unsigned)__builtin_ctz(left);
            value[lane] = r->bank == WARP_PREDICATE ? *predicate >> lane & 1
                          : r->bank == WARP_WIDE    ? wide[lane]
                                                    : words[lane];
        }
    }
    return found;
}

const void *warp_look_memory(const struct warp_block *b, const struct warp_launch *l,
                             uint32_t thread, uint64_t address, uint64_t *bytes)
{
    uint64_t shared = WARP_SHARED; /* with the rank of a block of the cluster */
    if (address - WARP_SHARED < WARP_WINDOW_BYTES)
        shared = address & ~(uint64_t)WARP_RANK_OFFSET;
    const struct warp_block *owner = warp_cluster_block(l, b, shared - WARP_SHARED);
    const struct {
        uint64_t start, size;
        const char *at;
    } windows[] = {
        {shared, owner ? owner->shared : 0,
         owner ? (const char *)owner + owner->shared_offset : NULL},
        {WARP_LOCAL, b->local, (const char *)b + b->local_offset + (size_t)thread * b->local},
        {WARP_PARAM, l->kernel->parameter_bytes, l->parameters}};
    for (unsigned i = 0; i < ARRAY_COUNT(windows); i++) {
        uint64_t offset = address - windows[i].start;
        if (offset >= WARP_WINDOW_BYTES)
            continue;
        *bytes = offset < windows[i].size ? windows[i].size - offset : 0;
        return *bytes ? windows[i].at + offset : NULL;
    }
    *bytes = UINT64_MAX;
    return NULL;
}

void warp_inspect_block(const struct warp_block *b, uint32_t id[3])
{
    memcpy(id, b->id, sizeof b->id);
}

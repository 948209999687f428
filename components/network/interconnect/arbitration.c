/* One direction of an interconnect: who shows a message, which target wants it, and whose turn it
 * is. See interconnect.h. Crossbar and switch name this file among theirs. */
#include "components/network/interconnect/interconnect.h"
#include "runtime/link/ring.h"

#include <string.h>

static inline bool interconnect_is_small(const struct interconnect_side *s)
{
    return s->sources <= INTERCONNECT_FEW && s->targets <= INTERCONNECT_FEW;
}

static inline void interconnect_origins_init(struct interconnect *x)
{
    struct index_pool all;
    index_pool_init(&all, INTERCONNECT_IN_FLIGHT);
    index_pool_init(&x->free_origins, INTERCONNECT_AT_FIRST);
    x->all_stack = all.stack;
    x->all_origins = arena_allocate(INTERCONNECT_IN_FLIGHT * sizeof(struct interconnect_origin));
    x->origins = arena_allocate(INTERCONNECT_AT_FIRST * sizeof(struct interconnect_origin));
}

static __attribute__((noinline)) bool interconnect_origins_grow(struct interconnect *x)
{
    if (x->origins == x->all_origins)
        return false;
    memcpy(arena_at(char, x->all_origins), arena_at(char, x->origins),
           INTERCONNECT_AT_FIRST * sizeof(struct interconnect_origin));
    x->origins = x->all_origins;
    x->free_origins.stack = x->all_stack; /* on the other one lies none */
    x->free_origins.capacity = INTERCONNECT_IN_FLIGHT;
    return true;
}

static inline void interconnect_side_init(struct interconnect_side *s, uint32_t sources,
                                          uint32_t targets)
{
    s->sources = sources;
    s->targets = targets;
    s->source_words = (sources + 63) / 64;
    s->target_words = (targets + 63) / 64;
    if (s->source_words == 2 || s->target_words == 2) /* of the same number of words: move_few() */
        s->source_words = s->target_words =
            s->source_words > s->target_words ? s->source_words : s->target_words;
    s->known = arena_allocate(s->source_words * sizeof(uint64_t));
    s->busy = arena_allocate(s->target_words * sizeof(uint64_t));
    s->wanted = arena_allocate((size_t)targets * s->source_words * sizeof(uint64_t));
    s->rings = arena_allocate(sources * sizeof(uint32_t));
    s->by_target = arena_allocate(targets * sizeof(struct interconnect_target));
    s->ring_in = arena_allocate(s->source_words * sizeof(uint64_t));
    s->ring_out = arena_allocate(s->target_words * sizeof(uint64_t));
    for (uint32_t t = 0; t < targets; t++)
        arena_at(struct interconnect_target, s->by_target)[t].last_served = sources - 1;
}

static inline void interconnect_side_messages(struct interconnect_side *s, uint32_t first_message,
                                              uint32_t count, uint64_t width)
{
    const struct platform_message *messages = engine_base.platform->messages + first_message;
    s->first_message = first_message;
    for (uint32_t k = 0; k < count && k < INTERCONNECT_KINDS; k++) {
        uint64_t bytes = messages[k].payload_bytes & ~UINT32_C(31);
        uint64_t cycles = width ? (bytes + width - 1) / width : 1;
        s->kinds[k] =
            (struct interconnect_kind){.cycles = (uint16_t)(cycles ? cycles : 1),
                                       .payload_bytes = (uint16_t)messages[k].payload_bytes,
                                       .awaited = messages[k].awaited != 0};
    }
}

static inline uint64_t interconnect_pending(const struct component *c, uint32_t first, uint32_t end)
{
    uint64_t bits = component_pending(c, first / 64) >> (first % 64);
    if (first % 64 && first / 64 + 1 < c->pending_words)
        bits |= component_pending(c, first / 64 + 1) << (64 - first % 64);
    return end - first >= 64 ? bits : bits & (((uint64_t)1 << (end - first)) - 1);
}

static inline void interconnect_enter(const struct interconnect_view *v, uint32_t source,
                                      uint32_t target)
{
    uint64_t bit = (uint64_t)1 << (source % 64);
    v->known[source / 64] |= bit;
    v->wanted[target * v->source_words + source / 64] |= bit;
    v->busy[target / 64] |= (uint64_t)1 << (target % 64);
}

static inline bool interconnect_ring_wants(const struct interconnect_view *v, const uint64_t *among,
                                           uint32_t target)
{
    const uint64_t *wanted = v->wanted + (size_t)target * v->source_words;
    bool found = false;
    for (uint32_t w = 0; w < v->source_words; w++)
        found |= (wanted[w] & among[w]) != 0;
    return found;
}

static inline uint32_t interconnect_choose(const struct interconnect_view *v, uint32_t sources,
                                           uint32_t target, const uint64_t *among, bool *others)
{
    uint64_t *wanted = v->wanted + (size_t)target * v->source_words;
    uint32_t *last = &v->by_target[target].last_served;
    uint32_t start = *last + 1 == sources ? 0 : *last + 1, word = start / 64;
    uint64_t bits = wanted[word] & (UINT64_MAX << (start % 64));
    bits &= among ? among[word] : UINT64_MAX;
    while (!bits) {
        word = word + 1 == v->source_words ? 0 : word + 1;
        bits = wanted[word] & (among ? among[word] : UINT64_MAX);
    }
    uint32_t source = word * 64 + (uint32_t)__builtin_ctzll(bits);
    uint64_t bit = bits & -bits, left = wanted[word] ^ bit;
    wanted[word] = left;
    v->known[word] &= ~bit;
    *last = source;
    for (uint32_t w = 0; v->source_words > 1 && w < v->source_words; w++)
        left |= wanted[w];
    *others = left != 0;
    if (!left)
        v->busy[target / 64] &= ~((uint64_t)1 << (target % 64));
    return source;
}

static inline uint64_t interconnect_conflict(struct interconnect_side *s, uint64_t now,
                                             uint64_t cycles)
{
    uint64_t from = now > s->conflict_until ? now : s->conflict_until, end = now + cycles;
    if (end <= from)
        return 0;
    s->conflict_until = end;
    return end - from;
}

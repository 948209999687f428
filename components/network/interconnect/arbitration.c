/* One direction of an interconnect: its tables, and whose turn it is. See interconnect.h. */
#include "base/number.h"
#include "runtime/link/ring.h"

#include "interconnect.h"

static inline void interconnect_side_init(struct interconnect_side *s, uint32_t sources,
                                          uint32_t targets)
{
    s->sources = sources;
    s->targets = targets;
    s->words = divide_up(max(sources, targets), 64);
    s->bitmaps_at = arena_allocate(((size_t)targets + 2) * s->words * sizeof(uint64_t));
    s->sources_at = arena_allocate(sources * sizeof(struct interconnect_source));
    s->targets_at = arena_allocate(targets * sizeof(struct interconnect_target));
    s->bubble_in_at = arena_allocate(s->words * sizeof(uint64_t));
    s->bubble_out_at = arena_allocate(s->words * sizeof(uint64_t));
    for (uint32_t t = 0; t < targets; t++)
        arena_at(struct interconnect_target, s->targets_at)[t].last_served = sources - 1;
}

static inline void interconnect_side_messages(struct interconnect_side *s,
                                              const struct platform_message *messages,
                                              uint32_t count, uint64_t width, uint64_t header)
{
    s->kinds_at = arena_allocate(count * sizeof(struct interconnect_kind));
    for (uint32_t k = 0; k < count; k++) {
        uint64_t bytes = (messages[k].payload_bytes & ~UINT32_C(31)) + header;
        uint64_t cycles = width ? divide_up(bytes, width) : 1;
        arena_at(struct interconnect_kind, s->kinds_at)[k] = (struct interconnect_kind){
            .cycles = (uint32_t)(cycles ? cycles : 1),
            .pieces = (uint16_t)(messages[k].payload_bytes / INTERCONNECT_PIECE),
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

static inline uint32_t interconnect_choose_source(uint64_t *entered, uint64_t *wanted,
                                                  const uint64_t *allowed, uint32_t words,
                                                  uint32_t *last_served)
{
    uint32_t last = *last_served, word = last / 64;
    uint64_t behind = UINT64_MAX << last % 64 << 1;
    uint64_t turn = wanted[word] & (allowed ? allowed[word] : UINT64_MAX) & behind;
    while (!turn) {
        word = word + 1 == words ? 0 : word + 1;
        turn = wanted[word] & (allowed ? allowed[word] : UINT64_MAX);
    }
    wanted[word] ^= turn & -turn;
    entered[word] ^= turn & -turn;
    *last_served = word * 64 + (uint32_t)__builtin_ctzll(turn);
    return *last_served;
}

static inline bool interconnect_meet(const uint64_t *a, const uint64_t *b, uint32_t words)
{
    for (uint32_t w = 0; w < words; w++)
        if (a[w] & (b ? b[w] : UINT64_MAX))
            return true;
    return false;
}

static inline uint64_t interconnect_conflict(struct interconnect_side *s, uint64_t now,
                                             uint64_t cycles)
{
    uint64_t from = max(now, s->conflict_until), end = now + cycles;
    if (end <= from)
        return 0;
    s->conflict_until = end;
    return end - from;
}

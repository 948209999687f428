/* Least recently used.
 *
 * Up to 16 ways: a set's order is one word, a list of ways of four bits each with the most recent
 * one lowest; a touch moves its way to the front. Ways that do not exist stay after the others for
 * ever. The word is kept as the difference from the first order, so that sets that were never used
 * are zero and take no memory.
 *
 * More ways: every touch stamps the line with a counter, and the smallest stamp loses; when the
 * 32-bit counter runs out, the stamps of each set are replaced by their ranks, which keeps the
 * order exactly. */
#include "lru.gen.h"

#include "base/likely.h"
#include "components/memory/cache/replacement_policy.h"

#define LRU_LISTED_WAYS 16u
#define LRU_NIBBLES     ((uint64_t)0x1111111111111111u)
#define LRU_FIRST       ((uint64_t)0xfedcba9876543210u)

struct lru {
    struct lru_io io;
    uint32_t order_at;  /* arena offset: uint64_t [sets], or */
    uint32_t stamps_at; /* uint32_t [sets][ways] */
    uint32_t sets;
    uint32_t ways;
    uint32_t clock;
};

static void lru_setup(struct part *self, uint32_t sets, uint32_t ways)
{
    struct lru *p = (struct lru *)(void *)self;
    p->sets = sets;
    p->ways = ways;
    if (ways > LRU_LISTED_WAYS) {
        p->stamps_at = arena_allocate((size_t)sets * ways * sizeof(uint32_t));
        return;
    }
    p->order_at = arena_allocate(sets * sizeof(uint64_t));
}

static OUT_OF_LINE void lru_renumber(struct lru *p)
{
    uint32_t *stamps = arena_at(uint32_t, p->stamps_at);
    for (uint32_t s = 0; s < p->sets; s++, stamps += p->ways) {
        uint32_t rank[64];
        for (uint32_t w = 0; w < p->ways; w++) {
            rank[w] = 1;
            for (uint32_t v = 0; v < p->ways; v++)
                rank[w] += stamps[v] < stamps[w];
        }
        for (uint32_t w = 0; w < p->ways; w++)
            stamps[w] = rank[w];
    }
    p->clock = p->ways;
}

static OUT_OF_LINE void lru_stamp(struct lru *p, uint32_t set, uint32_t way)
{
    if (unlikely(p->clock == UINT32_MAX))
        lru_renumber(p);
    arena_at(uint32_t, p->stamps_at)[set * p->ways + way] = ++p->clock;
}

static void lru_touch(struct part *self, uint32_t set, uint32_t way)
{
    struct lru *p = (struct lru *)(void *)self;
    if (unlikely(p->ways > LRU_LISTED_WAYS)) {
        lru_stamp(p, set, way);
        return;
    }
    uint64_t *order = &arena_at(uint64_t, p->order_at)[set], old = *order ^ LRU_FIRST;
    if ((old & 15) == way)
        return;
    /* Finds the lowest zero digit of old ^ way way way ...: where the way is. */
    uint64_t same = old ^ (LRU_NIBBLES * way),
             zero = (same - LRU_NIBBLES) & ~same & (LRU_NIBBLES * 8);
    unsigned shift = (unsigned)__builtin_ctzll(zero) & ~3u;
    uint64_t below = ((uint64_t)1 << shift) - 1, through = below << 4 | 15;
    *order = ((old & ~through) | (old & below) << 4 | way) ^ LRU_FIRST;
}

static OUT_OF_LINE uint32_t lru_oldest_stamp(const struct lru *p, uint32_t set, uint64_t candidates)
{
    const uint32_t *stamps = arena_at(uint32_t, p->stamps_at) + (size_t)set * p->ways;
    uint32_t best = (uint32_t)__builtin_ctzll(candidates);
    for (uint64_t rest = candidates & (candidates - 1); rest; rest &= rest - 1) {
        uint32_t way = (uint32_t)__builtin_ctzll(rest);
        if (stamps[way] < stamps[best])
            best = way;
    }
    return best;
}

static uint32_t lru_victim(struct part *self, uint32_t set, uint64_t candidates)
{
    const struct lru *p = (const struct lru *)(const void *)self;
    if (unlikely(p->ways > LRU_LISTED_WAYS))
        return lru_oldest_stamp(p, set, candidates);
    uint64_t *order = &arena_at(uint64_t, p->order_at)[set], old = *order ^ LRU_FIRST;
    unsigned shift = (p->ways - 1) * 4;
    uint32_t way = old >> shift & 15;
    if (candidates >> way & 1) { /* it goes, and what takes its place comes first: at once */
        uint64_t through = UINT64_MAX >> (60 - shift);
        *order = ((old & ~through) | (old << 4 & through) | way) ^ LRU_FIRST;
        return way;
    }
    for (;;) {
        shift -= 4;
        way = old >> shift & 15;
        if (candidates >> way & 1)
            return way;
    }
}

static const struct replacement_policy_ops lru_ops = {
    .setup = lru_setup,
    .touch = lru_touch,
    .fill = lru_touch,
    .victim = lru_victim,
};

/* Least recently used: every touch stamps the line with a counter; the smallest stamp of the set loses. When the
 * 32-bit counter runs out, the stamps of each set are replaced by their ranks, which keeps the order exactly. */
#include "lru.gen.h"

#include "components/cache/replacement_policy.h"

struct lru {
    struct lru_io io;
    uint32_t stamps; /* arena offset: uint32_t [sets][ways] */
    uint32_t sets;
    uint32_t ways;
    uint32_t clock;
};

static void lru_init(struct lru *p)
{
    (void)p;
}

static void lru_setup(struct part *self, uint32_t sets, uint32_t ways)
{
    struct lru *p = (struct lru *)(void *)self;
    p->stamps = arena_allocate((size_t)sets * ways * sizeof(uint32_t));
    p->sets = sets;
    p->ways = ways;
}

static __attribute__((noinline)) void lru_renumber(struct lru *p)
{
    uint32_t *stamps = arena_at(uint32_t, p->stamps);
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

static void lru_touch(struct part *self, uint32_t set, uint32_t way)
{
    struct lru *p = (struct lru *)(void *)self;
    if (engine_unlikely(p->clock == UINT32_MAX))
        lru_renumber(p);
    arena_at(uint32_t, p->stamps)[set * p->ways + way] = ++p->clock;
}

static uint32_t lru_victim(struct part *self, uint32_t set, uint64_t candidates)
{
    const struct lru *p = (const struct lru *)(const void *)self;
    const uint32_t *stamps = arena_at(uint32_t, p->stamps) + (size_t)set * p->ways;
    uint32_t best = (uint32_t)__builtin_ctzll(candidates);
    for (uint64_t rest = candidates & (candidates - 1); rest; rest &= rest - 1) {
        uint32_t way = (uint32_t)__builtin_ctzll(rest);
        if (stamps[way] < stamps[best])
            best = way;
    }
    return best;
}

static const struct replacement_policy_ops lru_ops = {
    .setup = lru_setup,
    .touch = lru_touch,
    .fill = lru_touch,
    .victim = lru_victim,
};

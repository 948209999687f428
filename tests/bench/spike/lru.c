/* Least recently used, exactly: for each set a stack of way numbers in the nibbles of a word, the
 * youngest in nibble 0. So up to 16 ways; touching is a search for a nibble and a rotation of those
 * below it. */
#include "lru.gen.h"

struct lru {
    struct lru_io io;
    uint32_t ways;
    uint32_t stacks; /* arena: uint64_t a set */
};

static void lru_init(struct lru *l)
{
    l->ways = 0;
}

static void lru_prepare(struct part *self, uint32_t sets, uint32_t ways)
{
    struct lru *l = (struct lru *)self;
    l->ways = ways;
    l->stacks = arena_allocate(sets * sizeof(uint64_t));
    for (uint32_t i = 0; i < sets; i++)
        arena_at(uint64_t, l->stacks)[i] = 0xfedcba9876543210u;
}

static void lru_touch(struct part *self, uint32_t set, uint32_t way)
{
    struct lru *l = (struct lru *)self;
    uint64_t *stack = arena_at(uint64_t, l->stacks) + set;
    uint64_t s = *stack;
    uint64_t differs = s ^ way * 0x1111111111111111u;
    /* The lowest zero nibble of `differs` is where the way stands; borrows only spoil what is above
     * it. */
    uint64_t zero = (differs - 0x1111111111111111u) & ~differs & 0x8888888888888888u;
    unsigned shift = (unsigned)__builtin_ctzll(zero) - 3;
    uint64_t younger = s & (((uint64_t)1 << shift) - 1);
    uint64_t older = shift == 60 ? 0 : s >> (shift + 4) << (shift + 4);
    *stack = older | younger << 4 | way;
}

static uint32_t lru_victim(struct part *self, uint32_t set)
{
    struct lru *l = (struct lru *)self;
    return arena_at(uint64_t, l->stacks)[set] >> 4 * (l->ways - 1) & 15;
}

static const struct replacement_policy_ops lru_ops = {lru_prepare, lru_touch, lru_victim};

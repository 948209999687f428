/* First in, first out: a line remembers when it came, and the oldest goes. With second_chance a
 * line that was found again is passed over once (F. J. Corbató, "A paging experiment with the
 * Multics system", 1968).
 *
 * Invariant: among the lines of a set that were filled, no two have the same number. Called by the
 * cache. */
#include "fifo.gen.h"

struct fifo {
    struct fifo_io io; /* first: how the part is bound */
    uint64_t fills;    /* lines filled so far, which numbers them */
    uint32_t ways;
    uint32_t came;  /* offset: uint64_t[sets * ways], the number of each line */
    uint32_t found; /* offset: uint64_t[sets], bit w: the line in way w was found again */
};

static struct fifo *fifo_of(struct part *self)
{
    return (struct fifo *)self;
}

static void fifo_setup(struct part *self, uint32_t sets, uint32_t ways)
{
    struct fifo *p = fifo_of(self);
    p->ways = ways;
    p->came = arena_allocate((size_t)sets * ways * sizeof(uint64_t));
    p->found = arena_allocate((size_t)sets * sizeof(uint64_t));
}

static void fifo_touch(struct part *self, uint32_t set, uint32_t way)
{
    arena_at(uint64_t, fifo_of(self)->found)[set] |= UINT64_C(1) << way;
}

static void fifo_fill(struct part *self, uint32_t set, uint32_t way)
{
    struct fifo *p = fifo_of(self);
    arena_at(uint64_t, p->came)[set * p->ways + way] = ++p->fills;
    arena_at(uint64_t, p->found)[set] &= ~(UINT64_C(1) << way);
}

static uint32_t fifo_oldest(const uint64_t *came, uint64_t candidates)
{
    uint32_t best = (uint32_t)__builtin_ctzll(candidates);
    for (uint64_t left = candidates & (candidates - 1); left; left &= left - 1) {
        uint32_t way = (uint32_t)__builtin_ctzll(left);
        if (came[way] < came[best])
            best = way;
    }
    return best;
}

static uint32_t fifo_victim(struct part *self, uint32_t set, uint64_t candidates)
{
    struct fifo *p = fifo_of(self);
    uint64_t *came = arena_at(uint64_t, p->came) + (size_t)set * p->ways;
    uint64_t *found = arena_at(uint64_t, p->found) + set;
    uint32_t way = fifo_oldest(came, candidates);
    while (fifo_params(p)->second_chance && (*found >> way & 1)) {
        *found &= ~(UINT64_C(1) << way); /* to the end of the queue */
        came[way] = ++p->fills;
        way = fifo_oldest(came, candidates);
    }
    return way;
}

static const struct replacement_policy_ops fifo_ops = {
    .setup = fifo_setup, .touch = fifo_touch, .fill = fifo_fill, .victim = fifo_victim};

/* Any block goes: xorshift64 (Marsaglia, Journal of Statistical Software 8(14), 2003), the same in
 * every run. */
#include "random_eviction.gen.h"

#include "components/host/driver/eviction_policy.h"

struct random_eviction {
    struct random_eviction_io io;
    uint64_t state;
};

static void random_eviction_init(struct random_eviction *p)
{
    p->state = random_eviction_params(p)->seed;
}

static uint64_t random_eviction_pick(struct part *self, uint64_t frames)
{
    struct random_eviction *p = (struct random_eviction *)(void *)self;
    p->state ^= p->state << 13;
    p->state ^= p->state >> 7;
    p->state ^= p->state << 17;
    return p->state % frames;
}

static uint64_t random_eviction_block(const struct part *self)
{
    return random_eviction_params((const struct random_eviction *)(const void *)self)->block;
}

static const struct eviction_policy_ops random_eviction_ops = {.block = random_eviction_block,
                                                               .pick = random_eviction_pick};

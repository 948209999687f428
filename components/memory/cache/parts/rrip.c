/* Static re-reference interval prediction with hit priority (Jaleel, Theobald, Steely, Emer, "High
 * Performance Cache Replacement Using Re-Reference Interval Prediction (RRIP)", ISCA 2010,
 * section 4.1). A line carries an M-bit prediction: a hit sets it to 0 (near), a fill to 2^M - 2
 * (long); the victim is the first line at 2^M - 1 (distant), and all lines age until there is one.
 * Lines that cannot be replaced just now age too. */
#include "rrip.gen.h"

#include <string.h>

#include "base/number.h"
#include "components/memory/cache/replacement_policy.h"

struct rrip {
    struct rrip_io io;
    uint32_t predictions_at; /* arena offset: uint8_t [sets][ways] */
    uint32_t ways;
};

static uint8_t rrip_distant(const struct rrip *p)
{
    return (uint8_t)((1u << rrip_params(p)->bits) - 1);
}

static void rrip_setup(struct part *self, uint32_t sets, uint32_t ways)
{
    struct rrip *p = (struct rrip *)(void *)self;
    p->predictions_at = arena_allocate((size_t)sets * ways);
    p->ways = ways;
    memset(arena_at(uint8_t, p->predictions_at), rrip_distant(p), (size_t)sets * ways);
}

static uint8_t *rrip_set(const struct rrip *p, uint32_t set)
{
    return arena_at(uint8_t, p->predictions_at) + (size_t)set * p->ways;
}

static void rrip_touch(struct part *self, uint32_t set, uint32_t way)
{
    rrip_set((struct rrip *)(void *)self, set)[way] = 0;
}

static void rrip_fill(struct part *self, uint32_t set, uint32_t way)
{
    struct rrip *p = (struct rrip *)(void *)self;
    rrip_set(p, set)[way] = (uint8_t)(rrip_distant(p) - 1);
}

static uint32_t rrip_victim(struct part *self, uint32_t set, uint64_t candidates)
{
    struct rrip *p = (struct rrip *)(void *)self;
    uint8_t *predictions = rrip_set(p, set), distant = rrip_distant(p), oldest = 0;
    uint32_t best = 0;
    for (uint64_t rest = candidates, first = 1; rest; rest &= rest - 1, first = 0) {
        uint32_t way = (uint32_t)__builtin_ctzll(rest);
        if (first || predictions[way] > oldest) {
            oldest = predictions[way];
            best = way;
        }
    }
    for (uint32_t w = 0; oldest < distant && w < p->ways; w++) {
        unsigned aged = predictions[w] + (unsigned)(distant - oldest);
        predictions[w] = (uint8_t)min(aged, distant);
    }
    return best;
}

static const struct replacement_policy_ops rrip_ops = {
    .setup = rrip_setup,
    .touch = rrip_touch,
    .fill = rrip_fill,
    .victim = rrip_victim,
};

/* See doorbell_test.heddle. What must hold: every doorbell ends with the last value that was
 * written to it; values of a doorbell only grow; none comes out that was not written; a write comes
 * out after at most two rounds of all doorbells. */
#include "ringer.gen.h"

#include <inttypes.h>

#include "runtime/engine/component_failure.h"
#include "runtime/engine/engine.h"
#include "runtime/observe/hang.h"

enum { MOST = 512 };

struct ringer {
    struct ringer_io io;
    uint64_t sent, next_take;
    uint32_t random;
    uint32_t open; /* doorbells whose last value has not come out */
    uint64_t written[MOST], seen[MOST], since[MOST];
};

static void ringer_init(struct ringer *c)
{
    c->random = 2463534242u;
}

static void ring(struct ringer *c)
{
    c->random ^= c->random << 13;
    c->random ^= c->random >> 17;
    c->random ^= c->random << 5;
    uint32_t slot = c->random % ringer_params(c)->doorbells;
    if (c->written[slot] == c->seen[slot]) {
        c->open++;
        c->since[slot] = ringer_now(c);
    }
    c->written[slot] += 1 + (c->random >> 16) % 3;
    ringer_page_send_ring(c, 0, c->written[slot], (uint16_t)slot);
    c->sent++;
}

static void look(struct ringer *c, const struct queue_doorbell_request *m)
{
    uint32_t slot = m->ring.slot;
    uint64_t round = ringer_params(c)->doorbells * ringer_params(c)->pace;
    if (m->ring.value <= c->seen[slot] || m->ring.value > c->written[slot])
        engine_fail(&c->io.base,
                    "doorbell %u: %" PRIu64 " came out after %" PRIu64
                    ", last written was %" PRIu64,
                    slot, m->ring.value, c->seen[slot], c->written[slot]);
    else if (ringer_now(c) - c->since[slot] > 2 * round + 64)
        engine_fail(&c->io.base, "doorbell %u waited for %" PRIu64 " cycles", slot,
                    ringer_now(c) - c->since[slot]);
    c->seen[slot] = m->ring.value;
    c->since[slot] = ringer_now(c);
    c->open -= c->written[slot] == c->seen[slot];
    c->io.stats.taken++;
}

static bool ringer_tick(struct ringer *c)
{
    const struct queue_doorbell_request *m;
    uint64_t now = ringer_now(c);
    bool progress = false;
    if (now >= c->next_take && (m = ringer_back_peek(c))) {
        look(c, m);
        ringer_back_pop(c);
        c->next_take = now + ringer_params(c)->pace;
        progress = true;
    }
    if (c->sent < ringer_params(c)->rings && ringer_page_can_send(c)) {
        ring(c);
        progress = true;
    }
    if (!progress && now < c->next_take)
        ringer_wake_at(c, c->next_take);
    return progress;
}

static unsigned ringer_outstanding(const struct ringer *c, struct hang_report *report)
{
    if (c->open && report)
        hang_note(report, "%u doorbells have not come out", c->open);
    return c->open;
}

/* Network switch: a message that has arrived from its link stays `latency` cycles before it can
 * leave by another. See interconnect.c.
 *
 * With `bubble` it is a stop of a ring: what comes from another such stop goes on to the next when
 * there is one place, what enters the ring needs two. Only this stop sends into the place that it
 * looks at, so every part of the ring keeps a free place, and a ring never stands still with all
 * places taken (bubble flow control: Carrion, Beivide, Gregorio, Vallejo, HiPC 1997). The same
 * holds for replies, which go around the other way. */
#include "switch.gen.h"

#include <string.h>

#include "components/network/interconnect/interconnect.h"
#include "components/sampling/warmup.h"

struct switch_ {
    struct switch__io io;
    struct interconnect interconnect;
};

static inline struct interconnect_unit switch_unit(struct switch_ *c)
{
    return (struct interconnect_unit){
        .component = &c->io.base,
        .x = &c->interconnect,
        .requests = &c->io.stats.requests,
        .replies = &c->io.stats.replies,
        .conflicts = &c->io.stats.conflicts,
        .from_count = switch__from_count(c),
        .from_first = c->io.from_first,
        .from_pending = switch__from_first_pending(c),
        .to_count = switch__to_count(c),
        .to_first = c->io.to_first,
        .to_pending = switch__to_first_pending(c),
        .has_bubble = switch__params(c)->bubble,
    };
}

static void switch_touch(struct component *self, const struct warm_access *access)
{
    struct interconnect_unit u = switch_unit((struct switch_ *)(void *)self);
    interconnect_touch(&u, access);
}

static const struct warm_ops switch_warm_ops = {.touch = switch_touch};

/* True if the other end of a ring is a stop like this one. */
static bool is_stop(const struct switch_ *c, uint32_t ring)
{
    const struct platform_table *table = engine_base.platform;
    if (ring == RING_NONE)
        return false;
    uint32_t leaf = table->rings[ring].sender == c->io.base.leaf ? table->rings[ring].receiver
                                                                 : table->rings[ring].sender;
    const struct platform_instance *other = &table->instances[leaf];
    return !strcmp(table->strings + other->type, "switch")
           && platform_parameter(other, "bubble", false);
}

static void mark_stops(const struct switch_ *c, uint32_t first, uint32_t count, uint32_t in,
                       uint32_t out)
{
    for (uint32_t i = 0; i < count; i++)
        if (is_stop(c, engine_base.port_rings[2 * (first + i)])) {
            interconnect_bits(in)[i / 64] |= (uint64_t)1 << (i % 64);
            interconnect_bits(out)[i / 64] |= (uint64_t)1 << (i % 64);
        }
}

static void switch__init(struct switch_ *c)
{
    struct interconnect_unit u = switch_unit(c);
    struct interconnect_side *side = c->interconnect.side;
    warm_register(&c->io.base, &switch_warm_ops);
    interconnect_setup(&u, switch__params(c)->latency, false);
    if (!u.has_bubble || !side[0].sources)
        return;
    mark_stops(c, u.from_first, side[0].sources, side[0].bubble_in_at, side[1].bubble_out_at);
    mark_stops(c, u.to_first, side[0].targets, side[1].bubble_in_at, side[0].bubble_out_at);
}

static bool switch__tick(struct switch_ *c)
{
    struct interconnect_unit u = switch_unit(c);
    return interconnect_move(&u);
}

static unsigned switch__outstanding(const struct switch_ *c, struct hang_report *report)
{
    return interconnect_unfinished(&c->interconnect, report);
}

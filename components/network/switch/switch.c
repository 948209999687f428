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

#define INTERCONNECT(name)  switch__##name
#define INTERCONNECT_TYPE   switch_
#define INTERCONNECT_BUBBLE 1
#include "components/network/interconnect/interconnect.h"

struct switch_ {
    struct switch__io io;
    struct interconnect interconnect;
};

#include "components/network/interconnect/interconnect.c"
#include "components/network/interconnect/interconnect_warm.h"

/* Is the other end of a ring a stop like this one? */
static bool is_stop(const struct switch_ *c, uint32_t ring)
{
    const struct platform_table *table = engine_base.platform;
    if (ring == RING_NONE)
        return false;
    uint32_t leaf = table->rings[ring].sender == c->io.base.leaf ? table->rings[ring].receiver
                                                                 : table->rings[ring].sender;
    const struct platform_instance *other = &table->instances[leaf];
    if (strcmp(table->strings + other->type, "switch") != 0)
        return false;
    for (uint32_t i = 0; i < other->param_count; i++)
        if (!strcmp(table->strings + table->param_names[other->params + i], "bubble"))
            return table->params[other->params + i] != 0;
    return false;
}

static void note_stops(const struct switch_ *c, uint32_t first, uint32_t count, uint32_t in,
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
    struct interconnect_side *side = c->interconnect.side;
    switch__setup(c, (uint32_t)switch__params(c)->latency, false, 0, 0);
    c->interconnect.bubble = switch__params(c)->bubble;
    warm_register(&c->io.base, &switch__warm_ops);
    if (!c->interconnect.bubble || !side[0].sources)
        return;
    note_stops(c, c->io.from_first, side[0].sources, side[0].ring_in, side[1].ring_out);
    note_stops(c, c->io.to_first, side[0].targets, side[1].ring_in, side[0].ring_out);
}

static bool switch__tick(struct switch_ *c)
{
    return switch__move(c);
}

static unsigned switch__outstanding(const struct switch_ *c, struct hang_report *report)
{
    return switch__unfinished(c, report);
}

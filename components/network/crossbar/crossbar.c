/* Every input to every output. See interconnect.h for how; here is only what makes it a crossbar: a
 * width, and a latency of the whole way, legs on either side included. */
#include "crossbar.gen.h"

#include "components/network/interconnect/interconnect.h"
#include "components/protocols/sector_mem/sector_map.h"
#include "components/sampling/warmup.h"

struct crossbar {
    struct crossbar_io io;
    struct interconnect interconnect;
    struct sector_hash hash;
};

/* The size of the halves that targets are divided into; 0: none. */
static inline uint64_t crossbar_half(const struct crossbar *c)
{
    const struct crossbar_params *k = crossbar_params(c);
    switch (k->halves) {
    case CROSSBAR_HALVES_BELOW:
        return k->interleave / 2;
    case CROSSBAR_HALVES_ABOVE:
        return k->interleave * (crossbar_to_count(c) / 2);
    default:
        return 0;
    }
}

static inline struct interconnect_unit crossbar_unit(struct crossbar *c)
{
    const struct crossbar_params *k = crossbar_params(c);
    return (struct interconnect_unit){
        .component = &c->io.base,
        .x = &c->interconnect,
        .requests = &c->io.stats.requests,
        .replies = &c->io.stats.replies,
        .conflicts = &c->io.stats.conflicts,
        .from_count = crossbar_from_count(c),
        .from_first = c->io.from_first,
        .from_pending = crossbar_from_first_pending(c),
        .to_count = crossbar_to_count(c),
        .to_first = c->io.to_first,
        .to_pending = crossbar_to_first_pending(c),
        .request_width = k->request_width,
        .reply_width = k->width,
        .header = k->header,
        .carried = k->carries == CROSSBAR_CARRIES_SECTORS ? sector_carried_bytes : NULL,
        .keeps_sources_busy = k->busy_sources,
        .hash = k->hash != CROSSBAR_HASH_NONE ? &c->hash : NULL,
        .chunk = k->interleave,
        .half = crossbar_half(c),
    };
}

static void crossbar_touch(struct component *self, const struct warm_access *access)
{
    struct interconnect_unit u = crossbar_unit((struct crossbar *)(void *)self);
    interconnect_touch(&u, access);
}

static const struct warm_ops crossbar_warm_ops = {.touch = crossbar_touch};

static void crossbar_init(struct crossbar *c)
{
    const struct crossbar_params *k = crossbar_params(c);
    struct interconnect_unit u = crossbar_unit(c);
    warm_register(&c->io.base, &crossbar_warm_ops);
    interconnect_setup(&u, k->latency, true);
    if (u.hash)
        sector_hash_init(&c->hash, k->hash - CROSSBAR_HASH_PLAIN, crossbar_to_count(c));
}

static bool crossbar_tick(struct crossbar *c)
{
    struct interconnect_unit u = crossbar_unit(c);
    return interconnect_move(&u);
}

static unsigned crossbar_outstanding(const struct crossbar *c, struct hang_report *report)
{
    return interconnect_unfinished(&c->interconnect, report);
}

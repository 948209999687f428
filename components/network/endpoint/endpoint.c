/* Two directions, each a medium with channels: `forward` has the requests of from/to and the
 * answers of back_from/back_to, `backward` the others. A medium that is free takes a message of the
 * next channel in turn that has one to show and room where it leads, and is taken for as many
 * cycles as the message has widths.
 *
 * A channel has one sender and one receiver, so tags pass unchanged and nothing is kept between
 * request and answer. Invariant: a channel waits for nothing but its own receiver and its turn, and
 * turns come round in as many messages as there are channels; so no channel can stop another. */
#include "endpoint.gen.h"

#include "runtime/observe/hang.h"
#include "runtime/link/port.h"
#include "components/sampling/warmup.h"

struct endpoint_channel {
    uint32_t in, out; /* rings; RING_NONE: it has no answers */
};

struct endpoint_way {
    uint32_t channels; /* arena: struct endpoint_channel */
    uint32_t count;
    uint32_t turn;
    uint64_t free_at; /* cycle */
};

struct endpoint {
    struct endpoint_io io;
    struct endpoint_way way[2]; /* forward, backward */
};

static void add_channel(struct endpoint_way *way, uint32_t in, uint32_t out, uint32_t latency)
{
    if (in == RING_NONE || out == RING_NONE)
        return;
    arena_at(struct endpoint_channel, way->channels)[way->count++] =
        (struct endpoint_channel){in, out};
    ring_add_delay(in, latency);
}

/* `pairs` connections that come in at port rings `first` and leave at `second`. */
static void add_pairs(struct endpoint *c, uint32_t pairs, uint32_t first, uint32_t second,
                      bool reversed)
{
    const uint32_t *from = engine_base.port_rings + 2 * first;
    const uint32_t *to = engine_base.port_rings + 2 * second;
    uint32_t latency = (uint32_t)endpoint_params(c)->latency;
    for (uint32_t i = 0; i < pairs; i++) {
        add_channel(&c->way[reversed], from[2 * i], to[2 * i], latency);
        add_channel(&c->way[!reversed], to[2 * i + 1], from[2 * i + 1], latency);
    }
}

/* The channel that a ring of requests comes in by, to the ring that it leaves by. */
static uint32_t endpoint_through(const struct component *self, uint32_t ring)
{
    const struct endpoint *c = (const struct endpoint *)(const void *)self;
    uint32_t bit = engine_base.platform->rings[ring].pending;
    uint32_t forward = endpoint_from_first_pending(c), back = endpoint_back_from_first_pending(c);
    bool is_back =
        endpoint_back_from_count(c) && bit >= back && bit < back + endpoint_back_from_count(c);
    uint32_t first = is_back ? c->io.back_to_first : c->io.to_first;
    return engine_base.port_rings[2 * (first + bit - (is_back ? back : forward))];
}

static const struct warm_ops endpoint_warm_ops = {.through = endpoint_through};

static void endpoint_init(struct endpoint *c)
{
    uint32_t most = endpoint_from_count(c) + endpoint_back_from_count(c);
    for (int i = 0; i < 2; i++)
        c->way[i].channels = arena_allocate(most * sizeof(struct endpoint_channel));
    add_pairs(c, endpoint_from_count(c), c->io.from_first, c->io.to_first, false);
    add_pairs(c, endpoint_back_from_count(c), c->io.back_from_first, c->io.back_to_first, true);
    warm_register(&c->io.base, &endpoint_warm_ops);
}

/* Passes the oldest message of a channel on; returns its bytes, or 0 when there is none that can
 * go. */
static uint32_t pass(const struct endpoint_channel *channel, uint64_t limit)
{
    struct ring *in = ring_at(channel->in), *out = ring_at(channel->out);
    const struct message *m = ring_oldest(in, limit);
    if (!m || !ring_has_room(out, limit))
        return 0;
    const struct platform_message *messages = port_messages(channel->out);
    uint32_t bytes = messages[message_kind(m)].wire_bytes;
    port_copy(out, limit, messages, m, ring_payload(in->head), m->tag);
    ring_drop(in, limit);
    return bytes;
}

static bool move(struct endpoint *c, bool backward)
{
    struct endpoint_way *way = &c->way[backward];
    uint64_t now = component_tick_now(&c->io.base);
    const struct endpoint_channel *channels = arena_at(struct endpoint_channel, way->channels);
    if (now < way->free_at) {
        endpoint_wake_at(c, way->free_at);
        return false;
    }
    for (uint32_t i = 0; i < way->count; i++) {
        uint32_t index = way->turn + i < way->count ? way->turn + i : way->turn + i - way->count;
        uint32_t bytes = pass(&channels[index], c->io.base.limit);
        if (!bytes)
            continue;
        uint64_t width = (uint64_t)endpoint_params(c)->width;
        uint64_t cycles = (bytes + width - 1) / width;
        way->turn = index + 1 == way->count ? 0 : index + 1;
        way->free_at = now + cycles;
        *(backward ? &c->io.stats.backward_messages : &c->io.stats.forward_messages) += 1;
        *(backward ? &c->io.stats.backward_bytes : &c->io.stats.forward_bytes) += bytes;
        *(backward ? &c->io.stats.backward_busy : &c->io.stats.forward_busy) += cycles;
        return true;
    }
    return false;
}

static bool endpoint_tick(struct endpoint *c)
{
    bool forward = move(c, false);
    return move(c, true) || forward;
}

/* What waits stands in the rings, which are reported by themselves. */
static unsigned endpoint_outstanding(const struct endpoint *c, struct hang_report *report)
{
    (void)c;
    (void)report;
    return 0;
}

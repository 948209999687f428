/* See wire.h. Channels of one half stand side by side, in order of ring numbers; each has a circle
 * of what waits, as long as its ring. A channel's circle belongs to the shard of its sender while
 * shards run, and everything else to whoever settles.
 *
 * Invariant between steps: a half decides at `decides_ps`, and nothing that waits in it was granted
 * later than it could be. */
#include "wire.h"

#include "runtime/engine/bug.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/platform_table.h"
#include "runtime/engine/shard.h"
#include "ring.h"

struct waiting {
    uint64_t time_ps;
    uint32_t slot;
    uint32_t bytes;
};

struct channel {
    _Alignas(64) uint32_t items; /* arena: struct waiting */
    uint32_t size;
    uint32_t head;
    uint32_t count;
    uint32_t half; /* index in halves */
    struct wire_channel_use use;
};

struct wire_half {
    uint32_t link;
    uint32_t half;
    uint32_t first; /* channel */
    uint32_t count; /* channels */
    uint32_t turn;  /* channel, from `first` on, that is asked first */
    uint32_t shard; /* of the senders */
    bool mixed;     /* they are in several shards */
};

static struct channel *channels;
static struct wire_half *halves; /* in order of shards, those of several shards last */
static uint32_t *channel_of;     /* 1 + channel, by ring; 0: crosses no wire */
static uint32_t ring_count;
static uint32_t half_count;
static uint32_t mixed_first;                     /* half */
static uint32_t shard_first[ENGINE_MAX_DOMAINS]; /* half */
static uint64_t mixed_next = ENGINE_NEVER;

/* ---- deciding ---- */

static const struct waiting *oldest(const struct channel *c)
{
    return &arena_at(struct waiting, c->items)[c->head];
}

static void grant(struct channel *c, uint64_t free_ps, uint64_t decided_ps)
{
    struct waiting w = *oldest(c);
    c->head = c->head + 1 == c->size ? 0 : c->head + 1;
    c->count--;
    c->use.messages++;
    c->use.bytes += w.bytes;
    c->use.waited_ps += w.time_ps < free_ps ? free_ps - w.time_ps : 0;
    ring_grant(c->use.ring, w.slot, w.time_ps, w.bytes, decided_ps);
}

/* When the half decides next; ENGINE_NEVER: nothing waits. */
static uint64_t decides_ps(const struct wire_half *h, uint64_t free_ps)
{
    uint64_t first = ENGINE_NEVER;
    for (uint32_t i = h->first; i < h->first + h->count; i++) {
        const struct channel *c = &channels[i];
        if (c->count && oldest(c)->time_ps < first)
            first = oldest(c)->time_ps;
    }
    return first == ENGINE_NEVER || first > free_ps ? first : free_ps;
}

/* The channel whose turn it is among those with something sent by `time_ps`. */
static uint32_t choose(const struct wire_half *h, uint64_t time_ps)
{
    uint32_t index = h->turn;
    for (uint32_t i = 0; i < h->count; i++) {
        const struct channel *c = &channels[h->first + index];
        if (c->count && oldest(c)->time_ps <= time_ps)
            return index;
        index = index + 1 == h->count ? 0 : index + 1;
    }
    bug("a wire that decides has nothing to send");
}

/* Decides for all times before `end_ps`; returns the time of the next decision. */
static uint64_t settle_half(struct wire_half *h, uint64_t end_ps)
{
    for (;;) {
        uint64_t free_ps = ring_link_free_ps(h->link, h->half);
        uint64_t time_ps = decides_ps(h, free_ps);
        if (time_ps >= end_ps)
            return time_ps;
        uint32_t index = choose(h, time_ps);
        h->turn = index + 1 == h->count ? 0 : index + 1;
        grant(&channels[h->first + index], free_ps, time_ps);
    }
}

static uint64_t settle_halves(uint32_t first, uint32_t end, uint64_t end_ps)
{
    uint64_t next = ENGINE_NEVER;
    for (uint32_t i = first; i < end; i++) {
        uint64_t time_ps = settle_half(&halves[i], end_ps);
        next = time_ps < next ? time_ps : next;
    }
    return next;
}

void wire_settle(uint32_t shard)
{
    struct shard *l = &shards[shard];
    uint32_t end = shard + 1 < engine.shard_count ? shard_first[shard + 1] : mixed_first;
    if (shard_first[shard] == end)
        return;
    l->wire_ps = settle_halves(shard_first[shard], end, l->now_ps + 1);
    l->step_end |= l->wire_ps != ENGINE_NEVER;
}

void wire_settle_mixed(uint64_t end_ps)
{
    if (mixed_first == half_count)
        return;
    mixed_next = settle_halves(mixed_first, half_count, end_ps);
    for (uint32_t i = 0; i < engine.shard_count; i++)
        shard_plan(i);
}

uint64_t wire_mixed_next(void)
{
    return mixed_next;
}

void wire_find(void)
{
    for (uint32_t i = 0; i < engine.shard_count; i++)
        shards[i].wire_ps = ENGINE_NEVER;
    mixed_next = ENGINE_NEVER;
    for (uint32_t i = 0; i < half_count; i++) {
        const struct wire_half *h = &halves[i];
        uint64_t time_ps = decides_ps(h, ring_link_free_ps(h->link, h->half));
        uint64_t *next = h->mixed ? &mixed_next : &shards[h->shard].wire_ps;
        *next = time_ps < *next ? time_ps : *next;
        if (!h->mixed && time_ps != ENGINE_NEVER)
            shards[h->shard].step_end = true;
    }
}

void wire_queue(uint32_t ring, uint32_t slot, uint64_t now_ps, uint32_t bytes)
{
    struct channel *c = &channels[channel_of[ring] - 1];
    const struct wire_half *h = &halves[c->half];
    if (c->count == c->size)
        bug("ring %u: more messages wait for a wire than it has slots", ring);
    uint32_t at = c->head + c->count;
    at -= at >= c->size ? c->size : 0;
    arena_at(struct waiting, c->items)[at] = (struct waiting){now_ps, slot, bytes};
    c->count++;
    if (h->mixed)
        window_ask_end();
    else
        shards[h->shard].step_end = true;
}

/* ---- start ---- */

static uint32_t shard_of(uint32_t ring)
{
    return ring_sender_domain(ring_at(ring)) / engine.clock_count;
}

static bool takes(const struct platform_ring *r, uint32_t link, uint32_t half)
{
    return r->link == link + 1 && (r->is_reply ^ r->reversed) == half;
}

static void give_room(struct channel *c)
{
    const struct ring *r = ring_at(c->use.ring);
    c->size = (r->end - r->first) / r->step;
    c->items = arena_allocate(c->size * sizeof(struct waiting));
}

void wire_deepen(uint32_t number)
{
    if (number < ring_count && channel_of[number])
        give_room(&channels[channel_of[number] - 1]);
}

static void open_half(const struct platform_table *table, struct wire_half *h, uint32_t *used)
{
    h->first = *used;
    for (uint32_t i = 0; i < table->ring_count; i++) {
        if (!takes(&table->rings[i], h->link, h->half))
            continue;
        struct channel *c = &channels[*used];
        c->use.ring = i;
        c->half = (uint32_t)(h - halves);
        give_room(c);
        channel_of[i] = ++*used;
    }
    h->count = *used - h->first;
}

/* `mixed` or all senders in `shard`? */
static bool belongs(const struct platform_table *table, uint32_t link, uint32_t half,
                    uint32_t shard, bool mixed)
{
    uint32_t found = UINT32_MAX;
    bool several = false;
    for (uint32_t i = 0; i < table->ring_count; i++) {
        if (!takes(&table->rings[i], link, half))
            continue;
        several |= found != UINT32_MAX && found != shard_of(i);
        found = shard_of(i);
    }
    return found != UINT32_MAX && several == mixed && (mixed || found == shard);
}

static void open_halves(const struct platform_table *table, uint32_t shard, bool mixed,
                        uint32_t *used)
{
    for (uint32_t i = 0; i < 2 * table->link_count; i++) {
        if (table->links[i / 2].shared != LINK_WIRE || !belongs(table, i / 2, i % 2, shard, mixed))
            continue;
        struct wire_half *h = &halves[half_count++];
        h->link = i / 2;
        h->half = i % 2;
        h->shard = shard;
        h->mixed = mixed;
        open_half(table, h, used);
    }
}

void wire_open(const struct platform_table *table)
{
    uint32_t rings = 0, used = 0;
    ring_count = table->ring_count;
    half_count = 0;
    mixed_next = ENGINE_NEVER;
    for (uint32_t i = 0; i < table->ring_count; i++)
        rings += table->rings[i].link && table->links[table->rings[i].link - 1].shared == LINK_WIRE;
    channels = arena_at(struct channel, arena_allocate(rings * sizeof *channels));
    halves = arena_at(struct wire_half, arena_allocate(rings * sizeof *halves));
    channel_of = arena_at(uint32_t, arena_allocate(ring_count * sizeof *channel_of));
    for (uint32_t shard = 0; shard < engine.shard_count; shard++) {
        shard_first[shard] = half_count;
        if (rings)
            open_halves(table, shard, false, &used);
    }
    mixed_first = half_count;
    if (rings)
        open_halves(table, 0, true, &used);
}

uint32_t wire_channel_count(uint32_t link, unsigned half)
{
    for (uint32_t i = 0; i < half_count; i++)
        if (halves[i].link == link && halves[i].half == half)
            return halves[i].count;
    return 0;
}

const struct wire_channel_use *wire_channel(uint32_t link, unsigned half, uint32_t index)
{
    for (uint32_t i = 0; i < half_count; i++)
        if (halves[i].link == link && halves[i].half == half)
            return &channels[halves[i].first + index].use;
    bug("link %u has no channels", link);
}

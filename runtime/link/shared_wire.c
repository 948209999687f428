/* Wires that several rings share. Channels of one half are side by side, in order of ring numbers;
 * each has a circle of what waits, as long as its ring. A channel's circle belongs to the shard of
 * its sender while shards run, and everything else to the thread that settles.
 *
 * Invariant between steps: a half decides at `decides_ps`, and nothing that waits in it was granted
 * later than it could be. A step looks only at halves in which something waits. */
#include "shared_wire.h"

#include "base/number.h"
#include "runtime/engine/arena.h"
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
    _Alignas(64) uint32_t items_at; /* arena: struct waiting */
    uint32_t size;
    uint32_t head;
    uint32_t count;
    uint32_t half; /* index in halves */
    struct shared_wire_channel_use use;
};

struct shared_wire_half {
    uint32_t link;
    uint32_t half;
    uint32_t first;   /* channel */
    uint32_t count;   /* channels */
    uint32_t turn;    /* channel, from `first` on, that is asked first */
    uint32_t shard;   /* the senders' shard */
    bool is_mixed;    /* they are in several shards */
    uint64_t next_ps; /* when it decides next, if nothing is queued before; 0: not known */
};

static struct channel *channels;
static struct shared_wire_half *halves; /* in order of shards, those of several shards last */
static uint32_t *channel_of;            /* 1 + channel, by ring; 0: crosses no wire */
static uint32_t *half_of;               /* 1 + half, by 2 * link + its half; 0: no wire */
static uint32_t ring_count;
static uint32_t half_count;
static uint32_t mixed_first;                     /* half */
static uint32_t shard_first[ENGINE_DOMAINS_MAX]; /* half */
static uint64_t mixed_next = ENGINE_NEVER;
/* Bitmaps of halves in which something waits: of each shard, the mixed ones last. Apart from each
 * other, since shards run at the same time. */
static uint64_t *waits[ENGINE_DOMAINS_MAX + 1];

/* ---- deciding ---- */

static const struct waiting *oldest(const struct channel *c)
{
    return &arena_at(struct waiting, c->items_at)[c->head];
}

static void grant(struct channel *c, uint64_t free_ps, uint64_t decided_ps)
{
    struct waiting w = *oldest(c);
    c->head = c->head + 1 == c->size ? 0 : c->head + 1;
    c->count--;
    c->use.messages++;
    c->use.bytes += w.bytes;
    c->use.waited_ps += w.time_ps < free_ps ? free_ps - w.time_ps : 0;
    ring_grant(&c->use, w.slot, w.time_ps, w.bytes, decided_ps);
}

/* The time of the half's next decision; ENGINE_NEVER: nothing waits. */
static uint64_t decides_ps(const struct shared_wire_half *h, uint64_t free_ps)
{
    uint64_t first = ENGINE_NEVER;
    for (uint32_t i = h->first; i < h->first + h->count; i++) {
        const struct channel *c = &channels[i];
        if (c->count && oldest(c)->time_ps < first)
            first = oldest(c)->time_ps;
    }
    return max(first, free_ps);
}

/* The channel whose turn it is among those with something sent by `time_ps`. */
static uint32_t choose(const struct shared_wire_half *h, uint64_t time_ps)
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
static uint64_t settle_half(struct shared_wire_half *h, uint64_t end_ps)
{
    while (h->next_ps < end_ps) {
        uint64_t free_ps = ring_link_free_ps(h->link, h->half);
        uint64_t time_ps = decides_ps(h, free_ps);
        h->next_ps = time_ps;
        if (time_ps >= end_ps)
            break;
        uint32_t index = choose(h, time_ps);
        h->turn = index + 1 == h->count ? 0 : index + 1;
        grant(&channels[h->first + index], free_ps, time_ps);
    }
    return h->next_ps;
}

/* The halves `first` .. end - 1, of which bits say in which something waits. */
static uint64_t settle_halves(uint64_t *bits, uint32_t first, uint32_t end, uint64_t end_ps)
{
    uint64_t next = ENGINE_NEVER;
    for (uint32_t word = 0; word <= (end - first - 1) / 64; word++) {
        for (uint64_t left = bits[word]; left; left &= left - 1) {
            uint32_t i = first + 64 * word + (uint32_t)__builtin_ctzll(left);
            uint64_t time_ps = settle_half(&halves[i], end_ps);
            next = min(time_ps, next);
            if (time_ps == ENGINE_NEVER)
                bits[word] &= ~(left & -left);
        }
    }
    return next;
}

void shared_wire_settle(uint32_t shard)
{
    struct shard *s = &shards[shard];
    uint32_t end = shard + 1 < engine.shard_count ? shard_first[shard + 1] : mixed_first;
    if (shard_first[shard] == end)
        return;
    s->wire_ps = settle_halves(waits[shard], shard_first[shard], end, s->now_ps + 1);
    s->must_settle |= s->wire_ps != ENGINE_NEVER;
}

void shared_wire_settle_mixed(uint64_t end_ps)
{
    if (mixed_first == half_count)
        return;
    mixed_next = settle_halves(waits[engine.shard_count], mixed_first, half_count, end_ps);
    for (uint32_t i = 0; i < engine.shard_count; i++)
        shard_plan(i);
}

uint64_t shared_wire_mixed_next(void)
{
    return mixed_next;
}

/* Something waits in the half now. Shards that run at the same time note mixed halves. */
static void note_waiting(struct shared_wire_half *h)
{
    uint32_t first = h->is_mixed ? mixed_first : shard_first[h->shard];
    uint32_t index = (uint32_t)(h - halves) - first;
    uint64_t *word = &waits[h->is_mixed ? engine.shard_count : h->shard][index / 64];
    uint64_t bit = (uint64_t)1 << index % 64;
    if (h->is_mixed) {
        __atomic_fetch_or(word, bit, __ATOMIC_RELAXED);
        __atomic_store_n(&h->next_ps, 0, __ATOMIC_RELAXED);
    } else {
        *word |= bit;
        h->next_ps = 0;
    }
}

void shared_wire_find(void)
{
    for (uint32_t i = 0; i < engine.shard_count; i++)
        shards[i].wire_ps = ENGINE_NEVER;
    mixed_next = ENGINE_NEVER;
    for (uint32_t i = 0; i < half_count; i++) {
        struct shared_wire_half *h = &halves[i];
        uint64_t time_ps = decides_ps(h, ring_link_free_ps(h->link, h->half));
        note_waiting(h);
        uint64_t *next = h->is_mixed ? &mixed_next : &shards[h->shard].wire_ps;
        *next = min(time_ps, *next);
        if (!h->is_mixed && time_ps != ENGINE_NEVER)
            shards[h->shard].must_settle = true;
    }
}

void shared_wire_queue(uint32_t ring, uint32_t slot, uint64_t now_ps, uint32_t bytes)
{
    struct channel *c = &channels[channel_of[ring] - 1];
    struct shared_wire_half *h = &halves[c->half];
    if (c->count == c->size)
        bug("ring %u: more messages wait for a wire than it has slots", ring);
    uint32_t index = c->head + c->count;
    index -= index >= c->size ? c->size : 0;
    arena_at(struct waiting, c->items_at)[index] = (struct waiting){now_ps, slot, bytes};
    c->count++;
    note_waiting(h);
    if (h->is_mixed)
        window_ask_end();
    else
        shards[h->shard].must_settle = true;
}

/* ---- start ---- */

static uint32_t shard_of(uint32_t ring)
{
    return ring_sender_domain(ring_at(ring)) / engine.clock_count;
}

/* The rings of each half of a link, at start. A half has the number 2 * link + half. */
struct half_rings {
    uint32_t *first; /* in `rings`; one more than there are halves */
    uint32_t *rings; /* in order of half, then of number */
};

static uint32_t half_number(const struct platform_table *table, uint32_t ring)
{
    const struct platform_ring *r = &table->rings[ring];
    return r->link && table->links[r->link - 1].shared == LINK_WIRE
               ? 2 * (r->link - 1) + (r->is_reply ^ r->is_reversed)
               : UINT32_MAX;
}

static struct half_rings sort_rings_by_half(const struct platform_table *table)
{
    uint32_t count = 2 * table->link_count;
    struct half_rings w = {arena_derive((count + 2) * sizeof *w.first),
                           arena_derive((table->ring_count + 1) * sizeof *w.rings)};
    for (uint32_t i = 0; i < table->ring_count; i++)
        if (half_number(table, i) != UINT32_MAX)
            w.first[half_number(table, i) + 2]++;
    for (uint32_t i = 2; i < count + 2; i++)
        w.first[i] += w.first[i - 1];
    for (uint32_t i = 0; i < table->ring_count; i++)
        if (half_number(table, i) != UINT32_MAX)
            w.rings[w.first[half_number(table, i) + 1]++] = i;
    return w;
}

static void give_room(struct channel *c)
{
    const struct ring *r = ring_at(c->use.ring);
    c->size = (r->end - r->first) / r->step;
    c->items_at = arena_allocate(c->size * sizeof(struct waiting));
}

void shared_wire_deepen(uint32_t number)
{
    if (number < ring_count && channel_of[number])
        give_room(&channels[channel_of[number] - 1]);
}

static void open_half(const struct half_rings *w, uint32_t half, struct shared_wire_half *h,
                      uint32_t *used)
{
    h->first = *used;
    h->count = w->first[half + 1] - w->first[half];
    for (uint32_t k = w->first[half]; k < w->first[half + 1]; k++) {
        struct channel *c = &channels[*used];
        c->use.ring = w->rings[k];
        c->half = (uint32_t)(h - halves);
        give_room(c);
        channel_of[w->rings[k]] = ++*used;
    }
}

/* True if the half has senders, in several shards (`is_mixed`), or all in `shard`. */
static bool half_has_shard(const struct half_rings *w, uint32_t half, uint32_t shard, bool is_mixed)
{
    uint32_t common_shard = UINT32_MAX;
    bool several = false;
    for (uint32_t k = w->first[half]; k < w->first[half + 1]; k++) {
        several |= common_shard != UINT32_MAX && common_shard != shard_of(w->rings[k]);
        common_shard = shard_of(w->rings[k]);
    }
    return common_shard != UINT32_MAX && several == is_mixed && (is_mixed || common_shard == shard);
}

static void open_halves(const struct half_rings *w, uint32_t number_of_halves, uint32_t shard,
                        bool is_mixed, uint32_t *used)
{
    for (uint32_t i = 0; i < number_of_halves; i++) {
        if (!half_has_shard(w, i, shard, is_mixed))
            continue;
        struct shared_wire_half *h = &halves[half_count++];
        h->link = i / 2;
        h->half = i % 2;
        h->shard = shard;
        h->is_mixed = is_mixed;
        half_of[i] = half_count;
        open_half(w, i, h, used);
    }
}

/* On lines of its own. */
static uint64_t *make_bits(uint32_t count)
{
    return arena_at(uint64_t, arena_allocate(divide_up(count, 512) * 64 + 64));
}

void shared_wire_open(const struct platform_table *table)
{
    uint32_t rings = 0, used = 0;
    ring_count = table->ring_count;
    half_count = 0;
    mixed_next = ENGINE_NEVER;
    for (uint32_t i = 0; i < table->ring_count; i++)
        rings += table->rings[i].link && table->links[table->rings[i].link - 1].shared == LINK_WIRE;
    const struct half_rings w = sort_rings_by_half(table);
    channels = arena_at(struct channel, arena_allocate(rings * sizeof *channels));
    halves = arena_at(struct shared_wire_half, arena_allocate(rings * sizeof *halves));
    channel_of = arena_at(uint32_t, arena_allocate(ring_count * sizeof *channel_of));
    half_of = arena_derive((2 * (size_t)table->link_count + 1) * sizeof *half_of);
    for (uint32_t shard = 0; shard < engine.shard_count; shard++) {
        shard_first[shard] = half_count;
        if (rings)
            open_halves(&w, 2 * table->link_count, shard, false, &used);
        waits[shard] = make_bits(half_count - shard_first[shard]);
    }
    mixed_first = half_count;
    if (rings)
        open_halves(&w, 2 * table->link_count, 0, true, &used);
    waits[engine.shard_count] = make_bits(half_count - mixed_first);
}

uint32_t shared_wire_channel_count(uint32_t link, unsigned half)
{
    uint32_t number = half_of[2 * link + half];
    return number ? halves[number - 1].count : 0;
}

const struct shared_wire_channel_use *shared_wire_channel(uint32_t link, unsigned half,
                                                          uint32_t index)
{
    uint32_t number = half_of[2 * link + half];
    if (!number)
        bug("link %u has no channels", link);
    return &channels[halves[number - 1].first + index].use;
}

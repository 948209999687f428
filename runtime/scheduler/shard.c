/* One shard: from time to time, from edge to edge, from unit to unit.
 *
 * A step is one point in time: all clock domains of the shard that have an edge there run it (in
 * order of domain number), then shared wires, which may not depend on the order of ticks, are
 * settled. In an edge, first the wake-ups that are due, `next` and the marks of arriving messages
 * are merged into `active`, then every group with an active bit is walked.
 *
 * Invariant between steps: a component is in `next` or `active`, or it sleeps. A sleeping component
 * has a node in the queue of wake-ups for its earliest known reason, or a mark for each message
 * under way to it, or waits for a message or credit whose sender or receiver will make such a mark.
 *
 * The loop is compiled twice, with and without wide registers (active_words.h). Without them, the
 * simulations of docs/evidence/speed.md take 14 % more host instructions for nbody 256 and 3 % for
 * vectoradd 16384. Without marks, each message in a timing wheel, they take 5 % and 13 % more.
 *
 * Nothing here is shared by shards: plans, wake-ups and bitmap words belong to a domain, and so to
 * a shard. What runs the shards, and when all of it ends, is run.c. */
#include "runtime/engine/shard.h"

#include <stdio.h>
#include <string.h>

#include "base/likely.h"
#include "base/number.h"
#include "base/splitmix64.h"
#include "runtime/engine/arena.h"
#include "runtime/engine/clock.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/instances.h"
#include "runtime/engine/rank.h"
#include "runtime/engine/wake_queue.h"
#include "runtime/link/ring.h"
#include "runtime/link/shared_wire.h"
#include "runtime/observe/stats_log.h"
#include "runtime/state/lookup.h"

#include "active_words.h"
#include "run.h"

#define REPORTED_MAX 8 /* missed wake-ups that are reported */

struct engine engine;
struct engine_bases engine_base;
extern const struct engine_bases engine_constant_base
    __attribute__((alias("engine_base"), visibility("hidden")));
struct shard shards[ENGINE_DOMAINS_MAX];

/* The next edge of a clock domain with something to tick. */
struct domain_plan {
    _Alignas(64) bool is_awake; /* something in active or next */
    bool has_arrivals;          /* not awake: a message is on its way */
    uint64_t next_cycle;        /* cached for sleeping domains: cycle and its time */
    uint64_t next_ps;
};

/* The function and the words by which the active components of a group are ticked. */
struct word_walk {
    uint64_t (*walk)(char *instances, uint64_t *active, const uint64_t *end, uint64_t now);
    char *instances;
    uint32_t first, end; /* the group's words: [first, end) */
};

static const struct engine_group *groups;
static uint32_t *word_groups;        /* by bitmap word: the group it belongs to */
static struct word_walk *word_walks; /* by bitmap word */
static struct wake_queue *wake_queues;
static struct wake_node *wake_nodes;
static uint32_t *wake_heaps[ENGINE_DOMAINS_MAX];
static struct domain_plan plans[ENGINE_DOMAINS_MAX];
/* Bit w % 64 of word w / 64, from w = 64 on: active[w] of the domain has bits. */
static uint64_t *busy[ENGINE_DOMAINS_MAX];
static bool has_wide_words; /* the processor can do what active_words.h has for wide registers */
static uint64_t *frozen;    /* by bitmap word: those that tick no more */
static uint32_t *order;     /* ids of one edge, for orders other than ascending; by first word */
static int tick_order;
static bool ticks_all;
static bool is_arranged; /* one of the two asks for more than a walk */

/* ---- sleeping and waking ---- */

void engine_wake_later(uint32_t id, uint64_t cycle)
{
    if (!engine_is_awake(id))
        wake_queue_set(&wake_queues[engine_base.components[id]->domain], id, cycle);
}

void engine_wake_from_host(uint32_t id)
{
    uint32_t domain = engine_base.components[id]->domain;
    uint64_t cycle = engine_cycle_at(domain, engine.time_ps + 1);
    if (cycle <= engine.domains[domain].cycle)
        cycle = engine.domains[domain].cycle + 1;
    engine_wake_later(id, cycle);
}

/* Earliest future stamp at the heads of the incoming rings, or ENGINE_NEVER. A head that is visible
 * already is no reason: the tick saw it and could do nothing with it. COMPONENT_FAR stays while
 * there is a message at all, since others may be after it. */
static uint64_t earliest_arrival(struct component *c, uint64_t now)
{
    const uint32_t *incoming = engine_base.incoming + c->incoming;
    uint64_t wake = ENGINE_NEVER;
    c->reasons &= ~COMPONENT_FAR;
    for (uint32_t w = 0; w < c->pending_words; w++) {
        uint64_t bits = component_pending(c, w);
        while (bits) {
            const struct ring *r = ring_at(incoming[w * 64 + (unsigned)__builtin_ctzll(bits)]);
            const struct message *m = ring_slot(r->head);
            uint64_t stamp = message_stamp(m);
            uint64_t cycle = message_cycle_of(stamp);
            bits &= bits - 1;
            if (!(stamp & RING_FULL))
                continue;
            c->reasons |= COMPONENT_FAR;
            if (cycle > now && cycle < wake && cycle != RING_UNKNOWN)
                wake = cycle;
        }
    }
    return wake;
}

void engine_arrives_far(uint32_t id, uint64_t cycle)
{
    engine_base.components[id]->reasons |= COMPONENT_FAR;
    if (cycle != RING_UNKNOWN)
        engine_wake_later(id, cycle);
}

static void find_any_reason(struct component *c)
{
    uint64_t now = component_now(c);
    component_begin_wishes(c); /* if there were none */
    uint64_t arrival = c->reasons & COMPONENT_FAR ? earliest_arrival(c, now) : ENGINE_NEVER;
    uint64_t wake = min(arrival, c->wake);
    if (wake <= now + 1)
        engine_wake_next(c->id);
    else if (wake - now < ENGINE_NEAR)
        engine_mark_arrival(engine_mark_of(c->id), c->domain, wake);
    else if (wake != ENGINE_NEVER)
        wake_queue_set(&wake_queues[c->domain], c->id, wake);
}

void engine_find_reason(struct component *c)
{
    uint32_t id = c->id;
    if (!(c->reasons & COMPONENT_ALONE) && !(engine_base.next[id >> 6] >> (id & 63) & 1))
        find_any_reason(c);
}

/* ---- one edge ---- */

static bool tick(uint32_t id, const struct engine_group *g)
{
    struct component *c = engine_base.components[id];
    engine_before_tick(c, ring_limit(component_now(c)));
    return g->unit->tick(c);
}

static uint32_t collect_ids(const struct engine_domain *d, uint32_t *ids)
{
    uint32_t count = 0;
    for (uint32_t w = d->first_word; w < d->first_word + d->word_count; w++) {
        for (uint32_t b = 0; b < 64; b++) {
            uint32_t id = w * 64 + b;
            if (frozen[w] >> b & 1)
                continue;
            if (engine_base.components[id] && (ticks_all || engine_base.active[w] >> b & 1))
                ids[count++] = id;
        }
    }
    return count;
}

static void arrange_ids(struct shard *s, uint32_t *ids, uint32_t count)
{
    if (tick_order == ENGINE_ASCENDING)
        return;
    for (uint32_t i = 0; i < count / 2; i++) {
        uint32_t swapped = ids[i];
        ids[i] = ids[count - 1 - i];
        ids[count - 1 - i] = swapped;
    }
    if (tick_order == ENGINE_DESCENDING)
        return;
    for (uint32_t i = count; i > 1; i--) {
        uint32_t j = (uint32_t)(splitmix64(&s->random_state) % i);
        uint32_t swapped = ids[i - 1];
        ids[i - 1] = ids[j];
        ids[j] = swapped;
    }
}

/* A component that does something although nothing woke it has missed a wake-up, or breaks the rule
 * that a tick without a reason changes nothing. "Progress" one cycle before its wake-up only means
 * that the component wants to stay awake until then. */
static void tick_asleep(uint32_t id, const struct engine_group *g)
{
    static uint32_t reported;
    if (!tick(id, g))
        return;
    struct component *c = engine_base.components[id];
    const struct wake_node *n = &wake_nodes[id];
    uint64_t soon = component_now(c) + 1;
    uint64_t arrivals = engine_base.near[soon % ENGINE_NEAR * engine_base.near_words + (id >> 6)];
    bool is_expected = (engine_base.next[id >> 6] | arrivals) >> (id & 63) & 1;
    engine_wake_next(id);
    if (is_expected || (n->position && n->cycle == soon)
        || __atomic_fetch_add(&reported, 1, __ATOMIC_RELAXED) >= REPORTED_MAX)
        return;
    fprintf(stderr,
            "heddle: tick-all: %s (%s) made progress at cycle %llu while asleep: it missed a "
            "wake-up\n",
            platform_string(engine_base.platform->instances[c->leaf].path), g->unit->name,
            (unsigned long long)component_now(c));
}

static void walk_arranged(uint32_t domain)
{
    const struct engine_domain *d = &engine.domains[domain];
    uint32_t *ids = order + (size_t)d->first_word * 64;
    uint32_t count = collect_ids(d, ids);
    arrange_ids(&shards[domain / engine.clock_count], ids, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t id = ids[i];
        const struct engine_group *g = &groups[word_groups[id / 64]];
        if (!(engine_base.active[id >> 6] >> (id & 63) & 1))
            tick_asleep(id, g);
        else if (!tick(id, g))
            engine_sleep(engine_base.components[id], &engine_base.active[id >> 6],
                         (uint64_t)1 << (id & 63));
    }
}

/* Ticks the active components of all groups that have a word in `bits` (bit i: word from + i), in
 * order of words, which is that of groups. Words before *walked have been ticked. Nothing becomes
 * active meanwhile. Returns 0 when none stays active. */
static inline uint64_t walk_busy(uint64_t now, uint64_t bits, uint32_t from, uint32_t *walked)
{
    uint64_t left = 0;
    for (; bits; bits &= bits - 1) {
        uint32_t w = from + (uint32_t)__builtin_ctzll(bits);
        const struct word_walk *g = &word_walks[w];
        if (w < *walked)
            continue;
        *walked = g->end;
        left |=
            g->walk(g->instances, engine_base.active + g->first, engine_base.active + g->end, now);
    }
    return left;
}

/* Merges the words of a domain from `from` on, at most 64. */
static ALWAYS_INLINE uint64_t merge_words(const struct engine_domain *d, uint64_t *near,
                                          uint32_t from, bool is_wide)
{
    uint64_t *active = engine_base.active + d->first_word + from;
    uint64_t *next = engine_base.next + d->first_word + from;
    uint32_t rest = d->word_count - from, count = min(rest, 64);
    return is_wide ? words_merge_wide(active, next, near, count)
                   : words_merge(active, next, near, count);
}

/* Merges into `active` the components to tick in this cycle: those still active, those woken in the
 * cycle before, and those that a message reaches. Bit w of the result: word w of the domain has
 * some; for words from 64 on, busy[] has the bits. */
static ALWAYS_INLINE uint64_t merge_awake(uint32_t domain, const struct engine_domain *d,
                                          uint64_t cycle, bool is_wide)
{
    uint32_t row = (uint32_t)cycle % ENGINE_NEAR;
    uint64_t *near = NULL, bits;
    if (likely(engine_near_used(domain)[row])) {
        near = engine_base.near + (size_t)row * engine_base.near_words + d->first_word;
        engine_near_used(domain)[row] = 0;
        bits = merge_words(d, near, 0, is_wide);
    } else {
        bits = merge_words(d, NULL, 0, is_wide);
    }
    for (uint32_t w = 64; unlikely(w < d->word_count); w += 64)
        busy[domain][w / 64] = merge_words(d, near ? near + w : NULL, w, is_wide);
    return bits;
}

/* Ticks the active components of a domain in ascending order. `bits`: the result of merge_awake().
 * Returns 0 when none stays active. */
static inline uint64_t walk_ascending(uint32_t domain, const struct engine_domain *d, uint64_t bits)
{
    uint32_t walked = 0;
    uint64_t left = walk_busy(d->cycle, bits, d->first_word, &walked);
    for (uint32_t w = 64; unlikely(w < d->word_count); w += 64)
        left |= walk_busy(d->cycle, busy[domain][w / 64], d->first_word + w, &walked);
    return left;
}

void shard_freeze(const struct component *c)
{
    frozen[c->id >> 6] |= (uint64_t)1 << (c->id & 63);
    shards[component_shard(c)].watch_bits |= SHARD_FROZEN;
}

static void leave_frozen(const struct engine_domain *d)
{
    for (uint32_t w = d->first_word; w < d->first_word + d->word_count; w++)
        engine_base.active[w] &= ~frozen[w];
}

static bool is_awake(const struct engine_domain *d)
{
    return words_any(engine_base.active + d->first_word, d->word_count)
           || words_any(engine_base.next + d->first_word, d->word_count);
}

/* Next cycle in which a message arrives, by the marks. Rows are a circle. */
static inline uint64_t near_next(uint32_t domain)
{
    const uint8_t *used = engine_near_used(domain);
    uint64_t next = engine.domains[domain].cycle + 1, few = 0;
    uint32_t row = (uint32_t)next % ENGINE_NEAR;
    if (likely(row <= ENGINE_NEAR - sizeof few)) /* the row is mostly among the first of them */
        memcpy(&few, used + row, sizeof few);
    if (few)
        return next + (uint32_t)__builtin_ctzll(few) / 8;
    const uint8_t *found = memchr(used + row, 1, ENGINE_NEAR - row);
    if (found)
        return next + (uint64_t)(found - (used + row));
    found = memchr(used, 1, row);
    return found ? next + ENGINE_NEAR - row + (uint64_t)(found - used) : ENGINE_NEVER;
}

static void watch_edge(struct shard *s, const struct engine_domain *d)
{
    if (s->watch_bits & SHARD_FROZEN)
        leave_frozen(d);
    if (s->watch_bits & SHARD_LOGGED)
        for (uint32_t w = d->first_word; w < d->first_word + d->word_count; w++)
            stats_log_ticked[w] |= engine_base.active[w];
}

/* Runs an edge that an observer watches, or in another order than ascending. */
static OUT_OF_LINE bool run_edge_rarely(struct shard *s, uint32_t domain, uint64_t bits)
{
    const struct engine_domain *d = &engine.domains[domain];
    if (s->watch_bits)
        watch_edge(s, d);
    if (is_arranged)
        walk_arranged(domain);
    else
        walk_ascending(domain, d, bits);
    return is_awake(d);
}

/* True if some components are awake after it. */
static ALWAYS_INLINE bool run_edge(struct shard *s, uint32_t domain, uint64_t cycle, bool is_wide)
{
    struct engine_domain *d = &engine.domains[domain];
    struct wake_queue *q = &wake_queues[domain];
    clock_move(d, cycle);
    if (unlikely(wake_queue_next(q) == cycle))
        wake_queue_pop(q, cycle, engine_base.active);
    uint64_t bits = merge_awake(domain, d, cycle, is_wide);
    if (unlikely(s->watch_bits || is_arranged))
        return run_edge_rarely(s, domain, bits);
    if (walk_ascending(domain, d, bits))
        return true;
    const uint64_t *next = engine_base.next + d->first_word;
    return is_wide ? words_any_wide(next, d->word_count) : words_any(next, d->word_count);
}

/* ---- choosing the next step ---- */

/* Plans a domain in which nothing is awake, and that no message reaches in the next cycle. */
static OUT_OF_LINE void plan_sleeping(uint32_t domain)
{
    const struct engine_domain *d = &engine.domains[domain];
    struct domain_plan *p = &plans[domain];
    uint64_t near = near_next(domain);
    p->has_arrivals = near != ENGINE_NEVER;
    uint64_t cycle = wake_queue_next(&wake_queues[domain]);
    cycle = min(near, cycle);
    if (cycle == p->next_cycle)
        return;
    p->next_cycle = cycle;
    p->next_ps = cycle == ENGINE_NEVER ? ENGINE_NEVER
                 : d->remainder == 0   ? d->time_ps + (cycle - d->cycle) * d->period_ps
                                       : engine_time_of(domain, cycle);
}

static ALWAYS_INLINE void plan_domain(uint32_t domain)
{
    const struct engine_domain *d = &engine.domains[domain];
    struct domain_plan *p = &plans[domain];
    p->has_arrivals = engine_near_used(domain)[(d->cycle + 1) % ENGINE_NEAR];
    if (!p->is_awake && !p->has_arrivals && !(ticks_all && rank_has(domain / engine.clock_count))) {
        plan_sleeping(domain);
        return;
    }
    if (unlikely(ticks_all))
        p->has_arrivals |= near_next(domain) != ENGINE_NEVER;
    p->next_cycle = d->cycle + 1;
    p->next_ps = clock_next_ps(d);
}

/* The shard's domains are `clocks`, from `first` on. */
static ALWAYS_INLINE void plan_step(struct shard *s, uint32_t first, uint32_t clocks)
{
    uint64_t next_ps = s->wire_ps;
    bool is_live = next_ps != ENGINE_NEVER;
    for (uint32_t i = 0; i < clocks; i++) {
        const struct domain_plan *p = &plans[first + i];
        plan_domain(first + i);
        is_live |= p->is_awake || p->has_arrivals || wake_queue_has_node(&wake_queues[first + i]);
        next_ps = min(p->next_ps, next_ps);
    }
    s->next_ps = next_ps;
    s->is_live = is_live;
}

void shard_plan(uint32_t shard)
{
    plan_step(&shards[shard], shard * engine.clock_count, engine.clock_count);
}

void shard_find_awake(uint32_t shard)
{
    for (uint32_t i = shard * engine.clock_count; i < (shard + 1) * engine.clock_count; i++) {
        plans[i].is_awake = is_awake(&engine.domains[i]);
        plans[i].next_cycle = 0;
    }
}

void shard_move_clocks(uint32_t shard, uint64_t time_ps)
{
    for (uint32_t i = shard * engine.clock_count; i < (shard + 1) * engine.clock_count; i++) {
        struct engine_domain *d = &engine.domains[i];
        if (clock_next_ps(d) < time_ps) {
            clock_move(d, engine_cycle_at(i, time_ps) - 1);
            plans[i].next_cycle = 0;
        }
    }
}

static OUT_OF_LINE void settle_step(struct shard *s, uint32_t shard)
{
    s->must_settle = false;
    shared_wire_settle(shard);
}

static ALWAYS_INLINE void run_steps(uint32_t shard, bool is_wide)
{
    struct shard *s = &shards[shard];
    const uint32_t clocks = engine.clock_count, first = shard * clocks;
    while (s->next_ps < s->until_ps) {
        uint64_t time = s->next_ps;
        s->now_ps = time;
        for (uint32_t i = 0; i < clocks; i++) {
            struct domain_plan *p = &plans[first + i];
            if (p->next_ps == time)
                p->is_awake = run_edge(s, first + i, p->next_cycle, is_wide);
        }
        if (unlikely(s->must_settle))
            settle_step(s, shard);
        plan_step(s, first, clocks);
        if (unlikely(!s->is_live))
            window_ask_end();
    }
}

static OUT_OF_LINE void run_narrow(uint32_t shard)
{
    run_steps(shard, false);
}

WORDS_WIDE static OUT_OF_LINE void run_wide(uint32_t shard)
{
    run_steps(shard, true);
}

void shard_run(uint32_t shard)
{
    if (likely(has_wide_words))
        run_wide(shard);
    else
        run_narrow(shard);
}

uint64_t engine_instructions(void)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < engine.domain_count; i++)
        sum += engine.domains[i].instructions;
    return sum;
}

/* ---- start ---- */

void engine_set_order(int chosen_order, uint64_t seed, bool must_tick_all)
{
    tick_order = chosen_order;
    ticks_all = must_tick_all;
    is_arranged = must_tick_all || chosen_order != ENGINE_ASCENDING;
    for (uint32_t i = 0; i < engine.shard_count; i++)
        shards[i].random_state = seed + i;
}

void engine_hide_pointers(void)
{
    for (uint32_t i = 0; i < engine.domain_count; i++)
        wake_queue_open(&wake_queues[i], NULL, NULL);
}

void engine_show_pointers(void)
{
    for (uint32_t i = 0; i < engine.domain_count; i++)
        wake_queue_open(&wake_queues[i], wake_nodes, wake_heaps[i]);
}

static void place_group(uint32_t number)
{
    const struct engine_group *g = &groups[number];
    uint32_t first = g->first_id / 64, end = first + divide_up(g->count, 64);
    for (uint32_t w = first; w < end; w++) {
        word_groups[w] = number;
        word_walks[w] = (struct word_walk){g->unit->walk, g->instances, first, end};
    }
}

void engine_open(const struct engine_group *opened_groups, uint32_t group_count, uint32_t id_count)
{
    groups = opened_groups;
    has_wide_words = words_are_wide();
    memset(shards, 0, sizeof shards);
    memset(plans, 0, sizeof plans);
    for (uint32_t i = 0; i < engine.shard_count; i++)
        shards[i].wire_ps = ENGINE_NEVER;
    order = arena_at(uint32_t, arena_allocate(((size_t)id_count + 1) * sizeof *order));
    word_groups =
        arena_at(uint32_t, arena_allocate(((size_t)id_count / 64 + 1) * sizeof *word_groups));
    word_walks = arena_derive(((size_t)id_count / 64 + 1) * sizeof *word_walks);
    for (uint32_t g = 0; g < group_count; g++)
        place_group(g);
    frozen = arena_derive(((size_t)id_count / 64 + 1) * sizeof *frozen);
    wake_queues = arena_at(struct wake_queue,
                           arena_allocate_front(engine.domain_count * sizeof *wake_queues));
    wake_nodes = arena_at(struct wake_node,
                          arena_allocate_front(((size_t)id_count + 1) * sizeof *wake_nodes));
    for (uint32_t i = 0; i < engine.domain_count; i++) {
        uint32_t words = engine.domains[i].word_count, room = words * 64 + 1;
        busy[i] = arena_derive(divide_up((size_t)words, 64) * sizeof *busy[i]);
        wake_heaps[i] = arena_at(uint32_t, arena_allocate(room * sizeof(uint32_t)));
    }
    engine_show_pointers();
    for (uint32_t g = 0; g < group_count; g++) {
        for (uint32_t i = 0; i < groups[g].count; i++)
            if (rank_has(groups[g].domain / engine.clock_count)) /* the others' never tick here */
                engine_wake_next(groups[g].first_id + i);
    }
    run_open();
}

/* The loop: from time to time, from edge to edge, from unit to unit.
 *
 * A step is one point in time: all clock domains that have an edge there run it (in order of domain
 * number), then the settlements that may not depend on the order of ticks are made (shared links,
 * kernel records). In an edge, first `next`, the marks of arriving messages and the wheel's bucket
 * are merged into `active`, then every group with an active bit is walked.
 *
 * Invariant between steps: a component is in `next` or `active`, or it sleeps; whoever sleeps has a
 * node in its wheel for its earliest known reason, or a mark for each message under way to it, or
 * waits for a message or credit whose sender or receiver will make that.
 *
 * The ends: nothing awake and no wake-up but quiet ones = idle or deadlock, by whether anything is
 * outstanding. */
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "bug.h"
#include "hang.h"
#include "ring.h"
#include "setup.h"
#include "wheel.h"

#define DEFAULT_STALL_LIMIT 10000000u
#define CHECK_STEPS         65536u /* steps between looks at stalls and the progress line */
#define PROGRESS_SECONDS    0.25
#define MAX_TOLD            8 /* missed wake-ups that are reported */

struct engine engine;

/* What a domain will do next. */
struct domain_plan {
    bool awake;          /* something in active or next */
    bool arrivals;       /* not awake: a message is on its way */
    uint64_t next_cycle; /* cached for sleeping domains: cycle and its time */
    uint64_t next_ps;
};

static const struct engine_group *groups;
static uint32_t *word_groups; /* by bitmap word: the group it belongs to */
static struct wheel *wheels;
static struct domain_plan plans[ENGINE_MAX_DOMAINS];
static struct engine_limits limits;
static uint32_t *order; /* ids of one edge, for orders other than ascending */
static uint64_t random_state;
static bool running;
static bool step_end;
static uint64_t limit_ps;
static uint64_t instructions;
static uint32_t failed_id;
static char failure[512];

static struct {
    uint32_t steps; /* until the next look */
    uint64_t messages;
    uint64_t instructions;
    uint64_t cycle;   /* of the fastest clock, when something last moved */
    uint32_t fastest; /* domain */
    double shown;     /* progress line: wall clock of the last drawing */
    bool drawn;
} watch;

/* ---- sleeping and waking ---- */

void engine_wake_later(uint32_t id, uint64_t cycle)
{
    if (!engine_is_awake(id))
        wheel_set(&wheels[engine.components[id]->domain], id, cycle, false);
}

void engine_wake_from_host(uint32_t id)
{
    uint32_t domain = engine.components[id]->domain;
    uint64_t cycle = engine_cycle_at(domain, engine.time_ps + 1);
    if (cycle <= engine.domains[domain].cycle)
        cycle = engine.domains[domain].cycle + 1;
    engine_wake_later(id, cycle);
}

/* Earliest future stamp at the heads of the incoming rings, or ENGINE_NEVER. A head that is visible
 * already is no reason: the tick saw it and could do nothing with it. `far` stays while there is a
 * message at all, since others may stand behind it. */
static uint64_t earliest_arrival(struct component *c, uint64_t now)
{
    const uint32_t *incoming = engine.incoming + c->incoming;
    uint64_t wake = ENGINE_NEVER;
    c->far = 0;
    for (uint32_t w = 0; w < c->pending_words; w++) {
        uint64_t bits = engine.pending[c->pending + w];
        while (bits) {
            const struct ring *r = ring_at(incoming[w * 64 + (unsigned)__builtin_ctzll(bits)]);
            uint64_t stamp = ring_slot(r->head)->stamp;
            uint64_t cycle = stamp >> 16;
            bits &= bits - 1;
            if (!(stamp & RING_FULL))
                continue;
            c->far = 1;
            if (cycle > now && cycle < wake && cycle != RING_UNKNOWN)
                wake = cycle;
        }
    }
    return wake;
}

void engine_arrives_far(uint32_t id, uint64_t cycle)
{
    engine.components[id]->far = 1;
    if (cycle != RING_UNKNOWN)
        engine_wake_later(id, cycle);
}

void engine_find_reason(struct component *c)
{
    uint32_t id = c->id;
    uint64_t now = component_now(c);
    uint64_t arrival = c->far ? earliest_arrival(c, now) : ENGINE_NEVER;
    uint64_t wake = arrival < c->wake ? arrival : c->wake;
    if (wake <= now + 1)
        engine_wake_next(id);
    else if (wake != ENGINE_NEVER)
        wheel_set(&wheels[c->domain], id, wake, false);
    if (engine_unlikely(c->periodic < wake))
        wheel_set(&wheels[c->domain], id, c->periodic > now ? c->periodic : now + 1, true);
}

/* ---- one edge ---- */

static bool tick(uint32_t id, const struct engine_group *g)
{
    struct component *c = engine.components[id];
    engine_before_tick(c);
    return g->unit->tick(c);
}

/* splitmix64: any full-period generator would do; the results must not depend on it. */
static uint64_t random_next(void)
{
    uint64_t z = random_state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static uint32_t collect_ids(uint32_t domain)
{
    const struct engine_domain *d = &engine.domains[domain];
    uint32_t count = 0;
    for (uint32_t w = d->first_word; w < d->first_word + d->word_count; w++) {
        for (uint32_t b = 0; b < 64; b++) {
            uint32_t id = w * 64 + b;
            if (engine.components[id] && (limits.tick_all || engine.active[w] >> b & 1))
                order[count++] = id;
        }
    }
    return count;
}

static void arrange_ids(uint32_t count)
{
    if (limits.tick_order == ENGINE_ASCENDING)
        return;
    for (uint32_t i = 0; i < count / 2; i++) {
        uint32_t swapped = order[i];
        order[i] = order[count - 1 - i];
        order[count - 1 - i] = swapped;
    }
    if (limits.tick_order == ENGINE_DESCENDING)
        return;
    for (uint32_t i = count; i > 1; i--) {
        uint32_t j = (uint32_t)(random_next() % i);
        uint32_t swapped = order[i - 1];
        order[i - 1] = order[j];
        order[j] = swapped;
    }
}

/* A component that does something although nothing woke it has missed a wake-up, or breaks the rule
 * that a tick without a reason changes nothing. "Progress" one cycle before its wake-up only says
 * that it wants to stay awake for that. */
static void tick_asleep(uint32_t id, const struct engine_group *g)
{
    static uint32_t told;
    if (!tick(id, g))
        return;
    struct component *c = engine.components[id];
    const struct wheel_node *n = &wheels[c->domain].nodes[id];
    uint64_t soon = component_now(c) + 1;
    const uint64_t *arrivals = engine.near + soon % ENGINE_NEAR * engine.word_count;
    bool expected = (engine.next[id >> 6] | arrivals[id >> 6]) >> (id & 63) & 1;
    engine_wake_next(id);
    if (expected || (n->place != WHEEL_NOWHERE && n->cycle == soon) || ++told > MAX_TOLD)
        return;
    fprintf(stderr,
            "heddle: tick-all: %s (%s) made progress at cycle %llu while asleep: it missed a "
            "wake-up\n",
            platform_string(engine.platform->instances[c->leaf].path), g->unit->name,
            (unsigned long long)component_now(c));
}

static void walk_arranged(uint32_t domain)
{
    uint32_t count = collect_ids(domain);
    arrange_ids(count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t id = order[i];
        const struct engine_group *g = &groups[word_groups[id / 64]];
        if (!(engine.active[id >> 6] >> (id & 63) & 1))
            tick_asleep(id, g);
        else if (!tick(id, g))
            engine_sleep(engine.components[id]);
    }
}

/* Groups stand in the order of their words, so those with something to do are met in order. */
static void walk_ascending(uint32_t domain)
{
    const struct engine_domain *d = &engine.domains[domain];
    uint32_t end = d->first_word + d->word_count;
    for (uint32_t w = d->first_word; w < end; w++) {
        if (!engine.active[w])
            continue;
        const struct engine_group *g = &groups[word_groups[w]];
        g->unit->walk(g->instances, g->first_id, g->count);
        w = (g->first_id + g->count - 1) / 64;
    }
}

/* Those to tick in this cycle: still active, woken in the one before, reached by a message. */
static void merge_awake(uint32_t domain, uint64_t cycle)
{
    const struct engine_domain *d = &engine.domains[domain];
    uint64_t *restrict active = engine.active + d->first_word;
    uint64_t *restrict next = engine.next + d->first_word;
    uint32_t row = (uint32_t)cycle % ENGINE_NEAR;
    uint64_t *used = &engine.near_used[domain][row / 64];
    uint64_t bit = (uint64_t)1 << (row % 64);
    if (*used & bit) {
        uint64_t *restrict near = engine.near + (size_t)row * engine.word_count + d->first_word;
        *used &= ~bit;
        for (uint32_t w = 0; w < d->word_count; w++) {
            active[w] |= next[w] | near[w];
            next[w] = 0;
            near[w] = 0;
        }
        return;
    }
    for (uint32_t w = 0; w < d->word_count; w++) {
        active[w] |= next[w];
        next[w] = 0;
    }
}

static bool is_awake(const struct engine_domain *d)
{
    for (uint32_t w = d->first_word; w < d->first_word + d->word_count; w++) {
        if (engine.active[w] | engine.next[w])
            return true;
    }
    return false;
}

/* Next cycle in which a message reaches somebody, by the marks. Rows are a circle: first those of
 * the next cycle's word from there on, then the other words, then the rest of the first. */
static uint64_t near_next(uint32_t domain)
{
    const uint64_t *used = engine.near_used[domain];
    uint64_t next = engine.domains[domain].cycle + 1;
    uint32_t row = (uint32_t)next % ENGINE_NEAR;
    uint64_t bits = used[row / 64] >> (row % 64);
    if (bits)
        return next + (unsigned)__builtin_ctzll(bits);
    next += 64 - row % 64;
    for (uint32_t i = 1; i <= ENGINE_NEAR / 64; i++, next += 64) {
        bits = used[(row / 64 + i) % (ENGINE_NEAR / 64)];
        if (bits)
            return next + (unsigned)__builtin_ctzll(bits);
    }
    return ENGINE_NEVER;
}

static void run_edge(uint32_t domain, uint64_t cycle)
{
    struct engine_domain *d = &engine.domains[domain];
    clock_move(d, cycle);
    merge_awake(domain, cycle);
    wheel_take(&wheels[domain], cycle, engine.active);
    if (engine_unlikely(limits.tick_order != ENGINE_ASCENDING || limits.tick_all))
        walk_arranged(domain);
    else
        walk_ascending(domain);
    plans[domain].awake = is_awake(d);
}

/* ---- choosing the next step ---- */

static void plan_domain(uint32_t domain)
{
    const struct engine_domain *d = &engine.domains[domain];
    struct domain_plan *p = &plans[domain];
    uint64_t near = p->awake ? ENGINE_NEVER : near_next(domain);
    p->arrivals = near != ENGINE_NEVER;
    if (p->awake || limits.tick_all) {
        p->next_cycle = d->cycle + 1;
        p->next_ps = clock_next_ps(d);
        return;
    }
    uint64_t cycle = wheel_next(&wheels[domain]);
    cycle = near < cycle ? near : cycle;
    if (cycle == p->next_cycle)
        return;
    p->next_cycle = cycle;
    p->next_ps = cycle == WHEEL_NEVER ? ENGINE_NEVER
                 : d->remainder == 0  ? d->time_ps + (cycle - d->cycle) * d->period_ps
                                      : engine_time_of(domain, cycle);
}

/* Time of the next step; sets `ended` when only quiet wake-ups are left. */
static uint64_t plan_step(bool *ended)
{
    uint64_t time = ENGINE_NEVER;
    bool live = false;
    for (uint32_t i = 0; i < engine.domain_count; i++) {
        plan_domain(i);
        live |= plans[i].awake || plans[i].arrivals || wheels[i].live;
        if (plans[i].next_ps < time)
            time = plans[i].next_ps;
    }
    *ended = !live;
    return time;
}

static void find_awake(void)
{
    for (uint32_t i = 0; i < engine.domain_count; i++) {
        plans[i].awake = is_awake(&engine.domains[i]);
        plans[i].next_cycle = 0;
    }
}

/* ---- limits and progress ---- */

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void draw_progress(void)
{
    double now = seconds(CLOCK_MONOTONIC);
    if (now - watch.shown < PROGRESS_SECONDS)
        return;
    watch.shown = now;
    watch.drawn = true;
    fprintf(stderr, "\r\033[K%llu.%03llu us simulated, %llu wavefront instructions, %.0f KIPS",
            (unsigned long long)(engine.time_ps / 1000000),
            (unsigned long long)(engine.time_ps / 1000 % 1000), (unsigned long long)instructions,
            (double)instructions / 1000.0 / (seconds(CLOCK_PROCESS_CPUTIME_ID) + 1e-9));
}

static void erase_progress(void)
{
    if (watch.drawn)
        fputs("\r\033[K", stderr);
    watch.drawn = false;
}

static uint32_t check_interval(void)
{
    return limits.stall_limit / 4 + 1 < CHECK_STEPS ? (uint32_t)limits.stall_limit / 4 + 1
                                                    : CHECK_STEPS;
}

/* true: nothing has moved for too long. */
static bool check_stall(void)
{
    uint64_t messages = engine_messages();
    uint64_t cycle = engine_cycle_at(watch.fastest, engine.time_ps);
    watch.steps = check_interval();
    if (limits.progress)
        draw_progress();
    if (messages != watch.messages || instructions != watch.instructions) {
        watch.messages = messages;
        watch.instructions = instructions;
        watch.cycle = cycle;
    }
    return cycle - watch.cycle >= limits.stall_limit;
}

static enum engine_result nothing_left(void)
{
    if (!hang_outstanding())
        return ENGINE_IDLE;
    hang_explain(HANG_DEADLOCK);
    return ENGINE_DEADLOCK;
}

static void settle_step(void)
{
    step_end = false;
    ring_settle_links();
    kernel_settle();
}

static enum engine_result loop(void)
{
    for (;;) {
        bool ended;
        uint64_t time = plan_step(&ended);
        if (ended)
            return nothing_left();
        if (time > limit_ps) {
            engine.time_ps = limit_ps;
            hang_explain(HANG_LIMIT);
            return ENGINE_LIMIT;
        }
        engine.time_ps = time;
        for (uint32_t i = 0; i < engine.domain_count; i++) {
            if (plans[i].next_ps == time)
                run_edge(i, plans[i].next_cycle);
        }
        if (engine_unlikely(step_end))
            settle_step();
        if (engine_unlikely(engine.stop))
            return failure[0] ? ENGINE_FAILED : ENGINE_STOPPED;
        if (engine_unlikely(--watch.steps == 0) && check_stall()) {
            hang_explain(HANG_STALL);
            return ENGINE_STALL;
        }
    }
}

enum engine_result engine_run(void)
{
    if (running)
        bug("engine_run() entered twice");
    running = true;
    engine.stop = false;
    find_awake();
    watch.steps = check_interval();
    watch.cycle = engine_cycle_at(watch.fastest, engine.time_ps);
    enum engine_result result = loop();
    erase_progress();
    running = false;
    return result;
}

void engine_stop(void)
{
    engine.stop = true;
}

void engine_fail(const struct component *c, const char *format, ...)
{
    engine.stop = true;
    if (failure[0] && failed_id <= c->id)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(failure, sizeof failure, format, arguments);
    va_end(arguments);
    failed_id = c->id;
}

const char *engine_failure(void)
{
    return failure[0] ? failure : NULL;
}

void engine_clear_failure(void)
{
    failure[0] = '\0';
}

void engine_count_instructions(uint64_t n)
{
    instructions += n;
}

uint64_t engine_instructions(void)
{
    return instructions;
}

void engine_ask_step_end(void)
{
    step_end = true;
}

/* ---- start ---- */

void engine_set_limits(const struct engine_limits *chosen)
{
    limits = *chosen;
    if (!limits.stall_limit)
        limits.stall_limit = DEFAULT_STALL_LIMIT;
    random_state = limits.seed;
    limit_ps =
        limits.max_cycles ? engine_time_of(watch.fastest, limits.max_cycles) : ENGINE_NEVER - 1;
}

void engine_open(const struct engine_group *all, uint32_t group_count, uint32_t id_count)
{
    groups = all;
    instructions = 0;
    failure[0] = '\0';
    running = false;
    step_end = false;
    watch.fastest = 0;
    watch.messages = 0;
    watch.instructions = 0;
    engine.time_ps = 0;
    order = arena_at(uint32_t, arena_allocate(((size_t)id_count + 1) * sizeof *order));
    word_groups = arena_at(uint32_t, arena_allocate(((size_t)id_count / 64 + 1) * sizeof *order));
    for (uint32_t g = 0; g < group_count; g++) {
        for (uint32_t w = 0; w < (all[g].count + 63) / 64; w++)
            word_groups[all[g].first_id / 64 + w] = g;
    }
    wheels = arena_at(struct wheel, arena_allocate(engine.domain_count * sizeof *wheels));
    struct wheel_node *nodes =
        arena_at(struct wheel_node, arena_allocate(((size_t)id_count + 1) * sizeof *nodes));
    for (uint32_t i = 0; i < engine.domain_count; i++) {
        uint32_t room = engine.domains[i].word_count * 64 + 1;
        wheel_open(&wheels[i], nodes, arena_at(uint32_t, arena_allocate(room * sizeof(uint32_t))));
        if (engine.domains[i].hz > engine.domains[watch.fastest].hz)
            watch.fastest = i;
    }
    for (uint32_t g = 0; g < group_count; g++) {
        for (uint32_t i = 0; i < groups[g].count; i++)
            engine_wake_next(groups[g].first_id + i);
    }
    engine_set_limits(&(struct engine_limits){0});
}

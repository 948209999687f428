/* Cache control of a command processor: one operation at a time, level by level. Which caches take
 * part, and in which order, is the table CONTROL_PORTS in command_processor_state.h. */
#include "command_processor.gen.h"

#include "components/sampling/warmup.h"
#include "runtime/engine/engine.h"
#include "runtime/observe/timeline.h"

#include "command_processor_state.h"
#include "dispatcher.h"

static unsigned control_usual_level(enum control_cache cache)
{
#define CONTROL_LEVEL(NAME, PORT, LEVEL, REQUEST) [CONTROL_##NAME] = LEVEL,
    static const uint8_t levels[] = {CONTROL_PORTS(CONTROL_LEVEL)};
    return levels[cache];
}

/* A pause begins with the first level: nothing comes to those in the middle after that. An acquire
 * begins with the L2. */
static unsigned control_level_of(const struct command_processor *c, enum control_cache cache)
{
    if (c->control == CONTROL_ACQUIRE)
        return (control_usual_level(cache) + 2) % (CONTROL_LAST_FLUSHED + 1);
    return c->control == CONTROL_PAUSE && cache == CONTROL_MID ? CONTROL_LAST_PAUSED
                                                               : control_usual_level(cache);
}

static bool control_is_pause(const struct command_processor *c)
{
    return c->control == CONTROL_PAUSE || c->control == CONTROL_RESUME;
}

/* True if the operation under way concerns this kind of cache. */
static bool control_takes_part(const struct command_processor *c, enum control_cache cache)
{
    if (control_is_pause(c))
        return cache == CONTROL_L1V || cache == CONTROL_L1S
               || (cache == CONTROL_MID && c->control == CONTROL_PAUSE);
    if (c->control == CONTROL_RELEASE)
        return cache == CONTROL_L2 || cache == CONTROL_L3;
    if (cache == CONTROL_L1I && command_processor_params(c)->code_kept
        && !(c->flush_under_way && c->flush_code))
        return c->control == CONTROL_SHOOTDOWN;
    return c->control == CONTROL_SHOOTDOWN ? cache != CONTROL_MID : cache != CONTROL_TLB;
}

static uint32_t control_count(const struct command_processor *c, enum control_cache cache)
{
#define CONTROL_COUNT(NAME, PORT, LEVEL, REQUEST)                                                  \
    case CONTROL_##NAME:                                                                           \
        return command_processor_##PORT##_count(c);
    if (!control_takes_part(c, cache))
        return 0;
    switch (cache) {
        CONTROL_PORTS(CONTROL_COUNT)
    default:
        return 0;
    }
}

static bool control_send_pause(const struct command_processor *c, enum control_cache cache,
                               uint32_t i)
{
    bool vector = cache == CONTROL_L1V, on = c->control == CONTROL_PAUSE;
    if (!(vector ? command_processor_l1v_control_can_send(c, i)
                 : command_processor_l1s_control_can_send(c, i)))
        return false;
    if (vector && on)
        command_processor_l1v_control_send_pause(c, i, 0);
    else if (vector)
        command_processor_l1v_control_send_resume(c, i, 0);
    else if (on)
        command_processor_l1s_control_send_pause(c, i, 0);
    else
        command_processor_l1s_control_send_resume(c, i, 0);
    return true;
}

/* Asks cache `i`. False: its port is full. The tag says nothing, answers are only counted. */
static bool control_send(const struct command_processor *c, enum control_cache cache, uint32_t i)
{
#define CONTROL_SEND(NAME, PORT, LEVEL, REQUEST)                                                   \
    case CONTROL_##NAME:                                                                           \
        if (!command_processor_##PORT##_can_send(c, i))                                            \
            return false;                                                                          \
        command_processor_##PORT##_send_##REQUEST;                                                 \
        return true;
    if (control_is_pause(c) && cache != CONTROL_MID)
        return control_send_pause(c, cache, i);
    switch (cache) {
        CONTROL_PORTS(CONTROL_SEND)
    default:
        return false;
    }
}

/* Asks the caches of the present level; `all` tells whether all of them have been. */
static bool control_send_level(struct command_processor *c, bool *all)
{
    bool sent = false;
    *all = false;
    for (unsigned cache = 0; cache < CONTROL_CACHES; cache++) {
        uint32_t count =
            control_level_of(c, cache) == c->control_level ? control_count(c, cache) : 0;
        while (c->control_next[cache] < count && control_send(c, cache, c->control_next[cache])) {
            c->control_next[cache]++;
            c->control_awaited++;
            sent = true;
        }
        if (c->control_next[cache] < count)
            return sent;
    }
    *all = true;
    return sent;
}

static bool control_level_is_empty(const struct command_processor *c)
{
    uint32_t count = 0;
    for (unsigned cache = 0; cache < CONTROL_CACHES; cache++)
        count += control_level_of(c, cache) == c->control_level ? control_count(c, cache) : 0;
    return !count;
}

/* A flush, and an acquire of system scope, ask the L2 once more when the L3 has answered: kernels
 * that go on have read lines of the L3 again which it dropped only after the L2 had. */
static bool control_repeat_flush(struct command_processor *c)
{
    bool drops = c->control == CONTROL_FLUSH || c->control == CONTROL_ACQUIRE;
    if (!drops || c->flush_is_repeated || !control_count(c, CONTROL_L3)
        || c->control_level != control_level_of(c, CONTROL_L3))
        return false;
    c->flush_is_repeated = true;
    c->control_level = control_level_of(c, CONTROL_L2);
    c->control_next[CONTROL_L2] = 0;
    return !control_level_is_empty(c);
}

/* Goes on to the next level that has caches. False: there is none. */
static bool control_next_level(struct command_processor *c)
{
    if (control_repeat_flush(c))
        return true;
    bool all = c->control == CONTROL_FLUSH || c->control == CONTROL_ACQUIRE
               || c->control == CONTROL_RELEASE;
    uint32_t last = all                           ? CONTROL_LAST_FLUSHED
                    : c->control == CONTROL_PAUSE ? CONTROL_LAST_PAUSED
                                                  : CONTROL_LAST_INVALIDATED;
    while (c->control_level < last) {
        c->control_level++;
        if (!control_level_is_empty(c))
            return true;
    }
    return false;
}

static void control_begin(struct command_processor *c, enum control_kind kind)
{
    c->control = kind;
    c->control_level = 0;
    c->flush_is_repeated = false;
    memset(c->control_next, 0, sizeof c->control_next);
    c->control_awaited = 0;
    if (control_level_is_empty(c))
        control_next_level(c);
}

/* A level has answered: goes on with the next level, or answers the dispatchers or the command that
 * waited for the operation. */
static void control_level_end(struct command_processor *c)
{
    enum control_kind kind = c->control;
    if (control_next_level(c))
        return;
    bool commanded = kind == CONTROL_FLUSH || (kind == CONTROL_INVALIDATE && c->flush_under_way);
    c->control = CONTROL_NONE;
    if (commanded) {
        c->flush_answered = c->flush_under_way = false;
        return;
    }
    if (kind == CONTROL_SHOOTDOWN) {
        c->shootdown.is_done = true;
        return;
    }
    if (kind == CONTROL_PAUSE || kind == CONTROL_RESUME) {
        c->pause.is_done = true;
        if (kind == CONTROL_RESUME)
            c->io.stats.paused_cycles += command_processor_now(c) - c->pause.since;
        return;
    }
    for (uint32_t i = 0; i < command_processor_dispatcher_count(c); i++) {
        struct dispatcher *d = command_processor_dispatcher(c, i);
        if (d->waits_for_caches && kind == CONTROL_RELEASE)
            d->is_released = true;
        else
            d->is_invalidated |= d->waits_for_caches;
        d->waits_for_caches = false;
    }
}

/* Begins an operation that dispatchers wait for: an acquire of system scope, which serves acquires
 * of agent scope, too; an acquire of agent scope; or a release. All waiting kernels are served by
 * one operation. */
static bool control_serve_dispatchers(struct command_processor *c)
{
    bool acquires = false, system = false, releases = false;
    for (uint32_t i = 0; i < command_processor_dispatcher_count(c); i++) {
        struct dispatcher *d = command_processor_dispatcher(c, i);
        d->waits_for_caches = d->state == DISPATCHER_STARTING && !d->is_invalidated
                              && d->start_at <= command_processor_now(c);
        acquires |= d->waits_for_caches;
        system |= d->waits_for_caches && d->acquire == AQL_SCOPE_SYSTEM;
    }
    for (uint32_t i = 0; i < command_processor_dispatcher_count(c) && !acquires; i++) {
        struct dispatcher *d = command_processor_dispatcher(c, i);
        d->waits_for_caches = d->state == DISPATCHER_RELEASING && !d->is_released;
        releases |= d->waits_for_caches;
    }
    if (!acquires && !releases)
        return false;
    c->io.stats.invalidates += acquires;
    c->io.stats.flushes += system || releases;
    control_begin(c, system ? CONTROL_ACQUIRE : acquires ? CONTROL_INVALIDATE : CONTROL_RELEASE);
    return true;
}

static bool control_step(struct command_processor *c)
{
    if (c->control != CONTROL_NONE) {
        bool all, progress = control_send_level(c, &all);
        if (all && !c->control_awaited) {
            control_level_end(c);
            progress = true;
        }
        return progress;
    }
    if (c->shootdown.is_wanted) {
        c->shootdown.is_wanted = false;
        c->io.stats.shootdowns++;
        control_begin(c, CONTROL_SHOOTDOWN);
        return true;
    }
    if (c->flush_wanted) {
        c->flush_wanted = false;
        c->flush_under_way = true;
        *(c->flush_drops ? &c->io.stats.invalidates : &c->io.stats.flushes) += 1;
        control_begin(c, c->flush_drops ? CONTROL_INVALIDATE : CONTROL_FLUSH);
        return true;
    }
    if (c->pause.is_wanted) {
        c->pause.is_wanted = false;
        c->io.stats.pauses += c->pause.is_on;
        control_begin(c, c->pause.is_on ? CONTROL_PAUSE : CONTROL_RESUME);
        return true;
    }
    return !c->pause.is_on && control_serve_dispatchers(c);
}

static bool control_receive(struct command_processor *c)
{
    uint32_t before = c->control_awaited;
#define CONTROL_RECEIVE(NAME, PORT, LEVEL, REQUEST)                                                \
    for (uint32_t i = 0; i < control_count(c, CONTROL_##NAME); i++)                                \
        for (; command_processor_##PORT##_peek_reply(c, i); c->control_awaited--)                  \
            command_processor_##PORT##_pop_reply(c, i);
    CONTROL_PORTS(CONTROL_RECEIVE)
    return before != c->control_awaited;
}

/* ---- without time ---- */

/* The caches that an invalidation or a flush would reach; `code`: those of instructions, too. */
static void drop_untimed(const struct command_processor *c, unsigned last, bool code)
{
#define CONTROL_DROP(NAME, PORT, LEVEL, REQUEST)                                                   \
    for (uint32_t i = 0; CONTROL_##NAME != CONTROL_TLB && (code || CONTROL_##NAME != CONTROL_L1I)  \
                         && control_usual_level(CONTROL_##NAME) <= last                            \
                         && i < command_processor_##PORT##_count(c);                               \
         i++)                                                                                      \
        warm_drop(engine_base.port_rings[2 * (command_processor_io(c)->PORT##_first + i)]);
    CONTROL_PORTS(CONTROL_DROP)
}

static void begin_untimed(struct component *c, bool system)
{
    const struct command_processor *processor = (const struct command_processor *)(const void *)c;
    drop_untimed(processor, system ? CONTROL_LAST_FLUSHED : CONTROL_LAST_INVALIDATED,
                 !command_processor_params(processor)->code_kept);
}

static void flush_untimed(struct component *c)
{
    drop_untimed((const struct command_processor *)(const void *)c, CONTROL_LAST_FLUSHED, true);
}

static const struct warm_ops control_warm_ops = {.begin = begin_untimed, .flush = flush_untimed};

static void control_init(struct command_processor *c)
{
    c->flush_answered = true;
    warm_register(&c->io.base, &control_warm_ops);
}

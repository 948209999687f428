/* All shards as one.
 *
 * A shard has its own copy of each clock, so an edge is run once for each shard that has something
 * to do in it, windows are begun and ended one by one, and what shards send each other takes a
 * detour. Where one thread runs them all that buys nothing. So then the domains of shard 0 take in
 * those of the others: their words, which stand behind each other for each clock (platform.c), the
 * wake-ups that are noted for them, and their components, which read the clock of their domain.
 * Rings between shards become like others (ring_join()). Nothing is left to do in the others, and
 * shard 0 runs on through the ends of windows as in a run with one shard.
 *
 * Invariant: what is kept for a component by the number of its domain belongs to the domain that it
 * names. Nothing but these numbers changes, so neither does any result. There or back takes 0.2
 * million host instructions on the R9 Nano, most of them for its rings. Called by window.c. */
#include <string.h>

#include "unite.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/shard.h"
#include "runtime/engine/wheel.h"
#include "runtime/link/exchange.h"
#include "runtime/link/ring_run.h"

/* Words of a domain when each shard has its own. */
struct own_words {
    uint32_t first, count;
};

static struct own_words own[ENGINE_MAX_DOMAINS];
static bool possible, holds;

static uint32_t clock_of(uint32_t domain)
{
    return domain % engine.clock_count;
}

/* Components of `domain` go from one domain to the other with what the wheel has for them. */
static void move_components(uint32_t domain, uint32_t from, uint32_t to)
{
    const struct own_words *words = &own[domain];
    for (uint32_t id = words->first * 64; id < (words->first + words->count) * 64; id++) {
        struct component *c = engine_base.components[id];
        if (!c)
            continue;
        wheel_move(shard_wheel(from), shard_wheel(to), id);
        c->domain = to;
    }
}

static bool is_marked(uint32_t domain, uint32_t row)
{
    const uint64_t *near =
        engine_base.near + (size_t)row * engine_base.near_words + own[domain].first;
    uint64_t any = 0;
    for (uint32_t w = 0; w < own[domain].count; w++)
        any |= near[w];
    return any != 0;
}

/* Marks stand at the places of components; which cycles have any is said for each domain. */
static void take_marks_in(uint32_t domain)
{
    uint8_t *used = engine_near_used(domain), *all = engine_near_used(clock_of(domain));
    for (uint32_t row = 0; row < ENGINE_NEAR; row++)
        all[row] |= used[row];
    memset(used, 0, ENGINE_NEAR);
}

static void find_marks(uint32_t clock, uint32_t row)
{
    if (!engine_near_used(clock)[row])
        return;
    for (uint32_t i = clock; i < engine.domain_count; i += engine.clock_count)
        engine_near_used(i)[row] = is_marked(i, row);
}

/* The words of the clock's domains, which stand behind each other. */
static void take_words_in(uint32_t domain)
{
    struct engine_domain *d = &engine.domains[domain], *all = &engine.domains[clock_of(domain)];
    if (!all->word_count)
        all->first_word = d->first_word;
    all->word_count += d->word_count;
    d->word_count = 0;
}

static void plan_all(void)
{
    for (uint32_t i = 0; i < engine.shard_count; i++) {
        shard_find_awake(i);
        shard_plan(i);
    }
}

void unite_shards(uint64_t start_ps)
{
    exchange_deliver_all(start_ps);
    ring_join(true);
    exchange_forget_waits();
    for (uint32_t i = 0; i < engine.domain_count; i++)
        own[i] = (struct own_words){engine.domains[i].first_word, engine.domains[i].word_count};
    for (uint32_t i = engine.clock_count; i < engine.domain_count; i++) {
        move_components(i, i, clock_of(i));
        take_marks_in(i);
        take_words_in(i);
    }
    for (uint32_t i = 1; i < engine.shard_count; i++)
        shards[0].watched |= shards[i].watched & SHARD_FROZEN;
    holds = true;
    plan_all();
    unite_is_worth_threads();
}

void unite_undo(uint64_t start_ps)
{
    for (uint32_t i = 0; i < engine.shard_count; i++)
        shard_move_clocks(i, start_ps);
    for (uint32_t i = 0; i < engine.domain_count; i++) {
        engine.domains[i].first_word = own[i].first;
        engine.domains[i].word_count = own[i].count;
        if (i >= engine.clock_count)
            move_components(i, clock_of(i), i);
    }
    for (uint32_t clock = 0; clock < engine.clock_count; clock++)
        for (uint32_t row = 0; row < ENGINE_NEAR; row++)
            find_marks(clock, row);
    for (uint32_t i = 1; i < engine.shard_count; i++)
        shards[i].watched |= shards[0].watched & SHARD_FROZEN;
    holds = false;
    ring_join(false);
    exchange_find_waits();
    plan_all();
}

bool unite_is_worth_threads(void)
{
    bool any = false;
    for (uint32_t i = 0; i < engine.clock_count; i++) {
        uint64_t walked = shard_take_walked(i);
        any |= own[i].count < 64 ? walked >> own[i].count != 0 : walked != 0;
    }
    return any;
}

bool unite_is_possible(void)
{
    return possible;
}

bool unite_holds(void)
{
    return holds;
}

void unite_open(void)
{
    holds = false;
    possible = engine.shard_count > 1 && ring_can_join();
}

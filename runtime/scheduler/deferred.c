/* Work that is done between windows, by the leader: what components leave for the end of a window
 * (engine_at_window_end()), in the order of instances; and what they put off until the statistics
 * are read (engine_may_defer()). */
#include <pthread.h>
#include <stdlib.h>

#include "deferred.h"
#include "run.h"
#include "run_state.h"
#include "window.h"
#include "base/number.h"
#include "runtime/engine/arena.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/instances.h"
#include "runtime/engine/platform_table.h"
#include "runtime/engine/rank.h"
#include "runtime/engine/shard.h"

/* A component that puts work off. */
struct deferring {
    struct component *c;
    void (*flush)(struct component *c, uint64_t cycle);
    uint64_t (*last)(const struct component *c); /* or NULL */
};

/* All are made anew with each platform. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the next three */
static void (**deferred)(struct component *c);           /* by instance */
static uint32_t *deferred_leaves;                        /* the instances that have left any */
static uint32_t deferred_count;
static struct deferring *deferring;
static uint32_t deferring_count;
static bool defers_nothing;

void engine_defer_nothing(bool always)
{
    defers_nothing = always;
}

bool engine_may_defer(struct component *c, void (*flush)(struct component *c, uint64_t cycle),
                      uint64_t (*last)(const struct component *c))
{
    if (!rank_is_alone() || defers_nothing)
        return false;
    deferring[deferring_count++] = (struct deferring){c, flush, last};
    return true;
}

void engine_flush(uint64_t time_ps)
{
    for (uint32_t i = 0; i < deferring_count; i++) {
        struct component *c = deferring[i].c;
        deferring[i].flush(c, engine_cycle_at(c->domain, time_ps));
    }
}

void engine_flush_window(void)
{
    engine_flush(within_limit(window_plan.end_ps));
}

void engine_at_window_end(struct component *c, void (*work)(struct component *c))
{
    pthread_mutex_lock(&lock);
    if (!deferred[c->leaf])
        deferred_leaves[deferred_count++] = c->leaf;
    deferred[c->leaf] = work;
    pthread_mutex_unlock(&lock);
    window_ask_end();
}

static int by_leaf(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* From the work of engine_at_window_end(): make component `id` tick at `cycle` of its clock. */
static void engine_wake_between(uint32_t id, uint64_t cycle)
{
    const struct component *c = engine_base.components[id];
    uint64_t least = component_now(c) + 1;
    engine_wake_later(id, max(cycle, least));
    shard_find_awake(component_shard(c));
    shard_plan(component_shard(c));
}

void deferred_do(uint64_t end)
{
    qsort(deferred_leaves, deferred_count, sizeof *deferred_leaves, by_leaf);
    for (uint32_t i = 0; i < deferred_count; i++) {
        struct component *c = platform_component(deferred_leaves[i]);
        deferred[c->leaf](c);
        deferred[c->leaf] = NULL;
        uint64_t cycle = engine_cycle_at(c->domain, end);
        engine_wake_between(c->id, cycle);
    }
    deferred_count = 0;
}

bool deferred_wake_last(void)
{
    bool found = false;
    engine_flush(window_last_step(0) + 1);
    for (uint32_t i = 0; i < deferring_count; i++) {
        const struct deferring *s = &deferring[i];
        uint64_t cycle = s->last ? s->last(s->c) : 0;
        if (cycle)
            engine_wake_between(s->c->id, cycle);
        found |= cycle != 0;
    }
    return found;
}

bool deferred_is_left(void)
{
    return deferred_count != 0;
}

void deferred_open(void)
{
    size_t count = engine_base.platform->instance_count + 1;
    deferred_count = 0;
    deferred = arena_derive(count * sizeof *deferred);
    deferred_leaves = arena_derive(count * sizeof *deferred_leaves);
    deferring_count = 0;
    deferring = arena_derive(count * sizeof *deferring);
}

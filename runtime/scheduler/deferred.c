/* Work that is done between windows, by the leader: what components leave for the end of a window
 * (engine_at_window_end()), in the order of instances; and what they defer until the statistics
 * are read (engine_try_defer()). */
#include "deferred.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/number.h"
#include "runtime/engine/arena.h"
#include "runtime/engine/deferral.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/instances.h"
#include "runtime/engine/platform_table.h"
#include "runtime/engine/rank.h"
#include "runtime/engine/shard.h"

#include "run.h"
#include "run_state.h"
#include "window.h"

/* A component that defers work. */
struct deferred_work {
    struct component *c;
    void (*flush)(struct component *c, uint64_t cycle);
};

/* All are made anew with each platform. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the next three */
static void (**window_work)(struct component *c);        /* by instance */
static uint32_t *window_instances;                       /* the instances that have left any */
static uint32_t window_count;
static struct deferred_work *deferred;
static uint32_t deferred_count;
static bool defers_nothing;

void engine_defer_nothing(bool is_off)
{
    defers_nothing = is_off;
}

bool engine_try_defer(struct component *c, void (*flush)(struct component *c, uint64_t cycle))
{
    if (!rank_is_alone() || defers_nothing)
        return false;
    deferred[deferred_count++] = (struct deferred_work){c, flush};
    return true;
}

void engine_flush(uint64_t time_ps)
{
    for (uint32_t i = 0; i < deferred_count; i++) {
        struct component *c = deferred[i].c;
        deferred[i].flush(c, engine_cycle_at(c->domain, time_ps));
    }
}

void engine_flush_window(void)
{
    engine_flush(within_limit(window_plan.end_ps));
}

void engine_at_window_end(struct component *c, void (*work)(struct component *c))
{
    pthread_mutex_lock(&lock);
    if (!window_work[c->leaf])
        window_instances[window_count++] = c->leaf;
    window_work[c->leaf] = work;
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

void window_do_work(uint64_t end)
{
    qsort(window_instances, window_count, sizeof *window_instances, by_leaf);
    for (uint32_t i = 0; i < window_count; i++) {
        struct component *c = platform_component(window_instances[i]);
        window_work[c->leaf](c);
        window_work[c->leaf] = NULL;
        uint64_t cycle = engine_cycle_at(c->domain, end);
        engine_wake_between(c->id, cycle);
    }
    window_count = 0;
}

bool window_has_work(void)
{
    return window_count != 0;
}

void deferred_open(void)
{
    size_t count = engine_base.platform->instance_count + 1;
    window_count = 0;
    window_work = arena_derive(count * sizeof *window_work);
    window_instances = arena_derive(count * sizeof *window_instances);
    deferred_count = 0;
    deferred = arena_derive(count * sizeof *deferred);
}

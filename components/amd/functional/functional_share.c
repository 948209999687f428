/* Launches that threads share. Each thread executes work-groups from beginning to end. Their
 * footprints (footprint.h) show whether the result is the one that a single thread would have
 * had. */
#include <string.h>

#include "base/number.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/run_control.h"
#include "runtime/scheduler/thread_team.h"

#include "functional_state.h"

/* Experience with a kernel's earlier launches. A launch on several threads costs their start, and
 * one whose work-groups depend on each other is executed twice. */
struct habit {
    uint64_t entry;
    uint64_t instructions; /* executed by the last one; 0: there was none */
    bool has_dependence;
};

enum {
    HABITS = 256,
    SHARED_LEAST = 200000, /* instructions that are worth threads */
    SHARED_TURNS = 1 << 12 /* turns after which a work-group seems to wait for another one */
};

static struct habit habits[HABITS];

/* The launch that threads share now, by their workers; `next` is atomic. */
static struct {
    uint64_t next, groups, batch;
} shared;

static struct habit *habit_of(const struct functional_launch *launch)
{
    struct habit *h = &habits[(launch->entry >> 8) % HABITS];
    if (h->entry != launch->entry)
        *h = (struct habit){.entry = launch->entry};
    return h;
}

/* From its beginning to its end. False: something that concerns more than this work-group. */
static bool group_run_all(struct run *r, struct group *g)
{
    for (uint32_t turn = 0; turn < SHARED_TURNS && !footprint_is_lost(); turn++) {
        if (engine_is_interrupted() || !functional_group_run(r, g))
            return false;
        if (g->ended == g->waves)
            return true;
    }
    return false;
}

static void share_run(uint32_t thread)
{
    struct run *r = &functional.workers[thread]->run;
    uint32_t slot = r->first + thread;
    for (;;) {
        uint64_t first = __atomic_fetch_add(&shared.next, shared.batch, __ATOMIC_RELAXED);
        uint64_t end = min(first + shared.batch, shared.groups);
        for (uint64_t i = first; i < end; i++) {
            work_nth_group(r->groups, r->launch->first_group + i, r->next_id);
            functional_group_start(r, slot);
            if (!group_run_all(r, functional_group_at(slot))) {
                footprint_lose();
                return;
            }
            r->result.work_groups++;
        }
        if (first >= shared.groups)
            return;
    }
}

static void share_begin(const struct run *r, uint32_t threads)
{
    shared.next = 0;
    shared.groups = r->remaining;
    shared.batch = r->remaining / (8 * threads) ? r->remaining / (8 * threads) : 1;
    footprint_begin(threads);
    for (uint32_t i = 0; i < threads; i++) {
        struct worker *k = functional_worker(i);
        struct run *mine = &k->run;
        *mine = *r;
        mine->launch = &mine->own_launch;
        mine->worker = k;
        functional_worker_begin(k, mine->launch);
        k->view.footprint = footprint_of(i);
        if (r->launch->executed)
            mine->own_launch.executed = memset(&k->executed, 0, sizeof k->executed);
        functional_slot_group(r, r->first + i);
    }
}

/* True: all threads together are the launch. */
static bool share_end(struct run *r, uint32_t threads)
{
    bool independent = footprint_end(threads);
    for (uint32_t i = 0; i < threads; i++) {
        struct worker *k = functional.workers[i];
        const struct run *mine = &k->run;
        functional_collect_counts(mine);
        k->view.footprint = NULL;
        if (independent && r->launch->executed)
            sampler_work_add(r->launch->executed, &k->executed);
        r->instructions += independent ? mine->instructions : 0;
        r->result.work_groups += independent ? mine->result.work_groups : 0;
    }
    return independent;
}

/* Threads that are worth it, and may: what counts, waits or looks at single instructions, and
 * private memory, which belongs to slots, is left to one. */
static uint32_t share_among(const struct run *r, const struct habit *h)
{
    const struct functional_launch *launch = r->launch;
    uint64_t most = min(launch->threads, FOOTPRINT_THREADS);
    most = min(most, r->slots);
    most = min(most, r->remaining / 2);
    bool large = !h->instructions || h->instructions >= SHARED_LEAST;
    bool is_alone = h->has_dependence || r->is_observed || launch->touches || r->limit != UINT64_MAX
                    || r->packet.private_bytes || aql_meets(&r->packet);
    return is_alone || !large ? 1 : (uint32_t)most;
}

/* Deals the work-groups to threads. False: nothing has been done. */
bool functional_run_shared(struct run *r)
{
    struct habit *h = habit_of(r->launch);
    uint32_t threads = share_among(r, h);
    if (threads < 2)
        return false;
    share_begin(r, threads);
    thread_team_run(share_run, threads);
    h->has_dependence = !share_end(r, threads);
    if (h->has_dependence) {
        functional_begin_turn(r);
        return false;
    }
    functional.yields = 0;
    livelock_change();
    r->result.instructions = r->instructions;
    r->result.threads = threads;
    return true;
}

void functional_record_length(const struct functional_launch *launch, uint64_t instructions)
{
    habit_of(launch)->instructions = instructions;
}

/* Launches that wait, for another launch or for ever: looked for after each round. */
#include "components/amd/execute/wave_sync.h"
#include "components/statistics/execution_observer.h"
#include "runtime/engine/bug.h"

#include "functional_state.h"

/* No wavefront has run in a round, and no work-group can begin: only another launch can help. */
void functional_all_wait(struct run *r)
{
    const struct group *g = functional_group_at(functional.live_groups[r->first]);
    const struct wave *w = g->wave;
    char cause[WORK_FAULT_CAUSE_BYTES];
    while (w < g->wave + g->waves && w->state != WAVE_AT_SYNC)
        w++;
    if (w == g->wave + g->waves)
        bug("functional: work-group (%u,%u,%u) neither runs nor waits", g->id[0], g->id[1],
            g->id[2]);
    if (r->launch->others) {
        r->result.end = FUNCTIONAL_YIELDED;
        return;
    }
    wave_sync_text(&functional.syncs[r->launch->gpu], &w->sync, cause, sizeof cause);
    functional_fault(r, g, w, NULL, w->scalars.pc, WORK_LANE_NONE, cause);
}

void functional_set_watch(struct run *r, bool turn_is_over)
{
    if (turn_is_over && !r->launch->others)
        livelock_round(&r->watch, r->idle_turns);
    r->is_observed = r->launch->profile || execution_observer || r->watch.on;
}

/* Launches that wait in turns are watched together, now and then. */
void functional_begin_watch(struct run *r)
{
    uint32_t waiting = 0;
    for (uint32_t i = 0; i < FUNCTIONAL_LAUNCHES_MAX; i++)
        waiting += functional.is_run_used[i];
    r->watch.on = r->launch->others == FUNCTIONAL_YIELDED_LAUNCHES
                  && livelock_turn(functional.yields, 3 * waiting);
    if (!r->watch.on)
        livelock_change();
    functional_set_watch(r, false);
}

/* True if each wavefront that could continue has come back to an earlier state while nothing
 * changed. */
static bool wavefronts_repeat(struct run *r)
{
    bool all_repeat = true, any_runs = false;
    for (uint32_t i = 0; i < r->live_count; i++) {
        struct group *g = functional_group_at(functional.live_groups[r->first + i]);
        for (struct wave *w = g->wave; w < g->wave + g->waves; w++) {
            any_runs |= w->state == WAVE_RUNS;
            if (w->state == WAVE_RUNS)
                all_repeat &= livelock_state(
                    &w->livelock,
                    livelock_watch_state(&w->scalars, arena_at(uint32_t, w->vgprs_at), r->stored));
        }
    }
    return all_repeat && any_runs;
}

/* Ends the run at the wavefront that explains most, and counts what the others do. */
void functional_deadlock(struct run *r)
{
    struct group *stuck_group = NULL;
    struct wave *stuck = NULL;
    uint32_t states[WAVE_ENDED + 1] = {0};
    char waits[WORK_FAULT_CAUSE_BYTES - 128], cause[WORK_FAULT_CAUSE_BYTES];
    for (uint32_t i = 0; i < r->live_count; i++) {
        struct group *g = functional_group_at(functional.live_groups[r->first + i]);
        for (struct wave *w = g->wave; w < g->wave + g->waves; w++) {
            states[w->state]++;
            if (w->state == WAVE_RUNS && (!stuck || w->livelock.access > stuck->livelock.access))
                stuck_group = g, stuck = w;
        }
    }
    livelock_watch_text(r->launch->program, &stuck->livelock, waits, sizeof waits);
    snprintf(
        cause, sizeof cause,
        "deadlock: %s, and no wavefront changes anything any more: %" PRIu32
        " repeat themselves, %" PRIu32 " wait at barriers, %" PRIu64 " work-groups have no room",
        waits, states[WAVE_RUNS], states[WAVE_AT_BARRIER] + states[WAVE_AT_SYNC], r->remaining);
    uint64_t pc = stuck->livelock.access ? stuck->livelock.pc : stuck->scalars.pc;
    const struct step *s = &r->worker->steps[(uint32_t)(pc >> 2) & (DECODE_ENTRIES - 1)];
    r->worker->view.refused = false;
    functional_fault(r, stuck_group, stuck, s->address == pc ? s->ready.inst : NULL, pc,
                     WORK_LANE_NONE, cause);
    r->result.end = FUNCTIONAL_DEADLOCK;
}

/* After a round: true if the launch repeats it for ever. */
bool functional_is_stuck(struct run *r)
{
    const struct functional_launch *launch = r->launch;
    if (!r->watch.on || (r->remaining && r->free_count) || !r->live_count || !wavefronts_repeat(r))
        return false;
    r->repeated_lap = livelock_lap();
    return !launch->others && launch->is_alone && launch->is_alone();
}

/* The end of a turn in which the launch only waited. */
enum functional_end functional_yield(struct run *r)
{
    bool all_repeat = r->watch.on;
    functional.yields++;
    for (uint32_t i = 0; all_repeat && i < FUNCTIONAL_LAUNCHES_MAX; i++)
        all_repeat = &functional.runs[i] == r || !functional.is_run_used[i]
                     || functional.runs[i].repeated_lap == livelock_lap();
    if (!all_repeat || r->repeated_lap != livelock_lap() || !r->launch->is_alone
        || !r->launch->is_alone())
        return FUNCTIONAL_YIELDED;
    functional_deadlock(r);
    return FUNCTIONAL_DEADLOCK;
}

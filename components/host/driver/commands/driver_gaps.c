/* Launches with gaps (--mode sampled): now and then the GPU pauses, its wavefronts go on at once on
 * simulated memory, and it goes on with them where they have got to
 * (components/amd/execute/lent_groups.h). components/sampling/launch_gaps.h says when, how far, and
 * what the whole would take.
 *
 * As in driver_sampling.c, simulated memory has the newest bytes while something is executed
 * without timing, and both changes happen when nothing is under way. Times are those of the tick
 * that asked for the end of the window. */
#include "driver_gaps.h"

#include "components/amd/functional/functional.h"
#include "components/host/driver/calls/driver_packet_calls.h"
#include "components/host/driver/program/driver_code.h"
#include "components/sampling/online_gaps.h"
#include "components/sampling/warmup.h"
#include "driver_command_queues.h"
#include "driver_functional.h"
#include "runtime/state/platform.h"

enum {
    GAPS_RETRY = 256000,   /* ps until it is looked again whether all is quiet */
    GAPS_TRIES = 1 << 12,  /* and how often: then the launch goes on as it is */
    GAPS_RESUME = 4000000, /* ps: more than a window of any platform */
};

static bool gaps_choose(const struct driver *d, const struct driver_command *k)
{
    bool plain = k->launch.user == DRIVER_NONE && !k->launch.played
                 && d->migrate.state == MIGRATE_NONE && !driver_host_is_connected(d)
                 && !code_meets(k->launch.entry);
    return plain && online_gaps_choose(k->launch.number);
}

static void look_at(struct driver *d, uint64_t time_ps)
{
    d->gaps.next =
        time_ps == ENGINE_NEVER ? ENGINE_NEVER : engine_cycle_at(d->io.base.domain, time_ps);
}

static void gaps_start(struct driver *d, uint32_t command, uint32_t device)
{
    d->gaps = (struct driver_gaps){.state = GAPS_RUN, .command = command, .device = device};
    d->gaps.begins = true;
    d->gaps.next = driver_now(d) + 1;
}

static void gaps_stop(struct driver *d, const struct driver_command *k)
{
    if (d->gaps.state == GAPS_NONE || driver_command_at(d, d->gaps.command) != k)
        return;
    d->gaps.over = true;
    d->gaps.next = driver_now(d);
}

static void gaps_tick(struct driver *d)
{
    if (engine_likely(d->gaps.state == GAPS_NONE))
        return;
    if (driver_now(d) >= d->gaps.next) {
        d->gaps.next = ENGINE_NEVER;
        d->gaps.asked_ps = component_now_ps(&d->io.base);
        engine_at_window_end(&d->io.base, driver_window_end);
    }
    if (d->gaps.next != ENGINE_NEVER)
        driver_wake_at(d, d->gaps.next);
}

/* Executes `instructions` of the wavefronts of a platform that is quiet. False: the run is over. */
static bool execute_gap(struct driver *d, const struct driver_command *k,
                        struct functional_lent *lent, uint64_t instructions, bool touches,
                        uint64_t *executed)
{
    struct functional_result result;
    struct aql_descriptor descriptor;
    struct functional_launch launch = functional_describe_launch(d, k, d->gaps.device, &descriptor);
    launch.touches = touches;
    launch.executed = executed;
    lent->budget = instructions / (lent->running ? lent->running : 1);
    if (!lent->budget || !lent->running)
        return true;
    functional_run_lent(&launch, lent, &result);
    if (result.end == FUNCTIONAL_INTERRUPTED)
        engine_stop();
    else if (result.end != FUNCTIONAL_DONE)
        engine_fail(&d->io.base, "%s", result.text);
    return result.end == FUNCTIONAL_DONE;
}

/* A gap: the machine is quiet. False: the run is over, or the launch cannot have gaps. */
static bool make_gap(struct driver *d, const struct driver_command *k, uint64_t resume_ps)
{
    uint64_t executed[SAMPLER_VECTOR] = {0}, touching, all = online_gaps_wanted(&touching);
    struct functional_lent lent = {0};
    if (!lent_take_over(&lent.group, &lent.count, &lent.launch))
        return false;
    for (uint32_t i = 0; i < lent.count; i++)
        for (uint32_t w = 0; w < lent.group[i].waves; w++) {
            lent.running += lent.group[i].wave[w].state != LENT_ENDED;
            lent.instructions += lent.group[i].wave[w].executed;
        }
    warm_write_out();
    bool good = execute_gap(d, k, &lent, all - touching, false, executed)
                && execute_gap(d, k, &lent, touching, true, executed);
    warm_read_in();
    engine_count_instructions(&d->io.base, lent.instructions);
    lent_give_back(lent.group, lent.count, &lent.account, resume_ps);
    const struct gaps_done done = {
        .instructions = lent.instructions, .running = lent.running, .resumed_ps = resume_ps};
    look_at(d, online_gaps_executed(&done, executed));
    return good;
}

static void gaps_drain(struct driver *d)
{
    const struct driver_command *k = driver_command_at(d, d->gaps.command);
    uint64_t resume_ps = d->gaps.asked_ps + GAPS_RESUME;
    if (!warm_is_quiet(d->io.base.leaf) && d->gaps.tries++ < GAPS_TRIES) {
        look_at(d, d->gaps.asked_ps + GAPS_RETRY);
        return;
    }
    d->gaps.state = GAPS_RUN;
    if (d->gaps.tries <= GAPS_TRIES && make_gap(d, k, resume_ps))
        return;
    const uint64_t nothing[SAMPLER_VECTOR] = {0};
    online_gaps_executed(&(struct gaps_done){0, lent_running(), resume_ps}, nothing);
    lent_resume(resume_ps);
    d->gaps.next = ENGINE_NEVER;
}

static void gaps_window_end(struct driver *d)
{
    uint64_t next_ps, asked_ps = d->gaps.asked_ps;
    if (d->gaps.state == GAPS_NONE || !asked_ps)
        return;
    d->gaps.asked_ps = 0;
    if (d->gaps.over) {
        if (d->gaps.state == GAPS_DRAIN)
            lent_resume(asked_ps + GAPS_RESUME);
        d->gaps.state = GAPS_NONE;
        online_gaps_end();
    } else if (d->gaps.begins) {
        d->gaps.begins = false;
        look_at(d, online_gaps_begin(asked_ps, platform_component(warm_unit_leaf(0))->domain));
    } else if (d->gaps.state == GAPS_DRAIN) {
        d->gaps.asked_ps = asked_ps;
        gaps_drain(d);
        d->gaps.asked_ps = 0;
    } else if (online_gaps_look(asked_ps, lent_running(), &next_ps)) {
        lent_pause();
        d->gaps.state = GAPS_DRAIN;
        d->gaps.tries = 0;
        look_at(d, asked_ps + GAPS_RETRY);
    } else {
        look_at(d, next_ps);
    }
}

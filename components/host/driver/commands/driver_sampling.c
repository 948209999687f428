/* Simulating chosen kernels in detail (--kernels, --warmup).
 *
 * Launches go one after another, in the order in which their turn comes. Those that are not timed,
 * and all copies, are done at once on simulated memory at the end of a window, as in functional
 * mode. Two states, then:
 *
 * - caches_live: caches hold bytes, the newest ones among them, as always;
 * - otherwise simulated memory holds the newest bytes and caches are only tags, as
 *   components/sampling/warmup.h says.
 *
 * A command that is not timed needs the second, a timed launch the first. Both changes, and
 * everything that is not timed, wait until nothing is under way on the platform, so no message can
 * see the change happen. The time of day is looked at in ticks only: in which cycle a window is
 * seen to end depends on which components were awake.
 *
 * With `--kernels auto` a launch is chosen for at the end of a window, too, when the one before it
 * is over: what that one executed decides. Caches and TLBs keep their lines while launches leave no
 * trace in them, since components/sampling/stratified_sampler.h makes sure that enough launches
 * touch them before the next simulated one. */
#include <inttypes.h>
#include <stdio.h>

#include "components/host/driver/driver_state.h"
#include "components/host/driver/launch/driver_launch.h"
#include "components/sampling/sampling_options.h"
#include "components/sampling/warmup.h"
#include "runtime/engine/component_failure.h"
#include "runtime/engine/deferral.h"
#include "runtime/observe/hang.h"
#include "runtime/state/lookup.h"

#include "driver_commands.h"

static enum sampling_way sample_way(const struct driver *d, const struct driver_command *k)
{
    const struct program_table *program = driver_program(d);
    if (platform_sampling()->automatic)
        return (enum sampling_way)k->launch.way;
    return sampling_way(platform_sampling(), k->launch.number,
                        program_kernel_name(program, k->launch.kernel),
                        program_kernel_symbol(program, k->launch.kernel));
}

/* With `perfect` everything is timed until the last chosen launch is over. */
static bool sample_is_on(struct driver *d, const struct driver_command *k)
{
    const struct sampling *s = platform_sampling();
    if (!s->kernels || s->warmup != SAMPLING_PERFECT)
        return s->kernels;
    if (!d->sample.has_ended && k->kind == DRIVER_LAUNCH && sample_way(d, k) == SAMPLING_SKIPPED)
        d->sample.has_ended = d->sample.has_live_caches = true;
    return d->sample.has_ended;
}

static bool sample_is_timed(enum sampling_way way)
{
    return way == SAMPLING_DETAILED || way == SAMPLING_MEMORY_ONLY;
}

/* True if caches and TLBs must be empty when the launch begins. `none` says so, and whatever was
 * left before launches that were skipped is older than the warm-up that was asked for. */
static bool sample_begins_cold(const struct driver *d, enum sampling_way way)
{
    if (way == SAMPLING_SKIPPED || platform_sampling()->automatic)
        return false;
    return platform_sampling()->warmup == SAMPLING_NONE || d->sample.has_skipped;
}

/* True if a timed launch may continue without waiting for the end of a window. */
static bool sample_is_ready(const struct driver *d, const struct driver_command *k)
{
    if (platform_sampling()->automatic)
        return d->sample.has_live_caches && d->sample.prepared == k->launch.number;
    return d->sample.has_live_caches
           && (d->sample.prepared == k->launch.number || !sample_begins_cold(d, sample_way(d, k)));
}

static void sample_to_memory(struct driver *d)
{
    if (d->sample.has_live_caches)
        warm_write_out();
    d->sample.has_live_caches = false;
}

static void sample_begin_cold(struct driver *d, enum sampling_way way)
{
    if (!sample_begins_cold(d, way))
        return;
    warm_drop_all();
    d->sample.has_skipped = false;
}

static void sample_flush(struct driver *d, struct driver_command *k, uint32_t device)
{
    uint32_t number;
    while ((number = command_flush_device(d, k, device)) != DRIVER_NONE) {
        d->sample.flushes++;
        warm_flush_all();
        l2_note_flush(d, number);
        d->device[number].has_wrapped_ring = false;
        d->device[number].has_shared_line = false;
        gpu_set_put(&k->flushed, number);
    }
}

/* True if the command has begun without time and waits for others. */
static bool has_yielded(const struct driver_command *k)
{
    return k->kind == DRIVER_LAUNCH && k->launch.has_yielded;
}

/* A launch or copy that takes no time, or the next part of a launch that has yielded. */
static void sample_do(struct driver *d, struct driver_command *k, uint32_t device)
{
    enum sampling_way way = k->kind == DRIVER_LAUNCH ? sample_way(d, k) : SAMPLING_TOUCHING;
    sample_to_memory(d);
    sample_flush(d, k, device);
    if (has_yielded(k)) {
        functional_go_on(d, k, device);
    } else {
        functional_move_command(d, k, device);
        if (k->kind == DRIVER_LAUNCH) {
            sample_begin_cold(d, way);
            d->sample.has_skipped |= way == SAMPLING_SKIPPED;
            if (k->size)
                argument_ring_written(argument_ring_of(d, device, k->pid), k->piece);
            functional_launch(d, k, device, way);
        }
    }
    if (k->kind == DRIVER_LAUNCH)
        l2_note_kernel(d, device, k->pid);
    k->phase = has_yielded(k) ? PHASE_UNTIMED_RETRY : PHASE_UNTIMED_DONE;
}

/* Makes the platform ready for a timed launch. */
static void sample_prepare(struct driver *d, struct driver_command *k)
{
    enum sampling_way way = sample_way(d, k);
    if (sample_begins_cold(d, way))
        sample_to_memory(d);
    sample_begin_cold(d, way);
    if (!d->sample.has_live_caches)
        warm_read_in();
    d->sample.has_live_caches = true;
    d->sample.prepared = k->launch.number;
    k->phase = PHASE_QUEUED;
}

/* `--kernels auto`: how the launch is executed. False: another one is to be simulated first. */
static bool sample_choose(struct driver *d, struct driver_command *k, uint32_t device)
{
    if (!platform_sampling()->automatic || k->kind != DRIVER_LAUNCH
        || d->sample.chosen == k->launch.number)
        return true;
    if (d->sample.chosen)
        return false;
    const struct program_allocation *a = program_find(driver_program(d), k->launch.entry);
    const struct online_sampling_code code = {k->launch.entry, a ? a->start : k->launch.entry,
                                              a ? a->end : k->launch.entry};
    struct sampler_shape shape = {
        .kernel = k->launch.kernel, .gpu = device, .work_items = 1, .work_groups = launch_count(k)};
    for (unsigned i = 0; i < 3; i++)
        shape.work_items *= k->launch.packet.work_group[i];
    shape.few = warm_unit_keeps_code(0) && shape.work_groups < d->device[device].info.compute_units;
    k->launch.way =
        (uint8_t)online_sampling_choose(k->launch.number, &shape, d->sample.flushes, &code);
    d->sample.chosen = k->launch.way == SAMPLING_DETAILED ? k->launch.number : 0;
    if (d->sample.chosen)
        parts_choose(d, k, device);
    return true;
}

static void sample_init(const struct driver *d)
{
    const struct platform_table *t = engine_base.platform;
    if (!platform_sampling()->kernels || !driver_host_is_connected(d))
        return;
    uint32_t host = t->rings[ring_number(driver_io(d)->host_request)].receiver;
    for (uint32_t i = 0; i < d->device_count; i++) {
        uint32_t ring = engine_base.port_rings[2 * (driver_io(d)->gpu_first + i)];
        if (!warm_set_apart(host, d->io.base.leaf, t->rings[ring].receiver))
            engine_die(&d->io.base,
                       "--kernels needs a simulated host that shares nothing with the GPUs but "
                       "the driver; GPU %u and the host '%s' are connected with each other",
                       i, platform_string(t->instances[host].path));
    }
}

/* Looking at all of a platform takes longer than a short launch does without timing, so the answer
 * holds until the driver begins something, where nothing else does: no calls or packets come over
 * ports, no pages move, no user queues are sent anything. */
static bool sample_is_quiet(struct driver *d)
{
    bool alone = !driver_calls_count(d) && !driver_touch_count(d) && !driver_queues_count(d)
                 && !driver_host_is_connected(d);
    d->sample.is_quiet = (alone && d->sample.is_quiet) || warm_is_quiet(d->io.base.leaf);
    return d->sample.is_quiet;
}

static void sample_window_end(struct driver *d)
{
    if (!d->sample.has_waiting)
        return;
    d->sample.has_waiting = false;
    bool quiet = sample_is_quiet(d);
    for (uint32_t i = 0; i < d->queue_count; i++) {
        const struct driver_queue *q = driver_queue_at(d, i);
        struct driver_command *k = q->first == DRIVER_NONE ? NULL : driver_command_at(d, q->first);
        if (!k || k->phase != PHASE_UNTIMED)
            continue;
        if (!quiet || d->sample.timed || !sample_choose(d, k, q->device)) {
            k->phase = PHASE_UNTIMED_RETRY;
            continue;
        }
        if (k->kind == DRIVER_LAUNCH && sample_is_timed(sample_way(d, k)))
            sample_prepare(d, k);
        else if (has_yielded(k) || functional_can_begin(d, k, q->device))
            sample_do(d, k, q->device);
        else
            k->phase = PHASE_UNTIMED_RETRY;
    }
}

static enum sample_turn sample_begin(struct driver *d, struct driver_command *k,
                                     void (*at_end)(struct component *c))
{
    if (!sample_is_on(d, k) || k->kind == DRIVER_MARK || k->kind == DRIVER_BARRIER
        || k->kind == DRIVER_SHOOTDOWN || k->kind == DRIVER_OPEN
        || (k->kind == DRIVER_FENCE && d->sample.has_live_caches)) /* else caches hold old data */
        return SAMPLE_GO_ON;
    if (d->sample.timed) /* its end wakes the driver */
        return driver_queue_at(d, k->queue)->flags & DRIVER_QUEUE_ATTENDS ? SAMPLE_GO_ON
                                                                          : SAMPLE_WAITS;
    if (k->kind == DRIVER_LAUNCH && sample_is_ready(d, k) && sample_is_timed(sample_way(d, k)))
        return SAMPLE_GO_ON;
    k->phase = PHASE_UNTIMED;
    d->sample.has_waiting = true;
    engine_at_window_end(&d->io.base, at_end);
    return SAMPLE_BEGAN;
}

static bool sample_step(struct driver *d, struct driver_command *k, uint32_t device)
{
    if (k->phase == PHASE_UNTIMED_DONE) {
        if (k->kind == DRIVER_LAUNCH)
            functional_record(d, k, device, sample_way(d, k), NULL);
        return true;
    }
    k->phase = PHASE_QUEUED;
    k->not_before = driver_now(d) + SAMPLE_RETRY;
    return false;
}

static void sample_note_timed(struct driver *d, struct driver_command *k)
{
    if (!platform_sampling()->kernels || k->kind != DRIVER_LAUNCH)
        return;
    enum sampling_way way = sample_way(d, k);
    bool awaited = functional_is_awaited();
    if (awaited && !d->sample.has_warned)
        fprintf(stderr,
                "heddle: launch %" PRIu64 " (%s) is simulated while another one, which is not, "
                "waits for others; if they wait for each other, the run does not end: --kernels "
                "has to name both or none\n",
                k->launch.number, program_kernel_name(driver_program(d), k->launch.kernel));
    d->sample.has_warned |= awaited;
    k->launch.is_timed = sample_is_on(d, k);
    d->sample.timed += k->launch.is_timed;
    aql_set_launch(&k->launch.packet, (uint32_t)k->launch.number, way == SAMPLING_MEMORY_ONLY);
}

/* Measures each chosen launch from the records of kernels. A launch is measured when the next one
 * asks, or at the end of the run. */
#include "online_sampling.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "components/statistics/kernel_stats.h"
#include "runtime/engine/arena.h"
#include "runtime/engine/bug.h"
#include "runtime/engine/engine.h"

#include "estimate_write.h"
#include "online_parts.h"
#include "sampling_thresholds.h"
#include "warmup.h"

#define LAUNCHES_MAX ((uint32_t)1 << 22)

static struct sampler *sampler; /* NULL: not made yet */
static bool is_used;            /* this run chooses online */
static uint64_t depth;          /* depth of its warm-up */
static double aim;
static bool in_parts;           /* launches may be executed in parts */
static uint64_t pending_launch; /* launch that is simulated; 0: none */
static struct online_sampling_code pending_code;
static bool has_code;
static struct sampler_work read_work; /* work of the launch, if it has no code */

static void open_sampler(void)
{
    static struct sampler_launch *launches;
    if (!sampler) {
        sampler = arena_reserve(sizeof *sampler);
        launches = arena_reserve(LAUNCHES_MAX * sizeof *launches);
    }
    sampler_init(sampler, launches, LAUNCHES_MAX, depth, aim);
    is_used = true;
}

/* Takes what a launch needed that was simulated as a whole. False: it is not over. */
static bool measure_of(uint64_t launch, struct sampler_measure *measure)
{
    struct kernel_times times;
    if (!kernel_times_of((uint32_t)launch, &times))
        return false;
    measure->amount[SAMPLER_CYCLES] = (double)times.cycles;
    measure->amount[SAMPLER_READ] = (double)times.traffic.read;
    measure->amount[SAMPLER_WRITTEN] = (double)times.traffic.written;
    for (unsigned i = 0; i < SAMPLER_QUANTITIES; i++)
        measure->inner[i] = in_parts && has_code ? SAMPLING_UNSTEADY : 0;
    return true;
}

/* False: the launch that is simulated is not over. */
static bool settle_launch(void)
{
    struct sampler_work work = {0};
    struct sampler_measure measure;
    if (!pending_launch)
        return true;
    bool over = online_parts_has(pending_launch)
                    ? online_parts_result(pending_launch, &measure, &work)
                    : measure_of(pending_launch, &measure);
    if (!over)
        return false;
    if (has_code)
        warm_executed(pending_code.entry, pending_code.first, pending_code.end, &work);
    if (measure.amount[SAMPLER_CYCLES] < 1)
        measure.amount[SAMPLER_CYCLES] = 1;
    sampler_note(sampler, has_code ? &work : &read_work, &measure);
    pending_launch = 0;
    return true;
}

void online_sampling_open(const struct sampling *sampling)
{
    depth = sampling->depth;
    aim = sampling->aim;
    in_parts = sampling->in_parts;
    is_used = false;
    pending_launch = 0;
    online_parts_open(sampling->in_parts, sampling->aim);
}

void online_sampling_foresee(const struct sampler_shape *ahead, uint32_t count)
{
    if (!is_used)
        open_sampler();
    sampler_foresee(sampler, ahead, count);
}

enum sampling_way online_sampling_choose(uint64_t number, const struct sampler_shape *shape,
                                         uint64_t flushes, const struct online_sampling_code *code)
{
    struct sampler_work before;
    if (!is_used)
        open_sampler();
    if (!settle_launch())
        bug("launch %" PRIu64 " has not ended", pending_launch);
    sampler->unsteady = code ? 0 : SAMPLING_UNSTEADY;
    enum sampling_way way = sampler_choose(sampler, shape, flushes);
    if (way != SAMPLING_DETAILED)
        return way;
    pending_launch = number;
    has_code = code != NULL;
    if (!has_code)
        return way;
    pending_code = *code;
    warm_executed(code->entry, code->first, code->end, &before); /* code of launches long ago */
    return way;
}

void online_sampling_executed(const struct sampler_work *work)
{
    sampler_note(sampler, work, NULL);
}

void online_sampling_read(const struct sampler_work *work)
{
    read_work = *work;
}

/* ---- statistics ---- */

static void write_groups(struct json *j)
{
    json_open(j, "groups", '[');
    for (uint32_t i = 0; i < sampler->group_count; i++) {
        const struct sampler_group *g = &sampler->group[i];
        struct sampler_estimate e[SAMPLER_QUANTITIES];
        for (unsigned k = 0; k < SAMPLER_QUANTITIES; k++)
            e[k] = sampler_estimate_group(sampler, i, (enum sampler_quantity)k);
        json_open(j, NULL, '{');
        json_uint(j, "first_launch", g->first + 1);
        json_uint(j, "launches", g->count);
        json_uint(j, "simulated", g->simulated);
        json_bool(j, "per_launch", g->per_launch);
        estimate_write(j, e);
        json_close(j, '}');
    }
    json_close(j, ']');
}

/* A kernel: a launch of it, how many there are, and what all of them take. */
static void write_kernel(struct json *j, uint32_t first)
{
    const struct sampler_group *of = &sampler->group[first];
    struct sampler_estimate e[SAMPLER_QUANTITIES];
    uint32_t launches = 0, simulated = 0;
    for (uint32_t i = first; i < sampler->group_count; i++) {
        const struct sampler_group *g = &sampler->group[i];
        bool same = g->shape.kernel == of->shape.kernel;
        launches += same ? g->count : 0;
        simulated += same ? g->simulated : 0;
    }
    for (unsigned k = 0; k < SAMPLER_QUANTITIES; k++)
        e[k] = sampler_estimate_kernel(sampler, of->shape.kernel, (enum sampler_quantity)k);
    json_open(j, NULL, '{');
    json_uint(j, "first_launch", of->first + 1);
    json_uint(j, "launches", launches);
    json_uint(j, "simulated", simulated);
    estimate_write(j, e);
    json_close(j, '}');
}

static void write_kernels(struct json *j)
{
    json_open(j, "kernels", '[');
    for (uint32_t i = 0; i < sampler->group_count; i++) {
        uint32_t first = 0;
        while (sampler->group[first].shape.kernel != sampler->group[i].shape.kernel)
            first++;
        if (first == i)
            write_kernel(j, i);
    }
    json_close(j, ']');
}

/* For each launch its group, its instructions (of a list: bytes of its trace) and those of its
 * longest wavefront; cycles, bytes read and written if it was simulated: the estimate can be
 * computed again from these. */
static void write_launches(struct json *j)
{
    static const char letters[] = {
        [SAMPLING_DETAILED] = 'd', [SAMPLING_TOUCHING] = 't', [SAMPLING_SKIPPED] = 's'};
    json_open(j, "launches", '[');
    for (uint32_t i = 0; i < sampler->launches; i++) {
        const struct sampler_launch *l = &sampler->launch[i];
        const double *amount = l->measure.amount;
        char text[160];
        snprintf(text, sizeof text, "%c %u %" PRIu64 " %" PRIu64 " %.0f %.0f %.0f", letters[l->way],
                 l->group, l->instructions, l->longest, amount[SAMPLER_CYCLES],
                 amount[SAMPLER_READ], amount[SAMPLER_WRITTEN]);
        json_text(j, NULL, text);
    }
    json_close(j, ']');
}

/* Instructions are counted (or known by the size of traces), so the interval is that of the cycles.
 */
static void write_rate(struct json *j, const struct sampler_estimate *cycles)
{
    double instructions = sampler_instructions(sampler);
    double share = instructions > 0 ? 1 / instructions : 0;
    json_open(j, "cycles_per_instruction", '{');
    json_key(j, "cycles");
    json_print(j, "%.6f", cycles->value * share);
    json_key(j, "interval");
    json_print(j, "%.6f", sampler_interval(cycles) * share);
    json_close(j, '}');
}

void online_sampling_write(struct json *j)
{
    if (!is_used)
        return;
    settle_launch(); /* a run that broke off has left a launch under way: it does not count */
    struct sampler_estimate all[SAMPLER_QUANTITIES];
    uint32_t simulated = 0, touched = 0;
    for (unsigned i = 0; i < SAMPLER_QUANTITIES; i++)
        all[i] = sampler_estimate_all(sampler, (enum sampler_quantity)i);
    for (uint32_t i = 0; i < sampler->launches; i++) {
        simulated += sampler->launch[i].way == SAMPLING_DETAILED;
        touched += sampler->launch[i].way == SAMPLING_TOUCHING;
    }
    json_open(j, "sample", '{');
    estimate_write(j, all);
    write_rate(j, &all[SAMPLER_CYCLES]);
    json_uint(j, "count", sampler->launches);
    json_uint(j, "simulated", simulated);
    json_uint(j, "touched", touched);
    write_kernels(j);
    write_groups(j);
    write_launches(j);
    if (in_parts)
        online_parts_write(j);
    json_close(j, '}');
}

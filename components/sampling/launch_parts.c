/* Chooses the parts of a launch that are simulated, and estimates the whole from them by the method
 * of docs/design/sampling.md ("Sampled mode"). */
#include "launch_parts.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/number.h"

#include "sampling_thresholds.h"
#include "stratified_sampler.h"

static bool is_one_part(uint64_t groups, uint32_t resident)
{
    return groups < (uint64_t)resident * LAUNCH_PARTS_WORTH;
}

bool launch_parts_fit(uint64_t groups, uint32_t resident)
{
    return resident <= LAUNCH_PARTS_RESIDENT_MAX
           && (groups <= LAUNCH_PARTS_GROUPS_MAX || !is_one_part(groups, resident));
}

void launch_parts_begin(struct launch_parts *p, uint64_t groups, uint32_t resident, double aim)
{
    *p = (struct launch_parts){.groups = groups, .resident = resident, .aim = aim};
}

/* ---- which parts ---- */

bool launch_parts_next(const struct launch_parts *p, struct sampled_launch_part *next)
{
    uint64_t rest = p->groups - p->next_group,
             touched = (uint64_t)p->resident * LAUNCH_PARTS_TOUCHED;
    *next = (struct sampled_launch_part){
        .way = SAMPLING_DETAILED, .first_group = p->next_group, .groups = rest};
    if (!rest)
        return false;
    if (p->gap_groups) {
        bool near = p->gap_groups <= touched;
        next->way = near ? SAMPLING_TOUCHING : SAMPLING_SKIPPED;
        next->groups = near ? p->gap_groups : p->gap_groups - touched;
        return true;
    }
    if (p->rest_is_one_part || is_one_part(p->groups, p->resident))
        return true;
    uint64_t wanted =
        p->window_count ? p->later_groups : (uint64_t)p->resident * LAUNCH_PARTS_FIRST;
    if (wanted + p->resident <= rest)
        next->groups = wanted;
    return true;
}

void launch_parts_add_untimed(struct launch_parts *p, uint64_t groups, uint64_t instructions)
{
    p->next_group += groups;
    p->gap_groups -= groups;
    p->instructions += instructions;
    p->open_instructions += (double)instructions;
    p->skipped_instructions += (double)instructions;
}

/* Relative variance of a generation's rate. The mean end of a generation is smooth: from one to the
 * next, it takes the mean of two generations with weights of a triangle. If generations are
 * independent, with a variance of 1, such means have 2/3, neighbours a covariance of 1/6, and half
 * of their squared difference is 1/2: hence twice the mean of these. */
static double spread(const struct launch_parts *p, double *freedom)
{
    *freedom = LAUNCH_PARTS_PRIOR_FREEDOM + p->difference_count;
    return (2 * p->squared_differences
            + LAUNCH_PARTS_PRIOR_FREEDOM * LAUNCH_PARTS_PRIOR * LAUNCH_PARTS_PRIOR)
           / *freedom;
}

struct window_sums {
    double measured; /* cycles in windows */
    double between;  /* estimated cycles between windows */
    double weights;  /* squares of the cycles that each window represents */
};

static struct window_sums sum_windows(const struct launch_parts *p)
{
    struct window_sums sum = {0};
    for (uint32_t i = 0; i < p->window_count; i++) {
        const struct launch_part_window *w = &p->windows[i];
        double line = i ? (w->rate + w[-1].rate) / 2 : 0;
        double next = i + 1 < p->window_count ? w[1].instructions_before : 0;
        double represented = (w->instructions_before + next) / 2 * w->rate;
        sum.weights += represented * represented / (w->generations ? w->generations : 1);
        sum.measured += w->cycles;
        sum.between += w->instructions_before * line;
    }
    return sum;
}

/* Number of parts after the present one that brings half of the interval within the aim, if each
 * represents its share of the rest. INFINITY: no number does. */
static double wanted_parts(const struct launch_parts *p)
{
    struct window_sums now = sum_windows(p);
    double freedom, variance = spread(p, &freedom), t = sampler_student(freedom), rates = 0;
    for (uint32_t i = 0; i < p->window_count; i++)
        rates += (double)p->windows[i].generations / p->window_count;
    double of_group = (double)p->instructions / (double)p->next_group;
    double rest =
        (double)(p->groups - p->next_group) * of_group * p->windows[p->window_count - 1].rate;
    double all = now.measured + now.between + rest;
    double own = all * all * variance * p->generation_instructions / (of_group * (double)p->groups);
    double may_be = fmax(p->aim - LAUNCH_PARTS_ALLOWANCE, 0) * all / t;
    double free = may_be * may_be - variance * now.weights - own;
    return free > 0 ? variance * rest * rest / fmax(rates, 1) / free : INFINITY;
}

/* Number of parts after the present one to plan for: as many as the aim asks for, or the least if
 * no number is enough or little is known of the scatter yet. */
static double planned_parts(const struct launch_parts *p)
{
    bool is_long = p->groups >= (uint64_t)p->resident * LAUNCH_PARTS_LONG;
    double wanted = wanted_parts(p),
           least = (is_long ? LAUNCH_PARTS_ENOUGH : 2) - (double)p->window_count;
    if (isinf(wanted) || p->difference_count < LAUNCH_PARTS_SURE || wanted < least)
        wanted = least;
    if (p->window_count >= LAUNCH_PARTS_MAX - LAUNCH_PARTS_AHEAD)
        wanted = 1;
    return fmax(1, fmin(ceil(wanted), LAUNCH_PARTS_AHEAD));
}

/* Chooses the distance to the next part in detail. The planned parts are spread evenly, and the
 * last one ends the launch; but the second part of a long launch is near the first, while caches
 * still get warm. Distances vary by an eighth, against periods of the launch. If they would be too
 * short, the rest of the launch is one part. */
static void choose_gap(struct launch_parts *p)
{
    double rest = (double)(p->groups - p->next_group), later = p->later_groups;
    double least = (double)p->resident * LAUNCH_PARTS_GAP_MIN;
    double more = planned_parts(p), gap = rest / more - later;
    p->rest_is_one_part =
        gap < least && rest <= LAUNCH_PARTS_GROUPS_MAX && p->difference_count >= LAUNCH_PARTS_SURE;
    if (p->rest_is_one_part)
        return;
    if (gap < least || (p->window_count == 1 && more > 1))
        gap = least;
    if (more > 1) {
        uint64_t hash = hash_multiply(p->window_count) >> 40;
        gap += gap / 8 * ((double)(hash & 0xff) / 128 - 1);
    }
    p->gap_groups = (uint64_t)gap;
    if ((double)p->gap_groups + later + least > rest) /* the last one */
        p->gap_groups = rest > later ? p->groups - p->next_group - p->later_groups : 0;
}

/* Chooses the length of all parts after the first, whose windows span LAUNCH_PARTS_CYCLES or more.
 */
static void choose_length(struct launch_parts *p)
{
    double cycles = p->windows[0].rate * p->generation_instructions;
    double generations = cycles > 0 ? ceil(LAUNCH_PARTS_CYCLES / cycles) : 1;
    generations = max(generations, 1);
    double later = p->resident * (LAUNCH_PARTS_LATER - 1 + generations);
    p->later_groups = (uint32_t)fmin(later, LAUNCH_PARTS_GROUPS_MAX);
}

/* ---- windows ---- */

/* Means over the work-groups of a generation: the cycle in which each ended, and the instructions
 * that had been executed by then. */
struct generation {
    double cycle, instructions;
};

static struct generation generation_of(const struct launch_part_record *record, uint32_t number,
                                       double before, double *after)
{
    struct generation g = {0};
    for (uint32_t i = number * record->resident; i < (number + 1) * record->resident; i++) {
        before += (double)record->ends[i].instructions;
        g.cycle += (double)record->ends[i].cycle / record->resident;
        g.instructions += before / record->resident;
    }
    *after = before;
    return g;
}

/* Adds the difference to the rate of the generation before. */
static void add_difference(struct launch_parts *p, double rate)
{
    if (p->last_rate > 0) {
        double difference = 2 * (rate - p->last_rate) / (rate + p->last_rate);
        p->squared_differences += difference * difference / 2;
        p->difference_count++;
    }
    p->last_rate = rate;
}

/* Finds the generations that count: those after the first that ended while work-groups were still
 * to be placed. Sets the window's mean rate, and *first and *last to the generations between which
 * it lies. False: fewer than two generations count. */
static bool find_generations(struct launch_parts *p, const struct launch_part_record *record,
                             struct launch_part_window *w, struct generation *first,
                             struct generation *last)
{
    double before = 0;
    struct generation g, previous = {0};
    uint32_t whole = 0;
    while (whole < record->count && record->ends[whole].cycle <= record->placed)
        whole++;
    uint32_t number = record->resident ? whole / record->resident : 0;
    for (uint32_t i = 0; i < number; i++, previous = g) {
        g = generation_of(record, i, before, &before);
        if (i == 1)
            *first = g;
        if (i < 2 || g.cycle <= previous.cycle)
            continue;
        double rate = (g.cycle - previous.cycle) / (g.instructions - previous.instructions);
        p->generation_instructions = g.instructions - previous.instructions;
        add_difference(p, rate);
        w->rate += rate;
        w->generations++;
        *last = g;
    }
    if (w->generations)
        w->rate /= w->generations;
    return w->generations;
}

void launch_parts_add_timed(struct launch_parts *p, const struct launch_part_record *record)
{
    bool is_first = !p->window_count, is_last = p->next_group + record->count == p->groups;
    struct launch_part_window *w = &p->windows[p->window_count++];
    struct generation from = {0}, to = {0};
    double all = 0;
    for (uint32_t i = 0; i < record->count; i++)
        all += (double)record->ends[i].instructions;
    *w = (struct launch_part_window){.first_group = p->next_group,
                                     .groups = record->count,
                                     .skipped_instructions = p->skipped_instructions,
                                     .timed_instructions = all};
    memcpy(w->bytes, record->bytes, sizeof w->bytes);
    p->skipped_instructions = 0;
    bool found = find_generations(p, record, w, &from, &to);
    if (is_first)
        from = (struct generation){0};
    if (is_last)
        to = (struct generation){(double)record->end, all};
    if (!found) /* the machine was never full, so the whole part gives the rate */
        w->rate = all > 0 ? (double)record->end / all : 0;
    if (found || is_last) {
        w->cycles = to.cycle - from.cycle;
        w->instructions = to.instructions - from.instructions;
    }
    w->instructions_before = p->open_instructions + from.instructions;
    p->open_instructions = all - w->instructions - from.instructions;
    p->next_group += record->count;
    p->detailed_groups += record->count;
    p->instructions += (uint64_t)all;
    p->detailed_instructions += (uint64_t)all;
    p->drain_cycles = p->groups > record->resident ? (double)(record->end - record->placed) : 0;
    if (is_last)
        return;
    if (is_first)
        choose_length(p);
    if (!p->rest_is_one_part)
        choose_gap(p);
}

/* ---- the estimate ---- */

/* Relative variance of the cycles that the launch takes if all of it is simulated. A launch of one
 * part that is too short to show its scatter has the scatter of launches in general. */
static double own_variance(const struct launch_parts *p, double variance)
{
    if ((p->window_count == 1 && p->difference_count < 2) || !p->instructions)
        return SAMPLING_UNSTEADY * SAMPLING_UNSTEADY;
    return variance * p->generation_instructions / (double)p->instructions;
}

struct cut_estimate launch_parts_estimate(const struct launch_parts *p)
{
    struct window_sums sum = sum_windows(p);
    struct cut_estimate e = {.value = sum.measured + sum.between};
    double freedom, variance = spread(p, &freedom);
    if (p->window_count == 1 && p->difference_count < 2)
        freedom = INFINITY;
    double own = e.value * e.value * own_variance(p, variance);
    double scatter = sampler_student(freedom) * sqrt(variance * sum.weights + own);
    e.half = hypot(scatter, sampler_student(INFINITY) * LAUNCH_PARTS_TAIL * p->drain_cycles);
    e.allowance = LAUNCH_PARTS_ALLOWANCE * sum.between;
    return e;
}

/* ---- memory ---- */

static double bytes_rate(const struct launch_part_window *w, enum sampler_quantity quantity)
{
    return w->timed_instructions > 0 ? w->bytes[quantity] / w->timed_instructions : 0;
}

/* Bytes per instruction of the work-groups that were left out before window `i`. The first part
 * fills caches: it reads lines that later parts find there, and writes less back than it dirties.
 * So its rate counts for no other work-group. */
static double bytes_rate_before(const struct launch_parts *p, uint32_t i,
                                enum sampler_quantity quantity)
{
    double rate = bytes_rate(&p->windows[i], quantity);
    return i > 1 ? (rate + bytes_rate(&p->windows[i - 1], quantity)) / 2 : rate;
}

/* Relative variance of a part's bytes per instruction, from differences of successive parts. */
static double bytes_spread(const struct launch_parts *p, enum sampler_quantity quantity,
                           double *freedom)
{
    double sum = LAUNCH_PARTS_BYTES_FREEDOM * LAUNCH_PARTS_PRIOR * LAUNCH_PARTS_PRIOR;
    *freedom = LAUNCH_PARTS_BYTES_FREEDOM;
    for (uint32_t i = 2; i < p->window_count; i++) {
        double a = bytes_rate(&p->windows[i - 1], quantity),
               b = bytes_rate(&p->windows[i], quantity);
        double difference = a + b > 0 ? 2 * (b - a) / (a + b) : 0;
        sum += difference * difference / 2;
        ++*freedom;
    }
    return sum / *freedom;
}

struct cut_estimate launch_parts_bytes(const struct launch_parts *p, enum sampler_quantity quantity)
{
    double between = 0, weights = 0, freedom, variance = bytes_spread(p, quantity, &freedom);
    struct cut_estimate e = {0};
    for (uint32_t i = 0; i < p->window_count; i++) {
        const struct launch_part_window *w = &p->windows[i];
        double next = i + 1 < p->window_count && i ? w[1].skipped_instructions / 2 : 0;
        double represented = (i > 1 ? w->skipped_instructions / 2 : w->skipped_instructions) + next;
        double cost = represented * bytes_rate(w, quantity);
        weights += cost * cost;
        between += w->skipped_instructions * bytes_rate_before(p, i, quantity);
        e.value += w->bytes[quantity];
    }
    e.value += between;
    double own = SAMPLING_UNSTEADY * e.value;
    e.half =
        hypot(sampler_student(freedom) * sqrt(variance * weights), sampler_student(INFINITY) * own);
    e.allowance =
        (quantity == SAMPLER_READ ? LAUNCH_PARTS_READ_ALLOWANCE : LAUNCH_PARTS_WRITTEN_ALLOWANCE)
        * between;
    return e;
}

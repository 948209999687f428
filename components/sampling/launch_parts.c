/* Chooses the parts of a launch that are simulated, and estimates the whole from them.
 * launch_parts.h has the method. */
#include "launch_parts.h"

#include "base/hash.h"
#include "base/number.h"

#include <math.h>
#include <string.h>

#include "sampling_thresholds.h"
#include "stratified_sampler.h"

static bool is_one_part(uint64_t groups, uint32_t resident)
{
    return groups < (uint64_t)resident * PARTS_WORTH;
}

bool parts_fit(uint64_t groups, uint32_t resident)
{
    return resident <= PARTS_MOST_RESIDENT
           && (groups <= PARTS_MOST_GROUPS || !is_one_part(groups, resident));
}

void parts_begin(struct launch_parts *p, uint64_t groups, uint32_t resident, double aim)
{
    *p = (struct launch_parts){.groups = groups, .resident = resident, .aim = aim};
}

/* ---- which parts ---- */

bool parts_next(const struct launch_parts *p, struct sampled_part *next)
{
    uint64_t rest = p->groups - p->next, touched = (uint64_t)p->resident * PARTS_TOUCHED;
    *next = (struct sampled_part){.way = SAMPLING_DETAILED, .first = p->next, .groups = rest};
    if (!rest)
        return false;
    if (p->left) {
        bool near = p->left <= touched;
        next->way = near ? SAMPLING_TOUCHING : SAMPLING_SKIPPED;
        next->groups = near ? p->left : p->left - touched;
        return true;
    }
    if (p->rest || is_one_part(p->groups, p->resident))
        return true;
    uint64_t wanted = p->count ? p->later : (uint64_t)p->resident * PARTS_FIRST;
    if (wanted + p->resident <= rest)
        next->groups = wanted;
    return true;
}

void parts_executed(struct launch_parts *p, uint64_t groups, uint64_t instructions)
{
    p->next += groups;
    p->left -= groups;
    p->instructions += instructions;
    p->open += (double)instructions;
    p->skipped += (double)instructions;
}

/* Relative variance of a generation's rate. The mean end of a generation is smooth: from one to the
 * next, it takes the mean of two generations with weights of a triangle. If generations are
 * independent, with a variance of 1, such means have 2/3, neighbours a covariance of 1/6, and half
 * of their squared difference is 1/2: hence twice the mean of these. */
static double spread(const struct launch_parts *p, double *freedom)
{
    *freedom = PARTS_PRIOR_FREEDOM + p->pairs;
    return (2 * p->differences + PARTS_PRIOR_FREEDOM * PARTS_PRIOR * PARTS_PRIOR) / *freedom;
}

/* Sums over windows: cycles that are measured and those between them, and the squares of the cycles
 * that each window stands for. */
struct terms {
    double measured, far, weights;
};

static struct terms add_terms(const struct launch_parts *p)
{
    struct terms sum = {0};
    for (uint32_t i = 0; i < p->count; i++) {
        const struct part_window *w = &p->window[i];
        double line = i ? (w->rate + w[-1].rate) / 2 : 0;
        double next = i + 1 < p->count ? w[1].before : 0;
        double stands_for = (w->before + next) / 2 * w->rate;
        sum.weights += stands_for * stands_for / (w->rates ? w->rates : 1);
        sum.measured += w->cycles;
        sum.far += w->before * line;
    }
    return sum;
}

/* Parts after the present one such that half of the interval is within the aim: each stands for
 * its share of the rest. Those that there are count already. INFINITY: no number is enough. */
static double wanted_parts(const struct launch_parts *p)
{
    struct terms now = add_terms(p);
    double freedom, variance = spread(p, &freedom), t = sampler_student(freedom), rates = 0;
    for (uint32_t i = 0; i < p->count; i++)
        rates += (double)p->window[i].rates / p->count;
    double of_group = (double)p->instructions / (double)p->next;
    double rest = (double)(p->groups - p->next) * of_group * p->window[p->count - 1].rate;
    double all = now.measured + now.far + rest;
    double own = all * all * variance * p->generation / (of_group * (double)p->groups);
    double may_be = fmax(p->aim - PARTS_ALLOWANCE, 0) * all / t;
    double free = may_be * may_be - variance * now.weights - own;
    return free > 0 ? variance * rest * rest / fmax(rates, 1) / free : INFINITY;
}

/* Parts after the present one that are aimed at: as many as the aim asks for; the least where no
 * number is enough, and while little is known of the scatter. */
static double planned_parts(const struct launch_parts *p)
{
    bool is_long = p->groups >= (uint64_t)p->resident * PARTS_LONG;
    double wanted = wanted_parts(p), least = (is_long ? PARTS_ENOUGH : 2) - (double)p->count;
    if (isinf(wanted) || p->pairs < PARTS_SURE || wanted < least)
        wanted = least;
    if (p->count >= PARTS_MAX - PARTS_AHEAD)
        wanted = 1;
    return fmax(1, fmin(ceil(wanted), PARTS_AHEAD));
}

/* The distance to the next part in detail: parts as planned, evenly, and the last one at the end;
 * but the second part of a long launch is near the first, since what is cold gets warm there.
 * Distances vary by an eighth, against periods of the launch. Where they would be too short, the
 * rest is simulated. */
static void choose_gap(struct launch_parts *p)
{
    double rest = (double)(p->groups - p->next), later = p->later;
    double least = (double)p->resident * PARTS_LEAST_GAP;
    double more = planned_parts(p), gap = rest / more - later;
    p->rest = gap < least && rest <= PARTS_MOST_GROUPS && p->pairs >= PARTS_SURE;
    if (p->rest)
        return;
    if (gap < least || (p->count == 1 && more > 1))
        gap = least;
    if (more > 1) {
        uint64_t hash = hash_multiply(p->count) >> 40;
        gap += gap / 8 * ((double)(hash & 0xff) / 128 - 1);
    }
    p->left = (uint64_t)gap;
    if ((double)p->left + later + least > rest) /* the last one */
        p->left = rest > later ? p->groups - p->next - p->later : 0;
}

/* Behind the first part: how long others are. A window spans PARTS_CYCLES at least. */
static void choose_length(struct launch_parts *p)
{
    double cycles = p->window[0].rate * p->generation;
    double generations = cycles > 0 ? ceil(PARTS_CYCLES / cycles) : 1;
    generations = max(generations, 1);
    double later = p->resident * (PARTS_LATER - 1 + generations);
    p->later = (uint32_t)fmin(later, PARTS_MOST_GROUPS);
}

/* ---- windows ---- */

/* When a generation ended, and what had been executed then: means of its work-groups. */
struct generation {
    double cycle, instructions;
};

static struct generation generation_of(const struct part_log *log, uint32_t number, double before,
                                       double *after)
{
    struct generation g = {0};
    for (uint32_t i = number * log->resident; i < (number + 1) * log->resident; i++) {
        before += (double)log->ends[i].instructions;
        g.cycle += (double)log->ends[i].cycle / log->resident;
        g.instructions += before / log->resident;
    }
    *after = before;
    return g;
}

/* Differences of successive rates. */
static void note_rate(struct launch_parts *p, double rate)
{
    if (p->last_rate > 0) {
        double difference = 2 * (rate - p->last_rate) / (rate + p->last_rate);
        p->differences += difference * difference / 2;
        p->pairs++;
    }
    p->last_rate = rate;
}

/* The generations that count: those after the first that ended while there were work-groups to be
 * placed. Their mean rate, and the first and the last one. false: there are not two. */
static bool find_generations(struct launch_parts *p, const struct part_log *log,
                             struct part_window *w, struct generation *first,
                             struct generation *last)
{
    double before = 0;
    struct generation g, previous = {0};
    uint32_t whole = 0;
    while (whole < log->count && log->ends[whole].cycle <= log->placed)
        whole++;
    uint32_t number = log->resident ? whole / log->resident : 0;
    for (uint32_t i = 0; i < number; i++, previous = g) {
        g = generation_of(log, i, before, &before);
        if (i == 1)
            *first = g;
        if (i < 2 || g.cycle <= previous.cycle)
            continue;
        double rate = (g.cycle - previous.cycle) / (g.instructions - previous.instructions);
        p->generation = g.instructions - previous.instructions;
        note_rate(p, rate);
        w->rate += rate;
        w->rates++;
        *last = g;
    }
    if (w->rates)
        w->rate /= w->rates;
    return w->rates;
}

void parts_timed(struct launch_parts *p, const struct part_log *log)
{
    bool is_first = !p->count, is_last = p->next + log->count == p->groups;
    struct part_window *w = &p->window[p->count++];
    struct generation from = {0}, to = {0};
    double all = 0;
    for (uint32_t i = 0; i < log->count; i++)
        all += (double)log->ends[i].instructions;
    *w = (struct part_window){
        .first = p->next, .groups = log->count, .skipped = p->skipped, .timed = all};
    memcpy(w->bytes, log->bytes, sizeof w->bytes);
    p->skipped = 0;
    bool found = find_generations(p, log, w, &from, &to);
    if (is_first)
        from = (struct generation){0};
    if (is_last)
        to = (struct generation){(double)log->end, all};
    if (!found) /* the machine was never full: the part as it is */
        w->rate = all > 0 ? (double)log->end / all : 0;
    if (found || is_last) {
        w->cycles = to.cycle - from.cycle;
        w->instructions = to.instructions - from.instructions;
    }
    w->before = p->open + from.instructions;
    p->open = all - w->instructions - from.instructions;
    p->next += log->count;
    p->detailed += log->count;
    p->instructions += (uint64_t)all;
    p->detailed_instructions += (uint64_t)all;
    p->drain = p->groups > log->resident ? (double)(log->end - log->placed) : 0;
    if (is_last)
        return;
    if (is_first)
        choose_length(p);
    if (!p->rest)
        choose_gap(p);
}

/* ---- the estimate ---- */

/* Relative variance of what the launch itself takes. One part that is too short to tell how it
 * scatters is as unsteady as others. */
static double own_variance(const struct launch_parts *p, double variance)
{
    if ((p->count == 1 && p->pairs < 2) || !p->instructions)
        return UNSTEADY * UNSTEADY;
    return variance * p->generation / (double)p->instructions;
}

struct cut_estimate parts_estimate(const struct launch_parts *p)
{
    struct terms sum = add_terms(p);
    struct cut_estimate e = {.value = sum.measured + sum.far};
    double freedom, variance = spread(p, &freedom);
    if (p->count == 1 && p->pairs < 2)
        freedom = INFINITY;
    double own = e.value * e.value * own_variance(p, variance);
    double scatter = sampler_student(freedom) * sqrt(variance * sum.weights + own);
    e.half = hypot(scatter, sampler_student(INFINITY) * PARTS_TAIL * p->drain);
    e.allowance = PARTS_ALLOWANCE * sum.far;
    return e;
}

/* ---- memory ---- */

static double bytes_rate(const struct part_window *w, enum sampler_quantity quantity)
{
    return w->timed > 0 ? w->bytes[quantity] / w->timed : 0;
}

/* The rate of what was left out before window `i`. The first part fills caches: it reads what later
 * ones find, and writes less back than it dirties. So it stands for nothing else. */
static double bytes_line(const struct launch_parts *p, uint32_t i, enum sampler_quantity quantity)
{
    double rate = bytes_rate(&p->window[i], quantity);
    return i > 1 ? (rate + bytes_rate(&p->window[i - 1], quantity)) / 2 : rate;
}

/* Relative variance of a part's rate, told by differences of successive ones. */
static double bytes_spread(const struct launch_parts *p, enum sampler_quantity quantity,
                           double *freedom)
{
    double sum = BYTES_PRIOR_FREEDOM * PARTS_PRIOR * PARTS_PRIOR;
    *freedom = BYTES_PRIOR_FREEDOM;
    for (uint32_t i = 2; i < p->count; i++) {
        double a = bytes_rate(&p->window[i - 1], quantity), b = bytes_rate(&p->window[i], quantity);
        double difference = a + b > 0 ? 2 * (b - a) / (a + b) : 0;
        sum += difference * difference / 2;
        ++*freedom;
    }
    return sum / *freedom;
}

struct cut_estimate parts_bytes(const struct launch_parts *p, enum sampler_quantity quantity)
{
    double far = 0, weights = 0, freedom, variance = bytes_spread(p, quantity, &freedom);
    struct cut_estimate e = {0};
    for (uint32_t i = 0; i < p->count; i++) {
        const struct part_window *w = &p->window[i];
        double next = i + 1 < p->count && i ? w[1].skipped / 2 : 0;
        double stands_for = (i > 1 ? w->skipped / 2 : w->skipped) + next;
        double cost = stands_for * bytes_rate(w, quantity);
        weights += cost * cost;
        far += w->skipped * bytes_line(p, i, quantity);
        e.value += w->bytes[quantity];
    }
    e.value += far;
    double own = UNSTEADY * e.value;
    e.half =
        hypot(sampler_student(freedom) * sqrt(variance * weights), sampler_student(INFINITY) * own);
    e.allowance = (quantity == SAMPLER_READ ? READ_ALLOWANCE : WRITTEN_ALLOWANCE) * far;
    return e;
}

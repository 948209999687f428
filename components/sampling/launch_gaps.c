/* See launch_gaps.h. */
#include "launch_gaps.h"

#include <math.h>

#include "sampling_thresholds.h"
#include "stratified_sampler.h"

double gaps_begin(struct launch_gaps *g, double aim, double now, double instructions)
{
    *g = (struct launch_gaps){.aim = aim, .origin = now, .origin_at = instructions};
    return now + GAPS_STEP;
}

static double rate(const struct gap_window *w)
{
    return w->instructions > 0 ? w->cycles / w->instructions : 0;
}

static void open_window(struct launch_gaps *g, double now, double instructions)
{
    if (g->paused > 0 && !g->ends) {
        g->left_out += now - g->paused;
        g->open += instructions - g->paused_at;
    }
    g->ends = g->settling = false;
    g->mark = now;
    g->mark_at = instructions;
    g->measuring = true;
}

static void close_window(struct launch_gaps *g, double now, double instructions, uint64_t running)
{
    struct gap_window *w = &g->window[g->count++];
    *w = (struct gap_window){now - g->mark, instructions - g->mark_at, g->open, running, false};
    w->thin = g->count > 1 && running < w[-1].running * GAPS_FULL;
    g->open = 0;
    g->measuring = false;
}

/* The launch has begun: what is cold has become warm, as far as the last two windows tell. Only the
 * last one counts. */
static bool has_settled(struct launch_gaps *g)
{
    double now = rate(&g->window[g->count - 1]), before = g->last_rate;
    g->last_rate = now;
    if (g->paused > 0 || g->begun++ >= GAPS_BEGIN || fabs(now - before) < GAPS_ALIKE * before)
        return true;
    g->count = 0;
    return false;
}

/* Have `cycles` passed since `from`, and every wavefront issued a few instructions? Where they take
 * very long, not that many. */
static bool is_enough(double now, double from, double cycles, double instructions, double each,
                      uint64_t running)
{
    return now - from >= cycles
           && (instructions >= each * (double)running || now - from >= cycles * GAPS_LONGEST);
}

/* Cycles from a gap to the window. They vary, against periods of the launch that begin with each
 * gap; the fractions of the golden ratio spread them evenly. */
static double settles(const struct launch_gaps *g)
{
    double part = 0.618034 * g->count;
    return GAPS_SETTLE * (1 + GAPS_VARIED * (part - floor(part)));
}

/* Has half of the machine run out of work? */
static bool is_late(struct launch_gaps *g, uint64_t running)
{
    g->most_running = running > g->most_running ? running : g->most_running;
    return running < g->most_running / 2;
}

/* Not measured at the moment: a window may begin. */
static bool may_open(struct launch_gaps *g, double now, double instructions, uint64_t running)
{
    bool flows = g->flows;
    g->flows = instructions > g->origin_at;
    if (!(g->paused > 0))
        return flows && instructions - g->origin_at >= GAPS_WORTH;
    return is_enough(now, g->resumed, settles(g), instructions - g->paused_at, GAPS_SETTLE_EACH,
                     running);
}

bool gaps_look(struct launch_gaps *g, double now, double instructions, uint64_t running,
               double *next)
{
    *next = now + GAPS_STEP;
    if (!g->measuring) {
        if (may_open(g, now, instructions, running)) {
            open_window(g, now, instructions);
            *next = now + GAPS_WINDOW;
        }
        return false;
    }
    if (instructions <= g->mark_at /* the next one takes long */
        || !is_enough(now, g->mark, GAPS_WINDOW, instructions - g->mark_at, GAPS_WINDOW_EACH,
                      running))
        return false;
    close_window(g, now, instructions, running);
    if (!has_settled(g)) {
        open_window(g, now, instructions);
        *next = now + GAPS_WINDOW;
        return false;
    }
    *next = INFINITY;
    g->rest |= g->count == GAPS_MOST || is_late(g, running);
    if (g->rest)
        return false;
    g->paused = now;
    g->paused_at = instructions;
    return true;
}

/* ---- the estimate ---- */

/* Sums over windows: cycles for what was left out, and the squares of what each stands for. */
struct terms {
    double far, weights;
};

/* Cycles of what was executed between a window and the next: by the mean of their instructions a
 * cycle, since windows are pieces of time. */
static double between(const struct gap_window *w)
{
    double all = w[0].instructions / w[0].cycles + w[1].instructions / w[1].cycles;
    return w[1].thin ? w[1].before * rate(w) : 2 * w[1].before / all;
}

static struct terms add_terms(const struct launch_gaps *g)
{
    struct terms sum = {0};
    double own = 0; /* of what the window stands for */
    for (uint32_t i = 0; i < g->count; i++) {
        const struct gap_window *w = &g->window[i];
        bool last = i + 1 == g->count;
        double behind = last ? g->open * rate(w) : between(w);
        own += last || w[1].thin ? behind : behind / 2;
        sum.weights += own * own;
        sum.far += behind;
        own = last || w[1].thin ? 0 : behind / 2;
    }
    return sum;
}

/* Relative variance of a window's rate, by those that are as full as the one before. */
static double spread(const struct launch_gaps *g, double *freedom)
{
    double sum = PARTS_PRIOR_FREEDOM * PARTS_PRIOR * PARTS_PRIOR;
    *freedom = PARTS_PRIOR_FREEDOM;
    for (uint32_t i = 1; i < g->count; i++) {
        double a = rate(&g->window[i - 1]), b = rate(&g->window[i]);
        double difference = 2 * (b - a) / (a + b);
        if (g->window[i].thin)
            continue;
        sum += difference * difference / 2;
        ++*freedom;
    }
    return sum / *freedom;
}

struct cut_estimate gaps_estimate(const struct launch_gaps *g, double cycles)
{
    struct terms sum = add_terms(g);
    struct cut_estimate e = {.value = cycles - g->left_out + sum.far};
    double freedom, variance = spread(g, &freedom), own = UNSTEADY * e.value;
    double scatter = sampler_student(freedom) * sqrt(variance * sum.weights);
    e.half = hypot(scatter, sampler_student(INFINITY) * own);
    e.allowance = GAPS_ALLOWANCE * sum.far;
    return e;
}

struct cut_estimate gaps_bytes(const struct launch_gaps *g, double instructions, double bytes)
{
    double detailed = instructions - g->executed;
    double rate = detailed > 0 ? bytes / detailed : 0, far = g->executed * rate;
    struct cut_estimate e = {.value = bytes + far};
    e.half = sampler_student(INFINITY) * UNSTEADY * e.value;
    e.allowance = GAPS_ALLOWANCE * far;
    return e;
}

/* ---- gaps ---- */

double gaps_wanted(const struct launch_gaps *g, double *touching)
{
    struct cut_estimate e = gaps_estimate(g, g->paused - g->origin);
    const struct gap_window *w = &g->window[g->count - 1];
    double least = GAPS_LEAST * fmax(1, w->cycles / GAPS_WINDOW);
    double cycles = fmax(least, e.value / GAPS_SHARE), of_cycle = 1 / rate(w);
    if (g->count > 2 && e.half + e.allowance <= g->aim * e.value)
        cycles *= 2;
    *touching = fmin(cycles, GAPS_TOUCHED) * of_cycle;
    return cycles * of_cycle;
}

/* Where there are fewer wavefronts than in the last window, the pace of that is not theirs: what
 * settles counts, too. */
double gaps_executed(struct launch_gaps *g, double wanted, const struct gap_result *result)
{
    const struct gap_window *last = &g->window[g->count - 1];
    g->open += result->executed;
    g->executed += result->executed;
    g->resumed = result->resumed;
    g->small += result->executed < wanted / 4;
    g->rest = g->small > 1 || is_late(g, result->running);
    g->ends = g->rest || result->running < last->running * GAPS_FULL;
    g->settling = !g->ends;
    if (g->ends)
        g->left_out += g->resumed - g->paused;
    return g->rest ? INFINITY : result->resumed + GAPS_STEP;
}

void gaps_end(struct launch_gaps *g)
{
    if (g->settling) /* what was to settle is the end */
        g->left_out += g->resumed - g->paused;
    g->rest = true;
    g->measuring = false;
}

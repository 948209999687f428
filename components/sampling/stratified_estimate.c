/* Estimates the cycles of all launches from those that were simulated; see stratified_sampler.h. An
 * *amount* is of the quantity that is estimated, cycles or bytes; a rate is that for a unit of
 * size. */
#include <math.h>

#include "sampling_thresholds.h"
#include "stratified_sampler.h"

/* Cornish-Fisher expansion about the normal's 1.96 (Abramowitz and Stegun, 26.7.5), within 1 % from
 * 3 degrees of freedom on; below, tables. Fractions go to the next whole number below. */
double sampler_student(double freedom)
{
    double z = 1.959964, z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z, f = freedom;
    if (freedom < 3)
        return freedom < 2 ? 12.706 : 4.303;
    if (isinf(freedom))
        return z;
    return z + (z3 + z) / (4 * f) + (5 * z5 + 16 * z3 + 3 * z) / (96 * f * f)
           + (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * f * f * f);
}

double sampler_size(const struct size_fit *fit, const struct sampler_group *g,
                    const struct sampler_launch *launch)
{
    return g->per_launch ? 1 : size_of(fit, launch->instructions, launch->longest);
}

static struct size_fit fit_of(const struct sampler *s, const struct sampler_group *g,
                              enum sampler_quantity quantity)
{
    return size_fit(&s->kernel[g->kernel].moments[quantity]);
}

/* A simulated launch on the line. */
struct knot {
    double rate;
    double weight;   /* sizes of others that are counted with its rate */
    double position; /* number in the group */
    bool exact;      /* no functional warm-up was before it */
    const struct sampler_launch *launch;
};

/* A walk over a group's launches. Launches since the last knot: sizes, and times distance.
 */
struct walk {
    const struct sampler *s;
    double amount;    /* so far */
    double simulated; /* those that were simulated */
    double simulated_squares;
    double inner;            /* variance of the amounts of those */
    double weights, squares; /* sums of knots' weights squared, of launches' sizes squared */
    double sizes;            /* sizes of those launches */
    double open, open_far;
    uint32_t knots;             /* that count for others */
    struct knot first;          /* the first of the knots */
    struct knot last, previous; /* the last two; `previous` has its weight not yet counted */
    double
        trend; /* how much more, if what follows the last went on as from the first to the last */
    double differences; /* between the rates of successive knots, squared */
    double alike;       /* those where both execute as much, and */
    uint32_t alike_pairs;
    double apart;   /* rates after touches minus those after simulated launches, of */
    uint32_t pairs; /* successive knots, so that a drift does not count */
    double warmed_weight;
};

static void count_weight(struct walk *w, const struct knot *knot)
{
    w->weights += knot->weight * knot->weight;
    w->warmed_weight += knot->exact ? 0 : knot->weight;
}

/* A line from the last knot to this one. */
static void add_knot(struct walk *w, struct knot k)
{
    if (!w->knots) {
        k.weight += w->open; /* in front of the first, it alone counts */
        w->first = k;
        w->amount += w->open * k.rate;
    } else {
        double distance = k.position - w->last.position, share = w->open_far / distance;
        w->amount += w->last.rate * w->open + (k.rate - w->last.rate) * share;
        w->last.weight += w->open - share;
        k.weight += share;
        if (k.exact != w->last.exact) {
            w->apart += k.exact ? w->last.rate - k.rate : k.rate - w->last.rate;
            w->pairs++;
        }
        double difference = (k.rate - w->last.rate) * (k.rate - w->last.rate);
        bool alike = k.launch->instructions == w->last.launch->instructions
                     && k.launch->longest == w->last.launch->longest;
        w->differences += difference;
        w->alike += alike ? difference : 0;
        w->alike_pairs += alike;
        if (w->knots > 1)
            count_weight(w, &w->previous);
        w->previous = w->last;
    }
    w->last = k;
    w->open = w->open_far = 0;
    w->knots++;
}

/* Launches after the last knot take the mean of the last two. */
static void end_walk(struct walk *w)
{
    if (!w->knots)
        return;
    if (w->knots == 1) {
        w->amount += w->open * w->last.rate;
        w->last.weight += w->open;
    } else {
        double slope = (w->last.rate - w->first.rate) / (w->last.position - w->first.position);
        w->amount += w->open * (w->last.rate + w->previous.rate) / 2;
        w->trend = slope * (w->open_far + w->open * (w->last.position - w->previous.position) / 2);
        w->last.weight += w->open / 2;
        w->previous.weight += w->open / 2;
        count_weight(w, &w->previous);
    }
    count_weight(w, &w->last);
}

static struct walk walk_group(const struct sampler *s, uint32_t group,
                              enum sampler_quantity quantity)
{
    const struct sampler_group *g = &s->group[group];
    const struct size_fit fit = fit_of(s, g, quantity);
    struct walk w = {.s = s};
    double position = 0, cold = fmin(sampler_cold(g), (double)g->simulated - 1);
    for (uint32_t i = g->first; i != SAMPLER_NONE; i = s->launch[i].next, position++) {
        const struct sampler_launch *l = &s->launch[i];
        double size = sampler_size(&fit, g, l);
        double amount = l->measure.amount[quantity];
        if (!l->simulated) {
            w.open += size;
            w.open_far += size * (position - w.last.position);
            w.squares += size * size;
            w.sizes += size;
            continue;
        }
        w.amount += amount;
        w.simulated += amount;
        w.simulated_squares += amount * amount;
        double deviation = amount * l->measure.inner[quantity];
        w.inner += deviation * deviation;
        if (position >= cold)
            add_knot(&w, (struct knot){.rate = amount / size,
                                       .position = position,
                                       .exact = l->detailed >= SAMPLER_EXACT,
                                       .launch = l});
    }
    end_walk(&w);
    return w;
}

/* ---- how rates scatter ---- */

static double prior_freedom(enum sampler_quantity quantity)
{
    return quantity == SAMPLER_CYCLES ? SAMPLING_PRIOR_FREEDOM : 0;
}

/* Relative variance of rates, over groups in which it can be seen: all, or those of the kernel of
 * group `besides` other than that one. Its degrees of freedom may be 0. */
static double common_variance(const struct sampler *s, uint32_t besides,
                              enum sampler_quantity quantity, double *freedom)
{
    double sum = 0;
    *freedom = 0;
    for (uint32_t i = 0; i < s->group_count; i++) {
        if (besides != SAMPLER_NONE
            && (i == besides || s->group[i].shape.kernel != s->group[besides].shape.kernel))
            continue;
        struct walk w = walk_group(s, i, quantity);
        double rate = w.knots ? w.last.rate : 0;
        if (w.knots < 2 || rate <= 0)
            continue;
        sum += w.differences / 2 / (rate * rate);
        *freedom += w.knots - 1;
    }
    return *freedom > 0 ? sum / *freedom : 0;
}

/* The simulated launches of a group, or all: amounts of one, and for a size as that of `of`. */
static double mean_of(const struct sampler *s, uint32_t group, const struct sampler_group *of,
                      enum sampler_quantity quantity, double *rate)
{
    const struct size_fit fit = fit_of(s, of, quantity);
    double amount = 0, size = 0, number = 0;
    for (uint32_t i = 0; i < s->launches; i++) {
        const struct sampler_launch *l = &s->launch[i];
        if (!l->simulated || (group != SAMPLER_NONE && l->group != group))
            continue;
        amount += l->measure.amount[quantity];
        size += sampler_size(&fit, of, l);
        number++;
    }
    *rate = size > 0 ? amount / size : 0;
    return number > 0 ? amount / number : 0;
}

/* The simulated group of the same kernel that executes about as much, or SAMPLER_NONE. */
static uint32_t nearest(const struct sampler *s, uint32_t group)
{
    const struct sampler_group *g = &s->group[group];
    double wanted = (double)s->launch[g->first].instructions, least = INFINITY;
    uint32_t best = SAMPLER_NONE;
    for (uint32_t i = 0; i < s->group_count; i++) {
        const struct sampler_group *other = &s->group[i];
        if (!other->simulated || other->shape.kernel != g->shape.kernel)
            continue;
        double far = fabs(log((double)s->launch[other->first].instructions / wanted));
        best = far < least ? i : best;
        least = fmin(far, least);
    }
    return best;
}

/* Relative variance of rates from group to group of the kernel. INFINITY: no more groups were
 * simulated than sizes have terms. */
static double variance_of_groups(const struct sampler *s, uint32_t group,
                                 enum sampler_quantity quantity)
{
    double sum = 0, squares = 0, number = 0;
    for (uint32_t i = 0; i < s->group_count; i++) {
        const struct sampler_group *other = &s->group[i];
        double rate;
        if (!other->simulated || other->kernel != s->group[group].kernel)
            continue;
        mean_of(s, i, other, quantity, &rate);
        sum += rate;
        squares += rate * rate;
        number++;
    }
    if (number <= SIZE_TERMS || sum <= 0)
        return INFINITY;
    return fmax(0, squares * number / (sum * sum) - 1) * number / (number - 1);
}

/* Variance of rates of a group. Few launches may be alike by chance, so other groups of the kernel
 * count like SAMPLING_COMMON_FREEDOM differences at most (an empirical Bayes estimate of variance:
 * Smyth, 2004), and what is known of all launches like SAMPLING_PRIOR_FREEDOM. Bytes may be next to
 * none in another group, which then tells nothing of their scatter. A group without differences
 * takes that of all. */
static double spread_of(const struct sampler *s, uint32_t group, enum sampler_quantity quantity,
                        const struct walk *w, double *freedom)
{
    double others, square = w->last.rate * w->last.rate, prior = prior_freedom(quantity);
    if (w->knots < 2)
        return square
               * fmax(common_variance(s, SAMPLER_NONE, quantity, &others),
                      SAMPLING_UNMEASURED * SAMPLING_UNMEASURED);
    double common = common_variance(s, group, quantity, &others);
    others = quantity == SAMPLER_CYCLES ? fmin(others, SAMPLING_COMMON_FREEDOM) : 0;
    *freedom = w->knots - 1 + others + prior;
    double sum = w->differences / 2 + others * common * square;
    return (sum + prior * SAMPLING_UNSTEADY * SAMPLING_UNSTEADY * square) / *freedom;
}

/* The part of it that all launches of a full run may share: it depends on the moment at which one
 * begins, and that may be the same for all of them, so their deviations need not average out (an
 * intraclass correlation of 1: Kish, Survey Sampling, 1965, chapter 5). Launches that execute as
 * much tell it, which differ by nothing else. */
static double shared_of(const struct walk *w, enum sampler_quantity quantity, double spread,
                        double *freedom)
{
    double prior = prior_freedom(quantity), square = w->last.rate * w->last.rate;
    if (w->knots < 2 || (!w->alike_pairs && prior <= 0))
        return 0;
    *freedom = w->alike_pairs + prior;
    double sum = w->alike / 2 + prior * SAMPLING_UNSTEADY * SAMPLING_UNSTEADY * square;
    return fmin(spread, sum / *freedom);
}

/* The estimate of a group that was joined to another one: launches are like those. */
static struct sampler_estimate joined(const struct sampler *s, const struct sampler_group *g,
                                      enum sampler_quantity quantity)
{
    struct sampler_estimate e = {.freedom = INFINITY};
    uint32_t other = g->joined - 1;
    struct walk w = walk_group(s, other, quantity);
    double rate;
    e.value = mean_of(s, other, g, quantity, &rate) * g->count;
    double spread = spread_of(s, other, quantity, &w, &e.freedom);
    e.variance = w.last.rate > 0 ? e.value * e.value * spread / (w.last.rate * w.last.rate) : 0;
    e.half = sampler_student(e.freedom) * sqrt(e.variance);
    return e;
}

/* Where groups of the kernel say how far sizes can be trusted, the size tells. Else a launch that
 * executes less may do less, or it waited less, as time has it: what is nearest is taken half by
 * its size, half as it is, where it has the same shape; the difference is doubt, too. */
static struct sampler_estimate unrepresented(const struct sampler *s, uint32_t group,
                                             enum sampler_quantity quantity)
{
    struct sampler_estimate e = {.freedom = INFINITY};
    const struct sampler_group *g = &s->group[group];
    const struct size_fit fit = fit_of(s, g, quantity);
    uint32_t other = nearest(s, group);
    double rate, mean = mean_of(s, other, g, quantity, &rate), by_rate = 0;
    for (uint32_t i = g->first; i != SAMPLER_NONE; i = s->launch[i].next)
        by_rate += rate * sampler_size(&fit, g, &s->launch[i]);
    double between = variance_of_groups(s, group, quantity);
    bool same = other != SAMPLER_NONE && s->group[other].shape.work_groups == g->shape.work_groups
                && isinf(between);
    double by_launch = same ? mean * g->count : by_rate;
    e.value = (by_rate + by_launch) / 2;
    double share = isinf(between) ? SAMPLING_UNREPRESENTED : sqrt(between);
    double deviation = share * e.value + fabs(by_rate - by_launch) / 2;
    e.variance = deviation * deviation;
    e.half = sampler_student(e.freedom) * deviation;
    return e;
}

static struct sampler_estimate estimate(const struct sampler *s, uint32_t group,
                                        enum sampler_quantity quantity)
{
    const struct sampler_group *g = &s->group[group];
    if (!g->simulated)
        return g->joined && s->group[g->joined - 1].simulated ? joined(s, g, quantity)
                                                              : unrepresented(s, group, quantity);
    struct walk w = walk_group(s, group, quantity);
    struct sampler_estimate e = {.value = w.amount,
                                 .allowance = SAMPLING_ALLOWANCE * (w.amount - w.simulated),
                                 .freedom = INFINITY};
    double unsteady = s->unsteady * s->unsteady * w.simulated_squares + w.inner;
    if (w.squares <= 0) { /* all were simulated */
        e.variance = unsteady;
        e.half = sampler_student(e.freedom) * sqrt(e.variance);
        return e;
    }
    double spread = spread_of(s, group, quantity, &w, &e.freedom);
    double freedom = INFINITY;
    double shared = shared_of(&w, quantity, spread, &freedom) * (w.sizes * w.sizes - w.squares);
    double own = spread * (w.weights + w.squares);
    e.variance = own + shared + unsteady;
    e.shared = shared;
    if (own + shared > 0)
        e.freedom =
            (own + shared) * (own + shared) / (own * own / e.freedom + shared * shared / freedom);
    e.half = sampler_student(e.freedom) * sqrt(e.variance);
    e.trend = w.trend;
    if (w.pairs)
        e.bias = w.apart / w.pairs * w.warmed_weight;
    return e;
}

struct sampler_estimate sampler_estimate_group(const struct sampler *s, uint32_t group,
                                               enum sampler_quantity quantity)
{
    struct sampler_estimate e = estimate(s, group, quantity);
    e.bias = fabs(e.bias);
    e.trend = fabs(e.trend);
    return e;
}

/* Degrees of freedom: Satterthwaite, "An approximate distribution of estimates of variance
 * components", 1946. */
struct sampler_estimate sampler_estimate_kernel(const struct sampler *s, uint32_t kernel,
                                                enum sampler_quantity quantity)
{
    struct sampler_estimate all = {0};
    double parts = 0;
    for (uint32_t i = 0; i < s->group_count; i++) {
        if (kernel != SAMPLER_NONE && s->group[i].shape.kernel != kernel)
            continue;
        struct sampler_estimate e = estimate(s, i, quantity);
        all.value += e.value;
        all.variance += e.variance;
        all.shared += e.shared;
        all.bias += e.bias;
        all.trend += e.trend;
        all.allowance += e.allowance;
        parts += e.variance * e.variance / e.freedom;
    }
    all.bias = fabs(all.bias);
    all.trend = fabs(all.trend);
    all.freedom = parts > 0 ? all.variance * all.variance / parts : INFINITY;
    all.half = all.variance > 0 ? sampler_student(all.freedom) * sqrt(all.variance) : 0;
    return all;
}

struct sampler_estimate sampler_estimate_all(const struct sampler *s,
                                             enum sampler_quantity quantity)
{
    return sampler_estimate_kernel(s, SAMPLER_NONE, quantity);
}

double sampler_instructions(const struct sampler *s)
{
    double all = 0;
    for (uint32_t i = 0; i < s->launches; i++) {
        const struct sampler_group *g = &s->group[s->launch[i].group];
        double density = g->counted_in > 0 ? g->counted / g->counted_in : 0;
        all += (double)s->launch[i].instructions * density;
    }
    return all;
}

double sampler_interval(const struct sampler_estimate *e)
{
    return e->half + e->bias + e->trend + e->allowance;
}

double sampler_least_interval(const struct sampler_estimate *e)
{
    return sampler_student(INFINITY) * sqrt(e->shared) + e->allowance;
}

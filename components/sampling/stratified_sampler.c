/* Groups of launches and the choice among them; see stratified_sampler.h. */
#include "stratified_sampler.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/number.h"

#include "sampling_thresholds.h"

void sampler_work_add(struct sampler_work *work, const struct sampler_work *part)
{
    for (uint32_t i = 0; i < SAMPLER_VECTOR; i++)
        work->vector[i] += part->vector[i];
    work->longest = max(part->longest, work->longest);
}

void sampler_init(struct sampler *s, struct sampler_launch *launch, uint32_t capacity,
                  uint64_t depth, double aim)
{
    memset(s, 0, sizeof *s);
    s->launch = launch;
    s->capacity = capacity;
    s->depth = depth < SAMPLING_DEPTH_MAX ? depth : SAMPLING_ALL;
    s->aim = aim;
    s->warm = SAMPLING_ALL;
    s->detailed = SAMPLER_NONE;
    for (uint32_t i = 0; i < SAMPLER_HISTORY; i++)
        s->history[i] = SAMPLER_NONE;
}

/* ---- prediction ---- */

static const uint32_t lengths[] = {SAMPLER_HISTORY, 16, 8, 4, 2, 1, 0};
enum { LENGTHS = ARRAY_COUNT(lengths) };

/* The key of a memory: the last `length` groups, and the shape, or NULL: any launch. */
static uint64_t tag_of(const uint32_t *history, uint32_t length, const struct sampler_shape *shape)
{
    uint64_t hash = hash_add(length + 1, shape != NULL);
    if (shape) {
        hash = hash_add(hash, (uint64_t)shape->kernel << 32 | shape->gpu);
        hash =
            hash_add(hash_add(hash, shape->work_groups), shape->work_items * 2ull + shape->flushed);
    }
    for (uint32_t i = 0; i < length; i++)
        hash = hash_add(hash, history[i]);
    return hash | 1;
}

static uint32_t predict(const struct sampler *s, const uint32_t *history,
                        const struct sampler_shape *shape)
{
    for (uint32_t i = 0; i < LENGTHS && (shape || lengths[i]); i++) {
        uint64_t tag = tag_of(history, lengths[i], shape);
        const struct sampler_memory *m = &s->memory[tag >> 7 & (SAMPLER_TABLE - 1)];
        if (m->tag == tag)
            return m->group;
    }
    return SAMPLER_NONE;
}

static void learn(struct sampler *s, const struct sampler_shape *shape, uint32_t group)
{
    for (uint32_t i = 0; i < LENGTHS; i++) {
        uint64_t tag = tag_of(s->history, lengths[i], shape);
        s->memory[tag >> 7 & (SAMPLER_TABLE - 1)] = (struct sampler_memory){tag, group};
    }
}

static void push(uint32_t *history, uint32_t group)
{
    memmove(history + 1, history, (SAMPLER_HISTORY - 1) * sizeof *history);
    history[0] = group;
}

/* ---- groups ---- */

/* The age of a launch of a list says what that finds in caches. */
static bool is_comparable(const struct sampler_shape *a, const struct sampler_shape *b)
{
    return a->kernel == b->kernel && a->gpu == b->gpu && a->work_items == b->work_items
           && a->age == b->age && a->flushed == b->flushed && (a->bytes || a->before == b->before);
}

/* The difference as a share of the sum. */
static double relative_difference(uint64_t a, uint64_t b)
{
    double sum = (double)a + (double)b;
    return sum > 0 ? fabs((double)a - (double)b) / sum : 0;
}

static double shapes_apart(const struct sampler_shape *a, const struct sampler_shape *b)
{
    return fmax(relative_difference(a->work_groups, b->work_groups),
                relative_difference(a->bytes, b->bytes));
}

static double vectors_apart(const struct sampler_group *g, const struct sampler_shape *shape,
                            const struct sampler_work *work)
{
    double difference = 0, sum = 0;
    if (shape->bytes)
        return shapes_apart(&g->shape, shape);
    for (uint32_t i = 0; i < SAMPLER_VECTOR; i++) {
        difference += fabs((double)g->work.vector[i] - (double)work->vector[i]);
        sum += (double)g->work.vector[i] + (double)work->vector[i];
    }
    return fmax(sum > 0 ? difference / sum : 0, shapes_apart(&g->shape, shape));
}

static double distance(const struct sampler_group *g, const struct sampler_shape *shape,
                       const struct sampler_work *work)
{
    return fmax(vectors_apart(g, shape, work), relative_difference(g->work.longest, work->longest));
}

/* NULL: none yet, and there is room for it. */
static const struct sampler_kernel *known_kernel(const struct sampler *s,
                                                 const struct sampler_shape *shape)
{
    uint32_t i = 0;
    while (i < s->kernel_count
           && (s->kernel[i].kernel != shape->kernel || s->kernel[i].gpu != shape->gpu
               || s->kernel[i].age != shape->age))
        i++;
    if (i == SAMPLER_KERNELS_MAX)
        i--;
    return i < s->kernel_count ? &s->kernel[i] : NULL;
}

static struct sampler_kernel *find_kernel(struct sampler *s, const struct sampler_shape *shape)
{
    const struct sampler_kernel *known = known_kernel(s, shape);
    if (known)
        return &s->kernel[known - s->kernel];
    s->kernel[s->kernel_count] =
        (struct sampler_kernel){.kernel = shape->kernel, .gpu = shape->gpu, .age = shape->age};
    return &s->kernel[s->kernel_count++];
}

/* By how much launches of a group may differ, as a share of what they execute together: at first by
 * what the whole may be off. */
static double tolerance(const struct sampler *s, const struct sampler_kernel *k)
{
    return fmin(SAMPLING_TOLERANCE_MAX,
                ldexp(s->aim, (int)(k->groups / SAMPLER_SPLIT + k->widened)));
}

/* The group of the kernel that is nearest. */
static uint32_t find_group(const struct sampler *s, const struct sampler_shape *shape,
                           const struct sampler_work *work, double *far)
{
    uint32_t best = SAMPLER_NONE;
    *far = INFINITY;
    for (uint32_t i = 0; i < s->group_count; i++) {
        if (!is_comparable(&s->group[i].shape, shape))
            continue;
        double here = distance(&s->group[i], shape, work);
        if (here < *far) {
            *far = here;
            best = i;
        }
    }
    return best;
}

static uint32_t group_of(struct sampler *s, const struct sampler_shape *shape,
                         const struct sampler_work *work)
{
    double far;
    struct sampler_kernel *k = find_kernel(s, shape);
    uint32_t group = find_group(s, shape, work, &far);
    if (group != SAMPLER_NONE && (far <= tolerance(s, k) || s->group_count == SAMPLER_GROUPS)) {
        struct sampler_group *found = &s->group[group];
        found->finest = min(s->way, found->finest);
        found->coarsest = max(s->way, found->coarsest);
        return found->joined ? found->joined - 1 : group;
    }
    if (s->group_count == SAMPLER_GROUPS)
        return 0;
    k->groups++;
    struct sampler_group *g = &s->group[s->group_count];
    *g = (struct sampler_group){.shape = *shape,
                                .work = *work,
                                .first = SAMPLER_NONE,
                                .last = SAMPLER_NONE,
                                .finest = s->way,
                                .coarsest = s->way,
                                .due = 1,
                                .gap = 1,
                                .kernel = (uint32_t)(k - s->kernel)};
    return s->group_count++;
}

/* A group of the kernel with about as many work-groups, and with a trace of about that size. */
static uint32_t find_similar_group(const struct sampler *s, const struct sampler_shape *shape)
{
    const struct sampler_kernel *k = known_kernel(s, shape);
    double most = k ? tolerance(s, k) : 0, least = INFINITY;
    uint32_t best = SAMPLER_NONE;
    for (uint32_t i = 0; i < s->group_count; i++) {
        const struct sampler_shape *other = &s->group[i].shape;
        double far = shapes_apart(other, shape);
        if (!is_comparable(other, shape) || far > most || far >= least)
            continue;
        least = far;
        best = i;
    }
    return best;
}

/* The group of a launch of that shape. The size of a trace predicts it better than the history. */
static uint32_t predict_shape(const struct sampler *s, const uint32_t *history,
                              const struct sampler_shape *shape)
{
    uint32_t group = shape->bytes ? SAMPLER_NONE : predict(s, history, shape);
    return group == SAMPLER_NONE ? find_similar_group(s, shape) : group;
}

/* ---- choice ---- */

/* True if launch `number` of the group is to be simulated. In a chain, every other one also if half
 * of the way to it is done: the platform is warm now, and will have to be warmed up for it
 * otherwise. Not each, or those right after the same launch of another group would represent all.
 */
static bool is_due(const struct sampler *s, uint32_t group, uint32_t number, bool chained)
{
    const struct sampler_group *g = &s->group[group];
    bool early = chained && g->gap >= SAMPLING_EARLY_GAP_MIN && g->simulated_at < s->chain_start
                 && (hash_add(0, number) >> 32 & 1);
    return number >= (early ? g->due - g->gap / 2 : g->due);
}

/* A chain: since a launch that was due was simulated, no launch has left no trace, and not long ago
 * another one was simulated. */
static bool is_chained(const struct sampler *s)
{
    return s->chain_start && s->warm >= s->depth && s->launches - s->chain_last <= SAMPLER_EXACT;
}

/* True if one of the next `depth` launches after the present one is predicted to be due. */
static bool foreseen(const struct sampler *s, uint32_t present, bool chained)
{
    uint32_t history[SAMPLER_HISTORY], passed[SAMPLER_GROUPS] = {0};
    memcpy(history, s->history, sizeof history);
    uint64_t depth = min(s->depth, SAMPLING_FORESEEN_MAX);
    for (uint64_t i = 0; i < depth && present != SAMPLER_NONE; i++) {
        push(history, present);
        passed[present]++;
        const struct sampler_shape *known = i < s->ahead_count ? &s->ahead[i] : NULL;
        present = known ? predict_shape(s, history, known) : predict(s, history, NULL);
        if (known && present == SAMPLER_NONE)
            return true;
        if (present != SAMPLER_NONE
            && is_due(s, present, s->group[present].count + passed[present] + 1, chained))
            return true;
    }
    return false;
}

static enum sampling_way choose(struct sampler *s)
{
    if (s->predicted == SAMPLER_NONE)
        return SAMPLING_DETAILED;
    bool chained = is_chained(s);
    uint32_t number = s->group[s->predicted].count + 1;
    bool due = is_due(s, s->predicted, number, chained);
    if (due && s->warm >= s->depth) {
        if (!chained)
            s->chain_start = s->launches + 1;
        s->chain_last = s->launches;
        return SAMPLING_DETAILED;
    }
    if (due && !s->alert) {
        s->alert_length = s->alert_length ? s->alert_length % SAMPLING_DEPTH_MAX * 2
                                          : SAMPLING_FIRST_ALERT * (uint32_t)s->depth;
        s->alert = s->alert_length;
    }
    if (s->depth == SAMPLING_ALL || s->alert || foreseen(s, s->predicted, chained))
        return SAMPLING_TOUCHING;
    return SAMPLING_SKIPPED;
}

void sampler_foresee(struct sampler *s, const struct sampler_shape *ahead, uint32_t count)
{
    s->ahead_count = min(count, SAMPLER_AHEAD);
    memcpy(s->ahead, ahead, s->ahead_count * sizeof *ahead);
}

enum sampling_way sampler_choose(struct sampler *s, const struct sampler_shape *shape,
                                 uint64_t flushes)
{
    struct sampler_kernel *k = find_kernel(s, shape);
    uint32_t before = s->launches ? s->shape.kernel : shape->kernel;
    s->shape = *shape;
    s->shape.before = before;
    s->shape.flushed = k->flushes != flushes;
    k->flushes = flushes;
    s->predicted = predict_shape(s, s->history, &s->shape);
    s->way = s->launches == s->capacity ? SAMPLING_SKIPPED : choose(s);
    s->alert -= s->alert > 0;
    if (s->way == SAMPLING_DETAILED)
        s->alert = s->alert_length = 0;
    return s->way;
}

/* ---- distances between simulated launches ---- */

/* Variance of the group's cycles if two launches in its middle stood for it, as the last ones do
 * where distances grow. */
static double doubt(const struct sampler_group *g)
{
    double cycles = g->cycles / g->simulated * g->count;
    double sum =
        g->differences / 2 + SAMPLING_PRIOR_FREEDOM * SAMPLING_UNSTEADY * SAMPLING_UNSTEADY;
    return g->pairs ? cycles * cycles * sum / (2.0 * (g->pairs + SAMPLING_PRIOR_FREEDOM)) : 0;
}

/* Simulated launches that the group needs for its part of the aim, if they stood for equal parts of
 * its launches. All groups are taken to be like this one, and shares of the aim's square are given
 * out by cycles: if each has as many as it needs, the whole is within the aim. */
static double needed(const struct sampler *s, const struct sampler_group *g)
{
    double cycles = 0, sum = 0, parts = 0;
    for (uint32_t i = 0; i < s->group_count; i++) {
        const struct sampler_group *other = &s->group[i];
        if (!other->simulated)
            continue;
        double variance = doubt(other);
        cycles += other->cycles / other->simulated * other->count;
        sum += variance;
        parts += other->pairs ? variance * variance / (other->pairs + SAMPLING_PRIOR_FREEDOM) : 0;
    }
    double own = g->cycles / g->simulated * g->count;
    double t = parts > 0 ? sampler_student(sum * sum / parts) : 0;
    return 2 * t * t * doubt(g) / (own * cycles * s->aim * s->aim);
}

/* Launches to the next one that is simulated. Where each gap is the same share x of what was before
 * it, those at the end count most: they are worth as many that represent equal parts as 1 + 2 / x.
 * So x follows from how many are needed; and two are, for a line. */
static double gap_of(const struct sampler *s, const struct sampler_group *g)
{
    double needs = g->pairs ? needed(s, g) : 0;
    return 2.0 * g->count / (fmax(needs, 2) - 1);
}

/* By how much the launch differs from what the one before it in the group makes expected, which
 * was simulated, too, and is not the first: its caches were cold. */
static void compare(struct sampler *s, struct sampler_group *g, const struct sampler_launch *l)
{
    const struct sampler_launch *before = &s->launch[g->simulated_at - 1];
    const struct size_fit fit = size_fit(&s->kernel[g->kernel].moments[SAMPLER_CYCLES]);
    double expected = before->measure.amount[SAMPLER_CYCLES] / sampler_size(&fit, g, before)
                      * sampler_size(&fit, g, l);
    double difference = l->measure.amount[SAMPLER_CYCLES] / expected - 1;
    g->pairs++;
    g->differences += difference * difference;
}

/* A launch of the group has been simulated. Distances of 8 and more are varied by up to an eighth,
 * the same in all groups: a program may have periods of its own, but launches one after another
 * should stay so. */
static void schedule(struct sampler *s, struct sampler_group *g, const struct sampler_launch *l,
                     bool early)
{
    if (g->simulated > sampler_cold(g))
        compare(s, g, l);
    g->simulated++;
    g->cycles += l->measure.amount[SAMPLER_CYCLES];
    if (g->count < g->due && !early)
        return; /* another group was predicted */
    if (g->simulated == 1) {
        g->due = g->count + 1;
        return;
    }
    g->gap = (uint32_t)fmax(1, fmin(gap_of(s, g), SAMPLING_GAP_MAX));
    uint32_t eighth = g->gap / 8;
    g->due = g->count + g->gap - eighth
             + (eighth ? (uint32_t)(hash_add(0, g->simulated) >> 32) % (2 * eighth + 1) : 0);
}

static uint64_t count_of(const struct sampler_work *work)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < SAMPLER_VECTOR; i++)
        sum += work->vector[i];
    return sum;
}

/* A launch was simulated for the group that was predicted. Where it belongs to another again and
 * again, groups are finer than what can be foreseen (or the kernel executes something else when it
 * is simulated: it waits or tries again, as time has it), and get wider. */
static void note_prediction(struct sampler *s, uint32_t group)
{
    struct sampler_kernel *k = find_kernel(s, &s->shape);
    if (s->way != SAMPLING_DETAILED || s->predicted == SAMPLER_NONE)
        return;
    k->missed = group == s->predicted ? 0 : k->missed + 1;
    if (k->missed) {
        struct sampler_group *g = &s->group[s->predicted];
        g->gap *= 2;
        g->due = g->count + 1 + g->gap;
    }
    if (k->missed < SAMPLING_MISSED_MAX)
        return;
    k->missed = 0;
    k->widened++;
}

/* A group was foreseen, and the launch turned out to be of another, again, of which all launches
 * were executed in more detail than those of the first: what the kernel executes depends on how it
 * is executed. */
static void note_stray(struct sampler *s, uint32_t group, const struct sampler_work *work)
{
    struct sampler_group *g = s->predicted == SAMPLER_NONE ? NULL : &s->group[s->predicted];
    if (!g || s->predicted == group || s->group[group].coarsest >= g->finest || g->joined
        || vectors_apart(g, &s->shape, work) > SAMPLING_STRAY_DISTANCE
        || ++g->strayed < SAMPLING_MISSED_MAX)
        return;
    g->joined = group + 1;
    for (uint32_t i = 0; i < s->group_count; i++)
        if (s->group[i].joined == s->predicted + 1)
            s->group[i].joined = group + 1;
    s->group[group].per_launch = true;
}

static void note_way(struct sampler *s)
{
    if (s->way == SAMPLING_SKIPPED)
        s->warm = 0;
    else
        s->warm += s->warm < SAMPLING_ALL;
    if (s->way != SAMPLING_DETAILED)
        s->detailed = 0;
    else
        s->detailed += s->detailed < SAMPLER_NONE;
}

void sampler_note(struct sampler *s, const struct sampler_work *work,
                  const struct sampler_measure *measure)
{
    if (s->launches == s->capacity)
        return;
    uint64_t count = count_of(work);
    uint32_t number = s->launches++, group = group_of(s, &s->shape, work);
    struct sampler_group *g = &s->group[group];
    struct sampler_launch *l = &s->launch[number];
    *l = (struct sampler_launch){.group = group,
                                 .next = SAMPLER_NONE,
                                 .detailed = s->detailed,
                                 .way = (uint8_t)s->way,
                                 .instructions = s->shape.bytes ? s->shape.bytes : count,
                                 .longest = work->longest ? work->longest : 1};
    l->instructions += !l->instructions;
    g->counted += (double)count;
    g->counted_in += count ? (double)l->instructions : 0;
    if (g->count)
        s->launch[g->last].next = number;
    else
        g->first = number;
    g->last = number;
    g->count++;
    bool early = group == s->predicted && s->way == SAMPLING_DETAILED;
    if (measure) {
        l->simulated = true;
        l->measure = *measure;
        if (s->kernel[g->kernel].simulated)
            for (unsigned i = 0; i < SAMPLER_QUANTITIES; i++)
                size_learn(&s->kernel[g->kernel].moments[i], l->instructions, l->longest,
                           measure->amount[i]);
        s->kernel[g->kernel].simulated++;
        schedule(s, g, l, early);
        g->simulated_at = s->launches;
    }
    note_stray(s, group, work);
    note_prediction(s, group);
    note_way(s);
    learn(s, &s->shape, group);
    learn(s, NULL, group);
    push(s->history, group);
}

void cut_measure(const struct cut_estimate e[SAMPLER_QUANTITIES], struct sampler_measure *measure)
{
    for (unsigned i = 0; i < SAMPLER_QUANTITIES; i++) {
        double share = e[i].value > 0 ? 1 / e[i].value : 0;
        measure->amount[i] = floor(e[i].value + 0.5);
        measure->inner[i] = (e[i].half + e[i].allowance) / sampler_student(INFINITY) * share;
    }
}

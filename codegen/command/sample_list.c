/* `heddle sample` of a list of traces. The list names all kernels before any is simulated, so a few
 * of each group are chosen from all of them.
 *
 * 1. A functional run says what each launch executes: instructions of each class, and of each basic
 *    block. 2. Launches of one kernel with the same number of work-groups whose vectors differ by
 * at most a hundredth are a group. 3. Of each group a few, evenly spread over it, are simulated in
 *    detail behind a functional warm-up, in one run. 4. The total is the sum over groups of their
 *    number times the mean of their representatives; groups are strata, so the variance of the
 * total is the sum of N^2 (1 - n/N) s^2 / n (Cochran, Sampling Techniques, chapter 5), and the
 * interval takes the t distribution with as many degrees of freedom as representatives beyond one a
 * group. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/command/command.h"
#include "codegen/command/sample_list.h"
#include "codegen/command/trial.h"
#include "codegen/report/statistics_read.h"
#include "components/sampling/stratified_sampler.h"

enum { SAMPLE_VECTOR = 64, SAMPLE_PER_GROUP = 3 };
#define SAMPLE_DIFFERENCE 0.01

struct launch {
    uint64_t number;
    const char *name, *symbol;
    uint64_t work_groups;
    double vector[SAMPLE_VECTOR]; /* wavefront instructions */
    unsigned length;
    uint32_t group;
};

struct group {
    uint32_t first; /* launch, whose vector stands for the group */
    uint32_t size, simulated;
    double sum, squares; /* of the simulated launches' cycles */
};

struct sample {
    struct command *command;
    VECTOR(struct launch) launches;
    VECTOR(struct group) groups;
    double seconds; /* CPU, of both runs */
};

/* ---- groups ---- */

static void read_vector(struct launch *l, const char *text)
{
    while (text && *text && l->length < SAMPLE_VECTOR) {
        char *end;
        l->vector[l->length++] = strtod(text, &end);
        text = *end ? end + 1 : end;
    }
}

static bool alike(const struct launch *a, const struct launch *b)
{
    double difference = 0, sum = 0;
    if (strcmp(a->symbol, b->symbol) != 0 || a->work_groups != b->work_groups
        || a->length != b->length)
        return false;
    for (unsigned i = 0; i < a->length; i++) {
        difference += fabs(a->vector[i] - b->vector[i]);
        sum += a->vector[i] + b->vector[i];
    }
    return difference <= SAMPLE_DIFFERENCE * sum;
}

static void add_launch(struct sample *s, json_t *record)
{
    struct arena *arena = s->command->arena;
    json_t *profile = json_object_get(record, "profile");
    struct launch l = {
        .number = statistics_number(record, "launch"),
        .name = arena_strdup(arena, json_string_value(json_object_get(record, "name"))),
        .symbol = arena_strdup(arena, json_string_value(json_object_get(record, "symbol"))),
        .work_groups = statistics_number(record, "work_groups")};
    read_vector(&l, json_string_value(json_object_get(profile, "units")));
    read_vector(&l, json_string_value(json_object_get(profile, "blocks")));
    while (l.group < s->groups.count
           && !alike(&l, &s->launches.items[s->groups.items[l.group].first]))
        l.group++;
    if (l.group == s->groups.count) {
        struct group g = {.first = (uint32_t)s->launches.count};
        vector_push(arena, &s->groups, g);
    }
    s->groups.items[l.group].size++;
    vector_push(arena, &s->launches, l);
}

static bool profile(struct sample *s)
{
    static const char *const options[] = {"--mode", "functional", "--profile", "blocks", NULL};
    size_t i;
    json_t *record, *run = trial_run(s->command, options);
    if (!run)
        return false;
    json_array_foreach(json_object_get(run, "kernels"), i, record) add_launch(s, record);
    s->seconds += statistics_cpu_seconds(run);
    json_decref(run);
    if (!s->launches.count)
        fprintf(stderr, "heddle sample: the list names no kernels\n");
    return s->launches.count > 0;
}

/* ---- representatives ---- */

static uint32_t wanted(const struct sample *s, const struct group *g)
{
    uint64_t most =
        s->command->options->per_group ? s->command->options->per_group : SAMPLE_PER_GROUP;
    return g->size < most ? g->size : (uint32_t)most;
}

/* Is number `at` of the group's launches one of `n` that are spread evenly over it? */
static bool is_spread(uint32_t at, uint32_t size, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (at == (2 * (uint64_t)i + 1) * size / (2 * (uint64_t)n))
            return true;
    }
    return false;
}

/* "3,17,29". */
static const char *choose(const struct sample *s)
{
    char *list = arena_alloc(s->command->arena, s->launches.count * 21 + 1);
    uint32_t *seen = calloc(s->groups.count, sizeof *seen);
    size_t used = 0;
    list[0] = '\0';
    for (uint32_t i = 0; seen && i < s->launches.count; i++) {
        const struct launch *l = &s->launches.items[i];
        const struct group *g = &s->groups.items[l->group];
        if (is_spread(seen[l->group]++, g->size, wanted(s, g)))
            used += (size_t)sprintf(list + used, "%s%" PRIu64, used ? "," : "", l->number);
    }
    free(seen);
    return list;
}

static bool simulate(struct sample *s)
{
    const char *warmup = s->command->options->warmup;
    const char *options[] = {
        "--kernels",      choose(s), "--warmup", warmup ? warmup : "functional",
        "--kernel-stats", "none",    NULL};
    json_t *run = trial_run(s->command, options);
    for (uint32_t i = 0; run && i < s->launches.count; i++) {
        const struct launch *l = &s->launches.items[i];
        json_t *record = statistics_launch(run, l->number);
        const char *how = json_string_value(json_object_get(record, "simulated"));
        if (!how || strcmp(how, "detailed") != 0)
            continue;
        struct group *g = &s->groups.items[l->group];
        double cycles = (double)statistics_number(record, "cycles");
        g->simulated++;
        g->sum += cycles;
        g->squares += cycles * cycles;
    }
    if (run)
        s->seconds += statistics_cpu_seconds(run);
    json_decref(run);
    return run != NULL;
}

/* ---- the total ---- */

struct total {
    double cycles, half; /* of the interval */
    uint32_t simulated;
};

static struct total extrapolate(const struct sample *s)
{
    struct total t = {0, 0, 0};
    double variance = 0, freedom = 0;
    for (uint32_t i = 0; i < s->groups.count; i++) {
        const struct group *g = &s->groups.items[i];
        double n = g->simulated, size = g->size, mean = n ? g->sum / n : 0;
        t.cycles += size * mean;
        t.simulated += g->simulated;
        if (n < 2)
            continue;
        double spread = fmax(0, g->squares - n * mean * mean) / (n - 1);
        variance += size * size * (1 - n / size) * spread / n;
        freedom += n - 1;
    }
    t.half = variance > 0 ? sampler_student(freedom) * sqrt(variance) : 0;
    return t;
}

static void print_groups(FILE *out, const struct sample *s)
{
    fprintf(out, "%8s %9s %14s  kernel\n", "launches", "simulated", "mean cycles");
    for (uint32_t i = 0; i < s->groups.count; i++) {
        const struct group *g = &s->groups.items[i];
        const char *name = s->launches.items[g->first].name;
        fprintf(out, "%8u %9u %14.0f  %.*s\n", g->size, g->simulated,
                g->simulated ? g->sum / g->simulated : 0, (int)strcspn(name, "("), name);
    }
}

/* --full: everything in detail, and how far the prediction is from it. */
static bool compare(FILE *out, const struct sample *s, const struct total *t)
{
    static const char *const options[] = {"--kernel-stats", "none", NULL};
    size_t i;
    double cycles = 0;
    json_t *record, *run = trial_run(s->command, options);
    if (!run)
        return false;
    json_array_foreach(json_object_get(run, "kernels"), i, record) cycles +=
        (double)statistics_number(record, "cycles");
    fprintf(out,
            "full simulation: %.0f cycles, error %+.2f %%, %.3f CPU seconds, %.1f times as many\n",
            cycles, cycles > 0 ? 100 * (t->cycles / cycles - 1) : 0, statistics_cpu_seconds(run),
            s->seconds > 0 ? statistics_cpu_seconds(run) / s->seconds : 0);
    json_decref(run);
    return true;
}

int sample_list(struct command *c)
{
    struct command_output output;
    const struct options *o = c->options;
    struct sample s = {.command = c};
    if (!profile(&s) || !simulate(&s) || !command_output_open(&output))
        return EXIT_ERRORS;
    struct total t = extrapolate(&s);
    print_groups(output.file, &s);
    fprintf(
        output.file,
        "%zu launches in %zu groups, %u simulated\npredicted: %.0f cycles, +- %.0f (%.2f %%) at "
        "95 %%, %.3f CPU seconds\n",
        (size_t)s.launches.count, (size_t)s.groups.count, t.simulated, t.cycles, t.half,
        t.cycles > 0 ? 100 * t.half / t.cycles : 0, s.seconds);
    bool good = !o->full || compare(output.file, &s, &t);
    return command_output_close(&output, o->output, good);
}

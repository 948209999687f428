/* `heddle experiment`: how well each kind of warm-up does before chosen kernels, against a
 * simulation of everything.
 *
 * Each kernel is simulated once with each warm-up, alone, so that the time that a run takes is the
 * time that this warm-up costs. A functional profile of the whole program gives the corrections
 * what they need; they start from the run without warm-up. When only they are asked for, one run
 * has all kernels. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "codegen/command/command.h"
#include "codegen/emit/emit.h"
#include "codegen/report/estimate.h"
#include "codegen/report/estimate_trace.h"
#include "codegen/report/experiment.h"
#include "codegen/command/trial.h"
#include "codegen/report/statistics_read.h"
#include "components/sampling/sampling_options.h"

enum {
    EXPERIMENT_MOST = 256, /* kernels */
    EXPERIMENT_PICKED = 4  /* of a ranking, as many as the thesis looks at */
};

struct experiment {
    struct command *command;
    json_t *profile;
    struct experiment_kernel kernels[EXPERIMENT_MOST];
    uint32_t count;
    const char *list; /* --kernels, or what has been picked */
    /* Without --kernels: all launches, by what the cold start costs them. */
    struct experiment_kernel *ranked;
    uint32_t ranked_count;
};

static bool progress(const struct experiment *e, unsigned mode, uint64_t launch)
{
    if (e->command->options->verbose)
        fprintf(stderr, "heddle experiment: launch %llu, %s\n", (unsigned long long)launch,
                experiment_mode_name(mode));
    return true;
}

/* Simulates kernel `k` in one mode. The statistics of `none` are needed for more: *keep. */
static bool simulate(struct experiment *e, struct experiment_kernel *k, unsigned mode,
                     json_t **keep)
{
    char launch[24];
    snprintf(launch, sizeof launch, "%llu", (unsigned long long)k->launch);
    const char *options[] = {"--kernels",      launch, "--warmup", experiment_mode_name(mode),
                             "--kernel-stats", "all",  NULL};
    progress(e, mode, k->launch);
    json_t *run = trial_run(e->command, options);
    if (!run)
        return false;
    json_t *kernel = statistics_launch(run, k->launch);
    k->point[mode].cycles = (double)statistics_number(kernel, "cycles");
    k->point[mode].seconds = statistics_cpu_seconds(run);
    k->instructions = (double)statistics_number(kernel, "wavefront_instructions");
    if (keep)
        *keep = run;
    else
        json_decref(run);
    return true;
}

static void correct(const struct experiment *e, struct experiment_kernel *k, json_t *cold)
{
    struct estimate_input in;
    struct estimate_trace trace;
    double seconds = k->point[EXPERIMENT_NONE].seconds + statistics_cpu_seconds(e->profile);
    if (estimate_trace_read(&trace, cold, e->profile, k->launch)) {
        k->point[EXPERIMENT_FORMULA] =
            (struct experiment_point){estimate_trace_formula(&trace), seconds};
        k->point[EXPERIMENT_ESTIMATE] =
            (struct experiment_point){estimate_trace_chain(&trace), seconds};
        estimate_account_trace_formula(&k->formula, &trace);
        estimate_account_trace_chain(&k->estimate, &trace);
        return;
    }
    estimate_read(&in, cold, statistics_launch(cold, k->launch),
                  statistics_launch(e->profile, k->launch),
                  k->launch > 1 ? statistics_launch(e->profile, k->launch - 1) : NULL);
    k->point[EXPERIMENT_FORMULA] = (struct experiment_point){estimate_formula(&in), seconds};
    k->point[EXPERIMENT_ESTIMATE] = (struct experiment_point){estimate_cold(&in), seconds};
    estimate_account_formula(&k->formula, &in);
    estimate_account_cold(&k->estimate, &in);
}

static bool measure(struct experiment *e, struct experiment_kernel *k)
{
    json_t *cold = NULL;
    for (unsigned mode = 0; mode <= EXPERIMENT_FUNCTIONAL; mode++) {
        if (!simulate(e, k, mode, mode == EXPERIMENT_NONE ? &cold : NULL)) {
            json_decref(cold);
            return false;
        }
    }
    correct(e, k, cold);
    json_decref(cold);
    return true;
}

/* The kernels of the list, each from cold caches. */
static json_t *run_cold(const struct experiment *e, const char *kernels)
{
    const char *options[] = {"--kernels",      kernels, "--warmup", "none",
                             "--kernel-stats", "all",   NULL};
    return trial_run(e->command, options);
}

/* With --corrections: two runs for all kernels. The time of each is that of the whole run. */
static bool measure_together(struct experiment *e)
{
    const char *chosen = e->list;
    const char *perfect[] = {"--kernels", chosen, "--warmup", "perfect", NULL};
    json_t *warm = trial_run(e->command, perfect);
    json_t *cold = warm ? run_cold(e, chosen) : NULL;
    for (uint32_t i = 0; i < e->count && cold; i++) {
        struct experiment_kernel *k = &e->kernels[i];
        json_t *run[] = {warm, cold};
        for (unsigned mode = EXPERIMENT_PERFECT; mode <= EXPERIMENT_NONE; mode++) {
            json_t *kernel = statistics_launch(run[mode], k->launch);
            k->point[mode] = (struct experiment_point){(double)statistics_number(kernel, "cycles"),
                                                       statistics_cpu_seconds(run[mode])};
            k->instructions = (double)statistics_number(kernel, "wavefront_instructions");
        }
        correct(e, k, cold);
    }
    bool good = cold != NULL;
    json_decref(warm);
    json_decref(cold);
    return good;
}

/* The chosen ones of the launches that the profile has. */
static bool choose(struct experiment *e, const struct sampling *sampling)
{
    size_t i;
    json_t *kernel;
    json_array_foreach(json_object_get(e->profile, "kernels"), i, kernel)
    {
        uint64_t launch = statistics_number(kernel, "launch");
        const char *name = json_string_value(json_object_get(kernel, "name"));
        const char *symbol = json_string_value(json_object_get(kernel, "symbol"));
        if (!sampling_chosen(sampling, launch, name, symbol))
            continue;
        if (e->count == EXPERIMENT_MOST) {
            fprintf(stderr, "heddle experiment: more than %d launches are chosen\n",
                    EXPERIMENT_MOST);
            return false;
        }
        e->kernels[e->count++] = (struct experiment_kernel){
            .launch = launch, .name = arena_strdup(e->command->arena, name)};
    }
    if (!e->count)
        fprintf(stderr, "heddle experiment: '--kernels %s' chooses none of the %s %zu launches\n",
                sampling->kernels, e->command->options->play_sass ? "list's" : "program's",
                json_array_size(json_object_get(e->profile, "kernels")));
    return e->count > 0;
}

/* ---- without --kernels ---- */

static double cold_cost(const struct experiment_kernel *k)
{
    return k->point[EXPERIMENT_NONE].cycles - k->point[EXPERIMENT_ESTIMATE].cycles;
}

/* The dearest first; of the same cost the earliest. */
static int by_cost(const void *left, const void *right)
{
    const struct experiment_kernel *a = left, *b = right;
    double difference = cold_cost(b) - cold_cost(a);
    if (difference != 0)
        return difference > 0 ? 1 : -1;
    return a->launch < b->launch ? -1 : a->launch > b->launch;
}

/* Simulates all launches cold, and corrects each. */
static bool rank(struct experiment *e)
{
    json_t *launches = json_object_get(e->profile, "kernels"), *launch;
    json_t *cold = run_cold(e, "1-");
    if (!cold)
        return false;
    size_t i;
    e->ranked = arena_alloc(e->command->arena, (json_array_size(launches) + 1) * sizeof *e->ranked);
    json_array_foreach(launches, i, launch)
    {
        struct experiment_kernel *k = &e->ranked[e->ranked_count++];
        const char *name = json_string_value(json_object_get(launch, "name"));
        k->launch = statistics_number(launch, "launch");
        k->name = arena_strdup(e->command->arena, name ? name : "");
        k->point[EXPERIMENT_NONE].cycles =
            (double)statistics_number(statistics_launch(cold, k->launch), "cycles");
        correct(e, k, cold);
    }
    json_decref(cold);
    qsort(e->ranked, e->ranked_count, sizeof *e->ranked, by_cost);
    return true;
}

/* The first ones of the ranking, in the order of the program. */
static bool pick(struct experiment *e)
{
    bool picked[EXPERIMENT_PICKED] = {false};
    uint32_t most = e->ranked_count < EXPERIMENT_PICKED ? e->ranked_count : EXPERIMENT_PICKED;
    const char *list = "";
    while (e->count < most) {
        uint32_t first = most;
        for (uint32_t i = 0; i < most; i++)
            if (!picked[i] && (first == most || e->ranked[i].launch < e->ranked[first].launch))
                first = i;
        picked[first] = true;
        struct experiment_kernel *k = &e->kernels[e->count];
        *k = (struct experiment_kernel){.launch = e->ranked[first].launch,
                                        .name = e->ranked[first].name};
        list = arena_printf(e->command->arena, "%s%s%llu", list, e->count++ > 0 ? "," : "",
                            (unsigned long long)k->launch);
    }
    e->list = list;
    if (!e->count)
        fprintf(stderr, "heddle experiment: there is no launch to look at\n");
    else
        printf("the cold start costs launches %s most; ranking.csv has all %u\n", list,
               e->ranked_count);
    return e->count > 0;
}

/* ---- files ---- */

static bool write_file(const struct experiment *e, const char *name,
                       void (*write)(FILE *out, const struct experiment *e))
{
    struct command_output output;
    if (!command_output_open(&output))
        return false;
    write(output.file, e);
    const char *path = arena_printf(e->command->arena, "%s/%s", e->command->options->output, name);
    return command_output_close(&output, path, true) == EXIT_CLEAN;
}

static void write_csv(FILE *out, const struct experiment *e)
{
    experiment_write_csv(out, e->kernels, e->count);
}

static void write_corrections(FILE *out, const struct experiment *e)
{
    experiment_write_corrections(out, e->kernels, e->count);
}

static void write_ranking(FILE *out, const struct experiment *e)
{
    fprintf(out, "launch,kernel,cold_cycles,estimated_cycles,cost_cycles,cost_percent\n");
    for (uint32_t i = 0; i < e->ranked_count; i++) {
        const struct experiment_kernel *k = &e->ranked[i];
        double cold = k->point[EXPERIMENT_NONE].cycles;
        fprintf(out, "%llu,\"%s\",%.0f,%.0f,%.0f,%.2f\n", (unsigned long long)k->launch, k->name,
                cold, k->point[EXPERIMENT_ESTIMATE].cycles, cold_cost(k),
                cold > 0 ? 100 * cold_cost(k) / cold : 0);
    }
}

static bool write_tables(const struct experiment *e)
{
    return write_file(e, "results.csv", write_csv)
           && write_file(e, "corrections.csv", write_corrections);
}

static void write_ipc(FILE *out, const struct experiment *e)
{
    experiment_write_svg(out, e->kernels, e->count, 0);
}

static void write_accuracy(FILE *out, const struct experiment *e)
{
    experiment_write_svg(out, e->kernels, e->count, 1);
}

static void write_page(FILE *out, const struct experiment *e)
{
    const struct options *o = e->command->options;
    experiment_write_html(out,
                          arena_printf(e->command->arena, "Warm-up: %s on %s", trial_subject(o),
                                       o->arguments.items[0]),
                          e->kernels, e->count);
}

static bool make_folder(const char *path)
{
    if (mkdir(path, 0777) == 0 || errno == EEXIST)
        return true;
    fprintf(stderr, "heddle experiment: cannot create the folder '%s': %s\n", path,
            strerror(errno));
    return false;
}

/* -1 to go on, or an exit status. */
static int check(const struct options *o, struct sampling *sampling)
{
    char mistake[512];
    if (!trial_has_subject(o, "PLATFORM [--kernels LIST] -o DIR"))
        return EXIT_USAGE;
    if (!o->output)
        fprintf(stderr, "heddle experiment: '-o DIR' says where to write\n");
    else if (o->kernels && !sampling_parse(o->kernels, NULL, sampling, mistake, sizeof mistake))
        fprintf(stderr, "heddle experiment: %s\n", mistake);
    else if (o->kernels && sampling->automatic)
        fprintf(stderr, "heddle experiment: '--kernels auto' chooses while a program runs; name "
                        "the launches to look at\n");
    else
        return make_folder(o->output) ? -1 : EXIT_ERRORS;
    return EXIT_USAGE;
}

/* The whole of it behind the checks. */
static bool experiment(struct experiment *e, const struct sampling *sampling)
{
    const char *profile[] = {"--mode", "functional", "--profile", "memory", NULL};
    e->profile = trial_run(e->command, profile);
    bool good = e->profile != NULL;
    if (e->list)
        good = good && choose(e, sampling);
    else
        good = good && rank(e) && write_file(e, "ranking.csv", write_ranking) && pick(e);
    if (good && e->command->options->corrections)
        return measure_together(e) && write_tables(e);
    for (uint32_t i = 0; i < e->count && good; i++)
        good = measure(e, &e->kernels[i]);
    return good && write_tables(e) && write_file(e, "ipc.svg", write_ipc)
           && write_file(e, "accuracy.svg", write_accuracy)
           && write_file(e, "index.html", write_page);
}

int command_experiment(struct command *c)
{
    struct sampling sampling;
    int status = check(c->options, &sampling);
    if (status >= 0)
        return status;
    struct experiment *e = arena_alloc(c->arena, sizeof *e);
    *e = (struct experiment){.command = c, .list = c->options->kernels};
    bool good = experiment(e, &sampling);
    json_decref(e->profile);
    return good ? EXIT_CLEAN : EXIT_ERRORS;
}

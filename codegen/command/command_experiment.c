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

enum { EXPERIMENT_MOST = 256 /* kernels */ };

struct experiment {
    struct command *command;
    json_t *profile;
    /* What the profile wrote down of caches and TLBs, for cold runs
     * (components/sampling/residency.h); NULL for lists of SASS traces. */
    const char *residency;
    struct experiment_kernel kernels[EXPERIMENT_MOST];
    uint32_t count;
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
    bool reads = mode == EXPERIMENT_NONE && e->residency;
    const char *options[] = {"--kernels",
                             launch,
                             "--warmup",
                             experiment_mode_name(mode),
                             "--kernel-stats",
                             "all",
                             reads ? "--residency" : NULL,
                             e->residency,
                             NULL};
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
        return;
    }
    estimate_read(&in, cold, statistics_launch(cold, k->launch),
                  statistics_launch(e->profile, k->launch),
                  k->launch > 1 ? statistics_launch(e->profile, k->launch - 1) : NULL);
    k->point[EXPERIMENT_FORMULA] = (struct experiment_point){estimate_formula(&in), seconds};
    k->point[EXPERIMENT_ESTIMATE] = (struct experiment_point){estimate_cold(&in), seconds};
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

/* With --corrections: two runs for all kernels. The time of each is that of the whole run. */
static bool measure_together(struct experiment *e)
{
    const char *chosen = e->command->options->kernels;
    const char *perfect[] = {"--kernels", chosen, "--warmup", "perfect", NULL};
    const char *none[] = {"--kernels",
                          chosen,
                          "--warmup",
                          "none",
                          "--kernel-stats",
                          "all",
                          e->residency ? "--residency" : NULL,
                          e->residency,
                          NULL};
    json_t *warm = trial_run(e->command, perfect);
    json_t *cold = warm ? trial_run(e->command, none) : NULL;
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
    if (!trial_has_subject(o, "PLATFORM --kernels LIST -o DIR"))
        return EXIT_USAGE;
    if (!o->kernels)
        fprintf(stderr, "heddle experiment: '--kernels LIST' says which launches to look at\n");
    else if (!o->output)
        fprintf(stderr, "heddle experiment: '-o DIR' says where to write\n");
    else if (!sampling_parse(o->kernels, NULL, sampling, mistake, sizeof mistake))
        fprintf(stderr, "heddle experiment: %s\n", mistake);
    else if (sampling->automatic)
        fprintf(stderr, "heddle experiment: '--kernels auto' chooses while a program runs; name "
                        "the launches to look at\n");
    else
        return make_folder(o->output) ? -1 : EXIT_ERRORS;
    return EXIT_USAGE;
}

/* The whole of it behind the checks. */
static bool experiment(struct experiment *e, const struct sampling *sampling)
{
    const char *profile[] = {
        "--mode",     "functional", "--profile", "memory", e->residency ? "--residency" : NULL,
        e->residency, NULL};
    e->profile = trial_run(e->command, profile);
    bool good = e->profile && choose(e, sampling);
    if (good && e->command->options->corrections)
        return measure_together(e) && write_file(e, "results.csv", write_csv);
    for (uint32_t i = 0; i < e->count && good; i++)
        good = measure(e, &e->kernels[i]);
    return good && write_file(e, "results.csv", write_csv) && write_file(e, "ipc.svg", write_ipc)
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
    *e = (struct experiment){.command = c, .residency = NULL};
    if (!c->options->play_sass && !(e->residency = command_temporary(c)))
        return EXIT_ERRORS;
    bool good = experiment(e, &sampling);
    if (e->residency)
        unlink(e->residency);
    json_decref(e->profile);
    return good ? EXIT_CLEAN : EXIT_ERRORS;
}

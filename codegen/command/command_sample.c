/* `heddle sample`: the cycles of all kernels of a program from a few that are simulated, in one
 * run. The run itself chooses and estimates (--kernels auto;
 * components/sampling/stratified_sampler.h says how); here it is printed, and with --full compared.
 * Lists of traces for which that does not pay (sample_list.c) are simulated as they are. */
#include <inttypes.h>
#include <string.h>

#include "codegen/command/command.h"
#include "codegen/command/sample_list.h"
#include "codegen/command/sample_print.h"
#include "codegen/command/trial.h"
#include "codegen/report/statistics_read.h"
#include "components/sampling/sampling_options.h"

static double number(json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static double percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

/* --full: everything in detail, and how far the prediction is from it. */
static bool compare(FILE *out, struct command *c, json_t *sampled, json_t *sample)
{
    static const char *const options[] = {"--kernel-stats", "none", NULL};
    size_t i;
    double cycles = 0, predicted = number(sample, "cycles"),
           seconds = statistics_cpu_seconds(sampled);
    json_t *record, *run = trial_run(c, options);
    if (!run)
        return false;
    json_array_foreach(json_object_get(run, "kernels"), i, record) cycles +=
        (double)statistics_number(record, "cycles");
    bool inside = predicted - cycles <= number(sample, "interval")
                  && cycles - predicted <= number(sample, "interval");
    fprintf(out,
            "full simulation: %.0f cycles, error %+.2f %%, %s the interval, %.3f CPU seconds, %.1f "
            "times as many\n",
            cycles, percent(predicted - cycles, cycles), inside ? "inside" : "outside",
            statistics_cpu_seconds(run), seconds > 0 ? statistics_cpu_seconds(run) / seconds : 0);
    json_decref(run);
    return true;
}

static void add_option(const char **options, size_t *count, const char *name, const char *value)
{
    if (!value)
        return;
    options[(*count)++] = name;
    options[(*count)++] = value;
}

/* Everything is simulated, as `heddle run` does. */
static int simulate_all(struct command *c, const char *why)
{
    static const char *const options[] = {"--kernel-stats", "none", NULL};
    struct command_output output;
    double cycles = 0;
    size_t i;
    json_t *record, *run = trial_run(c, options), *kernels = json_object_get(run, "kernels");
    if (!run || !command_output_open(&output)) {
        json_decref(run);
        return EXIT_ERRORS;
    }
    json_array_foreach(kernels, i, record) cycles += (double)statistics_number(record, "cycles");
    fprintf(output.file,
            "all %zu launches were simulated, nothing is predicted: %s\n%.0f cycles, %.3f CPU "
            "seconds\n",
            json_array_size(kernels), why, cycles, statistics_cpu_seconds(run));
    json_decref(run);
    return command_output_close(&output, c->options->output, true);
}

int command_sample(struct command *c)
{
    struct command_output output;
    struct sampling sampling;
    char mistake[512];
    const struct options *o = c->options;
    const char *options[9] = {"--kernels", "auto", "--kernel-stats", "none"};
    size_t count = 4;
    bool good = true;
    add_option(options, &count, "--warmup", o->warmup);
    add_option(options, &count, "--interval", o->interval);
    if (!trial_has_subject(o, "PLATFORM"))
        return EXIT_USAGE;
    if (!sampling_parse("auto", o->warmup, &sampling, mistake, sizeof mistake)
        || !sampling_parse_interval(o->interval, &sampling, mistake, sizeof mistake)) {
        fprintf(stderr, "heddle sample: %s\n", mistake);
        return EXIT_USAGE;
    }
    const char *why = o->play_sass ? sample_list_why_not(c, &good) : NULL;
    if (!good)
        return EXIT_ERRORS;
    if (why)
        return simulate_all(c, why);
    json_t *run = trial_run(c, options);
    json_t *sample = json_object_get(run, "sample");
    if (run && !sample)
        fprintf(stderr, "heddle sample: the program launches no kernels\n");
    if (!sample || !command_output_open(&output)) {
        json_decref(run);
        return EXIT_ERRORS;
    }
    sample_print(output.file, run);
    good = !o->full || compare(output.file, c, run, sample);
    json_decref(run);
    return command_output_close(&output, o->output, good);
}

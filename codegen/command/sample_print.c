/* See sample_print.h. */
#include "codegen/command/sample_print.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "codegen/report/statistics_read.h"

static double number(json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static double percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

static void print_groups(FILE *out, json_t *run, json_t *sample)
{
    size_t i;
    json_t *group;
    fprintf(out, "%8s %9s %14s %9s  kernel\n", "launches", "simulated", "cycles", "+-");
    json_array_foreach(json_object_get(sample, "groups"), i, group)
    {
        json_t *record = statistics_launch(run, statistics_number(group, "first_launch"));
        const char *name = json_string_value(json_object_get(record, "name"));
        name = name ? name : "";
        fprintf(out, "%8" PRIu64 " %9" PRIu64 " %14.0f %7.2f %%  %.*s\n",
                statistics_number(group, "launches"), statistics_number(group, "simulated"),
                number(group, "cycles"),
                percent(number(group, "interval"), number(group, "cycles")),
                (int)strcspn(name, "("), name);
    }
}

/* Launches of which some is in detail; `list`: how they were cut. *first: nothing was printed yet.
 */
static void print_cut(FILE *out, json_t *run, json_t *sample, const char *list, bool *first)
{
    size_t i;
    json_t *part;
    json_array_foreach(json_object_get(sample, list), i, part)
    {
        json_t *record = statistics_launch(run, statistics_number(part, "launch"));
        const char *name = json_string_value(json_object_get(record, "name"));
        name = name ? name : "";
        if (*first)
            fprintf(out, "%8s %9s %14s %9s  kernel\n", "launch", "in detail", "cycles", "+-");
        *first = false;
        fprintf(out, "%8" PRIu64 " %7.2f %% %14.0f %7.2f %%  %.*s\n",
                statistics_number(part, "launch"),
                percent(number(part, "detailed_wavefront_instructions"),
                        number(part, "wavefront_instructions")),
                number(part, "cycles"), percent(number(part, "interval"), number(part, "cycles")),
                (int)strcspn(name, "("), name);
    }
}

static void print_traffic(FILE *out, json_t *sample, const char *which)
{
    json_t *traffic = json_object_get(json_object_get(sample, "memory"), which);
    double bytes = number(traffic, "bytes");
    fprintf(out, "%.0f bytes %s, +- %.2f %%; ", bytes, which,
            percent(number(traffic, "interval"), bytes));
}

static void print_total(FILE *out, json_t *run, json_t *sample)
{
    double cycles = number(sample, "cycles");
    json_t *rate = json_object_get(sample, "cycles_per_instruction");
    fprintf(out,
            "%" PRIu64 " launches in %zu groups, %" PRIu64 " simulated, %" PRIu64
            " more warmed caches up\n",
            statistics_number(sample, "count"), json_array_size(json_object_get(sample, "groups")),
            statistics_number(sample, "simulated"), statistics_number(sample, "touched"));
    fprintf(out,
            "predicted: %.0f cycles, +- %.0f (%.2f %%) at 95 %%, of which the warm-up %.2f %%, a "
            "trend %.2f %%, %.3f CPU seconds\n",
            cycles, number(sample, "interval"), percent(number(sample, "interval"), cycles),
            percent(number(sample, "warmup_bias"), cycles),
            percent(number(sample, "trend"), cycles), statistics_cpu_seconds(run));
    fprintf(out, "memory: ");
    print_traffic(out, sample, "read");
    print_traffic(out, sample, "written");
    fprintf(out, "%.4f cycles an instruction, +- %.4f\n", number(rate, "cycles"),
            number(rate, "interval"));
}

void sample_print(FILE *out, json_t *run)
{
    json_t *sample = json_object_get(run, "sample");
    bool first = true;
    print_groups(out, run, sample);
    print_cut(out, run, sample, "in_parts", &first);
    print_cut(out, run, sample, "with_gaps", &first);
    print_total(out, run, sample);
}

/* Kernels out of statistics files. See report.h; tables of them are made in report_print.c. */
#include "codegen/report/report.h"
#include <inttypes.h>
#include <string.h>

#include "codegen/report/statistics_read.h"
#include "codegen/views/params_value.h"

static const char *const wavefront_groups[] = {"issued", "executing", "waiting"};

bool report_is_of_wavefronts(const char *group)
{
    for (size_t g = 0; g < sizeof wavefront_groups / sizeof wavefront_groups[0]; g++)
        if (strcmp(group, wavefront_groups[g]) == 0)
            return true;
    return false;
}

/* ---- reading ---- */

static struct report_kernel *find_kernel(struct report *report, const char *name)
{
    for (uint32_t i = 0; i < report->kernels.count; i++) {
        if (strcmp(report->kernels.items[i].name, name) == 0)
            return &report->kernels.items[i];
    }
    struct report_kernel k = {.name = arena_strdup(report->arena, name)};
    vector_push(report->arena, &report->kernels, k);
    return &report->kernels.items[report->kernels.count - 1];
}

static void add_row(struct report *report, struct report_kernel *k, unsigned run, const char *group,
                    const char *kind, uint64_t value)
{
    uint32_t i = 0;
    while (
        i < k->rows.count
        && (strcmp(k->rows.items[i].group, group) != 0 || strcmp(k->rows.items[i].kind, kind) != 0))
        i++;
    if (i == k->rows.count) {
        struct report_row row = {
            arena_strdup(report->arena, group), arena_strdup(report->arena, kind), {0, 0}};
        vector_push(report->arena, &k->rows, row);
    }
    k->rows.items[i].value[run] += value;
}

static uint64_t add_rows(struct report *report, struct report_kernel *k, unsigned run,
                         json_t *groups)
{
    const char *group, *kind;
    json_t *kinds, *value;
    uint64_t sum = 0;
    json_object_foreach(groups, group, kinds)
    {
        json_object_foreach(kinds, kind, value)
        {
            uint64_t n = (uint64_t)json_integer_value(value);
            add_row(report, k, run, group, kind, n);
            sum += n;
        }
    }
    return sum;
}

static void add_caches(struct report *report, struct report_kernel *k, unsigned run,
                       json_t *components)
{
    const char *path;
    json_t *stats;
    json_object_foreach(components, path, stats)
    {
        if (!json_object_get(stats, "misses") && !json_object_get(stats, "hits"))
            continue;
        const char *place = params_collapse(report->arena, path);
        uint32_t i = 0;
        while (i < k->caches.count && strcmp(k->caches.items[i].path, place) != 0)
            i++;
        if (i == k->caches.count) {
            struct report_cache cache = {.path = place};
            vector_push(report->arena, &k->caches, cache);
        }
        k->caches.items[i].hits[run] += statistics_number(stats, "hits");
        k->caches.items[i].misses[run] += statistics_number(stats, "misses");
        k->caches.items[i].merged[run] += statistics_number(stats, "mshr_hits");
    }
}

static void add_limiter(struct report *report, struct report_occupancy *o, const char *limiter)
{
    if (!limiter || (o->limited_by && strstr(o->limited_by, limiter)))
        return;
    o->limited_by = o->limited_by ? arena_printf(report->arena, "%s, %s", o->limited_by, limiter)
                                  : arena_strdup(report->arena, limiter);
}

static void add_occupancy(struct report *report, struct report_occupancy *o, json_t *kernel)
{
    json_t *from = json_object_get(kernel, "occupancy"), *units = json_object_get(kernel, "units");
    json_t *achieved = json_object_get(from, "achieved");
    if (!o->compute_units) {
        o->compute_units = statistics_number(from, "compute_units");
        o->simds = statistics_number(from, "simds");
        o->slots_per_simd = statistics_number(from, "slots_per_simd");
        o->wavefronts_per_work_group = statistics_number(from, "wavefronts_per_work_group");
        o->work_groups_per_unit = statistics_number(from, "work_groups_per_unit");
        o->vgprs = statistics_number(from, "vgprs");
        o->sgprs = statistics_number(from, "sgprs");
        o->lds_bytes = statistics_number(from, "lds_bytes");
    }
    add_limiter(report, o, json_string_value(json_object_get(from, "limited_by")));
    o->wavefront_cycles += statistics_number(achieved, "wavefront_cycles");
    o->unit_cycles += statistics_number(achieved, "unit_cycles");
    o->longest_unit_cycles += statistics_number(achieved, "longest_unit_cycles");
    o->all_unit_cycles +=
        statistics_number(kernel, "cycles") * statistics_number(from, "compute_units");
    o->lds_busy += statistics_number(units, "lds_busy");
    o->lds_conflict += statistics_number(units, "lds_conflict");
    o->memory_instructions += statistics_number(units, "vector_memory_instructions");
    o->memory_cycles += statistics_number(units, "vector_memory_cycles");
    o->lines += statistics_number(units, "vector_memory_lines");
}

static bool add_kernel(struct report *report, unsigned run, json_t *kernel, const char *file)
{
    const char *name = json_string_value(json_object_get(kernel, "name"));
    struct report_kernel *k = find_kernel(report, name ? name : "");
    uint64_t expected = statistics_number(kernel, "cycles") * statistics_number(kernel, "slots");
    uint64_t sum = add_rows(report, k, run, json_object_get(kernel, "slot_cycles"));
    if (sum != expected) {
        fprintf(stderr,
                "heddle: '%s': the slot-cycles of kernel '%s' add up to %" PRIu64 ", not %" PRIu64
                "\n",
                file, k->name, sum, expected);
        return false;
    }
    k->launches[run]++;
    k->overlapping[run] += json_is_true(json_object_get(kernel, "overlaps"));
    k->cycles[run] += statistics_number(kernel, "cycles");
    k->instructions[run] += statistics_number(kernel, "wavefront_instructions");
    k->work_groups[run] += statistics_number(kernel, "work_groups");
    k->total[run] += sum;
    add_occupancy(report, &k->occupancy[run], kernel);
    add_caches(report, k, run, json_object_get(kernel, "components"));
    return true;
}

bool report_read(struct report *report, unsigned run, json_t *root, const char *name)
{
    size_t i;
    json_t *kernel;
    bool any = false, without = false;
    report->two |= run == 1;
    json_array_foreach(json_object_get(root, "kernels"), i, kernel)
    {
        without = true;
        if (!json_is_object(json_object_get(kernel, "slot_cycles")))
            continue;
        if (!add_kernel(report, run, kernel, name))
            return false;
        any = true;
    }
    for (uint32_t n = 0; n < report->kernels.count; n++) {
        struct report_kernel *k = &report->kernels.items[n];
        k->wavefronts[run] = 0;
        for (size_t g = 0; g < sizeof wavefront_groups / sizeof wavefront_groups[0]; g++)
            k->wavefronts[run] += report_value(k, run, wavefront_groups[g], NULL);
    }
    if (!any && without)
        fprintf(stderr,
                "heddle: '%s' has no kernel that was simulated with timing, so there is nothing to "
                "report\n",
                name);
    return any || !without;
}

uint64_t report_value(const struct report_kernel *k, unsigned run, const char *group,
                      const char *kind)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < k->rows.count; i++) {
        const struct report_row *row = &k->rows.items[i];
        if (strcmp(row->group, group) == 0 && (!kind || strcmp(row->kind, kind) == 0))
            sum += row->value[run];
    }
    return sum;
}

double report_valu_share(const struct report_kernel *k, unsigned run)
{
    uint64_t busy = report_value(k, run, "executing", "valu");
    for (uint32_t i = 0; i < k->rows.count; i++) {
        const struct report_row *row = &k->rows.items[i];
        if (strcmp(row->group, "issued") == 0 && strncmp(row->kind, "valu", 4) == 0)
            busy += row->value[run];
    }
    return report_per_cent(busy, k->occupancy[run].unit_cycles * k->occupancy[run].simds);
}

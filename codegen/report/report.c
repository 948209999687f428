/* Reading kernels out of statistics files, and tables of them. See report.h. */
#include "codegen/report/report.h"

#include <inttypes.h>
#include <string.h>

static const char *const wavefront_groups[] = {"issued", "executing", "waiting"};

static uint64_t number(json_t *object, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(object, key));
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

/* "gpu[1].l2[3]" -> "gpu[*].l2[*]". */
static char *without_indices(struct arena *arena, const char *path)
{
    char *text = arena_alloc(arena, 2 * strlen(path) + 1), *to = text;
    while (*path) {
        *to++ = *path;
        if (*path++ == '[') {
            *to++ = '*';
            path += strcspn(path, "]");
        }
    }
    return text;
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
        char *place = without_indices(report->arena, path);
        uint32_t i = 0;
        while (i < k->caches.count && strcmp(k->caches.items[i].path, place) != 0)
            i++;
        if (i == k->caches.count) {
            struct report_cache cache = {.path = place};
            vector_push(report->arena, &k->caches, cache);
        }
        k->caches.items[i].hits[run] += number(stats, "hits");
        k->caches.items[i].misses[run] += number(stats, "misses");
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
        o->compute_units = number(from, "compute_units");
        o->simds = number(from, "simds");
        o->slots_per_simd = number(from, "slots_per_simd");
        o->wavefronts_per_work_group = number(from, "wavefronts_per_work_group");
        o->work_groups_per_unit = number(from, "work_groups_per_unit");
        o->vgprs = number(from, "vgprs");
        o->sgprs = number(from, "sgprs");
        o->lds_bytes = number(from, "lds_bytes");
    }
    add_limiter(report, o, json_string_value(json_object_get(from, "limited_by")));
    o->wavefront_cycles += number(achieved, "wavefront_cycles");
    o->unit_cycles += number(achieved, "unit_cycles");
    o->longest_unit_cycles += number(achieved, "longest_unit_cycles");
    o->all_unit_cycles += number(kernel, "cycles") * number(from, "compute_units");
    o->lds_busy += number(units, "lds_busy");
    o->lds_conflict += number(units, "lds_conflict");
    o->memory_instructions += number(units, "vector_memory_instructions");
    o->memory_cycles += number(units, "vector_memory_cycles");
    o->lines += number(units, "vector_memory_lines");
}

static bool add_kernel(struct report *report, unsigned run, json_t *kernel, const char *file)
{
    const char *name = json_string_value(json_object_get(kernel, "name"));
    struct report_kernel *k = find_kernel(report, name ? name : "");
    uint64_t expected = number(kernel, "cycles") * number(kernel, "slots");
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
    k->cycles[run] += number(kernel, "cycles");
    k->instructions[run] += number(kernel, "wavefront_instructions");
    k->work_groups[run] += number(kernel, "work_groups");
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

static double per_cent(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole * 100 : 0;
}

double report_valu_share(const struct report_kernel *k, unsigned run)
{
    uint64_t busy = report_value(k, run, "executing", "valu");
    for (uint32_t i = 0; i < k->rows.count; i++) {
        const struct report_row *row = &k->rows.items[i];
        if (strcmp(row->group, "issued") == 0 && strncmp(row->kind, "valu", 4) == 0)
            busy += row->value[run];
    }
    return per_cent(busy, k->occupancy[run].unit_cycles * k->occupancy[run].simds);
}

/* ---- tables ---- */

static bool is_of_wavefronts(const char *group)
{
    for (size_t g = 0; g < sizeof wavefront_groups / sizeof wavefront_groups[0]; g++)
        if (strcmp(group, wavefront_groups[g]) == 0)
            return true;
    return false;
}

/* One line; `group` of what is printed, for the share among the wavefronts' slot-cycles. */
static void print_line(const struct report *report, const struct report_kernel *k, FILE *out,
                       const char *label, const char *group, const uint64_t value[2])
{
    fprintf(out, "  %-26s %16" PRIu64 " %6.1f %%", label, value[0],
            per_cent(value[0], k->total[0]));
    if (report->two) {
        fprintf(out, " %16" PRIu64 " %6.1f %% %+16" PRId64, value[1],
                per_cent(value[1], k->total[1]), (int64_t)(value[1] - value[0]));
    } else if (is_of_wavefronts(group)) {
        fprintf(out, " %6.1f %%", per_cent(value[0], k->wavefronts[0]));
    }
    fputc('\n', out);
}

static void print_rows(const struct report *report, const struct report_kernel *k, FILE *out)
{
    const char *group = "";
    for (uint32_t i = 0; i < k->rows.count; i++) {
        const struct report_row *row = &k->rows.items[i];
        if (strcmp(row->group, group) != 0) {
            group = row->group;
            uint64_t sums[2] = {report_value(k, 0, group, NULL), report_value(k, 1, group, NULL)};
            if (sums[0] || sums[1])
                print_line(report, k, out, group, group, sums);
        }
        if (row->value[0] || row->value[1]) {
            const char *label = arena_printf(report->arena, "  %s", row->kind);
            print_line(report, k, out, label, group, row->value);
        }
    }
    print_line(report, k, out, "all", "", k->total);
}

static void print_occupancy(const struct report_kernel *k, unsigned run, FILE *out)
{
    const struct report_occupancy *o = &k->occupancy[run];
    double simd_cycles = (double)o->unit_cycles * (double)o->simds;
    double all = (double)o->all_unit_cycles * (double)o->simds;
    double most = (double)(o->work_groups_per_unit * o->wavefronts_per_work_group);
    fprintf(out,
            "  occupancy: %.2f wavefronts a SIMD while its compute unit had any, %.2f over all; "
            "%.2f of %" PRIu64 " fit; limited by %s\n",
            simd_cycles > 0 ? (double)o->wavefront_cycles / simd_cycles : 0,
            all > 0 ? (double)o->wavefront_cycles / all : 0, o->simds ? most / (double)o->simds : 0,
            o->slots_per_simd, o->limited_by ? o->limited_by : "nothing known");
    fprintf(out,
            "  a work-group: %" PRIu64 " wavefronts with %" PRIu64 " vector and %" PRIu64
            " scalar registers each, %" PRIu64 " bytes of LDS\n",
            o->wavefronts_per_work_group, o->vgprs, o->sgprs, o->lds_bytes);
}

static void print_units(const struct report_kernel *k, unsigned run, FILE *out)
{
    const struct report_occupancy *o = &k->occupancy[run];
    fprintf(
        out,
        "  units, while their compute unit had wavefronts: vector ALUs work %.1f %%, LDS %.1f %%\n",
        report_valu_share(k, run), per_cent(o->lds_busy, o->unit_cycles));
    if (o->memory_instructions)
        fprintf(out,
                "  vector memory: %" PRIu64
                " instructions of %.2f lines, %.0f cycles from issue to "
                "return; %.2f lines a cycle and compute unit\n",
                o->memory_instructions, (double)o->lines / (double)o->memory_instructions,
                (double)o->memory_cycles / (double)o->memory_instructions,
                o->unit_cycles ? (double)o->lines / (double)o->unit_cycles : 0);
}

static void print_caches(const struct report_kernel *k, unsigned run, FILE *out)
{
    for (uint32_t i = 0; i < k->caches.count; i++) {
        const struct report_cache *c = &k->caches.items[i];
        uint64_t all = c->hits[run] + c->misses[run];
        if (all)
            fprintf(out, "  %-34s %12" PRIu64 " accesses, %5.1f %% hit\n", c->path, all,
                    per_cent(c->hits[run], all));
    }
}

static void print_head(const struct report *report, const struct report_kernel *k, FILE *out)
{
    fprintf(out, "%s\n", k->name);
    for (unsigned run = 0; run < (report->two ? 2u : 1u); run++) {
        fprintf(out,
                "  %s%" PRIu64 " launch%s, %" PRIu64 " cycles, %" PRIu64 " work-groups, %" PRIu64
                " instructions, %.2f wavefront-cycles an instruction\n",
                !report->two ? ""
                : run == 0   ? "a: "
                             : "b: ",
                k->launches[run], k->launches[run] == 1 ? "" : "es", k->cycles[run],
                k->work_groups[run], k->instructions[run],
                k->instructions[run] ? (double)k->wavefronts[run] / (double)k->instructions[run]
                                     : 0);
        if (k->overlapping[run])
            fprintf(out,
                    "  %" PRIu64 " of them while another kernel ran, whose work is in the numbers "
                    "of caches below\n",
                    k->overlapping[run]);
    }
}

void report_print(const struct report *report, FILE *out)
{
    if (!report->kernels.count)
        fprintf(out, "no kernel has ended\n");
    for (uint32_t i = 0; i < report->kernels.count; i++) {
        const struct report_kernel *k = &report->kernels.items[i];
        if (i)
            fputc('\n', out);
        print_head(report, k, out);
        fprintf(out, "\n  %-26s %16s %8s", "slot-cycles", report->two ? "a" : "", "of all");
        if (report->two)
            fprintf(out, " %16s %8s %16s\n", "b", "of all", "difference");
        else
            fprintf(out, " %8s\n", "of waves");
        print_rows(report, k, out);
        for (unsigned run = 0; run < (report->two ? 2u : 1u); run++) {
            if (!k->launches[run])
                continue;
            fprintf(out, "%s\n", !report->two ? "" : run == 0 ? "\n  a" : "\n  b");
            print_occupancy(k, run, out);
            print_units(k, run, out);
            print_caches(k, run, out);
            report_print_words(k, run, "  ", out);
        }
    }
}

static void print_csv_name(const char *name, FILE *out)
{
    fputc('"', out);
    for (; *name; name++) {
        if (*name == '"')
            fputc('"', out);
        fputc(*name, out);
    }
    fputc('"', out);
}

void report_print_csv(const struct report *report, FILE *out)
{
    fputs(report->two ? "kernel,group,kind,a,b,difference\n" : "kernel,group,kind,slot_cycles\n",
          out);
    for (uint32_t i = 0; i < report->kernels.count; i++) {
        const struct report_kernel *k = &report->kernels.items[i];
        for (uint32_t r = 0; r < k->rows.count; r++) {
            const struct report_row *row = &k->rows.items[r];
            print_csv_name(k->name, out);
            fprintf(out, ",%s,%s,%" PRIu64, row->group, row->kind, row->value[0]);
            if (report->two)
                fprintf(out, ",%" PRIu64 ",%" PRId64, row->value[1],
                        (int64_t)(row->value[1] - row->value[0]));
            fputc('\n', out);
        }
    }
}

/* `heddle stats`: what a run's JSON says as a table, and what differs between runs, the settings
 * first; the same as tidy CSV, with a row for each kernel and component of each run, and settings
 * and statistics as columns; and the reports of --report, for `heddle run`, too.
 *
 * Every number has a path: components.PATH.STAT, kernels[0].cycles, ... A structured statistic
 * gives its members; buckets are left to the JSON. Rows are in the order of the first file, then
 * those only the second has. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "codegen/command/command.h"
#include "codegen/emit/input.h"
#include "codegen/emit/intern.h"
#include "codegen/report/report.h"

struct row {
    const char *section; /* "kernel", "component", "link", "host", ... */
    const char *where;
    const char *what;
    const json_t **value; /* by run; NULL: not in that one */
};

/* What differs between runs, of the stamp. */
struct setting {
    const char *name;
    const char **value; /* by run; NULL: not in that one */
};

struct table {
    struct arena *arena;
    struct intern index; /* section, where, what -> row */
    VECTOR(struct row) rows;
    unsigned runs;
    const char *const *names; /* of the files, by run */
    struct intern setting_index;
    VECTOR(struct setting) settings;
};

static void add_value(struct table *t, unsigned run, const char *section, const char *where,
                      const char *what, const json_t *value)
{
    const char *key = arena_printf(t->arena, "%s\n%s\n%s", section, where, what);
    const struct intern_entry *known = intern_find(&t->index, key);
    if (!known) {
        struct row row = {section, arena_strdup(t->arena, where), arena_strdup(t->arena, what),
                          arena_alloc(t->arena, t->runs * sizeof(json_t *))};
        intern_add(&t->index, key, t->rows.count);
        vector_push(t->arena, &t->rows, row);
        known = intern_find(&t->index, key);
    }
    t->rows.items[known->value].value[run] = value;
}

/* The numbers of an object, members of members as "a.b". */
static void add_object(struct table *t, unsigned run, const char *section, const char *where,
                       const char *prefix, json_t *object)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        const char *what = *prefix ? arena_printf(t->arena, "%s.%s", prefix, key) : key;
        if (json_is_object(value))
            add_object(t, run, section, where, what, value);
        else if (json_is_number(value))
            add_value(t, run, section, where, what, value);
    }
}

static void add_section(struct table *t, unsigned run, const char *section, json_t *objects)
{
    const char *key;
    json_t *value;
    json_object_foreach(objects, key, value)
    {
        if (json_is_object(value))
            add_object(t, run, section, key, "", value);
    }
}

/* All of a kernel but its components; its own numbers alone for the table of one run, which
 * --report explains better. */
static void add_kernels(struct table *t, unsigned run, json_t *kernels, bool whole)
{
    const char *key;
    void *next;
    size_t i;
    json_t *kernel, *value;
    json_array_foreach(kernels, i, kernel)
    {
        const char *name = json_string_value(json_object_get(kernel, "name"));
        const char *where = arena_printf(t->arena, "%zu %s", i, name ? name : "");
        json_object_foreach_safe(kernel, next, key, value)
        {
            if (strcmp(key, "components") == 0 || (!whole && json_is_object(value)))
                json_object_del(kernel, key);
        }
        add_object(t, run, "kernel", where, "", kernel);
    }
}

static void add_run(struct table *t, unsigned run, json_t *root, bool whole)
{
    json_t *time = json_object_get(root, "time_ps");
    if (json_is_number(time))
        add_value(t, run, "run", "", "time_ps", time);
    add_section(t, run, "clock", json_object_get(root, "clocks"));
    add_kernels(t, run, json_object_get(root, "kernels"), whole);
    add_section(t, run, "component", json_object_get(root, "components"));
    add_section(t, run, "connection", json_object_get(root, "connections"));
    add_section(t, run, "link", json_object_get(root, "links"));
    if (json_is_object(json_object_get(root, "host")))
        add_object(t, run, "host", "", "", json_object_get(root, "host"));
}

/* ---- settings ---- */

static void add_setting(struct table *t, unsigned run, const char *name, const char *value)
{
    const struct intern_entry *known = intern_find(&t->setting_index, name);
    if (!known) {
        name = arena_strdup(t->arena, name);
        intern_add(&t->setting_index, name, (uint32_t)t->settings.count);
        vector_push(t->arena, &t->settings,
                    ((struct setting){name, arena_alloc(t->arena, t->runs * sizeof(char *))}));
        known = intern_find(&t->setting_index, name);
    }
    t->settings.items[known->value].value[run] = value;
}

static void add_settings(struct table *t, unsigned run, json_t *root)
{
    json_t *stamp = json_object_get(root, "stamp"), *value;
    const char *key, *program = json_string_value(json_object_get(stamp, "program"));
    add_setting(t, run, "platform", json_string_value(json_object_get(root, "platform")));
    add_setting(t, run, "mode", json_string_value(json_object_get(root, "mode")));
    add_setting(t, run, "program", program ? arena_printf(t->arena, "%.12s", program) : NULL);
    add_setting(t, run, "partial", json_string_value(json_object_get(root, "partial")));
    json_object_foreach(json_object_get(stamp, "settings"), key, value)
        add_setting(t, run, key, json_string_value(value));
}

/* Only those that differ stay. */
static void compare_settings(struct table *t)
{
    size_t kept = 0;
    for (size_t i = 0; i < t->settings.count; i++) {
        const struct setting *s = &t->settings.items[i];
        bool same = true;
        for (unsigned run = 1; run < t->runs; run++)
            same = same && (s->value[run] == NULL) == (s->value[0] == NULL)
                   && (!s->value[0] || strcmp(s->value[run], s->value[0]) == 0);
        if (!same)
            t->settings.items[kept++] = *s;
    }
    t->settings.count = kept;
}

static void widen(size_t *width, const char *text)
{
    if (strlen(text) > *width)
        *width = strlen(text);
}

static const char *setting_text(const struct setting *s, unsigned run)
{
    return s->value[run] ? s->value[run] : "-";
}

/* A column a run, under the names of the files. */
static void print_settings(const struct table *t, FILE *out)
{
    size_t name = 8, width = 0;
    for (size_t i = 0; i < t->settings.count; i++) {
        widen(&name, t->settings.items[i].name);
        for (unsigned run = 0; run < t->runs; run++)
            widen(&width, setting_text(&t->settings.items[i], run));
    }
    for (unsigned run = 0; run < t->runs; run++)
        widen(&width, t->names[run]);
    fprintf(out, "%-*s", (int)name, "settings");
    for (unsigned run = 0; run < t->runs; run++)
        fprintf(out, "  %*s", (int)width, t->names[run]);
    for (size_t i = 0; i < t->settings.count; i++) {
        fprintf(out, "\n  %-*s", (int)name - 2, t->settings.items[i].name);
        for (unsigned run = 0; run < t->runs; run++)
            fprintf(out, "  %*s", (int)width, setting_text(&t->settings.items[i], run));
    }
    fprintf(out, "\n%s\n", t->settings.count ? "" : "  none differs\n");
}

/* ---- values ---- */

static const char *number_text(struct arena *arena, const json_t *value)
{
    if (!value)
        return "-";
    if (json_is_integer(value))
        return arena_printf(arena, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    return arena_printf(arena, "%.3f", json_real_value(value));
}

/* Second minus first, and in per cent of the first. */
static const char *difference_text(struct arena *arena, const struct row *row, bool relative)
{
    if (!row->value[0] || !row->value[1])
        return "";
    double a = json_number_value(row->value[0]), b = json_number_value(row->value[1]);
    if (relative)
        return a != 0 ? arena_printf(arena, "%+.2f%%", (b - a) / a * 100) : "";
    if (json_is_integer(row->value[0]) && json_is_integer(row->value[1]))
        return arena_printf(arena, "%+" JSON_INTEGER_FORMAT,
                            json_integer_value(row->value[1]) - json_integer_value(row->value[0]));
    return arena_printf(arena, "%+.3f", b - a);
}

static bool differs(const struct table *t, const struct row *row)
{
    bool same = row->value[0] != NULL;
    for (unsigned run = 1; run < t->runs; run++)
        same = same && row->value[run] && json_equal(row->value[0], row->value[run]);
    return !same;
}

static const char *csv_text(struct arena *arena, const char *text)
{
    if (!strpbrk(text, ",\"\n"))
        return text;
    char *quoted = arena_alloc(arena, 2 * strlen(text) + 3), *to = quoted;
    *to++ = '"';
    for (; *text; text++) {
        if (*text == '"')
            *to++ = '"';
        *to++ = *text;
    }
    *to++ = '"';
    return quoted;
}

/* ---- tidy CSV ---- */

static void print_csv_head(struct table *t, const struct intern *columns, FILE *out)
{
    fprintf(out, "file");
    for (size_t i = 0; i < t->settings.count; i++)
        fprintf(out, ",%s",
                csv_text(t->arena, arena_printf(t->arena, "param:%s", t->settings.items[i].name)));
    fprintf(out, ",section,where");
    for (size_t i = 0; i < columns->entries.count; i++)
        fprintf(out, ",%s", csv_text(t->arena, columns->entries.items[i].key));
    fputc('\n', out);
}

/* One kernel or component of one run, if it has it: the rows at `places`. */
static void print_csv_row(struct table *t, const struct intern *columns, unsigned run,
                          const uint32_t *places, uint32_t count, FILE *out)
{
    const json_t **cells = arena_alloc(t->arena, (columns->entries.count + 1) * sizeof *cells);
    const struct row *first = &t->rows.items[places[0]];
    bool any = false;
    for (uint32_t i = 0; i < count; i++) {
        const struct row *row = &t->rows.items[places[i]];
        cells[intern_find(columns, row->what)->value] = row->value[run];
        any |= row->value[run] != NULL;
    }
    if (!any)
        return;
    fputs(csv_text(t->arena, t->names[run]), out);
    for (size_t i = 0; i < t->settings.count; i++)
        fprintf(out, ",%s",
                t->settings.items[i].value[run]
                    ? csv_text(t->arena, t->settings.items[i].value[run])
                    : "");
    fprintf(out, ",%s,%s", first->section, csv_text(t->arena, first->where));
    for (size_t i = 0; i < columns->entries.count; i++)
        fprintf(out, ",%s", cells[i] ? number_text(t->arena, cells[i]) : "");
    fputc('\n', out);
}

/* A kernel or component. */
struct place {
    VECTOR(uint32_t) rows;
};

static void print_csv(struct table *t, FILE *out)
{
    struct intern columns, index;
    VECTOR(struct place) places = {0};
    intern_init(&columns, t->arena);
    intern_init(&index, t->arena);
    for (uint32_t i = 0; i < t->rows.count; i++) {
        const struct row *row = &t->rows.items[i];
        const char *key = arena_printf(t->arena, "%s\n%s", row->section, row->where);
        if (!intern_find(&columns, row->what))
            intern_add(&columns, row->what, (uint32_t)columns.entries.count);
        if (!intern_find(&index, key)) {
            intern_add(&index, key, (uint32_t)places.count);
            vector_push(t->arena, &places, ((struct place){0}));
        }
        vector_push(t->arena, &places.items[intern_find(&index, key)->value].rows, i);
    }
    print_csv_head(t, &columns, out);
    for (unsigned run = 0; run < t->runs; run++)
        for (size_t i = 0; i < places.count; i++)
            print_csv_row(t, &columns, run, places.items[i].rows.items,
                          (uint32_t)places.items[i].rows.count, out);
}

/* ---- tables ---- */

/* Zeros say nothing in the table of one run; equal values nothing in that of several. */
static bool is_shown(const struct table *t, const struct row *row)
{
    return t->runs > 1 ? differs(t, row) : json_number_value(row->value[0]) != 0;
}

struct widths {
    size_t where, what, value, difference;
};

static struct widths measure(struct table *t)
{
    struct widths w = {5, 9, 5, 4};
    for (uint32_t i = 0; i < t->rows.count; i++) {
        const struct row *row = &t->rows.items[i];
        widen(&w.where, row->where);
        widen(&w.what, row->what);
        for (unsigned run = 0; run < t->runs; run++)
            widen(&w.value, number_text(t->arena, row->value[run]));
        if (t->runs == 2)
            widen(&w.difference, difference_text(t->arena, row, false));
    }
    return w;
}

static uint32_t print_table(struct table *t, FILE *out)
{
    const struct widths w = measure(t);
    uint32_t shown = 0;
    const char *section = "";
    for (uint32_t i = 0; i < t->rows.count; i++) {
        const struct row *row = &t->rows.items[i];
        if (!is_shown(t, row))
            continue;
        if (strcmp(section, row->section) != 0)
            fprintf(out, "%s%s\n", shown ? "\n" : "", row->section);
        section = row->section;
        shown++;
        fprintf(out, "  %-*s  %-*s", (int)w.where, row->where, (int)w.what, row->what);
        for (unsigned run = 0; run < t->runs; run++)
            fprintf(out, "  %*s", (int)w.value, number_text(t->arena, row->value[run]));
        if (t->runs == 2)
            fprintf(out, "  %*s  %s", (int)w.difference, difference_text(t->arena, row, false),
                    difference_text(t->arena, row, true));
        fputc('\n', out);
    }
    return shown;
}

typedef bool described_report_function(struct command *c, json_t *root, const char *path,
                                       FILE *out);

/* Of --report, those that need the platform's description; NULL: it is none of them. */
static described_report_function *described_report(const char *name)
{
    return strcmp(name, "measures") == 0 ? command_measures
           : strcmp(name, "limits") == 0 ? command_limits
           : strcmp(name, "series") == 0 ? command_series
                                         : NULL;
}

bool command_report_known(const struct command *c)
{
    const char *report = c->options->report;
    bool is_stats = c->options->command == COMMAND_STATS;
    if (!report || strcmp(report, "cpi") == 0 || (is_stats && described_report(report)))
        return true;
    fprintf(stderr, "heddle %s: '--report %s': there is %s\n",
            options_command_name(c->options->command), report,
            is_stats ? "cpi, measures, limits and series" : "only cpi");
    return false;
}

/* The report on one or two runs. false: there is nothing to report, said on standard error. */
static bool report(struct command *c, json_t *const *roots, const char *const *names, FILE *out)
{
    struct report r = {.arena = c->arena};
    for (unsigned run = 0; run < 2 && roots[run]; run++)
        if (!report_read(&r, run, roots[run], names[run]))
            return false;
    if (c->options->csv)
        report_print_csv(&r, out);
    else
        report_print(&r, out);
    return true;
}

int command_report_run(struct command *c, const char *path)
{
    json_t *roots[2] = {command_statistics(c, path), NULL};
    if (!roots[0])
        return EXIT_ERRORS;
    bool ok = report(c, roots, &path, stderr);
    json_decref(roots[0]);
    return ok ? EXIT_CLEAN : EXIT_ERRORS;
}

static void print_statistics(struct command *c, json_t *const *roots, unsigned runs, FILE *out)
{
    struct table t = {.arena = c->arena, .runs = runs, .names = c->options->arguments.items};
    intern_init(&t.index, c->arena);
    intern_init(&t.setting_index, c->arena);
    for (unsigned run = 0; run < runs; run++) {
        add_settings(&t, run, roots[run]);
        add_run(&t, run, roots[run], runs > 1 || c->options->csv);
    }
    compare_settings(&t);
    if (c->options->csv) {
        print_csv(&t, out);
        return;
    }
    if (runs > 1)
        print_settings(&t, out);
    if (print_table(&t, out) == 0)
        fprintf(out, runs > 1 ? "no difference\n" : "all statistics are zero\n");
}

/* Statistics of a run that did not come to its end look like others. */
static void say_partial(const char *name, json_t *root)
{
    const char *by = json_string_value(json_object_get(root, "partial"));
    if (by)
        fprintf(stderr, "heddle stats: '%s' is of a run that did not come to its end: %s\n", name,
                by);
}

/* Nor are these all cycles of a run that simulated only a part. */
static void say_sampled(const char *name, json_t *root)
{
    json_t *sample = json_object_get(root, "sample");
    double cycles = json_number_value(json_object_get(sample, "cycles"));
    double interval = json_number_value(json_object_get(sample, "interval"));
    if (sample)
        fprintf(stderr,
                "heddle stats: '%s' is a sample: cycles and counters are of what was simulated in "
                "detail; all launches would take %.0f cycles, +- %.2f %% at 95 %%\n",
                name, cycles, cycles > 0 ? 100 * interval / cycles : 0);
}

int command_stats(struct command *c)
{
    const struct options *o = c->options;
    unsigned runs = (unsigned)o->arguments.count, read = 0;
    bool ok = true;
    struct command_output out;
    int status = EXIT_ERRORS;
    if (!command_report_known(c))
        return EXIT_USAGE;
    if (o->report && described_report(o->report) && runs > 1) {
        fprintf(stderr, "heddle stats: '--report %s' is of one run\n", o->report);
        return EXIT_USAGE;
    }
    if (o->report && runs > 2) {
        fprintf(stderr, "heddle stats: '--report' compares two runs at most\n");
        return EXIT_USAGE;
    }
    json_t **roots = arena_alloc(c->arena, (runs + 1) * sizeof *roots);
    while (read < runs && (roots[read] = command_statistics(c, o->arguments.items[read]))) {
        say_partial(o->arguments.items[read], roots[read]);
        say_sampled(o->arguments.items[read], roots[read]);
        read++;
    }
    if (read == runs && command_output_open(&out)) {
        if (o->report && described_report(o->report))
            ok = described_report(o->report)(c, roots[0], o->arguments.items[0], out.file);
        else if (o->report)
            ok = report(c, roots, o->arguments.items, out.file);
        else
            print_statistics(c, roots, runs, out.file);
        status = command_output_close(&out, o->output, ok);
    }
    for (unsigned run = 0; run < read; run++)
        json_decref(roots[run]);
    return status;
}

/* `heddle stats`: what a run's JSON says as tables or CSV, and what differs between two runs; and
 * the reports of --report, for `heddle run`, too.
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
    const json_t *value[2]; /* NULL: not in that run */
};

struct table {
    struct arena *arena;
    struct intern index; /* section, where, what -> row */
    VECTOR(struct row) rows;
};

static void add_value(struct table *t, unsigned run, const char *section, const char *where,
                      const char *what, const json_t *value)
{
    const char *key = arena_printf(t->arena, "%s\n%s\n%s", section, where, what);
    const struct intern_entry *known = intern_find(&t->index, key);
    if (!known) {
        struct row row = {
            section, arena_strdup(t->arena, where), arena_strdup(t->arena, what), {NULL, NULL}};
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

static json_t *load(const char *path)
{
    json_error_t error;
    FILE *file = input_open("stats", path, INPUT_BYTES);
    if (!file)
        return NULL;
    json_t *root = json_loadf(file, 0, &error);
    fclose(file);
    if (!root)
        fprintf(stderr, "heddle stats: %s:%d:%d: %s\n", path, error.line, error.column, error.text);
    else if (!json_is_object(json_object_get(root, "components"))) {
        fprintf(stderr,
                "heddle stats: '%s' is not what `heddle run --stats` writes: it has no "
                "\"components\"\n",
                path);
        json_decref(root);
        return NULL;
    }
    return root;
}

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

static bool differs(const struct row *row)
{
    return !row->value[0] || !row->value[1] || !json_equal(row->value[0], row->value[1]);
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

static void print_csv(struct table *t, FILE *out, bool two)
{
    fprintf(out,
            two ? "section,where,statistic,a,b,difference\n" : "section,where,statistic,value\n");
    for (uint32_t i = 0; i < t->rows.count; i++) {
        const struct row *row = &t->rows.items[i];
        fprintf(out, "%s,%s,%s,%s", row->section, csv_text(t->arena, row->where),
                csv_text(t->arena, row->what),
                row->value[0] ? number_text(t->arena, row->value[0]) : "");
        if (two)
            fprintf(out, ",%s,%s", row->value[1] ? number_text(t->arena, row->value[1]) : "",
                    difference_text(t->arena, row, false));
        fputc('\n', out);
    }
}

static void widen(size_t *width, const char *text)
{
    if (strlen(text) > *width)
        *width = strlen(text);
}

/* Zeros say nothing in the table of one run; equal values nothing in that of two. */
static bool is_shown(const struct row *row, bool two)
{
    return two ? differs(row) : json_number_value(row->value[0]) != 0;
}

static uint32_t print_table(struct table *t, FILE *out, bool two)
{
    size_t where = 5, what = 9, a = 5, b = 5, difference = 4;
    uint32_t shown = 0;
    const char *section = "";
    for (uint32_t i = 0; i < t->rows.count; i++) {
        widen(&where, t->rows.items[i].where);
        widen(&what, t->rows.items[i].what);
        widen(&a, number_text(t->arena, t->rows.items[i].value[0]));
        widen(&b, number_text(t->arena, t->rows.items[i].value[1]));
        widen(&difference, difference_text(t->arena, &t->rows.items[i], false));
    }
    for (uint32_t i = 0; i < t->rows.count; i++) {
        const struct row *row = &t->rows.items[i];
        if (!is_shown(row, two))
            continue;
        if (strcmp(section, row->section) != 0)
            fprintf(out, "%s%s\n", shown ? "\n" : "", row->section);
        section = row->section;
        shown++;
        fprintf(out, "  %-*s  %-*s  %*s", (int)where, row->where, (int)what, row->what, (int)a,
                number_text(t->arena, row->value[0]));
        if (two)
            fprintf(out, "  %*s  %*s  %s", (int)b, number_text(t->arena, row->value[1]),
                    (int)difference, difference_text(t->arena, row, false),
                    difference_text(t->arena, row, true));
        fputc('\n', out);
    }
    return shown;
}

bool command_report_known(const struct command *c)
{
    const char *report = c->options->report;
    if (!report || strcmp(report, "cpi") == 0)
        return true;
    fprintf(stderr, "heddle %s: '--report %s': there is only cpi\n",
            options_command_name(c->options->command), report);
    return false;
}

/* The report on one or two runs. false: there is nothing to report, said on standard error. */
static bool report(struct command *c, json_t *const roots[2], const char *const *names, FILE *out)
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
    json_t *roots[2] = {load(path), NULL};
    if (!roots[0])
        return EXIT_ERRORS;
    bool ok = report(c, roots, &path, stderr);
    json_decref(roots[0]);
    return ok ? EXIT_CLEAN : EXIT_ERRORS;
}

static void print_statistics(struct command *c, json_t *const roots[2], FILE *out)
{
    struct table t = {.arena = c->arena};
    bool two = roots[1] != NULL;
    intern_init(&t.index, c->arena);
    for (unsigned run = 0; run < (two ? 2u : 1u); run++)
        add_run(&t, run, roots[run], two || c->options->csv);
    if (c->options->csv)
        print_csv(&t, out, two);
    else if (print_table(&t, out, two) == 0)
        fprintf(out, two ? "no difference\n" : "all statistics are zero\n");
}

int command_stats(struct command *c)
{
    const struct options *o = c->options;
    bool two = o->arguments.count == 2, ok = true;
    json_t *roots[2] = {NULL, NULL};
    struct command_output out;
    int status = EXIT_ERRORS;
    if (!command_report_known(c))
        return EXIT_USAGE;
    roots[0] = load(o->arguments.items[0]);
    if (roots[0] && two)
        roots[1] = load(o->arguments.items[1]);
    if (roots[0] && (!two || roots[1]) && command_output_open(&out)) {
        if (o->report)
            ok = report(c, roots, o->arguments.items, out.file);
        else
            print_statistics(c, roots, out.file);
        status = command_output_close(&out, o->output, ok);
    }
    json_decref(roots[0]);
    json_decref(roots[1]);
    return status;
}

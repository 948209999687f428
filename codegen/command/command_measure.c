/* Statistics beside the description that they are of: `heddle stats --report measures` and what
 * `heddle dot --stats` draws. The description is elaborated with the run's own settings and has to
 * have the model that the statistics name, so that a number never stands at the wrong component. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codegen/command/command.h"
#include "codegen/emit/input.h"
#include "codegen/emit/layout.h"
#include "codegen/report/limits.h"
#include "codegen/report/measure.h"
#include "codegen/report/measure_series.h"

static const char *command_name(const struct command *c)
{
    return options_command_name(c->options->command);
}

json_t *command_statistics(const struct command *c, const char *path)
{
    json_error_t error;
    FILE *file = input_open(command_name(c), path, INPUT_BYTES);
    if (!file)
        return NULL;
    json_t *root = json_loadf(file, 0, &error);
    fclose(file);
    if (!root)
        fprintf(stderr, "heddle %s: %s:%d:%d: %s\n", command_name(c), path, error.line,
                error.column, error.text);
    else if (!json_is_object(json_object_get(root, "components"))) {
        fprintf(stderr,
                "heddle %s: '%s' is not what `heddle run --stats` writes: it has no "
                "\"components\"\n",
                command_name(c), path);
        json_decref(root);
        return NULL;
    }
    return root;
}

static const char *folder_of(struct arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? arena_strndup(arena, path, (size_t)(slash - path)) : ".";
}

/* NAME.heddle where it may be; NULL: said on standard error. */
static const char *find_description(struct command *c, const char *name, const char *path)
{
    const char *folders[] = {folder_of(c->arena, path), ".", "platforms",
                             arena_printf(c->arena, "%s/../platforms", c->toolkit.library)};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        const char *file = arena_printf(c->arena, "%s/%s.heddle", folders[i], name);
        if (access(file, R_OK) == 0)
            return file;
    }
    fprintf(stderr,
            "heddle %s: '%s' is of platform %s, and no %s.heddle is beside it, here, or in "
            "platforms; name it with --description FILE\n",
            command_name(c), path, name, name);
    return NULL;
}

static struct compilation *open_as_run(struct command *c, json_t *root)
{
    json_t *set = json_object_get(json_object_get(root, "stamp"), "set");
    size_t count = json_array_size(set);
    const char **items = arena_alloc(c->arena, (count + 1) * sizeof *items);
    for (size_t i = 0; i < count; i++)
        items[i] = json_string_value(json_array_get(set, i));
    struct compile_options options = {
        .library_root = c->toolkit.library,
        .include_paths = c->options->include.items,
        .include_count = c->options->include.count,
        .overrides = items,
        .override_count = count,
        .allow_incoherent = true,
    };
    return compile_open(&options);
}

static bool has_model(struct command *c, const struct model *model, json_t *root)
{
    const char *hash = json_string_value(json_object_get(json_object_get(root, "stamp"), "model"));
    for (int generic = 0; hash && generic < 2; generic++)
        if (strcmp(layout_make(c->arena, model, generic)->model_hash, hash) == 0)
            return true;
    return false;
}

const struct model *command_described(struct command *c, json_t *root, const char *path,
                                      const char *file, struct compilation **compilation)
{
    const char *name = json_string_value(json_object_get(root, "platform"));
    *compilation = NULL;
    if (!file)
        file = find_description(c, name ? name : "", path);
    if (!file)
        return NULL;
    *compilation = c->options->set.count ? command_open(c) : open_as_run(c, root);
    const struct model *model = compile_platform(*compilation, file, name);
    if (!model) {
        command_print_diagnostics(*compilation);
        return NULL;
    }
    if (has_model(c, model, root))
        return model;
    fprintf(stderr,
            "heddle %s: '%s' is not a run of '%s' as it is now: the description, or what it "
            "imports, has changed since, or --set differs; run it again\n",
            command_name(c), path, file);
    return NULL;
}

/* A kernel by its whole name, or by what stands before its parameters. */
static const char *find_kernel(json_t *root, const char *name)
{
    size_t i, length = strlen(name);
    json_t *kernel;
    json_array_foreach(json_object_get(root, "kernels"), i, kernel)
    {
        const char *its = json_string_value(json_object_get(kernel, "name"));
        if (its && strncmp(its, name, length) == 0 && (its[length] == '\0' || its[length] == '('))
            return its;
    }
    return NULL;
}

static void print_one(struct command *c, const struct measured *m, const struct model *model,
                      bool head, FILE *out)
{
    if (c->options->csv)
        measure_print_csv(m, model, head, out);
    else
        measure_print(m, c->arena, model, out);
}

bool command_measures(struct command *c, json_t *root, const char *path, FILE *out)
{
    struct compilation *compilation;
    const struct model *model =
        command_described(c, root, path, c->options->description, &compilation);
    size_t i;
    json_t *kernel, *seen = json_object();
    struct measured m;
    if (model) {
        measure_run(&m, c->arena, model, root);
        print_one(c, &m, model, true, out);
    }
    json_array_foreach(model ? json_object_get(root, "kernels") : NULL, i, kernel)
    {
        const char *name = json_string_value(json_object_get(kernel, "name"));
        if (!name || json_object_get(seen, name))
            continue;
        json_object_set_new(seen, name, json_true());
        measure_kernel(&m, c->arena, model, root, name);
        print_one(c, &m, model, false, out);
    }
    json_decref(seen);
    if (compilation)
        compile_close(compilation);
    return model != NULL;
}

bool command_series(struct command *c, json_t *root, const char *path, FILE *out)
{
    struct compilation *compilation = NULL;
    const char *series = c->options->series;
    if (!series) {
        fprintf(stderr, "heddle stats: '--report series' shows what `heddle run --series` wrote; "
                        "name it with '--series FILE'\n");
        return false;
    }
    const struct measure_series_asked asked = {series, c->options->series_counter.items,
                                               c->options->series_counter.count};
    FILE *in = input_open("stats", series, INPUT_BYTES);
    const struct model *model =
        in ? command_described(c, root, path, c->options->description, &compilation) : NULL;
    bool good = model && measure_series_print(c->arena, model, root, &asked, in, out);
    if (in)
        fclose(in);
    if (compilation)
        compile_close(compilation);
    return good;
}

static void csv_text(FILE *out, const char *text, size_t length)
{
    putc('"', out);
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '"')
            putc('"', out);
        putc(text[i], out);
    }
    putc('"', out);
}

/* A row for each sentence. */
static void print_rows(const char *kernel, const char *sentences, FILE *out)
{
    while (*sentences) {
        size_t length = strcspn(sentences, "\n");
        csv_text(out, kernel, strlen(kernel));
        putc(',', out);
        csv_text(out, sentences, length);
        putc('\n', out);
        sentences += length + 1;
    }
}

static void print_limits(struct command *c, const struct limits *l, FILE *out)
{
    char *text = NULL;
    size_t size = 0;
    if (!c->options->csv) {
        fprintf(out, "%s\n", l->kernel->name);
        limits_print(l, "  ", out);
        return;
    }
    FILE *stream = open_memstream(&text, &size);
    if (!stream)
        return;
    limits_print(l, "", stream);
    fclose(stream);
    print_rows(l->kernel->name, text, out);
    free(text);
}

bool command_limits(struct command *c, json_t *root, const char *path, FILE *out)
{
    struct compilation *compilation = NULL;
    struct report r = {.arena = c->arena};
    struct measured run, kernel;
    const struct model *model =
        report_read(&r, 0, root, path)
            ? command_described(c, root, path, c->options->description, &compilation)
            : NULL;
    if (model) {
        measure_run(&run, c->arena, model, root);
        if (c->options->csv)
            fputs("kernel,words\n", out);
    }
    for (uint32_t i = 0; model && i < r.kernels.count; i++) {
        measure_kernel(&kernel, c->arena, model, root, r.kernels.items[i].name);
        const struct limits l = {c->arena, model, &r.kernels.items[i], &kernel, &run};
        print_limits(c, &l, out);
    }
    if (compilation)
        compile_close(compilation);
    return model != NULL;
}

static double fullest(const struct measured *m, const struct model *model,
                      enum model_measure_kind kind)
{
    double most = 0;
    for (uint32_t i = 0; i < model->instance_count; i++) {
        const struct view_share *s = &m->instances[kind][i];
        if (s->whole > 0 && s->part / s->whole > most)
            most = s->part / s->whole;
    }
    for (uint32_t i = 0; i < model->connection_count; i++) {
        const struct view_share *s = &m->connections[kind][i];
        if (s->whole > 0 && s->part / s->whole > most)
            most = s->part / s->whole;
    }
    return most;
}

bool command_heat(struct command *c, const struct model *model, json_t *root,
                  struct view_heat *heat)
{
    const struct options *o = c->options;
    struct measured *m = arena_alloc(c->arena, sizeof *m);
    *heat = (struct view_heat){.title = "of the whole run"};
    if (o->measure && !view_measure_parse(o->measure, &heat->measure)) {
        fprintf(stderr,
                "heddle dot: '--measure %s': it is utilisation, hit_rate, bandwidth, stall or "
                "issue\n",
                o->measure);
        return false;
    }
    const char *kernel = o->kernel ? find_kernel(root, o->kernel) : NULL;
    if (o->kernel && !kernel) {
        fprintf(stderr, "heddle dot: '--kernel %s': '%s' has no kernel of that name\n", o->kernel,
                o->stats);
        return false;
    }
    if (kernel) {
        measure_kernel(m, c->arena, model, root, kernel);
        heat->title = arena_printf(c->arena, "of %s", kernel);
    } else {
        measure_run(m, c->arena, model, root);
    }
    if (o->scale > 100) {
        fprintf(stderr, "heddle dot: '--scale %llu': shares end at 100 %%\n",
                (unsigned long long)o->scale);
        return false;
    }
    heat->top = o->scale ? (double)o->scale / 100 : view_heat_top(fullest(m, model, heat->measure));
    heat->instances = m->instances;
    heat->connections = m->connections;
    return true;
}

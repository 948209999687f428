/* `heddle dot`: the topology, with --stats coloured by what a run measured; --html is Python's
 * (python/heddle/pages). Shares of a run are JSON. The file of --stats may be such JSON; if it has
 * statistics, Python makes the JSON of it (python/heddle/statistics/diagram_shares.py):
 *
 *   {"title": "of the whole run", "description": FILE, "platform": NAME, "set": [PATH=VALUE, ...],
 *    "shares": {PATH: {MEASURE: [part, whole]}}, "connections": [{MEASURE: [part, whole]}, ...]}
 *
 * Connections are in order of their ids. */
#include <string.h>

#include "codegen/views/view.h"

#include "command.h"
#include "command_say.h"
#include "python.h"

/* NULL: said on standard error. */
static json_t *read_shares(struct command *c)
{
    const struct options *o = c->options;
    json_t *root = json_load_file(o->stats, 0, NULL);
    if (json_object_get(root, "shares"))
        return root;
    json_decref(root);
    return python_ask(c);
}

static struct view_share share_of(json_t *measures, unsigned kind)
{
    json_t *share = json_object_get(measures, model_measure_names[kind]);
    return (struct view_share){json_number_value(json_array_get(share, 0)),
                               json_number_value(json_array_get(share, 1))};
}

static void raise_top(double *top, const struct view_share *share)
{
    if (share->whole > 0 && share->part / share->whole > *top)
        *top = share->part / share->whole;
}

static void add_shares(struct command *c, const struct model *model, json_t *root,
                       struct view_heat *heat)
{
    json_t *places = json_object_get(root, "shares"), *wires = json_object_get(root, "connections");
    struct view_share **instances = region_take(c->region, MODEL_MEASURE_COUNT * sizeof *instances);
    struct view_share **connections =
        region_take(c->region, MODEL_MEASURE_COUNT * sizeof *connections);
    double top = 0;
    for (unsigned k = 0; k < MODEL_MEASURE_COUNT; k++) {
        instances[k] = region_take(c->region, model->instance_count * sizeof **instances);
        connections[k] = region_take(c->region, model->connection_count * sizeof **connections);
        for (uint32_t i = 0; i < model->instance_count; i++) {
            instances[k][i] = share_of(json_object_get(places, model->instances[i]->path), k);
            if (k == (unsigned)heat->measure)
                raise_top(&top, &instances[k][i]);
        }
        for (uint32_t i = 0; i < model->connection_count; i++) {
            connections[k][i] = share_of(json_array_get(wires, i), k);
            if (k == (unsigned)heat->measure)
                raise_top(&top, &connections[k][i]);
        }
    }
    heat->top = c->options->scale ? (double)c->options->scale / 100 : view_heat_top(top);
    heat->instances = instances;
    heat->connections = connections;
    heat->title = json_string_value(json_object_get(root, "title"));
}

/* With the settings of the run, or those that are in their place. */
static struct compilation *open_as_run(struct command *c, json_t *root)
{
    json_t *set = json_object_get(root, "set");
    size_t count = json_array_size(set);
    const char **items = region_take(c->region, (count + 1) * sizeof *items);
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

/* The place of a word in the argument of its option (options.def), which has it. */
static int place_of(const char *words, const char *word)
{
    size_t size = strlen(word);
    int place = 0;
    for (; strcspn(words, "|") != size || strncmp(words, word, size) != 0; place++)
        words = strchr(words, '|') + 1;
    return place;
}

static void read_options(const struct options *o, struct view_options *view)
{
    if (o->level)
        view->level = (enum view_level)place_of("platform|gpu|full", o->level);
    if (o->only)
        view->only = (enum view_only)(VIEW_ONLY_MEMORY + place_of("memory|control", o->only));
    if (o->layout)
        view->layout = (enum view_layout)place_of("wide|column", o->layout);
    view->controls = o->controls;
    view->expand = o->expand.items;
    view->expand_count = o->expand.count;
}

static int draw(struct command *c, const struct model *model, const struct view_heat *heat)
{
    const struct options *o = c->options;
    struct view_options view = view_options_default();
    struct view_error error = {""};
    struct command_output out;
    read_options(o, &view);
    view.heat = heat;
    if (!command_output_open(&out))
        return EXIT_ERRORS;
    bool ok = o->svg ? view_svg(model, &view, out.file, &error)
                     : view_dot(model, &view, out.file, &error);
    int status = command_output_close(&out, o->output, ok);
    if (error.text[0])
        command_say("%s", error.text);
    return status;
}

static int draw_run(struct command *c)
{
    struct view_heat heat = {.measure = MODEL_MEASURE_UTILISATION};
    if (c->options->measure)
        heat.measure = (enum model_measure_kind)place_of(
            "utilisation|hit_rate|bandwidth|stall|issue", c->options->measure);
    if (c->options->scale > 100) {
        command_say("'--scale %llu': shares end at 100 %%", (unsigned long long)c->options->scale);
        return EXIT_ERRORS;
    }
    json_t *root = read_shares(c);
    if (!root)
        return EXIT_ERRORS;
    struct compilation *compilation = open_as_run(c, root);
    const char *file = json_string_value(json_object_get(root, "description"));
    const struct model *model = compile_platform(
        compilation, file ? file : "", json_string_value(json_object_get(root, "platform")));
    int status = EXIT_ERRORS;
    if (model) {
        add_shares(c, model, root, &heat);
        status = draw(c, model, &heat);
    } else {
        command_print_diagnostics(compilation);
    }
    json_decref(root);
    compile_close(compilation);
    return status;
}

static int draw_description(struct command *c)
{
    struct compilation *compilation = command_open(c);
    const struct model *model = command_platform(c, compilation, c->options->arguments.items[0]);
    int status = model ? draw(c, model, NULL) : EXIT_ERRORS;
    compile_close(compilation);
    return status;
}

int command_dot(struct command *c)
{
    const struct options *o = c->options;
    if (!o->stats && (o->measure || o->kernel)) {
        command_say("'%s' is of --stats FILE, which is missing",
                    o->measure ? "--measure" : "--kernel");
        return EXIT_USAGE;
    }
    if (!o->stats && o->arguments.count == 0) {
        command_say("say of which description, or of which run: --stats FILE");
        return EXIT_USAGE;
    }
    if (o->stats && o->html_folder) {
        command_say("'--html' shows no statistics; `heddle report` makes a page of them");
        return EXIT_USAGE;
    }
    if (o->html_folder)
        return command_python(c);
    return o->stats ? draw_run(c) : draw_description(c);
}

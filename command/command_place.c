/* Placements on the command line: `heddle check --ranks`, and `heddle run` with several ranks. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codegen/emit/input.h"
#include "codegen/place/place.h"

#include "command.h"
#include "command_say.h"

/* --place names a file, or is a placement itself. NULL: the file cannot be read. */
static const char *text_of_place(const struct command *c)
{
    const char *path = c->options->place;
    if (strchr(path, '=') && access(path, F_OK) != 0)
        return path;
    FILE *file = fopen(path, "r");
    if (!file)
        return NULL;
    size_t size;
    const char *text = region_read(c->region, file, SIZE_MAX, &size);
    fclose(file);
    return text;
}

/* NULL: it was said why. */
static uint8_t *find_placement(const struct command *c, const struct place_graph *graph,
                               unsigned ranks)
{
    uint8_t *rank_of = region_take(c->region, graph->count + 1);
    if (ranks > PLACE_RANKS_MAX) {
        command_say("%u ranks are too many: at most %d", ranks, PLACE_RANKS_MAX);
        return NULL;
    }
    if (graph->count <= ranks) {
        command_say("%u ranks: this platform has %u partition%s besides the host's side, and each "
                    "rank needs one",
                    ranks, graph->count - 1, graph->count == 2 ? "" : "s");
        return NULL;
    }
    if (!c->options->place) {
        if (place_find(graph, c->region, ranks, rank_of))
            return rank_of;
        command_say("%u ranks: too few partitions can be apart; those that send over the same "
                    "shared wire are at one rank",
                    ranks);
        return NULL;
    }
    const char *text = text_of_place(c);
    const char *wrong = text ? place_read(graph, c->region, ranks, text, rank_of)
                             : "it is neither a file nor a list of PATH=RANK";
    if (wrong)
        command_say("--place %s: %s", text ? "" : c->options->place, wrong);
    return wrong ? NULL : rank_of;
}

/* NULL: said on standard error. */
static json_t *read_statistics(const char *path)
{
    json_error_t error;
    FILE *file = input_open("check", path, INPUT_BYTES);
    if (!file)
        return NULL;
    json_t *root = json_loadf(file, 0, &error);
    fclose(file);
    if (!root)
        command_say("%s:%d:%d: %s", path, error.line, error.column, error.text);
    else if (!json_is_object(json_object_get(root, "components"))) {
        command_say("'%s' is not what `heddle run --stats` writes: it has no \"components\"", path);
        json_decref(root);
        return NULL;
    }
    return root;
}

int command_place_check(const struct command *c, const char *file, const struct model *model)
{
    struct place_graph graph;
    json_t *statistics = c->options->stats ? read_statistics(c->options->stats) : NULL;
    if (c->options->stats && !statistics)
        return EXIT_ERRORS;
    if (!model->window_ps) {
        command_say("'%s' has no partitions that can go on by themselves, so one rank runs it all",
                    file);
        return EXIT_ERRORS;
    }
    place_graph_make(&graph, c->region, model, statistics);
    json_decref(statistics);
    const uint8_t *rank_of = find_placement(c, &graph, (unsigned)c->options->ranks);
    if (!rank_of)
        return EXIT_ERRORS;
    place_print(&graph, (uint32_t)c->options->ranks, rank_of, stdout);
    if (!c->options->output)
        return EXIT_CLEAN;
    struct command_output output;
    if (!command_output_open(&output))
        return EXIT_ERRORS;
    place_write(&graph, rank_of, output.file);
    return command_output_close(&output, c->options->output, true);
}

const char *command_place_run(const struct command *c, unsigned ranks)
{
    struct place_graph graph;
    const char *text = NULL;
    struct compilation *compilation = command_open(c);
    const struct model *model =
        compile_platform(compilation, c->options->arguments.items[0], c->options->platform);
    if (model) {
        place_graph_make(&graph, c->region, model, NULL);
        const uint8_t *rank_of = find_placement(c, &graph, ranks);
        char *at = region_take(c->region, 4 * (size_t)graph.count + 1);
        text = rank_of ? at : NULL;
        for (uint32_t i = 0; rank_of && i < graph.count; i++)
            at += sprintf(at, "%s%u", i ? "," : "", rank_of[i]);
    }
    compile_close(compilation);
    return text;
}

/* `heddle check`. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/wide.h"
#include "codegen/views/json_from_text.h"
#include "codegen/views/view.h"

#include "command.h"

/* For how long partitions go on by themselves, and so whether threads can help. A run uses one
 * thread where that is less than two cycles (runtime/link/lookahead.c). */
static void print_threads(const char *file, const struct model *model)
{
    uint64_t fastest = 1;
    for (uint32_t i = 0; i < model->domain_count; i++)
        fastest = max(model->domains[i].hz, fastest);
    uint64_t cycles = model->window_ps / (PS_PER_S / fastest);
    if (!model->window_ps)
        printf("%s: no partitions, so --threads does not help\n", file);
    else
        printf("%s: %u partitions may run for %llu ps on their own, %llu cycle%s of the fastest "
               "clock: --threads %s\n",
               file, model->partition_count, (unsigned long long)model->window_ps,
               (unsigned long long)cycles, cycles == 1 ? "" : "s",
               cycles < 2 ? "does not help" : "can help");
}

/* Says what was checked, for people. */
static void print_summary(const char *file, const struct model *model)
{
    if (model->root)
        printf("%s: platform %s: %u components, %u connections, no errors\n", file, model->name,
               model->leaf_count, model->connection_count);
    if (model->root)
        print_threads(file, model);
    if (!model->root)
        printf("%s: no errors\n", file);
}

/* Adds the place of a declaration or mistake; nothing if it has none. */
static void add_place(json_t *to, struct model_place place, uint32_t end_line, uint32_t end_column)
{
    if (place.file)
        json_object_update_new(to, json_pack("{s:o, s:i, s:i, s:i, s:i}", "file",
                                             json_from_text(place.file), "line", (int)place.line,
                                             "column", (int)place.column, "end_line", (int)end_line,
                                             "end_column", (int)end_column));
}

static json_t *diagnostic_json(const struct compile_diagnostic *d)
{
    json_t *notes = json_array();
    for (size_t i = 0; i < d->note_count; i++) {
        const struct compile_note *note = &d->notes[i];
        json_t *one = json_pack("{s:s}", "kind", note->is_help ? "help" : "note");
        add_place(one, note->place, note->end_line, note->end_column);
        json_object_set_new(one, "message", json_from_text(note->message));
        json_array_append_new(notes, one);
    }
    json_t *made = json_pack("{s:s, s:s, s:s}", "code", d->code, "name", d->name, "severity",
                             d->severity == COMPILE_ERROR ? "error" : "warning");
    add_place(made, d->place, d->end_line, d->end_column);
    json_object_set_new(made, "message", json_from_text(d->message));
    json_object_set_new(made, "notes", notes);
    return made;
}

int command_check(struct command *c)
{
    const struct options *o = c->options;
    int status = EXIT_CLEAN;
    json_t *found = json_array();
    for (size_t i = 0; i < o->arguments.count; i++) {
        struct compilation *compilation = command_open(c);
        const struct model *model = compile_check(compilation, o->arguments.items[i], o->platform);
        for (size_t d = 0; d < compile_diagnostic_count(compilation); d++)
            json_array_append_new(found, diagnostic_json(compile_diagnostic_at(compilation, d)));
        if (!o->json)
            command_print_diagnostics(compilation);
        if (!model)
            status = EXIT_ERRORS;
        else if (!o->json)
            print_summary(o->arguments.items[i], model);
        if (model && model->root && o->ranks
            && command_place_check(c, o->arguments.items[i], model))
            status = EXIT_ERRORS;
        compile_close(compilation);
    }
    if (o->json && (json_dumpf(found, stdout, JSON_INDENT(1)) != 0 || putchar('\n') == EOF))
        status = EXIT_ERRORS;
    json_decref(found);
    return status;
}

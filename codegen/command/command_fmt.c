/* Commands that need no elaboration: fmt, explain, new. */
#include <stdlib.h>
#include <string.h>

#include "codegen/command/command.h"
#include "codegen/emit/emit.h"
#include "codegen/views/view.h"

int command_fmt(struct command *c)
{
    const struct options *o = c->options;
    int status = EXIT_CLEAN;
    for (size_t i = 0; i < o->arguments.count; i++) {
        const char *path = o->arguments.items[i];
        struct compilation *compilation = command_open(c);
        size_t size, before = 0;
        const char *text = compile_format(compilation, path, &size);
        command_print_diagnostics(compilation);
        const char *old = text ? compile_file_text(compilation, 0, &before) : NULL;
        if (!text) {
            status = EXIT_ERRORS;
        } else if (o->check && (!old || before != size || memcmp(old, text, size) != 0)) {
            printf("%s\n", path);
            status = EXIT_ERRORS;
        } else if (!o->check && emit_write_bytes(path, text, size) == EMIT_FAILED) {
            status = EXIT_ERRORS;
        }
        compile_close(compilation);
    }
    return status;
}

static void print_explanation(const struct compile_explanation *e)
{
    printf("%s %s (%s): %s\n\n%s", e->code, e->name,
           e->severity == COMPILE_ERROR ? "error" : "warning", e->summary, e->text);
    size_t size = strlen(e->text);
    if (size == 0 || e->text[size - 1] != '\n')
        printf("\n");
}

int command_explain(struct command *c)
{
    const struct options *o = c->options;
    size_t count = compile_explanation_count();
    if (o->arguments.count == 0) {
        for (size_t i = 0; i < count; i++) {
            const struct compile_explanation *e = compile_explanation_at(i);
            printf("%s  %-24s %s\n", e->code, e->name, e->summary);
        }
        return EXIT_CLEAN;
    }
    const char *word = o->arguments.items[0];
    const struct compile_explanation *found = compile_explain(word);
    if (found) {
        print_explanation(found);
        return EXIT_CLEAN;
    }
    const char **names = arena_alloc(c->arena, 2 * count * sizeof *names);
    for (size_t i = 0; i < count; i++) {
        names[2 * i] = compile_explanation_at(i)->code;
        names[2 * i + 1] = compile_explanation_at(i)->name;
    }
    const char *near = compile_suggest(word, names, 2 * count);
    fprintf(stderr, "heddle explain: there is no diagnostic '%s'\n", word);
    if (near)
        fprintf(stderr, "help: did you mean '%s'?\n", near);
    else
        fprintf(stderr, "help: `heddle explain` lists all\n");
    return EXIT_ERRORS;
}

int command_new(struct command *c)
{
    const struct options *o = c->options;
    const char *what = o->arguments.items[0], *name = o->arguments.items[1];
    struct view_error error = {""};
    if (!view_new_is_kind(what)) {
        fprintf(stderr, "heddle new: '%s' is not 'component', 'part' or 'platform'\n", what);
        return EXIT_USAGE;
    }
    bool ok = view_new(what, name, o->output, stdout, &error);
    if (error.text[0])
        fprintf(stderr, "heddle: %s\n", error.text);
    return ok ? EXIT_CLEAN : EXIT_ERRORS;
}

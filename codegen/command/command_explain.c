/* `heddle explain`. */
#include <stdio.h>
#include <string.h>

#include "codegen/command/command.h"

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

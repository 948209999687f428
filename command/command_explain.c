/* `heddle explain`. */
#include <stdio.h>
#include <string.h>

#include "base/number.h"

#include "command.h"
#include "command_say.h"

static void print_explanation(const struct compile_explanation *e)
{
    printf("%s %s (%s): %s\n\n%s", e->code, e->name,
           e->severity == COMPILE_ERROR ? "error" : "warning", e->summary, e->text);
    size_t size = strlen(e->text);
    if (size == 0 || e->text[size - 1] != '\n')
        printf("\n");
}

/* Findings of `heddle run --check`, by the names of its reports. */
#define CHECK(id, name) static const char check_##id[] = name;
#define FINDING(id, check, name, what, fix)
#include "components/checks/finding.def"
#undef CHECK
#undef FINDING
#define CHECK(id, name)
#define FINDING(id, check, name, what, fix) {name, check_##check, what, fix},
static const struct {
    const char *name, *check, *what, *fix;
} findings[] = {
#include "components/checks/finding.def"
};
enum { FINDINGS = ARRAY_COUNT(findings) };

static void list_all(void)
{
    for (size_t i = 0; i < compile_explanation_count(); i++) {
        const struct compile_explanation *e = compile_explanation_at(i);
        printf("%s  %-24s %s\n", e->code, e->name, e->summary);
    }
    for (size_t i = 0; i < FINDINGS; i++)
        printf("%s  --check %s: %s\n", findings[i].name, findings[i].check, findings[i].what);
}

static bool explain_finding(const char *word)
{
    for (size_t i = 0; i < FINDINGS; i++) {
        if (strcmp(word, findings[i].name) != 0)
            continue;
        printf("%s (finding of `heddle run --check %s`): %s\n\n%s.\n", word, findings[i].check,
               findings[i].what, findings[i].fix);
        return true;
    }
    return false;
}

int command_explain(struct command *c)
{
    const struct options *o = c->options;
    size_t count = compile_explanation_count();
    if (o->arguments.count == 0) {
        list_all();
        return EXIT_CLEAN;
    }
    const char *word = o->arguments.items[0];
    const struct compile_explanation *explanation = compile_explain(word);
    if (explanation) {
        print_explanation(explanation);
        return EXIT_CLEAN;
    }
    if (explain_finding(word))
        return EXIT_CLEAN;
    const char **names = region_take(c->region, (2 * count + FINDINGS) * sizeof *names);
    for (size_t i = 0; i < count; i++) {
        names[2 * i] = compile_explanation_at(i)->code;
        names[2 * i + 1] = compile_explanation_at(i)->name;
    }
    for (size_t i = 0; i < FINDINGS; i++)
        names[2 * count + i] = findings[i].name;
    const char *near = compile_suggest(word, names, 2 * count + FINDINGS);
    command_say("there is no diagnostic or finding '%s'", word);
    if (near)
        fprintf(stderr, "help: did you mean '%s'?\n", near);
    else
        fprintf(stderr, "help: `heddle explain` lists all\n");
    return EXIT_ERRORS;
}

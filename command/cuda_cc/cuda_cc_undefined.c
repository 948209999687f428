/* Device functions and variables that a program uses and nothing defines, looked for in its PTX
 * when that is complete: they would be errors of launches. Called by command_cuda_cc.c. */
#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "dsl/suggest.h"

#include "cuda_cc.h"

/* Mangled, and the line that has it. */
struct named {
    const char *name, *line;
};

struct undefined {
    struct cuda_cc *cc;
    const char *ptx;
    VECTOR(struct named) missing, defined;
};

static bool begins_with(const char *line, const char *word)
{
    return strncmp(line, word, strlen(word)) == 0;
}

static const char *next_line(const char *line)
{
    const char *end = strchr(line, '\n');
    return end ? end + 1 : NULL;
}

/* "f(float)" of _Z1ff. */
static const char *readable(struct cuda_cc *cc, const char *name)
{
    char *text = cplus_demangle_v3(name, DMGL_PARAMS | DMGL_ANSI);
    const char *copy = region_strdup(cc->c->region, text ? text : name);
    free(text);
    return copy;
}

/* Without its parameters. */
static const char *bare(struct cuda_cc *cc, const char *name)
{
    const char *text = readable(cc, name);
    return region_strndup(cc->c->region, text, strcspn(text, "("));
}

/* The last name of a declaration, before what is in brackets. */
static const char *declared(struct cuda_cc *cc, const char *line)
{
    size_t end = strcspn(line, "\n");
    while (end > 0 && strchr("(); \t\r", line[end - 1]))
        end--;
    const char *array = memchr(line, '[', end);
    end = array ? (size_t)(array - line) : end;
    size_t first = end;
    while (first > 0 && !strchr(" \t)", line[first - 1]))
        first--;
    return region_strndup(cc->c->region, line + first, end - first);
}

/* Functions that the executor defines itself. */
static bool is_system(const char *name)
{
    static const char *const names[] = {"vprintf", "malloc", "free", "__assertfail"};
    for (size_t i = 0; i < ARRAY_COUNT(names); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static void collect(struct undefined *u)
{
    static const char *const definitions[] = {".visible .func", ".weak .func", ".visible .global",
                                              ".visible .const"};
    for (const char *line = u->ptx; line; line = next_line(line)) {
        const char *name = begins_with(line, ".") ? declared(u->cc, line) : NULL;
        if (begins_with(line, ".extern .func") || begins_with(line, ".extern .global")
            || begins_with(line, ".extern .const")) {
            if (!is_system(name))
                vector_push(u->cc->c->region, &u->missing, ((struct named){name, line}));
            continue;
        }
        for (size_t i = 0; name && i < ARRAY_COUNT(definitions); i++)
            if (begins_with(line, definitions[i]))
                vector_push(u->cc->c->region, &u->defined, ((struct named){name, line}));
    }
}

/* "a.cu:3:36" of a line that is of the source's place; NULL: it is of none. */
static const char *noted(struct cuda_cc *cc, const char *line)
{
    const char *text = line + strspn(line, " \t"), *end = text + strcspn(text, "\n");
    const char *note = begins_with(text, ".loc") ? strstr(text, "// ") : NULL;
    if (!note || note > end)
        return NULL;
    return region_strndup(cc->c->region, note + 3, strcspn(note + 3, " \n"));
}

/* The place of the first line that uses the name, with ": "; or "". */
static const char *place_of(struct undefined *u, const char *name)
{
    const char *place = "";
    for (const char *line = u->ptx; line; line = next_line(line)) {
        const char *note = noted(u->cc, line);
        if (note)
            place = region_printf(u->cc->c->region, "%s: ", note);
        const char *text = line + strspn(line, " \t"), *end = text + strcspn(text, "\n");
        const char *use = *line == '\t' && *text != '.' ? strstr(text, name) : NULL;
        if (use && use < end && strchr(" \t[", use[-1]) && strchr(", ;+]\n", use[strlen(name)]))
            return place;
    }
    return "";
}

/* "; did you mean 'f(float)' of b.cu?", or "". */
static const char *hint(struct undefined *u, const char *name)
{
    struct suggestion near = suggestion_for(bare(u->cc, name));
    const struct named *like = NULL;
    for (size_t i = 0; i < u->defined.count; i++) {
        const char *best = near.best;
        suggestion_try(&near, bare(u->cc, u->defined.items[i].name));
        like = near.best != best ? &u->defined.items[i] : like;
    }
    if (!like)
        return "";
    const char *place = NULL;
    for (const char *line = like->line; line && *line != '}' && !place; line = next_line(line))
        place = noted(u->cc, line);
    return region_printf(u->cc->c->region, "; did you mean '%s'%s%.*s?",
                         readable(u->cc, like->name), place ? " of " : "",
                         place ? (int)strcspn(place, ":") : 0, place ? place : "");
}

bool cuda_cc_is_complete(struct cuda_cc *cc, const char *ptx)
{
    size_t size;
    struct undefined u = {.cc = cc, .ptx = cuda_cc_read(cc, ptx, &size)};
    if (!u.ptx)
        return false;
    collect(&u);
    for (size_t i = 0; i < u.missing.count; i++) {
        const char *name = u.missing.items[i].name;
        bool alone = !cc->relocatable && cc->sources.count > 0;
        fprintf(stderr, "%serror: nothing defines '%s', which device code uses%s%s\n",
                place_of(&u, name), readable(cc, name), hint(&u, name),
                alone ? " (-rdc=true links that of several files)" : "");
    }
    return u.missing.count == 0;
}

/* `heddle calibrate` is written in Python (python/heddle): this checks the options as of any
 * command, and becomes the interpreter. It is Debian's own, because that is the one that has
 * Debian's numpy and scipy. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "codegen/command/command.h"

#define PYTHON "/usr/bin/python3"

struct words {
    struct arena *arena;
    VECTOR(const char *) list;
};

static void add(struct words *w, const char *word)
{
    vector_push(w->arena, &w->list, word);
}

static void add_option(struct words *w, const char *option, const char *value)
{
    if (!value)
        return;
    /* In one word: a value may begin with a dash. */
    add(w, arena_printf(w->arena, "%s=%s", option, value));
}

static void add_number(struct words *w, const char *option, uint64_t value)
{
    if (value)
        add_option(w, option, arena_printf(w->arena, "%llu", (unsigned long long)value));
}

static void add_list(struct words *w, const char *option, const struct options_list *values)
{
    for (size_t i = 0; i < values->count; i++)
        add_option(w, option, values->items[i]);
}

static char *const *make_words(const struct command *c, const char *python, const char *self)
{
    const struct options *o = c->options;
    struct words w = {.arena = c->arena};
    add(&w, python);
    add(&w, "-P"); /* a folder called heddle where the user stands is not ours */
    add(&w, "-m");
    add(&w, "heddle");
    add(&w, options_command_name(o->command));
    add_option(&w, "--heddle", self);
    add_option(&w, "--hip", c->toolkit.hip_folder);
    if (o->output)
        add_option(&w, "--output", o->output);
    add_list(&w, "--set", &o->set);
    add_option(&w, "--labels", o->labels);
    add_option(&w, "--method", o->method);
    add_number(&w, "--points", o->points);
    add_number(&w, "--limit", o->limit);
    add_number(&w, "--jobs", o->jobs);
    add_number(&w, "--folds", o->folds);
    add_number(&w, "--seed", o->seed);
    add_number(&w, "--evaluations", o->evaluations);
    add_list(&w, "--fit", &o->fit);
    if (o->retry)
        add(&w, "--retry");
    if (o->estimate)
        add(&w, "--estimate");
    add(&w, "--");
    add(&w, o->arguments.items[0]);
    add(&w, NULL);
    return (char *const *)(uintptr_t)w.list.items;
}

/* The package's folder in front of what the user has. */
static bool set_path(struct command *c)
{
    const char *before = getenv("PYTHONPATH"), *folder = c->toolkit.python;
    struct stat status;
    if (!folder || stat(arena_printf(c->arena, "%s/heddle/__main__.py", folder), &status) != 0) {
        fprintf(stderr,
                "heddle calibrate: the Python package is not in '%s'; install heddle as a "
                "whole (meson install)\n",
                folder ? folder : "?");
        return false;
    }
    const char *path = before && *before ? arena_printf(c->arena, "%s:%s", folder, before) : folder;
    setenv("PYTHONPATH", path, 1);
    setenv("PYTHONDONTWRITEBYTECODE", "1", 0); /* the folder may be the system's */
    return true;
}

int command_calibrate(struct command *c)
{
    const char *named = getenv("HEDDLE_PYTHON");
    const char *python = named && *named ? named : PYTHON;
    char *self = realpath("/proc/self/exe", NULL);
    if (!self) {
        fprintf(stderr, "heddle calibrate: cannot find its own program: %s\n", strerror(errno));
        return EXIT_ERRORS;
    }
    bool ready = set_path(c);
    if (ready) {
        fflush(NULL);
        execvp(python, make_words(c, python, arena_strdup(c->arena, self)));
        fprintf(stderr,
                "heddle calibrate: cannot start Python, '%s': %s; install the Debian packages "
                "python3 and python3-scipy, or name another Python with HEDDLE_PYTHON\n",
                python, strerror(errno));
    }
    free(self);
    return EXIT_ERRORS;
}

/* `heddle report` is written in Python (python/heddle/report), of which it needs the standard
 * library alone: this checks the options as of any command, and becomes the interpreter. */
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

/* In one word: a value may begin with a dash. */
static void add_option(struct words *w, const char *option, const char *value)
{
    if (value)
        add(w, arena_printf(w->arena, "%s=%s", option, value));
}

static char *const *make_words(const struct command *c, const char *python, const char *self)
{
    const struct options *o = c->options;
    struct words w = {.arena = c->arena};
    add(&w, python);
    add(&w, "-P"); /* a folder called heddle where the user stands is not ours */
    add(&w, "-m");
    add(&w, "heddle.report");
    add_option(&w, "--heddle", self);
    add_option(&w, "--output", o->output);
    add_option(&w, "--description", o->description);
    for (size_t i = 0; i < o->plot.count; i++)
        add_option(&w, "--plot", o->plot.items[i]);
    add(&w, "--");
    for (size_t i = 0; i < o->arguments.count; i++)
        add(&w, o->arguments.items[i]);
    add(&w, NULL);
    return (char *const *)(uintptr_t)w.list.items;
}

/* The package's folder in front of what the user has. */
static bool set_path(struct command *c)
{
    const char *before = getenv("PYTHONPATH"), *folder = c->toolkit.python;
    struct stat status;
    if (!folder || stat(arena_printf(c->arena, "%s/heddle/report", folder), &status) != 0) {
        fprintf(stderr,
                "heddle report: the Python package is not in '%s'; install heddle as a whole "
                "(meson install)\n",
                folder ? folder : "?");
        return false;
    }
    setenv("PYTHONPATH",
           before && *before ? arena_printf(c->arena, "%s:%s", folder, before) : folder, 1);
    setenv("PYTHONDONTWRITEBYTECODE", "1", 0); /* the folder may be the system's */
    return true;
}

int command_report(struct command *c)
{
    const char *named = getenv("HEDDLE_PYTHON");
    const char *python = named && *named ? named : PYTHON;
    char *self = realpath("/proc/self/exe", NULL);
    if (!self) {
        fprintf(stderr, "heddle report: cannot find its own program: %s\n", strerror(errno));
        return EXIT_ERRORS;
    }
    if (set_path(c)) {
        fflush(NULL);
        execvp(python, make_words(c, python, arena_strdup(c->arena, self)));
        fprintf(stderr,
                "heddle report: cannot start Python, '%s': %s; install the Debian package "
                "python3, or name another Python with HEDDLE_PYTHON\n",
                python, strerror(errno));
    }
    free(self);
    return EXIT_ERRORS;
}

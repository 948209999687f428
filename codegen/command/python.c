/* See python.h. */
#include "codegen/command/python.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PYTHON "/usr/bin/python3"

void python_add(struct python_words *w, const char *word)
{
    vector_push(w->arena, &w->list, word);
}

void python_add_option(struct python_words *w, const char *option, const char *value)
{
    /* In one word: a value may begin with a dash. */
    if (value)
        python_add(w, arena_printf(w->arena, "%s=%s", option, value));
}

void python_add_number(struct python_words *w, const char *option, uint64_t value)
{
    if (value)
        python_add_option(w, option, arena_printf(w->arena, "%llu", (unsigned long long)value));
}

void python_add_list(struct python_words *w, const char *option, const struct options_list *values)
{
    for (size_t i = 0; i < values->count; i++)
        python_add_option(w, option, values->items[i]);
}

/* The package's folder in front of what the user has. */
static bool set_path(struct command *c, const char *name)
{
    const char *before = getenv("PYTHONPATH"), *folder = c->toolkit.python;
    struct stat status;
    if (!folder || stat(arena_printf(c->arena, "%s/heddle/__main__.py", folder), &status) != 0) {
        fprintf(stderr,
                "heddle %s: the Python package is not in '%s'; install heddle as a whole (meson "
                "install)\n",
                name, folder ? folder : "?");
        return false;
    }
    const char *path = before && *before ? arena_printf(c->arena, "%s:%s", folder, before) : folder;
    setenv("PYTHONPATH", path, 1);
    setenv("PYTHONDONTWRITEBYTECODE", "1", 0); /* the folder may be the system's */
    return true;
}

static void become(struct command *c, const char *name, const char *self,
                   const struct python_words *words)
{
    const char *named = getenv("HEDDLE_PYTHON");
    const char *python = named && *named ? named : PYTHON;
    struct python_words all = {.arena = c->arena};
    python_add(&all, python);
    python_add(&all, "-P"); /* a folder called heddle where the user stands is not ours */
    python_add(&all, "-m");
    python_add(&all, "heddle");
    python_add(&all, name);
    python_add_option(&all, "--heddle", self);
    for (size_t i = 0; i < words->list.count; i++)
        python_add(&all, words->list.items[i]);
    python_add(&all, NULL);
    fflush(NULL);
    execvp(python, (char *const *)(uintptr_t)all.list.items);
    fprintf(stderr,
            "heddle %s: cannot start Python, '%s': %s; install the Debian package python3, or name "
            "another Python with HEDDLE_PYTHON\n",
            name, python, strerror(errno));
}

int python_start(struct command *c, const struct python_words *words)
{
    const char *name = options_command_name(c->options->command);
    char *self = realpath("/proc/self/exe", NULL);
    if (!self) {
        fprintf(stderr, "heddle %s: cannot find its own program: %s\n", name, strerror(errno));
        return EXIT_ERRORS;
    }
    if (set_path(c, name))
        become(c, name, self, words);
    free(self);
    return EXIT_ERRORS;
}

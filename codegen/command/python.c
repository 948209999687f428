/* See python.h. */
#define _GNU_SOURCE /* environ, pipe2 */
#include "codegen/command/python.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PYTHON "/usr/bin/python3"

struct words {
    struct arena *arena;
    VECTOR(const char *) list;
};

static void add(struct words *w, const char *word)
{
    vector_push(w->arena, &w->list, word);
}

static void add_path(struct words *w, const char *option, const char *path)
{
    if (path)
        add(w, arena_printf(w->arena, "%s=%s", option, path));
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
    return true;
}

/* *python is what to start. */
static struct words begin(struct command *c, const char *name, const char *self,
                          const char **python)
{
    const char *named = getenv("HEDDLE_PYTHON");
    struct words words = {.arena = c->arena};
    *python = named && *named ? named : PYTHON;
    add(&words, *python);
    add(&words, "-P"); /* a folder called heddle where the user stands is not ours */
    add(&words, "-m");
    add(&words, "heddle");
    add(&words, name);
    add_path(&words, "--heddle", self);
    add_path(&words, "--hip", c->toolkit.hip_folder);
    add_path(&words, "--library", c->toolkit.library);
    return words;
}

static void say_not_started(const char *name, const char *python, int reason)
{
    fprintf(stderr,
            "heddle %s: cannot start Python, '%s': %s; install the Debian package python3, or name "
            "another Python with HEDDLE_PYTHON\n",
            name, python, strerror(reason));
}

static void become(struct words *words, const char *name, const char *python)
{
    add(words, NULL);
    fflush(NULL);
    execvp(python, (char *const *)(uintptr_t)words->list.items);
    say_not_started(name, python, errno);
}

/* The path of this program, to be freed; NULL: said on standard error. */
static char *find_self(const char *name)
{
    char *self = realpath("/proc/self/exe", NULL);
    if (!self)
        fprintf(stderr, "heddle %s: cannot find its own program: %s\n", name, strerror(errno));
    return self;
}

/* The interpreter's words up to those of `heddle NAME`; false: said on standard error. */
static bool prepare(struct command *c, const char *name, struct words *words, const char **python)
{
    char *self = find_self(name);
    bool ready = self && set_path(c, name);
    if (ready)
        *words = begin(c, name, self, python);
    free(self);
    return ready;
}

int command_python(struct command *c)
{
    const char *name = options_command_name(c->options->command), *python;
    struct words words;
    if (!prepare(c, name, &words, &python))
        return EXIT_ERRORS;
    for (char **word = c->words; *word; word++)
        add(&words, *word);
    become(&words, name, python);
    return EXIT_ERRORS;
}

bool python_start(struct command *c, const struct python_child *child, pid_t *pid)
{
    const char *python;
    struct words words;
    posix_spawn_file_actions_t actions;
    if (!prepare(c, child->name, &words, &python))
        return false;
    for (size_t i = 0; i < child->words.count; i++)
        add(&words, child->words.items[i]);
    add(&words, NULL);
    fflush(NULL);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, child->in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, child->out, STDOUT_FILENO);
    int reason = posix_spawnp(pid, python, &actions, NULL,
                              (char *const *)(uintptr_t)words.list.items, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (reason != 0)
        say_not_started(child->name, python, reason);
    return reason == 0;
}

int python_end(pid_t pid)
{
    int status;
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_ERRORS;
}

int python_print(struct command *c, const char *what, const char *path, const char *built,
                 const char *program)
{
    const char *words[] = {what,      path,  "--description", c->options->arguments.items[0],
                           "--built", built, program};
    const struct python_child child = {
        "run", {words, program ? 7 : 6}, STDIN_FILENO, STDERR_FILENO};
    pid_t pid;
    return python_start(c, &child, &pid) ? python_end(pid) : EXIT_ERRORS;
}

json_t *python_ask(struct command *c, const struct options_list *words)
{
    int ends[2];
    pid_t pid;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return NULL;
    const struct python_child child = {options_command_name(c->options->command), *words,
                                       STDIN_FILENO, ends[1]};
    bool started = python_start(c, &child, &pid);
    close(ends[1]);
    FILE *from = fdopen(ends[0], "r");
    json_t *answer = started && from ? json_loadf(from, 0, NULL) : NULL;
    if (from)
        fclose(from);
    if (started && python_end(pid) == EXIT_CLEAN)
        return answer;
    json_decref(answer);
    return NULL;
}

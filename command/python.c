/* Starts the commands that are written in Python. */
#define _GNU_SOURCE /* environ, pipe2 */
#include "python.h"

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

#include "command/options/options_table.h"

#include "command_say.h"

#define PYTHON "/usr/bin/python3"

struct words {
    struct region *region;
    VECTOR(const char *) list;
};

static void add_word(struct words *w, const char *word)
{
    vector_push(w->region, &w->list, word);
}

/* A word of python/heddle/base/command_line.py: `value` NULL is no value of that kind. */
static void add_value(struct words *w, const char *key, char kind, const char *value)
{
    add_word(w, region_printf(w->region, "%s:%c=%s", key, kind, value ? value : ""));
}

static void add_text(struct words *w, const char *key, const char *value)
{
    add_value(w, key, value ? 't' : '-', value);
}

static void add_list(struct words *w, const char *key, const char *const *values, size_t count)
{
    add_value(w, key, '[', NULL);
    for (size_t i = 0; i < count; i++)
        add_value(w, key, ',', values[i]);
}

static size_t length_of(char **words)
{
    size_t count = 0;
    while (words && words[count])
        count++;
    return count;
}

/* Every option of the command, given or not, its files, and the words of the program. */
static void add_options(struct words *w, const struct command *c)
{
    const struct options *o = c->options;
    struct option_given given;
    for (size_t i = 0; i < option_spec_count; i++) {
        const struct option_spec *spec = &option_specs[i];
        if (!option_belongs(spec, o->command))
            continue;
        option_given(o, spec, &given);
        if (option_is_list(spec))
            add_list(w, spec->key, given.values, given.count);
        else if (spec->type == OPTION_FLAG || spec->type == OPTION_NUMBER)
            add_value(w, spec->key, spec->type == OPTION_FLAG ? '?' : '#', given.value);
        else
            add_text(w, spec->key, given.value);
    }
    add_list(w, "files", o->arguments.items, o->arguments.count);
    add_list(w, "program", (const char *const *)o->program, length_of(o->program));
    add_list(w, "words", (const char *const *)c->words, length_of(c->words));
}

/* The package's folder in front of what the user has. */
static bool set_path(struct command *c)
{
    const char *before = getenv("PYTHONPATH"), *folder = c->toolkit.python;
    struct stat status;
    if (!folder || stat(region_printf(c->region, "%s/heddle/__main__.py", folder), &status) != 0) {
        command_say("the Python package is not in '%s'; install heddle as a whole (meson install)",
                    folder ? folder : "?");
        return false;
    }
    const char *path =
        before && *before ? region_printf(c->region, "%s:%s", folder, before) : folder;
    setenv("PYTHONPATH", path, 1);
    return true;
}

/* *python is what to start. */
static struct words begin_command(struct command *c, const char *name, const char *self,
                                  const char **python)
{
    const char *named = getenv("HEDDLE_PYTHON");
    struct words words = {.region = c->region};
    *python = named && *named ? named : PYTHON;
    add_word(&words, *python);
    add_word(&words, "-P"); /* a folder called heddle in the user's own is not ours */
    add_word(&words, "-m");
    add_word(&words, "heddle");
    add_word(&words, name);
    add_text(&words, "heddle", self);
    add_value(&words, "hip", 't', c->toolkit.hip_folder);
    add_value(&words, "library", 't', c->toolkit.library);
    add_options(&words, c);
    return words;
}

static void say_not_started(const char *python, int reason)
{
    command_say("cannot start Python, '%s': %s; install the Debian package python3, or name "
                "another Python with HEDDLE_PYTHON",
                python, strerror(reason));
}

static void become(struct words *words, const char *python)
{
    add_word(words, NULL);
    fflush(NULL);
    execvp(python, (char *const *)(uintptr_t)words->list.items);
    say_not_started(python, errno);
}

/* The path of this program, to be freed; NULL: said on standard error. */
static char *find_self(void)
{
    char *self = realpath("/proc/self/exe", NULL);
    if (!self)
        command_say("cannot find its own program: %s", strerror(errno));
    return self;
}

/* False: said on standard error. */
static bool prepare(struct command *c, const char *name, struct words *words, const char **python)
{
    char *self = find_self();
    bool ready = self && set_path(c);
    if (ready)
        *words = begin_command(c, name, self, python);
    free(self);
    return ready;
}

int command_python(struct command *c)
{
    const char *name = options_command_name(c->options->command), *python;
    struct words words;
    if (!prepare(c, name, &words, &python))
        return EXIT_ERRORS;
    become(&words, python);
    return EXIT_ERRORS;
}

bool python_start(struct command *c, const struct python_child *child, pid_t *pid)
{
    const char *name = child->what ? "run" : options_command_name(c->options->command), *python;
    struct words words;
    posix_spawn_file_actions_t actions;
    if (!prepare(c, name, &words, &python))
        return false;
    add_text(&words, "what", child->what);
    add_text(&words, "file", child->file);
    add_text(&words, "built", child->built);
    add_text(&words, "about", child->about);
    add_word(&words, NULL);
    fflush(NULL);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, child->in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, child->out, STDOUT_FILENO);
    int reason = posix_spawnp(pid, python, &actions, NULL,
                              (char *const *)(uintptr_t)words.list.items, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (reason != 0)
        say_not_started(python, reason);
    return reason == 0;
}

int python_end(pid_t pid)
{
    int status;
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_ERRORS;
}

int python_print(struct command *c, const char *what, const char *path, const char *built,
                 const char *about)
{
    const struct python_child child = {.what = what,
                                       .file = path,
                                       .built = built,
                                       .about = about,
                                       .in = STDIN_FILENO,
                                       .out = STDERR_FILENO};
    pid_t pid;
    return python_start(c, &child, &pid) ? python_end(pid) : EXIT_ERRORS;
}

json_t *python_ask(struct command *c)
{
    int ends[2];
    pid_t pid;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return NULL;
    const struct python_child child = {.in = STDIN_FILENO, .out = ends[1]};
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

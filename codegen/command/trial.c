/* See trial.h. The child writes its statistics to a temporary file; what the program prints is
 * thrown away, what it and the simulator complain about is not. */
#include "codegen/command/trial.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

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
    add(w, option);
    add(w, value);
}

static void add_list(struct words *w, const char *option, const struct options_list *values)
{
    for (size_t i = 0; i < values->count; i++)
        add_option(w, option, values->items[i]);
}

static const char **make_words(struct command *c, const char *const *options, const char *stats)
{
    const struct options *o = c->options;
    struct words w = {.arena = c->arena};
    add(&w, "heddle");
    add(&w, "run");
    add(&w, o->arguments.items[0]);
    add_option(&w, "--platform", o->platform);
    add_list(&w, "--set", &o->set);
    add_list(&w, "-I", &o->include);
    if (o->generic)
        add(&w, "--generic");
    if (o->allow_incoherent)
        add(&w, "--allow-incoherent");
    if (o->threads)
        add_option(&w, "--threads", arena_printf(c->arena, "%llu", (unsigned long long)o->threads));
    add_option(&w, "--stats", stats);
    for (; *options; options++)
        add(&w, *options);
    if (o->play_sass)
        add_option(&w, "--play", arena_printf(c->arena, "sass=%s", o->play_sass));
    if (o->no_cache)
        add(&w, "--no-cache");
    if (o->allow_incomplete)
        add(&w, "--allow-incomplete");
    if (o->program)
        add(&w, "--");
    for (char **argument = o->program; argument && *argument; argument++)
        add(&w, *argument);
    add(&w, NULL);
    return w.list.items;
}

/* The exit status of the child. */
static int run_child(const char **words)
{
    int status;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, STDOUT_FILENO);
        execv("/proc/self/exe", (char *const *)(uintptr_t)words);
        _exit(127);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 127;
}

const char *trial_subject(const struct options *o)
{
    return o->play_sass ? o->play_sass : o->program[0];
}

bool trial_has_subject(const struct options *o, const char *arguments)
{
    const char *name = options_command_name(o->command);
    bool program = o->program && o->program[0];
    if (program != (o->play_sass != NULL))
        return true;
    fprintf(stderr,
            program ? "heddle %s: either a program or '--play sass=LIST', not both\n"
                    : "heddle %s: name a program or a list of traces: heddle %s %s -- PROGRAM "
                      "ARGS..., or --play sass=LIST\n",
            name, name, arguments);
    return false;
}

json_t *trial_run(struct command *c, const char *const *options)
{
    const char *name = options_command_name(c->options->command);
    char path[] = COMMAND_TEMPORARY;
    json_error_t error;
    if (!command_temporary(c, path))
        return NULL;
    int status = run_child(make_words(c, options, path));
    json_t *root = status == 0 ? json_load_file(path, 0, &error) : NULL;
    if (status != 0)
        fprintf(stderr, "heddle %s: a run of '%s' ended with status %d\n", name,
                trial_subject(c->options), status);
    else if (!root)
        fprintf(stderr, "heddle %s: a run of '%s' wrote no statistics (does it use the GPU?)\n",
                name, c->options->program[0]);
    unlink(path);
    return root;
}

/* See trial.h. The child writes its statistics to a temporary file; what the program prints is
 * thrown away, what it and the simulator complain about is not. */
#include "codegen/command/trial.h"

#include <stdlib.h>
#include <unistd.h>

#include "codegen/command/supervise.h"
#include "runtime/session/options_env.h"

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

/* The files of further processes, which are not asked for, go; false: there was one, said on
 * standard error. */
static bool is_alone(struct command *c, const char *path)
{
    bool alone = true;
    for (unsigned n = 2;; n++) {
        size_t size = options_env_number_path(path, n, false, NULL, 0) + 1;
        char *other = arena_alloc(c->arena, size);
        options_env_number_path(path, n, false, other, size);
        if (unlink(other) != 0)
            break;
        alone = false;
    }
    if (!alone)
        fprintf(
            stderr,
            "heddle %s: several processes of '%s' use HIP; name a program that is one process\n",
            options_command_name(c->options->command), trial_subject(c->options));
    return alone;
}

json_t *trial_run(struct command *c, const char *const *options)
{
    const char *name = options_command_name(c->options->command);
    const char *path = command_temporary(c);
    json_error_t error;
    if (!path)
        return NULL;
    const char **words = make_words(c, options, path);
    int status = supervise(&(struct supervise){.program = "/proc/self/exe",
                                               .name = "heddle run",
                                               .arguments = (char *const *)(uintptr_t)words,
                                               .silent = true,
                                               .ledger = -1});
    bool alone = is_alone(c, path);
    json_t *root = status == 0 && alone ? json_load_file(path, 0, &error) : NULL;
    if (status != 0)
        fprintf(stderr, "heddle %s: a run of '%s' ended with status %d\n", name,
                trial_subject(c->options), status);
    else if (!root && alone)
        fprintf(stderr, "heddle %s: a run of '%s' wrote no statistics (does it use the GPU?)\n",
                name, c->options->program[0]);
    unlink(path);
    return root;
}

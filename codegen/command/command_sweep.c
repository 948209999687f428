/* `heddle sweep` is written in Python (python/heddle/sweeps). */
#include <stdio.h>

#include "codegen/command/python.h"

int command_sweep(struct command *c)
{
    const struct options *o = c->options;
    if (!o->output) {
        fprintf(stderr, "heddle sweep: '-o DIR' is missing: the folder that keeps the results\n");
        return EXIT_USAGE;
    }
    struct python_words w = {.arena = c->arena};
    python_add_option(&w, "--hip", c->toolkit.hip_folder);
    python_add_option(&w, "--output", o->output);
    python_add_option(&w, "--engine", o->engine);
    python_add_list(&w, "--set", &o->set);
    python_add_list(&w, "--vary", &o->vary);
    python_add_list(&w, "--constraint", &o->constraint);
    python_add_list(&w, "--read", &o->read);
    python_add_number(&w, "--sample", o->sample);
    python_add_number(&w, "--seed", o->seed);
    python_add_number(&w, "--limit", o->limit);
    python_add_number(&w, "--jobs", o->jobs);
    if (o->generic)
        python_add(&w, "--generic");
    if (o->retry)
        python_add(&w, "--retry");
    if (o->keep)
        python_add(&w, "--keep");
    for (size_t i = 0; i < o->arguments.count; i++)
        python_add(&w, o->arguments.items[i]);
    /* Behind it stand words that may look like options. */
    if (o->program) {
        python_add(&w, "--program");
        for (char **word = o->program; *word; word++)
            python_add(&w, *word);
    }
    return python_start(c, &w);
}

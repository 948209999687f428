/* `heddle report` is written in Python (python/heddle/report). */
#include "codegen/command/python.h"

int command_report(struct command *c)
{
    const struct options *o = c->options;
    struct python_words w = {.arena = c->arena};
    python_add_option(&w, "--output", o->output);
    python_add_option(&w, "--description", o->description);
    python_add_option(&w, "--profile", o->profile);
    python_add_option(&w, "--series", o->series);
    python_add_list(&w, "--plot", &o->plot);
    python_add(&w, "--");
    for (size_t i = 0; i < o->arguments.count; i++)
        python_add(&w, o->arguments.items[i]);
    return python_start(c, &w);
}

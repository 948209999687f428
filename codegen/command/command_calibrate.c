/* `heddle calibrate` is written in Python (python/heddle/calibrate.py). */
#include "codegen/command/python.h"

int command_calibrate(struct command *c)
{
    const struct options *o = c->options;
    struct python_words w = {.arena = c->arena};
    python_add_option(&w, "--hip", c->toolkit.hip_folder);
    python_add_option(&w, "--output", o->output);
    python_add_list(&w, "--set", &o->set);
    python_add_option(&w, "--labels", o->labels);
    python_add_option(&w, "--method", o->method);
    python_add_number(&w, "--points", o->points);
    python_add_number(&w, "--limit", o->limit);
    python_add_number(&w, "--budget", o->budget);
    python_add_number(&w, "--jobs", o->jobs);
    python_add_number(&w, "--folds", o->folds);
    python_add_number(&w, "--seed", o->seed);
    python_add_number(&w, "--evaluations", o->evaluations);
    python_add_list(&w, "--fit", &o->fit);
    if (o->retry)
        python_add(&w, "--retry");
    if (o->estimate)
        python_add(&w, "--estimate");
    python_add(&w, "--");
    python_add(&w, o->arguments.items[0]);
    return python_start(c, &w);
}

/* A file that appears whole or not at all: written under a temporary name beside its place, and
 * renamed when it is complete. After unfinished_guard() a signal that ends the program removes what
 * is unfinished, too. */
#ifndef HEDDLE_COMPONENTS_TRACES_INSTRUCTION_TRACE_TOOLS_ITRACE_OUTPUT_H
#define HEDDLE_COMPONENTS_TRACES_INSTRUCTION_TRACE_TOOLS_ITRACE_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

struct itrace_output {
    FILE *file; /* NULL: not open */
    char *path, *temporary;
    int slot; /* among files that signals remove (runtime/engine/unfinished.h) */
};

/* False: errno says why; nothing is there. */
bool itrace_output_open(struct itrace_output *output, const char *path);
/* False: errno says why; nothing is there, and what was there before still is. */
bool itrace_output_commit(struct itrace_output *output);
void itrace_output_abandon(struct itrace_output *output);

#endif

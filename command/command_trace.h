/* The tables of `heddle trace stats`. */
#ifndef HEDDLE_COMMAND_COMMAND_TRACE_H
#define HEDDLE_COMMAND_COMMAND_TRACE_H

#include <stdio.h>

#include "components/traces/instruction_trace/tools/itrace_stats.h"

void command_trace_print(const struct itrace_stats_run *run, FILE *out);
/* One row for each kernel; the names of the columns are the names of docs/reference/traces.md. */
void command_trace_print_csv(const struct itrace_stats_run *run, FILE *out);

#endif

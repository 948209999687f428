/* Groups a raw trace (*.trace), as the tracer writes it, by thread block and warp: what Accel-Sim's
 * post-traces-processing does. Each line of a raw trace begins with the block and the warp of its
 * instruction, and warps are interleaved. */
#ifndef HEDDLE_COMPONENTS_TRACES_INSTRUCTION_TRACE_TOOLS_ITRACE_GROUP_H
#define HEDDLE_COMPONENTS_TRACES_INSTRUCTION_TRACE_TOOLS_ITRACE_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct itrace_group_result {
    uint64_t instructions, blocks;
    uint64_t line;   /* wrong line of the raw trace; 0: the file as a whole */
    char error[200]; /* why it failed */
};

/* Writes `to`, blocks by number and warps in each, whole or not at all. The text of the raw trace
 * is held in memory. */
bool itrace_group(const char *from, const char *to, struct itrace_group_result *result);

#endif

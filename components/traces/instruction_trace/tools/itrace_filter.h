/* Memory-only traces: of a trace, the instructions with addresses (shared and local memory too) and
 * EXIT. Source: the cold-start thesis (docs/evidence/warmup.md), "Gathering trace info". */
#ifndef HEDDLE_COMPONENTS_TRACES_INSTRUCTION_TRACE_TOOLS_ITRACE_FILTER_H
#define HEDDLE_COMPONENTS_TRACES_INSTRUCTION_TRACE_TOOLS_ITRACE_FILTER_H

#include "components/traces/instruction_trace/reader/itrace.h"

/* True if the instruction is part of a memory-only trace. */
bool itrace_filter_keeps(const struct itrace_inst *inst);

/* `trace` was just opened without a cache; `path` is written, with *kept instructions. False:
 * reported, nothing written. */
bool itrace_filter(struct itrace *trace, const char *path, uint64_t *kept);

#endif

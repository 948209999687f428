/* Raw trace to grouped trace: instructions sorted by block (z * gy * gx + y * gx + x) and warp,
 * those of a warp in the order in which they stand in the file. An external sort: runs as large as
 * memory allows, each grouped, go to one nameless file beside the output, then all are merged at
 * once. What a run says about a warp's lines is shorter than the numbers that the raw lines carry,
 * so the file is no larger than the input. */
#ifndef HEDDLE_COMPONENTS_ITRACE_GROUP_H
#define HEDDLE_COMPONENTS_ITRACE_GROUP_H

#include "components/traces/instruction_trace/reader/itrace.h"

#define ITRACE_GROUP_MEMORY       ((size_t)160 << 20) /* the process then stays below 200 MB */
#define ITRACE_GROUP_LEAST_MEMORY ((size_t)1 << 20)
#define ITRACE_GROUP_MOST_MEMORY  ((size_t)4 << 30)

struct itrace_group_result {
    uint64_t runs, scratch_bytes;
};

/* `trace` was just opened and is raw; `path` is written. false: reported to the trace; nothing was
 * written. */
bool itrace_group(struct itrace *trace, const char *path, size_t memory,
                  struct itrace_group_result *result);

#endif

/* Correcting the cycles of a kernel of SASS traces that was simulated with cold caches; the
 * counterpart of estimate.h for platforms that play traces. docs/design/sampling.md
 * derives what stands here. */
#ifndef HEDDLE_CODEGEN_ESTIMATE_TRACE_H
#define HEDDLE_CODEGEN_ESTIMATE_TRACE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum { ESTIMATE_TRACE_LINE = 128 }; /* bytes of a line of these platforms (std/sector_mem) */

struct estimate_trace {
    double cycles;       /* simulated cold */
    double reads;        /* sectors from memory, cold */
    double unique_reads; /* of these, different ones: at most all of the lines' */
    double controllers;  /* memories in use: reads of all / most reads of one */
    double reuse;        /* share of the lines of the launch before that this one accesses, too */
    double extra;        /* what an access to memory takes longer than one to the L2, cycles */
    double trips_cold,
        trips; /* longest chain of waits for memory, cold and as the profile has it */
};

/* Reads launch `launch` of a cold run with `--kernel-stats all` and of a profile with `--profile
 * memory`. false: the profile is not one of traces. */
bool estimate_trace_read(struct estimate_trace *in, json_t *cold, json_t *profile, uint64_t launch);

/* Cycles with warm caches. estimate_trace_formula: the correction factor of
 * "gpu-cold-start-mitigation", section "A Possible Formula", as printed. */
double estimate_trace_formula(const struct estimate_trace *in);
double estimate_trace_chain(const struct estimate_trace *in);

#endif

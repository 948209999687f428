/* Correcting the cycles of a kernel that was simulated with cold caches, from statistics of that
 * run and of a functional profile. docs/design/sampling.md derives what stands here.
 *
 * Who has statistics of another form fills struct estimate_input by himself: a field that is 0 is
 * not known, and what needs it is not corrected. */
#ifndef HEDDLE_CODEGEN_ESTIMATE_H
#define HEDDLE_CODEGEN_ESTIMATE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* All of one kernel; times in cycles. */
struct estimate_input {
    double cycles; /* simulated cold */
    /* The run was re-timed (components/amd/compute_unit/cu_retime.c): cycles that it would have
     * been shorter by if no read had missed in L2s, no lookup in shared TLBs, neither. */
    bool retimed;
    /* It knew which lines and pages earlier launches left (components/sampling/residency.h), and
     * re-timed only what missed without need. */
    bool kept;
    double saved_lines, saved_pages, saved_both;
    double dram_reads;   /* lines, cold */
    double unique_reads; /* of these, different ones */
    double controllers;  /* memory slices in use: reads of all / most reads of one */
    double line;         /* bytes */
    double
        reuse; /* forward reuse of the launch before: share of its lines that this one accesses */
    double dram, l2;    /* latencies */
    double walks, walk; /* page walks, cold; latency of one */
    double warm_reads,
        warm_walks; /* of the profile: what still reaches memory after the launches before */
    /* Slot-cycles in which wavefronts waited for vector data, scalar data, code; held in all;
     * cycles in which a compute unit had wavefronts. */
    double wait_vector, wait_scalar, wait_code, held, active;
    double vector_instructions, vector_cycles; /* cycles: sum of their latencies */
    double hit;                                /* latency of a line from the L2 */
    /* Requests that waited for a translation, and that found no line in the first-level cache. */
    double vector_pages;
    double vector_misses, scalar_misses, code_misses;
    double walked; /* share of the first-level TLBs' misses that waited for a walk */
};

/* Reads `in` from the record of a kernel in a cold run with `--kernel-stats all`, the statistics of
 * that run, and the profile's records of the launch and of the one before (NULL: it is the first).
 */
void estimate_read(struct estimate_input *in, json_t *run, json_t *kernel, json_t *profile,
                   json_t *before);

/* Cycles with warm caches. estimate_formula: the correction factor of "gpu-cold-start-mitigation",
 * section "A Possible Formula", as printed, which may be below 0. The others are ours, and between
 * 0 and the cycles of the cold run: estimate_cold is the best that can be made of the input,
 * estimate_retimed where there is a re-timed run, else estimate_waits. */
double estimate_formula(const struct estimate_input *in);
double estimate_cold(const struct estimate_input *in);
double estimate_retimed(const struct estimate_input *in);
double estimate_waits(const struct estimate_input *in);

#endif

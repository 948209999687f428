/* Correcting the cycles of a kernel that was simulated with cold caches, from statistics of that
 * run and of a functional profile. docs/warmup.md derives what stands here. */
#ifndef HEDDLE_CODEGEN_ESTIMATE_H
#define HEDDLE_CODEGEN_ESTIMATE_H

#include <jansson.h>
#include <stdint.h>

/* All of one kernel; times in cycles. */
struct estimate_input {
    double cycles;      /* simulated cold */
    double dram_reads;  /* lines, cold */
    double controllers; /* memory slices in use: reads of all / most reads of one */
    double line;        /* bytes */
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
 * section "A Possible Formula", as printed. estimate_waits: our own. */
double estimate_formula(const struct estimate_input *in);
double estimate_waits(const struct estimate_input *in);

#endif

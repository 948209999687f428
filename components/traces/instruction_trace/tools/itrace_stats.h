/* Statistics of a kernel's trace: instructions by class, memory references, and the share of its
 * lines that neighbouring kernels touch, too.
 *
 * A reference is one active lane of one instruction. For kernel k, A_k is the set of lines (of
 * `line_bytes`) of global memory that it touches; shared and local memory are counted, but belong
 * to no set. Source: the cold-start thesis (docs/evidence/warmup.md), sections "Data reuse" and
 * "Correction factor":
 *   forward reuse(k)  = |A_k and A_k+1| / |A_k|
 *   backward reuse(k) = |A_k-1 and A_k| / |A_k|
 *   degree of reuse   = references / different addresses
 * All are 0 where there is nothing to divide by, or no other kernel. */
#ifndef HEDDLE_COMPONENTS_TRACES_INSTRUCTION_TRACE_TOOLS_ITRACE_STATS_H
#define HEDDLE_COMPONENTS_TRACES_INSTRUCTION_TRACE_TOOLS_ITRACE_STATS_H

#include "components/traces/instruction_trace/reader/itrace.h"
#include "components/traces/instruction_trace/reader/itrace_set.h"

#define ITRACE_STATS_LINE_BYTES 128 /* line of L1 and L2 from Volta on, of four sectors */

struct itrace_stats {
    char *kernel, *file;
    enum itrace_arch arch;
    uint64_t kernel_id, blocks, warps;
    uint64_t steps;                          /* warp instructions */
    uint64_t lanes;                          /* thread instructions: active lanes of all steps */
    uint64_t by_class[SASS_CLASS_COUNT];     /* warp instructions */
    uint64_t static_count;                   /* instructions of the program that were executed */
    uint64_t references[ITRACE_SPACE_COUNT]; /* by where they went: global, shared, local */
    uint64_t addresses;                      /* different ones of the global references */
    uint64_t line_references;                /* lines touched by each instruction, summed up */
    uint64_t lines;                          /* |A_k| */
    uint64_t common_before, common_behind;   /* |A_k-1 and A_k|, |A_k and A_k+1| */
};

struct itrace_stats_run {
    uint32_t line_bytes; /* power of two, at least 32 */
    struct itrace_stats *kernels;
    size_t count, capacity;
    struct itrace_set before; /* A of the last kernel that was added */
};

/* Reads `trace`, just opened, to its end and adds its kernel. False: reported; nothing is added. */
bool itrace_stats_add(struct itrace_stats_run *run, struct itrace *trace);
void itrace_stats_release(struct itrace_stats_run *run);

double itrace_stats_forward(const struct itrace_stats *stats);
double itrace_stats_backward(const struct itrace_stats *stats);
double itrace_stats_degree(const struct itrace_stats *stats);

#endif

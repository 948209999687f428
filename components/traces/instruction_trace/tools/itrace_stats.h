/* What a trace says about a kernel: instructions by class, memory references, and how much of what
 * it touches the kernels beside it touch, too.
 *
 * A reference is one active lane of one instruction. For kernel k, A_k is the set of lines (of
 * `line_bytes`) of global memory that it touches; shared and local memory are counted, but belong
 * to no set. Source: the document on cold starts, sections "Data reuse" and "Correction factor":
 *   forward reuse(k)  = |A_k and A_k+1| / |A_k|
 *   backward reuse(k) = |A_k-1 and A_k| / |A_k|
 *   degree of reuse   = references / different addresses
 * All are 0 where there is nothing to divide by, or no kernel beside this one. */
#ifndef HEDDLE_COMPONENTS_SASS_STATS_H
#define HEDDLE_COMPONENTS_SASS_STATS_H

#include "components/amd/isa/isa.h"
#include "components/traces/instruction_trace/reader/itrace.h"
#include "components/traces/instruction_trace/reader/itrace_set.h"

#define SASS_STATS_LINE_BYTES 128 /* line of L1 and L2 from Volta on, of four sectors */

struct sass_stats {
    char *kernel, *file;
    enum sass_arch arch;
    uint64_t kernel_id, blocks, warps;
    uint64_t steps;                        /* warp instructions */
    uint64_t lanes;                        /* thread instructions: active lanes of all steps */
    uint64_t by_class[SASS_CLASS_COUNT];   /* warp instructions */
    uint64_t by_unit[ISA_UNIT_COUNT];      /* AMD's: instructions of wavefronts */
    uint64_t vector_line_references;       /* AMD's: line_references of vector memory */
    uint64_t static_count;                 /* instructions of the program that were executed */
    uint64_t references[SASS_SPACE_COUNT]; /* by where they went: global, shared, local */
    uint64_t addresses;                    /* different ones of the global references */
    uint64_t line_references;              /* lines touched by each instruction, summed up */
    uint64_t lines;                        /* |A_k| */
    uint64_t common_before, common_behind; /* |A_k-1 and A_k|, |A_k and A_k+1| */
};

struct sass_stats_run {
    uint32_t line_bytes; /* power of two, at least 32 */
    struct sass_stats *kernels;
    size_t count, capacity;
    struct sass_set before; /* A of the last kernel that was added */
};

/* Reads `trace`, just opened, to its end and adds its kernel. false: reported; nothing is added. */
bool sass_stats_add(struct sass_stats_run *run, struct sass_trace *trace);
void sass_stats_release(struct sass_stats_run *run);

double sass_stats_forward(const struct sass_stats *stats);
double sass_stats_backward(const struct sass_stats *stats);
double sass_stats_degree(const struct sass_stats *stats);

#endif

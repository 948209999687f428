/* The header of a trace: lines "-key = value", then "#traces format = ...". */
#ifndef HEDDLE_COMPONENTS_TRACES_INSTRUCTION_TRACE_READER_ITRACE_HEADER_H
#define HEDDLE_COMPONENTS_TRACES_INSTRUCTION_TRACE_READER_ITRACE_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "components/traces/instruction_trace/nvidia/opcode_classes.h"

#include "itrace_program.h"

#define ITRACE_HEADER_FIELDS 15

struct itrace_header {
    char kernel_name[1024]; /* mangled; longer ones are cut */
    uint64_t kernel_id;
    uint32_t grid[3], block[3]; /* blocks, threads */
    uint64_t shared_bytes, registers, binary_version, stream;
    uint64_t shared_base, local_base; /* 0: not recorded */
    /* Kernels that had ended when a recorded program launched this one, and cycles since then. Both
     * 0: not recorded. */
    uint64_t launch_behind, launch_delay;
    char nvbit_version[32];
    uint32_t tracer_version; /* the part before the dot; 0: not recorded */
    uint32_t tracer_minor;
    bool has_line_info;
    uint32_t present; /* bit i: field i of the table in itrace_header.c was there */
};

/* Takes the line "-key = value". 1: taken; 0: no key that we know; -1: the value is malformed,
 * `error` says how. */
int itrace_header_take(struct itrace_header *header, const char *line, char error[200]);

/* ERROR: the trace cannot be read. MISSING, IMPOSSIBLE: what the kernel takes of an SM cannot be
 * told, which is a gap (itrace_gaps.h). */
enum itrace_complaint {
    ITRACE_COMPLAINT_WARNING,
    ITRACE_COMPLAINT_MISSING,
    ITRACE_COMPLAINT_IMPOSSIBLE,
    ITRACE_COMPLAINT_ERROR
};

/* Complaints about a complete header that lacks a key, or has an impossible one: returns number `n`
 * (from 0), or NULL after the last. */
const char *itrace_header_complaint(const struct itrace_header *header, unsigned n,
                                    enum itrace_complaint *kind, char text[200]);

/* The architecture whose opcodes the trace has. */
enum itrace_arch itrace_header_arch(const struct itrace_header *header);
/* The form of lines by the version; the number of ids that precede is found out later. */
struct itrace_layout itrace_header_layout(const struct itrace_header *header);

/* Warps in a block. */
uint64_t itrace_header_warps(const struct itrace_header *header);

/* The space of a generic address: shared or local memory in their windows of 16 MiB after the base
 * addresses of the header (all bases seen are multiples of 16 MiB), or below the first window's
 * size, where only offsets into shared memory lie; global otherwise. */
enum itrace_space itrace_header_space(const struct itrace_header *header, uint64_t address);

#endif

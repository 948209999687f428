/* The header of a trace: lines "-key = value", then "#traces format = ...". */
#ifndef HEDDLE_COMPONENTS_SASS_HEADER_H
#define HEDDLE_COMPONENTS_SASS_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "components/sass_trace/sass_opcode.h"
#include "components/sass_trace/sass_program.h"

#define SASS_HEADER_FIELDS 13

struct sass_header {
    char kernel_name[1024]; /* mangled; longer ones are cut */
    uint64_t kernel_id;
    uint32_t grid[3], block[3]; /* blocks, threads */
    uint64_t shared_bytes, registers, binary_version, stream;
    uint64_t shared_base, local_base; /* 0: not recorded */
    char nvbit_version[32];
    uint32_t tracer_version; /* the part before the dot; 0: not recorded */
    uint32_t tracer_minor;
    bool has_line_info;
    uint32_t present; /* bit i: field i of the table in sass_header.c was there */
};

/* Takes the line "-key = value". 1: taken; 0: no key that we know; -1: the value is malformed,
 * `error` says how. */
int sass_header_take(struct sass_header *header, const char *line, char error[200]);

/* What a complete header lacks or has that cannot be: returns the text of complaint number `n`
 * (from 0), or NULL behind the last. *fatal: the trace cannot be read with it. */
const char *sass_header_complaint(const struct sass_header *header, unsigned n, bool *fatal,
                                  char text[200]);

/* What the version promises about the lines; how many ids stand in front is found out later. */
struct sass_layout sass_header_layout(const struct sass_header *header);

/* Warps of 32 (or lanes) threads in a block. */
uint64_t sass_header_warps(const struct sass_header *header, unsigned lanes);

/* Where a generic address lies: shared or local memory in their windows of 16 MiB behind the base
 * addresses of the header (all bases seen are multiples of 16 MiB), or below the first window's
 * size, where only offsets into shared memory lie; global otherwise. */
enum sass_space sass_header_space(const struct sass_header *header, uint64_t address);

#endif

/* The fields that Accel-Sim's tracer writes from version 2.0 on in lines of Hopper's bulk copies
 * (UTMALDG, UTMASTG, UTMAREDG, UTMAPF, UBLKCP, UBLKRED, UBLKPF), instead of a mode and addresses:
 *
 *   mem_width barrier multicast [blocks] bytes out_of_bounds 3 count {address}
 *   mem_width barrier multicast [blocks] bytes out_of_bounds 4 base count {difference}
 *
 * (trace_parser.cc): `count` transfers of mem_width bytes each; barrier, blocks and addresses are
 * hexadecimal. Neighbouring transfers become rows, and rows at equal distances become runs. Lines
 * of older tracers have no transfers, or an address in the common form.
 *
 * Traces of PTX have bulk copies in this form, too, and what waits or arrives at a barrier:
 *
 *   mem_width barrier need
 *
 * `need` says for how many copies and arrivals a wait is that has passed, 0 of all others. */
#ifndef HEDDLE_COMPONENTS_TRACES_INSTRUCTION_TRACE_READER_ITRACE_BULK_H
#define HEDDLE_COMPONENTS_TRACES_INSTRUCTION_TRACE_READER_ITRACE_BULK_H

#include <stdbool.h>
#include <stdint.h>

enum {
    ITRACE_BULK_RUNS = 12,
    ITRACE_BULK_BYTES = 1 << 18 /* most bytes of a copy: more than any shared memory has */
};

/* Row i begins stride * i bytes after the base. */
struct itrace_bulk_run {
    uint64_t base;
    int32_t stride;
    uint32_t rows, bytes; /* bytes of a row */
};

struct itrace_bulk {
    uint32_t runs;    /* 0: nothing is moved, or the line does not say what */
    uint64_t barrier; /* address in shared memory */
    uint32_t need;    /* copies or arrivals that a wait in PTX needs */
    bool multicast;   /* to other blocks of the cluster, too */
    bool is_short;    /* more runs than there is room for: the last one counts for the rest */
    struct itrace_bulk_run run[ITRACE_BULK_RUNS];
};

/* True for the name of a bulk copy. */
bool itrace_bulk_names(const char *opcode);
/* True if the text after mem_width has transfers. */
bool itrace_bulk_follows(const char *at);
/* Takes barrier and need; else as below. */
const char *itrace_bulk_take_barrier(const char **at, struct itrace_bulk *copy);
/* Takes what follows mem_width, transfers of `width` bytes. NULL, or what was expected at *at. */
const char *itrace_bulk_take(const char **at, uint32_t width, struct itrace_bulk *copy);

#endif

/* Finds what a trace lacks, and where it contradicts its header. A whole trace has each block of
 * the grid once, each warp of each block, and each lane of a warp to its EXIT; no instruction names
 * a register or shared memory that the header says the kernel does not have. What is missing or
 * contradicts is a *gap*: a simulation of the rest gives numbers of another kernel. */
#ifndef HEDDLE_COMPONENTS_TRACES_INSTRUCTION_TRACE_READER_ITRACE_GAPS_H
#define HEDDLE_COMPONENTS_TRACES_INSTRUCTION_TRACE_READER_ITRACE_GAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "itrace_set.h"

/* The way in which a reader reports gaps. COUNTED: nothing but numbers. WARNED: of each kind, the
 * first one is a warning, and the end of the trace says how many there were. ALLOWED: so, and a
 * file that ends inside of a block ends there. REFUSED: the first one is an error. */
enum itrace_demand {
    ITRACE_GAPS_COUNTED,
    ITRACE_GAPS_WARNED,
    ITRACE_GAPS_ALLOWED,
    ITRACE_GAPS_REFUSED
};

enum itrace_gap {
    ITRACE_GAP_HEADER,    /* a field is missing, or cannot be */
    ITRACE_GAP_BLOCKS,    /* thread blocks of the grid that are missing */
    ITRACE_GAP_REPEATED,  /* thread blocks that were there before */
    ITRACE_GAP_WARPS,     /* warps of a block that are missing */
    ITRACE_GAP_EXITS,     /* warps with lanes that do not come to EXIT */
    ITRACE_GAP_BEHIND,    /* instructions of lanes after their EXIT, unless all have ended */
    ITRACE_GAP_REGISTERS, /* static instructions with a register beyond 'nregs' */
    ITRACE_GAP_SHARED,    /* instructions with shared memory beyond 'shmem' */
    ITRACE_GAP_KINDS
};

/* Oddities that real tracers write and a player accepts: one warning a run. */
enum itrace_oddity {
    ITRACE_ODD_REGISTER = 1, /* numbers that no register has */
    ITRACE_ODD_ADDRESS = 2,  /* accesses of global memory at address 0 */
    ITRACE_ODD_BEHIND = 4,   /* instructions after the end of a whole warp */
    ITRACE_ODD_END = 8       /* the last #END_TB is missing */
};

struct itrace_gaps {
    uint64_t count[ITRACE_GAP_KINDS];
    struct itrace_set blocks; /* index / 64, and a bit for each that was there */
    uint64_t different;       /* such blocks */
    uint64_t warps;           /* warps of the block under way, as bits */
    uint64_t active, ended;   /* lanes of the warp under way */
    uint64_t line;            /* line of its last instruction */
    uint32_t warp;
    uint32_t inst_count; /* static instructions that were looked at */
    bool in_warp, exits; /* it has come to an EXIT */
    bool is_over;        /* the end was looked at */
};

struct itrace;

/* Looks at an event of the trace (an enum itrace_event) that is about to be given out. False: a gap
 * was reported as an error. */
bool itrace_gaps_take(struct itrace *trace, int event);
/* A gap at `line` (0: of the file): counted, and reported as the trace's options demand. False: as
 * an error. */
bool itrace_gap_found(struct itrace *trace, enum itrace_gap gap, uint64_t line, const char *format,
                      ...) __attribute__((format(printf, 4, 5)));
/* An oddity: one warning in all of a run, counted nowhere. */
void itrace_odd(struct itrace *trace, enum itrace_oddity oddity, uint64_t line, const char *format,
                ...) __attribute__((format(printf, 4, 5)));
/* Gaps of all kinds. */
uint64_t itrace_gaps_total(const struct itrace_gaps *gaps);
/* "missing_blocks": a name for statistics. */
const char *itrace_gap_name(enum itrace_gap gap);

#endif

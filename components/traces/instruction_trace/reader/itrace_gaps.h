/* Is a trace whole, and does it agree with its header? A whole one has each thread block of the
 * grid once, each warp of each block, and each lane of a warp to its EXIT; no instruction names a
 * register or shared memory that the header says the kernel does not have. What is missing or
 * contradicts is a *gap*: a simulation of the rest gives numbers of another kernel. */
#ifndef HEDDLE_COMPONENTS_SASS_GAPS_H
#define HEDDLE_COMPONENTS_SASS_GAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "components/traces/instruction_trace/reader/itrace_set.h"

/* What a reader makes of gaps. COUNTED: nothing but numbers. WARNED: of each kind, the first one is
 * a warning, and the end of the trace says how many there were. ALLOWED: so, and a file that ends
 * inside of a block ends there. REFUSED: the first one is an error. */
enum sass_demand { SASS_GAPS_COUNTED, SASS_GAPS_WARNED, SASS_GAPS_ALLOWED, SASS_GAPS_REFUSED };

enum sass_gap {
    SASS_GAP_HEADER,    /* a field is missing, or cannot be */
    SASS_GAP_BLOCKS,    /* thread blocks of the grid that are missing */
    SASS_GAP_REPEATED,  /* thread blocks that were there before */
    SASS_GAP_WARPS,     /* warps of a block that are missing */
    SASS_GAP_EXITS,     /* warps with lanes that do not come to EXIT */
    SASS_GAP_BEHIND,    /* instructions of lanes behind their EXIT */
    SASS_GAP_REGISTERS, /* static instructions with a register beyond 'nregs' */
    SASS_GAP_SHARED,    /* instructions with shared memory beyond 'shmem' */
    SASS_GAP_KINDS
};

struct sass_gaps {
    uint64_t count[SASS_GAP_KINDS];
    struct sass_set blocks; /* index / 64, and a bit for each that was there */
    uint64_t different;     /* such blocks */
    uint64_t warps;         /* of the block under way, as bits */
    uint64_t active, ended; /* lanes of the warp under way */
    uint64_t line;          /* of its last instruction */
    uint32_t warp;
    uint32_t known;      /* static instructions that were looked at */
    bool in_warp, exits; /* its last instruction is an EXIT */
    bool over;           /* the end was looked at */
};

struct sass_trace;

/* Looks at an event of the trace (an enum sass_event) that is about to be given out. false: a gap
 * was reported as an error. */
bool sass_gaps_take(struct sass_trace *trace, int event);
/* A gap at `line` (0: of the file): counted, and reported as the trace's options demand. false: as
 * an error. */
bool sass_gap_found(struct sass_trace *trace, enum sass_gap gap, uint64_t line, const char *format,
                    ...) __attribute__((format(printf, 4, 5)));
/* Gaps of all kinds. */
uint64_t sass_gaps_total(const struct sass_gaps *gaps);
/* "missing_blocks": a name for statistics. */
const char *sass_gap_name(enum sass_gap gap);

#endif

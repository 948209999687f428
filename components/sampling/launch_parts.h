/* One launch simulated in parts: which runs of its work-groups are simulated in detail, decided
 * while they are executed, and what all of it would take. Pure: no clock, no random numbers, no
 * other module; components/sampling/online_parts.h is between this and a run.
 *
 * Parts. The work-groups of a launch are executed in order, each once, in parts: some in detail,
 * those between without timing. `resident` work-groups run at the same time; that many ending one
 * after another are a *generation*. The first part begins the launch and the last one ends it, both
 * in detail. A launch that is too small for that is one part.
 *
 * Windows. A part begins with an empty machine and ends by emptying it, which in the launch as a
 * whole only the first and the last one do. So of a part only a window counts: from its second
 * generation to the last one that ended before nothing was left to be placed. The first part counts
 * from its begin, the last one to its end. When a generation ended is the mean of its work-groups:
 * those that began together end together, in bursts, and one alone would say as much of the burst.
 * The cycles of work-groups that end in windows are known; those of all others are their
 * instructions times a rate, cycles per instruction, on a line between the windows around them.
 *
 * Memory. What a part in detail reads and writes counts in whole, whatever of it is in the window:
 * bytes do not depend on how full the machine is. Between two parts, bytes for an instruction are
 * on a line; between the first, which fills caches, and the second they are those of the second.
 *
 * Interval. Rates of generations scatter; how much is told by differences of successive ones (as in
 * stratified_sampler.h), and before there are many by what is assumed (PARTS_PRIOR). The rates of
 * windows have this error. So has what the launch takes when everything is simulated: it begins at
 * another moment then, and goes another way; and which compute units get the last work-groups
 * depends on the cycle. Distances between parts are such that half of the interval is within the
 * aim, if that can be. */
#ifndef HEDDLE_SAMPLING_LAUNCH_PARTS_H
#define HEDDLE_SAMPLING_LAUNCH_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "sampling_options.h"
#include "stratified_sampler.h"

enum {
    PARTS_MAX = 256,               /* in detail */
    PARTS_FIRST = 5,               /* generations of the first part */
    PARTS_LATER = 4,               /* generations of all other parts, at least */
    PARTS_LEAST_GAP = 3,           /* generations between two, at least */
    PARTS_WORTH = 12,              /* of a launch, below which it is one part */
    PARTS_MOST_RESIDENT = 1 << 15, /* work-groups */
    PARTS_MOST_GROUPS = 1 << 18    /* of a part in detail */
};

/* The end of a work-group in a part that is simulated in detail. */
struct part_end {
    uint64_t cycle;
    uint64_t instructions;
};

/* What is known of a part that was simulated in detail. */
struct part_log {
    uint64_t end;                /* cycles from the begin of the part to its end */
    uint64_t placed;             /* cycles from its begin to when its last work-group was placed */
    uint32_t resident;           /* most work-groups at the same time */
    uint32_t count;              /* work-groups */
    const struct part_end *ends; /* in order of their cycles */
    double bytes[SAMPLER_QUANTITIES]; /* of memory, by SAMPLER_READ and SAMPLER_WRITTEN */
};

/* A window. Numbers of instructions are not whole where they are means of a generation's. */
struct part_window {
    uint64_t first;      /* work-group with which its part begins, from 0 */
    uint64_t groups;     /* of the part */
    double cycles;       /* cycles that count */
    double instructions; /* instructions of work-groups that ended in these cycles */
    double before;  /* instructions of work-groups that ended in no window since the last one */
    double rate;    /* mean of its generations, cycles per instruction */
    uint32_t rates; /* generations in that */
    double skipped; /* instructions executed without timing since the part before; */
    double timed;   /* those of the part, and */
    double bytes[SAMPLER_QUANTITIES]; /* its traffic */
};

struct launch_parts {
    uint64_t groups;   /* of the launch */
    uint64_t next;     /* the first one that is not executed */
    uint32_t resident; /* at most */
    uint32_t later;    /* work-groups of all parts but the first */
    bool rest;         /* what is left is one part */
    uint64_t left;     /* work-groups to the next part in detail */
    uint64_t detailed; /* work-groups */
    uint64_t instructions, detailed_instructions;
    double open;      /* instructions since the last window */
    double skipped;   /* instructions without timing since the last part */
    double aim;       /* half of the interval that is enough, as a share */
    double last_rate; /* of a generation; */
    double
        differences;   /* sum of the relative differences of successive rates, squared and halved */
    uint32_t pairs;    /* number of these differences */
    double generation; /* instructions of one, the last seen */
    double drain; /* cycles from when the last work-group was placed to the end; 0 if none waited */
    uint32_t count;
    struct part_window window[PARTS_MAX];
};

struct sampled_part {
    enum sampling_way way; /* SAMPLING_DETAILED, SAMPLING_TOUCHING or SAMPLING_SKIPPED */
    uint64_t first, groups;
};

/* Launches of more resident work-groups, or of one part that is larger, are none for this. */
bool parts_fit(uint64_t groups, uint32_t resident);
void parts_begin(struct launch_parts *p, uint64_t groups, uint32_t resident, double aim);
/* The next part; false: the launch is over. Each is followed by one of the two below. */
bool parts_next(const struct launch_parts *p, struct sampled_part *next);
/* The part was executed without timing. */
void parts_executed(struct launch_parts *p, uint64_t groups, uint64_t instructions);
/* The part was simulated in detail. */
void parts_timed(struct launch_parts *p, const struct part_log *log);

struct cut_estimate parts_estimate(const struct launch_parts *p);
/* Bytes of memory; `quantity` is SAMPLER_READ or SAMPLER_WRITTEN. */
struct cut_estimate parts_bytes(const struct launch_parts *p, enum sampler_quantity quantity);

#endif

/* One launch simulated in parts: which runs of its work-groups are simulated in detail, decided
 * while they are executed, and an estimate of the whole launch. docs/design/sampling.md explains
 * the method ("Sampled mode").
 *
 * The work-groups of a launch are executed in order, each once. The caller asks for a part,
 * executes its work-groups in the way that the part names, reports it, and asks for the next:
 *
 *     launch_parts_begin(p, ...);
 *     while (launch_parts_next(p, &part))
 *         part.way == SAMPLING_DETAILED ? launch_parts_add_timed(p, ...)
 *                                       : launch_parts_add_untimed(p, ...);
 *     launch_parts_estimate(p);
 *
 * Pure: no clock, no random numbers, no other module; components/sampling/online_parts.h is between
 * this and a run. */
#ifndef HEDDLE_COMPONENTS_SAMPLING_LAUNCH_PARTS_H
#define HEDDLE_COMPONENTS_SAMPLING_LAUNCH_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "sampling_options.h"
#include "stratified_sampler.h"

/* A generation is `resident` work-groups that end one after another. */
enum {
    LAUNCH_PARTS_MAX = 256,              /* parts in detail */
    LAUNCH_PARTS_FIRST = 5,              /* generations of the first part */
    LAUNCH_PARTS_LATER = 4,              /* generations of every other part, at least */
    LAUNCH_PARTS_GAP_MIN = 3,            /* generations between two parts in detail */
    LAUNCH_PARTS_WORTH = 12,             /* generations below which a launch is one part */
    LAUNCH_PARTS_RESIDENT_MAX = 1 << 15, /* work-groups that run at the same time */
    LAUNCH_PARTS_GROUPS_MAX = 1 << 18    /* work-groups of a part in detail */
};

/* The end of a work-group in a part that is simulated in detail. */
struct work_group_end {
    uint64_t cycle;
    uint64_t instructions;
};

/* Measurements of a part that was simulated in detail. Cycles count from its begin. */
struct launch_part_record {
    uint64_t end;
    uint64_t placed;                   /* cycle in which the last work-group was placed */
    uint32_t resident;                 /* most work-groups at the same time */
    uint32_t count;                    /* work-groups */
    const struct work_group_end *ends; /* in order of their cycles */
    double bytes[SAMPLER_QUANTITIES];  /* traffic of memory: SAMPLER_READ and SAMPLER_WRITTEN */
};

/* A part in detail and its window: the cycles of the part that count. Instructions are fractions
 * where they are means over the work-groups of a generation. */
struct launch_part_window {
    uint64_t first_group; /* the part's first work-group, from 0 */
    uint64_t groups;      /* work-groups of the part */
    double cycles;
    double instructions;              /* instructions of work-groups that ended in these cycles */
    double instructions_before;       /* those of work-groups that ended since the last window */
    double rate;                      /* cycles per instruction, mean of the window's generations */
    uint32_t generations;             /* generations in that mean */
    double skipped_instructions;      /* instructions without timing since the part before */
    double timed_instructions;        /* instructions of the whole part */
    double bytes[SAMPLER_QUANTITIES]; /* traffic of the whole part */
};

struct launch_parts {
    uint64_t groups;       /* work-groups of the launch */
    uint64_t next_group;   /* the first one that is not executed */
    uint32_t resident;     /* most work-groups at the same time */
    uint32_t later_groups; /* work-groups of each part in detail but the first */
    bool rest_is_one_part; /* all that is left is one part in detail */
    uint64_t gap_groups;   /* work-groups from here to the next part in detail */
    uint64_t detailed_groups;
    uint64_t instructions, detailed_instructions;
    double open_instructions;    /* instructions since the last window */
    double skipped_instructions; /* instructions without timing since the last part in detail */
    double aim;                  /* half of the interval that is enough, as a share */
    double last_rate;            /* rate of the last generation that was measured */
    double squared_differences;  /* half of the relative differences of successive rates, squared
                                    and added up */
    uint32_t difference_count;
    double generation_instructions; /* instructions of the last generation */
    double drain_cycles;            /* from when the last work-group was placed to the end; 0 if
                                       none waited for a place */
    uint32_t window_count;
    struct launch_part_window windows[LAUNCH_PARTS_MAX];
};

struct sampled_launch_part {
    enum sampling_way way; /* SAMPLING_DETAILED, SAMPLING_TOUCHING or SAMPLING_SKIPPED */
    uint64_t first_group, groups;
};

/* True if the launch is within the limits above. */
bool launch_parts_fit(uint64_t groups, uint32_t resident);
void launch_parts_begin(struct launch_parts *p, uint64_t groups, uint32_t resident, double aim);
/* False: the launch is over. */
bool launch_parts_next(const struct launch_parts *p, struct sampled_launch_part *next);
void launch_parts_add_untimed(struct launch_parts *p, uint64_t groups, uint64_t instructions);
void launch_parts_add_timed(struct launch_parts *p, const struct launch_part_record *record);

/* Cycles of the launch. */
struct cut_estimate launch_parts_estimate(const struct launch_parts *p);
/* Bytes of memory; `quantity` is SAMPLER_READ or SAMPLER_WRITTEN. */
struct cut_estimate launch_parts_bytes(const struct launch_parts *p,
                                       enum sampler_quantity quantity);

#endif

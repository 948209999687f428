/* The choice of the launches of a program that are simulated in detail, made while it runs, and an
 * estimate of what all of them would take. Pure: no clock, no random numbers, no other module;
 * components/sampling/online_sampling.h is between this and a run.
 *
 * Groups. A launch that is over has a vector: how often the instructions of its kernel were
 * executed, by address. Launches of one kernel that follow launches of one kernel, and whose
 * vectors, longest wavefronts and work-groups differ by little, are a group, a stratum. A kernel
 * whose vectors keep changing gets wider groups (SAMPLER_SPLIT), so there are never many; so does
 * one whose groups turn out not to be predictable.
 *
 * Choice. Before a launch only its kernel and shape are known. Its group is predicted from the
 * groups of the launches before it, the longest known history first (as in prediction by partial
 * matching: Cleary and Witten, 1984). The first two launches of a group are simulated, then one at
 * growing distances, which grow the faster the less the last two differ in cycles per instruction:
 * the error that is left is spent evenly. Where the group's part of the interval is small enough
 * already, they grow most: what is known well is only looked at again now and then. What cannot be
 * predicted (a shape that is new) is simulated. Where a launch does not belong to the group that
 * was predicted, it counts for the one to which it belongs.
 *
 * Warm-up. Launches touch caches and TLBs only when one that is due can be foreseen within `depth`
 * launches, by their shapes where a list tells them, else by going on with the same prediction; a
 * launch that is due after fewer touched ones waits for the next of its group, so a wrong
 * prediction costs time, never accuracy. In between caches keep what they had.
 *
 * Estimate. A launch has a size (launch_size.h), which simulated launches of its kernel tell.
 * Cycles for a size are a line from each simulated launch of the group to the next; after the last
 * the mean of the last two. The variance is that of independent deviations from the line, whose
 * size is told by differences of successive simulated launches (Wolter, Introduction to Variance
 * Estimation, chapter 8: systematic samples), with degrees of freedom after Satterthwaite. The
 * first launch of a group represents only itself where there are others: its caches were cold. What
 * the warm-up gets wrong for all of them is measured, too: launches after simulated ones against
 * launches after touches. So is what distances that grow may overlook: a trend that goes on after
 * the last simulated launch. */
#ifndef HEDDLE_COMPONENTS_SAMPLING_STRATIFIED_SAMPLER_H
#define HEDDLE_COMPONENTS_SAMPLING_STRATIFIED_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"

#include "launch_size.h"
#include "sampling_options.h"

enum {
    SAMPLER_VECTOR = 64, /* buckets of addresses */
    SAMPLER_GROUPS = 512,
    SAMPLER_KERNELS_MAX = 256, /* kernels on GPUs, of an age */
    SAMPLER_SPLIT = 8,         /* groups of a kernel until the tolerance doubles */
    SAMPLER_HISTORY = 32,      /* launches that a prediction looks back at */
    SAMPLER_TABLE = 1 << 15,
    SAMPLER_DEPTH = 6,  /* launches that warm up, by default */
    SAMPLER_AHEAD = 31, /* launches that are known before their turn */
    SAMPLER_EXACT = 12, /* simulated launches, after which nothing is left of touches */
    SAMPLER_NONE = 0xffffffffu
};

/* Facts about a launch before it is executed. */
struct sampler_shape {
    uint32_t kernel; /* any number that identifies it */
    uint32_t gpu;
    uint32_t work_items; /* work-items of a work-group */
    uint64_t work_groups;
    uint64_t
        bytes;    /* of its trace, which stand for its vector and instructions; 0: there is none */
    uint32_t age; /* age of the data that it begins on: only launches of one age are alike */
    bool few;     /* it has fewer work-groups than compute units, each of which keeps its code: the
                   * second launch goes to others, and is as cold as the first */
    /* The state of caches that the launch finds: filled in by sampler_choose(). */
    bool flushed;    /* caches were, since the last launch of the kernel */
    uint32_t before; /* kernel of the launch before; of the first, its own */
};

/* The work that a launch has executed. */
struct sampler_work {
    uint64_t vector[SAMPLER_VECTOR]; /* how often which instructions, by sampler_bucket() */
    uint64_t longest;                /* instructions of its longest wavefront; 0: not known */
};

/* Quantities that are estimated, each alone and in the same way: cycles, and bytes that memory
 * reads and writes. Launches are chosen by their cycles. */
enum sampler_quantity { SAMPLER_CYCLES, SAMPLER_READ, SAMPLER_WRITTEN, SAMPLER_QUANTITIES };

/* The measures of a launch that was simulated. */
struct sampler_measure {
    double amount[SAMPLER_QUANTITIES];
    /* Standard deviations of what they would be in a run of all, as shares. */
    double inner[SAMPLER_QUANTITIES];
};

struct sampler_launch {
    uint32_t group;
    uint32_t next;         /* the next one of the group, or SAMPLER_NONE */
    uint32_t detailed;     /* simulated launches directly before it; SAMPLER_NONE: all */
    uint8_t way;           /* enum sampling_way */
    uint64_t instructions; /* or bytes of its trace */
    uint64_t longest;      /* instructions of the longest wavefront; 1: not known */
    bool simulated;
    struct sampler_measure measure; /* if it was */
};

struct sampler_group {
    struct sampler_shape shape; /* shape of its first launch */
    struct sampler_work work;   /* what its first launch executed */
    uint32_t first, last;       /* launches */
    uint32_t count, simulated;
    uint32_t strayed; /* launches for which it was predicted, and that were of another */
    uint32_t joined;  /* to group joined - 1; 0: it is none's */
    enum sampling_way finest, coarsest; /* ways of its launches, without those of joined groups */
    bool per_launch; /* what they execute depends on how they are executed: cycles are per launch */
    uint32_t due;    /* number in the group of the next launch to be simulated, from 1 */
    uint32_t gap;
    double counted, counted_in; /* instructions of the launches that tell, and of `instructions` */
    uint32_t kernel;            /* in struct sampler; sizes are a kernel's */
    uint32_t simulated_at;      /* number in the program of the last one that was simulated */
    double cycles;              /* cycles of the launches that were simulated */
    uint32_t pairs; /* pairs of simulated launches in succession, without the first: it is cold; */
    double differences; /* their relative differences, squared */
};

struct sampler_kernel {
    uint32_t kernel, gpu, age;
    uint32_t groups;
    uint64_t flushes;   /* flushes of caches before its last launch */
    uint32_t simulated; /* launches */
    struct size_moments moments[SAMPLER_QUANTITIES];
    uint32_t missed, widened; /* simulated launches that were of another group, in succession; what
                                 came of it */
};

struct sampler_memory {
    uint64_t tag;
    uint32_t group;
};

struct sampler {
    struct sampler_launch *launch; /* `capacity` of them, the caller's */
    uint32_t capacity, launches;
    uint32_t group_count, kernel_count;
    uint64_t depth; /* SAMPLING_ALL: every launch touches */
    double
        unsteady;  /* by which a launch that is simulated takes another time than in a run of all */
    double aim;    /* half of the interval that is enough, as a share of all cycles */
    uint64_t warm; /* launches since the last one that left no trace; SAMPLING_ALL: none did */
    uint32_t detailed;     /* launches simulated in succession; SAMPLER_NONE: all */
    uint32_t alert_length; /* length of the last alert, if nothing came of it */
    uint32_t alert;        /* launches that touch, whatever is foreseen */
    uint32_t chain_start;  /* number of the launch that was due and began a chain; 0: none yet */
    uint32_t chain_last;   /* launches before the last one of it that was simulated */
    struct sampler_shape shape;                /* shape of the launch that was chosen for */
    struct sampler_shape ahead[SAMPLER_AHEAD]; /* launches after that one */
    uint32_t ahead_count;
    uint32_t predicted;
    enum sampling_way way;
    uint32_t history[SAMPLER_HISTORY]; /* groups, newest first */
    struct sampler_kernel kernel[SAMPLER_KERNELS_MAX];
    struct sampler_group group[SAMPLER_GROUPS];
    struct sampler_memory memory[SAMPLER_TABLE];
};

/* Simulated launches of a group, the first ones, that represent only themselves where there are
 * others: caches were cold. */
static inline uint32_t sampler_cold(const struct sampler_group *g)
{
    return g->shape.few ? 2 : 1;
}

/* Bucket of an instruction `bytes` after the kernel's entry. */
static inline uint32_t sampler_bucket(uint64_t bytes)
{
    return hash_multiply_32((uint32_t)(bytes >> 2)) >> 26;
}

/* Adds what another part of a launch has executed. */
void sampler_work_add(struct sampler_work *work, const struct sampler_work *part);

/* `launch` has room for `capacity` entries; more launches are executed without timing and not
 * counted. */
void sampler_init(struct sampler *s, struct sampler_launch *launch, uint32_t capacity,
                  uint64_t depth, double aim);

/* The launches after the next one have these shapes, as far as it is known: of a list, but not of
 * a program. Said before each choice. */
void sampler_foresee(struct sampler *s, const struct sampler_shape *ahead, uint32_t count);
/* The way in which the next launch is executed: SAMPLING_DETAILED, SAMPLING_TOUCHING or
 * SAMPLING_SKIPPED. `flushes` of caches have been before it; shape->flushed is not looked at. */
enum sampling_way sampler_choose(struct sampler *s, const struct sampler_shape *shape,
                                 uint64_t flushes);
/* Ends a launch. `vector`: zero where it has a trace that was not read. `measure`: NULL unless it
 * was simulated; then a cycle at least. */
void sampler_note(struct sampler *s, const struct sampler_work *work,
                  const struct sampler_measure *measure);

/* ---- estimates: stratified_estimate.c ---- */

/* The size that amounts of launches of the group are in proportion to; `fit` is its kernel's. */
double sampler_size(const struct size_fit *fit, const struct sampler_group *g,
                    const struct sampler_launch *launch);

struct sampler_estimate {
    double value;     /* cycles or bytes */
    double half;      /* half of the 95 % interval, without the next three, which are to be added */
    double bias;      /* what the warm-up may be off by */
    double trend;     /* what a trend after the last simulated launches would make */
    double allowance; /* what cannot be measured */
    double variance;  /* variance of `value` */
    double freedom;   /* degrees of freedom of `variance`; INFINITY: assumed, not measured */
    double shared;    /* the part of `variance` that more launches do not lower */
};

/* The estimate of one group. */
struct sampler_estimate sampler_estimate_group(const struct sampler *s, uint32_t group,
                                               enum sampler_quantity quantity);
/* The estimate of the launches of a kernel, on whatever GPU. */
struct sampler_estimate sampler_estimate_kernel(const struct sampler *s, uint32_t kernel,
                                                enum sampler_quantity quantity);
/* The estimate of all launches. */
struct sampler_estimate sampler_estimate_all(const struct sampler *s,
                                             enum sampler_quantity quantity);
/* Instructions of all launches; those that tell none execute as much as others of their group. */
double sampler_instructions(const struct sampler *s);
/* Half of the whole interval. */
double sampler_interval(const struct sampler_estimate *e);
/* The part of it that more launches do not narrow. */
double sampler_least_interval(const struct sampler_estimate *e);
/* Two-sided 95 % point of Student's t. */
double sampler_student(double freedom);

/* An estimate of a launch that was simulated in part. */
struct cut_estimate {
    double value;     /* cycles or bytes */
    double half;      /* half of the 95 % interval, without */
    double allowance; /* what cannot be measured; to be added */
};

/* By quantity: what it counts as among launches. */
void cut_measure(const struct cut_estimate e[SAMPLER_QUANTITIES], struct sampler_measure *measure);

#endif

/* Thresholds of sampling: when launches are alike, when enough of them are simulated, and what the
 * interval allows for.
 *
 * "Measured" says on what. "Set" means that the value follows from the argument given here, and
 * that no measurement of others is on record. What comes of all of them together is in
 * docs/evidence/sampled.md. */
#ifndef HEDDLE_COMPONENTS_SAMPLING_SAMPLING_THRESHOLDS_H
#define HEDDLE_COMPONENTS_SAMPLING_SAMPLING_THRESHOLDS_H

/* The tolerance of a group begins with the aim, and doubles with every SAMPLER_SPLIT groups and
 * every SAMPLING_MISSED_MAX wrong predictions. Set: launches further apart share less than half of
 * what they execute. */
#define SAMPLING_TOLERANCE_MAX 0.64

/* A launch further than this from the predicted group is other work, and no sign that the kernel
 * executes something else when it is simulated. Set below SAMPLING_TOLERANCE_MAX, so that what a
 * group of the widest tolerance would hold is not joined by mistake. */
#define SAMPLING_STRAY_DISTANCE 0.4

enum {
    /* Gaps from here on may end early in a chain. Set: half of a shorter gap is less than one
     * warm-up of SAMPLER_DEPTH launches, which is all that the early end saves. */
    SAMPLING_EARLY_GAP_MIN = 8,

    /* Bound that keeps sums of launch numbers and gaps in 32 bits. */
    SAMPLING_GAP_MAX = 1 << 20,

    /* An alert lasts so many warm-ups, and twice as long as the last while nothing comes of it.
     * Set: one to reach the launch that is due, one for a prediction that is wrong once. */
    SAMPLING_FIRST_ALERT = 2,

    /* Wrong predictions in succession until groups widen or join. Set: a single one is what a
     * change of the program's phase looks like. */
    SAMPLING_MISSED_MAX = 2,

    /* Launches that are looked ahead at most. Set: predictions build on each other, and each costs
     * LENGTHS look-ups. Larger depths still warm up in full. */
    SAMPLING_FORESEEN_MAX = 48,

    /* Depths from here on mean all launches. Bound for 32 bits, as SAMPLING_GAP_MAX. */
    SAMPLING_DEPTH_MAX = 1 << 20
};

/* Relative standard deviations of cycles per instruction where the run tells none. Set, not
 * measured: the second makes the interval +-49 %, which says that such a group is a guess. */
#define SAMPLING_UNMEASURED    0.05 /* a group with too few simulated launches to measure it */
#define SAMPLING_UNREPRESENTED 0.25 /* a group without any, which takes the nearest one's */

/* Differences that other groups of the kernel count like at most, where a group's own tell how its
 * rates scatter. Set: as few as leave t at 3.2 for a group of two. */
#define SAMPLING_COMMON_FREEDOM 2

/* Differences that SAMPLING_UNSTEADY counts like, in groups whose launches tell how their
 * cycles scatter. Set: the least. Launches may be alike in a few states, so two or three may be in
 * the same. */
#define SAMPLING_PRIOR_FREEDOM 1

/* Launches in parts (launch_parts.h). LAUNCH_PARTS_CYCLES: of a window, at least. Set: at 1 GHz two
 * intervals of 3.9 us at which DRAM is refreshed, which stops it for a tenth of that; windows of a
 * part of one would scatter. LAUNCH_PARTS_TOUCHED: generations whose accesses touch caches before a
 * part in detail. Set: what they access fills an L2 several times over. LAUNCH_PARTS_ENOUGH: parts
 * of a launch of LAUNCH_PARTS_LONG generations, at least. Set: the begin, a part near it, the
 * middle and the end. LAUNCH_PARTS_AHEAD: parts after the present one that are planned at most.
 * Set: what the scatter seems to ask for at first is little to go by. LAUNCH_PARTS_SURE:
 * differences of generations that tell how they scatter. Set: with 6, t is 2.4. The prior is what
 * is assumed of the scatter of generations before they tell it, and counts like so many
 * differences. Set: smooth kernels scatter by 1 % and less, those that wait for DRAM by 10 %. */
enum {
    LAUNCH_PARTS_CYCLES = 8000,
    LAUNCH_PARTS_TOUCHED = 8,
    LAUNCH_PARTS_ENOUGH = 4,
    LAUNCH_PARTS_LONG = 40,
    LAUNCH_PARTS_AHEAD = 8,
    LAUNCH_PARTS_SURE = 6,
    LAUNCH_PARTS_PRIOR_FREEDOM = 1
};
#define LAUNCH_PARTS_PRIOR 0.03

/* Standard deviation of a launch's end, as a share of the time from when the last work-group was
 * placed. Measured: aes128 on tiny ends by a quarter of that earlier or later, as its last
 * work-groups fall to one compute unit or another. And the last part, which began together, may end
 * more together than the launch. */
#define LAUNCH_PARTS_TAIL 0.25

/* The error that parts cannot show, as a share of the cycles that were not simulated: each begins
 * with an empty machine, and the launch does not. Measured: generations of 15 parts of saxpy
 * 32000000 on r9nano are 1 % longer than the launch's. */
#define LAUNCH_PARTS_ALLOWANCE 0.01

/* Bytes of memory in parts. LAUNCH_PARTS_BYTES_FREEDOM: what is assumed of their scatter, as much
 * as of rates, counts like so many differences; a launch has few parts, and bytes for an
 * instruction are the program's, not the moment's. LAUNCH_PARTS_READ_ALLOWANCE and
 * LAUNCH_PARTS_WRITTEN_ALLOWANCE: what parts cannot tell, as a share of the bytes that were left
 * out. Measured (docs/evidence/sampled.md): reads are 1.7 % off at most, and what is written back
 * up to 8 % too little, since touches leave fewer dirty lines than wavefronts in detail. */
enum { LAUNCH_PARTS_BYTES_FREEDOM = 2 };
#define LAUNCH_PARTS_READ_ALLOWANCE    0.02
#define LAUNCH_PARTS_WRITTEN_ALLOWANCE 0.1

/* By how much a launch that is simulated takes another time than in a run of all, a standard
 * deviation: it begins at another moment, so DRAM is refreshed at others. Measured: kernels of
 * Rodinia's bfs, 1.1 % at most; programs of docs/evidence/sampled.md, 1.2 % at most. */
#define SAMPLING_UNSTEADY 0.01

/* The error that no launch of a run can show, as a share of the cycles not simulated: copies take
 * no time, so what follows them finds memory in another state. Measured: the differences to full
 * simulations of 21 programs of 16 to 1,200 launches, 0.30 % on average. */
#define SAMPLING_ALLOWANCE 0.005

#endif

/* The use of a GPU's wavefront slots while a kernel ran, by time stamps.
 *
 * A kernel's cycles go from its launch to the end of its last work-group; times the slots of the
 * GPU this is its number of slot-cycles. A compute unit accounts for the slot-cycles in which it
 * had the kernel's work-groups. The rest is accounted for here, so that the sum is exact whatever
 * happens:
 *
 * - empty.launch: nothing was to be placed yet
 * - empty.placing: there were work-groups to be placed
 * - empty.draining: all of its work-groups had been placed
 * - moving.dispatch: held by its work-groups, which were on their way, or their end on the way back
 * - others.kernels: held by work-groups of other kernels
 *
 * Command processors and trace players, which place work-groups, keep an account a kernel. */
#ifndef HEDDLE_COMPONENTS_STATISTICS_SLOT_ACCOUNT_H
#define HEDDLE_COMPONENTS_STATISTICS_SLOT_ACCOUNT_H

#include "kernel_shares.h"

/* Slot-cycles held by placed work-groups up to `cycle`. */
struct slot_use {
    uint64_t wavefronts; /* now */
    uint64_t sum;
    uint64_t cycle;
};

struct slot_account {
    uint64_t begin, placing_begin; /* cycles */
    uint64_t placed;               /* cycle in which the last work-group was placed */
    uint64_t all_at_begin, all_at_running, all_at_placed; /* sums of all kernels */
    struct slot_use use;
};

/* Numbers for the kernel's record. */
enum { SLOT_DETAILS_MAX = 96 };
struct slot_details {
    unsigned count;
    struct kernel_detail detail[SLOT_DETAILS_MAX];
    enum kernel_merge merge[SLOT_DETAILS_MAX]; /* with those of the other dies */
};

/* `all` has the slots that work-groups of all kernels hold. */
void slot_account_begin(struct slot_account *account, const struct slot_use *all, uint64_t now);
/* From here on there are work-groups to be placed. */
void slot_account_running(struct slot_account *account, const struct slot_use *all, uint64_t now);
void slot_account_place(struct slot_account *account, struct slot_use *all, uint64_t now,
                        uint32_t wavefronts, bool last);
void slot_account_finish(struct slot_account *account, struct slot_use *all, uint64_t now,
                         uint32_t wavefronts);

void slot_details_put(struct slot_details *to, struct kernel_detail detail,
                      enum kernel_merge merge);
void slot_details_add(struct slot_details *to, const char *group, const char *name, uint64_t value);
void slot_details_same(struct slot_details *to, const char *group, const char *name,
                       uint64_t value);

/* A kind of slot-cycles that the runner of work-groups accounts for. */
struct slot_kind {
    const char *group, *name; /* in the statistics */
};

struct slot_charges {
    const struct slot_kind *kinds;
    const uint64_t *sums; /* slot-cycles of each kind, which add up to `held` */
    unsigned count;       /* number of kinds */
    uint64_t held;
};

/* The kernel is over: every slot-cycle of it, each once. */
void slot_account_describe(const struct slot_account *account, const struct slot_use *all,
                           uint64_t slots, uint64_t now, const struct slot_charges *charges,
                           struct slot_details *to);

#endif

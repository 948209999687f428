/* Kernels in the statistics: the command processor reports a kernel's beginning, its end and its
 * figures.
 *
 * Records and the components' statistics of a kernel (the difference of two snapshots) are taken at
 * the end of the window of the call, so that they do not depend on the order of ticks. Kernels may
 * overlap. */
#ifndef HEDDLE_COMPONENTS_STATISTICS_KERNEL_STATS_H
#define HEDDLE_COMPONENTS_STATISTICS_KERNEL_STATS_H

#include "runtime/engine/engine.h"

#include "memory_traffic.h"

/* From a tick of `c`, whose clock counts the kernel's cycles. `name` is for people, `symbol` what
 * the kernel is called in its code object; both are copied. Returns the handle. */
uint32_t kernel_begin(const struct component *c, const char *name, const char *symbol,
                      uint32_t gpu);

/* False: there is no record, as the run has no statistics or too many kernels. */
bool kernel_is_kept(uint32_t kernel);
/* The rank that has the record (runtime/engine/rank.h). */
uint32_t kernel_rank(uint32_t kernel);
bool kernel_is_here(uint32_t kernel);

/* Adds to the kernel's `work_groups` and `wavefront_instructions`. Before kernel_end(). */
void kernel_count(uint32_t kernel, uint64_t work_groups, uint64_t wavefront_instructions);

/* The number of the kernel's launch, and a word for how it was executed; for runs in which only
 * some kernels are simulated in detail. Before kernel_end(). */
void kernel_set_launch(uint32_t kernel, uint32_t launch, const char *how);

/* One number or one word (`text` not NULL) about a kernel. `group` is the path of the JSON object
 * that it is in, in the kernel's record: NULL for the record itself, or at most two names,
 * "occupancy" or "slot_cycles.issued". Details of one group follow each other. */
struct kernel_detail {
    const char *group;
    const char *name;
    const char *text;
    uint64_t value;
};

/* Adds details to the kernel's record, after its other members. At most once a kernel, before
 * kernel_end(). */
void kernel_describe(uint32_t kernel, const struct kernel_detail *details, uint32_t number);

void kernel_end(const struct component *c, uint32_t kernel);

struct kernel_times {
    uint64_t start_ps, end_ps, cycles;
    struct memory_traffic traffic; /* while it ran */
};
/* The times of the last ended launch with that number, available after the window in which it
 * ended. False: there is none. */
bool kernel_times_of(uint32_t number, struct kernel_times *times);

/* ---- for statistics_extension.c ---- */

struct json;
/* Statistics begin: no kernel yet. */
void kernel_reset(void);
/* At the end of a window: the statistics of kernels that began or ended before `end_ps`. */
void kernel_settle(uint64_t end_ps);
/* The first time from `from_ps` on at which a kernel began or ended that is not settled;
 * ENGINE_NEVER: there is none. For several ranks: every rank but 0 sends its records to rank 0. */
uint64_t kernel_next_mark_ps(uint64_t from_ps);
extern const struct rank_channel kernel_channel __attribute__((visibility("hidden")));
/* The run is over: kernels that have not ended are cut off here, and marked partial. */
void kernel_cut(void);
/* The section `kernels`. Handles are void from then on. */
void kernel_write(struct json *out);

#endif

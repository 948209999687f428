/* Pools of private memory. See driver_scratch.c. */
#ifndef HEDDLE_DRIVER_SCRATCH_H
#define HEDDLE_DRIVER_SCRATCH_H

#include "components/host/driver/driver_state.h"

/* A kernel's need of private memory, and what it has got. */
struct scratch_want {
    uint32_t private_bytes, waves_per_group, kernel, pid;
    uint64_t groups; /* to be run; then those that the pool has room for */
    uint32_t pool;
    uint64_t address;
};

/* The smallest unused pool of the process of at least `bytes`; else an unused slot; else any
 * unused pool. -1: all are in use. */
static int scratch_choose(const struct driver_device *device, uint32_t pid, uint64_t bytes);

/* Gives a kernel a pool. Returns false when all pools are in use, or when one must be made and
 * `make` is false: the kernel has to wait. When there is no memory for one work-group, the run
 * fails. */
static bool scratch_take(struct driver *d, struct scratch_want *want, uint32_t number, bool make);

/* Gives a launch a pool, as scratch_take() does. */
static bool scratch_acquire(struct driver *d, struct driver_command *command, uint32_t number,
                            bool make);

/* Makes the pools that launches in front of their queues wait for, at the end of a window. */
static void scratch_make(struct driver *d);

/* Called from a tick: gives a pool to the first command of the queue, which may have to come back
 * for it; `at_end` calls scratch_make(). */
static bool scratch_find(struct driver *d, struct driver_queue *q,
                         void (*at_end)(struct component *c));

static void scratch_release(struct driver_device *device, const struct driver_command *command);

#endif

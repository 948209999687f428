/* Launches: the packet and the arguments of a kernel, and its private memory. */
#ifndef HEDDLE_COMPONENTS_HOST_DRIVER_LAUNCH_DRIVER_LAUNCH_H
#define HEDDLE_COMPONENTS_HOST_DRIVER_LAUNCH_DRIVER_LAUNCH_H

#include "components/amd/isa/kernel_registers.h"
#include "components/host/driver/driver_state.h"

/* Launches of kernels as commands. See driver_launch.c. */

/* The wavefronts that a SIMD holds of the kernel with that descriptor, and its registers. */
static uint32_t launch_waves_per_simd(const struct driver_device_info *info, const void *descriptor,
                                      struct kernel_registers *registers);

/* Rings of packets and arguments of a GPU. See driver_argument_ring.c. */

/* The ring that launches of a process use, made at the first of them. */
static enum driver_status argument_ring_open(struct driver *d, uint32_t number, uint32_t pid);
static struct driver_ring *argument_ring_of(struct driver *d, uint32_t number, uint32_t pid);
static const struct driver_ring *argument_ring_seen(const struct driver *d, uint32_t number,
                                                    uint32_t pid);

/* The process ends: it does not see a ring any more. */
static void argument_ring_leave(struct driver *d, uint32_t number, uint32_t pid);

static uint32_t argument_ring_hold(struct driver_ring *r, uint64_t start, uint32_t bytes,
                                   bool written);

/* True if the piece that was taken last contains these bytes. Another queue may use it only when it
 * has been written. */
static bool argument_ring_is_last(const struct driver_ring *r, const void *content, uint32_t bytes,
                                  uint32_t queue);

/* Finds where a new piece begins; waits for launches to end while there is none. */
static enum driver_status argument_ring_find(struct driver *d, const struct driver_device *device,
                                             struct driver_ring *r, uint32_t bytes, uint32_t align,
                                             uint64_t *start);

/* Takes the piece that begins at `start`, for these bytes; its number. */
static uint32_t argument_ring_acquire(struct driver_device *device, struct driver_ring *r,
                                      uint64_t start, const void *content, uint32_t bytes,
                                      uint32_t queue);

/* The piece's bytes are in the device's memory. */
static void argument_ring_written(struct driver_ring *r, uint32_t number);

static void argument_ring_release(struct driver_ring *r, uint32_t number);

/* Pools of private memory. See driver_scratch.c. */

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

/* Gives a kernel a pool. False: all pools are in use, or one must be made and `make` is not set;
 * the kernel has to wait. When there is no memory for one work-group, the run fails. */
static bool scratch_acquire(struct driver *d, struct scratch_want *want, uint32_t number,
                            bool make);

/* Gives a launch a pool, as scratch_acquire() does. */
static bool scratch_acquire_command(struct driver *d, struct driver_command *command,
                                    uint32_t number, bool make);

/* Makes the pools that the first launches of queues wait for, at the end of a window. */
static void scratch_make(struct driver *d);

/* Called from a tick: gives a pool to the first command of the queue, which may have to come back
 * for it; `at_end` calls scratch_make(). */
static bool scratch_find(struct driver *d, struct driver_queue *q,
                         void (*at_end)(struct component *c));

static void scratch_release(struct driver_device *device, const struct driver_command *command);

#endif

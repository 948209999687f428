/* Commands at the ends of queues. See driver_enqueue.c. */
#ifndef HEDDLE_DRIVER_ENQUEUE_H
#define HEDDLE_DRIVER_ENQUEUE_H

#include "components/host/driver/driver_state.h"

/* A queue for the GPU, on behalf of the handle; DRIVER_NONE: there are too many. */
static uint32_t queue_new(struct driver *d, uint32_t device, uint32_t handle);

static enum driver_status queue_check(const struct driver *d, uint32_t queue);

/* A mark whose slot in the table another command has now. NULL: it is not known. */
static const struct driver_ticket *find_mark(const struct driver *d, uint64_t ticket);

/* Appends a command; waits for others to end when there are too many. */
static enum driver_status enqueue(struct driver *d, uint32_t queue,
                                  const struct driver_command *command, uint64_t *ticket);

/* Writes to the device or reads from it. `shared`: host and GPU may both see the memory. */
static enum driver_status enqueue_move(struct driver *d, uint32_t queue, enum driver_kind kind,
                                       bool shared, char *host, uint64_t address, uint64_t size,
                                       uint64_t *ticket);
static enum driver_status enqueue_copy(struct driver *d, uint32_t queue, uint64_t to, uint64_t from,
                                       uint64_t size, uint64_t *ticket);
static enum driver_status enqueue_fill(struct driver *d, uint32_t queue, uint64_t address,
                                       const uint8_t *pattern, uint32_t bytes, uint64_t count,
                                       uint64_t *ticket);

/* Waits for the command of another queue that has this ticket. */
static enum driver_status enqueue_barrier(struct driver *d, uint32_t queue, uint64_t awaited,
                                          uint64_t *ticket);

/* The ticket of the last command of the queue that is not done; 0: there is none. */
static uint64_t queue_last(const struct driver *d, uint32_t queue);

/* What `address` is in the queue's process: a name, where others use the address, too. */
static uint64_t queue_name(const struct driver *d, uint32_t queue, uint64_t address);

#endif

/* Which L2 caches may hold what kernels wrote. See driver_flush.c. */
#ifndef HEDDLE_DRIVER_FLUSH_H
#define HEDDLE_DRIVER_FLUSH_H

#include "components/host/driver/driver_state.h"

static void dirty_init(struct driver *d);

/* A kernel of process `pid` begins or ends on GPU `gpu`. */
static void dirty_note(struct driver *d, uint32_t gpu, uint32_t pid);

/* Must the L2 of GPU `number` be flushed before memory of the process is copied there? */
static bool dirty_is(const struct driver *d, uint32_t number, uint32_t pid);

/* A flush of GPU `number` is on its way; kernels that run go on writing. */
static void dirty_flush(struct driver *d, uint32_t number);

/* Pages of the process are given back: their next owner must not find its lines. */
static void dirty_leave(struct driver *d, uint32_t pid);

/* A device whose caches must be flushed before the command, or DRIVER_NONE. */
static uint32_t command_flush_device(const struct driver *d, const struct driver_command *k,
                                     uint32_t device);

/* Is another command's flush of a device under way that the command needs flushed? */
static bool command_flush_awaited(const struct driver *d, const struct driver_command *k);

/* Sends a flush to GPU `number` for the command; false: it waits for room. */
static bool command_flush(struct driver *d, uint32_t command, uint32_t number);

#endif

/* Begin, steps and end of commands. See driver_execute.c. */
#ifndef HEDDLE_DRIVER_EXECUTE_H
#define HEDDLE_DRIVER_EXECUTE_H

#include "components/host/driver/driver_state.h"

static void command_complete(struct driver *d, struct driver_queue *q);

/* The GPUs whose memory a copy or a fill touches; bit i is GPU i. */
static uint64_t command_owners(const struct driver *d, const struct driver_command *k);

/* A device whose caches must be flushed before the command, or DRIVER_NONE. */
static uint32_t command_flush_device(const struct driver *d, const struct driver_command *k,
                                     uint32_t device);

static bool command_flush(struct driver *d, uint32_t command, uint32_t number);

/* Stores that others read, and the memory itself, change when no component is being ticked. */
static void driver_window_end(struct component *c);

static bool answers_receive(struct driver *d);

/* A step of each queue that can make one, the queue behind the last one that did first. */
static bool queues_step(struct driver *d);

#endif

/* The side of the driver that ticks. See driver_command_queues.c. */
#ifndef HEDDLE_DRIVER_COMMAND_QUEUES_H
#define HEDDLE_DRIVER_COMMAND_QUEUES_H

#include "components/host/driver/driver_state.h"

/* Called at the end of a window, when no component is being ticked: stores that others read, and
 * the memory itself, change then. */
static void driver_window_end(struct component *c);

static bool answers_receive(struct driver *d);

/* A step of each queue that can make one, the queue behind the last one that did first. */
static bool queues_step(struct driver *d);

/* Called when a command has been enqueued: what takes no time is done before the engine runs. */
static void queue_do_at_once(struct driver *d, uint32_t queue);

#endif

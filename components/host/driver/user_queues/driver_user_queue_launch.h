/* Launches of the driver through user queues. See driver_user_queue_launch.c. */
#ifndef HEDDLE_DRIVER_USER_QUEUE_LAUNCH_H
#define HEDDLE_DRIVER_USER_QUEUE_LAUNCH_H

#include "components/host/driver/driver_state.h"

/* May the queue's command be worked on while launches before it run? Pages move only when no kernel
 * runs, so where they do, none is announced early. */
static bool submit_beside(const struct driver *d, const struct driver_queue *q,
                          const struct driver_command *k);

/* Tells the packet processor of the queue that it is there; the answer ends the command. */
static bool submit_open(struct driver *d, struct driver_command *k);

/* Makes the pools that packets wait for, at the end of a window. */
static void user_make_pools(struct driver *d);

/* Does one step of a launch whose arguments are sent. */
static bool submit_step(struct driver *d, uint32_t command, struct driver_queue *q);

#endif

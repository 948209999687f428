/* What packet processors tell the driver. See driver_user_queue_interrupts.c. */
#ifndef HEDDLE_DRIVER_USER_QUEUE_INTERRUPTS_H
#define HEDDLE_DRIVER_USER_QUEUE_INTERRUPTS_H

#include "components/host/driver/driver_state.h"

/* The packet processor knows the queue. */
static void user_opened(struct driver *d, uint32_t gpu, uint32_t slot);

/* Tells packet processors that wait of events that they do not know. */
static bool user_tell(struct driver *d);

/* Works on the first release: flushes one GPU after the other, then answers. Command number
 * DRIVER_COMMANDS + 1 stands for it. */
static bool user_release(struct driver *d);

static bool user_interrupts(struct driver *d);

/* Gives pools to the packets that wait, the oldest first; one that must be made is made at the end
 * of the window. */
static bool user_serve_wants(struct driver *d);

#endif

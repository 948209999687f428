/* Life of a user queue: creating it, ringing its doorbell, waiting for its signals. See
 * driver_user_queue.c. */
#ifndef HEDDLE_DRIVER_USER_QUEUE_H
#define HEDDLE_DRIVER_USER_QUEUE_H

#include "components/host/driver/driver_state.h"
#include "components/host/driver/user_queue_api.h"

static bool user_tick(struct driver *d);

/* The number of answers that the simulation owes the program. */
static unsigned user_outstanding(const struct driver *d, struct hang_report *report);

static enum driver_status user_create(struct driver *d, uint32_t device, uint32_t packets,
                                      struct queue_info *info);

/* The user queue for launches of the driver's queue; made before the first. */
static enum driver_status user_for_launches(struct driver *d, uint32_t queue);

static void user_init(struct driver *d);

/* Destroys the user queue for launches of a queue of the driver. The launches are done. */
static enum driver_status user_close(struct driver *d, uint32_t queue);

/* Destroys the queues and pages of doorbells that a device still has, before it is destroyed. */
static enum driver_status user_leave(struct driver *d, uint32_t device);

static enum driver_status user_ring(struct driver *d, uint32_t page, uint64_t offset,
                                    uint64_t number);

#endif

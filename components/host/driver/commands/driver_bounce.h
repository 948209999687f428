/* Copies between GPUs through the host. See driver_bounce.c. */
#ifndef HEDDLE_DRIVER_BOUNCE_H
#define HEDDLE_DRIVER_BOUNCE_H

#include "components/host/driver/driver_state.h"

static void bounce_init(struct driver *d);

/* Sends one message of the copy, if there is one to send and it can be sent. */
static bool send_between(struct driver *d, uint32_t command);

/* The answer to one: `data` is what was read, or NULL when a write is over. */
static void bounce_answer(struct driver *d, struct driver_command *k,
                          const struct driver_slot *sent, const void *data);

#endif

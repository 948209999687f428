/* Calls that devices make over ports. See driver_device_calls.c. */
#ifndef HEDDLE_COMPONENTS_HOST_DRIVER_CALLS_DRIVER_DEVICE_CALLS_H
#define HEDDLE_COMPONENTS_HOST_DRIVER_CALLS_DRIVER_DEVICE_CALLS_H

#include "components/host/driver/driver_state.h"

enum { CALLS_WAITING = 1024, CALLS_SPARE = 8 /* commands that one call may need */ };

enum calls_phase { CALLS_FREE, CALLS_TAKEN, CALLS_REFUSED, CALLS_ANSWER };

/* At least `bytes` bytes of a blob; NULL: it has not so many, and driver_failure() says so. */
static void *calls_bytes(uint32_t number, uint64_t bytes);

static void calls_init(struct driver *d);
static void calls_window_end(struct driver *d);
static bool calls_tick(struct driver *d, void (*at_window_end)(struct component *));
static unsigned calls_outstanding(const struct driver *d, struct hang_report *report);

#endif

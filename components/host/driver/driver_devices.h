/* The GPUs that the driver is connected to, as the platform's tables describe them. See
 * driver_devices.c. */
#ifndef HEDDLE_DRIVER_DEVICES_H
#define HEDDLE_DRIVER_DEVICES_H

#include "driver_state.h"

static const char *table_string(uint32_t offset);

/* Does port `number` of `gpu` lead to memory of the host? */
static bool device_is_memory(const struct driver *d, uint32_t number);

static void device_init(struct driver *d, uint32_t number);

#endif

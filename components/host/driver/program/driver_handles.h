/* Devices as the program sees them. See driver_handles.c. */
#ifndef HEDDLE_DRIVER_HANDLES_H
#define HEDDLE_DRIVER_HANDLES_H

#include "components/host/driver/driver_state.h"

static enum driver_status handle_check(const struct driver *d, uint32_t number);
static bool handle_has(const struct driver_handle *h, uint32_t gpu);

/* Makes a handle. DRIVER_NONE: there are too many. */
static uint32_t handle_new(struct driver *d, uint32_t pid, const uint32_t *member, uint32_t count);

/* The number of handles of a process. */
static uint32_t handle_count_pid(const struct driver *d, uint32_t pid);

/* Makes the GPUs known as handles 0 .. gpu_count - 1. */
static void handles_init(struct driver *d);

static enum driver_status handle_unify(struct driver *d, const uint32_t *gpus, uint32_t count,
                                       uint32_t *handle);

/* Describes a device to the program. A unified one has sums of what its GPUs have, and the least of
 * what each has. */
static void handle_info(const struct driver *d, const struct driver_handle *h,
                        struct driver_device_info *info);

/* Does a shoot-down reach every shared TLB of the platform? Otherwise says what to connect. */
static enum driver_status shootdown_check(void);

#endif

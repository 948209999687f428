/* Launches of kernels as commands. See driver_launch.c. */
#ifndef HEDDLE_DRIVER_LAUNCH_H
#define HEDDLE_DRIVER_LAUNCH_H

#include "components/host/driver/driver_state.h"

static enum driver_status enqueue_launch(struct driver *d, uint32_t queue,
                                         const struct driver_launch *l, uint64_t *ticket);

#endif

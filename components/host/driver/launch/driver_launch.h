/* Launches of kernels as commands. See driver_launch.c. */
#ifndef HEDDLE_DRIVER_LAUNCH_H
#define HEDDLE_DRIVER_LAUNCH_H

#include "components/amd/isa/kernel_registers.h"
#include "components/host/driver/driver_state.h"

/* The wavefronts that a SIMD holds of the kernel with that descriptor, and its registers. */
static uint32_t launch_waves_per_simd(const struct driver_device_info *info, const void *descriptor,
                                      struct kernel_registers *registers);

static enum driver_status enqueue_launch(struct driver *d, uint32_t queue,
                                         const struct driver_launch *l, uint64_t *ticket);

#endif

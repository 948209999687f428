/* Calls of the ABI by which kernels reach the host; see warp_system.c. Private to
 * components/nvidia/warp. */
#ifndef HEDDLE_COMPONENTS_NVIDIA_WARP_WARP_SYSTEM_H
#define HEDDLE_COMPONENTS_NVIDIA_WARP_WARP_SYSTEM_H

#include "warp_machine.h"

/* Makes the call for each lane. False: it has failed (m->fault). */
bool warp_system(struct warp_machine *m, const struct warp_op *op, uint32_t mask);

#endif

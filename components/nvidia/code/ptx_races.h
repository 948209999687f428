/* `--check races` of kernels in PTX: the accesses of warps and what orders them go to the order and
 * the shadow of components/checks. Called while a launch is observed, in one thread. */
#ifndef HEDDLE_COMPONENTS_PTX_RACES_H
#define HEDDLE_COMPONENTS_PTX_RACES_H

#include "components/nvidia/code/ptx_code.h"

/* Is the launch to be observed? Then it begins for the check. */
bool ptx_races_begin(const struct ptx_call *call, const struct ptx_order *order);
/* An observer of warps (warp.h), whose context is the call. */
void ptx_races_step(void *call, const struct warp_step *step);

#endif

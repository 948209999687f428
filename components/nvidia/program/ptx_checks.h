/* `heddle run --check` of kernels in PTX. A launch that is checked is observed (warp.h): what its
 * warps execute goes to the checks that were asked for. Called in one thread. */
#ifndef HEDDLE_COMPONENTS_PTX_CHECKS_H
#define HEDDLE_COMPONENTS_PTX_CHECKS_H

#include "ptx_code.h"

/* Sets what the launch is observed by, if it is to be checked. */
void ptx_checks_begin(struct ptx_call *call, const struct ptx_order *order);
/* An observer of warps, whose context is the call. */
void ptx_checks_step(void *call, const struct warp_step *step);

#endif

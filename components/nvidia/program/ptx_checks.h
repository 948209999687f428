/* `heddle run --check` of kernels in PTX. A checked launch is observed (warp.h): the checks that
 * were asked for are passed each instruction that its warps execute. Called in one thread. */
#ifndef HEDDLE_COMPONENTS_NVIDIA_PROGRAM_PTX_CHECKS_H
#define HEDDLE_COMPONENTS_NVIDIA_PROGRAM_PTX_CHECKS_H

#include "ptx_code.h"

/* Sets the launch's observer, if the launch is to be checked. */
void ptx_checks_begin(struct ptx_call *call, const struct ptx_order *order);
/* An observer of warps, whose context is the call. */
void ptx_checks_step(void *call, const struct warp_step *step);

#endif

/* `--check uninitialised` of kernels in PTX: global memory, and reports. Private to the checks of
 * PTX. */
#ifndef HEDDLE_COMPONENTS_PTX_UNINITIALISED_H
#define HEDDLE_COMPONENTS_PTX_UNINITIALISED_H

#include "ptx_code.h"

extern const struct warp_undefined ptx_uninitialised;

#endif

/* A part of cooperative_groups.h. */
#ifndef HEDDLE_CUDA_SCAN_H
#define HEDDLE_CUDA_SCAN_H

#include "../cooperative_groups.h"

#endif

/* A part of cooperative_groups.h. */
#ifndef HEDDLE_CUDA_REDUCE_H
#define HEDDLE_CUDA_REDUCE_H

#include "../cooperative_groups.h"

#endif

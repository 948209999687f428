/* A part of cooperative_groups.h. */
#ifndef HEDDLE_CUDA_MEMCPY_ASYNC_H
#define HEDDLE_CUDA_MEMCPY_ASYNC_H

#include "../cooperative_groups.h"

#endif

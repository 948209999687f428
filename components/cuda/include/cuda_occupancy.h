/* <cuda_occupancy.h>: thrust includes it, and uses nothing of it. */
#ifndef HEDDLE_CUDA_OCCUPANCY_H
#define HEDDLE_CUDA_OCCUPANCY_H

#include "cuda_runtime.h"

#endif

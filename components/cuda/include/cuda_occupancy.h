/* <cuda_occupancy.h>: thrust includes it, and uses nothing of it. */
#include "cuda_runtime.h"

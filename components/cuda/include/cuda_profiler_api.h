/* The profiler's switches. */
#include "cuda_runtime_api.h"

/* The profiler's switches. */
#ifndef HEDDLE_CUDA_PROFILER_API_H
#define HEDDLE_CUDA_PROFILER_API_H

#include "cuda_runtime_api.h"

#endif

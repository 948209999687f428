/* A name under which programs include what cuda_runtime.h has. */
#ifndef HEDDLE_CUDA_CUDA_DEVICE_RUNTIME_API_H
#define HEDDLE_CUDA_CUDA_DEVICE_RUNTIME_API_H

#include "cuda_runtime.h"

#endif

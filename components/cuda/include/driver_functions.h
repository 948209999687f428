/* A name under which programs include what cuda_runtime.h has. */
#ifndef HEDDLE_CUDA_DRIVER_FUNCTIONS_H
#define HEDDLE_CUDA_DRIVER_FUNCTIONS_H

#include "cuda_runtime.h"

#endif

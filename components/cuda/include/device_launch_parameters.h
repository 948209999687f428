/* A name under which programs include what cuda_runtime.h has. */
#ifndef HEDDLE_CUDA_DEVICE_LAUNCH_PARAMETERS_H
#define HEDDLE_CUDA_DEVICE_LAUNCH_PARAMETERS_H

#include "cuda_runtime.h"

#endif

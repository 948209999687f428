/* The file that CUDA has the primitives of pipelines in. */
#ifndef HEDDLE_CUDA_PIPELINE_PRIMITIVES_H
#define HEDDLE_CUDA_PIPELINE_PRIMITIVES_H

#include "cuda_pipeline.h"

#endif

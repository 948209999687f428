/* The file that CUDA has the primitives of pipelines in. */
#include "cuda_pipeline.h"

/* A name under which programs include what cuda_runtime.h has. */
#include "cuda_runtime.h"

/* CUDA C++ for clang 19, without NVIDIA's toolkit: the runtime's functions with their templates for
 * C++, and the device's functions, which are those of clang's own headers over a device library.
 * `heddle cuda-cc` includes this file before each source. */
#ifndef HEDDLE_CUDA_RUNTIME_H
#define HEDDLE_CUDA_RUNTIME_H
#define __CUDA_RUNTIME_H__ /* programs ask for it */

#if defined(__CUDA__) && defined(__clang__)
#ifndef __CUDACC__
#define __CUDACC__ 1
#endif
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 8
#include <__clang_cuda_math_forward_declares.h>

/* What programs include later has to come before the device's functions of the same names. */
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <math.h>
#include <new>
#include <stdlib.h>
#include <string.h>
#include <utility>
#endif

#include "cuda.h"
#include "cuda_runtime_api.h"
#include "host_defines.h"
#include "vector_functions.h"
#include "vector_types.h"

#ifdef __cplusplus
#include "heddle/runtime_templates.h"
#endif
#if defined(__CUDA__) && defined(__clang__)
#include "heddle/device_runtime.h"
#endif

#endif

/* The environment of device code: built-in variables, math, intrinsics, atomic functions, printf,
 * assert and malloc. Most of it is clang's; this file puts it in its order. */
#ifndef HEDDLE_CUDA_DEVICE_RUNTIME_H
#define HEDDLE_CUDA_DEVICE_RUNTIME_H

#include <__clang_cuda_builtin_vars.h>
#include <__clang_cuda_libdevice_declares.h>

#include "heddle/device_library.h"

#define __nvvm_memcpy(s, d, n, a) __builtin_memcpy(s, d, n)
#define __nvvm_memset(d, c, n, a) __builtin_memset(d, c, n)
#include <__clang_cuda_device_functions.h>
#include <__clang_cuda_math.h>

#include "heddle/device_atomics.h"

/* System calls of device code, which the machine answers. */
extern "C" {
__device__ int vprintf(const char *, const char *);
__device__ void free(void *) __attribute((nothrow));
__device__ void *malloc(size_t) __attribute((nothrow)) __attribute__((malloc));
__device__ void __assertfail(const char *message, const char *file, unsigned line,
                             const char *function, size_t char_size);
__device__ static inline void __assert_fail(const char *message, const char *file, unsigned line,
                                            const char *function)
{
    __assertfail(message, file, line, function, sizeof(char));
}
__device__ int printf(const char *, ...);
}

/* Functions that thrust and cub name in code for kernels that launch kernels; nothing defines
 * them. */
extern "C" {
__device__ void *cudaGetParameterBuffer(size_t alignment, size_t size);
__device__ cudaError_t cudaLaunchDevice(void *kernel, void *parameters, dim3 grid, dim3 block,
                                        unsigned int shared, cudaStream_t stream);
__device__ cudaError_t __cudaDeviceSynchronizeDeprecationAvoidance(void);
}

namespace std
{
__device__ static inline void free(void *p) { ::free(p); }
__device__ static inline void *malloc(size_t size) { return ::malloc(size); }
} // namespace std

#define HEDDLE_TRIPLE(type)                                                                        \
    __device__ inline type::operator dim3() const { return dim3(x, y, z); }                        \
    __device__ inline type::operator uint3() const { return {x, y, z}; }
HEDDLE_TRIPLE(__cuda_builtin_threadIdx_t)
HEDDLE_TRIPLE(__cuda_builtin_blockIdx_t)
HEDDLE_TRIPLE(__cuda_builtin_blockDim_t)
HEDDLE_TRIPLE(__cuda_builtin_gridDim_t)
#undef HEDDLE_TRIPLE

#include <__clang_cuda_cmath.h>
#include <__clang_cuda_complex_builtins.h>

#include "heddle/device_spaces.h"
#include "heddle/device_textures.h"
/* The builtins take the value first, clang 19's header gives them the mask first. */
#define __nvvm_redux_sync_add(mask, value)  __nvvm_redux_sync_add(value, mask)
#define __nvvm_redux_sync_umin(mask, value) __nvvm_redux_sync_umin(value, mask)
#define __nvvm_redux_sync_umax(mask, value) __nvvm_redux_sync_umax(value, mask)
#define __nvvm_redux_sync_min(mask, value)  __nvvm_redux_sync_min(value, mask)
#define __nvvm_redux_sync_max(mask, value)  __nvvm_redux_sync_max(value, mask)
#define __nvvm_redux_sync_or(mask, value)   __nvvm_redux_sync_or(value, mask)
#define __nvvm_redux_sync_and(mask, value)  __nvvm_redux_sync_and(value, mask)
#define __nvvm_redux_sync_xor(mask, value)  __nvvm_redux_sync_xor(value, mask)
#include <__clang_cuda_intrinsics.h>
#undef __nvvm_redux_sync_add
#undef __nvvm_redux_sync_umin
#undef __nvvm_redux_sync_umax
#undef __nvvm_redux_sync_min
#undef __nvvm_redux_sync_max
#undef __nvvm_redux_sync_or
#undef __nvvm_redux_sync_and
#undef __nvvm_redux_sync_xor

/* Once more: what was included before device functions were known left operators new and delete
 * to the host. */
#include <new>

#include "heddle/device_intrinsics.h"
#include "heddle/device_math.h"

#endif

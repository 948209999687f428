/* Qualifiers of CUDA C++, for clang as the compiler of both sides and for other compilers of host
 * code. */
#ifndef HEDDLE_CUDA_HOST_DEFINES_H
#define HEDDLE_CUDA_HOST_DEFINES_H
#define __HOST_DEFINES_H__ /* programs ask for it */

#if defined(__CUDA__) && defined(__clang__)
#define __host__               __attribute__((host))
#define __device__             __attribute__((device))
#define __global__             __attribute__((global))
#define __shared__             __attribute__((shared))
#define __constant__           __attribute__((constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __grid_constant__      __attribute__((grid_constant))
/* What `heddle cuda-cc` makes of it, command/cuda_cc/cuda_cc_clusters.c says. */
#ifdef HEDDLE_CLUSTERS
#define __cluster_dims__(...) __attribute__((annotate("heddle_cluster", __VA_ARGS__)))
#else
#define __cluster_dims__(...)                                                                      \
    _Pragma("GCC error \"__cluster_dims__ in a header or with -rdc: use cudaLaunchKernelEx()\"")
#endif
/* Clang has no such variables in CUDA. command/cuda_cc/cuda_cc_managed.c says what
 * `heddle cuda-cc` makes of these names of sections, and of variables whose address the host has to
 * ask for. */
#ifndef HEDDLE_MANAGED
#define __managed__                                                                                \
    _Pragma("GCC error \"__managed__ in a header or with -rdc: use cudaMallocManaged()\"")
#elif defined __CUDA_ARCH__
#define __managed__ __device__ __attribute__((section("heddle_managed")))
#else
#define __managed__ __device__ __thread __attribute__((section("heddle_managed")))
#endif
#define __nv_is_extended_device_lambda_closure_type(type) false
#else
#define __host__
#define __device__
#define __global__
#define __shared__
#define __constant__
#define __launch_bounds__(...)
#endif
#define __forceinline__      __inline__ __attribute__((always_inline))
#define __noinline__         __attribute__((noinline))
#define __align__(n)         __attribute__((aligned(n)))
#define __builtin_align__(n) __align__(n)
#define CUDARTAPI
#define CUDART_CB
#ifndef __restrict__
#define __restrict__ __restrict
#endif

#endif

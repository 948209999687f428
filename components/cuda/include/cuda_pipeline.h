/* Copies from device to shared memory that a thread need not wait for: the primitives of the CUDA
 * C++ Programming Guide ("Pipeline primitives interface"), by cp.async. */
#ifndef HEDDLE_CUDA_PIPELINE_H
#define HEDDLE_CUDA_PIPELINE_H

#include "cuda_runtime.h"

#ifdef __CUDA__
#define HEDDLE_PIPELINE static __device__ __forceinline__

/* The last `zeros` of the bytes become 0. */
HEDDLE_PIPELINE void __pipeline_memcpy_async(void *to, const void *from, size_t bytes,
                                             size_t zeros = 0)
{
    unsigned int shared = (unsigned int)__cvta_generic_to_shared(to);
    unsigned int given = (unsigned int)(bytes - zeros);
#define HEDDLE_COPY(kind, size)                                                                    \
    if (bytes == size)                                                                             \
    asm volatile("cp.async." kind ".shared.global [%0], [%1], " #size ", %2;" ::"r"(shared),       \
                 "l"(__cvta_generic_to_global(from)), "r"(given)                                   \
                 : "memory")
    HEDDLE_COPY("ca", 4);
    HEDDLE_COPY("ca", 8);
    HEDDLE_COPY("cg", 16);
#undef HEDDLE_COPY
}
HEDDLE_PIPELINE void __pipeline_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
/* Waits until all but the last `left` groups are there. */
HEDDLE_PIPELINE void __pipeline_wait_prior(size_t left)
{
    switch (left) {
#define HEDDLE_WAIT(n)                                                                             \
    case n:                                                                                        \
        asm volatile("cp.async.wait_group " #n ";" ::: "memory");                                  \
        break
        HEDDLE_WAIT(1);
        HEDDLE_WAIT(2);
        HEDDLE_WAIT(3);
        HEDDLE_WAIT(4);
        HEDDLE_WAIT(5);
        HEDDLE_WAIT(6);
        HEDDLE_WAIT(7);
        HEDDLE_WAIT(8);
    default:
        asm volatile("cp.async.wait_all;" ::: "memory");
#undef HEDDLE_WAIT
    }
}
#undef HEDDLE_PIPELINE
#endif

#endif

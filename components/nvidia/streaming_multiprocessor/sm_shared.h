/* Bank conflicts of shared memory: banks of 4 bytes in turn. Accesses of 8 bytes are served half a
 * warp at a time, those of 16 bytes a quarter; each part takes as many cycles as its fullest bank
 * has different words that no part before it has fetched: a word serves all lanes that want it, so
 * an access of 16 bytes at one address takes one cycle (NVIDIA, "CUDA C++ Programming Guide",
 * shared memory of compute capability 5.x and later; Jia et al., "Dissecting the NVIDIA Volta GPU
 * Architecture via Microbenchmarking", 2018). */
#ifndef HEDDLE_COMPONENTS_NVIDIA_STREAMING_MULTIPROCESSOR_SM_SHARED_H
#define HEDDLE_COMPONENTS_NVIDIA_STREAMING_MULTIPROCESSOR_SM_SHARED_H

#include <stdint.h>

/* Cycles of an instruction whose active lanes access `width` bytes each; *parts: without conflicts.
 * `mask` has a bit for each of the `address`es. */
static unsigned shared_cycles(const uint64_t *address, uint32_t mask, unsigned width,
                              unsigned banks, unsigned *parts);

#endif

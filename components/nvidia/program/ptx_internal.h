/* Declarations that the files of this folder share. */
#ifndef HEDDLE_COMPONENTS_NVIDIA_PROGRAM_PTX_INTERNAL_H
#define HEDDLE_COMPONENTS_NVIDIA_PROGRAM_PTX_INTERNAL_H

#include "ptx_code.h"

#define PTX_PROGRAM "a PTX program" /* what memory is for: base/grow.h */

struct ptx_text {
    char *bytes;
    size_t size, capacity;
};

/* Text that the launch has printed so far. */
struct ptx_text *ptx_output_of(uint32_t gpu, uint64_t key);

/* vprintf() of a thread: adds what it prints to `to`. Returns how many arguments the format has, or
 * -1 when the format is not there, as CUDA's printf() does. */
int ptx_print(const struct warp_launch *launch, const struct warp_block *block, uint32_t thread,
              uint64_t format, uint64_t arguments, struct ptx_text *to);

/* 0: there is no room. */
uint64_t ptx_heap_allocate(uint32_t gpu, uint32_t pid, uint64_t bytes);
/* NULL, and what was not allocated, is left alone. */
void ptx_heap_release(uint32_t gpu, uint32_t pid, uint64_t address);

#endif

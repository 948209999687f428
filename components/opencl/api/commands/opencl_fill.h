/* Filling of memory with a pattern. */
#ifndef HEDDLE_OPENCL_FILL_H
#define HEDDLE_OPENCL_FILL_H

#include "components/opencl/api/memory/opencl_memory.h"

/* Is it a size that patterns may have, and do the numbers fit it? */
bool opencl_fill_is_sound(const void *pattern, size_t bytes, size_t offset, size_t size);
/* A command that fills `size` bytes of `memory`, or of shared memory at `pointer`. */
struct opencl_command *opencl_fill_make(struct opencl_memory *memory, void *pointer, size_t offset,
                                        const void *pattern, size_t bytes, size_t size);

#endif

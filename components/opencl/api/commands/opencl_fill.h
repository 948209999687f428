/* Filling of memory with a pattern. */
#ifndef HEDDLE_COMPONENTS_OPENCL_API_COMMANDS_OPENCL_FILL_H
#define HEDDLE_COMPONENTS_OPENCL_API_COMMANDS_OPENCL_FILL_H

#include "components/opencl/api/memory/opencl_memory.h"

/* True if patterns may have this size and the numbers fit it. */
bool opencl_fill_is_sound(const void *pattern, size_t bytes, size_t offset, size_t size);
/* A command that fills a box of `memory`, or of shared memory at `pointer`. */
struct opencl_command *opencl_fill_create(struct opencl_memory *memory, void *pointer,
                                          struct opencl_box box, const void *pattern, size_t bytes);

#endif

/* Copies of rectangles between buffers, shared memory and host memory: what all functions that
 * read, write, copy, map and unmap come to. */
#ifndef HEDDLE_COMPONENTS_OPENCL_API_COMMANDS_OPENCL_TRANSFER_H
#define HEDDLE_COMPONENTS_OPENCL_API_COMMANDS_OPENCL_TRANSFER_H

#include "components/opencl/api/memory/opencl_memory.h"

/* One side of a copy. */
struct opencl_side {
    struct opencl_memory *memory; /* held while the command lives; or NULL, and */
    void *pointer;                /* host memory, or shared memory */
    size_t offset;                /* bytes from its start to the first byte */
    size_t row, slice;            /* bytes from row to row, and from slice to slice */
};

struct opencl_transfer {
    struct opencl_command command;
    struct opencl_side to, from;
    size_t width, rows, slices; /* bytes, rows, slices; 0 wide: nothing is copied */
};

/* A command that copies `size` bytes. */
struct opencl_transfer *opencl_transfer_bytes(struct opencl_side to, struct opencl_side from,
                                              size_t size);
/* A command that copies a rectangle. */
struct opencl_transfer *opencl_transfer_rectangle(struct opencl_side to, struct opencl_side from,
                                                  const size_t region[3]);

#endif

/* The memory of one object read from a file. A reader takes all that it hands out from here, and
 * all of it goes at once.
 *
 * Invariant: memory is zeroed when taken and stays where it is until object_memory_release(). Used
 * by the readers of bundles and code objects; running out of host memory ends the program with a
 * message. */
#ifndef HEDDLE_ISA_OBJECT_MEMORY_H
#define HEDDLE_ISA_OBJECT_MEMORY_H

#include <stddef.h>

struct object_memory_block;

struct object_memory {
    struct object_memory_block *blocks; /* newest first; NULL when nothing was taken */
};

/* `count` times `size` zeroed bytes, aligned to 16. A count of 0 gives a valid address of no bytes.
 */
void *object_memory_take(struct object_memory *memory, size_t count, size_t size);

/* A copy of `length` bytes of text with a NUL behind it. */
char *object_memory_copy_text(struct object_memory *memory, const char *text, size_t length);

/* Gives everything back; `memory` may be used again. */
void object_memory_release(struct object_memory *memory);

#endif

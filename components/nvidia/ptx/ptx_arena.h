#ifndef HEDDLE_COMPONENTS_NVIDIA_PTX_PTX_ARENA_H
#define HEDDLE_COMPONENTS_NVIDIA_PTX_PTX_ARENA_H

/* Memory of one module: blocks in a list, freed together. All memory is zeroed. */

#include <stddef.h>
#include <stdint.h>

struct ptx_arena_block;

struct ptx_arena {
    struct ptx_arena_block *blocks;
};

void *ptx_arena_take(struct ptx_arena *arena, size_t bytes);
char *ptx_arena_text(struct ptx_arena *arena, const char *text, size_t length);
void ptx_arena_release(struct ptx_arena *arena);

/* Makes room for one more than `count` elements in an array whose room doubles at powers of two;
 * returns the array, moved or not. */
void *ptx_arena_grow(struct ptx_arena *arena, void *array, uint32_t count, size_t element);

/* Appends a zeroed element and returns its address. */
#define PTX_APPEND(arena, array, count)                                                            \
    (((array) = ptx_arena_grow((arena), (array), (count), sizeof *(array))), &(array)[(count)++])

#endif

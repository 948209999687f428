/* The arena of a module. Its blocks double in size up to a megabyte. Called by the parser only. */
#include "components/nvidia/ptx/ptx_arena.h"

#include "base/grow.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_BLOCK_BYTES = 16 << 10, LAST_BLOCK_BYTES = 1 << 20 };

struct ptx_arena_block {
    struct ptx_arena_block *next;
    size_t used;
    size_t size;
    alignas(max_align_t) char bytes[];
};

static struct ptx_arena_block *new_block(struct ptx_arena *arena, size_t bytes)
{
    size_t size = arena->blocks ? 2 * arena->blocks->size : FIRST_BLOCK_BYTES;
    if (size > LAST_BLOCK_BYTES)
        size = LAST_BLOCK_BYTES;
    if (size < bytes)
        size = bytes;
    struct ptx_arena_block *block = grow_checked(calloc(1, sizeof *block + size), "a PTX module");
    block->size = size;
    block->next = arena->blocks;
    arena->blocks = block;
    return block;
}

void *ptx_arena_take(struct ptx_arena *arena, size_t bytes)
{
    bytes = (bytes + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
    struct ptx_arena_block *block = arena->blocks;
    if (!block || block->size - block->used < bytes)
        block = new_block(arena, bytes);
    void *memory = block->bytes + block->used;
    block->used += bytes;
    return memory;
}

char *ptx_arena_text(struct ptx_arena *arena, const char *text, size_t length)
{
    char *copy = ptx_arena_take(arena, length + 1);
    memcpy(copy, text, length);
    return copy;
}

void *ptx_arena_grow(struct ptx_arena *arena, void *array, uint32_t count, size_t element)
{
    if (count & (count - 1))
        return array; /* between powers of two there is room */
    void *larger = ptx_arena_take(arena, (count ? 2 * (size_t)count : 1) * element);
    if (count)
        memcpy(larger, array, count * element);
    return larger;
}

void ptx_arena_release(struct ptx_arena *arena)
{
    while (arena->blocks) {
        struct ptx_arena_block *next = arena->blocks->next;
        free(arena->blocks);
        arena->blocks = next;
    }
}

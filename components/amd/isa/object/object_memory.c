/* Blocks in a chain, one a request: a reader takes a few large arrays and some names, so a chain is
 * enough. Called by the readers in this folder only. */
#include "object_memory.h"

#include "base/grow.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct object_memory_block {
    struct object_memory_block *next;
    alignas(16) unsigned char bytes[];
};

void *object_memory_take(struct object_memory *memory, size_t count, size_t size)
{
    struct object_memory_block *block = NULL;
    if (size == 0 || count <= (SIZE_MAX - sizeof *block) / size) {
        block = calloc(1, sizeof *block + count * size);
    }
    grow_checked(block, "a code object");
    block->next = memory->blocks;
    memory->blocks = block;
    return block->bytes;
}

char *object_memory_copy_text(struct object_memory *memory, const char *text, size_t length)
{
    char *copy = object_memory_take(memory, length + 1, 1);
    memcpy(copy, text, length);
    return copy;
}

void object_memory_release(struct object_memory *memory)
{
    while (memory->blocks) {
        struct object_memory_block *block = memory->blocks;
        memory->blocks = block->next;
        free(block);
    }
}

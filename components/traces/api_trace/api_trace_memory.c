/* Memory of a trace: a chain of blocks that are filled from the front. The only file of this
 * folder that asks the host for memory. */
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "components/traces/api_trace/api_trace_internal.h"

#include "base/grow.h"

#define BLOCK_BYTES 65536
#define ALIGNMENT   16

struct block {
    struct block *next;
    size_t used, size;
    alignas(ALIGNMENT) unsigned char bytes[];
};

struct api_trace_memory {
    struct block *blocks; /* newest first */
};

struct api_trace_memory *api_trace_memory_new(void)
{
    return grow_zeroed(sizeof(struct api_trace_memory), "an API trace");
}

void *api_trace_take(struct api_trace_memory *memory, size_t count, size_t size)
{
    size_t limit = SIZE_MAX / 2 - ALIGNMENT - sizeof(struct block);
    size_t bytes = count > 0 && size > limit / count ? limit : count * size;
    bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    struct block *block = memory->blocks;
    if (block == NULL || block->size - block->used < bytes) {
        size_t room = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
        block = grow_zeroed(sizeof *block + room, "an API trace");
        block->size = room;
        block->next = memory->blocks;
        memory->blocks = block;
    }
    void *taken = block->bytes + block->used;
    block->used += bytes;
    return taken;
}

const char *api_trace_copy(struct api_trace_memory *memory, const char *text, size_t size)
{
    char *copy = api_trace_take(memory, size + 1, 1);
    memcpy(copy, text, size);
    return copy;
}

void *api_trace_grow(struct api_trace_memory *memory, void *items, uint32_t count,
                     uint32_t *capacity, size_t size)
{
    if (count < *capacity)
        return items;
    *capacity = count < 8 ? 8 : count * 2;
    void *larger = api_trace_take(memory, *capacity, size);
    if (count > 0)
        memcpy(larger, items, count * size);
    return larger;
}

void api_trace_memory_free(struct api_trace_memory *memory)
{
    while (memory != NULL && memory->blocks != NULL) {
        struct block *block = memory->blocks;
        memory->blocks = block->next;
        free(block);
    }
    free(memory);
}

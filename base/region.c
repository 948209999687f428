/* Blocks that are filled from the front. They double in size, so that a small region costs little;
 * what is large gets a block of its own, so that the rest of the current one is not lost. Called by
 * the language, the generator, and readers of files. */
#include "region.h"

#include <stdalign.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "number.h"

#define ALIGNMENT       ((size_t)16)
#define FIRST_BYTES     ((size_t)16 * 1024)
#define LAST_BYTES      ((size_t)256 * 1024) /* malloc maps it, so it is zero already */
#define OWN_BLOCK_BYTES (LAST_BYTES / 4)
#define READ_BYTES      ((size_t)64 * 1024)

enum { ITEMS_MIN = 4 }; /* of a list; a power of two */

struct region_block {
    struct region_block *next;
    alignas(ALIGNMENT) unsigned char bytes[];
};

void region_init(struct region *region, const char *contents)
{
    *region = (struct region){.contents = contents};
}

void region_release(struct region *region)
{
    for (struct region_block *block = region->blocks, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    region_init(region, region->contents);
}

static struct region_block *new_block(const struct region *region, size_t bytes)
{
    return grow_zeroed(sizeof(struct region_block) + bytes, region->contents);
}

static void *take_own_block(struct region *region, size_t size)
{
    struct region_block *block = new_block(region, size);
    struct region_block **after = region->blocks ? &region->blocks->next : &region->blocks;
    block->next = *after;
    *after = block;
    return block->bytes;
}

/* The block that is filled next has room for `size`. */
static void open_block(struct region *region, size_t size)
{
    size_t bytes = region->capacity == 0 ? FIRST_BYTES : 2 * region->capacity;
    while (bytes < size)
        bytes *= 2;
    region->capacity = min(bytes, LAST_BYTES);
    region->used = 0;
    struct region_block *block = new_block(region, region->capacity);
    block->next = region->blocks;
    region->blocks = block;
}

void *region_take(struct region *region, size_t size)
{
    size =
        min(size, SIZE_MAX / 2); /* there is no memory for that either, and it can be rounded up */
    size = round_up(size, ALIGNMENT);
    region->total += size;
    if (region->capacity - region->used < size || !region->blocks) {
        if (size > OWN_BLOCK_BYTES)
            return take_own_block(region, size);
        open_block(region, size);
    }
    void *memory = region->blocks->bytes + region->used;
    region->used += size;
    return memory;
}

void *region_take_array(struct region *region, size_t count, size_t size)
{
    return region_take(region, size > 0 && count > SIZE_MAX / size ? SIZE_MAX : count * size);
}

char *region_strndup(struct region *region, const char *text, size_t size)
{
    char *copy = region_take(region, size + 1);
    if (size > 0)
        memcpy(copy, text, size);
    return copy;
}

char *region_strdup(struct region *region, const char *text)
{
    return region_strndup(region, text, strlen(text));
}

/* Most texts are short, and are then made once. */
char *region_vprintf(struct region *region, const char *format, va_list args)
{
    char buffer[256];
    va_list copy;
    va_copy(copy, args);
    int length = vsnprintf(buffer, sizeof buffer, format, copy);
    va_end(copy);
    if (length < 0)
        abort(); /* a format that is wrong */
    char *text = region_take(region, (size_t)length + 1);
    if (length < (int)sizeof buffer)
        memcpy(text, buffer, (size_t)length + 1);
    else
        vsnprintf(text, (size_t)length + 1, format, args);
    return text;
}

char *region_printf(struct region *region, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = region_vprintf(region, format, args);
    va_end(args);
    return text;
}

char *region_read(struct region *region, FILE *stream, size_t limit, size_t *size)
{
    char *bytes = NULL;
    size_t capacity = 0, count = READ_BYTES;
    for (*size = 0; count == READ_BYTES && *size <= limit; *size += count) {
        grow_list(bytes, *size + READ_BYTES, capacity, region->contents);
        count = fread(bytes + *size, 1, READ_BYTES, stream);
    }
    char *text = region_strndup(region, bytes, *size);
    free(bytes);
    return text;
}

void *region_grow(struct region *region, void *items, uint32_t count, uint32_t *capacity,
                  size_t item_size)
{
    if (count < *capacity)
        return items;
    *capacity = count == 0 ? ITEMS_MIN : count * 2;
    void *grown = region_take_array(region, *capacity, item_size);
    if (count > 0)
        memcpy(grown, items, count * item_size);
    return grown;
}

void *region_grow_counted(struct region *region, void *items, uint32_t count, size_t item_size)
{
    uint32_t capacity = count;
    bool is_full = count == 0 || (count >= ITEMS_MIN && (count & (count - 1)) == 0);
    return is_full ? region_grow(region, items, count, &capacity, item_size) : items;
}

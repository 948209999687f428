/* Byte strings by number. Numbers that were given back are used again, the last one first. */
#include "blob.h"

#include <stdlib.h>

#include "base/grow.h"
#include "runtime/engine/bug.h"

static struct {
    struct blob **blobs; /* by number; NULL: free */
    uint32_t *free;      /* numbers, a stack */
    uint32_t count, free_count;
    size_t capacity, free_capacity;
} table;

static uint32_t new_number(void)
{
    if (table.free_count > 0)
        return table.free[--table.free_count];
    ++table.count; /* the first is 1 */
    grow_list(table.blobs, table.count + 1, table.capacity, "a list of blobs");
    return table.count;
}

struct blob *blob_new(size_t size)
{
    struct blob *blob = grow_zeroed(sizeof *blob + size, "a blob");
    blob->size = size;
    blob->number = new_number();
    table.blobs[blob->number] = blob;
    return blob;
}

struct blob *blob_at(uint32_t number)
{
    return number && number <= table.count ? table.blobs[number] : NULL;
}

void blob_free(uint32_t number)
{
    if (!blob_at(number))
        bug("blob %u is given back twice, or was never made", number);
    free(table.blobs[number]);
    table.blobs[number] = NULL;
    grow_list(table.free, table.free_count + 1, table.free_capacity, "a list of blobs");
    table.free[table.free_count++] = number;
}

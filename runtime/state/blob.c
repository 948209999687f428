/* Byte strings by number, in slots of a pool. */
#include "blob.h"

#include <stdlib.h>

#include "base/grow.h"
#include "base/number_pool.h"
#include "runtime/engine/bug.h"

static struct {
    struct number_pool slots;
    struct blob **blobs; /* by slot, the number less 1; NULL: free */
    size_t capacity;
} table;

struct blob *blob_new(size_t size)
{
    struct blob *blob = grow_zeroed(sizeof *blob + size, "a blob");
    uint32_t slot = number_pool_acquire(&table.slots, "a list of blobs");
    grow_slots(table.blobs, slot, table.capacity, "a list of blobs");
    blob->size = size;
    blob->number = slot + 1;
    table.blobs[slot] = blob;
    return blob;
}

struct blob *blob_at(uint32_t number)
{
    return number && number <= table.slots.used ? table.blobs[number - 1] : NULL;
}

void blob_free(uint32_t number)
{
    if (!blob_at(number))
        bug("blob %u is given back twice, or was never made", number);
    free(table.blobs[number - 1]);
    table.blobs[number - 1] = NULL;
    number_pool_release(&table.slots, number - 1);
}

/* Grows an array to hold a slot, with zeros. */
#include "slot_array.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

void *slot_array_grow(void *old, uint64_t *room, uint64_t index, size_t size)
{
    uint64_t larger = 2 * (index + 32);
    if (index < *room)
        return old;
    char *made = grow_checked(realloc(old, larger * size), "checks");
    memset(made + *room * size, 0, (larger - *room) * size);
    *room = larger;
    return made;
}

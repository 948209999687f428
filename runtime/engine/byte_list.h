/* Bytes that are put one after another until they are written or sent, on the host's heap. Starts
 * as zeroes; `used = 0` empties it. */
#ifndef HEDDLE_RUNTIME_ENGINE_BYTE_LIST_H
#define HEDDLE_RUNTIME_ENGINE_BYTE_LIST_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

struct byte_list {
    char *bytes;
    size_t used, capacity;
};

/* Room for so many more, to be filled before the next call. Ends the program when there is no
 * memory. */
static inline void *byte_list_room(struct byte_list *l, size_t bytes)
{
    grow_list(l->bytes, l->used + bytes, l->capacity, "what a run records");
    l->used += bytes;
    return l->bytes + l->used - bytes;
}

static inline void byte_list_add(struct byte_list *l, const void *from, size_t bytes)
{
    if (bytes)
        memcpy(byte_list_room(l, bytes), from, bytes);
}

#endif

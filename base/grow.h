/* Memory of the host that a program cannot go on without: when there is none, the program ends with
 * a message that says what it was for.
 *
 * Not by exit(): we may be inside a program under our library's lock, which its exit handlers take,
 * too. */
#ifndef HEDDLE_BASE_GROW_H
#define HEDDLE_BASE_GROW_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"

/* The memory, which was asked for already. */
static inline void *grow_checked(void *block, const char *contents)
{
    if (block)
        return block;
    fprintf(stderr, "heddle: out of memory for %s\n", contents);
    fflush(stdout);
    _Exit(1);
}

static inline void *grow_sized(void *block, size_t size, const char *contents)
{
    char text[96];
    if (block)
        return block;
    snprintf(text, sizeof text, "%zu bytes of %s", size, contents);
    return grow_checked(NULL, text);
}

/* realloc(); `contents` follows the number of bytes: "the HIP library". */
static inline void *grow_memory(void *old, size_t size, const char *contents)
{
    return grow_sized(realloc(old, size > 0 ? size : 1), size, contents);
}

static inline void *grow_zeroed(size_t size, const char *contents)
{
    return grow_sized(calloc(1, size > 0 ? size : 1), size, contents);
}

static inline char *grow_text(const char *text, const char *contents)
{
    return grow_checked(strdup(text), contents);
}

/* ---- lists ---- */

/* The capacity of a list of `capacity` items that lacks room for `need`. It at least doubles, so
 * that all appending together copies each item about once. */
static inline size_t grow_capacity(size_t need, size_t capacity)
{
    return max(max(need, 2 * capacity), (size_t)16);
}

static inline void *grow_items(void *items, size_t need, size_t *capacity, size_t item_size,
                               const char *contents)
{
    if (need <= *capacity)
        return items;
    *capacity = grow_capacity(need, *capacity);
    return grow_memory(items, *capacity <= SIZE_MAX / item_size ? *capacity * item_size : SIZE_MAX,
                       contents);
}

static inline void *grow_zeroed_items(void *items, size_t need, size_t *capacity, size_t item_size,
                                      const char *contents)
{
    size_t before = *capacity;
    items = grow_items(items, need, capacity, item_size, contents);
    if (*capacity > before)
        memset((char *)items + before * item_size, 0, (*capacity - before) * item_size);
    return items;
}

/* Gives `list`, an array on the heap, room for `need` items. `capacity` is a size_t. An empty list
 * is NULL, with a capacity of 0. */
#define grow_list(list, need, capacity, contents)                                                  \
    ((list) = grow_items((list), (need), &(capacity), sizeof *(list), (contents)))
/* Gives `list` an item at `index`. Items that are new are zero. */
#define grow_slots(list, index, capacity, contents)                                                \
    ((list) =                                                                                      \
         grow_zeroed_items((list), (size_t)(index) + 1, &(capacity), sizeof *(list), (contents)))

#endif

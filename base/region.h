/* Memory that goes as a whole: all of a compilation, a module of PTX, a trace, a code object.
 *
 * Memory is zeroed, aligned to 16 bytes, and stays where it is. Nothing is freed singly; a vector
 * that grows leaves its old memory behind. Out of memory ends the program (base/grow.h). */
#ifndef HEDDLE_BASE_REGION_H
#define HEDDLE_BASE_REGION_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct region_block;

struct region {
    const char *contents; /* for messages: "a code object" */
    struct region_block *blocks;
    size_t used, capacity; /* bytes of the block that is filled, the first of the list */
    size_t total;          /* bytes taken so far */
};

/* `contents` is not copied. {.contents = "a code object"} is an empty region, too. */
void region_init(struct region *region, const char *contents);
/* Afterwards the region is empty, and may be used again. */
void region_release(struct region *region);

/* A size of 0 gives a valid address. */
void *region_take(struct region *region, size_t size);
void *region_take_array(struct region *region, size_t count, size_t size);
/* A copy of `size` bytes, and a NUL after it. */
char *region_strndup(struct region *region, const char *text, size_t size);
char *region_strdup(struct region *region, const char *text);
char *region_printf(struct region *region, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
char *region_vprintf(struct region *region, const char *format, va_list args);

/* The rest of a stream, and a NUL after it. Reading ends early when there are more than `limit`
 * bytes; ferror() tells whether it failed. */
char *region_read(struct region *region, FILE *stream, size_t limit, size_t *size);

/* `items` with room for one more than `count`: as they are as long as they have it. Capacity begins
 * with 4 items, and doubles. */
void *region_grow(struct region *region, void *items, uint32_t count, uint32_t *capacity,
                  size_t item_size);

/* As region_grow(), for a list that keeps no capacity: it follows from the count, which never
 * falls. */
void *region_grow_counted(struct region *region, void *items, uint32_t count, size_t item_size);
/* Appends a zeroed item to such a list and returns its address. */
#define region_append(region, list, count)                                                         \
    (((list) = region_grow_counted((region), (list), (count), sizeof *(list))), &(list)[(count)++])

/* A growable array of T: `VECTOR(int) v = {0}; vector_push(region, &v, 3);` */
#define VECTOR(T)                                                                                  \
    struct {                                                                                       \
        T *items;                                                                                  \
        uint32_t count, capacity;                                                                  \
    }
#define vector_push(region, v, item)                                                               \
    ((v)->items =                                                                                  \
         region_grow((region), (v)->items, (v)->count, &(v)->capacity, sizeof *(v)->items),        \
     (v)->items[(v)->count++] = (item))

#endif

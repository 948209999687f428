/* Memory of the host that a program cannot go on without: when there is none, the program ends with
 * a message that says what it was for.
 *
 * Not by exit(): we may be inside a program under our library's lock, which its exit handlers take,
 * too. */
#ifndef HEDDLE_BASE_GROW_H
#define HEDDLE_BASE_GROW_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The memory, which was asked for already. */
static inline void *grow_checked(void *block, const char *what)
{
    if (block)
        return block;
    fprintf(stderr, "heddle: out of memory for %s\n", what);
    fflush(stdout);
    _exit(1);
}

static inline void *grow_sized(void *block, size_t size, const char *what)
{
    char text[96];
    if (block)
        return block;
    snprintf(text, sizeof text, "%zu bytes of %s", size, what);
    return grow_checked(NULL, text);
}

/* realloc(); `what` follows the number of bytes: "the HIP library". */
static inline void *grow_memory(void *old, size_t size, const char *what)
{
    return grow_sized(realloc(old, size > 0 ? size : 1), size, what);
}

static inline void *grow_zeroed(size_t size, const char *what)
{
    return grow_sized(calloc(1, size > 0 ? size : 1), size, what);
}

#endif

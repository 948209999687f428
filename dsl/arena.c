/* Chunked bump allocation. The newest chunk is the one filled; a large request gets a chunk of its
 * own, so that the tail of the current one is wasted only when it is short. Called by every other
 * file of the front end. */
#include "dsl/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES ((size_t)256 * 1024) /* malloc maps it, so it is zero already */
#define ALIGNMENT   ((size_t)16)

struct arena_chunk {
    struct arena_chunk *next;
    size_t unused; /* keeps the data behind it aligned */
};

_Noreturn void compiler_bug_at(const char *file, int line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "heddle: bug at %s:%d: ", file, line);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    abort();
}

void arena_init(struct arena *arena)
{
    *arena = (struct arena){0};
}

void arena_release(struct arena *arena)
{
    struct arena_chunk *chunk = arena->chunks;
    while (chunk != NULL) {
        struct arena_chunk *next = chunk->next;
        free(chunk);
        chunk = next;
    }
    arena_init(arena);
}

static struct arena_chunk *new_chunk(size_t bytes)
{
    struct arena_chunk *chunk = calloc(1, sizeof *chunk + bytes);
    if (chunk == NULL) {
        fprintf(stderr, "heddle: out of memory for %zu bytes of a description\n", bytes);
        exit(2);
    }
    return chunk;
}

void *arena_take(struct arena *arena, size_t size)
{
    size = (size + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
    arena->total += size;
    if (size > CHUNK_BYTES / 4) {
        struct arena_chunk *own = new_chunk(size);
        if (arena->chunks != NULL) {
            own->next = arena->chunks->next;
            arena->chunks->next = own;
        } else {
            arena->chunks = own;
            arena->used = arena->capacity = 0;
        }
        return own + 1;
    }
    if (arena->capacity - arena->used < size) {
        struct arena_chunk *chunk = new_chunk(CHUNK_BYTES);
        chunk->next = arena->chunks;
        arena->chunks = chunk;
        arena->used = 0;
        arena->capacity = CHUNK_BYTES;
    }
    void *result = (char *)(arena->chunks + 1) + arena->used;
    arena->used += size;
    return result;
}

char *arena_strndup(struct arena *arena, const char *text, size_t size)
{
    char *copy = arena_take(arena, size + 1);
    if (size > 0)
        memcpy(copy, text, size);
    return copy;
}

char *arena_strdup(struct arena *arena, const char *text)
{
    return arena_strndup(arena, text, strlen(text));
}

/* Most texts are short, and are then made once. */
char *arena_vprintf(struct arena *arena, const char *format, va_list args)
{
    char usual[256];
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(usual, sizeof usual, format, again);
    va_end(again);
    if (length < 0)
        compiler_bug("bad format '%s'", format);
    char *text = arena_take(arena, (size_t)length + 1);
    if (length < (int)sizeof usual)
        memcpy(text, usual, (size_t)length + 1);
    else
        vsnprintf(text, (size_t)length + 1, format, args);
    return text;
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = arena_vprintf(arena, format, args);
    va_end(args);
    return text;
}

void *arena_grow(struct arena *arena, void *items, uint32_t count, uint32_t *capacity,
                 size_t item_size)
{
    *capacity = count == 0 ? 4 : count * 2;
    void *grown = arena_take(arena, *capacity * item_size);
    if (count > 0)
        memcpy(grown, items, count * item_size);
    return grown;
}

/* The compiler's memory: one arena for each compilation, released as a whole.
 *
 * Memory is zeroed. Nothing is freed singly; growing a vector leaves its old storage behind. Out of
 * memory ends the program. This is the only file of the front end that calls malloc. */
#ifndef HEDDLE_DSL_ARENA_H
#define HEDDLE_DSL_ARENA_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

struct arena_chunk;

struct arena {
    struct arena_chunk *chunks;
    size_t used, capacity; /* of the newest chunk */
    size_t total;          /* bytes asked for so far */
};

void arena_init(struct arena *arena);
void arena_release(struct arena *arena);
/* Zeroed, aligned for any type; size 0 gives a valid address. */
void *arena_take(struct arena *arena, size_t size);
/* `size` bytes and a NUL. */
char *arena_strndup(struct arena *arena, const char *text, size_t size);
char *arena_strdup(struct arena *arena, const char *text);
char *arena_printf(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
char *arena_vprintf(struct arena *arena, const char *format, va_list args);
/* Storage of a vector with room for one more item of `item_size`. */
void *arena_grow(struct arena *arena, void *items, uint32_t count, uint32_t *capacity,
                 size_t item_size);

/* A growable array of T in an arena: `VECTOR(int) v = { 0 }; vector_push(arena, &v, 3);` */
#define VECTOR(T)                                                                                  \
    struct {                                                                                       \
        T *items;                                                                                  \
        uint32_t count, capacity;                                                                  \
    }
#define vector_push(arena, v, item)                                                                \
    ((v)->count == (v)->capacity                                                                   \
         ? (void)((v)->items = arena_grow((arena), (v)->items, (v)->count, &(v)->capacity,         \
                                          sizeof *(v)->items))                                     \
         : (void)0,                                                                                \
     (v)->items[(v)->count++] = (item))

/* Our own mistake: prints where and ends the program. */
#define compiler_bug(...) compiler_bug_at(__FILE__, __LINE__, __VA_ARGS__)
_Noreturn void compiler_bug_at(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif

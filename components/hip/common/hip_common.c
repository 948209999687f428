/* See hip_common.h. Called from several host threads, with and without locks. */
#include "hip_common.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGES_MAX = 40 /* lines on stderr before the rest is left out */ };

/* One line of at most `size` - 1 bytes, written at once. */
static void say(size_t size, const char *format, va_list arguments)
{
    char text[4096];
    vsnprintf(text, size, format, arguments);
    fprintf(stderr, "heddle: %s\n", text);
}

void hip_say(const char *format, ...)
{
    static unsigned said;
    unsigned number = __atomic_fetch_add(&said, 1, __ATOMIC_RELAXED);
    if (number >= MESSAGES_MAX) {
        if (number == MESSAGES_MAX)
            fprintf(stderr, "heddle: further messages are left out\n");
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    say(1024, format, arguments);
    va_end(arguments);
}

void hip_say_always(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(4096, format, arguments);
    va_end(arguments);
}

void *hip_grow(void *old, size_t size)
{
    void *memory = realloc(old, size > 0 ? size : 1);
    if (!memory) {
        fprintf(stderr, "heddle: out of host memory\n");
        abort();
    }
    return memory;
}

void *hip_allocate(size_t size)
{
    return memset(hip_grow(NULL, size), 0, size);
}

void hip_release(void *memory)
{
    free(memory);
}

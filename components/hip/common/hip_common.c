/* See hip_common.h. Called from several host threads, with and without locks. */
#include "hip_common.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGES_MAX = 40 /* lines on stderr before the rest is left out */ };

static _Thread_local const char *doing = "";

const char *hip_doing(const char *what)
{
    const char *before = doing;
    doing = what;
    return before;
}

/* Says one line, written at once, unless too many were said before. */
static void say(const char *subject, const char *format, va_list arguments)
{
    static unsigned said;
    char text[1024];
    unsigned number = __atomic_fetch_add(&said, 1, __ATOMIC_RELAXED);
    if (number == MESSAGES_MAX)
        fprintf(stderr, "heddle: further messages are left out\n");
    if (number >= MESSAGES_MAX)
        return;
    vsnprintf(text, sizeof text, format, arguments);
    fprintf(stderr, "heddle: %s%s%s\n", subject, *subject ? ": " : "", text);
}

void hip_say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say("", format, arguments);
    va_end(arguments);
}

void hip_complain(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(doing, format, arguments);
    va_end(arguments);
}

void hip_complain_always(const char *text)
{
    fprintf(stderr, "heddle: %s: %s\n", doing, text);
}

void *hip_grow(void *old, size_t size)
{
    void *memory = realloc(old, size > 0 ? size : 1);
    if (!memory) {
        fprintf(stderr, "heddle: out of memory for %zu bytes of the HIP library\n", size);
        abort();
    }
    return memory;
}

void *hip_allocate(size_t size)
{
    return memset(hip_grow(NULL, size), 0, size);
}

void *hip_make_room(void *list, size_t count, size_t *room, size_t element_bytes)
{
    if (count < *room)
        return list;
    *room = *room ? 2 * *room : 16;
    return hip_grow(list, *room * element_bytes);
}

void hip_release(void *memory)
{
    free(memory);
}

/* The two ways to end the program at once. */
#include "bug.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void bug(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("bug: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    abort();
}

void die(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("heddle: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    /* Not exit(): we may be inside a host program, under its library's lock, which its exit
     * handlers take, too. */
    fflush(stdout);
    _exit(1);
}

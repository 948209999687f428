/* The two ways to end the program at once. */
#include "bug.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "version.h"

/* Prints a line. */
static void say(const char *begin, const char *format, va_list arguments)
{
    fputs(begin, stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
}

void bug(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say("heddle: bug: ", format, arguments);
    va_end(arguments);
    fputs("heddle: this is a mistake of heddle " HEDDLE_VERSION ", not of your program or "
          "description; please report the line above, with the command, the program and the "
          "description\n",
          stderr);
    abort();
}

void die(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say("heddle: ", format, arguments);
    va_end(arguments);
    /* Not exit(): we may be inside a host program, under its library's lock, which its exit
     * handlers take, too. */
    fflush(stdout);
    _exit(1);
}

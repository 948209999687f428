/* Ends the process at a mistake of the language's or the generator's code. */
#include "compiler_bug.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

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

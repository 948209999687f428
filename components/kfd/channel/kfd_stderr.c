/* Messages of the library and of the server on standard error. */
#include "kfd_stderr.h"

#include <stdarg.h>
#include <stdio.h>

void kfd_say(const char *format, ...)
{
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "heddle: %s\n", text);
}

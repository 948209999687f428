/* Messages of commands. See command_say.h. */
#include "command_say.h"

#include <stdio.h>

static const char *command_name;

void command_say_as(const char *name)
{
    command_name = name;
}

static void print(const char *format, va_list arguments)
{
    if (command_name)
        fprintf(stderr, "heddle %s: ", command_name);
    else
        fputs("heddle: ", stderr);
    vfprintf(stderr, format, arguments);
}

void command_vsay(const char *format, va_list arguments)
{
    print(format, arguments);
    fputc('\n', stderr);
}

void command_say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    command_vsay(format, arguments);
    va_end(arguments);
}

void command_say_begin(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print(format, arguments);
    va_end(arguments);
}

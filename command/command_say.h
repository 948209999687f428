/* Messages of commands on standard error: "heddle COMMAND: " and a line of text. The generator and
 * the simulator do not know the command; their lines begin with "heddle: ". */
#ifndef HEDDLE_COMMAND_COMMAND_SAY_H
#define HEDDLE_COMMAND_COMMAND_SAY_H

#include <stdarg.h>

/* The command that speaks from now on. Before the first call, lines begin with "heddle: ". `name`
 * has to stay. */
void command_say_as(const char *name);

/* Prints a line; its end is added. */
__attribute__((format(printf, 1, 2))) void command_say(const char *format, ...);
void command_vsay(const char *format, va_list arguments);

/* The beginning of a line that the caller continues and ends on standard error. */
__attribute__((format(printf, 1, 2))) void command_say_begin(const char *format, ...);

#endif

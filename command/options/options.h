/* The command line of `heddle`, parsed. Commands are rows of commands.def, options of options.def;
 * options_table.h has the tables. Strings point into argv. */
#ifndef HEDDLE_COMMAND_OPTIONS_OPTIONS_H
#define HEDDLE_COMMAND_OPTIONS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "runtime/session/exit_status.h"

enum options_command {
#define COMMAND(NAME, word, function, toolkit, arguments, least, most, words, summary, text)       \
    COMMAND_##NAME,
#include "command/commands.def"
#undef COMMAND
    COMMAND_COUNT
};

struct options_list {
    const char **items; /* room for all of argv */
    size_t count;
};

/* The field of an option, by its type. */
#define OPTION_FIELD_FLAG         bool
#define OPTION_FIELD_NUMBER       uint64_t
#define OPTION_FIELD_TEXT         const char *
#define OPTION_FIELD_WORD         const char *
#define OPTION_FIELD_MAYBE        const char *
#define OPTION_FIELD_READ         const char *
#define OPTION_FIELD_READ_ANY     const char *
#define OPTION_FIELD_WRITE        const char *
#define OPTION_FIELD_WRITE_WHOLE  const char *
#define OPTION_FIELD_WRITE_INTO   const char *
#define OPTION_FIELD_WRITE_NEW    const char *
#define OPTION_FIELD_LIST         struct options_list
#define OPTION_FIELD_READ_LIST    struct options_list
#define OPTION_FIELD_READ_FOLDERS struct options_list

#define OPTIONS_FINE (-1) /* no exit status */

struct options {
    enum options_command command;
    struct options_list arguments; /* files, codes, names */
    char **program;                /* behind `--`, NULL-terminated; NULL: none */
#define OPTION(field, name, argument, type, purpose, commands, handed, help)                       \
    OPTION_FIELD_##type field;
#define AGAIN(field, name, argument, type, purpose, commands, handed, help)
#include "options.def"
#undef OPTION
#undef AGAIN
};

/* The command of that name. COMMAND_COUNT: there is none, which was said on stderr. */
enum options_command options_find_command(const char *word);

/* Fills `options`. An exit status, if help was printed or a mistake was said on stderr;
 * OPTIONS_FINE: the command can run. */
int options_parse(struct options *options, int argc, char **argv);
void options_release(struct options *options);

/* "check": for messages. */
const char *options_command_name(enum options_command command);

/* The text of --help for one command, or of all (COMMAND_COUNT). */
void options_print_help(FILE *out, enum options_command command);
/* build/docs/reference/cli.md, and the man page heddle.1. */
void options_print_markdown(FILE *out);
void options_print_man(FILE *out);

#endif

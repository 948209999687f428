/* The commands of `heddle`. Each gets parsed options and returns an exit status; messages are
 * already printed then. */
#ifndef HEDDLE_CODEGEN_COMMAND_H
#define HEDDLE_CODEGEN_COMMAND_H

#include <stdbool.h>
#include <stdio.h>

#include "codegen/command/options.h"
#include "codegen/build/toolkit.h"
#include "dsl/arena.h"
#include "dsl/compile.h"

struct command {
    struct arena *arena;
    const struct options *options;
    char **words;           /* of the command line behind the command's name; NULL-terminated */
    struct toolkit toolkit; /* found, for the commands that need it */
};

#define COMMAND(NAME, word, function, toolkit, arguments, least, most, words, summary, text)       \
    int function(struct command *c);
#include "codegen/command/commands.def"
#undef COMMAND

/* A compilation with the options' overrides and include paths and the toolkit's library. */
struct compilation *command_open(const struct command *c);
bool command_wants_colour(void);
/* Diagnostics on standard error, in colour on a terminal. */
void command_print_diagnostics(const struct compilation *compilation);
/* The model of a platform, or NULL after its diagnostics were printed. Warnings are printed, too.
 */
const struct model *command_platform(const struct command *c, struct compilation *compilation,
                                     const char *file);

/* Checks a trace of API calls and --module's kernels; mistakes are printed. */
bool command_api_trace_check(struct command *c, const char *path);

/* Output that appears whole or not at all: written to memory, then by command_output_close() to
 * --output or standard output. `ok` false discards it. Returns an exit status. */
struct command_output {
    FILE *file;
    char *text;
    size_t size;
};
bool command_output_open(struct command_output *output);
int command_output_close(struct command_output *output, const char *path, bool ok);

/* A new, empty file in TMPDIR, or in /tmp, for what a command passes to its own runs; the caller
 * removes it. NULL: said on standard error. */
const char *command_temporary(const struct command *c);

#endif

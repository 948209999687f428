/* The commands of `heddle`. Each gets parsed options and returns an exit status; messages are
 * already printed then. */
#ifndef HEDDLE_COMMAND_COMMAND_H
#define HEDDLE_COMMAND_COMMAND_H

#include <stdbool.h>
#include <stdio.h>

#include "base/region.h"
#include "codegen/build/toolkit.h"
#include "command/options/options.h"
#include "dsl/compile.h"

struct command {
    struct region *region;
    const struct options *options;
    char **words;           /* the command line after the command's name; NULL-terminated */
    struct toolkit toolkit; /* found, for the commands that need it */
};

#define COMMAND(NAME, word, function, toolkit, arguments, least, most, words, summary, text)       \
    int function(struct command *c);
#include "commands.def"
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

/* True if the files that a command line names can be what the options say, found out before
 * anything is read, built or simulated. False: what is wrong was said on stderr. `heddle run`
 * checks its program itself. */
bool command_files_check(const struct options *options);
/* One file, whether it is there already or would be made. Pipes and devices are never the same. */
bool command_files_are_same(const char *a, const char *b);

/* Says what a placement of --ranks comes to, and writes it to -o. An exit status. */
int command_place_check(const struct command *c, const char *file, const struct model *model);
/* The rank of each partition of the platform that is run, "0,0,1,1", by --place or the best that is
 * found; NULL: it was said why. */
const char *command_place_run(const struct command *c, unsigned ranks);

/* Prints the script that makes bash complete the command line, from the table of options; it asks
 * `heddle params --paths` for the paths of --set. */
void completion_print(FILE *out);

#endif

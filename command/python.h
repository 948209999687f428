/* Commands that are written in Python (python/heddle): the options are checked as of any command,
 * then this process becomes the interpreter. The interpreter is Debian's own, which has Debian's
 * numpy and scipy; HEDDLE_PYTHON names another one. */
#ifndef HEDDLE_COMMAND_PYTHON_H
#define HEDDLE_COMMAND_PYTHON_H

#include <jansson.h>
#include <sys/types.h>

#include "command.h"

/* `python3 -m heddle COMMAND` with the paths of this toolkit and all options of the command, as
 * words that python/heddle/base/command_line.py reads. Returns only when Python cannot be started,
 * with an exit status; the reason was said on standard error. */
int command_python(struct command *c);

/* A child process with Python, with these files as its standard input and output; `what` is the
 * table or page that `heddle run` wants of it (python/heddle/run.py). */
struct python_child {
    const char *what, *file, *built, *about; /* NULL: nothing */
    int in, out;
};
/* False: said on standard error. */
bool python_start(struct command *c, const struct python_child *child, pid_t *pid);
/* Waits; its exit status. */
int python_end(pid_t pid);

/* Prints what the file `path` says at the end of a run on standard error. `built` is the platform
 * that ran. `about` is what the table is about, or a series of the run; it may be NULL. Returns an
 * exit status. */
int python_print(struct command *c, const char *what, const char *path, const char *built,
                 const char *about);

/* The JSON that this command in Python prints; the caller releases it. NULL: said on standard
 * error. */
json_t *python_ask(struct command *c);

#endif

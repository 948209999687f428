/* Commands that are written in Python (python/heddle): the options are checked as of any command,
 * then this process becomes the interpreter. It is Debian's own, because that is the one that has
 * Debian's numpy and scipy; HEDDLE_PYTHON names another. */
#ifndef HEDDLE_CODEGEN_PYTHON_H
#define HEDDLE_CODEGEN_PYTHON_H

#include <stdint.h>

#include "codegen/command/command.h"

struct python_words {
    struct arena *arena;
    VECTOR(const char *) list;
};

void python_add(struct python_words *w, const char *word);
/* --option=value; nothing when there is no value, or it is 0. */
void python_add_option(struct python_words *w, const char *option, const char *value);
void python_add_number(struct python_words *w, const char *option, uint64_t value);
void python_add_list(struct python_words *w, const char *option, const struct options_list *values);

/* `python3 -m heddle COMMAND --heddle=SELF WORDS...`. Returns only when that cannot be started,
 * with an exit status; the reason was said on standard error. */
int python_start(struct command *c, const struct python_words *words);

#endif

/* "did you mean": the nearest candidate in spelling. The public form is compile_suggest() in
 * compile.h; here is the incremental one, for candidates that are not in one array. */
#ifndef HEDDLE_DSL_SUGGEST_H
#define HEDDLE_DSL_SUGGEST_H

#include <stdint.h>

#include "compile.h"

struct suggestion {
    const char *word;
    const char *best; /* NULL while none is near enough */
    uint32_t distance;
};

struct suggestion suggestion_for(const char *word);
void suggestion_try(struct suggestion *suggestion, const char *candidate);

#endif

/* Declarations as a line or two of heddle, for completions and hovers. */
#ifndef HEDDLE_DSL_SERVICE_DESCRIBE_H
#define HEDDLE_DSL_SERVICE_DESCRIBE_H

#include "names.h"

/* "cycles = 4cy in 1cy .. 100cy": the part after the name. */
const char *describe_detail(struct region *region, const struct program *program,
                            const struct ast_item *item);
/* "param latency : cycles = 4cy in 1cy .. 100cy". */
const char *describe_code(struct region *region, const struct program *program,
                          const struct ast_item *item);
/* The comment of an item; for an instance without a comment, the comment of its type. */
const char *describe_doc(const struct program *program, const struct ast_item *item);

#endif

/* From a declaration's tree to its entry in the program's tables; called by imports.c. */
#ifndef HEDDLE_DSL_ELABORATE_DECLARE_H
#define HEDDLE_DSL_ELABORATE_DECLARE_H

#include "imports.h"

void declare_item(struct program *program, const struct ast_file *file,
                  const struct ast_item *item);
/* Finishes what refers to other declarations (interfaces, enums, dimensions), when everything is
 * declared. */
void declare_finish(struct program *program);
/* The type of a parameter. False after a diagnostic. */
bool declare_type(struct program *program, const struct ast_type *type,
                  enum model_dimension *dimension, const struct model_enum **choice);

/* Says which names would clash in the C that is made of the declarations, which have no mistakes.
 */
void declare_names(struct program *program);

#endif

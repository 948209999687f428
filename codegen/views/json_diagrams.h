/* The diagrams of a platform as JSON, for pages. Used by json.c. */
#ifndef HEDDLE_CODEGEN_VIEWS_JSON_DIAGRAMS_H
#define HEDDLE_CODEGEN_VIEWS_JSON_DIAGRAMS_H

#include <jansson.h>

#include "view.h"

/* The picture of `heddle dot --svg`. NULL: there is none, and `error` says why. */
json_t *json_svg(const struct model *model, struct view_error *error);
/* By the word of a kind, its colour and that of text on it. */
json_t *json_kinds(void);
/* The platform with what is inside, equal instances as one, and the picture of each composite.
 * NULL: there is none, and `error` says why. */
json_t *json_tree(const struct model *model, struct view_error *error);

#endif

/* The declarations of a platform as JSON, in order of the model's lists. Used by json.c. */
#ifndef HEDDLE_CODEGEN_VIEWS_JSON_TYPES_H
#define HEDDLE_CODEGEN_VIEWS_JSON_TYPES_H

#include <jansson.h>
#include <stdbool.h>

#include "dsl/model.h"

/* {"file", "line", "column"}, or null. */
json_t *json_place(const struct model_place *place);

/* Types of the instances and parts; with `unused`, the other types in scope, too. `brief`: names
 * and kinds without declarations. */
json_t *json_types(const struct model *m, bool unused, bool brief);
json_t *json_protocols(const struct model *m);
json_t *json_links(const struct model *m);
json_t *json_interfaces(const struct model *m);
json_t *json_choices(const struct model_enum *choice); /* an empty list for NULL */
json_t *json_enums(const struct model *m);             /* those that have a name */

#endif

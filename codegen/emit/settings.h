/* Every setting of a platform as a JSON object, for the stamp of statistics: clocks, links, the
 * parameters of the platform, composites, components and parts, and what fills slots. Values
 * are texts as a description has them. */
#ifndef HEDDLE_CODEGEN_SETTINGS_H
#define HEDDLE_CODEGEN_SETTINGS_H

#include "dsl/arena.h"
#include "dsl/model.h"

const char *settings_text(struct arena *arena, const struct model *model);

#endif

/* Every setting of a platform as a JSON object, for the stamp of statistics: clocks, links, the
 * parameters of the platform, composites, components and parts, and what fills slots. Values
 * are texts as a description has them. */
#ifndef HEDDLE_CODEGEN_EMIT_SETTINGS_H
#define HEDDLE_CODEGEN_EMIT_SETTINGS_H

#include "base/region.h"
#include "dsl/model.h"

const char *settings_text(struct region *region, const struct model *model);

#endif

/* Which units a platform needs. Used by layout.c only. */
#ifndef HEDDLE_CODEGEN_LAYOUT_UNITS_H
#define HEDDLE_CODEGEN_LAYOUT_UNITS_H

#include "codegen/emit/layout.h"

/* For each leaf, the number of its specialised unit in order of first appearance, and the count of
 * these. The units the build compiles go to layout->units; `compiled` maps specialised numbers to
 * them. */
struct layout_assignment {
    uint32_t *unit_of_leaf;
    uint32_t count;
    uint32_t *compiled;
};

struct layout_assignment layout_assign_units(struct layout *layout);

#endif

/* Parts: passive C behaviour without a clock, called by the component or part that owns it.
 *
 * `struct part` is the first member of the generated `struct NAME_io` of a part, which is the first
 * member of the author's `struct NAME`. A slot hands out `struct part *` and the ops table of its
 * interface; the functions of an interface take `struct part *self` first and cast it to their own
 * struct. */
#ifndef HEDDLE_RUNTIME_ENGINE_PART_H
#define HEDDLE_RUNTIME_ENGINE_PART_H

#include <stdint.h>

struct part {
    _Alignas(16) uint32_t number; /* index in platform_table.parts */
    uint32_t params;              /* first word in engine_base.params */
    uint32_t kind;                /* which part type of the unit: index in unit_type.parts */
    uint32_t owner;               /* arena offset of the owning instance (component or part) */
};
_Static_assert(sizeof(struct part) == 16, "the binding words of a part follow its header");

#endif

/* The unit that executes an instruction of PTX, and the memory that it touches, by its name in a
 * trace. The table is ptx_units.def. */
#ifndef HEDDLE_COMPONENTS_TRACES_INSTRUCTION_TRACE_NVIDIA_PTX_UNITS_H
#define HEDDLE_COMPONENTS_TRACES_INSTRUCTION_TRACE_NVIDIA_PTX_UNITS_H

#include <stdbool.h>

#include "opcode_classes.h"

/* PTX is in small letters, SASS in capital ones. */
static inline bool ptx_name_is_ptx(const char *name)
{
    return name[0] >= 'a' && name[0] <= 'z';
}

/* `name`: with all modifiers. False: unknown; *opcode is the default. */
bool ptx_opcode_find(const char *name, struct sass_opcode *opcode);

/* True for a barrier of the block's warps. */
bool ptx_name_is_barrier(const char *name);

/* True if it waits or arrives at a barrier in shared memory (mbarrier). */
bool ptx_name_is_at_mbarrier(const char *name);

/* True for a load of data that the whole GPU shares, which does not look into the L1: volatile and
 * strong operations beyond the block, and the cache operators .cg and .cv (PTX ISA, cache
 * operators)? */
bool ptx_name_bypasses(const char *name);

#endif

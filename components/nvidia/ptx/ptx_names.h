#ifndef HEDDLE_COMPONENTS_NVIDIA_PTX_PTX_NAMES_H
#define HEDDLE_COMPONENTS_NVIDIA_PTX_PTX_NAMES_H

/* The names of PTX as enumerations, made of the tables beside this file: opcodes (PTX_OP_ADD),
 * types (PTX_F32), modifiers (PTX_MOD_RN) with their groups, and special registers
 * (PTX_SPECIAL_TID_X). */

enum ptx_opcode {
#define OPCODE(name, text) PTX_OP_##name,
#define FORM(modifiers, operands)
#include "ptx_opcodes.def"
#undef OPCODE
#undef FORM
    PTX_OPCODE_COUNT
};

enum ptx_type {
    PTX_TYPE_NONE,
#define TYPE(name, text, bits, class) PTX_##name,
#include "ptx_types.def"
#undef TYPE
    PTX_TYPE_COUNT
};

/* Groups of modifiers, a bit each. A modifier may be in several: .lo is a half and a comparison. */
enum ptx_group {
    PTX_GROUP_NONE = 0,
    PTX_GROUP_ROUND = 1u << 0,
    PTX_GROUP_COMPARE = 1u << 1,
    PTX_GROUP_OPERATION = 1u << 2, /* .and .or .xor .add .min .cas ...: of set, atom, red, redux */
    PTX_GROUP_SPACE = 1u << 3,
    PTX_GROUP_CACHE = 1u << 4, /* .ca .cg .cs .lu .cv .wb .wt .nc */
    PTX_GROUP_SCOPE = 1u << 5,
    PTX_GROUP_ORDER = 1u << 6, /* .relaxed .acquire .release .acq_rel .sc .weak .volatile */
    PTX_GROUP_VECTOR = 1u << 7,
    PTX_GROUP_HALF = 1u << 8,     /* .hi .lo .wide */
    PTX_GROUP_SHUFFLE = 1u << 9,  /* .up .down .bfly .idx */
    PTX_GROUP_SHAPE = 1u << 10,   /* .m16n8k16 ... */
    PTX_GROUP_LAYOUT = 1u << 11,  /* .row .col */
    PTX_GROUP_PRMT = 1u << 12,    /* .f4e .b4e .rc8 .ecl .ecr .rc16 */
    PTX_GROUP_TEST = 1u << 13,    /* testp: .finite .infinite ... */
    PTX_GROUP_VOTE = 1u << 14,    /* .all .any .uni .ballot */
    PTX_GROUP_HINT = 1u << 15,    /* eviction priorities, prefetch sizes, cache hints */
    PTX_GROUP_GEOMETRY = 1u << 16 /* .1d .2d .3d .a1d .a2d .cube .acube .2dms .a2dms */
};

enum ptx_modifier {
    PTX_MODIFIER_NONE,
#define MODIFIER(name, text, groups) PTX_MOD_##name,
#include "ptx_modifiers.def"
#undef MODIFIER
    PTX_MODIFIER_COUNT
};

enum ptx_special {
#define SPECIAL(name, text, type) PTX_SPECIAL_##name,
#include "ptx_specials.def"
#undef SPECIAL
    PTX_SPECIAL_COUNT
};

#endif

#ifndef HEDDLE_COMPONENTS_NVIDIA_PTX_PTX_FORMS_H
#define HEDDLE_COMPONENTS_NVIDIA_PTX_PTX_FORMS_H

/* A dotted name ("ld.global.v2.f32") and the forms of ptx_opcodes.def that it can be. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptx_names.h"

enum { PTX_COMPONENTS_MAX = 20, PTX_OPERAND_FORMS_MAX = 8, PTX_MESSAGE_BYTES = 512 };

/* A dotted name as matched: its parts, and the operands of each form that fits. */
struct ptx_form {
    enum ptx_opcode opcode;
    uint8_t type_count;
    uint8_t modifier_count;
    uint8_t types[5];
    uint16_t modifiers[14];
    uint8_t operand_form_count;
    const char *operand_forms[PTX_OPERAND_FORMS_MAX];
};

/* Finds the forms of a name. False: there are none; `message` has the reason. */
bool ptx_form_find(const char *name, struct ptx_form *form, char message[PTX_MESSAGE_BYTES]);

/* Every form, in the order of the table; returns false after the last. For tests. */
bool ptx_form_at(uint32_t index, enum ptx_opcode *opcode, const char **modifiers,
                 const char **operands);

/* The choices of a class, "(.rn|.rz|.rm|.rp)", by its name of `length` bytes; NULL if none. */
const char *ptx_form_class(const char *name, size_t length);

/* The nearest in spelling of many candidates: word and best are set by ptx_nearest_begin(). */
struct ptx_nearest {
    const char *word;
    const char *best;
    uint32_t distance;
};

struct ptx_nearest ptx_nearest_begin(const char *word);
void ptx_nearest_try(struct ptx_nearest *nearest, const char *candidate);

/* Writes "; did you mean 'NAME'?", with a dot before the name of a directive or modifier, and
 * returns `hint`. The hint is empty without a name. */
const char *ptx_hint(char hint[PTX_MESSAGE_BYTES], bool has_dot, const char *name);

#endif

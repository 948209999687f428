/* Names, sizes and look-ups of a module's tree: the small questions of ptx.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ptx.h"

static const char *const OPCODE_NAMES[] = {
#define OPCODE(name, text) text,
#define FORM(modifiers, operands)
#include "ptx_opcodes.def"
#undef OPCODE
#undef FORM
};

static const struct {
    const char *text;
    uint8_t bits;
    char class;
} TYPES[] = {
    {"", 0, 0},
#define TYPE(name, text, bits, class) {text, bits, class},
#include "ptx_types.def"
#undef TYPE
};

static const struct {
    const char *text;
    uint32_t groups;
} MODIFIERS[] = {
    {"", 0},
#define MODIFIER(name, text, groups) {text, groups},
#include "ptx_modifiers.def"
#undef MODIFIER
};

const char *ptx_opcode_name(enum ptx_opcode opcode)
{
    return OPCODE_NAMES[opcode];
}

const char *ptx_modifier_name(enum ptx_modifier modifier)
{
    return MODIFIERS[modifier].text;
}

const char *ptx_type_name(enum ptx_type type)
{
    return TYPES[type].text;
}

uint32_t ptx_type_bits(enum ptx_type type)
{
    return TYPES[type].bits;
}

bool ptx_type_is_float(enum ptx_type type)
{
    return TYPES[type].class == 'F';
}

bool ptx_type_is_signed(enum ptx_type type)
{
    return TYPES[type].class == 'S';
}

bool ptx_has(const struct ptx_instruction *instruction, enum ptx_modifier modifier)
{
    for (uint32_t i = 0; i < instruction->modifier_count; i++)
        if (instruction->modifiers[i] == modifier)
            return true;
    return false;
}

enum ptx_modifier ptx_one_of(const struct ptx_instruction *instruction, uint32_t group)
{
    for (uint32_t i = 0; i < instruction->modifier_count; i++)
        if (MODIFIERS[instruction->modifiers[i]].groups & group)
            return (enum ptx_modifier)instruction->modifiers[i];
    return PTX_MODIFIER_NONE;
}

enum ptx_space ptx_space_of(const struct ptx_instruction *instruction)
{
    switch (ptx_one_of(instruction, PTX_GROUP_SPACE)) {
    case PTX_MOD_CONST:
        return PTX_SPACE_CONST;
    case PTX_MOD_GLOBAL:
        return PTX_SPACE_GLOBAL;
    case PTX_MOD_LOCAL:
        return PTX_SPACE_LOCAL;
    case PTX_MOD_PARAM:
    case PTX_MOD_PARAM_ENTRY:
    case PTX_MOD_PARAM_FUNC:
        return PTX_SPACE_PARAM;
    case PTX_MOD_SHARED:
    case PTX_MOD_SHARED_CTA:
    case PTX_MOD_SHARED_CLUSTER:
        return PTX_SPACE_SHARED;
    default:
        return PTX_SPACE_GENERIC;
    }
}

uint32_t ptx_vector_width(const struct ptx_instruction *instruction)
{
    switch (ptx_one_of(instruction, PTX_GROUP_VECTOR)) {
    case PTX_MOD_V2:
        return 2;
    case PTX_MOD_V4:
        return 4;
    case PTX_MOD_V8:
        return 8;
    default:
        return 1;
    }
}

/* A float as half or bfloat, rounded to nearest even. */
static uint64_t narrow(float value, uint32_t exponent_bits, uint32_t mantissa_bits)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint64_t sign = (uint64_t)(bits >> 31) << (exponent_bits + mantissa_bits);
    uint32_t magnitude = bits & 0x7fffffff;
    uint64_t infinity = ((UINT64_C(1) << exponent_bits) - 1) << mantissa_bits;
    if (magnitude > 0x7f800000)
        return sign | infinity | UINT64_C(1) << (mantissa_bits - 1);
    int exponent = (int)(magnitude >> 23) - 127 + (1 << (exponent_bits - 1)) - 1;
    uint32_t mantissa = magnitude & 0x7fffff;
    uint32_t drop = 23 - mantissa_bits;
    if (exponent >= (1 << exponent_bits) - 1)
        return sign | infinity;
    if (exponent <= 0 && exponent_bits < 8) { /* denormal in the narrow format */
        if (exponent < -(int)mantissa_bits)
            return sign;
        mantissa |= 0x800000;
        drop += (uint32_t)(1 - exponent);
        exponent = 0;
    }
    uint64_t kept = (uint64_t)exponent << mantissa_bits;
    kept += mantissa >> drop;
    uint32_t rest = mantissa & ((1u << drop) - 1), half = 1u << (drop - 1);
    if (rest > half || (rest == half && (kept & 1)))
        kept++;
    return sign | kept;
}

uint64_t ptx_constant(const struct ptx_operand *operand, enum ptx_type type)
{
    uint32_t width = ptx_type_bits(type);
    uint64_t mask = width >= 64 || !width ? UINT64_MAX : (UINT64_C(1) << width) - 1;
    if (operand->kind == PTX_OPERAND_INTEGER)
        return operand->bits & mask;
    double value;
    float single;
    uint32_t low = (uint32_t)operand->bits;
    if (operand->kind == PTX_OPERAND_F32) {
        if (!ptx_type_is_float(type) || width == 32)
            return low & mask;
        memcpy(&single, &low, sizeof single);
        value = (double)single;
    } else {
        if (!ptx_type_is_float(type) || type == PTX_F64)
            return operand->bits & mask;
        memcpy(&value, &operand->bits, sizeof value);
        single = (float)value;
    }
    uint64_t bits = 0;
    if (type == PTX_F16)
        return narrow(single, 5, 10);
    if (type == PTX_BF16)
        return narrow(single, 8, 7);
    if (type == PTX_F64)
        memcpy(&bits, &value, sizeof value);
    else
        memcpy(&bits, &single, sizeof single);
    return bits;
}

struct ptx_function *ptx_find_function(const struct ptx_module *module, const char *name)
{
    for (uint32_t i = 0; i < module->function_count; i++)
        if (strcmp(module->functions[i].name, name) == 0)
            return &module->functions[i];
    return NULL;
}

struct ptx_variable *ptx_find_variable(const struct ptx_module *module, const char *name)
{
    for (uint32_t i = 0; i < module->variable_count; i++)
        if (strcmp(module->variables[i].name, name) == 0)
            return &module->variables[i];
    return NULL;
}

const struct ptx_function *ptx_function_of(const struct ptx_module *module, uint32_t number)
{
    for (uint32_t i = 0; i < module->function_count; i++) {
        const struct ptx_function *function = &module->functions[i];
        if (number - function->first_instruction < function->instruction_count)
            return function;
    }
    return NULL;
}

char *ptx_instruction_name(const struct ptx_instruction *instruction, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "%s", OPCODE_NAMES[instruction->opcode]);
    for (uint32_t i = 0; i < instruction->modifier_count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, ".%s",
                                 MODIFIERS[instruction->modifiers[i]].text);
    for (uint32_t i = 0; i < instruction->type_count && used < size; i++)
        used +=
            (size_t)snprintf(text + used, size - used, ".%s", TYPES[instruction->types[i]].text);
    return text;
}

/* NULL: there is none. */
static const char *file_of(const struct ptx_module *module, const struct ptx_instruction *i)
{
    return i->line && i->file < module->file_count ? module->files[i->file] : NULL;
}

/* A header of the toolchain's, or of ours. */
static bool is_foreign(const char *file)
{
    return strncmp(file, "/usr/", 5) == 0 || strncmp(file, "/opt/", 5) == 0
           || strstr(file, "/components/cuda/include/");
}

/* The last instruction from there back that has a line of the program's own source; if there is
 * none, `i` itself. Code inlined from a header has the header's lines, and follows the code in
 * which its caller computes its arguments. */
static const struct ptx_instruction *own_line(const struct ptx_module *module,
                                              const struct ptx_instruction *i)
{
    const struct ptx_instruction *first = i, *own = i;
    for (uint32_t f = 0; f < module->function_count; f++) {
        const struct ptx_instruction *start = module->functions[f].instructions;
        if (start && i >= start && i < start + module->functions[f].instruction_count)
            first = start;
    }
    while (own > first && (!file_of(module, own) || is_foreign(file_of(module, own))))
        own--;
    const char *file = file_of(module, own);
    return file && !is_foreign(file) ? own : i;
}

char *ptx_place(const struct ptx_module *module, const struct ptx_instruction *instruction,
                char *text, size_t size)
{
    const struct ptx_instruction *source =
        file_of(module, instruction) ? own_line(module, instruction) : instruction;
    const char *file = file_of(module, source);
    if (file)
        snprintf(text, size, "%s:%" PRIu32, file, source->line);
    else
        snprintf(text, size, "%s:%" PRIu32, module->name, instruction->ptx_line);
    return text;
}

/* Operands against the forms of their instruction. The notation is that of ptx_opcodes.def. A form
 * is a list of expectations; the first operand that fits none of the forms is reported with what
 * the form that came furthest wants. */
#include <stdio.h>
#include <string.h>

#include "ptx_build.h"

/* One operand of a form. */
struct expectation {
    char kind; /* the notation's letter; '[' for [], '{' for {} */
    bool pair; /* d| or p| */
    bool wider;
    bool optional;
    enum ptx_type type; /* PTX_TYPE_NONE: unchecked */
};

struct check {
    struct ptx_parser *parser;
    const struct ptx_form *form;
    const char *name;
    uint32_t width; /* .v2, .v4, .v8 */
    char reason[PTX_MESSAGE_BYTES];
};

static enum ptx_type doubled(enum ptx_type type)
{
    switch (type) {
    case PTX_U16:
        return PTX_U32;
    case PTX_S16:
        return PTX_S32;
    case PTX_U32:
        return PTX_U64;
    case PTX_S32:
        return PTX_S64;
    default:
        return type;
    }
}

static enum ptx_type named_type(const char *text, size_t length)
{
    for (int i = 1; i < PTX_TYPE_COUNT; i++) {
        const char *name = ptx_type_name((enum ptx_type)i);
        if (strncmp(name, text, length) == 0 && !name[length])
            return (enum ptx_type)i;
    }
    return PTX_TYPE_NONE;
}

/* Reads one expectation; returns what follows it. */
static const char *read_expectation(const char *at, const struct ptx_form *form,
                                    struct expectation *to)
{
    *to = (struct expectation){.kind = *at++};
    to->type = form->type_count ? (enum ptx_type)form->types[0] : PTX_TYPE_NONE;
    if (to->kind == '[' || to->kind == '{')
        at++;
    if (*at == ':') {
        at++;
        size_t length = strcspn(at, ",+?|");
        if (*at >= '0' && *at <= '9')
            to->type = (enum ptx_type)form->types[*at - '0'];
        else if (*at == 'w')
            to->type = doubled(to->type);
        else
            to->type = named_type(at, length); /* none for "*" */
        at += length;
    }
    for (; *at == '|' || *at == '+' || *at == '?'; at++) {
        to->pair |= *at == '|';
        to->wider |= *at == '+';
        to->optional |= *at == '?';
    }
    return *at == ',' ? at + 1 : at;
}

static char class_of(enum ptx_type type)
{
    if (ptx_type_is_float(type))
        return 'F';
    if (type >= PTX_B8 && type <= PTX_B128)
        return 'B';
    return type == PTX_PRED ? 'P' : 'I';
}

static bool type_fits(enum ptx_type have, enum ptx_type want, bool wider)
{
    if (want == PTX_TYPE_NONE)
        return have != PTX_PRED;
    uint32_t have_bits = ptx_type_bits(have), want_bits = ptx_type_bits(want);
    char have_class = class_of(have), want_class = class_of(want);
    if (have_class == 'P' || want_class == 'P')
        return have_class == want_class;
    if (wider ? have_bits < want_bits : have_bits != want_bits)
        return false;
    if (have_class == 'B' || want_class == 'B' || have_class == want_class)
        return true;
    /* Formats without registers of their own are kept in integers of their size. */
    return want_class == 'F' && want != PTX_F32 && want != PTX_F64;
}

static bool register_fits(struct check *check, const struct ptx_operand *operand,
                          const struct expectation *want)
{
    const struct ptx_register *found = &check->parser->function->registers[operand->index];
    enum ptx_type have = (enum ptx_type)found->type;
    if (type_fits(have, want->type, want->wider))
        return true;
    if (want->type == PTX_TYPE_NONE)
        snprintf(check->reason, sizeof check->reason, "register '%.60s' is a predicate",
                 found->name);
    else
        snprintf(check->reason, sizeof check->reason, "register '%.60s' is .%s where .%s is needed",
                 found->name, ptx_type_name(have), ptx_type_name(want->type));
    return false;
}

static bool refuse_operand(struct check *check, const char *wanted)
{
    snprintf(check->reason, sizeof check->reason, "%s is needed", wanted);
    return false;
}

static bool constant_fits(struct check *check, const struct ptx_operand *operand,
                          const struct expectation *want)
{
    char class = want->type == PTX_TYPE_NONE ? 'B' : class_of(want->type);
    bool whole = operand->kind == PTX_OPERAND_INTEGER;
    if (class == 'F' && whole && (want->type == PTX_F32 || want->type == PTX_F64))
        return refuse_operand(check, "a constant such as 1.0 or 0f3F800000");
    if (class == 'I' && !whole)
        return refuse_operand(check, "a whole number");
    if (class == 'P')
        return refuse_operand(check, "a predicate register");
    return true;
}

static bool is_constant(const struct ptx_operand *operand)
{
    return operand->kind == PTX_OPERAND_INTEGER || operand->kind == PTX_OPERAND_F32
           || operand->kind == PTX_OPERAND_F64;
}

static bool source_fits(struct check *check, const struct ptx_operand *operand,
                        const struct expectation *want)
{
    if (operand->negated && operand->kind == PTX_OPERAND_REGISTER && want->kind != 's')
        return refuse_operand(check, "a register without '!' or '-'");
    if (operand->kind == PTX_OPERAND_REGISTER)
        return register_fits(check, operand, want);
    if (is_constant(operand) && want->kind != 'r')
        return constant_fits(check, operand, want);
    if (operand->kind == PTX_OPERAND_SPECIAL) {
        if (check->form->opcode == PTX_OP_CVT)
            return true;
        return refuse_operand(check, "a register (move the special register into one first)");
    }
    if (operand->kind == PTX_OPERAND_SYMBOL)
        return refuse_operand(check, "a register (move the variable's address into one first)");
    return refuse_operand(check, want->kind == 'r' ? "a register" : "a register or a constant");
}

static bool destination_fits(struct check *check, const struct ptx_operand *operand,
                             const struct expectation *want)
{
    struct expectation half = *want;
    if (operand->kind == PTX_OPERAND_SINK)
        return true;
    if (operand->kind == PTX_OPERAND_PAIR) {
        if (!want->pair)
            return refuse_operand(check, "one destination");
        half.pair = false;
        struct expectation second = {.kind = 'p', .type = PTX_PRED};
        return destination_fits(check, &operand->elements[0], &half)
               && destination_fits(check, &operand->elements[1], &second);
    }
    if (operand->kind != PTX_OPERAND_REGISTER || operand->negated)
        return refuse_operand(check, want->kind == 'p' ? "a predicate register" : "a register");
    if (want->kind == 'p')
        half.type = PTX_PRED;
    return register_fits(check, operand, &half);
}

/* A vector's elements: registers, constants (of sources), or sinks. */
static bool elements_fit(struct check *check, const struct ptx_operand *operand,
                         const struct expectation *want)
{
    for (uint32_t i = 0; i < operand->element_count; i++) {
        const struct ptx_operand *element = &operand->elements[i];
        if (element->kind == PTX_OPERAND_SINK)
            continue;
        if (is_constant(element) && constant_fits(check, element, want))
            continue;
        if (element->kind != PTX_OPERAND_REGISTER || element->negated)
            return refuse_operand(check, "a register in the braces");
        if (!register_fits(check, element, want))
            return false;
    }
    return true;
}

static bool vector_fits(struct check *check, const struct ptx_operand *operand,
                        const struct expectation *want)
{
    if (check->width == 1 && operand->kind != PTX_OPERAND_VECTOR)
        return operand->kind == PTX_OPERAND_SINK || source_fits(check, operand, want);
    if (operand->kind != PTX_OPERAND_VECTOR || operand->element_count != check->width) {
        char wanted[60];
        snprintf(wanted, sizeof wanted, "a vector of %u registers in braces", check->width);
        return refuse_operand(check, wanted);
    }
    return elements_fit(check, operand, want);
}

/* Elements of a vector that mov packs or unpacks fill its type together. */
static bool packed_fits(struct check *check, const struct ptx_operand *operand,
                        const struct expectation *want)
{
    uint32_t count = operand->element_count;
    uint32_t bits = count ? ptx_type_bits(want->type) / count : 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct ptx_operand *element = &operand->elements[i];
        if (element->kind == PTX_OPERAND_SINK || is_constant(element))
            continue;
        if (element->kind != PTX_OPERAND_REGISTER)
            return refuse_operand(check, "a register in the braces");
        enum ptx_type have = (enum ptx_type)check->parser->function->registers[element->index].type;
        if (have == PTX_PRED || ptx_type_bits(have) != bits) {
            char wanted[80];
            snprintf(wanted, sizeof wanted, "a vector whose registers have %u bits together",
                     ptx_type_bits(want->type));
            return refuse_operand(check, wanted);
        }
    }
    return true;
}

static bool moved_fits(struct check *check, const struct ptx_operand *operand,
                       const struct expectation *want)
{
    switch (operand->kind) {
    case PTX_OPERAND_VECTOR:
        return packed_fits(check, operand, want);
    case PTX_OPERAND_SPECIAL:
    case PTX_OPERAND_SINK:
        return true;
    case PTX_OPERAND_SYMBOL: {
        uint32_t bits = ptx_type_bits(want->type);
        if (want->type == PTX_TYPE_NONE || bits == 32 || bits == 64)
            return true;
        return refuse_operand(check, "a type of 32 or 64 bits for an address");
    }
    case PTX_OPERAND_ADDRESS:
        if (operand->base != PTX_BASE_REGISTER || want->type == PTX_TYPE_NONE)
            return true;
        return refuse_operand(check, "a register without an offset");
    default:
        return source_fits(check, operand, want);
    }
}

/* The space in which an address can lie; PTX_SPACE_GENERIC if that is only known when the kernel
 * runs. */
static enum ptx_space space_of_base(const struct ptx_parser *parser,
                                    const struct ptx_operand *operand)
{
    const struct ptx_function *function = parser->function;
    switch (operand->base) {
    case PTX_BASE_VARIABLE:
        return (enum ptx_space)parser->module->variables[operand->index].space;
    case PTX_BASE_LOCAL:
        return (enum ptx_space)function->variables[operand->index].space;
    case PTX_BASE_PARAM:
    case PTX_BASE_RESULT:
        return PTX_SPACE_PARAM;
    default:
        return PTX_SPACE_GENERIC;
    }
}

static const char *variable_name(const struct ptx_parser *parser, const struct ptx_operand *operand)
{
    const struct ptx_function *function = parser->function;
    switch (operand->base) {
    case PTX_BASE_VARIABLE:
        return parser->module->variables[operand->index].name;
    case PTX_BASE_LOCAL:
        return function->variables[operand->index].name;
    case PTX_BASE_PARAM:
        return function->params[operand->index].name;
    default:
        return function->results[operand->index].name;
    }
}

static enum ptx_space written_space(const struct ptx_form *form)
{
    struct ptx_instruction instruction = {.modifier_count = form->modifier_count};
    memcpy(instruction.modifiers, form->modifiers, sizeof form->modifiers);
    return ptx_space_of(&instruction);
}

static bool one_space(const struct ptx_form *form)
{
    return form->opcode == PTX_OP_LD || form->opcode == PTX_OP_ST || form->opcode == PTX_OP_ATOM
           || form->opcode == PTX_OP_RED;
}

static bool address_fits(struct check *check, const struct ptx_operand *operand)
{
    static const char *const NAMES[] = {"",       ".reg",   ".const",  ".global",
                                        ".local", ".param", ".shared", ".tex"};
    if (operand->kind == PTX_OPERAND_INDEXED)
        return refuse_operand(check, "an address of one part");
    if (operand->kind != PTX_OPERAND_ADDRESS)
        return refuse_operand(check, "an address in square brackets");
    if (operand->base == PTX_BASE_REGISTER) {
        struct expectation want = {.kind = 'a', .type = PTX_U64};
        const struct ptx_register *found = &check->parser->function->registers[operand->index];
        if (ptx_type_bits((enum ptx_type)found->type) == 32)
            want.type = PTX_U32;
        return register_fits(check, operand, &want);
    }
    enum ptx_space have = space_of_base(check->parser, operand);
    enum ptx_space want = written_space(check->form);
    if (!one_space(check->form) || have == PTX_SPACE_GENERIC || want == PTX_SPACE_GENERIC
        || have == want)
        return true;
    snprintf(check->reason, sizeof check->reason, "variable '%.80s' is in %s, not in %s",
             variable_name(check->parser, operand), NAMES[have], NAMES[want]);
    return false;
}

static bool operand_fits(struct check *check, const struct ptx_operand *operand,
                         const struct expectation *want)
{
    struct expectation predicate = {.kind = 'q', .type = PTX_PRED};
    switch (want->kind) {
    case 'd':
    case 'e':
    case 'p':
        return destination_fits(check, operand, want);
    case 'a':
    case 'r':
    case 's':
        return source_fits(check, operand, want);
    case 'q':
        if (operand->kind == PTX_OPERAND_REGISTER)
            return register_fits(check, operand, &predicate);
        return is_constant(operand)
               || (operand->kind == PTX_OPERAND_SPECIAL
                   && operand->index == PTX_SPECIAL_IS_EXPLICIT_CLUSTER)
               || refuse_operand(check, "a predicate register");
    case 'i':
        return operand->kind == PTX_OPERAND_INTEGER || refuse_operand(check, "a whole number");
    case 'm':
        return moved_fits(check, operand, want);
    case '[':
        return address_fits(check, operand);
    case 'v':
        return vector_fits(check, operand, want);
    case '{':
        if (operand->kind == PTX_OPERAND_REGISTER || operand->kind == PTX_OPERAND_SINK)
            return true;
        if (want->pair && operand->kind == PTX_OPERAND_PAIR)
            return true;
        return operand->kind == PTX_OPERAND_VECTOR || refuse_operand(check, "a vector in braces");
    case 'x':
        return operand->kind == PTX_OPERAND_INDEXED || operand->kind == PTX_OPERAND_ADDRESS
               || refuse_operand(check, "an address in square brackets");
    case 'o':
        return operand->kind != PTX_OPERAND_LABEL && operand->kind != PTX_OPERAND_TABLE;
    case 'l':
        return operand->kind == PTX_OPERAND_LABEL || refuse_operand(check, "a label");
    default:
        return operand->kind == PTX_OPERAND_TABLE
               || refuse_operand(check, "a list of .branchtargets");
    }
}

/* The number of operands that fit a form; UINT32_MAX if all fit and none is missing. */
static uint32_t try_form(struct check *check, const char *form, const struct ptx_operands *operands)
{
    uint32_t at = 0;
    while (*form) {
        struct expectation want;
        form = read_expectation(form, check->form, &want);
        bool here = at < operands->count && operand_fits(check, &operands->at[at], &want);
        if (here) {
            at++;
        } else if (!want.optional) {
            if (at == operands->count)
                snprintf(check->reason, sizeof check->reason, "operand %u is missing", at + 1);
            return at;
        }
    }
    if (at == operands->count)
        return UINT32_MAX;
    snprintf(check->reason, sizeof check->reason, "there is no operand %u", at + 1);
    return at;
}

/* Conversions between kinds of numbers have to say how they round (9.7.9.21). */
static bool check_rounding(struct ptx_parser *parser, const struct ptx_form *form, uint32_t line)
{
    if (form->opcode != PTX_OP_CVT || form->type_count != 2)
        return true;
    struct ptx_instruction probe = {.modifier_count = form->modifier_count};
    memcpy(probe.modifiers, form->modifiers, sizeof form->modifiers);
    enum ptx_type to = (enum ptx_type)form->types[0], from = (enum ptx_type)form->types[1];
    bool to_float = ptx_type_is_float(to), from_float = ptx_type_is_float(from);
    bool narrows = to_float && from_float && ptx_type_bits(to) < ptx_type_bits(from);
    bool rounds = ptx_one_of(&probe, PTX_GROUP_ROUND) != PTX_MODIFIER_NONE;
    if (rounds || !(to_float != from_float || narrows))
        return true;
    ptx_error_at(parser, line, "cvt.%s.%s needs a rounding such as .%s", ptx_type_name(to),
                 ptx_type_name(from), to_float ? "rn" : "rzi");
    return false;
}

static const struct ptx_table *table_of(const struct ptx_parser *parser,
                                        const struct ptx_operand *operand)
{
    return operand->kind == PTX_OPERAND_TABLE ? &parser->function->tables[operand->index] : NULL;
}

static void check_call(struct ptx_parser *parser, const struct ptx_operands *operands,
                       uint32_t line)
{
    const struct ptx_operand *target = &operands->at[1];
    const struct ptx_table *table = table_of(parser, &operands->at[3]);
    uint32_t params, results;
    const char *name = "the prototype";
    if (target->kind == PTX_OPERAND_SYMBOL && target->base == PTX_BASE_FUNCTION) {
        const struct ptx_function *callee = &parser->module->functions[target->index];
        params = callee->param_count;
        results = callee->result_count;
        name = callee->name;
        if (callee->is_entry) {
            ptx_error_at(parser, line, "'%.80s' is a kernel, which cannot be called", name);
            return;
        }
    } else if (target->kind != PTX_OPERAND_REGISTER) {
        ptx_error_at(parser, line, "a call needs a function or a register");
        return;
    } else if (!table) {
        ptx_error_at(parser, line,
                     "a call through a register needs a .callprototype or "
                     ".calltargets");
        return;
    } else if (table->kind != PTX_CALL_PROTOTYPE) {
        return;
    } else {
        params = table->param_count;
        results = table->result_count;
    }
    if (operands->at[2].element_count != params || operands->at[0].element_count != results)
        ptx_error_at(parser, line,
                     "call of '%.80s' with %u arguments and %u results; it has %u "
                     "and %u",
                     name, operands->at[2].element_count, operands->at[0].element_count, params,
                     results);
}

bool ptx_check_operands(struct ptx_parser *parser, const struct ptx_form *form,
                        const struct ptx_operands *operands, const char *name, uint32_t line)
{
    struct check check = {.parser = parser, .form = form, .name = name};
    struct ptx_instruction probe = {.modifier_count = form->modifier_count};
    memcpy(probe.modifiers, form->modifiers, sizeof form->modifiers);
    check.width = ptx_vector_width(&probe);
    if (form->opcode == PTX_OP_CALL) {
        check_call(parser, operands, line);
        return true;
    }
    char best[PTX_MESSAGE_BYTES] = "";
    uint32_t furthest = 0;
    for (uint32_t i = 0; i < form->operand_form_count; i++) {
        uint32_t matched = try_form(&check, form->operand_forms[i], operands);
        if (matched == UINT32_MAX)
            return check_rounding(parser, form, line);
        if (i && matched < furthest)
            continue;
        furthest = matched;
        memcpy(best, check.reason, sizeof best);
    }
    ptx_error_at(parser, line, "operand %u of '%.80s': %s", furthest + 1, name, best);
    return false;
}

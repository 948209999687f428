/* Operands: the meanings of words, constants, addresses, and the four operands of a call. */
#include <stdio.h>
#include <string.h>

#include "base/number.h"

#include "ptx_build.h"

static const char *const SPECIALS[] = {
#define SPECIAL(name, text, type) text,
#include "ptx_specials.def"
#undef SPECIAL
};

enum { SPECIAL_COUNT = ARRAY_COUNT(SPECIALS) };

static bool find_special(const char *word, struct ptx_operand *operand)
{
    if (word[0] != '%')
        return false;
    for (uint32_t i = 0; i < SPECIAL_COUNT; i++) {
        if (strcmp(SPECIALS[i], word) != 0)
            continue;
        operand->kind = PTX_OPERAND_SPECIAL;
        operand->index = i;
        return true;
    }
    return false;
}

static struct ptx_operand meaning_of(struct ptx_parser *parser, const struct ptx_symbol *symbol)
{
    struct ptx_operand operand = {.index = symbol->index};
    switch (symbol->meaning) {
    case PTX_MEANS_REGISTER:
        operand.kind = PTX_OPERAND_REGISTER;
        break;
    case PTX_MEANS_TABLE:
        operand.kind = PTX_OPERAND_TABLE;
        break;
    default:
        operand.kind = PTX_OPERAND_SYMBOL;
        operand.base = symbol->base;
        break;
    }
    if (operand.kind != PTX_OPERAND_REGISTER || symbol->count == 1)
        return operand;
    /* A register vector is its registers in braces. */
    operand = (struct ptx_operand){.kind = PTX_OPERAND_VECTOR, .element_count = symbol->count};
    operand.elements = region_take(parser->region, symbol->count * sizeof *operand.elements);
    for (uint32_t i = 0; i < symbol->count; i++)
        operand.elements[i] =
            (struct ptx_operand){.kind = PTX_OPERAND_REGISTER, .index = symbol->index + i};
    return operand;
}

/* "%v.x" of a register vector, "%r1.b0" or "%r1.h10" of video instructions. */
static bool find_part(struct ptx_parser *parser, const char *word, const char *dot,
                      struct ptx_operand *operand)
{
    static const char COMPONENTS[] = "xyzwrgba";
    const char *base = ptx_intern(parser, word, (size_t)(dot - word));
    const struct ptx_symbol *symbol = ptx_lookup(parser, base);
    size_t length = strlen(dot + 1);
    if (!symbol || symbol->meaning != PTX_MEANS_REGISTER)
        return false;
    const char *component = length == 1 ? strchr(COMPONENTS, dot[1]) : NULL;
    uint32_t number = component ? (uint32_t)(component - COMPONENTS) % 4 : 0;
    operand->kind = PTX_OPERAND_REGISTER;
    operand->index = symbol->index + number;
    if (component)
        return number < symbol->count;
    if ((dot[1] != 'b' && dot[1] != 'h') || length < 2 || length >= PTX_SELECTOR_MAX)
        return false;
    for (const char *digit = dot + 2; *digit; digit++)
        if (*digit < '0' || *digit > '7')
            return false;
    memcpy(operand->selector, dot + 1, length);
    return true;
}

/* A name without a meaning yet is taken for a label, whose name the operand keeps until the
 * instruction is complete. */
struct ptx_operand ptx_operand_word(struct ptx_parser *parser, const char *word, bool negated,
                                    uint32_t line)
{
    struct ptx_operand operand = {0};
    const char *dot = strchr(word, '.');
    struct ptx_symbol *symbol = ptx_lookup(parser, word);
    (void)line;
    if (symbol && symbol->meaning != PTX_MEANS_RANGE) {
        operand = meaning_of(parser, symbol);
    } else if (!find_special(word, &operand) && !(dot && find_part(parser, word, dot, &operand))) {
        operand = (struct ptx_operand){.kind = PTX_OPERAND_LABEL};
        operand.bits = (uintptr_t)word;
    }
    operand.negated = negated;
    return operand;
}

struct ptx_operand ptx_operand_sum(struct ptx_parser *parser, const char *word,
                                   struct ptx_number offset, bool minus, uint32_t line)
{
    struct ptx_operand operand = ptx_operand_word(parser, word, false, line);
    if (offset.kind != PTX_OPERAND_INTEGER)
        ptx_error_at(parser, line, "the offset to '%.80s' is not a whole number", word);
    int64_t value = minus ? (int64_t)-offset.bits : (int64_t)offset.bits;
    if (operand.kind == PTX_OPERAND_REGISTER) {
        operand.kind = PTX_OPERAND_ADDRESS;
        operand.base = PTX_BASE_REGISTER;
        operand.offset = value;
    } else if (operand.kind == PTX_OPERAND_SYMBOL) {
        operand.offset = value;
    } else if (operand.kind != PTX_OPERAND_LABEL) { /* an unknown name is reported later */
        ptx_error_at(parser, line, "'%.80s' is no register or variable to add an offset to", word);
    }
    return operand;
}

struct ptx_operand ptx_operand_number(struct ptx_number number)
{
    return (struct ptx_operand){.kind = number.kind, .bits = number.bits};
}

/* An element of brackets as an address. */
static bool make_address(struct ptx_operand *operand)
{
    switch (operand->kind) {
    case PTX_OPERAND_REGISTER:
        operand->base = PTX_BASE_REGISTER;
        operand->offset = 0;
        break;
    case PTX_OPERAND_INTEGER:
        operand->base = PTX_BASE_NONE;
        break;
    case PTX_OPERAND_SYMBOL:
        break;
    default:
        return operand->kind == PTX_OPERAND_ADDRESS;
    }
    operand->kind = PTX_OPERAND_ADDRESS;
    return true;
}

struct ptx_operand ptx_operand_bracket(struct ptx_parser *parser, struct ptx_operands elements,
                                       uint32_t line)
{
    struct ptx_operand *first = &elements.at[0];
    if (first->kind != PTX_OPERAND_LABEL && !make_address(first))
        ptx_error_at(parser, line, "an address is a register, a variable or a number");
    if (elements.count == 1)
        return *first;
    return ptx_operand_list(PTX_OPERAND_INDEXED, elements);
}

struct ptx_operand ptx_operand_list(enum ptx_operand_kind kind, struct ptx_operands elements)
{
    return (struct ptx_operand){
        .kind = (uint8_t)kind, .element_count = elements.count, .elements = elements.at};
}

struct ptx_operands ptx_call_operands(struct ptx_parser *parser, struct ptx_operands results,
                                      const char *target, struct ptx_operands arguments,
                                      const char *table, uint32_t line)
{
    struct ptx_operands call = {.count = 4};
    call.at = region_take(parser->region, 4 * sizeof *call.at);
    call.at[0] = ptx_operand_list(PTX_OPERAND_LIST, results);
    call.at[1] = ptx_operand_word(parser, target, false, line);
    call.at[2] = ptx_operand_list(PTX_OPERAND_LIST, arguments);
    if (table)
        call.at[3] = ptx_operand_word(parser, table, false, line);
    return call;
}

struct ptx_number ptx_fold_unary(struct ptx_parser *parser, char operation,
                                 struct ptx_number number, uint32_t line)
{
    if (number.kind == PTX_OPERAND_INTEGER) {
        number.bits = operation == '-'   ? 0 - number.bits
                      : operation == '~' ? ~number.bits
                                         : (uint64_t)!number.bits;
    } else if (operation == '-') {
        number.bits ^= number.kind == PTX_OPERAND_F32 ? UINT64_C(1) << 31 : UINT64_C(1) << 63;
    } else {
        ptx_error_at(parser, line, "'%c' needs a whole number", operation);
    }
    return number;
}

static struct ptx_number fold_float(struct ptx_parser *parser, char operation, struct ptx_number a,
                                    struct ptx_number b, uint32_t line)
{
    double x, y;
    memcpy(&x, &a.bits, sizeof x);
    memcpy(&y, &b.bits, sizeof y);
    bool known = strchr("+-*/", operation) && a.kind == PTX_OPERAND_F64 && b.kind == a.kind;
    if (!known)
        ptx_error_at(parser, line, "'%c' does not fit these constants", operation);
    switch (operation) {
    case '+':
        x += y;
        break;
    case '-':
        x -= y;
        break;
    case '*':
        x *= y;
        break;
    default:
        x /= y;
    }
    memcpy(&a.bits, &x, sizeof x);
    return a;
}

struct ptx_number ptx_fold(struct ptx_parser *parser, char operation, struct ptx_number a,
                           struct ptx_number b, uint32_t line)
{
    uint64_t x = a.bits, y = b.bits;
    if (a.kind != PTX_OPERAND_INTEGER || b.kind != PTX_OPERAND_INTEGER)
        return fold_float(parser, operation, a, b, line);
    if ((operation == '/' || operation == '%') && y == 0) {
        ptx_error_at(parser, line, "a constant is divided by zero");
        y = 1;
    }
    bool least = x == UINT64_C(1) << 63 && y == UINT64_MAX; /* its quotient has no place */
    switch (operation) {
    case '+':
        a.bits = x + y;
        break;
    case '-':
        a.bits = x - y;
        break;
    case '*':
        a.bits = x * y;
        break;
    case '/':
        a.bits = least ? x : (uint64_t)((int64_t)x / (int64_t)y);
        break;
    case '%':
        a.bits = least ? 0 : (uint64_t)((int64_t)x % (int64_t)y);
        break;
    case '&':
        a.bits = x & y;
        break;
    case '^':
        a.bits = x ^ y;
        break;
    case '|':
        a.bits = x | y;
        break;
    case '<':
        a.bits = y < 64 ? x << y : 0;
        break;
    default:
        a.bits = (uint64_t)((int64_t)x >> min(y, 63));
        break;
    }
    return a;
}

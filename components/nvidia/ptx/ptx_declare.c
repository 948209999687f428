/* Declarations: registers, variables with their initial bytes, parameters with their layout. */
#include <string.h>

#include "base/number.h"

#include "ptx_build.h"

enum { ALIGNMENT_MAX = 1 << 16, CLASSIC_ADDRESS_BYTES = 8 };

static const char *const SPACE_NAMES[] = {
    [PTX_SPACE_GENERIC] = "",       [PTX_SPACE_REG] = ".reg",     [PTX_SPACE_CONST] = ".const",
    [PTX_SPACE_GLOBAL] = ".global", [PTX_SPACE_LOCAL] = ".local", [PTX_SPACE_PARAM] = ".param",
    [PTX_SPACE_SHARED] = ".shared", [PTX_SPACE_TEX] = ".tex",
};

void ptx_declaration_begin(struct ptx_parser *parser, uint8_t linkage, uint8_t space)
{
    parser->declaration = (struct ptx_declaration){.linkage = linkage, .space = space};
}

void ptx_declaration_align(struct ptx_parser *parser, struct ptx_number number, uint32_t line)
{
    uint64_t value = number.bits;
    if (number.kind != PTX_OPERAND_INTEGER || !value || (value & (value - 1))
        || value > ALIGNMENT_MAX)
        ptx_error_at(parser, line, ".align needs a power of two up to %d", ALIGNMENT_MAX);
    else if (!parser->declaration.is_pointer)
        parser->declaration.alignment = (uint32_t)value;
}

uint64_t ptx_dimension(struct ptx_parser *parser, uint64_t count, struct ptx_number number,
                       uint32_t line)
{
    if (number.kind != PTX_OPERAND_INTEGER || number.bits > PTX_BYTES_MAX) {
        ptx_error_at(parser, line, "a dimension is a whole number up to 2^40");
        return 1;
    }
    uint64_t product = count == UINT64_MAX || count == 0 ? number.bits : count * number.bits;
    if (product > PTX_BYTES_MAX) {
        ptx_error_at(parser, line, "the array has more than 2^40 elements");
        return 1;
    }
    return product;
}

/* Adds registers of the declaration's type; returns the first one's index. */
static uint32_t add_registers(struct ptx_parser *parser, const char *name, uint64_t count,
                              uint32_t line)
{
    struct ptx_function *function = parser->function;
    if (count > PTX_REGISTERS_MAX - function->register_count) {
        ptx_error_at(parser, line, "more than %d registers in one function", PTX_REGISTERS_MAX);
        count = 0;
    }
    uint32_t first = function->register_count;
    for (uint64_t i = 0; i < count; i++) {
        struct ptx_register *added =
            region_append(parser->region, function->registers, function->register_count);
        added->type = parser->declaration.type;
        added->name = name;
    }
    return first;
}

void ptx_declare_range(struct ptx_parser *parser, const char *name, struct ptx_number count,
                       uint32_t line)
{
    if (parser->declaration.space != PTX_SPACE_REG || !parser->function || !name) {
        ptx_error_at(parser, line, "only registers are declared as NAME<COUNT>");
        return;
    }
    if (count.kind != PTX_OPERAND_INTEGER || count.bits > PTX_REGISTERS_MAX) {
        ptx_error_at(parser, line, "a count of registers is a whole number up to %d",
                     PTX_REGISTERS_MAX);
        return;
    }
    struct ptx_symbol *symbol = ptx_declare(parser, name, line);
    symbol->meaning = PTX_MEANS_RANGE;
    symbol->count = (uint32_t)count.bits;
    symbol->index = add_registers(parser, name, count.bits, line);
    if (parser->error->count)
        symbol->count = 0;
}

static void declare_register(struct ptx_parser *parser, const char *name, uint32_t line)
{
    if (!parser->function) {
        ptx_error_at(parser, line, "a register is declared inside a function");
        return;
    }
    struct ptx_symbol *symbol = ptx_declare(parser, name, line);
    symbol->meaning = PTX_MEANS_REGISTER;
    symbol->count = parser->declaration.vector ? parser->declaration.vector : 1;
    symbol->index = add_registers(parser, name, symbol->count, line);
}

/* A variable of the declaration, with the offset that follows `before` others in an array. */
static struct ptx_variable make_variable(struct ptx_parser *parser, const char *name, bool is_array,
                                         uint64_t count, uint32_t line)
{
    const struct ptx_declaration *declaration = &parser->declaration;
    uint32_t element = divide_up(ptx_type_bits((enum ptx_type)declaration->type), 8);
    uint32_t vector = declaration->vector ? declaration->vector : 1;
    uint32_t alignment = declaration->alignment ? declaration->alignment : element * vector;
    if (!is_array)
        count = 1;
    struct ptx_variable variable = {.name = name ? name : "_",
                                    .space = declaration->space,
                                    .linkage = declaration->linkage,
                                    .type = declaration->type,
                                    .is_managed = declaration->is_managed,
                                    .alignment = alignment ? alignment : 1,
                                    .count = count * vector,
                                    .bytes = count * vector * element,
                                    .line = line};
    parser->bytes += variable.bytes;
    if (variable.bytes > PTX_BYTES_MAX || parser->bytes > PTX_BYTES_MAX) {
        ptx_error_at(parser, line, "the module's variables have more than 2^40 bytes");
        variable.bytes = 0;
        parser->bytes = 0;
    }
    if (declaration->type == PTX_PRED && declaration->space != PTX_SPACE_REG)
        ptx_error_at(parser, line, "a predicate is a register (.reg .pred)");
    return variable;
}

static void declare_param(struct ptx_parser *parser, const char *name, bool is_array,
                          uint64_t count, uint32_t line)
{
    struct ptx_variable variable = make_variable(parser, name, is_array, count, line);
    struct ptx_variable **list = parser->in_results ? &parser->results : &parser->params;
    uint32_t *listed = parser->in_results ? &parser->result_count : &parser->param_count;
    if (variable.space != PTX_SPACE_PARAM && variable.space != PTX_SPACE_REG) {
        ptx_error_at(parser, line, "a parameter is in .param or .reg, not in %s",
                     SPACE_NAMES[variable.space]);
        return;
    }
    if (variable.space == PTX_SPACE_PARAM) {
        const struct ptx_variable *last = NULL;
        for (uint32_t i = 0; i < *listed; i++)
            if ((*list)[i].space == PTX_SPACE_PARAM)
                last = &(*list)[i];
        uint64_t end = last ? last->offset + last->bytes : 0;
        variable.offset = round_up(end, variable.alignment);
    }
    *region_append(parser->region, *list, *listed) = variable;
}

/* A module's variable may be declared (extern) before it is defined. */
static struct ptx_variable *module_variable(struct ptx_parser *parser,
                                            const struct ptx_variable *variable, uint32_t line)
{
    struct ptx_module *module = parser->module;
    struct ptx_symbol *old = ptx_name_of(variable->name)->top;
    if (old && old->scope == parser->scope && old->meaning == PTX_MEANS_BASE
        && old->base == PTX_BASE_VARIABLE) {
        struct ptx_variable *same = &module->variables[old->index];
        bool weaker = variable->linkage == PTX_EXTERN || variable->linkage == PTX_WEAK;
        if (same->linkage == PTX_EXTERN || weaker) {
            if (same->linkage == PTX_EXTERN)
                *same = *variable;
            return same;
        }
    }
    struct ptx_symbol *symbol = ptx_declare(parser, variable->name, line);
    symbol->meaning = PTX_MEANS_BASE;
    symbol->base = PTX_BASE_VARIABLE;
    symbol->index = module->variable_count;
    struct ptx_variable *added =
        region_append(parser->region, module->variables, module->variable_count);
    *added = *variable;
    return added;
}

static struct ptx_variable *local_variable(struct ptx_parser *parser,
                                           const struct ptx_variable *variable, uint32_t line)
{
    struct ptx_function *function = parser->function;
    struct ptx_symbol *symbol = ptx_declare(parser, variable->name, line);
    symbol->meaning = PTX_MEANS_BASE;
    symbol->base = PTX_BASE_LOCAL;
    symbol->index = function->variable_count;
    struct ptx_variable *added =
        region_append(parser->region, function->variables, function->variable_count);
    *added = *variable;
    if (variable->space == PTX_SPACE_LOCAL) {
        added->offset = round_up(function->local_bytes, variable->alignment);
        uint64_t end = added->offset + added->bytes;
        if (end > UINT32_MAX / 2)
            ptx_error_at(parser, line, "a function's .local variables have more than 2 GiB");
        else
            function->local_bytes = (uint32_t)end;
    }
    return added;
}

void ptx_declare_name(struct ptx_parser *parser, const char *name, bool is_array, uint64_t count,
                      uint32_t line)
{
    uint8_t space = parser->declaration.space;
    parser->declaration.last = NULL;
    parser->declaration.filled = 0;
    parser->declaration.is_open = false;
    if (parser->in_params || parser->in_results) {
        declare_param(parser, name, is_array, count, line);
        return;
    }
    if (!name) {
        ptx_error_at(parser, line, "'_' is no name of a variable");
        return;
    }
    if (space == PTX_SPACE_REG) {
        if (is_array)
            ptx_error_at(parser, line, "registers are declared as NAME<COUNT>");
        declare_register(parser, name, line);
        return;
    }
    struct ptx_variable variable = make_variable(parser, name, is_array, count, line);
    if (space == PTX_SPACE_SHARED && !variable.bytes && variable.linkage == PTX_EXTERN)
        variable.is_dynamic = true;
    if (!parser->function && (space == PTX_SPACE_LOCAL || space == PTX_SPACE_PARAM)) {
        ptx_error_at(parser, line, "a variable in %s is declared inside a function",
                     SPACE_NAMES[space]);
        return;
    }
    bool local = parser->function && space != PTX_SPACE_GLOBAL && space != PTX_SPACE_CONST;
    parser->declaration.last =
        local ? local_variable(parser, &variable, line) : module_variable(parser, &variable, line);
}

/* Takes the next element's place in the last variable; NULL if it has none. */
static uint8_t *next_element(struct ptx_parser *parser, uint32_t line, uint32_t *bytes)
{
    struct ptx_declaration *declaration = &parser->declaration;
    struct ptx_variable *variable = declaration->last;
    if (!variable)
        return NULL;
    if (variable->space != PTX_SPACE_GLOBAL && variable->space != PTX_SPACE_CONST) {
        ptx_error_at(parser, line, "only variables in .global and .const have initial values");
        declaration->last = NULL;
        return NULL;
    }
    *bytes = divide_up(ptx_type_bits((enum ptx_type)variable->type), 8);
    if (declaration->filled == 0)
        declaration->is_open = variable->bytes == 0;
    if (declaration->is_open) {
        variable->bytes = declaration->filled + *bytes;
        variable->count++;
    }
    if (declaration->filled + *bytes > variable->bytes) {
        ptx_error_at(parser, line, "'%.80s' has room for %llu values, not more", variable->name,
                     (unsigned long long)variable->count);
        declaration->last = NULL;
        return NULL;
    }
    while (variable->initial_bytes < declaration->filled + *bytes) {
        uint8_t *old = variable->initial;
        uint64_t size = variable->initial_bytes ? 2 * variable->initial_bytes : 16;
        variable->initial = region_take(parser->region, size);
        if (old)
            memcpy(variable->initial, old, declaration->filled);
        variable->initial_bytes = size;
    }
    uint8_t *place = variable->initial + declaration->filled;
    declaration->filled += *bytes;
    return place;
}

void ptx_initial_number(struct ptx_parser *parser, struct ptx_number number, uint32_t line)
{
    uint32_t bytes = 0;
    uint8_t *place = next_element(parser, line, &bytes);
    if (!place)
        return;
    struct ptx_operand constant = {.kind = number.kind, .bits = number.bits};
    enum ptx_type type = (enum ptx_type)parser->declaration.last->type;
    uint64_t bits = ptx_constant(&constant, type);
    memcpy(place, &bits, min(bytes, 8));
}

void ptx_initial_symbol(struct ptx_parser *parser, const char *name, bool generic, uint64_t mask,
                        int64_t addend, uint32_t line)
{
    uint32_t bytes = 0;
    struct ptx_variable *variable = parser->declaration.last;
    uint64_t offset = parser->declaration.filled;
    struct ptx_symbol *symbol = ptx_lookup(parser, name);
    if (!symbol || symbol->meaning != PTX_MEANS_BASE
        || (symbol->base != PTX_BASE_VARIABLE && symbol->base != PTX_BASE_FUNCTION)) {
        ptx_error_at(parser, line, "'%.80s' is no variable or function of the module", name);
        return;
    }
    if (!next_element(parser, line, &bytes))
        return;
    uint8_t shift = 0;
    while (mask && !(mask & 0xff)) {
        mask >>= 8;
        shift = (uint8_t)(shift + 8);
    }
    *region_append(parser->region, variable->relocations, variable->relocation_count) =
        (struct ptx_relocation){.offset = offset,
                                .bytes = (uint8_t)min(bytes, CLASSIC_ADDRESS_BYTES),
                                .shift = shift,
                                .generic = generic,
                                .to_function = symbol->base == PTX_BASE_FUNCTION,
                                .target = symbol->index,
                                .addend = addend};
}

/* Functions, tables of targets, and the module's directives. */
#include <stddef.h>
#include <string.h>

#include "base/number.h"

#include "ptx_build.h"

enum { FILES_MAX = 1 << 16, VERSION_MIN = 14, VERSION_MAX = 90, PTX_ADDRESS_BITS = 64 };

void ptx_header_begin(struct ptx_parser *parser)
{
    parser->params = parser->results = NULL;
    parser->param_count = parser->result_count = 0;
}

/* Finds the function of a declaration that came before, or adds one. */
static struct ptx_function *named_function(struct ptx_parser *parser, const char *name,
                                           uint32_t line)
{
    struct ptx_module *module = parser->module;
    struct ptx_symbol *old = ptx_name_of(name)->top;
    if (old && old->meaning == PTX_MEANS_BASE && old->base == PTX_BASE_FUNCTION)
        return &module->functions[old->index];
    struct ptx_symbol *symbol = ptx_declare(parser, name, line);
    symbol->meaning = PTX_MEANS_BASE;
    symbol->base = PTX_BASE_FUNCTION;
    symbol->index = module->function_count;
    return region_append(parser->region, module->functions, module->function_count);
}

/* Parameters in .reg (code without the ABI) are registers of the function. */
static void declare_params(struct ptx_parser *parser, struct ptx_variable *params, uint32_t count,
                           enum ptx_base base)
{
    for (uint32_t i = 0; i < count; i++) {
        struct ptx_variable *param = &params[i];
        if (strcmp(param->name, "_") == 0)
            continue;
        struct ptx_symbol *symbol = ptx_declare(parser, param->name, param->line);
        symbol->meaning = PTX_MEANS_BASE;
        symbol->base = (uint8_t)base;
        symbol->index = i;
        if (param->space != PTX_SPACE_REG)
            continue;
        struct ptx_function *function = parser->function;
        symbol->meaning = PTX_MEANS_REGISTER;
        symbol->count = 1;
        symbol->index = function->register_count;
        param->offset = function->register_count;
        struct ptx_register *added =
            region_append(parser->region, function->registers, function->register_count);
        added->name = param->name;
        added->type = param->type;
    }
}

void ptx_function_header(struct ptx_parser *parser, const char *name, bool is_entry,
                         uint8_t linkage, uint32_t line)
{
    struct ptx_function *function = named_function(parser, name, line);
    if (function->is_defined) {
        ptx_error_at(parser, line, "function '%.80s' is defined twice", name);
        *function = (struct ptx_function){0};
    }
    function->name = name;
    function->is_entry = is_entry;
    function->linkage = linkage;
    function->line = line;
    function->results = parser->results;
    function->result_count = parser->result_count;
    parser->results = NULL;
    parser->result_count = 0;
    parser->function = function;
    parser->loc_line = 0;
}

#define PLACE(member)                                                                              \
    offsetof(struct ptx_function, member), sizeof((struct ptx_function *)NULL)->member

/* The limits of a function, by the name of their directive. */
static const struct {
    const char *name;
    size_t at, bytes;
} limits[] = {
    {"maxntid", PLACE(maxntid)},           {"reqntid", PLACE(reqntid)},
    {"reqnctapercluster", PLACE(cluster)}, {"minnctapersm", PLACE(minnctapersm)},
    {"maxnctapersm", PLACE(maxnctapersm)}, {"maxnreg", PLACE(maxnreg)},
};

void ptx_function_limit(struct ptx_parser *parser, const char *which, struct ptx_limit limit)
{
    if (!parser->function)
        return;
    for (size_t i = 0; i < ARRAY_COUNT(limits); i++)
        if (strcmp(which, limits[i].name) == 0)
            memcpy((char *)parser->function + limits[i].at, limit.value, limits[i].bytes);
}

static void move_params(struct ptx_parser *parser)
{
    struct ptx_function *function = parser->function;
    function->params = parser->params;
    function->param_count = parser->param_count;
    function->param_bytes = 0;
    for (uint32_t i = 0; i < function->param_count; i++) {
        const struct ptx_variable *param = &function->params[i];
        if (param->space == PTX_SPACE_PARAM)
            function->param_bytes = (uint32_t)(param->offset + param->bytes);
    }
    parser->params = NULL;
    parser->param_count = 0;
}

void ptx_function_begin(struct ptx_parser *parser)
{
    struct ptx_function *function = parser->function;
    move_params(parser);
    function->is_defined = true;
    function->register_count = function->variable_count = function->instruction_count = 0;
    ptx_scope_open(parser);
    declare_params(parser, function->results, function->result_count, PTX_BASE_RESULT);
    declare_params(parser, function->params, function->param_count, PTX_BASE_PARAM);
}

void ptx_function_end(struct ptx_parser *parser, bool has_body)
{
    if (has_body) {
        ptx_labels_resolve(parser);
        ptx_scope_close(parser);
    } else {
        move_params(parser);
    }
    parser->function = NULL;
    parser->loc_line = 0;
}

void ptx_add_file(struct ptx_parser *parser, struct ptx_number number, const char *name,
                  uint32_t line)
{
    struct ptx_module *module = parser->module;
    if (number.kind != PTX_OPERAND_INTEGER || number.bits > FILES_MAX) {
        ptx_error_at(parser, line, "a file's number is a whole number up to %d", FILES_MAX);
        return;
    }
    while (module->file_count <= number.bits)
        *region_append(parser->region, module->files, module->file_count) = NULL;
    module->files[number.bits] = name;
}

void ptx_set_version(struct ptx_parser *parser, struct ptx_number number, uint32_t line)
{
    double value;
    memcpy(&value, &number.bits, sizeof value);
    if (number.kind != PTX_OPERAND_F64 || !(value >= 1) || !(value < 100)) {
        ptx_error_at(parser, line, ".version needs a number such as 8.5");
        return;
    }
    parser->has_version = true;
    parser->module->version = (uint32_t)(value * 10 + 0.5);
    if (parser->module->version < VERSION_MIN || parser->module->version > VERSION_MAX)
        ptx_warning_at(parser, line, "PTX version %u.%u is not one of %d.%d to %d.%d",
                       parser->module->version / 10, parser->module->version % 10, VERSION_MIN / 10,
                       VERSION_MIN % 10, VERSION_MAX / 10, VERSION_MAX % 10);
}

void ptx_set_target(struct ptx_parser *parser, const char *word, uint32_t line)
{
    static const char *const OPTIONS[] = {"texmode_unified", "texmode_independent", "debug",
                                          "map_f64_to_f32"};
    for (size_t i = 0; i < ARRAY_COUNT(OPTIONS); i++)
        if (strcmp(word, OPTIONS[i]) == 0)
            return;
    uint32_t number = 0;
    const char *at = word + 3;
    if (strncmp(word, "sm_", 3) == 0)
        for (; *at >= '0' && *at <= '9' && number < 1000; at++)
            number = 10 * number + (uint32_t)(*at - '0');
    if (!number || (*at && strcmp(at, "a") != 0 && strcmp(at, "f") != 0)) {
        ptx_error_at(parser, line, "'%.60s' is no target; write one such as sm_80", word);
        return;
    }
    parser->has_target = true;
    parser->module->target = number;
    parser->module->target_name = word;
}

void ptx_set_address_size(struct ptx_parser *parser, struct ptx_number number, uint32_t line)
{
    if (number.bits != PTX_ADDRESS_BITS)
        ptx_error_at(parser, line,
                     "addresses of 64 bits are supported, not of %llu; compile for "
                     "a 64-bit host",
                     (unsigned long long)number.bits);
}

void ptx_add_alias(struct ptx_parser *parser, const char *alias, const char *name, uint32_t line)
{
    struct ptx_symbol *target = ptx_lookup(parser, name);
    if (!target || target->meaning != PTX_MEANS_BASE || target->base != PTX_BASE_FUNCTION) {
        ptx_error_at(parser, line, "'%.80s' is no function", name);
        return;
    }
    struct ptx_symbol *symbol = ptx_declare(parser, alias, line);
    symbol->meaning = PTX_MEANS_BASE;
    symbol->base = PTX_BASE_FUNCTION;
    symbol->index = target->index;
}

static void add_target(struct ptx_parser *parser, struct ptx_table *table, const char *word,
                       uint32_t *place, uint32_t line)
{
    if (table->kind == PTX_BRANCH_TARGETS) {
        ptx_label_use(parser, word, line, place);
        return;
    }
    struct ptx_symbol *target = ptx_lookup(parser, word);
    if (target && target->meaning == PTX_MEANS_BASE && target->base == PTX_BASE_FUNCTION)
        *place = target->index;
    else
        ptx_error_at(parser, line, "'%.80s' is no function", word);
}

void ptx_add_table(struct ptx_parser *parser, const char *name, enum ptx_table_kind kind,
                   struct ptx_words words, uint32_t line)
{
    struct ptx_function *function = parser->function;
    struct ptx_symbol *symbol = ptx_declare(parser, name, line);
    symbol->meaning = PTX_MEANS_TABLE;
    symbol->index = function->table_count;
    struct ptx_table *table =
        region_append(parser->region, function->tables, function->table_count);
    *table = (struct ptx_table){.kind = (uint8_t)kind, .name = name, .line = line};
    if (kind == PTX_CALL_PROTOTYPE) {
        table->params = parser->params;
        table->param_count = parser->param_count;
        table->results = parser->results;
        table->result_count = parser->result_count;
        return;
    }
    table->targets = region_take(parser->region, words.count * sizeof *table->targets);
    table->count = words.count;
    for (uint32_t i = 0; i < words.count; i++)
        add_target(parser, table, words.at[i], &table->targets[i], line);
}

/* An extern variable that no file brings: there is one file. */
static void check_variable(struct ptx_parser *parser, struct ptx_variable *variable)
{
    if (variable->initial_bytes > variable->bytes)
        variable->initial_bytes = variable->bytes;
    if (variable->linkage == PTX_EXTERN && !variable->is_dynamic)
        ptx_error_at(parser, variable->line,
                     "variable '%.80s' is extern and no file defines it; "
                     "compile its file together with this one",
                     variable->name);
}

void ptx_module_end(struct ptx_parser *parser)
{
    struct ptx_module *module = parser->module;
    if (!parser->has_version)
        ptx_error_at(parser, 1, "this is no PTX: there is no .version");
    else if (!parser->has_target)
        ptx_error_at(parser, 1, "there is no .target such as sm_80");
    for (uint32_t i = 0; i < module->variable_count; i++)
        check_variable(parser, &module->variables[i]);
    for (uint32_t i = 0; i < module->function_count; i++) {
        struct ptx_function *function = &module->functions[i];
        if (!module->functions[i].name)
            function->name = "";
        function->first_instruction = module->instruction_count;
        module->instruction_count += function->instruction_count;
    }
}

/* The second step of declarations: what refers to others (types, enumerations, interfaces), when
 * every name is known. */
#include <string.h>

#include "dsl/quantity.h"
#include "dsl/suggest.h"

#include "declare.h"

bool declare_type(struct program *program, const struct ast_type *type,
                  enum model_dimension *dimension, const struct model_enum **choice)
{
    *choice = NULL;
    if (type->literals) {
        *dimension = MODEL_DIM_ENUM;
        *choice = program_make_enum(program, NULL, "", type->literals, type->span);
        return true;
    }
    if (quantity_type_named(type->name.text, dimension))
        return true;
    *choice = program_enum(program, type->name.text);
    *dimension = MODEL_DIM_ENUM;
    if (*choice)
        return true;
    struct diagnostic *d = diagnostic_add(program->diagnostics, E0203, type->span,
                                          "no type is called '%s'", type->name.text);
    size_t count;
    const char *const *names = quantity_type_names(&count);
    struct suggestion suggestion = suggestion_for(type->name.text);
    for (size_t i = 0; i < count; i++)
        suggestion_try(&suggestion, names[i]);
    for (uint32_t i = 0; i < program->enums.count; i++)
        suggestion_try(&suggestion, program->enums.items[i]->name);
    if (!program_suggest_import(program, d, AST_ENUM, type->name.text))
        diagnostic_suggest(program->diagnostics, d, suggestion.best);
    *dimension = MODEL_DIM_NONE;
    return false;
}

static const char *range_text(struct program *program, const struct ast_item *item)
{
    const char *range = "";
    if (item->low)
        range = region_printf(
            program->region, "%s %s %s", source_slice(program->sources, item->low->span),
            item->half_open ? "..<" : "..", source_slice(program->sources, item->high->span));
    if (!item->pow2)
        return range;
    return range[0] != '\0' ? region_printf(program->region, "%s pow2", range) : "pow2";
}

/* True if no value of `x` is below 0, as far as its form shows: it subtracts nothing, takes nothing
 * from another instance, and the parameters and lets that it names are before it and never
 * negative. */
static bool is_never_negative(const struct type_info *type, uint32_t finished,
                              const struct ast_expr *x)
{
    if (!x)
        return true;
    if (x->kind == AST_NEGATE || x->kind == AST_MEMBER || (x->kind == AST_BINARY && x->op == '-'))
        return false;
    if (x->kind == AST_NAME) {
        int32_t number = item_list_find(&type->params, x->name.text);
        return number < 0
               || ((uint32_t)number < finished && !type->param_decls[number].may_be_negative);
    }
    for (uint32_t i = 0; x->list && i < x->list->v.count; i++)
        if (!is_never_negative(type, finished, x->list->v.items[i]))
            return false;
    return is_never_negative(type, finished, x->a) && is_never_negative(type, finished, x->b)
           && is_never_negative(type, finished, x->c);
}

/* A number can be negative unless its range begins at 0 or above. */
static bool may_be_negative(const struct type_info *type, uint32_t finished,
                            const struct ast_item *item, enum model_dimension dimension)
{
    if (item->kind == AST_LET)
        return !is_never_negative(type, finished, item->value);
    return quantity_is_ordered(dimension) && !item->pow2
           && !(item->low && is_never_negative(type, finished, item->low));
}

static void finish_params(struct program *program, struct type_info *type)
{
    uint32_t count = type->params.v.count;
    type->param_decls = region_take(program->region, count * sizeof *type->param_decls);
    for (uint32_t i = 0; i < count; i++) {
        const struct ast_item *item = type->params.v.items[i];
        struct model_param_decl *decl = &type->param_decls[i];
        *decl = (struct model_param_decl){
            .name = item->name.text,
            .doc = item->doc,
            .place = program_place(program, item->name.span),
            .is_let = item->kind == AST_LET,
            .has_default = item->value != NULL,
            .default_text = item->value ? source_slice(program->sources, item->value->span) : "",
            .range_text = range_text(program, item),
        };
        if (item->kind == AST_PARAM
            && !declare_type(program, item->type, &decl->dimension, &decl->choice))
            program->is_damaged = true;
        decl->may_be_negative = may_be_negative(type, i, item, decl->dimension);
        bool is_number = quantity_is_ordered(decl->dimension);
        if (item->kind == AST_PARAM && !is_number && (item->low || item->pow2))
            diagnostic_add(program->diagnostics, E0309, item->name.span,
                           "only a number can have a range");
    }
    type->model.params = type->param_decls;
    type->model.param_count = count;
}

static void finish_ports(struct program *program, struct type_info *type)
{
    uint32_t count = type->ports.v.count;
    type->port_decls = region_take(program->region, count * sizeof *type->port_decls);
    for (uint32_t i = 0; i < count; i++) {
        const struct ast_item *item = type->ports.v.items[i];
        struct span text = item->target.span;
        if (item->latency && !type->model.is_composite) {
            struct diagnostic *d = diagnostic_add(program->diagnostics, E0008, item->latency->span,
                                                  "only a port of a composite has a latency");
            diagnostic_help(program->diagnostics, d,
                            "the time that a behaviour takes is a parameter: 'param latency : "
                            "cycles'");
        }
        if (item->args)
            text.end = item->args->span.end + 1;
        type->port_decls[i] = (struct model_port_decl){
            .name = item->name.text,
            .doc = item->doc,
            .place = program_place(program, item->name.span),
            .is_in = item->is_in,
            .is_optional = item->is_optional,
            .is_array = item->unsized || item->size,
            .is_any = strcmp(item->target.text, "any") == 0,
            .protocol_text = source_slice(program->sources, text),
        };
        if (type->port_decls[i].is_any || program_protocol(program, item->target.text))
            continue;
        struct diagnostic *d = diagnostic_add(program->diagnostics, E0203, item->target.span,
                                              "no protocol is called '%s'", item->target.text);
        struct suggestion suggestion = suggestion_for(item->target.text);
        for (uint32_t p = 0; p < program->protocols.count; p++)
            suggestion_try(&suggestion, program->protocols.items[p]->decl->name.text);
        if (!program_suggest_import(program, d, AST_PROTOCOL, item->target.text))
            diagnostic_suggest(program->diagnostics, d, suggestion.best);
        program->is_damaged = true;
    }
    type->model.ports = type->port_decls;
    type->model.port_count = count;
}

static void finish_stats(struct program *program, struct type_info *type)
{
    static const char *const kinds[] = {"counter", "histogram"};
    uint32_t count = type->stats.v.count;
    struct model_stat *stats = region_take(program->region, count * sizeof *stats);
    for (uint32_t i = 0; i < count; i++) {
        const struct ast_item *item = type->stats.v.items[i];
        stats[i].name = item->name.text;
        stats[i].doc = item->doc;
        bool is_known = false;
        for (int k = 0; k < 2; k++)
            if (strcmp(kinds[k], item->target.text) == 0) {
                stats[i].kind = (enum model_stat_kind)k;
                is_known = true;
            }
        if (is_known)
            continue;
        struct diagnostic *d =
            diagnostic_add(program->diagnostics, E0203, item->target.span,
                           "no kind of statistic is called '%s'", item->target.text);
        const char *suggestion = compile_suggest(item->target.text, kinds, 2);
        if (suggestion)
            diagnostic_suggest(program->diagnostics, d, suggestion);
        else
            diagnostic_help(program->diagnostics, d, "a statistic is a counter or a histogram");
    }
    type->model.stats = stats;
    type->model.stat_count = count;
}

static void unknown_measure(struct program *program, struct ast_name name)
{
    struct diagnostic *d = diagnostic_add(program->diagnostics, E0203, name.span,
                                          "no measure is called '%s'", name.text);
    const char *suggestion = compile_suggest(name.text, model_measure_names, MODEL_MEASURE_COUNT);
    if (suggestion)
        diagnostic_suggest(program->diagnostics, d, suggestion);
    else
        diagnostic_help(program->diagnostics, d,
                        "a measure is utilisation, hit_rate, bandwidth, stall or issue");
}

static void finish_measures(struct program *program, struct type_info *type)
{
    uint32_t count = type->measures.v.count;
    struct model_measure_decl *measures = region_take(program->region, count * sizeof *measures);
    for (uint32_t i = 0; i < count; i++) {
        const struct ast_item *item = type->measures.v.items[i];
        int kind = 0;
        while (kind < MODEL_MEASURE_COUNT
               && strcmp(model_measure_names[kind], item->name.text) != 0)
            kind++;
        if (kind == MODEL_MEASURE_COUNT)
            unknown_measure(program, item->name);
        measures[i] = (struct model_measure_decl){
            .kind = (enum model_measure_kind)kind,
            .doc = item->doc,
            .part_text = source_slice(program->sources, item->value->span),
            .whole_text = source_slice(program->sources, item->whole->span),
        };
    }
    type->model.measures = measures;
    type->model.measure_count = count;
}

static void collect_checks(struct program *program, struct type_info *type,
                           const struct ast_items *body, struct model_check_decl *into)
{
    for (uint32_t i = 0; body && i < body->v.count; i++) {
        const struct ast_item *item = body->v.items[i];
        collect_checks(program, type,
                       item->kind == AST_IF || item->kind == AST_FOR ? item->body : NULL, into);
        collect_checks(program, type, item->otherwise_body, into);
        if (item->kind != AST_CHECK)
            continue;
        if (into)
            into[type->model.check_count] = (struct model_check_decl){
                .text = source_slice(program->sources, item->value->span),
                .message = item->name.text ? item->name.text : "",
            };
        type->model.check_count++;
    }
}

/* Finishes all checks, those under `if` and `for` too: counted first, then written down. */
static void finish_checks(struct program *program, struct type_info *type)
{
    collect_checks(program, type, type->decl->body, NULL);
    struct model_check_decl *checks =
        region_take(program->region, type->model.check_count * sizeof *checks);
    type->model.check_count = 0;
    collect_checks(program, type, type->decl->body, checks);
    type->model.checks = checks;
}

static void unknown_part_type(struct program *program, struct ast_name name, bool or_interface)
{
    struct diagnostic *d =
        diagnostic_add(program->diagnostics, E0203, name.span, "no %s is called '%s'",
                       or_interface ? "interface or part" : "part", name.text);
    struct suggestion suggestion = suggestion_for(name.text);
    for (uint32_t i = 0; or_interface && i < program->interfaces.count; i++)
        suggestion_try(&suggestion, program->interfaces.items[i]->name);
    for (uint32_t i = 0; i < program->types.count; i++)
        if (program->types.items[i]->model.is_part)
            suggestion_try(&suggestion, program->types.items[i]->model.name);
    if (!or_interface && program_interface(program, name.text))
        diagnostic_help(program->diagnostics, d,
                        "'%s' is an interface: 'slot NAME : %s;' takes parts of it", name.text,
                        name.text);
    else if (!(or_interface && program_suggest_import(program, d, AST_INTERFACE, name.text))
             && !program_suggest_import(program, d, AST_PART, name.text))
        diagnostic_suggest(program->diagnostics, d, suggestion.best);
    program->is_damaged = true;
}

static void finish_parts(struct program *program, struct type_info *type)
{
    uint32_t count = type->parts.v.count;
    type->part_decls = region_take(program->region, count * sizeof *type->part_decls);
    for (uint32_t i = 0; i < count; i++) {
        const struct ast_item *item = type->parts.v.items[i];
        struct model_part_decl *decl = &type->part_decls[i];
        *decl = (struct model_part_decl){.name = item->name.text,
                                         .doc = item->doc,
                                         .place = program_place(program, item->name.span),
                                         .is_slot = item->kind == AST_SLOT,
                                         .is_optional = item->is_optional,
                                         .is_array = item->size != NULL};
        struct type_info *part = program_type(program, item->target.text);
        if (item->kind == AST_SLOT)
            decl->interface = program_interface(program, item->target.text);
        if (!decl->interface && part && part->model.is_part)
            decl->part_type = &part->model;
        if (!decl->interface && !decl->part_type)
            unknown_part_type(program, item->target, item->kind == AST_SLOT);
    }
    type->model.parts = type->part_decls;
    type->model.part_count = count;
}

static void finish_type(struct program *program, struct type_info *type)
{
    finish_params(program, type);
    finish_ports(program, type);
    finish_stats(program, type);
    finish_measures(program, type);
    finish_parts(program, type);
    finish_checks(program, type);
    uint32_t count = type->stores.v.count;
    struct model_store_decl *stores = region_take(program->region, count * sizeof *stores);
    for (uint32_t i = 0; i < count; i++) {
        const struct ast_item *item = type->stores.v.items[i];
        stores[i] = (struct model_store_decl){.name = item->name.text,
                                              .type = item->target.text,
                                              .doc = item->doc,
                                              .is_writer = item->kind == AST_STORE};
    }
    type->model.stores = stores;
    type->model.store_count = count;
    const char **clocks = region_take(program->region, type->clocks.v.count * sizeof *clocks);
    for (uint32_t i = 0; i < type->clocks.v.count; i++)
        clocks[i] = type->clocks.v.items[i]->name.text;
    type->model.clock_names = clocks;
    type->model.clock_count = type->clocks.v.count;
    if (type->model.is_part && type->decl->target.text) {
        type->model.interface = program_interface(program, type->decl->target.text);
        if (!type->model.interface) {
            struct diagnostic *d =
                diagnostic_add(program->diagnostics, E0203, type->decl->target.span,
                               "no interface is called '%s'", type->decl->target.text);
            struct suggestion suggestion = suggestion_for(type->decl->target.text);
            for (uint32_t i = 0; i < program->interfaces.count; i++)
                suggestion_try(&suggestion, program->interfaces.items[i]->name);
            if (!program_suggest_import(program, d, AST_INTERFACE, type->decl->target.text))
                diagnostic_suggest(program->diagnostics, d, suggestion.best);
            program->is_damaged = true;
        }
    }
}

void declare_finish(struct program *program)
{
    for (uint32_t i = 0; i < program->types.count; i++)
        finish_type(program, program->types.items[i]);
    for (uint32_t i = 0; i < program->protocols.count; i++) {
        struct protocol_info *protocol = program->protocols.items[i];
        protocol->dimensions =
            region_take(program->region, protocol->params.v.count * sizeof *protocol->dimensions);
        for (uint32_t k = 0; k < protocol->params.v.count; k++) {
            const struct ast_item *param = protocol->params.v.items[k];
            if (!quantity_type_named(param->target.text, &protocol->dimensions[k])) {
                diagnostic_add(program->diagnostics, E0203, param->target.span,
                               "no type is called '%s'", param->target.text);
                program->is_damaged = true;
            }
        }
    }
    if (program->diagnostics->error_count == 0)
        declare_names(program);
}

/* Values of parameters and lets, one cell each, computed when first asked for: so the order of
 * declaration does not matter, and a cycle shows as a cell that is asked for while it is busy.
 *
 * A parameter's value comes from the last matching --set, else from the outermost braces that set
 * it (elaborate_setting.c), else from its default; the first is evaluated without names, the second
 * where the instance with the braces is, the third inside. */
#include <string.h>

#include "base/number.h"
#include "dsl/origin.h"
#include "dsl/quantity.h"
#include "dsl/suggest.h"

#include "elaborate.h"

static const struct value bad = {.ok = false};

void object_init(struct elaboration *e, struct object *object)
{
    object->cells = region_take(e->region, object->type->params.v.count * sizeof *object->cells);
    object->slots = region_take(e->region, object->type->parts.v.count * sizeof *object->slots);
    settings_init(e, object);
}

static const char *object_text(struct elaboration *e, const struct object *object)
{
    return object->path[0] != '\0' ? object->path
                                   : region_printf(e->region, "%s", object->type->model.name);
}

/* True if a value lies in the range of its declaration. False: a diagnostic at the place that gave
 * the value says that it does not. */
static bool check_range(struct elaboration *e, struct object *object, uint32_t param,
                        const struct value *value, struct span place)
{
    const struct ast_item *item = object->type->params.v.items[param];
    const struct model_param_decl *decl = &object->type->param_decls[param];
    struct scope scope = {object, NULL};
    struct type_spec spec = {decl->dimension, NULL};
    if (!quantity_is_ordered(value->dimension))
        return true;
    if (item->low) {
        struct value low = eval_as(e, item->low, &scope, spec, object->node);
        struct value high = eval_as(e, item->high, &scope, spec, object->node);
        if (!low.ok || !high.ok)
            return false;
        bool inside =
            value->integer >= low.integer
            && (item->half_open ? value->integer < high.integer : value->integer <= high.integer);
        if (!inside) {
            struct diagnostic *d =
                diagnostic_add(e->diagnostics, E0302, place, "'%s' is %s, which is not in %s %s %s",
                               decl->name, value_text(e, value), value_text(e, &low),
                               item->half_open ? "..<" : "..", value_text(e, &high));
            bool is_default = item->value && place.begin == item->value->span.begin;
            if (!is_default)
                diagnostic_note(e->diagnostics, d, item->name.span, "the range is declared here");
            return false;
        }
    }
    bool is_power = value->integer > 0 && (value->integer & (value->integer - 1)) == 0;
    if (item->pow2 && !is_power) {
        struct diagnostic *d =
            diagnostic_add(e->diagnostics, E0303, place, "'%s' is %s, which is not a power of two",
                           decl->name, value_text(e, value));
        int64_t below = 1;
        while (value->integer > 1 && below <= value->integer / 2)
            below *= 2;
        struct value low = *value, high = *value;
        low.integer = below;
        high.integer = below <= INT64_MAX / 2 ? below * 2 : below;
        diagnostic_help(e->diagnostics, d, "the nearest are %s and %s", value_text(e, &low),
                        value_text(e, &high));
        return false;
    }
    return true;
}

static struct value setting_value(struct elaboration *e, struct object *object, uint32_t param,
                                  const struct setting *found)
{
    const struct ast_item *setting = found->item;
    const struct model_param_decl *decl = &object->type->param_decls[param];
    struct type_spec spec = {decl->dimension, decl->choice};
    if (setting->fill_body) {
        diagnostic_add(e->diagnostics, E0309, setting->value->span,
                       "'%s' is a parameter, not a slot for a part", decl->name);
        return bad;
    }
    return eval_as(e, setting->value, &found->scope, spec, object->node);
}

static struct value missing_value(struct elaboration *e, struct object *object, uint32_t param)
{
    const struct ast_item *item = object->type->params.v.items[param];
    if (e->is_standalone)
        return bad;
    struct diagnostic *d =
        diagnostic_add(e->diagnostics, E0304, object->span, "'%s' of '%s' has no value",
                       item->name.text, object_text(e, object));
    diagnostic_note(e->diagnostics, d, item->name.span, "declared here, without a default");
    diagnostic_help(e->diagnostics, d, "set it where the instance is made: '{ %s = ...; }'",
                    item->name.text);
    return bad;
}

static const char *first_with_origin(const char *const *docs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (docs[i] && origin_in(docs[i]).kind != ORIGIN_UNSTATED)
            return docs[i];
    return NULL;
}

/* The comment that says where a setting's value comes from: the comment of the setting, of the
 * instance with the braces, or of the type in whose body the braces are. */
static const char *setting_doc(const struct setting *setting, bool is_computed)
{
    const struct node *node = setting->anchor->node;
    const char *const docs[] = {setting->item->doc, node->item ? node->item->doc : NULL,
                                node->parent ? node->parent->object.type->model.doc : NULL};
    return first_with_origin(docs, is_computed ? 1 : ARRAY_COUNT(docs));
}

/* The comment of a default: the parameter's own, or its type's. */
static const char *default_doc(const struct object *object, const struct ast_item *item,
                               bool is_computed)
{
    const char *const docs[] = {item->doc, object->type->model.doc};
    return first_with_origin(docs, is_computed ? 1 : ARRAY_COUNT(docs));
}

struct model_param plain_setting(struct elaboration *e, const struct plain_setting *from)
{
    struct model_param_decl *decl = region_take(e->region, sizeof *decl);
    *decl = (struct model_param_decl){.name = from->name,
                                      .doc = from->doc,
                                      .place = program_place(e->program, from->declared),
                                      .dimension = from->dimension,
                                      .default_text = "",
                                      .range_text = from->range};
    const char *doc = first_with_origin(from->origins, 2);
    return (struct model_param){
        .decl = decl,
        .value = {.dimension = from->dimension, .integer = from->value},
        .source = from->is_overridden ? MODEL_FROM_OVERRIDE : MODEL_FROM_BODY,
        .place = program_place(e->program, from->place),
        .doc = doc ? doc : "",
    };
}

/* The value in the description, without --set. */
static struct value described_value(struct elaboration *e, struct object *object, uint32_t param,
                                    struct cell *cell)
{
    const struct ast_item *item = object->type->params.v.items[param];
    const struct model_param_decl *decl = &object->type->param_decls[param];
    struct setting setting;
    if (setting_find(e, object, decl->name, &setting)) {
        cell->source = MODEL_FROM_BODY;
        cell->place = setting.item->value->span;
        cell->is_computed = eval_uses_names(setting.item->value, &setting.scope);
        cell->doc = setting_doc(&setting, cell->is_computed);
        return setting_value(e, object, param, &setting);
    }
    cell->source = MODEL_FROM_DEFAULT;
    if (!item->value)
        return missing_value(e, object, param);
    cell->place = item->value->span;
    struct scope scope = {object, NULL};
    cell->is_computed = eval_uses_names(item->value, &scope);
    cell->doc = default_doc(object, item, cell->is_computed);
    return eval_as(e, item->value, &scope, (struct type_spec){decl->dimension, decl->choice},
                   object->node);
}

static struct value overridden_value(struct elaboration *e, struct object *object, uint32_t param,
                                     struct override *override, struct cell *cell)
{
    const struct model_param_decl *decl = &object->type->param_decls[param];
    e->diagnostics->muted++;
    described_value(e, object, param, cell); /* parameters in the value count as used */
    e->diagnostics->muted--;
    cell->source = MODEL_FROM_OVERRIDE;
    struct scope scope = {NULL, NULL};
    if (!override->value)
        return bad;
    cell->place = override->value->span;
    return eval_as(e, override->value, &scope, (struct type_spec){decl->dimension, decl->choice},
                   object->node);
}

static struct value compute(struct elaboration *e, struct object *object, uint32_t param,
                            struct cell *cell)
{
    const struct ast_item *item = object->type->params.v.items[param];
    if (item->kind == AST_LET) {
        struct scope scope = {object, NULL};
        cell->source = MODEL_FROM_LET;
        cell->place = item->value->span;
        return eval(e, item->value, &scope, NULL);
    }
    struct override *override = override_find(e, object, item->name.text);
    struct value value = override ? overridden_value(e, object, param, override, cell)
                                  : described_value(e, object, param, cell);
    if (value.ok && !check_range(e, object, param, &value, cell->place))
        return bad;
    return value;
}

struct value object_value(struct elaboration *e, struct object *object, uint32_t param)
{
    struct cell *cell = &object->cells[param];
    if (cell->state == CELL_DONE)
        return cell->value;
    if (cell->state == CELL_BUSY) {
        const struct ast_item *item = object->type->params.v.items[param];
        diagnostic_add(e->diagnostics, E0305, item->name.span,
                       "the value of '%s' depends on itself", item->name.text);
        return bad;
    }
    cell->state = CELL_BUSY;
    struct value value = compute(e, object, param, cell);
    cell->state = CELL_DONE;
    cell->value = value;
    return value;
}

void object_finish(struct elaboration *e, struct object *object)
{
    settings_check(e, object);
    for (uint32_t i = 0; i < object->type->params.v.count; i++)
        object_value(e, object, i);
    measures_make(e, object);
}

struct model_param *object_params(struct elaboration *e, struct object *object)
{
    uint32_t count = object->type->params.v.count;
    struct model_param *params = region_take(e->region, count * sizeof *params);
    for (uint32_t i = 0; i < count; i++) {
        struct value value = object_value(e, object, i);
        params[i] = (struct model_param){
            .decl = &object->type->param_decls[i],
            .value = {.dimension = value.dimension,
                      .integer = value.integer,
                      .string = value.string,
                      .choice = value.choice},
            .source = object->cells[i].source,
            .place = program_place(e->program, object->cells[i].place),
            .doc = object->cells[i].doc ? object->cells[i].doc : "",
            .is_computed = object->cells[i].is_computed,
        };
    }
    return params;
}

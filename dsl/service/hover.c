/* The meaning of a name or number: its declaration, the comment above it, values in a platform. */
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "dsl/quantity.h"
#include "dsl/syntax/lexer.h"

#include "describe.h"
#include "parser.h"
#include "service.h"

/* Different values of one parameter that are shown. */
#define VALUES_MAX 4

static const char *owner_text(struct region *region, const struct name_symbol *symbol)
{
    if (!symbol->owner)
        return "";
    const char *kind = symbol->owner->model.is_platform ? "platform"
                       : symbol->owner->model.is_part   ? "part"
                                                        : "component";
    return region_printf(region, "Of %s `%s`.", kind, symbol->owner->model.name);
}

static const char *dimension_text(struct service *s, const struct ast_item *item)
{
    enum model_dimension dimension;
    if (item->kind != AST_PARAM || !item->type || !item->type->name.text
        || !quantity_type_named(item->type->name.text, &dimension))
        return "";
    const char *unit = quantity_example_unit(dimension);
    return unit[0] != '\0' ? region_printf(s->region, " Its unit is `%s`.", unit) : "";
}

static const char *choice_code(struct service *s, const struct name_symbol *symbol)
{
    const struct ast_item *item = symbol->item;
    return item->kind == AST_ENUM
               ? region_printf(s->region, "enum %s: %s", item->name.text, symbol->shown.name)
               : describe_code(s->region, s->program, item);
}

static bool hover_name(struct service *s, const struct name_occurrence *occurrence,
                       struct service_hover *hover)
{
    const struct name_symbol *symbol = occurrence->symbol;
    if (symbol->shown.kind == SERVICE_FILE) {
        hover->code = symbol->shown.place.file;
        return true;
    }
    hover->code = symbol->shown.kind == SERVICE_CHOICE
                      ? choice_code(s, symbol)
                      : describe_code(s->region, s->program, symbol->item);
    const char *doc = describe_doc(s->program, symbol->item);
    const char *owner = owner_text(s->region, symbol);
    const char *unit = dimension_text(s, symbol->item);
    hover->text = region_printf(s->region, "%s%s%s%s", doc,
                                doc[0] != '\0' && owner[0] != '\0' ? "\n\n" : "", owner, unit);
    return true;
}

static bool hover_number(struct service *s, uint32_t offset, struct service_hover *hover)
{
    struct source_set unused;
    struct diagnostics ignored;
    struct token_list list = {0};
    source_set_init(&unused, s->region);
    diagnostics_init(&ignored, s->region, &unused);
    ignored.muted = 1;
    lexer_scan(s->region, &ignored, s->file, &list);
    for (uint32_t i = 0; i < list.tokens.count; i++) {
        const struct token *token = &list.tokens.items[i];
        if (token->kind != NUMBER || offset < token->span.begin || offset > token->span.end)
            continue;
        hover->begin = token->span.begin - s->file->base;
        hover->end = token->span.end - s->file->base;
        const char *unit = quantity_example_unit(token->dimension);
        if (token->dimension == MODEL_DIM_SECONDS)
            unit = "ps";
        hover->code = region_printf(s->region, "%s = %lld%s",
                                    quantity_format(s->region, token->value, token->dimension),
                                    (long long)token->value, unit);
        hover->text = quantity_dimension_name(token->dimension);
        return true;
    }
    return false;
}

bool service_hover_at(struct service *s, uint32_t at, struct service_hover *hover)
{
    *hover = (struct service_hover){.code = "", .text = ""};
    uint32_t offset = s->file->base + min(at, s->file->size);
    const struct name_occurrence *occurrence = names_at(service_names(s), offset);
    if (!occurrence)
        return hover_number(s, offset, hover);
    hover->begin = occurrence->span.begin - s->file->base;
    hover->end = occurrence->span.end - s->file->base;
    return hover_name(s, occurrence, hover);
}

/* ---- values ---- */

struct values {
    struct region *region;
    const char *texts[VALUES_MAX], *paths[VALUES_MAX];
    uint32_t counts[VALUES_MAX], count;
    bool more;
};

static const char *value_of(struct region *region, const struct model_value *value)
{
    switch (value->dimension) {
    case MODEL_DIM_BOOL:
        return value->integer ? "true" : "false";
    case MODEL_DIM_ENUM:
        return value->choice->names[value->integer];
    case MODEL_DIM_STRING:
        return region_printf(region, "\"%s\"", value->string);
    default:
        return quantity_format(region, value->integer, value->dimension);
    }
}

static void enter_value(struct values *values, const struct model_param *param, const char *path)
{
    const char *text = value_of(values->region, &param->value);
    for (uint32_t i = 0; i < values->count; i++)
        if (strcmp(values->texts[i], text) == 0) {
            values->counts[i]++;
            return;
        }
    if (values->count == VALUES_MAX) {
        values->more = true;
        return;
    }
    values->texts[values->count] = text;
    values->paths[values->count] = path;
    values->counts[values->count++] = 1;
}

/* True if a value comes from a setting whose value is at `at`, or, without a setting, is that of
 * the parameter declared there. */
static bool is_of(const struct model_param *param, bool is_set, const struct source_position *at)
{
    const struct model_place *place = is_set ? &param->place : &param->decl->place;
    return place->file && place->line == at->line && place->column == at->column
           && strcmp(place->file, at->file->name) == 0;
}

const char *service_values(struct service *s, const struct model *model, uint32_t at)
{
    struct values values = {.region = s->region};
    const struct name_occurrence *occurrence = names_at(service_names(s), s->file->base + at);
    if (!model || !occurrence
        || (occurrence->symbol->shown.kind != SERVICE_PARAM
            && occurrence->symbol->shown.kind != SERVICE_LET))
        return "";
    bool is_set = occurrence->value != 0;
    struct source_position here = source_locate(
        s->program->sources, is_set ? occurrence->value : occurrence->symbol->span.begin);
    if (!here.file)
        return "";
    for (uint32_t i = 0; i < model->instance_count; i++)
        for (uint32_t p = 0; p < model->instances[i]->param_count; p++)
            if (is_of(&model->instances[i]->params[p], is_set, &here))
                enter_value(&values, &model->instances[i]->params[p], model->instances[i]->path);
    for (uint32_t i = 0; i < model->part_count; i++)
        for (uint32_t p = 0; p < model->parts[i]->param_count; p++)
            if (is_of(&model->parts[i]->params[p], is_set, &here))
                enter_value(&values, &model->parts[i]->params[p], model->parts[i]->path);
    const char *text = "";
    for (uint32_t i = 0; i < values.count; i++) {
        const char *path = values.paths[i][0] != '\0' ? values.paths[i] : model->name;
        const char *others = values.counts[i] > 1
                                 ? region_printf(s->region, " and %u more", values.counts[i] - 1)
                                 : "";
        text = region_printf(s->region, "%s%s`%s` in `%s`%s", text, i > 0 ? ", " : "",
                             values.texts[i], path, others);
    }
    return values.more ? region_printf(s->region, "%s, and other values", text) : text;
}

/* Protocols with their arguments evaluated, and links. mem(64B) and mem(128B) are two protocols of
 * one declaration; each occurs once in the model, so that comparing pointers compares protocols. */
#include <string.h>

#include "base/number.h"
#include "dsl/quantity.h"
#include "dsl/suggest.h"

#include "elaborate.h"

struct field_type {
    const char *name;
    enum model_field_kind kind;
    uint32_t size;
};

static const struct field_type field_types[] = {
    {"u8", MODEL_FIELD_U8, 1},       {"u16", MODEL_FIELD_U16, 2},   {"u32", MODEL_FIELD_U32, 4},
    {"u64", MODEL_FIELD_U64, 8},     {"i32", MODEL_FIELD_I32, 4},   {"i64", MODEL_FIELD_I64, 8},
    {"bool", MODEL_FIELD_BOOL, 1},   {"addr", MODEL_FIELD_ADDR, 8}, {"bits", MODEL_FIELD_BITS, 0},
    {"bytes", MODEL_FIELD_BYTES, 0},
};

#define FIELD_TYPE_COUNT ARRAY_COUNT(field_types)
#define FIELD_SIZE_MAX   (1 << 20)

static void unknown_field_type(struct elaboration *e, const struct ast_item *item)
{
    struct diagnostic *d = diagnostic_add(e->diagnostics, E0203, item->target.span,
                                          "no field type is called '%s'", item->target.text);
    struct suggestion suggestion = suggestion_for(item->target.text);
    for (size_t i = 0; i < FIELD_TYPE_COUNT; i++)
        suggestion_try(&suggestion, field_types[i].name);
    for (uint32_t i = 0; i < e->program->enums.count; i++)
        suggestion_try(&suggestion, e->program->enums.items[i]->name);
    diagnostic_suggest(e->diagnostics, d, suggestion.best);
}

/* The size of bits[], bytes[] or string[]: a count or a number of bytes. */
static bool field_size(struct elaboration *e, const struct ast_item *item,
                       const struct scope *scope, uint32_t *size)
{
    struct value value = eval(e, item->size, scope, NULL);
    if (!value.ok)
        return false;
    if (value.dimension != MODEL_DIM_NONE && value.dimension != MODEL_DIM_BYTES) {
        diagnostic_add(e->diagnostics, E0301, item->size->span,
                       "expected a count or bytes, this is %s",
                       quantity_dimension_name(value.dimension));
        return false;
    }
    if (value.integer < 1 || value.integer > FIELD_SIZE_MAX) {
        diagnostic_add(e->diagnostics, E0302, item->size->span,
                       "the size is %s, which is not in 1 .. %d", value_text(e, &value),
                       FIELD_SIZE_MAX);
        return false;
    }
    *size = (uint32_t)value.integer;
    return true;
}

static void make_field(struct elaboration *e, const struct protocol_info *info,
                       const struct ast_item *item, const struct scope *scope,
                       struct model_field *field)
{
    *field = (struct model_field){.name = item->name.text, .doc = item->doc, .size_argument = -1};
    const struct field_type *type = NULL;
    for (size_t i = 0; i < FIELD_TYPE_COUNT; i++)
        if (strcmp(field_types[i].name, item->target.text) == 0)
            type = &field_types[i];
    if (!type) {
        field->kind = MODEL_FIELD_ENUM;
        field->choice = program_enum(e->program, item->target.text);
        field->size = 1;
        if (!field->choice)
            unknown_field_type(e, item);
        return;
    }
    field->kind = type->kind;
    field->size = type->size;
    bool is_sized = type->size == 0;
    if (is_sized != (item->size != NULL)) {
        diagnostic_add(e->diagnostics, E0309, item->target.span,
                       is_sized ? "'%s' needs a size: %s[N]" : "'%s' has no size", type->name,
                       type->name);
        return;
    }
    if (!is_sized)
        return;
    if (item->size->kind == AST_NAME)
        field->size_argument = item_list_find(&info->params, item->size->name.text);
    field_size(e, item, scope, &field->size);
}

/* `bytes[n] by FIELD`: on a link, as many bytes travel as that field says. It is the first field of
 * four bytes, which always has its place in the header (dsl/message_layout.h). */
static void find_length(struct elaboration *e, const struct ast_item *message,
                        const struct ast_item *item, const struct model_field *fields,
                        struct model_field *field)
{
    if (!item->via.text)
        return;
    int32_t last = -1, first = -1;
    for (uint32_t i = 0; i < message->body->v.count; i++) {
        if (first < 0 && fields[i].size == 4)
            first = (int32_t)i;
        if (strcmp(fields[i].name, item->via.text) == 0)
            last = (int32_t)i;
    }
    if (last < 0)
        diagnostic_add(e->diagnostics, E0205, item->via.span, "message '%s' has no field '%s'",
                       message->name.text, item->via.text);
    else if (field->kind != MODEL_FIELD_BYTES || fields[last].kind != MODEL_FIELD_U32
             || last != first)
        diagnostic_add(e->diagnostics, E0309, item->via.span,
                       "the length of bytes[] is the message's first field of type u32");
    else
        field->length_field = (uint32_t)last + 1;
}

static struct model_message *make_messages(struct elaboration *e, const struct protocol_info *info,
                                           const struct item_list *items, const struct scope *scope)
{
    struct model_message *messages = region_take(e->region, items->v.count * sizeof *messages);
    for (uint32_t i = 0; i < items->v.count; i++) {
        const struct ast_item *item = items->v.items[i];
        struct model_field *fields = region_take(e->region, item->body->v.count * sizeof *fields);
        for (uint32_t f = 0; f < item->body->v.count; f++)
            make_field(e, info, item->body->v.items[f], scope, &fields[f]);
        for (uint32_t f = 0; f < item->body->v.count; f++)
            find_length(e, item, item->body->v.items[f], fields, &fields[f]);
        messages[i] = (struct model_message){.name = item->name.text,
                                             .doc = item->doc,
                                             .place = program_place(e->program, item->name.span),
                                             .fields = fields,
                                             .field_count = item->body->v.count,
                                             .is_reply = item->is_reply};
    }
    return messages;
}

/* Finds the requests that each reply answers. */
static void pair_replies(struct elaboration *e, const struct protocol_info *info,
                         struct model_message *requests, struct model_message *replies)
{
    for (uint32_t i = 0; i < info->replies.v.count; i++) {
        const struct ast_names *names = info->replies.v.items[i]->names;
        for (uint32_t k = 0; k < names->v.count; k++) {
            const struct ast_name *name = &names->v.items[k];
            int32_t request = item_list_find(&info->requests, name->text);
            if (request >= 0 && request < 64) {
                replies[i].answers |= UINT64_C(1) << request;
                requests[request].has_reply = true;
                continue;
            }
            struct diagnostic *d = diagnostic_add(e->diagnostics, E0205, name->span,
                                                  "protocol '%s' has no request called '%s'",
                                                  info->decl->name.text, name->text);
            struct suggestion suggestion = suggestion_for(name->text);
            for (uint32_t r = 0; r < info->requests.v.count; r++)
                suggestion_try(&suggestion, info->requests.v.items[r]->name.text);
            diagnostic_suggest(e->diagnostics, d, suggestion.best);
        }
    }
}

static struct model_protocol *make_protocol(struct elaboration *e, const struct protocol_info *info,
                                            const int64_t *arguments)
{
    uint32_t count = info->params.v.count;
    const char **names = region_take(e->region, count * sizeof *names);
    struct binding *bindings = region_take(e->region, count * sizeof *bindings);
    for (uint32_t i = 0; i < count; i++) {
        names[i] = info->params.v.items[i]->name.text;
        bindings[i] = (struct binding){
            .name = names[i],
            .value = {.ok = true, .dimension = info->dimensions[i], .integer = arguments[i]},
            .outer = i > 0 ? &bindings[i - 1] : NULL};
    }
    struct scope scope = {NULL, count > 0 ? &bindings[count - 1] : NULL};
    struct model_message *requests = make_messages(e, info, &info->requests, &scope);
    struct model_message *replies = make_messages(e, info, &info->replies, &scope);
    pair_replies(e, info, requests, replies);
    struct model_protocol *made = region_take(e->region, sizeof *made);
    *made = (struct model_protocol){.name = info->decl->name.text,
                                    .doc = info->decl->doc,
                                    .place = program_place(e->program, info->decl->name.span),
                                    .param_names = names,
                                    .arguments = arguments,
                                    .argument_count = count,
                                    .requests = requests,
                                    .request_count = info->requests.v.count,
                                    .replies = replies,
                                    .reply_count = info->replies.v.count};
    vector_push(e->region, &e->protocols, made);
    return made;
}

static struct model_protocol *protocol_get(struct elaboration *e, const struct protocol_info *info,
                                           const int64_t *arguments)
{
    uint32_t count = info->params.v.count;
    for (uint32_t i = 0; i < e->protocols.count; i++) {
        struct model_protocol *p = e->protocols.items[i];
        if (strcmp(p->name, info->decl->name.text) == 0
            && (count == 0 || memcmp(p->arguments, arguments, count * sizeof *arguments) == 0))
            return p;
    }
    return make_protocol(e, info, arguments);
}

const struct model_protocol *protocol_of_port(struct elaboration *e, struct node *node,
                                              uint32_t port)
{
    struct port_group *group = &node->ports[port];
    if (group->has_protocol)
        return group->protocol;
    group->has_protocol = true;
    const struct ast_item *item = node->object.type->ports.v.items[port];
    struct protocol_info *info = program_protocol(e->program, item->target.text);
    if (!info)
        return NULL; /* `any`, bound when connected; or unknown, which is already said */
    uint32_t count = item->args ? item->args->v.count : 0;
    if (count != info->params.v.count) {
        struct diagnostic *d = diagnostic_add(
            e->diagnostics, E0309, item->target.span, "protocol '%s' takes %u argument%s, not %u",
            item->target.text, info->params.v.count, info->params.v.count == 1 ? "" : "s", count);
        diagnostic_note(e->diagnostics, d, info->decl->name.span, "declared here");
        return NULL;
    }
    int64_t *arguments = region_take(e->region, count * sizeof *arguments);
    struct scope scope = {&node->object, NULL};
    for (uint32_t i = 0; i < count; i++) {
        struct value value = eval_as(e, item->args->v.items[i], &scope,
                                     (struct type_spec){info->dimensions[i], NULL}, node);
        if (!value.ok)
            return NULL;
        arguments[i] = value.integer;
    }
    group->protocol = protocol_get(e, info, arguments);
    return group->protocol;
}

const char *protocol_text(struct elaboration *e, const struct model_protocol *protocol)
{
    const char *text = protocol->name;
    struct protocol_info *info = program_protocol(e->program, protocol->name);
    for (uint32_t i = 0; i < protocol->argument_count; i++)
        text =
            region_printf(e->region, "%s%s%s", text, i == 0 ? "(" : ", ",
                          quantity_format(e->region, protocol->arguments[i], info->dimensions[i]));
    return protocol->argument_count > 0 ? region_printf(e->region, "%s)", text) : text;
}

/* Protocols that no port uses are looked at with arguments of one, so that mistakes in them show.
 */
void protocols_check(struct elaboration *e)
{
    uint32_t used = e->protocols.count;
    for (uint32_t i = 0; i < e->program->protocols.count; i++) {
        const struct protocol_info *info = e->program->protocols.items[i];
        bool is_used = false;
        for (uint32_t k = 0; k < used; k++)
            is_used |= strcmp(e->protocols.items[k]->name, info->decl->name.text) == 0;
        if (is_used)
            continue;
        int64_t *arguments = region_take(e->region, info->params.v.count * sizeof *arguments);
        for (uint32_t k = 0; k < info->params.v.count; k++)
            arguments[k] = 64;
        make_protocol(e, info, arguments);
    }
    e->protocols.count = used;
}

struct link_setting {
    const char *name;
    enum model_dimension dimension;
};

static const struct link_setting link_settings[] = {{"bandwidth", MODEL_DIM_BYTES_PER_S},
                                                    {"latency", MODEL_DIM_SECONDS}};

static const struct ast_item *find_setting(struct elaboration *e, const struct ast_items *body,
                                           const char *name)
{
    const struct ast_item *first = NULL;
    for (uint32_t i = 0; i < body->v.count; i++) {
        const struct ast_item *item = body->v.items[i];
        if (item->kind != AST_SETTING || strcmp(item->name.text, name) != 0)
            continue;
        if (!first) {
            first = item;
            continue;
        }
        struct diagnostic *d =
            diagnostic_add(e->diagnostics, E0206, item->name.span, "'%s' is set twice", name);
        diagnostic_note(e->diagnostics, d, first->span, "first set here");
    }
    return first;
}

static void check_link_names(struct elaboration *e, const struct ast_items *body)
{
    for (uint32_t i = 0; i < body->v.count; i++) {
        const struct ast_item *item = body->v.items[i];
        const char *name = item->kind == AST_SETTING ? item->name.text : "insert";
        bool is_known = strcmp(name, "bandwidth") == 0 || strcmp(name, "latency") == 0;
        if (is_known && !item->path)
            continue;
        if (is_known || item->kind != AST_SETTING) {
            diagnostic_add(e->diagnostics, E0204, item->span, "a link has no instances inside");
            continue;
        }
        struct diagnostic *d =
            diagnostic_add(e->diagnostics, E0204, item->name.span, "a link has no '%s'", name);
        static const char *const names[] = {"bandwidth", "latency"};
        const char *suggestion = compile_suggest(name, names, 2);
        if (suggestion)
            diagnostic_suggest(e->diagnostics, d, suggestion);
        else
            diagnostic_help(e->diagnostics, d, "a link has a bandwidth and a latency");
    }
}

/* `item` or `override` gives the value, or neither: then it stays as it was. */
static void keep_setting(struct elaboration *e, struct model_link_type *model, int index,
                         const struct ast_item *item, const struct override *override,
                         struct span span, int64_t value)
{
    struct model_param *kept = &model->settings[index];
    if (!item && !override && kept->decl)
        return;
    struct span place = item ? item->value->span : span;
    bool is_overridden = override && override->value;
    struct plain_setting from = {
        .name = link_settings[index].name,
        .doc = model->doc,
        .range = "",
        .declared = span,
        .dimension = link_settings[index].dimension,
        .value = value,
        .is_overridden = is_overridden,
        .place = is_overridden ? override->value->span : place,
        .origins = {item ? item->doc : kept->doc, model->doc},
    };
    *kept = plain_setting(e, &from);
}

bool link_make(struct elaboration *e, struct model_link_type *model, const struct ast_items *body,
               const struct scope *scope, struct span span, bool partial)
{
    uint32_t errors = e->diagnostics->error_count;
    check_link_names(e, body);
    int64_t values[2] = {(int64_t)model->bandwidth_bytes_per_s, (int64_t)model->latency_ps};
    struct span latency_place = span;
    for (int i = 0; i < 2; i++) {
        struct type_spec spec = {link_settings[i].dimension, NULL};
        const struct ast_item *item = find_setting(e, body, link_settings[i].name);
        struct value value = {.ok = true, .integer = values[i]};
        if (item)
            value = eval_as(e, item->value, scope, spec, NULL);
        struct override *override =
            partial ? NULL : override_find_link(e, model->name, link_settings[i].name);
        if (override && override->value) {
            struct scope none = {NULL, NULL};
            value = eval_as(e, override->value, &none, spec, NULL);
        }
        if (!value.ok)
            return false;
        if (value.integer < 0 || (i == 0 && value.integer == 0 && item)) {
            diagnostic_add(e->diagnostics, E0302, item ? item->value->span : span,
                           "the %s of a link is above zero", link_settings[i].name);
            return false;
        }
        values[i] = value.integer;
        keep_setting(e, model, i, item, override, span, value.integer);
        if (i == 1 && item)
            latency_place = item->value->span;
    }
    model->bandwidth_bytes_per_s = (uint64_t)values[0];
    model->latency_ps = (uint64_t)values[1];
    if (values[1] == 0) {
        bool is_missing = latency_place.begin == span.begin;
        struct diagnostic *d = diagnostic_add(
            e->diagnostics, E0411, latency_place,
            is_missing ? "link '%s' has no latency" : "link '%s' has zero latency", model->name);
        diagnostic_help(e->diagnostics, d,
                        "nothing arrives in the moment it is sent, and parallel runs need time "
                        "between their parts: give at least one cycle, e.g. 'latency = 1ns;'");
    }
    return e->diagnostics->error_count == errors;
}

void links_make(struct elaboration *e)
{
    for (uint32_t i = 0; i < e->program->links.count; i++) {
        struct link_info *link = e->program->links.items[i];
        struct model_link_type *model = region_take(e->region, sizeof *model);
        model->name = link->decl->name.text;
        model->doc = link->decl->doc;
        model->place = program_place(e->program, link->decl->name.span);
        struct scope scope = {NULL, NULL};
        if (link_make(e, model, link->decl->body, &scope, link->decl->name.span, false))
            link->model = model;
    }
}

/* Bodies of types as they are written: nothing is decided, so both branches of an `if` count.
 * Called by names_walk.c, complete.c and hover.c. */
#include <string.h>

#include "base/number.h"

#include "names.h"

/* A `let` that follows from another, and so on: no more than this. */
#define LETS_MAX 16

static bool walk(const struct ast_items *body, member_visit *visit, void *context)
{
    for (uint32_t i = 0; body && i < body->v.count; i++) {
        const struct ast_item *item = body->v.items[i];
        if (!visit(context, item))
            return false;
        bool opens = item->kind == AST_IF || item->kind == AST_FOR;
        if (opens
            && !(walk(item->body, visit, context) && walk(item->otherwise_body, visit, context)))
            return false;
    }
    return true;
}

void members_walk(const struct type_info *type, member_visit *visit, void *context)
{
    walk(type->decl->body, visit, context);
}

static const enum service_kind kinds[] = {
    [AST_IMPORT] = SERVICE_FILE,         [AST_PROTOCOL] = SERVICE_PROTOCOL,
    [AST_MESSAGE] = SERVICE_MESSAGE,     [AST_FIELD] = SERVICE_FIELD,
    [AST_LINK] = SERVICE_LINK,           [AST_ENUM] = SERVICE_ENUM,
    [AST_INTERFACE] = SERVICE_INTERFACE, [AST_PART] = SERVICE_PART,
    [AST_COMPONENT] = SERVICE_COMPONENT, [AST_PLATFORM] = SERVICE_PLATFORM,
    [AST_PARAM] = SERVICE_PARAM,         [AST_LET] = SERVICE_LET,
    [AST_PORT] = SERVICE_PORT,           [AST_STAT] = SERVICE_STAT,
    [AST_SLOT] = SERVICE_SLOT,           [AST_SUBPART] = SERVICE_SUBPART,
    [AST_STORE] = SERVICE_STORE,         [AST_READS] = SERVICE_STORE,
    [AST_CLOCK] = SERVICE_CLOCK,         [AST_BEHAVIOUR] = SERVICE_FILE,
    [AST_INSTANCE] = SERVICE_INSTANCE,   [AST_CONNECT] = SERVICE_INSTANCE,
    [AST_SPACE] = SERVICE_SPACE,         [AST_FOR] = SERVICE_VARIABLE,
    [AST_FACT] = SERVICE_KEYWORD,        [AST_INSERT] = SERVICE_INSTANCE,
};

enum service_kind member_kind(const struct ast_item *item)
{
    return (size_t)item->kind < ARRAY_COUNT(kinds) ? kinds[item->kind] : SERVICE_FILE;
}

struct ast_name member_name(const struct ast_item *item)
{
    static const struct ast_name none = {NULL, {0, 0}};
    switch (item->kind) {
    case AST_PARAM:
    case AST_LET:
    case AST_PORT:
    case AST_STAT:
    case AST_SLOT:
    case AST_SUBPART:
    case AST_STORE:
    case AST_READS:
    case AST_CLOCK:
    case AST_INSTANCE:
    case AST_SPACE:
        return item->name;
    case AST_CONNECT: /* "via NAME = TYPE" */
        return item->target.text ? item->via : none;
    default:
        return none;
    }
}

struct search {
    const char *name;
    bool values, statistics;
    const struct ast_item *member;
};

static bool is_found(void *context, const struct ast_item *item)
{
    struct search *search = context;
    bool is_value = item->kind == AST_PARAM || item->kind == AST_LET;
    struct ast_name name = member_name(item);
    if (is_value != search->values || item->kind == AST_STAT || !name.text
        || strcmp(name.text, search->name) != 0)
        return true;
    search->member = item;
    return false;
}

const struct ast_item *member_value(const struct type_info *type, const char *name)
{
    struct search search = {.name = name, .values = true};
    members_walk(type, is_found, &search);
    return search.member;
}

const struct ast_item *member_thing(const struct type_info *type, const char *name)
{
    struct search search = {.name = name};
    members_walk(type, is_found, &search);
    return search.member;
}

const struct ast_item *member_setting(const struct type_info *type, const char *name)
{
    const struct ast_item *value = member_value(type, name);
    return value ? value : member_thing(type, name);
}

bool member_fills(const struct type_info *part, const struct ast_item *slot)
{
    if (!part->model.is_part || !slot->target.text)
        return false;
    const char *interface = part->decl->target.text;
    return strcmp(part->model.name, slot->target.text) == 0
           || (interface && strcmp(interface, slot->target.text) == 0);
}

const struct type_info *member_type(const struct program *program, const struct ast_item *item)
{
    bool has_type = item->kind == AST_INSTANCE || item->kind == AST_CONNECT
                    || item->kind == AST_SUBPART || item->kind == AST_INSERT;
    if (has_type && item->target.text)
        return program_type(program, item->target.text);
    if (item->kind != AST_SLOT)
        return NULL;
    const struct type_info *filler = item->value && item->value->name.text
                                         ? program_type(program, item->value->name.text)
                                         : NULL;
    return filler || !item->target.text ? filler : program_type(program, item->target.text);
}

const struct type_info *member_filler(const struct program *program, const struct ast_item *slot,
                                      const char *name)
{
    const struct type_info *usual = member_type(program, slot);
    if (usual && member_setting(usual, name))
        return usual;
    for (uint32_t i = 0; slot->kind == AST_SLOT && i < program->types.count; i++) {
        const struct type_info *type = program->types.items[i];
        if (member_fills(type, slot) && member_setting(type, name))
            return type;
    }
    return usual;
}

const struct ast_item *enum_named(const struct program *program, const char *name)
{
    for (uint32_t f = 0; f < program->files.count; f++) {
        const struct ast_items *items = program->files.items[f]->items;
        for (uint32_t i = 0; i < items->v.count; i++)
            if (items->v.items[i]->kind == AST_ENUM
                && strcmp(items->v.items[i]->name.text, name) == 0)
                return items->v.items[i];
    }
    return NULL;
}

const struct ast_names *enum_names(const struct program *program, const struct ast_item *param,
                                   const struct ast_item **item)
{
    const struct ast_item *ignored = NULL;
    item = item ? item : &ignored;
    *item = param;
    if (!param || param->kind != AST_PARAM || !param->type)
        return NULL;
    if (param->type->literals)
        return param->type->literals;
    const struct ast_item *named =
        param->type->name.text ? enum_named(program, param->type->name.text) : NULL;
    *item = named;
    return named ? named->names : NULL;
}

const struct ast_item *enum_of(const struct program *program, const struct type_info *type,
                               const struct ast_expr *x)
{
    for (int i = 0; i < LETS_MAX && x && type; i++) {
        const struct ast_item *item = NULL;
        if (x->kind == AST_NAME) {
            item = member_value(type, x->name.text);
        } else if (x->kind == AST_MEMBER && x->a->kind == AST_NAME) {
            const struct ast_item *thing = member_thing(type, x->a->name.text);
            type = thing ? member_type(program, thing) : NULL;
            item = type ? member_value(type, x->name.text) : NULL;
        }
        if (!item || item->kind == AST_PARAM)
            return enum_names(program, item, NULL) ? item : NULL;
        x = item->value;
    }
    return NULL;
}

const struct ast_item *protocol_message(const struct program *program, const struct ast_item *port,
                                        const char *name)
{
    const struct protocol_info *protocol = port->kind == AST_PORT && port->target.text
                                               ? program_protocol(program, port->target.text)
                                               : NULL;
    for (uint32_t i = 0; protocol && i < protocol->decl->body->v.count; i++) {
        const struct ast_item *item = protocol->decl->body->v.items[i];
        if (item->kind == AST_MESSAGE && strcmp(item->name.text, name) == 0)
            return item;
    }
    return NULL;
}

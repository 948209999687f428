/* Walks the trees of all files and enters every name. What an editor marks as unknown is left out:
 * a name without meaning has no occurrence. Called by service.c. */
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

#include "names.h"

struct loop {
    const struct ast_item *item;
    const struct loop *outer;
};

/* The scope in which a name is looked up. */
struct scope_of_names {
    struct names *names;
    const struct type_info *type;       /* NULL: at the top */
    const struct protocol_info *fields; /* whose arguments are known; NULL: none */
    const struct loop *loops;
    const struct ast_items *inserted; /* the braces that insert instances; NULL: none do */
};

static void walk_expr(const struct scope_of_names *s, const struct ast_expr *x,
                      const struct ast_item *choice);
static void walk_settings(const struct scope_of_names *s, const struct ast_items *items,
                          const struct type_info *target);

static void refer(const struct scope_of_names *s, struct span span, const struct ast_item *to,
                  const struct type_info *owner)
{
    struct ast_name name = to->kind == AST_CONNECT ? to->via : to->name;
    if (name.text)
        names_add(s->names, span, names_symbol(s->names, member_kind(to), name, to, owner));
}

static void walk_exprs(const struct scope_of_names *s, const struct ast_exprs *list)
{
    for (uint32_t i = 0; list && i < list->v.count; i++)
        walk_expr(s, list->v.items[i], NULL);
}

/* ---- names at the top ---- */

static void refer_type(const struct scope_of_names *s, struct ast_name name)
{
    const struct type_info *type = name.text ? program_type(s->names->program, name.text) : NULL;
    if (type)
        refer(s, name.span, type->decl, NULL);
}

static const struct ast_item *top_item(const struct program *program, enum ast_kind kind,
                                       const char *name)
{
    for (uint32_t f = 0; f < program->files.count; f++) {
        const struct ast_items *items = program->files.items[f]->items;
        for (uint32_t i = 0; i < items->v.count; i++)
            if (items->v.items[i]->kind == kind && items->v.items[i]->name.text
                && strcmp(items->v.items[i]->name.text, name) == 0)
                return items->v.items[i];
    }
    return NULL;
}

static bool refer_top(const struct scope_of_names *s, struct ast_name name, enum ast_kind kind)
{
    const struct ast_item *item = name.text ? top_item(s->names->program, kind, name.text) : NULL;
    if (item)
        refer(s, name.span, item, NULL);
    return item != NULL;
}

static void refer_thing(const struct scope_of_names *s, struct ast_name name)
{
    const struct ast_item *item = name.text && s->type ? member_thing(s->type, name.text) : NULL;
    if (item)
        refer(s, name.span, item, s->type);
}

/* ---- choices ---- */

static bool refer_choice(const struct scope_of_names *s, struct ast_name name,
                         const struct ast_item *param)
{
    const struct ast_item *owner;
    const struct ast_names *choices = enum_names(s->names->program, param, &owner);
    for (uint32_t i = 0; choices && i < choices->v.count; i++) {
        const struct ast_name *choice = &choices->v.items[i];
        if (strcmp(choice->text, name.text) != 0)
            continue;
        names_add(s->names, name.span,
                  names_symbol(s->names, SERVICE_CHOICE, *choice, owner, s->type));
        return true;
    }
    return false;
}

static void declare_choices(const struct scope_of_names *s, const struct ast_names *choices,
                            const struct ast_item *item)
{
    for (uint32_t i = 0; choices && i < choices->v.count; i++)
        names_add(s->names, choices->v.items[i].span,
                  names_symbol(s->names, SERVICE_CHOICE, choices->v.items[i], item, s->type));
}

/* ---- paths and expressions ---- */

/* The instance that the braces around insert under this name, wherever in it they do. */
static const struct ast_item *inserted_named(const struct scope_of_names *s, const char *name)
{
    for (uint32_t i = 0; s->inserted && i < s->inserted->v.count; i++) {
        const struct ast_item *item = s->inserted->v.items[i];
        if (item->kind == AST_INSERT && item->name.text && strcmp(item->name.text, name) == 0)
            return item;
    }
    return NULL;
}

/* The declaration that a path names, from the body of `from`; `*owner` is the type that declares
 * it. */
static const struct ast_item *walk_path(const struct scope_of_names *s, const struct ast_expr *x,
                                        const struct type_info *from,
                                        const struct type_info **owner)
{
    const struct program *program = s->names->program;
    if (x->kind == AST_INDEX || x->kind == AST_SLICE || x->kind == AST_ALL) {
        if (x->b)
            walk_expr(s, x->b, NULL);
        if (x->c)
            walk_expr(s, x->c, NULL);
        return x->a ? walk_path(s, x->a, from, owner) : NULL;
    }
    const struct ast_item *member = NULL;
    *owner = from;
    if (x->kind == AST_NAME && from) {
        member = member_thing(from, x->name.text);
        if (!member && from != s->type)
            member = inserted_named(s, x->name.text);
    } else if (x->kind == AST_MEMBER) {
        const struct type_info *type;
        const struct ast_item *left = walk_path(s, x->a, from, &type);
        *owner = left ? member_filler(program, left, x->name.text) : NULL;
        if (*owner) {
            member = member_setting(*owner, x->name.text);
            if (!member)
                member = inserted_named(s, x->name.text);
        } else if (left) {
            member = protocol_message(program, left, x->name.text);
        }
    }
    if (member)
        refer(s, x->name.span, member, *owner);
    return member;
}

static void walk_paths(const struct scope_of_names *s, const struct ast_exprs *list)
{
    const struct type_info *owner;
    for (uint32_t i = 0; list && i < list->v.count; i++)
        walk_path(s, list->v.items[i], s->type, &owner);
}

static const struct ast_item *field_named(const struct protocol_info *protocol, const char *name)
{
    int32_t number = protocol ? item_list_find(&protocol->params, name) : -1;
    return number >= 0 ? protocol->params.v.items[number] : NULL;
}

static void walk_name(const struct scope_of_names *s, const struct ast_expr *x,
                      const struct ast_item *choice)
{
    if (choice && refer_choice(s, x->name, choice))
        return;
    for (const struct loop *loop = s->loops; loop; loop = loop->outer)
        if (loop->item->name.text && strcmp(loop->item->name.text, x->name.text) == 0) {
            refer(s, x->name.span, loop->item, s->type);
            return;
        }
    const struct ast_item *item =
        s->type ? member_value(s->type, x->name.text) : field_named(s->fields, x->name.text);
    if (!item && s->type) /* member of a part or a store, where these are values */
        item = member_thing(s->type, x->name.text);
    if (item)
        refer(s, x->name.span, item, s->type);
}

static void walk_binary(const struct scope_of_names *s, const struct ast_expr *x)
{
    const struct program *program = s->names->program;
    walk_expr(s, x->a, enum_of(program, s->type, x->b));
    walk_expr(s, x->b, enum_of(program, s->type, x->a));
}

static void walk_expr(const struct scope_of_names *s, const struct ast_expr *x,
                      const struct ast_item *choice)
{
    const struct type_info *owner;
    if (!x)
        return;
    switch (x->kind) {
    case AST_NAME:
        walk_name(s, x, choice);
        return;
    case AST_MEMBER:
    case AST_INDEX:
    case AST_SLICE:
    case AST_ALL:
        walk_path(s, x, s->type, &owner);
        return;
    case AST_CALL:
        if (strcmp(x->name.text, "count") == 0)
            walk_paths(s, x->list);
        else
            walk_exprs(s, x->list);
        return;
    case AST_BINARY:
        walk_binary(s, x);
        return;
    case AST_CHOOSE:
        walk_expr(s, x->a, NULL);
        walk_expr(s, x->b, choice);
        walk_expr(s, x->c, choice);
        return;
    case AST_NEGATE:
    case AST_NOT:
        walk_expr(s, x->a, NULL);
        return;
    default:
        return;
    }
}

/* ---- settings ---- */

static void walk_part_value(const struct scope_of_names *s, const struct ast_item *setting)
{
    const struct ast_expr *value = setting->value;
    if (!value || value->kind != AST_NAME)
        return;
    refer_type(s, value->name);
    walk_settings(s, setting->fill_body, program_type(s->names->program, value->name.text));
}

static void walk_setting(const struct scope_of_names *s, const struct ast_item *setting,
                         const struct type_info *target)
{
    const struct type_info *owner = target;
    const struct ast_item *declared = NULL;
    if (setting->path && target) {
        const struct ast_item *left = walk_path(s, setting->path, target, &owner);
        owner = left ? member_filler(s->names->program, left, setting->name.text) : NULL;
    }
    if (owner)
        declared = member_setting(owner, setting->name.text);
    uint32_t before = s->names->occurrences.count;
    if (declared)
        refer(s, setting->name.span, declared, owner);
    if (s->names->occurrences.count > before && setting->value)
        s->names->occurrences.items[before].value = setting->value->span.begin;
    if (setting->fill_body || (declared && declared->kind == AST_SLOT)) {
        struct ast_name value = setting->value ? setting->value->name : setting->name;
        bool is_handed =
            declared && s->type && value.text && !program_type(s->names->program, value.text);
        if (is_handed) /* the slot of the composite around it */
            refer_thing(s, value);
        else
            walk_part_value(s, setting);
        return;
    }
    if (declared && (declared->kind == AST_READS || declared->kind == AST_CLOCK)) {
        if (setting->value)
            walk_path(s, setting->value, s->type, &owner);
        return;
    }
    walk_expr(s, setting->value, declared);
}

/* `insert`: its paths begin inside of the instance with the braces. */
static void walk_insert(const struct scope_of_names *s, const struct ast_item *item,
                        const struct type_info *target)
{
    const struct ast_exprs *sides[] = {item->left, item->right};
    const struct type_info *owner = target;
    for (size_t side = 0; side < ARRAY_COUNT(sides); side++)
        for (uint32_t i = 0; sides[side] && i < sides[side]->v.count; i++)
            walk_path(s, sides[side]->v.items[i], target, &owner);
    walk_expr(s, item->latency, NULL);
    if (!item->target.text)
        return;
    refer_type(s, item->target);
    walk_settings(s, item->body, program_type(s->names->program, item->target.text));
    const struct ast_item *at = item->path ? walk_path(s, item->path, target, &owner) : NULL;
    const struct type_info *type = at ? program_type(s->names->program, at->target.text) : NULL;
    const struct ast_item *port = type ? member_thing(type, item->via.text) : NULL;
    if (port)
        refer(s, item->via.span, port, type);
    refer(s, item->name.span, item, owner);
}

static void walk_settings(const struct scope_of_names *s, const struct ast_items *items,
                          const struct type_info *target)
{
    struct scope_of_names inside = *s;
    for (uint32_t i = 0; items && i < items->v.count; i++)
        if (items->v.items[i]->kind == AST_INSERT)
            inside.inserted = items;
    for (uint32_t i = 0; items && i < items->v.count; i++)
        if (items->v.items[i]->kind == AST_SETTING)
            walk_setting(&inside, items->v.items[i], target);
        else
            walk_insert(&inside, items->v.items[i], target);
}

/* ---- statements of a body ---- */

static void walk_body(const struct scope_of_names *s, const struct ast_items *body);

static void walk_connect(const struct scope_of_names *s, const struct ast_item *item)
{
    const struct type_info *owner;
    walk_paths(s, item->left);
    walk_paths(s, item->right);
    if (item->via.text && s->type) {
        if (member_thing(s->type, item->via.text))
            refer_thing(s, item->via);
        else
            refer_top(s, item->via, AST_LINK);
    }
    if (item->target.text) {
        refer_type(s, item->target);
        refer_top(s, item->target, AST_LINK);
        walk_settings(s, item->body, program_type(s->names->program, item->target.text));
    }
    if (item->over.text && !refer_top(s, item->over, AST_LINK))
        refer_thing(s, item->over);
    refer_thing(s, item->on);
    walk_expr(s, item->latency, NULL);
    if (item->which) {
        walk_expr(s, item->which->b, NULL);
        walk_expr(s, item->which->c, NULL);
    }
    if (item->by)
        walk_path(s, item->by, s->type, &owner);
    if (item->otherwise)
        walk_path(s, item->otherwise, s->type, &owner);
}

static void walk_if(const struct scope_of_names *s, const struct ast_item *item)
{
    walk_expr(s, item->value, NULL);
    walk_body(s, item->body);
    walk_body(s, item->otherwise_body);
}

static void walk_for(const struct scope_of_names *s, const struct ast_item *item)
{
    refer(s, item->name.span, item, s->type);
    walk_expr(s, item->low, NULL);
    walk_expr(s, item->high, NULL);
    struct scope_of_names inside = *s;
    struct loop loop = {item, s->loops};
    inside.loops = &loop;
    walk_body(&inside, item->body);
}

static void walk_part_of(const struct scope_of_names *s, const struct ast_item *item)
{
    const struct program *program = s->names->program;
    if (item->kind == AST_SLOT) {
        refer_top(s, item->target, AST_INTERFACE);
        refer_type(s, item->target);
        walk_part_value(s, item);
        return;
    }
    refer_type(s, item->target);
    refer_top(s, item->target, AST_LINK);
    refer_thing(s, item->on);
    if (item->target.text)
        walk_settings(s, item->body, program_type(program, item->target.text));
}

static void walk_facts(const struct scope_of_names *s, const struct ast_items *facts)
{
    for (uint32_t i = 0; facts && i < facts->v.count; i++) {
        const struct ast_item *fact = facts->v.items[i];
        walk_paths(s, fact->left);
        walk_paths(s, fact->right);
        walk_paths(s, fact->at_what);
        walk_expr(s, fact->value, NULL);
    }
}

/* The common part of all members: the name, and expressions that need nothing else to be known. */
static void walk_member(const struct scope_of_names *s, const struct ast_item *item)
{
    struct ast_name name = member_name(item);
    if (name.text && s->type) {
        bool is_value = item->kind == AST_PARAM || item->kind == AST_LET || item->kind == AST_STAT;
        const struct ast_item *first = is_value ? NULL : member_thing(s->type, name.text);
        refer(s, name.span, first ? first : item, s->type);
    }
    walk_expr(s, item->size, NULL);
    switch (item->kind) {
    case AST_PARAM:
        if (!item->type)
            break;
        declare_choices(s, item->type->literals, item);
        refer_top(s, item->type->name, AST_ENUM);
        walk_expr(s, item->value, item);
        walk_expr(s, item->low, NULL);
        walk_expr(s, item->high, NULL);
        break;
    case AST_LET:
    case AST_CHECK:
    case AST_CLOCK:
        walk_expr(s, item->value, NULL);
        break;
    case AST_PORT:
        refer_top(s, item->target, AST_PROTOCOL);
        walk_exprs(s, item->args);
        walk_expr(s, item->depth, NULL);
        walk_expr(s, item->latency, NULL);
        walk_expr(s, item->width, NULL);
        break;
    case AST_SPACE:
    case AST_MAP:
    case AST_PARTITION:
        walk_paths(s, item->left);
        walk_expr(s, item->each, NULL);
        walk_expr(s, item->interleave, NULL);
        walk_expr(s, item->hashed, NULL);
        walk_expr(s, item->at, NULL);
        break;
    default:
        break;
    }
}

static void walk_behaviour(const struct scope_of_names *s, const struct ast_item *item)
{
    if (!item->name.text)
        return;
    const struct source_file *file = source_of(s->names->program->sources, item->name.span.begin);
    struct name_symbol *symbol = names_symbol(s->names, SERVICE_FILE, item->name, item, s->type);
    const char *path = source_join(s->names->region, file->folder, item->name.text);
    symbol->shown.place = (struct service_place){path, "", 0, 0, 0};
    names_add(s->names, item->name.span, symbol);
}

static void walk_body(const struct scope_of_names *s, const struct ast_items *body)
{
    for (uint32_t i = 0; body && i < body->v.count; i++) {
        const struct ast_item *item = body->v.items[i];
        walk_member(s, item);
        switch (item->kind) {
        case AST_CONNECT:
            walk_connect(s, item);
            break;
        case AST_IF:
            walk_if(s, item);
            break;
        case AST_FOR:
            walk_for(s, item);
            break;
        case AST_INSTANCE:
        case AST_SUBPART:
        case AST_SLOT:
            walk_part_of(s, item);
            break;
        case AST_COHERENCE:
            walk_facts(s, item->body);
            break;
        case AST_BEHAVIOUR:
            walk_behaviour(s, item);
            break;
        default:
            break;
        }
    }
}

/* ---- protocols ---- */

static void walk_field(const struct scope_of_names *s, const struct ast_item *item,
                       const struct ast_items *siblings)
{
    refer(s, item->name.span, item, NULL);
    refer_top(s, item->target, AST_ENUM);
    walk_expr(s, item->size, NULL);
    for (uint32_t i = 0; item->via.text && i < siblings->v.count; i++)
        if (siblings->v.items[i]->kind == AST_FIELD
            && strcmp(siblings->v.items[i]->name.text, item->via.text) == 0)
            refer(s, item->via.span, siblings->v.items[i], NULL);
}

static void walk_message(const struct scope_of_names *s, const struct ast_item *item,
                         const struct ast_items *siblings)
{
    refer(s, item->name.span, item, NULL);
    for (uint32_t i = 0; item->names && i < item->names->v.count; i++)
        for (uint32_t k = 0; k < siblings->v.count; k++)
            if (siblings->v.items[k]->kind == AST_MESSAGE
                && strcmp(siblings->v.items[k]->name.text, item->names->v.items[i].text) == 0)
                refer(s, item->names->v.items[i].span, siblings->v.items[k], NULL);
    for (uint32_t i = 0; item->body && i < item->body->v.count; i++)
        walk_field(s, item->body->v.items[i], item->body);
}

static void walk_fields(const struct scope_of_names *s, const struct ast_items *items)
{
    for (uint32_t i = 0; items && i < items->v.count; i++) {
        const struct ast_item *item = items->v.items[i];
        if (item->kind == AST_FIELD)
            walk_field(s, item, items);
        else if (item->kind == AST_MESSAGE)
            walk_message(s, item, items);
    }
}

/* ---- files ---- */

static void walk_import(const struct scope_of_names *s, const struct ast_item *item)
{
    const struct program *program = s->names->program;
    for (uint32_t i = 0; i < program->imports.count; i++) {
        if (program->imports.items[i].item != item)
            continue;
        struct name_symbol *symbol = names_symbol(s->names, SERVICE_FILE, item->name, item, NULL);
        const char *path = program->imports.items[i].path;
        const struct source_file *file = source_find(program->sources, path);
        symbol->shown.place =
            (struct service_place){path, file ? file->text : "", file ? file->size : 0, 0, 0};
        names_add(s->names, item->name.span, symbol);
        return;
    }
}

static void walk_item(struct names *names, const struct ast_item *item)
{
    struct scope_of_names s = {.names = names};
    if (!item->name.text)
        return;
    if (item->kind == AST_IMPORT) {
        walk_import(&s, item);
        return;
    }
    refer(&s, item->name.span, item, NULL);
    switch (item->kind) {
    case AST_ENUM:
        declare_choices(&s, item->names, item);
        return;
    case AST_LINK:
        walk_settings(&s, item->body, NULL);
        return;
    case AST_PROTOCOL:
        s.fields = program_protocol(names->program, item->name.text);
        walk_fields(&s, item->body);
        return;
    case AST_PART:
    case AST_COMPONENT:
    case AST_PLATFORM:
        refer_top(&s, item->target, AST_INTERFACE);
        s.type = program_type(names->program, item->name.text);
        if (s.type && s.type->decl == item)
            walk_body(&s, item->body);
        return;
    default:
        return;
    }
}

static int by_place(const void *a, const void *b)
{
    const struct name_occurrence *occurrence = a, *other = b;
    if (occurrence->span.begin != other->span.begin)
        return occurrence->span.begin < other->span.begin ? -1 : 1;
    return occurrence->span.end < other->span.end ? -1 : occurrence->span.end > other->span.end;
}

void names_build(struct names *names, struct region *region, const struct program *program)
{
    *names = (struct names){.region = region, .program = program, .symbol_at = {.region = region}};
    for (uint32_t f = 0; f < program->files.count; f++) {
        const struct ast_items *items = program->files.items[f]->items;
        for (uint32_t i = 0; i < items->v.count; i++)
            walk_item(names, items->v.items[i]);
    }
    if (names->occurrences.count == 0)
        return;
    qsort(names->occurrences.items, names->occurrences.count, sizeof *names->occurrences.items,
          by_place);
    uint32_t kept = 1; /* a span is entered once: the first meaning counts */
    for (uint32_t i = 1; i < names->occurrences.count; i++)
        if (names->occurrences.items[i].span.begin != names->occurrences.items[kept - 1].span.begin)
            names->occurrences.items[kept++] = names->occurrences.items[i];
    names->occurrences.count = kept;
}

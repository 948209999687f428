/* Parts: what an owner always has (`part`), and what fills its slots. A slot is filled by the last
 * matching --set, else by a setting, else by its default. The filling names a part type, of which
 * a new part is made; or, inside one component, a part of the surrounding body, which is then
 * shared; or a slot of the composite around, which is handed down. A composite has no parts of its
 * own: its slots only hand parts down to its instances. */
#include <string.h>

#include "dsl/suggest.h"

#include "elaborate.h"

static struct part_object *make_part(struct elaboration *e, struct object *owner,
                                     const struct model_part_decl *decl,
                                     const struct filler *filler, int64_t element)
{
    struct type_info *type = filler->type;
    struct span span = filler->span;
    if (!elaborate_count_work(e, 2 + type->params.v.count, span))
        return NULL;
    for (const struct object *above = owner; above && above->type->model.is_part;
         above = above->owner)
        if (above->type == type) {
            struct diagnostic *d = diagnostic_add(e->diagnostics, E0208, span,
                                                  "part '%s' contains itself", type->model.name);
            diagnostic_note(e->diagnostics, d, above->span, "in this '%s'", type->model.name);
            diagnostic_help(e->diagnostics, d,
                            "inside of a part, at whatever depth, stand parts of other types");
            return NULL;
        }
    struct part_object *part = region_take(e->region, sizeof *part);
    struct object *object = &part->object;
    part->decl = decl;
    object->type = type;
    object->owner = owner;
    object->node = owner->node;
    object->name = decl->name;
    object->is_in_array = decl->is_array;
    object->element = decl->is_array ? (uint32_t)element : 0;
    object->span = span;
    object->settings = filler->settings;
    object->setting_scope = filler->scope;
    object->handed = filler->handed;
    const char *dot = owner->path[0] != '\0' ? "." : "";
    object->path = decl->is_array
                       ? region_printf(e->region, "%s%s%s[%lld]", owner->path, dot, decl->name,
                                       (long long)element)
                       : region_printf(e->region, "%s%s%s", owner->path, dot, decl->name);
    object_init(e, object);
    type->instances++;
    part->model.id = e->parts.count;
    vector_push(e->region, &e->parts, part);
    parts_build(e, object);
    return part;
}

static void fill_one(struct elaboration *e, struct part_slot *slot, struct part_object *part)
{
    if (!part)
        return;
    slot->parts = region_take(e->region, sizeof(struct part_object *));
    slot->parts[0] = part;
    slot->count = 1;
}

static void build_subpart(struct elaboration *e, struct object *object, uint32_t index)
{
    const struct ast_item *item = object->type->parts.v.items[index];
    const struct model_part_decl *decl = &object->type->part_decls[index];
    struct part_slot *slot = &object->slots[index];
    struct type_info *type = program_type(e->program, item->target.text);
    struct scope scope = {object, NULL};
    int64_t count = 1;
    if (item->size && !eval_count(e, item->size, &scope, 0, 65536, &count))
        return;
    struct filler filler = {
        .type = type, .settings = item->body, .scope = scope, .span = item->name.span};
    slot->parts = region_take(e->region, (size_t)count * sizeof(struct part_object *));
    for (int64_t i = 0; i < count; i++) {
        struct part_object *part = make_part(e, object, decl, &filler, i);
        if (!part)
            return;
        slot->parts[slot->count++] = part;
    }
}

static void unknown_part(struct elaboration *e, const struct object *object,
                         const struct model_part_decl *decl, const struct object *around,
                         struct ast_name value)
{
    const char *name = value.text;
    struct diagnostic *d =
        diagnostic_add(e->diagnostics, E0203, value.span, "no part is called '%s'", name);
    struct suggestion suggestion = suggestion_for(name);
    for (uint32_t i = 0; i < e->program->types.count; i++) {
        const struct model_type *type = &e->program->types.items[i]->model;
        if (type->is_part && (!decl->interface || type->interface == decl->interface))
            suggestion_try(&suggestion, type->name);
    }
    for (uint32_t i = 0; i < object->type->parts.v.count; i++)
        suggestion_try(&suggestion, object->type->parts.v.items[i]->name.text);
    if (around && item_list_find(&around->type->parts, name) >= 0)
        diagnostic_help(e->diagnostics, d,
                        "'%s' is a slot: hand it down as it is, '%s = %s;', and set its part where "
                        "it is filled",
                        name, decl->name, name);
    else if (!program_suggest_import(e->program, d, AST_PART, name))
        diagnostic_suggest(e->diagnostics, d, suggestion.best);
}

static bool fits(struct elaboration *e, const struct model_part_decl *decl,
                 const struct type_info *type, struct span span)
{
    if (decl->part_type ? decl->part_type == &type->model
                        : type->model.interface == decl->interface)
        return true;
    struct diagnostic *d =
        diagnostic_add(e->diagnostics, E0209, span, "'%s' does not fit the slot '%s'",
                       type->model.name, decl->name);
    if (decl->interface)
        diagnostic_help(e->diagnostics, d,
                        "the slot takes parts that are declared 'part NAME : %s'",
                        decl->interface->name);
    else
        diagnostic_help(e->diagnostics, d, "the slot takes the part '%s'", decl->part_type->name);
    diagnostic_note(e->diagnostics, d, type->decl->name.span, "'%s' is declared here",
                    type->model.name);
    return false;
}

/* `pool = pool;`: the part of that name in the body around, which then has two users. */
static void share(struct elaboration *e, struct object *object, uint32_t index, struct object *from,
                  uint32_t sibling, struct span span)
{
    if (from->node != object->node || !object->type->model.is_part) {
        struct diagnostic *d = diagnostic_add(e->diagnostics, E0210, span,
                                              "a part cannot be shared by several components");
        diagnostic_help(e->diagnostics, d, "components speak through ports");
        return;
    }
    if (!from->slots[sibling].done) /* declared further down */
        parts_build(e, from);
    const struct part_slot *source = &from->slots[sibling];
    if (source->count != 1) {
        if (source->done)
            diagnostic_add(e->diagnostics, E0209, span, "'%s' is %s, the slot takes one part",
                           from->type->part_decls[sibling].name,
                           source->count == 0 ? "empty" : "an array");
        return;
    }
    if (!fits(e, &object->type->part_decls[index], source->parts[0]->object.type, span))
        return;
    fill_one(e, &object->slots[index], source->parts[0]);
    object->slots[index].is_shared = true;
}

/* A composite keeps its slot's filling for the instances to which it hands the slot down; any other
 * component gets a part. */
static void fill_with_part(struct elaboration *e, struct object *object, uint32_t index,
                           const struct filler *filler)
{
    struct part_slot *slot = &object->slots[index];
    slot->filler = *filler;
    if (!filler->type || object->type->model.is_composite)
        return;
    fill_one(e, slot, make_part(e, object, &object->type->part_decls[index], filler, 0));
    for (const struct handed *from = filler->handed; slot->count > 0 && from; from = from->before) {
        int32_t outer = item_list_find(&from->owner->type->parts, from->name);
        if (from->owner->slots[outer].count > 0)
            continue;
        fill_one(e, &from->owner->slots[outer], slot->parts[0]);
        from->owner->slots[outer].is_shared = true;
    }
}

/* `policy = policy;` in the body of a composite with a slot of that name: each instance gets a part
 * of its own, of the type and with the braces that fill the slot. */
static void hand_down(struct elaboration *e, struct object *object, uint32_t index,
                      struct object *from, uint32_t outer, struct span span)
{
    const struct model_part_decl *decl = &object->type->part_decls[index];
    const struct model_part_decl *slot = &from->type->part_decls[outer];
    struct diagnostic *d;
    if (!from->slots[outer].done)
        parts_build(e, from);
    struct filler filler = from->slots[outer].filler;
    if (from->slots[outer].is_being_filled) {
        diagnostic_add(e->diagnostics, E0305, span, "what fills '%s' depends on itself",
                       slot->name);
    } else if (slot->interface != decl->interface || slot->part_type != decl->part_type) {
        d = diagnostic_add(e->diagnostics, E0209, span,
                           "the slot '%s' does not take the parts of the slot '%s'", decl->name,
                           slot->name);
        diagnostic_note(e->diagnostics, d, from->type->parts.v.items[outer]->target.span,
                        "'%s' takes these", slot->name);
        diagnostic_note(e->diagnostics, d, object->type->parts.v.items[index]->target.span,
                        "'%s' takes these", decl->name);
    } else if (filler.is_empty && !decl->is_optional) {
        d = diagnostic_add(e->diagnostics, E0209, span, "the slot '%s' is not optional",
                           decl->name);
        diagnostic_note(e->diagnostics, d, from->type->parts.v.items[outer]->name.span,
                        "'%s' is empty", slot->name);
    } else {
        struct handed *handed = region_take(e->region, sizeof *handed);
        *handed = (struct handed){from, slot->name, filler.handed};
        filler.handed = handed;
        fill_with_part(e, object, index, &filler);
    }
}

/* The filling of a slot: the name of a part or slot, the part's braces, and where they are. */
struct filling {
    const struct ast_expr *value;
    const struct ast_items *body;
    struct scope scope;
};

/* The part or slot of the body around that a filling names, or -1. */
static int32_t named_around(const struct filling *filling, const struct object *object,
                            uint32_t index)
{
    const struct object *around = filling->scope.object;
    if (!around || filling->body)
        return -1;
    int32_t sibling = item_list_find(&around->type->parts, filling->value->name.text);
    bool is_itself = around == object && sibling == (int32_t)index; /* `slot pool : pool = pool;` */
    return is_itself ? -1 : sibling;
}

static void fill_slot(struct elaboration *e, struct object *object, uint32_t index,
                      const struct filling *filling)
{
    const struct model_part_decl *decl = &object->type->part_decls[index];
    const struct ast_expr *value = filling->value;
    if (value->kind == AST_MEMBER) {
        struct diagnostic *d = diagnostic_add(e->diagnostics, E0210, value->span,
                                              "a part cannot be shared by several components");
        diagnostic_help(e->diagnostics, d, "components speak through ports");
        return;
    }
    if (value->kind != AST_NAME) {
        diagnostic_add(e->diagnostics, E0209, value->span,
                       "the slot '%s' is filled with the name of a part", decl->name);
        return;
    }
    const char *name = value->name.text;
    struct object *around = filling->scope.object;
    int32_t sibling = named_around(filling, object, index);
    if (sibling >= 0 && around->type->model.is_composite) {
        hand_down(e, object, index, around, (uint32_t)sibling, value->span);
        return;
    }
    if (sibling >= 0) {
        share(e, object, index, around, (uint32_t)sibling, value->span);
        return;
    }
    if (strcmp(name, "none") == 0) {
        object->slots[index].filler.is_empty = true;
        if (!decl->is_optional) {
            struct diagnostic *d = diagnostic_add(e->diagnostics, E0209, value->span,
                                                  "the slot '%s' is not optional", decl->name);
            diagnostic_note(e->diagnostics, d, object->type->parts.v.items[index]->name.span,
                            "declared here");
            diagnostic_help(e->diagnostics, d,
                            "name a part; only 'slot NAME : INTERFACE optional' may stay empty");
        }
        return;
    }
    struct filler filler = {.type = program_type(e->program, name),
                            .settings = filling->body,
                            .scope = filling->scope,
                            .span = value->span};
    if (!filler.type || !filler.type->model.is_part)
        unknown_part(e, object, decl, around, value->name);
    else if (fits(e, decl, filler.type, value->span))
        fill_with_part(e, object, index, &filler);
}

static void build_slot(struct elaboration *e, struct object *object, uint32_t index)
{
    const struct ast_item *item = object->type->parts.v.items[index];
    struct filling filling = {item->value, item->fill_body, {object, NULL}};
    struct setting setting;
    if (setting_find(e, object, item->name.text, &setting))
        filling = (struct filling){setting.item->value, setting.item->fill_body, setting.scope};
    struct override *override = override_find(e, object, item->name.text);
    if (override && override->value)
        filling = (struct filling){override->value, NULL, {NULL, NULL}};
    if (filling.value) {
        fill_slot(e, object, index, &filling);
        return;
    }
    object->slots[index].filler.is_empty = item->is_optional;
    if (item->is_optional || (e->is_standalone && !object->owner))
        return;
    struct diagnostic *d =
        diagnostic_add(e->diagnostics, E0209, object->span, "slot '%s' of '%s' is not filled",
                       item->name.text, object->type->model.name);
    diagnostic_note(e->diagnostics, d, item->name.span, "declared here, without a default");
    diagnostic_help(e->diagnostics, d, "fill it where the %s is made: '{ %s = PART; }'",
                    object->type->model.is_part ? "part" : "instance", item->name.text);
}

void parts_build(struct elaboration *e, struct object *object)
{
    for (uint32_t i = 0; i < object->type->parts.v.count && !e->must_stop; i++) {
        if (object->slots[i].done)
            continue;
        object->slots[i].done = true;
        if (object->type->parts.v.items[i]->kind == AST_SUBPART)
            build_subpart(e, object, i);
        else {
            object->slots[i].is_being_filled = true;
            build_slot(e, object, i);
            object->slots[i].is_being_filled = false;
        }
    }
}

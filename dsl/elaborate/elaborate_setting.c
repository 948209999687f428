/* Settings: what is in the braces of an instance or a part. A plain one sets a parameter or
 * fills a slot of that instance; one with a path ("sa[*].l1v.latency = 30cy;") reaches an instance
 * or part further down, an array without an index meaning all its elements, as in --set.
 *
 * `insert` adds an instance instead, see elaborate_insert.c.
 *
 * Invariant: of several braces that set one thing the outermost wins, because a component's user
 * knows more than its author. Two settings of one pair of braces that meet are an error. Called by
 * elaborate_value.c, elaborate_part.c and elaborate_tree.c. */
#include <string.h>

#include "dsl/suggest.h"

#include "elaborate.h"

void settings_init(struct elaboration *e, struct object *object)
{
    const struct ast_items *settings = object->settings;
    for (uint32_t i = 0; settings && i < settings->v.count; i++)
        if (settings->v.items[i]->path)
            object->reached = region_take(e->region, settings->v.count * sizeof *object->reached);
}

/* A setting without a path. */
static bool is_plain(const struct ast_item *item)
{
    return item->kind == AST_SETTING && !item->path;
}

const struct ast_item *object_setting(const struct object *object, const char *name)
{
    for (uint32_t i = 0; object->settings && i < object->settings->v.count; i++)
        if (is_plain(object->settings->v.items[i])
            && strcmp(object->settings->v.items[i]->name.text, name) == 0)
            return object->settings->v.items[i];
    return NULL;
}

static const struct ast_expr *without_subscript(const struct ast_expr *path)
{
    return path->kind == AST_NAME || path->kind == AST_MEMBER ? path : path->a;
}

static bool element_matches(struct elaboration *e, const struct object *anchor,
                            const struct ast_expr *subscript, const struct object *object)
{
    if (!object->is_in_array || subscript->kind == AST_ALL)
        return object->is_in_array;
    int64_t first, count;
    return path_choose(e, subscript, &anchor->setting_scope, -1, object->name, &first, &count)
           && object->element >= first && object->element < first + count;
}

bool setting_leads_to(struct elaboration *e, const struct object *anchor,
                      const struct ast_expr *path, const struct object *object)
{
    const struct ast_expr *last = without_subscript(path);
    const struct ast_expr *before = last->kind == AST_MEMBER ? last->a : NULL;
    if (object->owner && strcmp(object->name, last->name.text) == 0
        && (path == last || element_matches(e, anchor, path, object))
        && (!before ? object->owner == anchor : setting_leads_to(e, anchor, before, object->owner)))
        return true;
    for (const struct handed *slot = object->handed; slot; slot = slot->before)
        if (strcmp(slot->name, last->name.text) == 0 && path == last
            && (!before ? slot->owner == anchor : setting_leads_to(e, anchor, before, slot->owner)))
            return true;
    return false;
}

static void set_twice(struct elaboration *e, const struct ast_item *first,
                      const struct ast_item *second)
{
    struct diagnostic *d = diagnostic_add(e->diagnostics, E0206, second->name.span,
                                          "'%s' is set twice", second->name.text);
    diagnostic_note(e->diagnostics, d, first->span, "first set here");
}

/* The setting with a path in the braces of `anchor` that reaches `name` of `object`, or NULL. */
static const struct ast_item *reaching(struct elaboration *e, const struct object *anchor,
                                       const struct object *object, const char *name)
{
    const struct ast_item *first = NULL;
    for (uint32_t i = 0; i < anchor->settings->v.count; i++) {
        const struct ast_item *item = anchor->settings->v.items[i];
        if (item->kind != AST_SETTING || !item->path || strcmp(item->name.text, name) != 0
            || !setting_leads_to(e, anchor, item->path, object))
            continue;
        anchor->reached[i] = true;
        if (first)
            set_twice(e, first, item);
        else
            first = item;
    }
    return first;
}

bool setting_find(struct elaboration *e, const struct object *object, const char *name,
                  struct setting *setting)
{
    *setting = (struct setting){object_setting(object, name), object->setting_scope, object};
    for (const struct object *above = object->owner; above; above = above->owner) {
        const struct ast_item *item = above->reached ? reaching(e, above, object, name) : NULL;
        if (item)
            *setting = (struct setting){item, above->setting_scope, above};
    }
    return setting->item != NULL;
}

static void unknown_setting(struct elaboration *e, struct object *object,
                            const struct ast_item *setting)
{
    const struct type_info *type = object->type;
    const char *name = setting->name.text;
    if (item_list_find(&type->ports, name) >= 0) {
        struct diagnostic *d =
            diagnostic_add(e->diagnostics, E0207, setting->name.span,
                           "'%s' is a port of '%s', it cannot be set", name, type->model.name);
        diagnostic_help(e->diagnostics, d, "connect it: '%s.%s -> ...;' or '... -> %s.%s;'",
                        object->name, name, object->name, name);
        return;
    }
    struct suggestion suggestion = suggestion_for(name);
    for (uint32_t i = 0; i < type->params.v.count; i++)
        if (type->params.v.items[i]->kind == AST_PARAM)
            suggestion_try(&suggestion, type->params.v.items[i]->name.text);
    for (uint32_t i = 0; i < type->parts.v.count; i++)
        suggestion_try(&suggestion, type->parts.v.items[i]->name.text);
    struct diagnostic *d = diagnostic_add(e->diagnostics, E0204, setting->name.span,
                                          "'%s' has no parameter '%s'", type->model.name, name);
    diagnostic_suggest(e->diagnostics, d, suggestion.best);
    diagnostic_note(e->diagnostics, d, type->decl->name.span, "'%s' is declared here",
                    type->model.name);
}

/* A setting of `object` by its name, wherever it is written. */
static void check_setting(struct elaboration *e, struct object *object,
                          const struct ast_item *setting)
{
    const struct type_info *type = object->type;
    const char *name = setting->name.text;
    int32_t param = item_list_find(&type->params, name);
    if (param >= 0) {
        const struct ast_item *decl = type->params.v.items[param];
        if (decl->kind != AST_LET)
            return;
        struct diagnostic *d = diagnostic_add(e->diagnostics, E0207, setting->name.span,
                                              "'%s' is derived, it cannot be set", name);
        diagnostic_note(e->diagnostics, d, decl->span, "it follows from the parameters");
        return;
    }
    int32_t part = item_list_find(&type->parts, name);
    if (part >= 0) {
        if (type->parts.v.items[part]->kind != AST_SUBPART)
            return;
        struct diagnostic *d = diagnostic_add(
            e->diagnostics, E0207, setting->name.span,
            "'%s' is a part that '%s' always has, it cannot be set", name, type->model.name);
        diagnostic_note(e->diagnostics, d, type->parts.v.items[part]->span,
                        "declared here; only a slot can be filled");
        return;
    }
    int32_t store = item_list_find(&type->stores, name);
    int32_t clock = item_list_find(&type->clocks, name);
    bool is_bound = (store >= 0 && type->stores.v.items[store]->kind == AST_READS)
                    || (clock >= 0 && !type->clocks.v.items[clock]->value);
    if (!is_bound)
        unknown_setting(e, object, setting);
    else if (setting->path)
        diagnostic_add(e->diagnostics, E0207, setting->name.span,
                       "'%s' is bound in the braces of '%s' itself", name, object->name);
}

static void check_duplicates(struct elaboration *e, const struct ast_items *settings)
{
    for (uint32_t i = 0; i < settings->v.count; i++)
        for (uint32_t k = 0; k < i; k++) {
            const struct ast_item *first = settings->v.items[k], *second = settings->v.items[i];
            if (!is_plain(first) || !is_plain(second)
                || strcmp(first->name.text, second->name.text) != 0)
                continue;
            set_twice(e, first, second);
            break;
        }
}

static void check_connection(struct elaboration *e, const struct object *object,
                             const struct ast_item *connection)
{
    if (&object->node->object != object || !object->type->model.is_composite)
        diagnostic_add(e->diagnostics, E0415, connection->span,
                       "'%s' has nothing inside that could be connected", object->name);
}

void settings_check(struct elaboration *e, struct object *object)
{
    if (!object->settings)
        return;
    check_duplicates(e, object->settings);
    for (uint32_t i = 0; i < object->settings->v.count; i++)
        if (is_plain(object->settings->v.items[i]))
            check_setting(e, object, object->settings->v.items[i]);
        else if (object->settings->v.items[i]->kind == AST_CONNECT)
            check_connection(e, object, object->settings->v.items[i]);
        else if (!object->settings->v.items[i]->path)
            diagnostic_add(e->diagnostics, E0415, object->settings->v.items[i]->via.span,
                           "'insert' needs an instance and its port: 'at INSTANCE.%s'",
                           object->settings->v.items[i]->via.text);
}

static struct object *object_at(struct elaboration *e, uint32_t index)
{
    return index < e->nodes.count ? &e->nodes.items[index]->object
                                  : &e->parts.items[index - e->nodes.count]->object;
}

/* An array of no elements has nothing to set, which is no mistake. */
static bool is_empty_array(const struct object *object, const char *name)
{
    const struct child_group *group =
        &object->node->object == object ? tree_group(object->node, name) : NULL;
    return group && (group->is_wrong || (group->count == 0 && !group->wires));
}

static void unknown_step(struct elaboration *e, const struct object *object,
                         const struct ast_expr *step)
{
    struct diagnostic *d =
        diagnostic_add(e->diagnostics, E0205, step->name.span, "'%s' has nothing called '%s'",
                       object->type->model.name, step->name.text);
    struct suggestion suggestion = suggestion_for(step->name.text);
    for (uint32_t i = 0; i < e->nodes.count + e->parts.count; i++)
        if (object_at(e, i)->owner == object)
            suggestion_try(&suggestion, object_at(e, i)->name);
    for (uint32_t i = 0; i < object->type->parts.v.count; i++)
        suggestion_try(&suggestion, object->type->parts.v.items[i]->name.text);
    diagnostic_suggest(e->diagnostics, d, suggestion.best);
}

/* The first object to which a path leads, or NULL. */
static struct object *first_at(struct elaboration *e, const struct object *anchor,
                               const struct ast_expr *path)
{
    for (uint32_t i = 0; i < e->nodes.count + e->parts.count; i++)
        if (setting_leads_to(e, anchor, path, object_at(e, i)))
            return object_at(e, i);
    return NULL;
}

/* Says what of a path names nothing; the object that the path leads to when all of it does. */
static struct object *follow(struct elaboration *e, struct object *anchor,
                             const struct ast_expr *path)
{
    const struct ast_expr *step = without_subscript(path);
    struct object *from = step->kind == AST_MEMBER ? follow(e, anchor, step->a) : anchor;
    if (!from)
        return NULL;
    struct object *object = first_at(e, anchor, path);
    if (object || is_empty_array(from, step->name.text))
        return object;
    if (path != step && first_at(e, anchor, step))
        diagnostic_add(e->diagnostics, E0308, path->span, "'%s' has no such element",
                       step->name.text);
    else if (item_list_find(&from->type->parts, step->name.text) < 0)
        unknown_step(e, from, step);
    else
        diagnostic_add(e->diagnostics, E0209, step->name.span, "no part stands in the slot '%s'",
                       step->name.text);
    return NULL;
}

void settings_check_reached(struct elaboration *e)
{
    for (uint32_t k = 0; k < e->nodes.count + e->parts.count; k++) {
        struct object *object = object_at(e, k);
        for (uint32_t i = 0; object->reached && i < object->settings->v.count; i++) {
            const struct ast_item *item = object->settings->v.items[i];
            if (!item->path || object->reached[i])
                continue;
            struct object *target = follow(e, object, item->path);
            if (target && item->kind == AST_INSERT)
                insert_report(e, target, item);
            else if (target)
                check_setting(e, target, item);
        }
    }
}

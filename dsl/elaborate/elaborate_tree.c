/* The tree of instances, top down. A body is walked once: instances and interconnects become nodes,
 * connections become statements with the values of the loop variables around them, `check`, `map`,
 * `partition` are kept for later. Children are expanded when the whole body is walked, because what
 * they ask about their ports is answered by the body.
 *
 * Invariant: every node in e->nodes is after its parent; ids follow that order. */
#include <string.h>

#include "dsl/suggest.h"

#include "elaborate.h"

bool elaborate_count_work(struct elaboration *e, uint64_t amount, struct span span)
{
    e->work += amount;
    if (e->must_stop)
        return false;
    if (e->work <= ELABORATE_WORK_MAX && e->region->total <= ELABORATE_BYTES_MAX)
        return true;
    e->must_stop = true;
    if (e->work <= ELABORATE_WORK_MAX)
        diagnostic_add(e->diagnostics, E0311, span,
                       "the description expands to too much: more than %zu GiB",
                       ELABORATE_BYTES_MAX >> 30);
    else
        diagnostic_add(e->diagnostics, E0311, span,
                       "the description expands to too much: more than %llu million items",
                       (unsigned long long)(ELABORATE_WORK_MAX / 1000000));
    return false;
}

struct child_group *tree_group(struct node *node, const char *name)
{
    for (uint32_t i = 0; i < node->groups.count; i++)
        if (strcmp(node->groups.items[i].name.text, name) == 0)
            return &node->groups.items[i];
    return NULL;
}

struct node *tree_make_node(struct elaboration *e, struct node *parent,
                            const struct node_plan *plan)
{
    if (e->nodes.count >= e->instance_limit) {
        if (!e->must_stop)
            diagnostic_add(e->diagnostics, E0311, plan->name.span, "more than %u instances",
                           e->instance_limit);
        e->must_stop = true;
        return NULL;
    }
    uint64_t amount = 1 + plan->type->params.v.count + plan->type->ports.v.count;
    if (!elaborate_count_work(e, amount, plan->name.span))
        return NULL;
    struct node *node = region_take(e->region, sizeof *node);
    node->parent = parent;
    node->item = plan->item;
    node->span = plan->name.span;
    node->depth = parent ? parent->depth + 1 : 0;
    struct object *object = &node->object;
    object->type = plan->type;
    object->owner = parent ? &parent->object : NULL;
    object->node = node;
    object->name = plan->name.text;
    object->is_in_array = plan->is_in_array;
    object->element = plan->element;
    object->span = plan->name.span;
    object->settings = plan->settings;
    object->setting_scope = plan->scope;
    const char *dot = !parent || parent->object.path[0] == '\0' ? "" : ".";
    const char *before = !parent ? "" : parent->object.path;
    if (!parent)
        object->path = "";
    else if (plan->is_in_array)
        object->path =
            region_printf(e->region, "%s%s%s[%u]", before, dot, plan->name.text, plan->element);
    else
        object->path = region_printf(e->region, "%s%s%s", before, dot, plan->name.text);
    object_init(e, object);
    node->ports = region_take(e->region, plan->type->ports.v.count * sizeof *node->ports);
    node->model.is_in_array = plan->is_in_array;
    node->model.element = plan->element;
    node->model.array_count = plan->count;
    node->in_port = node->out_port = -1;
    plan->type->instances++;
    clocks_bind(e, node, plan->on);
    if (parent)
        vector_push(e->region, &parent->children, node);
    return node;
}

bool tree_is_recursive(struct elaboration *e, const struct node *parent,
                       const struct type_info *type, struct span span)
{
    for (const struct node *above = parent; above; above = above->parent) {
        if (above->object.type != type)
            continue;
        struct diagnostic *d =
            diagnostic_add(e->diagnostics, E0208, span, "'%s' contains itself", type->model.name);
        for (const struct node *step = parent; step != above; step = step->parent)
            diagnostic_note(e->diagnostics, d, step->span, "through '%s : %s'", step->object.name,
                            step->object.type->model.name);
        return true;
    }
    return parent->depth >= ELABORATE_DEPTH_MAX;
}

struct type_info *tree_component(struct elaboration *e, struct ast_name name, bool or_link)
{
    struct program *program = e->program;
    struct type_info *type = program_type(program, name.text);
    if (type && !type->model.is_part && !type->model.is_platform)
        return type;
    struct diagnostic *d;
    if (type) {
        d = diagnostic_add(e->diagnostics, E0203, name.span, "'%s' is a %s, not a component",
                           name.text, type->model.is_part ? "part" : "platform");
        diagnostic_note(e->diagnostics, d, type->decl->name.span, "declared here");
        return NULL;
    }
    d = diagnostic_add(e->diagnostics, E0203, name.span, "no component%s is called '%s'",
                       or_link ? " or link" : "", name.text);
    struct suggestion suggestion = suggestion_for(name.text);
    for (uint32_t i = 0; i < program->types.count; i++)
        if (!program->types.items[i]->model.is_part && !program->types.items[i]->model.is_platform)
            suggestion_try(&suggestion, program->types.items[i]->model.name);
    for (uint32_t i = 0; or_link && i < program->links.count; i++)
        suggestion_try(&suggestion, program->links.items[i]->decl->name.text);
    if (!program_suggest_import(program, d, AST_COMPONENT, name.text)
        && !(or_link && program_suggest_import(program, d, AST_LINK, name.text)))
        diagnostic_suggest(e->diagnostics, d, suggestion.best);
    return NULL;
}

/* `via x = crossbar` in a `for` that goes around more than once. */
static void made_by_a_loop(struct elaboration *e, const struct child_group *group)
{
    const char *name = group->name.text;
    struct diagnostic *d = diagnostic_add(e->diagnostics, E0201, group->name.span,
                                          "the 'for' makes '%s' more than once", name);
    diagnostic_help(e->diagnostics, d,
                    "for one interconnect make it before the loop: 'via %s' inside adds sources",
                    name);
    diagnostic_help(e->diagnostics, d,
                    "for one each make an array of a component that has the connection inside");
}

bool tree_add_group(struct elaboration *e, struct node *node, struct child_group group)
{
    struct child_group *before = tree_group(node, group.name.text);
    int32_t port = item_list_find(&node->object.type->ports, group.name.text);
    if (!before && port < 0) {
        vector_push(e->region, &node->groups, group);
        return true;
    }
    node->is_damaged = true;
    struct span first =
        before ? before->name.span : node->object.type->ports.v.items[port]->name.span;
    if (first.begin == group.name.span.begin) {
        made_by_a_loop(e, &group);
        return false;
    }
    struct diagnostic *d = diagnostic_add(e->diagnostics, E0201, group.name.span,
                                          "the name '%s' is declared twice", group.name.text);
    diagnostic_note(e->diagnostics, d, first, "first declared here");
    return false;
}

static void make_instances(struct elaboration *e, struct node *node, const struct ast_item *item,
                           const struct scope *scope)
{
    struct child_group group = {.name = item->name, .is_array = item->size != NULL};
    if (scope->bindings || node->object.type->model.is_part) { /* which is already said */
        node->is_damaged = group.is_wrong = true;
        if (!tree_group(node, item->name.text))
            tree_add_group(e, node, group);
        return;
    }
    if (wires_declare(e, node, item, scope, &group)) {
        tree_add_group(e, node, group);
        return;
    }
    struct type_info *type = tree_component(e, item->target, false);
    int64_t count = 1;
    bool counted = !item->size || eval_count(e, item->size, scope, 0, INT32_MAX, &count);
    if (count > e->instance_limit) {
        diagnostic_add(e->diagnostics, E0311, item->size->span, "more than %u instances",
                       e->instance_limit);
        e->must_stop = true;
        return;
    }
    if (type && counted && count > 1
        && elaborate_least(e->program, type) > ELABORATE_WORK_MAX / (uint64_t)count) {
        elaborate_count_work(e, ELABORATE_WORK_MAX + 1, item->name.span);
        return;
    }
    if (!type || !counted || tree_is_recursive(e, node, type, item->target.span)) {
        node->is_damaged = group.is_wrong = true;
        tree_add_group(e, node, group);
        return;
    }
    group.nodes = region_take(e->region, (size_t)count * sizeof(struct node *));
    for (int64_t i = 0; i < count; i++) {
        struct node_plan plan = {.type = type,
                                 .item = item,
                                 .name = item->name,
                                 .on = item->on,
                                 .settings = item->body,
                                 .scope = *scope,
                                 .is_in_array = item->size != NULL,
                                 .element = (uint32_t)i,
                                 .count = (uint32_t)count};
        struct node *child = tree_make_node(e, node, &plan);
        if (!child)
            break;
        group.nodes[group.count++] = child;
    }
    tree_add_group(e, node, group);
}

static void add_statement(struct elaboration *e, struct node *node, const struct ast_item *item,
                          const struct scope *scope)
{
    if (!elaborate_count_work(e, 4, item->span))
        return;
    struct statement *statement = region_take(e->region, sizeof *statement);
    statement->item = item;
    statement->scope = *scope;
    if (item->via.text)
        via_make(e, node, item, scope, statement);
    if (item->over.text) {
        statement->over = via_link(e, node, item->over);
        statement->is_wrong |= !statement->over || !statement->over->model;
    }
    if (statement->interconnect)
        vector_push(e->region, &statement->interconnect->routes, statement);
    if (statement->is_wrong)
        node->is_damaged = true;
    vector_push(e->region, &node->statements, statement);
}

static void walk(struct elaboration *e, struct node *node, const struct ast_items *body,
                 const struct scope *scope);

static void walk_for(struct elaboration *e, struct node *node, const struct ast_item *item,
                     const struct scope *scope)
{
    int64_t low, high;
    if (!eval_count(e, item->low, scope, INT32_MIN, INT32_MAX, &low)
        || !eval_count(e, item->high, scope, INT32_MIN, INT32_MAX, &high)) {
        node->is_damaged = node->is_incomplete = true;
        return;
    }
    if (item->half_open)
        high--;
    for (int64_t i = low; i <= high; i++) {
        if (!elaborate_count_work(e, 1, item->span))
            return;
        struct binding *binding = region_take(e->region, sizeof *binding);
        binding->name = item->name.text;
        binding->value = (struct value){.ok = true, .dimension = MODEL_DIM_NONE, .integer = i};
        binding->outer = scope->bindings;
        struct scope inner = {scope->object, binding};
        walk(e, node, item->body, &inner);
    }
}

static void walk_if(struct elaboration *e, struct node *node, const struct ast_item *item,
                    const struct scope *scope)
{
    struct value which =
        eval_as(e, item->value, scope, (struct type_spec){MODEL_DIM_BOOL, NULL}, NULL);
    if (!which.ok)
        node->is_damaged = node->is_incomplete = true;
    else
        walk(e, node, which.integer ? item->body : item->otherwise_body, scope);
}

static void walk(struct elaboration *e, struct node *node, const struct ast_items *body,
                 const struct scope *scope)
{
    for (uint32_t i = 0; body && i < body->v.count && !e->must_stop; i++) {
        const struct ast_item *item = body->v.items[i];
        struct later later = {item, *scope};
        struct space_entry space = {item, *scope, NULL};
        switch (item->kind) {
        case AST_INSTANCE:
            make_instances(e, node, item, scope);
            break;
        case AST_CONNECT:
            add_statement(e, node, item, scope);
            break;
        case AST_SPACE:
            vector_push(e->region, &node->spaces, space);
            break;
        case AST_CHECK:
        case AST_MAP:
        case AST_PARTITION:
            vector_push(e->region, &node->later, later);
            break;
        case AST_IF:
            walk_if(e, node, item, scope);
            break;
        case AST_FOR:
            walk_for(e, node, item, scope);
            break;
        default:
            break; /* declarations: already in the type's lists */
        }
    }
}

/* `insert a -> b;` in the braces of the instance. */
static void add_connections(struct elaboration *e, struct node *node)
{
    const struct ast_items *settings = node->object.settings;
    for (uint32_t i = 0; settings && i < settings->v.count; i++)
        if (settings->v.items[i]->kind == AST_CONNECT) {
            add_statement(e, node, settings->v.items[i], &node->object.setting_scope);
            node->has_inserted = true;
        }
}

void tree_expand(struct elaboration *e, struct node *node)
{
    if (node->is_expanded || e->must_stop)
        return;
    node->is_expanded = true;
    node->model.id = e->nodes.count;
    vector_push(e->region, &e->nodes, node);
    struct scope scope = {&node->object, NULL};
    walk(e, node, node->object.type->decl->body, &scope);
    if (node->object.type->model.is_composite) {
        inserts_make(e, node);
        add_connections(e, node);
    }
    for (uint32_t i = 0; i < node->statements.count; i++)
        if (node->statements.items[i]->may_have_later_via)
            via_find(e, node, node->statements.items[i]);
    for (uint32_t i = 0; i < node->children.count; i++)
        tree_expand(e, node->children.items[i]);
}

struct node *tree_build(struct elaboration *e, struct type_info *type)
{
    struct node_plan plan = {.type = type, .name = type->decl->name, .count = 1};
    struct node *root = tree_make_node(e, NULL, &plan);
    e->root = root;
    if (!root)
        return NULL;
    tree_expand(e, root);
    for (uint32_t i = 0; i < e->nodes.count && !e->must_stop; i++)
        parts_build(e, &e->nodes.items[i]->object);
    for (uint32_t i = 0; i < e->nodes.count && !e->must_stop; i++)
        object_finish(e, &e->nodes.items[i]->object);
    for (uint32_t i = 0; i < e->parts.count && !e->must_stop; i++)
        object_finish(e, &e->parts.items[i]->object);
    if (!e->must_stop)
        settings_check_reached(e);
    return root;
}

/* Each `reads` has one writer: the store that its instance names, or else the only store of its
 * type in the innermost surrounding component that has such stores. Sets `writers` of all nodes,
 * from which the model is made. */
#include <string.h>

#include "check.h"

/* The nodes that have a store of a type. */
struct writers {
    const char *type;
    VECTOR(struct node *) v;
};

struct store_types {
    VECTOR(struct writers *) v; /* writers that have been looked for */
};

static void find_writers(struct elaboration *e, const char *type, struct writers *out)
{
    out->type = type;
    for (uint32_t i = 0; i < e->nodes.count; i++) {
        const struct item_list *stores = &e->nodes.items[i]->object.type->stores;
        for (uint32_t k = 0; k < stores->v.count; k++)
            if (stores->v.items[k]->kind == AST_STORE
                && strcmp(stores->v.items[k]->target.text, type) == 0)
                vector_push(e->region, &out->v, e->nodes.items[i]);
    }
}

static const struct writers *writers_of(struct elaboration *e, struct store_types *types,
                                        const char *type)
{
    for (uint32_t i = 0; i < types->v.count; i++)
        if (strcmp(types->v.items[i]->type, type) == 0)
            return types->v.items[i];
    struct writers *writers = region_take(e->region, sizeof *writers);
    find_writers(e, type, writers);
    vector_push(e->region, &types->v, writers);
    return writers;
}

/* `page_table = driver.page_table;` */
static struct node *named_writer(struct elaboration *e, struct node *node,
                                 const struct ast_item *reads, const struct ast_item *setting)
{
    const struct ast_expr *path = setting->value;
    struct node_list nodes = {0};
    if (path->kind != AST_MEMBER || setting->fill_body) {
        diagnostic_add(e->diagnostics, E0211, path->span, "a store is named as 'INSTANCE.STORE'");
        return NULL;
    }
    if (!path_nodes(e, node->parent, path->a, &node->object.setting_scope, &nodes))
        return NULL;
    int32_t store = nodes.v.count == 1
                        ? item_list_find(&nodes.v.items[0]->object.type->stores, path->name.text)
                        : -1;
    const struct ast_item *item =
        store >= 0 ? nodes.v.items[0]->object.type->stores.v.items[store] : NULL;
    if (!item || item->kind != AST_STORE || strcmp(item->target.text, reads->target.text) != 0) {
        diagnostic_add(e->diagnostics, E0211, path->span, "'%s' is not a store of type '%s'",
                       source_slice(e->program->sources, path->span), reads->target.text);
        return NULL;
    }
    return nodes.v.items[0];
}

static bool lies_in(const struct node *node, const struct node *outer)
{
    while (node && node != outer)
        node = node->parent;
    return node == outer;
}

/* NULL: there is none, or the innermost component with some has several. */
static struct node *nearest_writer(const struct node *node, const struct writers *writers)
{
    struct node *writer = NULL;
    for (const struct node *outer = node; !writer; outer = outer->parent) {
        for (uint32_t i = 0; i < writers->v.count; i++) {
            if (!lies_in(writers->v.items[i], outer))
                continue;
            if (writer)
                return NULL;
            writer = writers->v.items[i];
        }
        if (!outer)
            break;
    }
    return writer;
}

static struct node *only_writer(struct elaboration *e, struct node *node,
                                const struct ast_item *reads, struct store_types *types)
{
    const struct writers *writers = writers_of(e, types, reads->target.text);
    struct node *nearest =
        writers->v.count == 1 ? writers->v.items[0] : nearest_writer(node, writers);
    if (nearest)
        return nearest;
    struct diagnostic *d = diagnostic_add(
        e->diagnostics, E0211, node->span,
        writers->v.count == 0 ? "'%s' reads a store of type '%s', and no component has one"
                              : "'%s' reads a store of type '%s', and there are several",
        node->object.path, reads->target.text);
    diagnostic_note(e->diagnostics, d, reads->span, "declared here");
    for (uint32_t i = 0; i < writers->v.count && i < 4; i++)
        diagnostic_note(e->diagnostics, d, writers->v.items[i]->span, "'%s' has one",
                        writers->v.items[i]->object.path);
    if (writers->v.count > 0)
        diagnostic_help(e->diagnostics, d, "say which: '{ %s = INSTANCE.STORE; }'",
                        reads->name.text);
    return NULL;
}

static void run_stores(struct elaboration *e)
{
    struct store_types types = {0};
    for (uint32_t i = 0; i < e->nodes.count; i++) {
        struct node *node = e->nodes.items[i];
        const struct item_list *stores = &node->object.type->stores;
        node->writers = region_take(e->region, stores->v.count * sizeof(struct node *));
        for (uint32_t k = 0; k < stores->v.count; k++) {
            const struct ast_item *item = stores->v.items[k];
            const struct ast_item *setting = object_setting(&node->object, item->name.text);
            if (item->kind == AST_STORE)
                node->writers[k] = node;
            else if (setting)
                node->writers[k] = named_writer(e, node, item, setting);
            else
                node->writers[k] = only_writer(e, node, item, &types);
        }
    }
}

const struct check check_stores = {.name = "store", .code = E0211, .run = run_stores};

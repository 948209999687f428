/* Cycles of interconnects, and stores.
 *
 * A request that waits for room in the next interconnect holds its place in this one, so a cycle of
 * interconnects can fill up and stand still for ever. Only interconnects (components with `any`
 * ports in both directions) forward requests; every other component takes them in and answers,
 * which ends the chain. Whether the traffic really goes around depends on the routes, so this is a
 * warning; where interconnects route by the map, check_deadlock.c knows. */
#include <string.h>

#include "dsl/check/check.h"

enum colour { WHITE, GREY, BLACK };

struct search {
    struct elaboration *e;
    enum colour *colour; /* per node */
    uint32_t *first;     /* per node: first path from it, in `edges` */
    uint32_t *next;      /* per path: next one with the same origin */
    const struct node **stack;
    uint32_t *stack_path; /* the path taken from each node on the stack */
    uint32_t depth;
};

#define NO_PATH UINT32_MAX

/* Ways by the map are known, so check_deadlock.c says what goes around on them. */
static bool is_routed(const struct search *s, uint32_t from)
{
    for (uint32_t i = from; i < s->depth; i++) {
        const uint32_t *routes = s->stack[i]->routes_to;
        bool leads = false;
        for (uint32_t k = 0; routes != NULL && k < s->e->spaces.count; k++)
            leads |= routes[k] != NO_ROUTE;
        if (!leads)
            return false;
    }
    return true;
}

static void report_cycle(struct search *s, const struct node *back_to)
{
    uint32_t from = 0;
    while (s->stack[from] != back_to)
        from++;
    if (is_routed(s, from))
        return;
    const struct route_path *last = &s->e->paths.items[s->stack_path[s->depth - 1]];
    struct diagnostic *d =
        diagnostic_add(s->e->diagnostics, W0704, last->first->statement->item->span,
                       "requests can go around in a circle through '%s'", back_to->object.path);
    for (uint32_t i = from; i < s->depth; i++)
        diagnostic_note(s->e->diagnostics, d, s->stack[i]->span, "'%s' leads to '%s'",
                        s->stack[i]->object.path,
                        i + 1 < s->depth ? s->stack[i + 1]->object.path : back_to->object.path);
    diagnostic_help(s->e->diagnostics, d,
                    "if they can wait for each other, this deadlocks; put a component between "
                    "that takes requests in, or split the traffic");
}

/* Depth first with an explicit stack: chains may be long. */
static void search_from(struct search *s, const struct node *root)
{
    s->depth = 0;
    s->stack[s->depth] = root;
    s->stack_path[s->depth++] = s->first[root->model.id];
    s->colour[root->model.id] = GREY;
    while (s->depth > 0) {
        const struct node *node = s->stack[s->depth - 1];
        uint32_t path = s->stack_path[s->depth - 1];
        if (path == NO_PATH) {
            s->colour[node->model.id] = BLACK;
            s->depth--;
            if (s->depth > 0)
                s->stack_path[s->depth - 1] = s->next[s->stack_path[s->depth - 1]];
            continue;
        }
        const struct node *to = s->e->paths.items[path].to.node;
        if (s->colour[to->model.id] == GREY)
            report_cycle(s, to);
        if (s->colour[to->model.id] == WHITE && node_forwards(to)) {
            s->colour[to->model.id] = GREY;
            s->stack[s->depth] = to;
            s->stack_path[s->depth++] = s->first[to->model.id];
        } else {
            s->stack_path[s->depth - 1] = s->next[path];
        }
    }
}

static void run_cyclic_routes(struct elaboration *e)
{
    uint32_t nodes = e->nodes.count, paths = e->paths.count;
    struct search s = {.e = e};
    s.colour = arena_alloc(e->arena, nodes * sizeof *s.colour);
    s.first = arena_alloc(e->arena, nodes * sizeof *s.first);
    s.next = arena_alloc(e->arena, (paths + 1) * sizeof *s.next);
    s.stack = arena_alloc(e->arena, (nodes + 1) * sizeof *s.stack);
    s.stack_path = arena_alloc(e->arena, (nodes + 1) * sizeof *s.stack_path);
    for (uint32_t i = 0; i < nodes; i++)
        s.first[i] = NO_PATH;
    for (uint32_t i = paths; i-- > 0;) {
        const struct route_path *path = &e->paths.items[i];
        if (!path->whole)
            continue;
        s.next[i] = s.first[path->from.node->model.id];
        s.first[path->from.node->model.id] = i;
    }
    for (uint32_t i = 0; i < nodes; i++)
        if (s.colour[i] == WHITE && node_forwards(e->nodes.items[i]))
            search_from(&s, e->nodes.items[i]);
}

const struct check check_cyclic_routes = {.name = "cyclic-route",
                                          .code = W0704,
                                          .run = run_cyclic_routes,
                                          .prerequisites = {&check_protocols}};

struct writers {
    VECTOR(struct node *) v;
};

static void find_writers(struct elaboration *e, const char *type, struct writers *out)
{
    for (uint32_t i = 0; i < e->nodes.count; i++) {
        const struct item_list *stores = &e->nodes.items[i]->object.type->stores;
        for (uint32_t k = 0; k < stores->v.count; k++)
            if (stores->v.items[k]->kind == AST_STORE
                && strcmp(stores->v.items[k]->target.text, type) == 0)
                vector_push(e->arena, &out->v, e->nodes.items[i]);
    }
}

/* `page_table = driver.page_table;` */
static struct node *named_writer(struct elaboration *e, struct node *node,
                                 const struct ast_item *reads, const struct ast_item *setting)
{
    const struct ast_expr *path = setting->value;
    struct node_list nodes = {0};
    if (path->kind != AST_MEMBER || setting->fill_body != NULL) {
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
    if (item == NULL || item->kind != AST_STORE
        || strcmp(item->target.text, reads->target.text) != 0) {
        diagnostic_add(e->diagnostics, E0211, path->span, "'%s' is not a store of type '%s'",
                       source_slice(e->program->sources, path->span), reads->target.text);
        return NULL;
    }
    return nodes.v.items[0];
}

static struct node *only_writer(struct elaboration *e, struct node *node,
                                const struct ast_item *reads)
{
    struct writers writers = {0};
    find_writers(e, reads->target.text, &writers);
    if (writers.v.count == 1)
        return writers.v.items[0];
    struct diagnostic *d = diagnostic_add(
        e->diagnostics, E0211, node->span,
        writers.v.count == 0 ? "'%s' reads a store of type '%s', and no component has one"
                             : "'%s' reads a store of type '%s', and there are several",
        node->object.path, reads->target.text);
    diagnostic_note(e->diagnostics, d, reads->span, "declared here");
    for (uint32_t i = 0; i < writers.v.count && i < 4; i++)
        diagnostic_note(e->diagnostics, d, writers.v.items[i]->span, "'%s' has one",
                        writers.v.items[i]->object.path);
    if (writers.v.count > 0)
        diagnostic_help(e->diagnostics, d, "say which: '{ %s = INSTANCE.STORE; }'",
                        reads->name.text);
    return NULL;
}

static void run_stores(struct elaboration *e)
{
    for (uint32_t i = 0; i < e->nodes.count; i++) {
        struct node *node = e->nodes.items[i];
        const struct item_list *stores = &node->object.type->stores;
        node->writers = arena_alloc(e->arena, stores->v.count * sizeof(struct node *));
        for (uint32_t k = 0; k < stores->v.count; k++) {
            const struct ast_item *item = stores->v.items[k];
            const struct ast_item *setting = object_setting(&node->object, item->name.text);
            if (item->kind == AST_STORE)
                node->writers[k] = node;
            else if (setting != NULL)
                node->writers[k] = named_writer(e, node, item, setting);
            else
                node->writers[k] = only_writer(e, node, item);
        }
    }
}

const struct check check_stores = {.name = "store", .code = E0211, .run = run_stores};

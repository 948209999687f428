/* Routes by the map: which output of an interconnect leads to which mapped space.
 *
 * An interconnect with several outputs and no `by space` finds its way by the physical address
 * space: to each mapped space it takes the output from which the fewest interconnects are left to
 * pass, the lowest numbered of several. A way ends at the only target of the space, or at anything
 * inside of the composite that declares it and is no interconnect of this kind ("gpu[2].rdma" for
 * "gpu[2].local"). So the order of outputs decides between ways of one length: with the outputs of
 * one dimension before those of the other, a mesh is routed dimension by dimension.
 *
 * Distances are found by relaxation over the connections between interconnects, in their order. */
#include <string.h>

#include "dsl/elaborate/elaborate.h"

#define FAR UINT32_MAX

struct routing {
    struct elaboration *e;
    uint32_t *first; /* per node: its first path, in `next` */
    uint32_t *next;  /* per path: next one from the same node */
    uint32_t
        *distance; /* per node: interconnects to pass until the space at hand, itself included */
};

bool node_forwards(const struct node *node)
{
    bool in = false, out = false;
    const struct type_info *type = node->object.type;
    for (uint32_t i = 0; i < type->ports.v.count; i++)
        if (type->port_decls[i].is_any && !type->port_decls[i].is_channel) {
            in |= type->port_decls[i].is_in;
            out |= !type->port_decls[i].is_in;
        }
    return in && out;
}

static bool routes_by_map(const struct elaboration *e, const struct node *node)
{
    return !node->object.type->model.is_composite && node->space == NULL && e->spaces.count > 0
           && node_forwards(node);
}

static bool is_inside(const struct node *node, const struct node *owner)
{
    while (node != NULL && node != owner)
        node = node->parent;
    return node != NULL;
}

/* Does a way to `space`, declared in `owner`, end at `node`? One of several targets holds only some
 * of its addresses, so a way there is none. */
static bool is_target(const struct routing *r, const struct node *node, const struct node *owner,
                      const struct model_space *space)
{
    bool is_one = false;
    for (uint32_t i = 0; i < space->target_count; i++)
        is_one |= is_inside(node, (const struct node *)space->targets[i]);
    if (is_one)
        return space->target_count == 1;
    return owner->parent != NULL && is_inside(node, owner) && !routes_by_map(r->e, node);
}

/* Interconnects left to pass behind `path`; FAR: it does not lead there. */
static uint32_t left_behind(const struct routing *r, const struct route_path *path,
                            const struct node *owner, const struct model_space *space)
{
    for (const struct route_path *on; (on = path_through(r->e, path)) != NULL;)
        path = on;
    const struct node *to = path->to.node;
    if (!path->whole)
        return FAR;
    if (is_target(r, to, owner, space))
        return 0;
    return routes_by_map(r->e, to) ? r->distance[to->model.id] : FAR;
}

static bool relax(struct routing *r, const struct node *owner, const struct model_space *space)
{
    bool changed = false;
    for (uint32_t i = 0; i < r->e->paths.count; i++) {
        const struct route_path *path = &r->e->paths.items[i];
        const struct node *from = path->from.node;
        if (!routes_by_map(r->e, from))
            continue;
        uint32_t left = left_behind(r, path, owner, space);
        if (left == FAR || left + 1 >= r->distance[from->model.id])
            continue;
        r->distance[from->model.id] = left + 1;
        changed = true;
    }
    return changed;
}

/* The route of `node` to the space: the path to take, or NO_ROUTE. */
static uint32_t nearest(const struct routing *r, const struct node *node, const struct node *owner,
                        const struct model_space *space)
{
    uint32_t best = NO_ROUTE, best_left = FAR, best_output = 0;
    for (uint32_t p = r->first[node->model.id]; p != NO_ROUTE; p = r->next[p]) {
        const struct route_path *path = &r->e->paths.items[p];
        uint32_t left = left_behind(r, path, owner, space);
        if (left == FAR || left > best_left
            || (left == best_left && path->from.element >= best_output))
            continue;
        best = p;
        best_left = left;
        best_output = path->from.element;
    }
    return best;
}

static void route_to(struct routing *r, const struct node *owner, const struct model_space *space)
{
    struct elaboration *e = r->e;
    for (uint32_t i = 0; i < e->nodes.count; i++)
        r->distance[e->nodes.items[i]->model.id] = FAR;
    while (relax(r, owner, space))
        continue;
    for (uint32_t i = 0; i < e->nodes.count; i++) {
        struct node *node = e->nodes.items[i];
        if (node->routes_to != NULL)
            node->routes_to[space->id] = nearest(r, node, owner, space);
    }
}

static void index_paths(struct routing *r)
{
    struct elaboration *e = r->e;
    r->first = arena_alloc(e->arena, (e->nodes.count + 1) * sizeof *r->first);
    r->next = arena_alloc(e->arena, (e->paths.count + 1) * sizeof *r->next);
    r->distance = arena_alloc(e->arena, (e->nodes.count + 1) * sizeof *r->distance);
    for (uint32_t i = 0; i < e->nodes.count; i++)
        r->first[i] = NO_ROUTE;
    for (uint32_t i = e->paths.count; i-- > 0;) {
        uint32_t from = e->paths.items[i].from.node->model.id;
        r->next[i] = r->first[from];
        r->first[from] = i;
    }
}

void routes_make(struct elaboration *e)
{
    struct routing r = {.e = e};
    bool any = false;
    for (uint32_t i = 0; i < e->nodes.count; i++) {
        struct node *node = e->nodes.items[i];
        if (!routes_by_map(e, node))
            continue;
        any = true;
        node->routes_to = arena_alloc(e->arena, e->spaces.count * sizeof *node->routes_to);
        for (uint32_t k = 0; k < e->spaces.count; k++)
            node->routes_to[k] = NO_ROUTE;
    }
    if (!any)
        return;
    index_paths(&r);
    for (uint32_t i = 0; i < e->nodes.count; i++)
        for (uint32_t k = 0; k < e->nodes.items[i]->spaces.count; k++) {
            const struct model_space *space = e->nodes.items[i]->spaces.items[k].model;
            if (space != NULL && space->mapped)
                route_to(&r, e->nodes.items[i], space);
        }
}

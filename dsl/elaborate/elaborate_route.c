/* Routes by the map: which output of an interconnect leads to which mapped space.
 *
 * An interconnect with several outputs and no `by space` finds its way by the physical address
 * space: to each mapped space it takes the output from which the fewest interconnects are left to
 * pass, the lowest numbered of several. A way ends at the only target of the space, or at anything
 * inside of the composite that declares it and is no interconnect of this kind ("gpu[2].rdma" for
 * "gpu[2].local"). So the order of outputs decides between ways of one length: with the outputs of
 * one dimension before those of the other, a mesh is routed dimension by dimension. With `spread`,
 * an interconnect takes one of these outputs after the other, from space to space.
 *
 * Distances are found breadth first, from the interconnects at the ends of ways backwards. */
#include <string.h>

#include "elaborate.h"

#define FAR UINT32_MAX

struct routing {
    struct elaboration *e;
    uint32_t *first;                  /* per node: its first path, in `next` */
    uint32_t *next;                   /* per path: next one from the same node */
    uint32_t *first_into, *next_into; /* per node, per path: those of paths that end there */
    struct node **end;                /* per path: where it leads in the end; NULL: open */
    uint32_t
        *distance; /* per node: interconnects to pass until the space at hand, itself included */
    struct node **queue;
    const struct model_space **target_of; /* per node: the space at hand, if it is a target of it */
};

bool node_forwards(const struct node *node)
{
    bool in = false, out = false;
    const struct type_info *type = node->object.type;
    for (uint32_t i = 0; i < type->ports.v.count; i++)
        if (type->port_decls[i].is_any) {
            in |= type->port_decls[i].is_in;
            out |= !type->port_decls[i].is_in;
        }
    return in && out;
}

static bool routes_by_map(const struct elaboration *e, const struct node *node)
{
    return !node->object.type->model.is_composite && !node->space && e->spaces.count > 0
           && node_forwards(node);
}

bool node_is_set(struct elaboration *e, struct node *node, const char *param)
{
    const struct type_info *type = node->object.type;
    for (uint32_t i = 0; i < type->params.v.count; i++)
        if (strcmp(type->params.v.items[i]->name.text, param) == 0) {
            struct value value = object_value(e, &node->object, i);
            return value.ok && value.integer != 0;
        }
    return false;
}

static bool is_inside(const struct node *node, const struct node *owner)
{
    while (node && node != owner)
        node = node->parent;
    return node != NULL;
}

/* True if a way to `space`, declared in `owner`, ends at `node`. One of several targets holds only
 * some of its addresses, so a way there is none. */
static bool is_end(const struct routing *r, const struct node *node, const struct node *owner,
                   const struct model_space *space)
{
    for (const struct node *around = node; around; around = around->parent)
        if (r->target_of[around->model.id] == space)
            return space->target_count == 1;
    return owner->parent && is_inside(node, owner) && !node->routes_to;
}

/* Interconnects left to pass behind a path; FAR: it does not lead there. */
static uint32_t left_behind(const struct routing *r, uint32_t path, const struct node *owner,
                            const struct model_space *space)
{
    const struct node *to = r->end[path];
    if (!to)
        return FAR;
    if (is_end(r, to, owner, space))
        return 0;
    return to->routes_to ? r->distance[to->model.id] : FAR;
}

static void find_distances(struct routing *r, const struct node *owner,
                           const struct model_space *space)
{
    const struct elaboration *e = r->e;
    uint32_t head = 0, tail = 0;
    for (uint32_t i = 0; i < space->target_count; i++)
        r->target_of[space->targets[i]->id] = space;
    for (uint32_t i = 0; i < e->nodes.count; i++)
        r->distance[i] = FAR;
    for (uint32_t i = 0; i < e->nodes.count; i++) {
        uint32_t id = e->nodes.items[i]->model.id;
        for (uint32_t p = r->first[id]; p != ROUTE_NONE && r->distance[id] == FAR; p = r->next[p])
            if (r->end[p] && is_end(r, r->end[p], owner, space)) {
                r->distance[id] = 1;
                r->queue[tail++] = e->nodes.items[i];
            }
    }
    while (head < tail) {
        uint32_t at = r->queue[head++]->model.id;
        for (uint32_t p = r->first_into[at]; p != ROUTE_NONE; p = r->next_into[p]) {
            struct node *from = e->paths.items[p].from.node;
            if (r->distance[from->model.id] != FAR)
                continue;
            r->distance[from->model.id] = r->distance[at] + 1;
            r->queue[tail++] = from;
        }
    }
}

/* The route of `node` to the space: the path to take, or ROUTE_NONE. `turn` is the place among
 * outputs of one distance, around at their end. */
static uint32_t nearest(const struct routing *r, const struct node *node, const struct node *owner,
                        const struct model_space *space, uint32_t turn)
{
    uint32_t best = ROUTE_NONE, best_left = FAR, count = 0;
    for (uint32_t p = r->first[node->model.id]; p != ROUTE_NONE; p = r->next[p]) {
        uint32_t left = left_behind(r, p, owner, space);
        if (left == FAR || left > best_left)
            continue;
        count = left < best_left ? 1 : count + 1;
        best_left = left;
    }
    int64_t best_output = -1;
    for (uint32_t skip = count ? turn % count : 0; count && skip != UINT32_MAX; skip--) {
        int64_t last = best_output;
        best_output = INT64_MAX;
        for (uint32_t p = r->first[node->model.id]; p != ROUTE_NONE; p = r->next[p]) {
            int64_t output = r->e->paths.items[p].from.element;
            if (output <= last || output >= best_output
                || left_behind(r, p, owner, space) != best_left)
                continue;
            best = p;
            best_output = output;
        }
    }
    return best;
}

static void route_to(struct routing *r, const struct node *owner, const struct model_space *space,
                     uint32_t number)
{
    find_distances(r, owner, space);
    for (uint32_t i = 0; i < r->e->nodes.count; i++) {
        struct node *node = r->e->nodes.items[i];
        if (!node->routes_to)
            continue;
        uint32_t turn = node_is_set(r->e, node, "spread") ? number : 0;
        node->routes_to[space->id] = nearest(r, node, owner, space, turn);
    }
}

static uint32_t *none_each(struct routing *r, uint32_t count)
{
    uint32_t *numbers = region_take(r->e->region, (count + 1) * sizeof *numbers);
    for (uint32_t i = 0; i < count; i++)
        numbers[i] = ROUTE_NONE;
    return numbers;
}

/* Indexes the paths from interconnects that route by the map. */
static void index_paths(struct routing *r)
{
    struct elaboration *e = r->e;
    r->first = none_each(r, e->nodes.count);
    r->next = none_each(r, e->paths.count);
    r->first_into = none_each(r, e->nodes.count);
    r->next_into = none_each(r, e->paths.count);
    r->distance = none_each(r, e->nodes.count);
    r->queue = region_take(e->region, (e->nodes.count + 1) * sizeof(struct node *));
    r->end = region_take(e->region, (e->paths.count + 1) * sizeof(struct node *));
    r->target_of = region_take(e->region, (e->nodes.count + 1) * sizeof *r->target_of);
    for (uint32_t i = e->paths.count; i-- > 0;) {
        const struct route_path *path = &e->paths.items[i];
        struct node *from = path->from.node;
        r->end[i] = NULL;
        if (!from->routes_to)
            continue;
        r->next[i] = r->first[from->model.id];
        r->first[from->model.id] = i;
        if (!path->is_complete)
            continue;
        r->end[i] = path->to.node;
        r->next_into[i] = r->first_into[path->to.node->model.id];
        r->first_into[path->to.node->model.id] = i;
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
        node->routes_to = region_take(e->region, e->spaces.count * sizeof *node->routes_to);
        for (uint32_t k = 0; k < e->spaces.count; k++)
            node->routes_to[k] = ROUTE_NONE;
    }
    if (!any)
        return;
    index_paths(&r);
    uint32_t number = 0;
    for (uint32_t i = 0; i < e->nodes.count; i++)
        for (uint32_t k = 0; k < e->nodes.items[i]->spaces.count; k++) {
            const struct model_space *space = e->nodes.items[i]->spaces.items[k].model;
            if (space && space->mapped)
                route_to(&r, e->nodes.items[i], space, number++);
        }
}

/* The route of an access: from path to path, through interconnects by their rules, through leaves
 * by their statements of what they pass on, until a leaf takes the access. */
#include <string.h>

#include "base/hash.h"

#include "coherence.h"

void routes_init(struct coherence *c, struct elaboration *e)
{
    c->e = e;
    c->path_at = region_take(e->region, (e->nodes.count + 1) * sizeof *c->path_at);
    for (uint32_t i = 0; i < e->nodes.count; i++) {
        const struct node *node = e->nodes.items[i];
        uint32_t ports = node->object.type->ports.v.count;
        uint32_t **at = region_take(e->region, (ports + 1) * sizeof *at);
        for (uint32_t p = 0; p < ports && node->ports; p++)
            at[p] = region_take(e->region, (node->ports[p].count + 1) * sizeof *at[p]);
        c->path_at[node->model.id] = at;
    }
    for (uint32_t i = 0; i < e->paths.count; i++) {
        const struct wire_end *from = &e->paths.items[i].from;
        if (e->paths.items[i].is_complete)
            c->path_at[from->node->model.id][from->port][from->element] = i + 1;
    }
}

const struct route_path *route_next_path(const struct coherence *c, const struct node *node,
                                         uint32_t port, uint32_t element)
{
    if (port == PORT_NONE || !node->ports || element >= node->ports[port].count)
        return NULL;
    uint32_t path = c->path_at[node->model.id][port][element];
    return path ? &c->e->paths.items[path - 1] : NULL;
}

static uint32_t forward_port(const struct node *node)
{
    const struct type_info *type = node->object.type;
    for (uint32_t i = 0; i < type->ports.v.count; i++)
        if (type->port_decls[i].is_any && !type->port_decls[i].is_in)
            return i;
    return PORT_NONE;
}

/* The output of an interconnect with `by space`, as at run time. */
static uint32_t output_by_space(const struct node *node, uint64_t address)
{
    const struct model_space *space = node->space;
    uint64_t base = space->mapped ? space->base : 0;
    uint64_t size = space->each_bytes * space->target_count;
    uint64_t piece = (address - base) / space->interleave_bytes;
    if (address < base || address - base >= size)
        return space->target_count;
    if (space->is_hashed)
        return (uint32_t)hash_fold(piece, (unsigned)__builtin_ctz(space->target_count));
    return (uint32_t)(piece % space->target_count);
}

static const struct route_path *forward(const struct coherence *c, const struct node *node,
                                        const struct access *access)
{
    uint32_t port = forward_port(node);
    if (port == PORT_NONE || !node->ports)
        return NULL;
    if (node->space)
        return route_next_path(c, node, port, output_by_space(node, access->address));
    if (node->ports[port].count == 1)
        return route_next_path(c, node, port, 0);
    uint32_t path =
        node->routes_to && access->space ? node->routes_to[access->space->id] : ROUTE_NONE;
    return path != ROUTE_NONE ? &c->e->paths.items[path] : NULL;
}

static const char *protocol_of(const struct node *node, uint32_t port)
{
    return node->object.type->ports.v.items[port]->target.text;
}

/* The first output of a leaf that has the protocol of its port `in`, for a leaf that states nothing
 * of what it passes on. PORT_NONE: the leaf has none, or states it. */
static uint32_t route_silent_exit(const struct node *node, uint32_t in)
{
    const struct item_list *ports = &node->object.type->ports;
    for (uint32_t i = 0; i < ports->v.count && !facts_of(node); i++)
        if (!ports->v.items[i]->is_in && strcmp(protocol_of(node, i), protocol_of(node, in)) == 0)
            return i;
    return PORT_NONE;
}

static bool is_at(struct coherence *c, const struct ast_item *fact, uint32_t moments)
{
    bool fits = !fact->at_what;
    for (uint32_t i = 0; !fits && i < fact->at_what->v.count; i++) {
        const char *name = fact_member(fact->at_what->v.items[i], 0);
        fits = name && (moment_bit(c, name) & moments);
    }
    return fits;
}

/* The path on which a leaf sends an access that comes in at `in`: the path of the first matching
 * statement that is connected. */
static const struct route_path *pass(struct coherence *c, struct node *node, uint32_t in,
                                     uint32_t element, uint32_t moments)
{
    const struct ast_items *facts = facts_of(node);
    if (!facts)
        return route_next_path(c, node, route_silent_exit(node, in), element);
    for (uint32_t i = 0; i < facts->v.count; i++) {
        const struct ast_item *fact = facts->v.items[i];
        enum fact_verb verb = fact_verb(fact);
        if (verb != FACT_PASSES && verb != FACT_KEEPS && verb != FACT_DELAYS)
            continue;
        const struct type_info *type = node->object.type;
        bool starts_here = false;
        for (uint32_t k = 0; k < fact->left->v.count; k++)
            starts_here |= fact_port(type, fact->left->v.items[k]) == in;
        if (!starts_here || (verb == FACT_PASSES && !is_at(c, fact, moments)))
            continue;
        for (uint32_t k = 0; k < fact->right->v.count; k++) {
            uint32_t out = fact_port(type, fact->right->v.items[k]);
            const struct route_path *path = route_next_path(c, node, out, element);
            if (!path)
                path = route_next_path(c, node, out, 0);
            if (path)
                return path;
        }
    }
    return NULL;
}

static void add_step(const struct coherence *c, struct route *route, struct node *node,
                     bool forwards)
{
    uint32_t port = forwards ? forward_port(node) : PORT_NONE;
    route->steps[route->count++] =
        (struct route_step){.node = node,
                            .cache = c->cache[node->model.id],
                            .splits = port != PORT_NONE && node->ports[port].count > 1};
}

/* The table of arrivals of a class: that of the first class with the same moments. */
static struct arrival *arrivals_of(struct coherence *c, uint32_t class)
{
    for (uint32_t i = 0; i < class && !c->arrivals[class]; i++)
        if (c->classes.items[i].moments == c->classes.items[class].moments)
            c->arrivals[class] = arrivals_of(c, i);
    if (!c->arrivals[class])
        c->arrivals[class] =
            region_take(c->e->region, (c->e->paths.count + 1) * sizeof *c->arrivals[class]);
    return c->arrivals[class];
}

static const struct arrival *arrive(struct coherence *c, uint32_t class,
                                    const struct route_path *path)
{
    uint32_t number = (uint32_t)(path - c->e->paths.items);
    struct arrival *arrival = &arrivals_of(c, class)[number];
    if (arrival->is_known)
        return arrival;
    arrival->is_known = true;
    if (!path->is_complete)
        return arrival;
    arrival->node = path->to.node;
    arrival->forwards = node_forwards(path->to.node);
    if (!arrival->forwards)
        arrival->next = pass(c, path->to.node, path->to.port, path->to.element,
                             c->classes.items[class].moments);
    return arrival;
}

/* True if the output of an interconnect depends on where an access goes. */
static bool is_branch(const struct node *node)
{
    uint32_t port = forward_port(node);
    return node->space || (port != PORT_NONE && node->ports[port].count != 1);
}

/* Adds the steps from `path` on; `to_branch`: those before the branch, which is returned. */
static struct node *go_on(struct coherence *c, const struct access *access,
                          const struct route_path *path, bool to_branch, struct route *route)
{
    while (path && route->count < ROUTE_MAX) {
        const struct arrival *arrival = arrive(c, access->class, path);
        if (!arrival->node)
            return NULL;
        if (to_branch && arrival->forwards && is_branch(arrival->node))
            return arrival->node;
        path = arrival->forwards ? forward(c, arrival->node, access) : arrival->next;
        if (!path && !arrival->forwards)
            route->end = arrival->node;
        else
            add_step(c, route, arrival->node, arrival->forwards);
    }
    return NULL;
}

struct node *route_begin(struct coherence *c, const struct actor *actor, struct route *route)
{
    struct access access = {.class = actor->class};
    route->count = 0;
    route->end = NULL;
    return go_on(c, &access, route_next_path(c, actor->node, actor->port, actor->element), true,
                 route);
}

void route_go_on(struct coherence *c, const struct access *access, struct node *branch,
                 struct route *route)
{
    add_step(c, route, branch, true);
    go_on(c, access, forward(c, branch, access), false, route);
}

void route_find(struct coherence *c, const struct actor *actor, const struct model_space *space,
                uint64_t address, struct route *route)
{
    struct access access = {actor->class, space, address};
    struct node *branch = route_begin(c, actor, route);
    if (branch)
        route_go_on(c, &access, branch, route);
}

bool route_fence_passes(const struct route_step *step, enum fence_scope scope, bool release,
                        bool *spread)
{
    if (!step->cache)
        return !step->splits || *spread;
    unsigned effects = release ? step->cache->release[scope] : step->cache->acquire[scope];
    *spread = (effects & EFFECT_SPREAD) != 0;
    return (effects & EFFECT_PASS) != 0;
}

const struct route_step *route_cache_before(const struct route *route,
                                            const struct route_step *step)
{
    while (step > route->steps)
        if ((--step)->cache)
            return step;
    return NULL;
}

struct fences route_fences_begin(void)
{
    struct fences fences = {.acquire = {false}};
    for (unsigned s = 0; s < FENCE_SCOPES; s++)
        fences.acquire[s] = fences.release[s] = true;
    return fences;
}

void route_fences_pass(const struct route_step *step, struct fences *fences)
{
    for (enum fence_scope s = 0; s < FENCE_SCOPES; s++) {
        fences->acquire[s] &= route_fence_passes(step, s, false, &fences->acquire_spreads[s]);
        fences->release[s] &= route_fence_passes(step, s, true, &fences->release_spreads[s]);
    }
}

struct presence presence_of(const struct fences *fences, uint32_t count, uint32_t first,
                            uint32_t last)
{
    struct presence presence = {.count = count, .first = first};
    for (unsigned s = 0; s < FENCE_SCOPES; s++) {
        presence.unfenced[s] = fences->acquire[s] ? 0 : last + 1;
        presence.unreleased[s] = fences->release[s] ? 0 : last + 1;
    }
    return presence;
}

bool node_is_inside(const struct node *node, const struct node *owner)
{
    while (node && node != owner)
        node = node->parent;
    return node != NULL;
}

#define REACH_DEPTH 32

static void reach(struct coherence *c, const struct route_path *path, unsigned depth,
                  void (*visit)(struct coherence *c, struct wire_end to, void *data), void *data)
{
    if (!path || !path->is_complete || depth == REACH_DEPTH)
        return;
    struct node *node = path->to.node;
    uint32_t out =
        node_forwards(node) ? forward_port(node) : route_silent_exit(node, path->to.port);
    if (!node_forwards(node))
        visit(c, path->to, data);
    for (uint32_t i = 0; out != PORT_NONE && i < node->ports[out].count; i++)
        reach(c, route_next_path(c, node, out, i), depth + 1, visit, data);
}

void route_reach_from(struct coherence *c, struct node *node, uint32_t port, uint32_t element,
                      void (*visit)(struct coherence *c, struct wire_end to, void *data),
                      void *data)
{
    reach(c, route_next_path(c, node, port, element), 0, visit, data);
}

void route_reach(struct coherence *c, struct node *node, uint32_t port,
                 void (*visit)(struct coherence *c, struct wire_end to, void *data), void *data)
{
    for (uint32_t i = 0; i < node->ports[port].count; i++)
        reach(c, route_next_path(c, node, port, i), 0, visit, data);
}

/* Links of the nodes: of each GPU to the processor, which is the driver's connection to it, and
 * between GPUs that reach each other's memory: by another link than the driver's, or as peers by
 * links like that one. See topology.h. */
#include <string.h>

#include "topology.h"

/* Kernel, kfd_crat.h and kfd_topology.c. */
enum { WEIGHT_PCIE = 20, WEIGHT_XGMI = 15, WEIGHT_SHARED = 13 };

static void add_link(struct topology *t, uint32_t from, struct topology_link link)
{
    vector_push(t->region, &t->nodes[from].links, link);
}

static void add_host_links(struct topology *t, uint32_t gpu, bool shares_memory)
{
    const struct model_link_type *type = t->nodes[gpu].host_link->link;
    struct topology_link link = {.to = 0,
                                 .pcie = !shares_memory,
                                 .weight = shares_memory ? WEIGHT_SHARED : WEIGHT_PCIE,
                                 .latency_ps = type ? type->latency_ps : 0,
                                 .bytes_per_s = type ? type->bandwidth_bytes_per_s : 0};
    add_link(t, gpu, link);
    link.to = gpu;
    add_link(t, 0, link);
}

/* ---- GPUs and what stands between them, as a graph ---- */

struct way {
    uint32_t hops; /* links between GPUs; UINT32_MAX: no way */
    uint64_t latency_ps, bytes_per_s;
};

struct edge {
    uint32_t from, to; /* places */
    const struct model_link_type *link;
};

/* A place is a node, or an instance outside of all GPUs: count + its id. */
struct graph {
    struct topology *t;
    uint32_t *place; /* by instance */
    uint32_t places;
    VECTOR(struct edge) edges; /* in the order of connections */
    struct way *ways;          /* by place, from one GPU */
};

static bool is_hosts(const struct topology *t, const struct model_connection *connection)
{
    const struct model_link_type *type = t->nodes[1].host_link->link;
    return type && connection->link == type;
}

/* True if requests carry addresses. */
static bool is_memory(const struct model_connection *connection)
{
    return strcmp(connection->protocol->name, "mem") == 0;
}

static void find_places(struct graph *g)
{
    const struct model *model = g->t->model;
    g->place = region_take(g->t->region, model->instance_count * sizeof *g->place);
    g->places = g->t->count;
    for (uint32_t i = 0; i < model->instance_count; i++) {
        const struct model_instance *instance = model->instances[i];
        uint32_t inside = instance->parent ? g->place[instance->parent->id] : 0;
        for (uint32_t n = 1; n < g->t->count && !inside; n++)
            inside = g->t->nodes[n].root == instance ? n : 0;
        bool leaf = instance->leaf_id != UINT32_MAX;
        g->place[instance->id] = inside ? inside : leaf ? g->places++ : 0;
    }
}

/* With those that are like the driver's, or without. */
static void find_edges(struct graph *g, bool hosts)
{
    const struct model *model = g->t->model;
    g->edges.count = 0;
    for (uint32_t i = 0; i < model->connection_count; i++) {
        const struct model_connection *c = model->connections[i];
        uint32_t from = g->place[c->from->owner->id], to = g->place[c->to->owner->id];
        if (from == to || !is_memory(c) || (!hosts && is_hosts(g->t, c)))
            continue;
        const struct edge edge = {from, to, c->link};
        vector_push(g->t->region, &g->edges, edge);
    }
}

/* The way one edge further; a link that leads to a GPU ends a hop. */
static struct way extend(const struct graph *g, struct way way, const struct edge *edge)
{
    way.hops += edge->to < g->t->count;
    if (!edge->link)
        return way;
    uint64_t bandwidth = edge->link->bandwidth_bytes_per_s;
    way.latency_ps += edge->link->latency_ps;
    if (bandwidth && (!way.bytes_per_s || bandwidth < way.bytes_per_s))
        way.bytes_per_s = bandwidth;
    return way;
}

/* Breadth first: fewest hops, then the first connection. */
static void find_ways(struct graph *g, uint32_t from)
{
    for (uint32_t i = 0; i < g->places; i++)
        g->ways[i] = (struct way){.hops = UINT32_MAX};
    g->ways[from] = (struct way){0};
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < g->edges.count; i++) {
            const struct edge *edge = &g->edges.items[i];
            if (g->ways[edge->from].hops == UINT32_MAX)
                continue;
            struct way way = extend(g, g->ways[edge->from], edge);
            if (way.hops >= g->ways[edge->to].hops)
                continue;
            g->ways[edge->to] = way;
            changed = true;
        }
    }
}

static void add_ways(struct graph *g, uint32_t from)
{
    struct topology_node *nodes = g->t->nodes;
    for (uint32_t to = 1; to < g->t->count; to++) {
        struct way way = g->ways[to];
        if (to == from || way.hops == UINT32_MAX)
            continue;
        if (!nodes[from].hive)
            nodes[from].hive = to < from ? nodes[to].hive : from;
        add_link(g->t, from,
                 (struct topology_link){.to = to,
                                        .weight = WEIGHT_XGMI * way.hops,
                                        .latency_ps = way.latency_ps,
                                        .bytes_per_s = way.bytes_per_s});
    }
}

static bool is_linked(const struct topology_node *node, uint32_t to)
{
    for (uint32_t i = 0; i < node->links.count; i++)
        if (node->links.items[i].to == to)
            return true;
    return false;
}

/* As kfd_dev_create_p2p_links() of the kernel: to the processor, and on from there. */
static void add_peers(struct graph *g, uint32_t from)
{
    struct topology_node *node = &g->t->nodes[from];
    for (uint32_t to = 1; to < g->t->count; to++) {
        struct way way = g->ways[to];
        if (to == from || way.hops == UINT32_MAX || is_linked(node, to))
            continue;
        const struct topology_link link = {.to = to,
                                           .pcie = true,
                                           .weight = 2 * WEIGHT_PCIE,
                                           .latency_ps = way.latency_ps,
                                           .bytes_per_s = way.bytes_per_s};
        vector_push(g->t->region, &node->peers, link);
    }
}

void topology_collect_links(struct topology *t, bool shares_memory)
{
    struct graph g = {.t = t};
    for (uint32_t gpu = 1; gpu < t->count; gpu++)
        add_host_links(t, gpu, shares_memory);
    if (t->count < 3)
        return;
    find_places(&g);
    find_edges(&g, false);
    g.ways = region_take(t->region, g.places * sizeof *g.ways);
    for (uint32_t gpu = 1; gpu < t->count; gpu++) {
        find_ways(&g, gpu);
        add_ways(&g, gpu);
    }
    find_edges(&g, true);
    for (uint32_t gpu = 1; gpu < t->count; gpu++) {
        find_ways(&g, gpu);
        add_peers(&g, gpu);
    }
}

/* The positions of an array's elements in an overview. Graphviz' `dot` ranks along the direction of
 * edges and would draw a ring as a line with one long way back. So an array whose elements are
 * joined with each other gets two columns, down the first and up the second: a ring becomes a ring,
 * and an element that is joined to all others can reach all of them. */
#include "base/number.h"

#include "dot_graph.h"

struct members {
    struct dot_node *nodes[DOT_SMALL_ARRAY];
    uint32_t count;
    bool joined[DOT_SMALL_ARRAY][DOT_SMALL_ARRAY];
};

static uint32_t place_of(const struct members *m, const struct dot_node *node)
{
    uint32_t i = 0;
    while (i < m->count && m->nodes[i] != node)
        i++;
    return i;
}

static bool find_joined(struct members *m, const struct dot_graph *graph)
{
    bool any = false;
    for (uint32_t i = 0; i < graph->edge_count; i++) {
        uint32_t a = place_of(m, graph->edges[i].from), b = place_of(m, graph->edges[i].to);
        if (a == b || a == m->count || b == m->count)
            continue;
        m->joined[a][b] = m->joined[b][a] = any = true;
    }
    return any;
}

static uint32_t neighbours(const struct members *m, uint32_t i)
{
    uint32_t count = 0;
    for (uint32_t k = 0; k < m->count; k++)
        count += m->joined[i][k];
    return count;
}

/* Along the ring, when the members are one. False: they are not. */
static bool ring_order(const struct members *m, uint32_t order[static DOT_SMALL_ARRAY])
{
    bool placed[DOT_SMALL_ARRAY] = {true};
    order[0] = 0;
    for (uint32_t n = 0; n < m->count; n++)
        if (neighbours(m, n) != 2)
            return false;
    for (uint32_t n = 1; n < m->count; n++) {
        uint32_t next = 0;
        while (next < m->count && (placed[next] || !m->joined[order[n - 1]][next]))
            next++;
        if (next == m->count)
            return false;
        placed[next] = true;
        order[n] = next;
    }
    return true;
}

static void place_members(struct members *m)
{
    uint32_t order[DOT_SMALL_ARRAY];
    bool ring = ring_order(m, order);
    if (!ring)
        for (uint32_t i = 0; i < m->count; i++)
            order[i] = i;
    uint32_t half = divide_up(m->count, 2);
    for (uint32_t i = 0; i < m->count; i++) {
        struct dot_node *node = m->nodes[order[i]];
        node->in_mesh = !ring;
        node->grid_column = i < half ? 1 : 2;
        node->grid_row = i < half ? i : m->count - 1 - i;
    }
}

/* Once along all edges: was a distance lowered? */
static bool lower_distances(struct dot_graph *graph)
{
    bool any = false;
    for (uint32_t i = 0; i < graph->edge_count; i++) {
        struct dot_node *a = graph->nodes[graph->edges[i].from->id];
        struct dot_node *b = graph->nodes[graph->edges[i].to->id];
        struct dot_node *far = a->distance > b->distance ? a : b, *near = far == a ? b : a;
        if (near->distance == UINT32_MAX || far->distance <= near->distance + 1)
            continue;
        far->distance = near->distance + 1;
        any = true;
    }
    return any;
}

/* A wire that carries one sort of traffic between two nodes is an edge, and needs no box. */
static void unbox_wires(struct dot_graph *graph)
{
    for (uint32_t i = 0; i < graph->edge_count; i++) {
        uint32_t users = 0;
        for (uint32_t k = 0; k < graph->edge_count; k++)
            users += graph->edges[k].wire == graph->edges[i].wire;
        if (users == 1)
            graph->edges[i].is_wire = false;
    }
}

void dot_grid_place(struct dot_graph *graph)
{
    unbox_wires(graph);
    for (uint32_t i = 0; i < graph->node_count; i++)
        graph->nodes[i]->distance = graph->nodes[i]->holds_compute ? 0 : UINT32_MAX;
    while (lower_distances(graph))
        continue;
    const struct dot_node *scope = graph->scope;
    for (uint32_t i = 0; i < scope->child_count; i++) {
        if (scope->children[i]->element != 0)
            continue;
        struct members m = {.count = 0};
        for (uint32_t k = i; k < scope->child_count && m.count < DOT_SMALL_ARRAY; k++)
            if (scope->children[k]->type == scope->children[i]->type
                && scope->children[k]->instances[0]->name == scope->children[i]->instances[0]->name
                && scope->children[k]->element >= 0)
                m.nodes[m.count++] = scope->children[k];
        if (m.count > 2 && find_joined(&m, graph))
            place_members(&m);
    }
}

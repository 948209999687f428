/* From a model to the graph of its partitions. */
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/wide.h"

#include "place.h"

static uint64_t connection_latency_ps(const struct model *model, const struct model_connection *c)
{
    uint64_t hz = model->domains[c->to->owner->domain].hz;
    return c->link ? c->link->latency_ps : c->latency_cy * (PS_PER_S / (hz ? hz : 1));
}

static int by_ends(const void *a, const void *b)
{
    const struct place_edge *x = a, *y = b;
    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    return x->b < y->b ? -1 : x->b > y->b;
}

/* Edges between the same two, one behind the other, become one. */
static uint32_t merge_edges(struct place_edge *edges, uint32_t count)
{
    uint32_t kept = 0;
    qsort(edges, count, sizeof *edges, by_ends);
    for (uint32_t i = 0; i < count; i++) {
        struct place_edge *last = kept ? &edges[kept - 1] : NULL;
        if (!last || by_ends(last, &edges[i]) != 0) {
            edges[kept++] = edges[i];
            continue;
        }
        last->connections += edges[i].connections;
        last->traffic += edges[i].traffic;
        last->bytes_per_ns += edges[i].bytes_per_ns;
        last->takes_turns |= edges[i].takes_turns;
        if (edges[i].latency_ps < last->latency_ps)
            last->latency_ps = edges[i].latency_ps;
    }
    return kept;
}

/* Messages of a connection, both ways; they are counted under the port that sends requests. */
static uint64_t counted(struct region *region, const json_t *connections,
                        const struct model_connection *c, uint64_t *back)
{
    const struct model_port *from = c->from;
    const char *path = region_printf(region, "%s.%s", from->owner->path, from->decl->name);
    const json_t *one = json_object_get(connections, path);
    if (!one)
        one = json_object_get(connections, region_printf(region, "%s[%u]", path, from->element));
    *back = (uint64_t)json_integer_value(json_object_get(one, "replies"));
    return (uint64_t)json_integer_value(json_object_get(one, "requests"));
}

/* A message costs about one tick of its receiver. Messages that go one way or the other carry a
 * line. */
static void count_messages(struct place_graph *graph, struct region *region,
                           const json_t *connections, const struct model_connection *c,
                           struct place_edge *edge)
{
    uint64_t back = 0, there = counted(region, connections, c, &back);
    graph->work[c->to->owner->partition] += there;
    graph->work[c->from->owner->partition] += back;
    edge->traffic = there + back;
}

static void add_edge(struct place_graph *graph, struct place_edge edge, uint32_t from, uint32_t to)
{
    edge.a = min(from, to);
    edge.b = max(from, to);
    if (from != to)
        graph->edges[graph->edge_count++] = edge;
}

/* The partition whose component sends requests, or replies, joins those that send the same way over
 * the connection's wire. `first`: by way, 1 + the first such partition. */
static void add_sender(struct place_graph *graph, const struct model_connection *c, bool replies,
                       uint32_t *first)
{
    uint32_t sender = (replies ? c->to : c->from)->owner->partition;
    uint32_t *of_way = &first[2 * (c->wire - 1) + (replies ^ c->is_reversed)];
    if (!*of_way)
        *of_way = 1 + sender;
    add_edge(graph, (struct place_edge){.latency_ps = UINT64_MAX, .takes_turns = true}, *of_way - 1,
             sender);
}

void place_graph_make(struct place_graph *graph, struct region *region, const struct model *model,
                      const json_t *statistics)
{
    const json_t *connections = json_object_get(statistics, "connections");
    *graph = (struct place_graph){
        .model = model, .count = model->partition_count, .is_counted = connections != NULL};
    graph->work = region_take(region, (graph->count + 1) * sizeof *graph->work);
    graph->edges = region_take(region, (3 * model->connection_count + 1) * sizeof *graph->edges);
    uint32_t *first = region_take(region, (2 * model->wire_count + 1) * sizeof *first);
    for (uint32_t i = 0; i < model->leaf_count; i++)
        graph->work[model->leaves[i]->partition]++;
    for (uint32_t i = 0; i < model->connection_count; i++) {
        const struct model_connection *c = model->connections[i];
        uint32_t from = c->from->owner->partition, to = c->to->owner->partition;
        struct place_edge edge = {
            .connections = 1, .latency_ps = connection_latency_ps(model, c), .traffic = 1};
        if (c->link)
            edge.bytes_per_ns = 2 * (double)c->link->bandwidth_bytes_per_s / 1e9;
        if (graph->is_counted)
            count_messages(graph, region, connections, c, &edge);
        add_edge(graph, edge, from, to);
        for (int replies = 0; c->wire && replies < 2; replies++)
            add_sender(graph, c, replies, first);
    }
    graph->edge_count = merge_edges(graph->edges, graph->edge_count);
}

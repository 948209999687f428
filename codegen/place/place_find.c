/* Finds a placement. Ranks meet as often as the shortest latency between two of them allows, so
 * what is nearer than that stays together: for each latency that there is, from the longest down,
 * partitions with less between them are one group, and groups are dealt out. The first division is
 * taken in which the fullest rank has at most a tenth more than in the best one.
 *
 * Groups are dealt out in the order of the description, in runs of about equal work. */
#include "base/number.h"

#include "place.h"

#define SLACK 1.1

struct groups {
    uint32_t *of; /* by partition; 0: with partition 0 */
    uint32_t count;
};

static uint32_t root_of(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

/* Two partitions are in one group if the latency between them is less than `latency_ps`, if they
 * take turns at a shared wire, or if a chain of such pairs joins them. Groups are numbered in the
 * order of the description. */
static struct groups group_by(const struct place_graph *graph, struct region *region,
                              uint64_t latency_ps)
{
    struct groups g = {region_take(region, (graph->count + 1) * sizeof *g.of), 0};
    uint32_t *parent = region_take(region, (graph->count + 1) * sizeof *parent);
    uint32_t *number = region_take(region, (graph->count + 1) * sizeof *number);
    for (uint32_t i = 0; i < graph->count; i++)
        parent[i] = i;
    for (uint32_t i = 0; i < graph->edge_count; i++) {
        const struct place_edge *e = &graph->edges[i];
        uint32_t a = root_of(parent, e->a), b = root_of(parent, e->b);
        if ((e->latency_ps < latency_ps || e->takes_turns) && a != b)
            parent[max(a, b)] = min(a, b);
    }
    for (uint32_t i = 0; i < graph->count; i++) {
        uint32_t root = root_of(parent, i);
        if (root == i)
            number[i] = g.count++;
        g.of[i] = number[root];
    }
    return g;
}

/* In the order of the description; the middle of a group decides where it belongs, and no rank
 * stays empty. */
static void distribute_runs(const struct place_graph *graph, struct region *region,
                            const struct groups *g, uint32_t ranks, uint8_t *rank_of_group)
{
    uint64_t *work = region_take(region, g->count * sizeof *work), all = 0, done;
    uint32_t number = 0, items = 0;
    for (uint32_t i = 0; i < graph->count; i++)
        work[g->of[i]] += graph->work[i];
    for (uint32_t i = 0; i < g->count; i++)
        all += work[i];
    rank_of_group[0] = 0;
    done = work[0];
    for (uint32_t i = 1; i < g->count; i++) {
        uint32_t left = g->count - i, ranks_left = ranks - 1 - number;
        bool over = (2 * done + work[i]) * ranks > 2 * all * (number + 1);
        if (items && ranks_left && (over || left <= ranks_left)) {
            number++;
            items = 0;
        }
        rank_of_group[i] = (uint8_t)number;
        done += work[i];
        items++;
    }
}

static uint64_t fullest(const struct place_graph *graph, const struct groups *g, uint32_t ranks,
                        const uint8_t *rank_of_group)
{
    uint64_t work[PLACE_RANKS_MAX] = {0}, most = 0;
    for (uint32_t i = 0; i < graph->count; i++)
        work[rank_of_group[g->of[i]]] += graph->work[i];
    for (uint32_t r = 0; r < ranks; r++)
        most = max(work[r], most);
    return most;
}

/* The latencies that there are, the longest first; 0 after them. */
static uint64_t next_latency(const struct place_graph *graph, uint64_t below)
{
    uint64_t next = 0;
    for (uint32_t i = 0; i < graph->edge_count; i++) {
        uint64_t latency = graph->edges[i].latency_ps;
        if (latency < below && latency > next)
            next = latency;
    }
    return next;
}

/* Groups by a latency, dealt out; the fullest rank's work, or UINT64_MAX: there are too few. */
static uint64_t try_latency(const struct place_graph *graph, struct region *region,
                            uint64_t latency, uint32_t ranks, uint8_t *rank_of)
{
    struct groups g = group_by(graph, region, latency);
    uint8_t *rank_of_group = region_take(region, g.count + 1);
    if (g.count <= ranks)
        return UINT64_MAX;
    distribute_runs(graph, region, &g, ranks, rank_of_group);
    for (uint32_t i = 0; i < graph->count; i++)
        rank_of[i] = rank_of_group[g.of[i]];
    return fullest(graph, &g, ranks, rank_of_group);
}

bool place_find(const struct place_graph *graph, struct region *region, uint32_t ranks,
                uint8_t *rank_of)
{
    uint64_t best = UINT64_MAX;
    for (uint64_t at = next_latency(graph, UINT64_MAX);; at = next_latency(graph, at)) {
        uint64_t most = try_latency(graph, region, at, ranks, rank_of);
        best = min(most, best);
        if (at == 0)
            break;
    }
    if (best == UINT64_MAX)
        return false;
    for (uint64_t at = next_latency(graph, UINT64_MAX);; at = next_latency(graph, at)) {
        uint64_t most = try_latency(graph, region, at, ranks, rank_of);
        if (most != UINT64_MAX && (double)most <= SLACK * (double)best)
            return true;
    }
}

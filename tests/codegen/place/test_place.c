/* Placements that are found. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <string.h>

#include "base/number.h"
#include "codegen/place/place.h"

#define MOST 40

struct found {
    uint8_t rank_of[MOST];
    uint64_t work[PLACE_RANKS_MAX], shortest_ps;
    uint32_t besides[PLACE_RANKS_MAX];
};

static struct found find(const struct place_graph *graph, uint32_t ranks)
{
    struct found f = {.shortest_ps = UINT64_MAX};
    struct region region;
    region_init(&region, "a test");
    cr_assert(place_find(graph, &region, ranks, f.rank_of));
    region_release(&region);
    cr_assert_eq(f.rank_of[0], 0, "the host's side is at rank %u", f.rank_of[0]);
    for (uint32_t i = 0; i < graph->count; i++) {
        cr_assert_lt(f.rank_of[i], ranks);
        f.work[f.rank_of[i]] += graph->work[i];
        f.besides[f.rank_of[i]] += i > 0;
    }
    for (uint32_t r = 0; r < ranks; r++)
        cr_assert_gt(f.besides[r], 0, "rank %u of %u has no partition", r, ranks);
    for (uint32_t i = 0; i < graph->edge_count; i++) {
        const struct place_edge *e = &graph->edges[i];
        if (f.rank_of[e->a] != f.rank_of[e->b] && e->latency_ps < f.shortest_ps)
            f.shortest_ps = e->latency_ps;
    }
    return f;
}

/* Devices of `parts` partitions each, near each other; 100 ns between devices, and to the host. */
static struct place_graph devices(uint32_t count, uint32_t parts, uint64_t *work,
                                  struct place_edge *edges)
{
    struct place_graph g = {.count = 1 + count * parts, .work = work, .edges = edges};
    work[0] = 1;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t first = 1 + i * parts, next = 1 + (i + 1) % count * parts;
        for (uint32_t k = 0; k < parts; k++) {
            work[first + k] = 10;
            if (k)
                edges[g.edge_count++] = (struct place_edge){first, first + k, 1, 9000, 1, 0, false};
        }
        edges[g.edge_count++] = (struct place_edge){0, first, 1, 140000, 1, 0, false};
        edges[g.edge_count++] =
            (struct place_edge){min(first, next), max(first, next), 1, 100000, 1, 0, false};
    }
    return g;
}

Test(place, what_is_near_each_other_stays_together)
{
    uint64_t work[MOST];
    struct place_edge edges[3 * MOST];
    struct place_graph g = devices(4, 3, work, edges);
    struct found f = find(&g, 2);
    cr_assert_eq(f.shortest_ps, 100000);
    cr_assert_leq(f.work[0], 61);
    cr_assert_leq(f.work[1], 61);
    f = find(&g, 4);
    cr_assert_eq(f.shortest_ps, 100000);
}

Test(place, devices_are_divided_where_there_are_more_ranks)
{
    uint64_t work[MOST];
    struct place_edge edges[3 * MOST];
    struct place_graph g = devices(2, 4, work, edges);
    struct found f = find(&g, 4);
    cr_assert_eq(f.shortest_ps, 9000);
    for (uint32_t r = 0; r < 4; r++)
        cr_assert_leq(f.work[r], 31);
}

Test(place, the_shortest_latencies_are_cut_where_ranks_are_unfair_otherwise)
{
    uint64_t work[MOST];
    struct place_edge edges[3 * MOST];
    struct place_graph g = devices(2, 4, work, edges);
    for (uint32_t k = 1; k <= 4; k++)
        work[k] = 100; /* the first device has ten times the work of the other */
    struct found f = find(&g, 2);
    cr_assert_eq(f.shortest_ps, 9000);
    cr_assert_leq(f.work[0], 270);
    cr_assert_leq(f.work[1], 270);
}

Test(place, senders_of_a_shared_wire_are_at_one_rank)
{
    uint64_t work[MOST];
    struct place_edge edges[3 * MOST];
    uint8_t rank_of[MOST];
    struct region region;
    struct place_graph g = devices(5, 1, work, edges);
    edges[g.edge_count++] = (struct place_edge){1, 3, 0, UINT64_MAX, 0, 0, true};
    edges[g.edge_count++] = (struct place_edge){0, 4, 0, UINT64_MAX, 0, 0, true};
    struct found f = find(&g, 3);
    cr_expect_eq(f.rank_of[1], f.rank_of[3]);
    cr_expect_eq(f.rank_of[4], 0);
    region_init(&region, "a test");
    cr_expect_not(place_find(&g, &region, 4, rank_of), "four groups, one of them the host's");
    region_release(&region);
}

Test(place, more_ranks_than_partitions_are_refused)
{
    uint64_t work[MOST];
    struct place_edge edges[3 * MOST];
    uint8_t rank_of[MOST];
    struct region region;
    region_init(&region, "a test");
    struct place_graph g = devices(2, 1, work, edges);
    cr_assert_not(place_find(&g, &region, 3, rank_of));
    cr_assert(place_find(&g, &region, 2, rank_of));
    region_release(&region);
}

Test(place, the_same_graph_gives_the_same_placement)
{
    uint64_t work[MOST];
    struct place_edge edges[3 * MOST];
    struct place_graph g = devices(9, 3, work, edges);
    struct found a = find(&g, 5), b = find(&g, 5);
    cr_assert_eq(memcmp(a.rank_of, b.rank_of, g.count), 0);
}

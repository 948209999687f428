/* METIS (Karypis and Kumar, SIAM J. Sci. Comput. 20(1), 1998), where heddle was built with it. */
#include "codegen/place/place.h"

#ifdef HEDDLE_WITH_METIS
#include <metis.h>

#define IMBALANCE   30  /* thousandths that a rank may have more than its share */
#define WEIGHT_MOST 1e6 /* weights have 32 bits, and so have their sums */

static idx_t scaled(uint64_t weight, double scale)
{
    double value = (double)weight * scale;
    return value < 1 ? 1 : (idx_t)value;
}

static double scale_for(uint64_t sum)
{
    return (double)sum > WEIGHT_MOST ? WEIGHT_MOST / (double)sum : 1;
}

/* Neighbours in METIS' form: each edge at both of its ends. */
static void fill_edges(const struct place_graph *graph, const uint32_t *group_of, double scale,
                       idx_t *first, idx_t *neighbour, idx_t *weight, uint32_t groups)
{
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < graph->edge_count; i++) {
            const struct place_edge *e = &graph->edges[i];
            uint32_t ends[] = {group_of[e->a], group_of[e->b]};
            for (unsigned k = 0; k < 2 && ends[0] != ends[1]; k++) {
                if (pass == 0) {
                    first[ends[k] + 2]++;
                    continue;
                }
                idx_t at = first[ends[k] + 1]++;
                neighbour[at] = (idx_t)ends[!k];
                weight[at] = scaled(e->traffic, scale);
            }
        }
        for (uint32_t g = 0; pass == 0 && g < groups; g++)
            first[g + 2] += first[g + 1];
    }
}

bool place_by_metis(const struct place_graph *graph, struct arena *arena, const uint32_t *group_of,
                    uint32_t groups, uint32_t ranks, uint8_t *rank_of_group)
{
    idx_t *first = arena_alloc(arena, (groups + 2) * sizeof *first);
    idx_t *neighbour = arena_alloc(arena, (2 * graph->edge_count + 1) * sizeof *neighbour);
    idx_t *weight = arena_alloc(arena, (2 * graph->edge_count + 1) * sizeof *weight);
    idx_t *work = arena_alloc(arena, (groups + 1) * sizeof *work);
    idx_t *part = arena_alloc(arena, (groups + 1) * sizeof *part);
    uint64_t *sums = arena_alloc(arena, (groups + 1) * sizeof *sums), all = 0, traffic = 0;
    for (uint32_t i = 0; i < graph->count; i++) {
        sums[group_of[i]] += graph->work[i];
        all += graph->work[i];
    }
    for (uint32_t i = 0; i < graph->edge_count; i++)
        traffic += graph->edges[i].traffic;
    for (uint32_t g = 0; g < groups; g++)
        work[g] = scaled(sums[g], scale_for(all));
    fill_edges(graph, group_of, scale_for(traffic), first, neighbour, weight, groups);
    idx_t options[METIS_NOPTIONS], nodes = (idx_t)groups, constraints = 1, parts = (idx_t)ranks,
                                   cut = 0;
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = 1;
    options[METIS_OPTION_UFACTOR] = IMBALANCE;
    if (METIS_PartGraphRecursive(&nodes, &constraints, first, neighbour, work, NULL, weight, &parts,
                                 NULL, NULL, options, &cut, part)
        != METIS_OK)
        return false;
    for (uint32_t g = 0; g < groups; g++)
        rank_of_group[g] = (uint8_t)part[g];
    return true;
}

#else

bool place_by_metis(const struct place_graph *graph, struct arena *arena, const uint32_t *group_of,
                    uint32_t groups, uint32_t ranks, uint8_t *rank_of_group)
{
    (void)graph, (void)arena, (void)group_of, (void)groups, (void)ranks, (void)rank_of_group;
    return false;
}
#endif

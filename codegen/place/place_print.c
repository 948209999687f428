/* The quality of a placement: how much work each rank has, what crosses between them, how often
 * they meet, and how much faster that can be at best. */
#include <inttypes.h>
#include <string.h>

#include "base/number.h"

#include "place.h"

struct sums {
    uint64_t work[PLACE_RANKS_MAX], all, most;
    uint32_t partitions[PLACE_RANKS_MAX];
    uint32_t connections, every;
    uint64_t traffic, all_traffic, latency_ps;
    double bytes_per_ns;
};

static struct sums sum(const struct place_graph *graph, uint32_t ranks, const uint8_t *rank_of)
{
    struct sums s = {.latency_ps = UINT64_MAX};
    for (uint32_t i = 0; i < graph->count; i++) {
        s.work[rank_of[i]] += graph->work[i];
        s.partitions[rank_of[i]]++;
        s.all += graph->work[i];
    }
    for (uint32_t r = 0; r < ranks; r++)
        s.most = max(s.work[r], s.most);
    for (uint32_t i = 0; i < graph->edge_count; i++) {
        const struct place_edge *e = &graph->edges[i];
        s.every += e->connections;
        s.all_traffic += e->traffic;
        if (rank_of[e->a] == rank_of[e->b])
            continue;
        s.connections += e->connections;
        s.traffic += e->traffic;
        s.bytes_per_ns += e->bytes_per_ns;
        s.latency_ps = min(e->latency_ps, s.latency_ps);
    }
    return s;
}

/* "gpu[0]" of all that a rank has, those of one top-level array as a range: "gpu[0..3]". */
static void print_parts(const struct place_graph *graph, const uint8_t *rank_of, uint32_t rank,
                        FILE *out)
{
    const struct model_instance *last = NULL, *first = NULL;
    const struct model *model = graph->model;
    const char *between = " ";
    for (uint32_t i = 0; i <= model->leaf_count; i++) {
        const struct model_instance *top = i < model->leaf_count ? model->leaves[i] : NULL;
        if (top && rank_of[top->partition] != rank)
            continue;
        while (top && top->parent && top->parent->parent)
            top = top->parent;
        if (top && top == last)
            continue;
        if (last && top && last->is_in_array && top->is_in_array
            && strcmp(last->name, top->name) == 0 && top->element == last->element + 1) {
            last = top;
            continue;
        }
        if (last && first != last)
            fprintf(out, "%s%s[%" PRIu32 "..%" PRIu32 "]", between, first->name, first->element,
                    last->element);
        else if (last)
            fprintf(out, "%s%s", between, last->path);
        between = last ? ", " : between;
        first = last = top;
    }
    fputc('\n', out);
}

void place_print(const struct place_graph *graph, uint32_t ranks, const uint8_t *rank_of, FILE *out)
{
    struct sums s = sum(graph, ranks, rank_of);
    const char *counted = graph->is_counted ? "messages" : "components";
    fprintf(out, "%" PRIu32 " ranks; work is %s%s\n", ranks, counted,
            graph->is_counted ? " of that run" : ", for want of --stats of a run");
    for (uint32_t r = 0; r < ranks; r++) {
        fprintf(out, "  rank %-2" PRIu32 " %10" PRIu64 " %s, %5.1f %%, %" PRIu32 " partition%s:", r,
                s.work[r], counted, 100.0 * (double)s.work[r] / (double)s.all, s.partitions[r],
                s.partitions[r] == 1 ? "" : "s");
        print_parts(graph, rank_of, r, out);
    }
    fprintf(out, "  cut: %" PRIu32 " of %" PRIu32 " connections between partitions", s.connections,
            s.every);
    if (graph->is_counted)
        fprintf(out, ", %" PRIu64 " of %" PRIu64 " messages", s.traffic, s.all_traffic);
    fprintf(out, "; up to %.0f bytes/ns over links\n", s.bytes_per_ns);
    if (s.connections)
        fprintf(out,
                "  shortest latency between ranks: %" PRIu64 " ps; between partitions: %" PRIu64
                " ps\n",
                s.latency_ps, graph->model->window_ps);
    fprintf(out, "  balance: the fullest rank has %.2f of its share; at best %.2f times as fast\n",
            (double)s.most * ranks / (double)s.all, (double)s.all / (double)s.most);
}

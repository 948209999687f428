/* Placements: which rank runs which partition of a platform.
 *
 * A graph has a node for each partition, with its work, and an edge for each pair of connected
 * partitions, with the traffic between them. Work and traffic are counted by an earlier run:
 * messages that components took in, and bytes that crossed; or, without one, components and
 * connections.
 *
 * Partition 0 (what no `partition` names: the driver, the host) is at rank 0. No rank is without a
 * partition besides. The same graph gives the same placement everywhere: ranks find it each for
 * itself, and compare. All memory is the region's. */
#ifndef HEDDLE_CODEGEN_PLACE_PLACE_H
#define HEDDLE_CODEGEN_PLACE_PLACE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/region.h"
#include "dsl/model.h"

#define PLACE_RANKS_MAX 64 /* as RANK_MAX of the runtime */

struct place_edge {
    uint32_t a, b; /* partitions, a < b */
    uint32_t connections;
    uint64_t latency_ps; /* the shortest */
    uint64_t traffic;    /* bytes that were counted; else connections */
    double bytes_per_ns; /* over links between the two, both ways; connections without a link do not
                            count */
    bool takes_turns;    /* both send over one way of a shared wire, which one rank grants */
};

struct place_graph {
    const struct model *model;
    uint32_t count;
    uint64_t *work; /* by partition, at least 1 */
    struct place_edge *edges;
    uint32_t edge_count;
    bool is_counted;
};

/* `statistics` of a run of this platform, or NULL. */
void place_graph_make(struct place_graph *graph, struct region *region, const struct model *model,
                      const json_t *statistics);

/* Fills rank_of[partition]. False: there are fewer partitions than ranks. Partitions that send over
 * the same way of a shared wire are at one rank. Parts that meet within the shortest latencies stay
 * together as long as ranks get about as much work as without that: ranks meet as often as the
 * shortest latency between them says. */
bool place_find(const struct place_graph *graph, struct region *region, uint32_t ranks,
                uint8_t *rank_of);

/* "gpu[0..3]=0, gpu[4..7]=1, *=0", or a line each; the last one that fits a partition holds. `#`
 * begins a comment. NULL, or what is wrong with it, for people. */
const char *place_read(const struct place_graph *graph, struct region *region, uint32_t ranks,
                       const char *text, uint8_t *rank_of);
/* Writes a placement as place_read() reads it, a line for each partition. */
void place_write(const struct place_graph *graph, const uint8_t *rank_of, FILE *out);

/* Prints how good a placement is. */
void place_print(const struct place_graph *graph, uint32_t ranks, const uint8_t *rank_of,
                 FILE *out);

#endif

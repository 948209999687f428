/* The pen that the writers of Graphviz source share: their output, and the names and colours of
 * things. Internal to dot_write.c, dot_node.c and dot_edge.c.
 *
 * Nodes are named n0, n1, ... by their place in the graph; cells of ports p0, p1, ... by their
 * place in the type; the label of edge 3 is the node l3, the box of wire 2 the node w2. Names of an
 * inset begin with its prefix. */
#ifndef HEDDLE_CODEGEN_VIEWS_DOT_PEN_H
#define HEDDLE_CODEGEN_VIEWS_DOT_PEN_H

#include <stdbool.h>
#include <stdio.h>

#include "dot.h"

struct dot_pen {
    FILE *out;
    const struct dot_graph *graph;
    struct dot_look look;
    const char *prefix;
};

/* By enum dot_traffic. */
extern const char *const dot_traffic_colours[DOT_TRAFFIC_COUNT];
extern const char *const dot_traffic_words[DOT_TRAFFIC_COUNT];

/* Text inside a quoted string, whose line ends become \n. */
void dot_write_quoted(FILE *out, const char *text);
/* " ×4", " ×2..4", or nothing for a single one. */
void dot_write_times(FILE *out, uint32_t low, uint32_t high);

/* One node, a cluster's head (the caller closes it), and the end of a wire that leaves the scope.
 */
void dot_write_node(const struct dot_pen *pen, const struct dot_node *node);
void dot_write_cluster_head(const struct dot_pen *pen, const struct dot_node *node);
void dot_write_stub(const struct dot_pen *pen, const struct dot_node *stub);
/* The rows of a node's summary: capacity, bandwidth, clock, then settings. See dot_summary.c. */
void dot_write_summary(const struct dot_pen *pen, const struct dot_node *node);
/* The contents of a closed composite: compute units, caches and memories with their sums. */
void dot_write_contents(const struct dot_pen *pen, const struct dot_node *node);

/* Labels of the edges whose ends have `around` as the smallest open node around both: nodes that
 * the edges run through, so that a label lies on its edge and nowhere else. */
void dot_write_edge_labels(const struct dot_pen *pen, const struct dot_node *around);
void dot_write_edges(const struct dot_pen *pen);
/* The boxes of shared wires. */
void dot_write_wires(const struct dot_pen *pen);

#endif

/* The graph behind a diagram: instances folded into groups, connections folded into edges.
 *
 * A node stands for all instances that look the same from where the reader stands: elements of an
 * array, in all elements of the arrays around them. Invariant: every instance below the scope is a
 * member of at most one node, and every connection with an end inside the scope is counted in
 * exactly one edge, or lies inside a closed node.
 *
 * A node is *open* when its children are drawn (a cluster), otherwise closed. What leaves the scope
 * ends at a stub, one for each boundary port of the scope's type. Called by dot.c and html.c; all
 * memory comes from the arena.
 */
#ifndef HEDDLE_CODEGEN_DOT_GRAPH_H
#define HEDDLE_CODEGEN_DOT_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "codegen/views/dot_kind.h"
#include "codegen/views/view.h"
#include "dsl/arena.h"
#include "dsl/model.h"

#define DOT_NO_PORT UINT32_MAX

struct dot_node {
    uint32_t id;             /* index in dot_graph.nodes */
    struct dot_node *parent; /* NULL: the scope itself, or a stub */
    const char *label;       /* "sa", or "sa[3]" when drawn apart; a stub: the port's name */
    const char *path; /* from the platform, without indices: "gpu.sa.cu"; "" for the platform */
    const struct model_type *type;
    enum dot_kind kind;
    bool is_stub;
    const struct model_port_decl *stub_port;
    bool is_open;
    bool is_shown;   /* has an edge or a shown child, or nothing is filtered */
    int64_t element; /* of a node drawn apart; -1 */
    uint32_t depth;  /* 0: the scope */
    const struct model_instance **instances;
    uint32_t instance_count, instance_capacity;
    uint32_t per_parent_min; /* members in one instance of the parent */
    uint32_t per_parent_max;
    struct dot_node **children;
    uint32_t child_count, child_capacity;
    /* Per type->ports: most elements in one instance, and whether an edge of the diagram touches
     * it. */
    uint32_t *port_counts;
    bool *port_used;
};

struct dot_edge {
    const struct dot_node *from, *to;
    uint32_t from_port, to_port; /* index in type->ports, or DOT_NO_PORT */
    const struct model_protocol *protocol;
    const struct model_link_type *link; /* NULL: a wire */
    bool is_bus;                        /* its connections share the link */
    bool is_wire;                       /* with those of other edges of the same `link`, a box */
    uint32_t latency_cy;
    uint32_t depth;                /* of the first connection */
    const struct dot_node *around; /* smallest composite around both ends of each connection */
    uint32_t count;                /* connections */
    uint32_t per_scope;            /* of those, inside one instance of `around` */
    bool all_to_all;               /* a leg of an interconnect that joins several */
    bool optional;                 /* the port of either end may stay open */
};

struct dot_graph {
    const struct model *model;
    enum view_only only;
    struct dot_node *scope;
    struct dot_node **nodes; /* parents before children, stubs last */
    uint32_t node_count;
    struct dot_edge *edges; /* in order of first connection */
    uint32_t edge_count;
};

/* The graph of what is inside `scope`, instances of one composite type. False: an expand path
 * matches nothing. */
bool dot_graph_build(struct dot_graph *graph, struct arena *arena, const struct model *model,
                     const struct model_instance *const *scope, uint32_t scope_count,
                     const struct view_options *options, struct view_error *error);

#endif

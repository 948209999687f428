/* The graph behind a diagram: instances folded into groups, connections folded into edges.
 *
 * A node stands for all instances that look the same from where the reader is: elements of an
 * array, in all elements of the arrays around them. Invariant: every instance below the scope is a
 * member of at most one node, and every connection with an end inside the scope is counted in
 * exactly one edge, or lies inside a closed node.
 *
 * A node is *open* when its children are drawn (a cluster), otherwise closed. What leaves the scope
 * ends at a stub, one for each boundary port of the scope's type.
 *
 * An *overview* shows which instances of a platform are joined by what, and no ports: an edge has
 * all connections of one traffic between two nodes, in both directions. Called by dot.c and
 * json_diagrams.c; all memory comes from the region.
 */
#ifndef HEDDLE_CODEGEN_VIEWS_DOT_GRAPH_H
#define HEDDLE_CODEGEN_VIEWS_DOT_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/region.h"
#include "dsl/model.h"

#include "dot_kind.h"
#include "view.h"

#define DOT_PORT_NONE   UINT32_MAX
/* Elements of an array that an overview still draws one by one, and of all such arrays together:
 * with three arrays of eight connections hide what they join. */
#define DOT_SMALL_ARRAY 8
#define DOT_DRAWN_OUT   20

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
    bool holds_compute; /* a compute unit, or a composite with one inside */
    bool leads_on;      /* is connected to something by more than what empties it */
    bool is_shown;      /* has an edge or a shown child, or nothing is filtered */
    int64_t element;    /* a node drawn apart has its index here; others -1 */
    uint32_t depth;     /* 0: the scope */
    uint32_t distance;  /* in an overview: edges to the nearest node with compute units */
    bool in_mesh;       /* in a grid that is no ring, where lines between elements have no labels */
    uint32_t grid_column, grid_row; /* as dot_grid_place() gives them; column 0: in no grid */
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
    uint32_t from_port, to_port; /* index in type->ports, or DOT_PORT_NONE */
    const struct model_protocol *protocol;
    enum dot_traffic traffic;           /* the protocol's; orders to a cache or a TLB are control */
    const struct model_link_type *link; /* NULL: a wire */
    bool is_wire;                       /* with those of the other edges of `wire`, a box */
    uint32_t wire;                      /* the first wire of its box, as in model_connection */
    bool two_way;                       /* in an overview: requests lead both ways */
    uint32_t latency_cy;
    uint32_t depth;                /* the first connection's depth */
    const struct dot_node *around; /* smallest composite around both ends of each connection */
    uint32_t count;                /* connections */
    uint32_t per_scope;            /* connections inside one instance of `around` */
    bool all_to_all;               /* a leg of an interconnect that joins several */
};

struct dot_graph {
    const struct model *model;
    enum view_only only;
    enum view_layout layout;
    bool is_overview;
    bool shows_open_ports; /* ports that nothing of the picture is connected to */
    struct dot_node *scope;
    struct dot_node **nodes; /* parents before children, stubs last */
    uint32_t node_count;
    struct dot_edge *edges; /* in order of first connection */
    uint32_t edge_count;
    uint32_t *wire_box; /* by number of the wire: the first of its box */
};

/* The picture of `heddle dot`: a graph, and below an overview the inside of nodes with compute
 * units. */
struct dot_picture {
    struct dot_graph main;
    struct dot_graph *insets;
    uint32_t inset_count;
};

/* The graph of what is inside `scope`, instances of one composite type. False: an expand path
 * matches nothing. */
bool dot_graph_build(struct dot_graph *graph, struct region *region, const struct model *model,
                     const struct model_instance *const *scope, uint32_t scope_count,
                     const struct view_options *options, struct view_error *error);

/* The first wire of the box of `wire`, both as in model_connection. */
uint32_t dot_wire_box(const struct dot_graph *graph, uint32_t wire);

/* Computes for an overview how far nodes are from compute units, and positions for the elements of
 * small arrays that are joined with each other. */
void dot_grid_place(struct dot_graph *graph);

/* The picture of a platform. False: an expand path matches nothing. */
bool dot_picture_build(struct dot_picture *picture, struct region *region,
                       const struct model *model, const struct view_options *options,
                       struct view_error *error);

/* True if the instance is in the node, or inside one that is. */
bool dot_node_holds(const struct dot_node *node, const struct model_instance *instance);

#endif

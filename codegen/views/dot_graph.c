/* See dot_graph.h. First the tree of nodes, opened as the options say; then each connection finds
 * the outermost closed node around its two ends, and the boundary ports at which it passes there.
 */
#include "codegen/views/dot_graph.h"

#include <stdlib.h>
#include <string.h>

#define PATH_MAX_DEPTH 32

struct path_step {
    const char *name;
    int64_t element; /* -1: all */
};

struct expand_path {
    struct path_step steps[PATH_MAX_DEPTH];
    uint32_t count;
    bool matched;
};

struct builder {
    struct dot_graph *graph;
    struct arena *arena;
    const struct view_options *options;
    struct expand_path *paths;
    uint32_t path_count;
    uint32_t open_depth;             /* nodes less deep than this are open */
    struct dot_node **own;           /* by instance id: the node it is a member of */
    struct dot_node **drawn;         /* by instance id: itself or the closed node around it */
    uint32_t *first_port;            /* by instance id: number of its first port */
    const struct model_port **outer; /* by port number: the boundary port that stands for it */
    VECTOR(struct dot_node *) nodes;
    VECTOR(struct dot_edge) edges;
};

/* "gpu.sa[3].cu" in steps; an index that is no number ([*]) means all. */
static bool parse_expand_path(struct arena *arena, const char *text, struct expand_path *path)
{
    char *copy = arena_strdup(arena, text);
    char *rest = NULL;
    for (char *step = strtok_r(copy, ".", &rest); step; step = strtok_r(NULL, ".", &rest)) {
        if (path->count == PATH_MAX_DEPTH)
            return false;
        struct path_step *s = &path->steps[path->count++];
        char *bracket = strchr(step, '[');
        s->element = -1;
        if (bracket) {
            char *end;
            long element = strtol(bracket + 1, &end, 10);
            s->element = end > bracket + 1 && *end == ']' ? element : -1;
            *bracket = '\0';
        }
        s->name = step;
    }
    return path->count > 0;
}

static bool step_matches(const struct path_step *step, const char *name, int64_t element)
{
    return strcmp(step->name, name) == 0 && (step->element < 0 || step->element == element);
}

/* Do the first node->depth steps of the path lead to the node? */
static bool path_leads_to(const struct expand_path *path, const struct dot_node *node)
{
    if (path->count < node->depth)
        return false;
    for (; node->parent; node = node->parent)
        if (!step_matches(&path->steps[node->depth - 1], node->instances[0]->name, node->element))
            return false;
    return true;
}

/* The element under which a child is drawn apart from its siblings, or -1. */
static int64_t element_apart(const struct builder *b, const struct dot_node *parent,
                             const struct model_instance *child)
{
    if (!child->in_array)
        return -1;
    for (uint32_t i = 0; i < b->path_count; i++) {
        const struct expand_path *path = &b->paths[i];
        if (path->count <= parent->depth || !path_leads_to(path, parent))
            continue;
        const struct path_step *step = &path->steps[parent->depth];
        bool last = path->count == parent->depth + 1;
        bool each = last && step->element < 0 && !child->type->is_composite;
        if (strcmp(step->name, child->name) == 0
            && (each || step->element == (int64_t)child->element))
            return child->element;
    }
    return -1;
}

static bool should_open(const struct builder *b, const struct dot_node *node)
{
    if (!node->type->is_composite && !node->type->is_platform)
        return false;
    if (node->depth < b->open_depth)
        return true;
    for (uint32_t i = 0; i < b->path_count; i++)
        if (path_leads_to(&b->paths[i], node))
            return true;
    return false;
}

static void count_ports(struct arena *arena, struct dot_node *node)
{
    uint32_t n = node->type->port_count;
    node->port_counts = arena_alloc(arena, n * sizeof *node->port_counts);
    node->port_used = arena_alloc(arena, n * sizeof *node->port_used);
    for (uint32_t i = 0; i < node->instance_count; i++)
        for (uint32_t p = 0; p < n && p < node->instances[i]->port_group_count; p++)
            if (node->instances[i]->port_groups[p].count > node->port_counts[p])
                node->port_counts[p] = node->instances[i]->port_groups[p].count;
}

static struct dot_node *new_node(struct builder *b, struct dot_node *parent,
                                 const struct model_type *type)
{
    struct dot_node *node = arena_alloc(b->arena, sizeof *node);
    node->id = b->nodes.count;
    node->parent = parent;
    node->type = type;
    node->kind = dot_kind_of(type);
    node->element = -1;
    node->depth = parent ? parent->depth + 1 : 0;
    vector_push(b->arena, &b->nodes, node);
    return node;
}

static void measure_members(struct dot_node *node)
{
    node->per_parent_min = UINT32_MAX;
    uint32_t run = 0;
    for (uint32_t i = 0; i < node->instance_count; i++) {
        run++;
        bool last = i + 1 == node->instance_count
                    || node->instances[i + 1]->parent != node->instances[i]->parent;
        if (!last)
            continue;
        node->per_parent_min = run < node->per_parent_min ? run : node->per_parent_min;
        node->per_parent_max = run > node->per_parent_max ? run : node->per_parent_max;
        run = 0;
    }
}

static void add_member(struct arena *arena, struct dot_node *node,
                       const struct model_instance *instance)
{
    if (node->instance_count == node->instance_capacity)
        node->instances =
            arena_grow(arena, node->instances, node->instance_count, &node->instance_capacity,
                       sizeof(const struct model_instance *));
    node->instances[node->instance_count++] = instance;
}

static struct dot_node *child_node(struct builder *b, struct dot_node *parent,
                                   const struct model_instance *child)
{
    int64_t element = element_apart(b, parent, child);
    for (uint32_t i = 0; i < parent->child_count; i++) {
        struct dot_node *c = parent->children[i];
        if (c->element == element && c->type == child->type
            && strcmp(c->instances[0]->name, child->name) == 0)
            return c;
    }
    struct dot_node *c = new_node(b, parent, child->type);
    c->element = element;
    c->label =
        element < 0 ? child->name : arena_printf(b->arena, "%s[%u]", child->name, child->element);
    c->path = *parent->path ? arena_printf(b->arena, "%s.%s", parent->path, c->label) : c->label;
    if (parent->child_count == parent->child_capacity)
        parent->children = arena_grow(b->arena, parent->children, parent->child_count,
                                      &parent->child_capacity, sizeof(struct dot_node *));
    parent->children[parent->child_count++] = c;
    return c;
}

static void set_drawn(struct builder *b, const struct model_instance *instance,
                      struct dot_node *node)
{
    b->drawn[instance->id] = node;
    for (uint32_t i = 0; i < instance->child_count; i++)
        set_drawn(b, instance->children[i], node);
}

static void build_tree(struct builder *b, struct dot_node *node)
{
    measure_members(node);
    count_ports(b->arena, node);
    for (uint32_t i = 0; i < b->path_count; i++)
        b->paths[i].matched |=
            node->depth == b->paths[i].count && path_leads_to(&b->paths[i], node);
    node->is_open = should_open(b, node);
    for (uint32_t i = 0; i < node->instance_count; i++) {
        b->own[node->instances[i]->id] = node;
        set_drawn(b, node->instances[i], node);
    }
    if (!node->is_open)
        return;
    for (uint32_t i = 0; i < node->instance_count; i++)
        for (uint32_t k = 0; k < node->instances[i]->child_count; k++)
            add_member(b->arena, child_node(b, node, node->instances[i]->children[k]),
                       node->instances[i]->children[k]);
    for (uint32_t i = 0; i < node->child_count; i++)
        build_tree(b, node->children[i]);
}

/* A stub for each boundary port of the scope, numbered like its ports. */
static void add_stubs(struct builder *b, struct dot_node *scope, struct dot_node **stubs)
{
    for (uint32_t i = 0; i < scope->type->port_count; i++) {
        struct dot_node *stub = new_node(b, NULL, scope->type);
        stub->is_stub = true;
        stub->stub_port = &scope->type->ports[i];
        stub->label = stub->stub_port->name;
        stub->path = scope->path;
        stub->per_parent_min = stub->per_parent_max = scope->port_counts[i];
        stubs[i] = stub;
    }
}

static uint32_t port_number(const struct builder *b, const struct model_port *port)
{
    const struct model_instance *owner = port->owner;
    uint32_t number = b->first_port[owner->id];
    for (uint32_t g = 0; g < owner->port_group_count; g++) {
        if (owner->port_groups[g].decl == port->decl)
            return number + (uint32_t)(port - owner->port_groups[g].ports);
        number += owner->port_groups[g].count;
    }
    bug("port '%s' is none of '%s'", port->decl->name, owner->path);
}

static void number_ports(struct builder *b)
{
    const struct model *m = b->graph->model;
    uint32_t total = 0;
    b->first_port = arena_alloc(b->arena, m->instance_count * sizeof *b->first_port);
    for (uint32_t i = 0; i < m->instance_count; i++) {
        b->first_port[i] = total;
        for (uint32_t g = 0; g < m->instances[i]->port_group_count; g++)
            total += m->instances[i]->port_groups[g].count;
    }
    b->outer = arena_alloc(b->arena, total * sizeof *b->outer);
    for (uint32_t i = 0; i < m->instance_count; i++)
        for (uint32_t g = 0; g < m->instances[i]->port_group_count; g++)
            for (uint32_t p = 0; p < m->instances[i]->port_groups[g].count; p++) {
                const struct model_port *port = &m->instances[i]->port_groups[g].ports[p];
                if (port->alias)
                    b->outer[port_number(b, port->alias)] = port;
            }
}

static uint32_t decl_index(const struct model_type *type, const struct model_port_decl *decl)
{
    for (uint32_t i = 0; i < type->port_count; i++)
        if (&type->ports[i] == decl)
            return i;
    return DOT_NO_PORT;
}

/* Outwards from a leaf's port to the port by which the same wire leaves a member of `node`;
 * DOT_NO_PORT: it does not. */
static uint32_t port_at_node(const struct builder *b, const struct model_port *port,
                             const struct dot_node *node)
{
    for (; port; port = b->outer[port_number(b, port)])
        if (b->own[port->owner->id] == node)
            return decl_index(node->type, port->decl);
    return DOT_NO_PORT;
}

/* The node of the smallest composite around both ends: for a wire between two elements of an array,
 * what is around the array. The scope, when the wire leaves it. */
static const struct dot_node *node_around(const struct builder *b, const struct model_connection *c)
{
    const struct model_instance *x = c->from->owner, *y = c->to->owner;
    while (x != y) {
        if (x->id > y->id) /* parents have smaller numbers than children */
            x = x->parent;
        else
            y = y->parent;
    }
    return b->own[x->id] ? b->own[x->id] : b->graph->scope;
}

static bool port_optional(const struct dot_node *node, uint32_t port)
{
    return !node->is_stub && port != DOT_NO_PORT && node->type->ports[port].optional;
}

static bool is_wide_interconnect(const struct dot_node *node)
{
    if (node->kind != DOT_KIND_INTERCONNECT)
        return false;
    uint32_t in = 0, out = 0;
    for (uint32_t i = 0; i < node->type->port_count; i++)
        *(node->type->ports[i].is_in ? &in : &out) += node->port_counts[i];
    return in > 1 && out > 1;
}

static bool same_edge(const struct dot_edge *a, const struct dot_edge *b)
{
    return a->from == b->from && a->to == b->to && a->from_port == b->from_port
           && a->to_port == b->to_port && a->link == b->link && a->is_bus == b->is_bus
           && a->is_wire == b->is_wire && a->around == b->around && a->latency_cy == b->latency_cy;
}

static void merge_edge(struct builder *b, struct dot_edge edge)
{
    for (uint32_t i = 0; i < b->edges.count; i++)
        if (same_edge(&b->edges.items[i], &edge)) {
            b->edges.items[i].count++;
            return;
        }
    edge.count = 1;
    edge.optional =
        port_optional(edge.from, edge.from_port) || port_optional(edge.to, edge.to_port);
    edge.all_to_all = is_wide_interconnect(edge.from) || is_wide_interconnect(edge.to);
    vector_push(b->arena, &b->edges, edge);
}

static bool is_wanted(const struct model_protocol *protocol, enum view_only only)
{
    return only == VIEW_ONLY_ALL
           || (only == VIEW_ONLY_CONTROL) == (dot_traffic_of(protocol) == DOT_CONTROL);
}

static void add_connection(struct builder *b, const struct model_connection *c,
                           struct dot_node **stubs)
{
    struct dot_node *scope = b->graph->scope;
    struct dot_node *from = b->drawn[c->from->owner->id];
    struct dot_node *to = b->drawn[c->to->owner->id];
    if ((!from && !to) || !is_wanted(c->protocol, b->options->only))
        return;
    uint32_t from_port = from ? port_at_node(b, c->from, from) : port_at_node(b, c->to, scope);
    uint32_t to_port = to ? port_at_node(b, c->to, to) : port_at_node(b, c->from, scope);
    if (from == to && !from->is_stub && from->type->is_composite && from_port == DOT_NO_PORT)
        return;
    if ((!from && from_port == DOT_NO_PORT) || (!to && to_port == DOT_NO_PORT))
        return;
    struct dot_edge edge = {.protocol = c->protocol,
                            .link = c->link,
                            .is_bus = c->bus != 0,
                            .is_wire = c->wire != 0,
                            .latency_cy = c->link ? 0 : c->latency_cy,
                            .depth = c->depth,
                            .from_port = from_port,
                            .to_port = to_port};
    edge.around = node_around(b, c);
    edge.from = from ? from : stubs[from_port];
    edge.to = to ? to : stubs[to_port];
    merge_edge(b, edge);
}

/* Shapes, used ports, and what a filter leaves to be shown. */
static void finish_edges(struct builder *b)
{
    for (uint32_t i = 0; i < b->edges.count; i++) {
        struct dot_edge *e = &b->edges.items[i];
        uint32_t copies = e->around->instance_count;
        e->per_scope = e->count % copies == 0 ? e->count / copies : e->count;
        const struct dot_node *ends[] = {e->from, e->to};
        const uint32_t ports[] = {e->from_port, e->to_port};
        for (unsigned k = 0; k < 2; k++) {
            if (!ends[k]->is_stub && ports[k] != DOT_NO_PORT)
                ends[k]->port_used[ports[k]] = true;
            for (struct dot_node *n = b->nodes.items[ends[k]->id]; n; n = n->parent)
                n->is_shown = true;
        }
    }
    for (uint32_t i = 0; i < b->nodes.count; i++)
        if (!b->nodes.items[i]->is_stub && b->options->only == VIEW_ONLY_ALL)
            b->nodes.items[i]->is_shown = true;
}

static bool read_paths(struct builder *b, struct view_error *error)
{
    b->path_count = (uint32_t)b->options->expand_count;
    b->paths = arena_alloc(b->arena, b->path_count * sizeof *b->paths);
    for (uint32_t i = 0; i < b->path_count; i++)
        if (!parse_expand_path(b->arena, b->options->expand[i], &b->paths[i])) {
            snprintf(error->text, sizeof error->text, "'%s' is no instance path",
                     b->options->expand[i]);
            return false;
        }
    return true;
}

static bool all_paths_matched(const struct builder *b, struct view_error *error)
{
    for (uint32_t i = 0; i < b->path_count; i++)
        if (!b->paths[i].matched) {
            snprintf(error->text, sizeof error->text,
                     "nothing in platform '%s' has the path '%s'; paths look like \"gpu.sa\" or "
                     "\"gpu.sa[3]\"",
                     b->graph->model->name, b->options->expand[i]);
            return false;
        }
    return true;
}

/* The path of an instance without indices. */
static const char *bare_path(struct arena *arena, const char *path)
{
    char *bare = arena_strdup(arena, path);
    char *to = bare;
    bool inside = false;
    for (const char *from = path; *from; from++) {
        inside |= *from == '[';
        if (!inside)
            *to++ = *from;
        inside &= *from != ']';
    }
    *to = '\0';
    return bare;
}

bool dot_graph_build(struct dot_graph *graph, struct arena *arena, const struct model *model,
                     const struct model_instance *const *scope, uint32_t scope_count,
                     const struct view_options *options, struct view_error *error)
{
    static const uint32_t open_depths[] = {
        [VIEW_LEVEL_PLATFORM] = 1,
        [VIEW_LEVEL_GPU] = 2,
        [VIEW_LEVEL_FULL] = UINT32_MAX,
    };
    *graph = (struct dot_graph){.model = model, .only = options->only};
    struct builder b = {.graph = graph,
                        .arena = arena,
                        .options = options,
                        .open_depth = open_depths[options->level]};
    if (!read_paths(&b, error))
        return false;
    b.own = arena_alloc(arena, model->instance_count * sizeof *b.own);
    b.drawn = arena_alloc(arena, model->instance_count * sizeof *b.drawn);
    number_ports(&b);
    graph->scope = new_node(&b, NULL, scope[0]->type);
    graph->scope->label = scope[0]->parent ? scope[0]->name : model->name;
    graph->scope->path = bare_path(arena, scope[0]->path);
    for (uint32_t i = 0; i < scope_count; i++)
        add_member(arena, graph->scope, scope[i]);
    build_tree(&b, graph->scope);
    struct dot_node **stubs = arena_alloc(arena, graph->scope->type->port_count * sizeof *stubs);
    add_stubs(&b, graph->scope, stubs);
    for (uint32_t i = 0; i < model->connection_count; i++)
        add_connection(&b, model->connections[i], stubs);
    finish_edges(&b);
    graph->nodes = b.nodes.items;
    graph->node_count = b.nodes.count;
    graph->edges = b.edges.items;
    graph->edge_count = b.edges.count;
    return all_paths_matched(&b, error);
}

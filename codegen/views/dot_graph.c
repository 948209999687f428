/* The graph of a diagram. First the tree of nodes, opened as the options say; then each connection
 * finds the outermost closed node around its two ends, and the boundary ports at which it passes
 * there.
 */
#include "dot_graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "dsl/compiler_bug.h"

#define PATH_DEPTH_MAX 32

struct path_step {
    const char *name;
    int64_t element; /* -1: all */
};

struct expand_path {
    struct path_step steps[PATH_DEPTH_MAX];
    uint32_t count;
    bool matched;
};

struct builder {
    struct dot_graph *graph;
    struct region *region;
    const struct view_options *options;
    struct expand_path *paths;
    uint32_t path_count;
    uint32_t open_depth;             /* nodes less deep than this are open */
    bool open_compute;               /* composites with compute units inside are open, too */
    bool draw_out;                   /* small arrays of the scope */
    struct dot_node **own;           /* by instance id: the node it is a member of */
    struct dot_node **drawn;         /* by instance id: itself or the closed node around it */
    uint32_t *first_port;            /* by instance id: number of its first port */
    const struct model_port **outer; /* by port number: the boundary port that stands for it */
    VECTOR(struct dot_node *) nodes;
    VECTOR(struct dot_edge) edges;
};

/* "gpu.sa[3].cu" in steps; an index that is no number ([*]) means all. */
static bool parse_expand_path(struct region *region, const char *text, struct expand_path *path)
{
    char *copy = region_strdup(region, text);
    char *rest = NULL;
    for (char *step = strtok_r(copy, ".", &rest); step; step = strtok_r(NULL, ".", &rest)) {
        if (path->count == PATH_DEPTH_MAX)
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

/* True if the first node->depth steps of the path lead to the node. */
static bool path_leads_to(const struct expand_path *path, const struct dot_node *node)
{
    if (path->count < node->depth)
        return false;
    for (; node->parent; node = node->parent)
        if (!step_matches(&path->steps[node->depth - 1], node->instances[0]->name, node->element))
            return false;
    return true;
}

static bool is_small_array(const struct model_instance *instance)
{
    return instance->is_in_array && instance->array_count > 1
           && instance->array_count <= DOT_SMALL_ARRAY;
}

/* The element under which a child is drawn apart from its siblings, or -1. */
static int64_t element_apart(const struct builder *b, const struct dot_node *parent,
                             const struct model_instance *child)
{
    if (!child->is_in_array)
        return -1;
    if (b->draw_out && parent == b->graph->scope && is_small_array(child))
        return child->element;
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

/* Nothing but leaves of one name: open it takes no more room than closed. */
static bool holds_one_array(const struct dot_node *node)
{
    const struct model_instance *sample = node->instances[0];
    for (uint32_t i = 0; i < sample->child_count; i++)
        if (sample->children[i]->child_count
            || strcmp(sample->children[i]->name, sample->children[0]->name) != 0)
            return false;
    return sample->child_count > 1;
}

static bool should_open(const struct builder *b, const struct dot_node *node)
{
    if (!node->type->is_composite && !node->type->is_platform)
        return false;
    if (node->depth < b->open_depth
        || (b->open_compute && (node->holds_compute || holds_one_array(node))))
        return true;
    for (uint32_t i = 0; i < b->path_count; i++)
        if (path_leads_to(&b->paths[i], node))
            return true;
    return false;
}

static bool holds_compute(const struct model_instance *instance)
{
    if (!instance->child_count)
        return dot_kind_of(instance->type) == DOT_KIND_COMPUTE;
    for (uint32_t i = 0; i < instance->child_count; i++)
        if (holds_compute(instance->children[i]))
            return true;
    return false;
}

static void count_ports(struct region *region, struct dot_node *node)
{
    uint32_t n = node->type->port_count;
    node->port_counts = region_take(region, n * sizeof *node->port_counts);
    node->port_used = region_take(region, n * sizeof *node->port_used);
    for (uint32_t i = 0; i < node->instance_count; i++)
        for (uint32_t p = 0; p < n && p < node->instances[i]->port_group_count; p++)
            if (node->instances[i]->port_groups[p].count > node->port_counts[p])
                node->port_counts[p] = node->instances[i]->port_groups[p].count;
}

static struct dot_node *new_node(struct builder *b, struct dot_node *parent,
                                 const struct model_type *type)
{
    struct dot_node *node = region_take(b->region, sizeof *node);
    node->id = b->nodes.count;
    node->parent = parent;
    node->type = type;
    node->kind = dot_kind_of(type);
    node->element = -1;
    node->depth = parent ? parent->depth + 1 : 0;
    vector_push(b->region, &b->nodes, node);
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
        node->per_parent_min = min(run, node->per_parent_min);
        node->per_parent_max = max(run, node->per_parent_max);
        run = 0;
    }
}

static void add_member(struct region *region, struct dot_node *node,
                       const struct model_instance *instance)
{
    if (node->instance_count == node->instance_capacity)
        node->instances =
            region_grow(region, node->instances, node->instance_count, &node->instance_capacity,
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
        element < 0 ? child->name : region_printf(b->region, "%s[%u]", child->name, child->element);
    c->path = *parent->path ? region_printf(b->region, "%s.%s", parent->path, c->label) : c->label;
    if (parent->child_count == parent->child_capacity)
        parent->children = region_grow(b->region, parent->children, parent->child_count,
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
    count_ports(b->region, node);
    for (uint32_t i = 0; i < b->path_count; i++)
        b->paths[i].matched |=
            node->depth == b->paths[i].count && path_leads_to(&b->paths[i], node);
    node->holds_compute = holds_compute(node->instances[0]);
    node->is_open = should_open(b, node);
    for (uint32_t i = 0; i < node->instance_count; i++) {
        b->own[node->instances[i]->id] = node;
        set_drawn(b, node->instances[i], node);
    }
    if (!node->is_open)
        return;
    for (uint32_t i = 0; i < node->instance_count; i++)
        for (uint32_t k = 0; k < node->instances[i]->child_count; k++)
            add_member(b->region, child_node(b, node, node->instances[i]->children[k]),
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
    compiler_bug("port '%s' is none of '%s'", port->decl->name, owner->path);
}

static void number_ports(struct builder *b)
{
    const struct model *m = b->graph->model;
    uint32_t total = 0;
    b->first_port = region_take(b->region, m->instance_count * sizeof *b->first_port);
    for (uint32_t i = 0; i < m->instance_count; i++) {
        b->first_port[i] = total;
        for (uint32_t g = 0; g < m->instances[i]->port_group_count; g++)
            total += m->instances[i]->port_groups[g].count;
    }
    b->outer = region_take(b->region, total * sizeof *b->outer);
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
    return DOT_PORT_NONE;
}

/* Outwards from a leaf's port to the port by which the same wire leaves a member of `node`;
 * DOT_PORT_NONE: it does not. */
static uint32_t port_at_node(const struct builder *b, const struct model_port *port,
                             const struct dot_node *node)
{
    for (; port; port = b->outer[port_number(b, port)])
        if (b->own[port->owner->id] == node)
            return decl_index(node->type, port->decl);
    return DOT_PORT_NONE;
}

/* The node of the smallest composite around both ends: for a wire between two elements of an array,
 * what is around the array. The scope, when the wire leaves it. */
static const struct dot_node *node_around(const struct builder *b, const struct model_connection *c)
{
    const struct model_instance *x = c->from->owner, *y = c->to->owner;
    while (x != y)
        if (x->id > y->id) /* parents have smaller numbers than children */
            x = x->parent;
        else
            y = y->parent;
    return b->own[x->id] ? b->own[x->id] : b->graph->scope;
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

/* Each instance of a composite that sets something of a link has one of its own. */
static bool same_link(const struct model_link_type *a, const struct model_link_type *b)
{
    return a == b
           || (a && b && strcmp(a->name, b->name) == 0 && a->latency_ps == b->latency_ps
               && a->bandwidth_bytes_per_s == b->bandwidth_bytes_per_s);
}

static bool same_edge(const struct dot_edge *a, const struct dot_edge *b)
{
    return a->from == b->from && a->to == b->to && a->from_port == b->from_port
           && a->to_port == b->to_port && same_link(a->link, b->link) && a->is_wire == b->is_wire
           && a->around == b->around && a->latency_cy == b->latency_cy;
}

/* In an overview ports and directions do not count. */
static bool same_edge_in_overview(const struct dot_edge *a, const struct dot_edge *b)
{
    bool ends = (a->from == b->from && a->to == b->to) || (a->from == b->to && a->to == b->from);
    return ends && same_link(a->link, b->link) && !a->wire == !b->wire
           && a->latency_cy == b->latency_cy && a->traffic == b->traffic;
}

uint32_t dot_wire_box(const struct dot_graph *graph, uint32_t wire)
{
    while (graph->wire_box[wire] != wire)
        wire = graph->wire_box[wire];
    return wire;
}

/* Wires that one edge stands for are one box. */
static void join_wires(struct dot_graph *graph, uint32_t a, uint32_t b)
{
    a = dot_wire_box(graph, a);
    b = dot_wire_box(graph, b);
    graph->wire_box[max(a, b)] = min(a, b);
}

static void merge_edge(struct builder *b, struct dot_edge edge)
{
    bool overview = b->graph->is_overview;
    for (uint32_t i = 0; i < b->edges.count; i++) {
        struct dot_edge *e = &b->edges.items[i];
        if (!(overview ? same_edge_in_overview(e, &edge) : same_edge(e, &edge)))
            continue;
        e->count++;
        e->two_way |= e->from != edge.from;
        join_wires(b->graph, e->wire, edge.wire);
        return;
    }
    edge.count = 1;
    edge.all_to_all = is_wide_interconnect(edge.from) || is_wide_interconnect(edge.to);
    vector_push(b->region, &b->edges, edge);
}

static bool asks_for_pages(const struct model_type *type)
{
    for (uint32_t i = 0; i < type->port_count; i++)
        if (!type->ports[i].is_in && !type->ports[i].is_any
            && dot_traffic_of(type->ports[i].protocol) == DOT_TRANSLATION)
            return true;
    return false;
}

static enum dot_traffic traffic_of(const struct model_connection *c)
{
    enum dot_traffic traffic = dot_traffic_of(c->protocol);
    const struct model_type *type = c->to->owner->type;
    enum dot_kind to = dot_kind_of(type);
    bool kept = to == DOT_KIND_CACHE || to == DOT_KIND_TRANSLATION
                || (to == DOT_KIND_BRIDGE && asks_for_pages(type));
    return traffic == DOT_WORK && kept ? DOT_CONTROL : traffic;
}

/* A node that is connected only by control wires, which empty it, keeps these wires in the
 * picture. */
static void find_who_leads_on(struct builder *b, const struct model *model)
{
    for (uint32_t i = 0; i < model->connection_count; i++) {
        struct dot_node *from = b->drawn[model->connections[i]->from->owner->id];
        if (from && traffic_of(model->connections[i]) != DOT_CONTROL)
            from->leads_on = true;
    }
}

static bool is_wanted(const struct builder *b, const struct dot_node *from,
                      enum dot_traffic traffic)
{
    bool orders = traffic == DOT_WORK || traffic == DOT_CONTROL;
    switch (b->options->only) {
    case VIEW_ONLY_MEMORY:
        return !orders;
    case VIEW_ONLY_CONTROL:
        return orders;
    default:
        return traffic != DOT_CONTROL || b->options->controls
               || b->options->level == VIEW_LEVEL_FULL || (from && !from->leads_on);
    }
}

static void add_connection(struct builder *b, const struct model_connection *c,
                           struct dot_node **stubs)
{
    struct dot_node *scope = b->graph->scope;
    struct dot_node *from = b->drawn[c->from->owner->id];
    struct dot_node *to = b->drawn[c->to->owner->id];
    if ((!from && !to) || !is_wanted(b, from, traffic_of(c)))
        return;
    uint32_t from_port = from ? port_at_node(b, c->from, from) : port_at_node(b, c->to, scope);
    uint32_t to_port = to ? port_at_node(b, c->to, to) : port_at_node(b, c->from, scope);
    if (from == to && !from->is_stub && from->type->is_composite && from_port == DOT_PORT_NONE)
        return;
    if ((!from && from_port == DOT_PORT_NONE) || (!to && to_port == DOT_PORT_NONE))
        return;
    bool inside = from && to; /* a connection that leaves has its other end outside the picture */
    struct dot_edge edge = {.protocol = c->protocol,
                            .traffic = traffic_of(c),
                            .link = c->link,
                            .is_wire = inside && c->wire,
                            .wire = inside ? c->wire : 0,
                            .latency_cy = c->link ? 0 : c->latency_cy,
                            .depth = c->depth,
                            .from_port = from_port,
                            .to_port = to_port};
    edge.around = node_around(b, c);
    edge.from = from ? from : stubs[from_port];
    edge.to = to ? to : stubs[to_port];
    if (b->graph->is_overview)
        edge.from_port = edge.to_port = DOT_PORT_NONE;
    if (b->graph->is_overview && from == to)
        return;
    merge_edge(b, edge);
}

/* Shapes, used ports, and what a filter leaves to be shown. */
static void finish_edges(struct builder *b)
{
    for (uint32_t i = 0; i < b->edges.count; i++) {
        struct dot_edge *e = &b->edges.items[i];
        uint32_t copies = e->around->instance_count;
        e->per_scope = e->count % copies == 0 ? e->count / copies : e->count;
        e->wire = dot_wire_box(b->graph, e->wire);
        const struct dot_node *ends[] = {e->from, e->to};
        const uint32_t ports[] = {e->from_port, e->to_port};
        for (unsigned k = 0; k < 2; k++) {
            if (!ends[k]->is_stub && ports[k] != DOT_PORT_NONE)
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
    b->paths = region_take(b->region, b->path_count * sizeof *b->paths);
    for (uint32_t i = 0; i < b->path_count; i++)
        if (!parse_expand_path(b->region, b->options->expand[i], &b->paths[i])) {
            snprintf(error->text, sizeof error->text, "'%s' is not an instance path",
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
static const char *bare_path(struct region *region, const char *path)
{
    char *bare = region_strdup(region, path);
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

/* Have all small arrays together few enough elements to be drawn out? */
static bool has_few_elements(const struct model_instance *root)
{
    uint32_t elements = 0;
    for (uint32_t i = 0; i < root->child_count; i++)
        elements += is_small_array(root->children[i]);
    return elements <= DOT_DRAWN_OUT;
}

/* True if the platform has a small array of composites. Then level gpu is an overview with insets.
 */
static bool has_small_arrays(const struct model_instance *root)
{
    for (uint32_t i = 0; has_few_elements(root) && i < root->child_count; i++)
        if (root->children[i]->type->is_composite && is_small_array(root->children[i]))
            return true;
    return false;
}

static void choose_depth(struct builder *b, const struct model_instance *scope)
{
    const struct view_options *o = b->options;
    bool is_root = !scope->parent;
    bool alone = is_root && o->expand_count == 0;
    b->draw_out = alone && o->level != VIEW_LEVEL_FULL && has_few_elements(scope);
    b->graph->is_overview = alone
                            && (o->level == VIEW_LEVEL_PLATFORM
                                || (o->level == VIEW_LEVEL_GPU && has_small_arrays(scope)));
    b->graph->shows_open_ports = o->level == VIEW_LEVEL_FULL && o->only == VIEW_ONLY_ALL;
    if (o->level == VIEW_LEVEL_FULL)
        b->open_depth = UINT32_MAX;
    else
        b->open_depth =
            o->level == VIEW_LEVEL_PLATFORM || b->graph->is_overview || !is_root ? 1 : 2;
    b->open_compute = o->level == VIEW_LEVEL_GPU && !b->graph->is_overview && !o->expand_count;
}

static void make_tables(struct builder *b)
{
    const struct model *model = b->graph->model;
    b->own = region_take(b->region, model->instance_count * sizeof *b->own);
    b->drawn = region_take(b->region, model->instance_count * sizeof *b->drawn);
    b->graph->wire_box = region_take(b->region, (model->wire_count + 1) * sizeof(uint32_t));
    for (uint32_t i = 0; i <= model->wire_count; i++)
        b->graph->wire_box[i] = i;
    number_ports(b);
}

bool dot_graph_build(struct dot_graph *graph, struct region *region, const struct model *model,
                     const struct model_instance *const *scope, uint32_t scope_count,
                     const struct view_options *options, struct view_error *error)
{
    *graph = (struct dot_graph){.model = model, .only = options->only, .layout = options->layout};
    struct builder b = {.graph = graph, .region = region, .options = options};
    choose_depth(&b, scope[0]);
    if (!read_paths(&b, error))
        return false;
    make_tables(&b);
    graph->scope = new_node(&b, NULL, scope[0]->type);
    graph->scope->label = scope[0]->parent ? scope[0]->name : model->name;
    graph->scope->path = bare_path(region, scope[0]->path);
    for (uint32_t i = 0; i < scope_count; i++)
        add_member(region, graph->scope, scope[i]);
    build_tree(&b, graph->scope);
    struct dot_node **stubs = region_take(region, graph->scope->type->port_count * sizeof *stubs);
    add_stubs(&b, graph->scope, stubs);
    find_who_leads_on(&b, model);
    for (uint32_t i = 0; i < model->connection_count; i++)
        add_connection(&b, model->connections[i], stubs);
    finish_edges(&b);
    graph->nodes = b.nodes.items;
    graph->node_count = b.nodes.count;
    graph->edges = b.edges.items;
    graph->edge_count = b.edges.count;
    if (graph->is_overview)
        dot_grid_place(graph);
    return all_paths_matched(&b, error);
}

bool dot_node_holds(const struct dot_node *node, const struct model_instance *instance)
{
    for (; instance; instance = instance->parent)
        for (uint32_t i = 0; i < node->instance_count; i++)
            if (node->instances[i] == instance)
                return true;
    return false;
}

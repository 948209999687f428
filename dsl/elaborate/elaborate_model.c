/* From nodes to the arrays of model.h. Runs only when there was no error, so nothing is missing.
 * Ids are given here, depth first. */
#include <string.h>

#include "base/wide.h"

#include "elaborate.h"

static void number_nodes(struct node *node, struct node **order, uint32_t *count)
{
    node->model.id = *count;
    order[(*count)++] = node;
    for (uint32_t i = 0; i < node->children.count; i++)
        number_nodes(node->children.items[i], order, count);
}

static void make_ports(struct elaboration *e, struct node *node)
{
    const struct type_info *type = node->object.type;
    uint32_t count = type->ports.v.count;
    struct model_port_group *groups = region_take(e->region, count * sizeof *groups);
    for (uint32_t port = 0; port < count; port++) {
        struct port_group *group = &node->ports[port];
        int64_t elements = port_count(e, node, port);
        if (elements < 0)
            elements = 0;
        group->models = region_take(e->region, (size_t)elements * sizeof *group->models);
        for (uint32_t k = 0; k < elements; k++) {
            struct wire_end at = {node, port, k};
            struct route_path path = {.from = at, .to = at};
            bool is_stated;
            group->models[k] = (struct model_port){.decl = &type->port_decls[port],
                                                   .owner = &node->model,
                                                   .element = k,
                                                   .protocol = protocol_bound(e, &at),
                                                   .depth = port_depth(e, &at, &is_stated),
                                                   .width = path_width(e, &path)};
        }
        groups[port] =
            (struct model_port_group){&type->port_decls[port], group->models, (uint32_t)elements};
    }
    node->model.port_groups = groups;
    node->model.port_group_count = count;
}

/* The inner port that each boundary port of a composite stands for. */
static void make_aliases(struct elaboration *e, struct node *node)
{
    if (!node->object.type->model.is_composite)
        return;
    for (uint32_t port = 0; port < node->object.type->ports.v.count; port++)
        for (uint32_t k = 0; k < node->model.port_groups[port].count; k++) {
            struct wire_end at = {node, port, k};
            const struct port_end *end = wire_end_at(e, &at);
            if (!end || !end->inner)
                continue;
            const struct wire *wire = end->inner;
            bool from_left =
                wire->left.node == node && wire->left.port == port && wire->left.element == k;
            const struct wire_end *other = from_left ? &wire->right : &wire->left;
            struct model_port *inner = &other->node->ports[other->port].models[other->element];
            node->ports[port].models[k].alias = inner;
            if (!node->ports[port].models[k].protocol)
                node->ports[port].models[k].protocol = inner->protocol;
        }
}

static struct model_part_place *make_places(struct elaboration *e, struct object *object)
{
    uint32_t count = object->type->parts.v.count;
    struct model_part_place *places = region_take(e->region, count * sizeof *places);
    for (uint32_t i = 0; i < count; i++) {
        const struct part_slot *slot = &object->slots[i];
        places[i].parts = region_take(e->region, slot->count * sizeof(struct model_part *));
        places[i].count = slot->count;
        places[i].is_shared = slot->is_shared;
        for (uint32_t k = 0; k < slot->count; k++)
            places[i].parts[k] = &slot->parts[k]->model;
    }
    return places;
}

static void make_parts(struct elaboration *e, struct model *model)
{
    const struct model_part **parts = region_take(e->region, e->parts.count * sizeof *parts);
    for (uint32_t i = 0; i < e->parts.count; i++) {
        struct part_object *part = e->parts.items[i];
        part->model = (struct model_part){.type = &part->object.type->model,
                                          .decl = part->decl,
                                          .path = part->object.path,
                                          .id = i,
                                          .element = part->object.element,
                                          .params = object_params(e, &part->object),
                                          .param_count = part->object.type->params.v.count,
                                          .measures = part->object.measures,
                                          .places = make_places(e, &part->object)};
        parts[i] = &part->model;
    }
    model->parts = parts;
    model->part_count = e->parts.count;
}

/* The outputs that lead to the mapped spaces; NULL when there is nothing to choose. */
static const int32_t *make_outputs(struct elaboration *e, const struct node *node)
{
    uint32_t spaces = e->spaces.count, choices = 0;
    if (!node->routes_to)
        return NULL;
    int32_t *outputs = region_take(e->region, spaces * sizeof *outputs);
    for (uint32_t i = 0; i < spaces; i++) {
        outputs[i] = -1;
        if (node->routes_to[i] == ROUTE_NONE)
            continue;
        const struct wire_end *from = &e->paths.items[node->routes_to[i]].from;
        outputs[i] = (int32_t)from->element;
        choices += node->ports[from->port].count > 1;
    }
    return choices > 0 ? outputs : NULL;
}

static void make_instance(struct elaboration *e, struct node *node)
{
    struct model_instance *model = &node->model;
    struct object *object = &node->object;
    bool is_connect = node->item && node->item->kind == AST_CONNECT;
    model->type = &object->type->model;
    model->parent = node->parent ? &node->parent->model : NULL;
    model->name = object->name;
    model->path = object->path;
    model->doc = node->item && !is_connect ? node->item->doc
                 : !node->item             ? object->type->model.doc
                                           : "";
    model->place = program_place(e->program, node->span);
    model->domain = node->domain != DOMAIN_NONE ? node->domain : 0;
    model->clocks = node->clocks;
    model->partition = node->partition;
    model->params = object_params(e, object);
    model->param_count = object->type->params.v.count;
    model->measures = object->measures;
    model->places = make_places(e, object);
    model->children =
        region_take(e->region, node->children.count * sizeof(struct model_instance *));
    model->child_count = node->children.count;
    for (uint32_t i = 0; i < node->children.count; i++)
        model->children[i] = &node->children.items[i]->model;
    uint32_t stores = object->type->stores.v.count;
    model->readers_of = region_take(e->region, stores * sizeof(struct model_instance *));
    for (uint32_t i = 0; i < stores; i++)
        model->readers_of[i] = node->writers && node->writers[i] ? &node->writers[i]->model : NULL;
    model->route = (struct model_route){
        .space = node->space, .else_output = -1, .outputs = make_outputs(e, node)};
    if (model->is_interconnect && node->routes.items[0]->otherwise.v.count > 0)
        model->route.else_output = (int32_t)ranges_total(e, &node->routes.items[0]->right);
}

/* Picoseconds until the n-th edge of a clock, rounded down as the runtime does. */
static uint64_t cycles_to_ps(uint64_t cycles, uint64_t hz)
{
    return divide_wide(cycles, PS_PER_S, hz);
}

static uint64_t ps_to_cycles(uint64_t ps, uint64_t hz)
{
    return divide_wide_up(ps, hz, PS_PER_S);
}

/* True if requests lead away from the end of the shared wire. */
static bool is_reversed(const struct wire *wire)
{
    return wire->shared_wire && wire->shared_wire->model != 0
           && wire_side(wire, &wire->left) == wire->shared_wire->end;
}

/* A medium whose senders are in several partitions is granted between windows. */
static void narrow_window(struct elaboration *e, const struct model_connection *a)
{
    for (uint32_t i = 0; a->wire && i < a->id; i++) {
        const struct model_connection *b = e->connections.items[i];
        if (a->wire == b->wire && a->from->owner->partition != b->from->owner->partition
            && (e->model->window_ps == 0 || a->link->latency_ps < e->model->window_ps))
            e->model->window_ps = a->link->latency_ps;
    }
}

static struct model_connection *make_connection(struct elaboration *e,
                                                const struct route_path *path)
{
    struct model_port *from = &path->from.node->ports[path->from.port].models[path->from.element];
    struct model_port *to = &path->to.node->ports[path->to.port].models[path->to.element];
    const struct wire *wire = path->carrier ? path->carrier : path->first;
    const struct model_link_type *link =
        path->carrier && path->carrier->link ? path->carrier->link->model : NULL;
    uint64_t hz = e->domains.items[path->to.node->model.domain].hz;
    uint64_t latency = link ? ps_to_cycles(link->latency_ps, hz) : path->latency_cy;
    to->depth = path_depth(e, path, latency);
    struct model_connection *made = region_take(e->region, sizeof *made);
    *made =
        (struct model_connection){.id = e->connections.count,
                                  .from = from,
                                  .to = to,
                                  .protocol = to->protocol,
                                  .latency_cy = path->latency_cy,
                                  .depth = to->depth,
                                  .reply_depth = to->depth,
                                  .width = path_width(e, path),
                                  .link = link,
                                  .wire = wire->shared_wire ? wire->shared_wire->model : 0,
                                  .is_reversed = is_reversed(wire),
                                  .crosses = path->from.node->partition != path->to.node->partition,
                                  .written_in = &wire->written_in->model,
                                  .place = program_place(e->program, wire->statement->item->span)};
    from->connection = made;
    to->connection = made;
    uint64_t ps = link ? link->latency_ps : cycles_to_ps(path->latency_cy, hz);
    if (made->crosses && (e->model->window_ps == 0 || ps < e->model->window_ps))
        e->model->window_ps = ps;
    return made;
}

static void make_connections(struct elaboration *e, struct model *model)
{
    for (uint32_t i = 0; i < e->paths.count; i++)
        if (e->paths.items[i].is_complete) {
            struct model_connection *made = make_connection(e, &e->paths.items[i]);
            vector_push(e->region, &e->connections, made);
            narrow_window(e, made);
        }
    model->connections = region_take(e->region, e->connections.count * sizeof *model->connections);
    for (uint32_t i = 0; i < e->connections.count; i++)
        model->connections[i] = e->connections.items[i];
    model->connection_count = e->connections.count;
}

void model_declarations(struct elaboration *e, struct model *model)
{
    const struct program *program = e->program;
    model->types = region_take(e->region, program->types.count * sizeof *model->types);
    for (uint32_t i = 0; i < program->types.count; i++)
        model->types[model->type_count++] = &program->types.items[i]->model;
    model->protocols = region_take(e->region, e->protocols.count * sizeof *model->protocols);
    for (uint32_t i = 0; i < e->protocols.count; i++)
        model->protocols[model->protocol_count++] = e->protocols.items[i];
    model->links = region_take(e->region, program->links.count * sizeof *model->links);
    for (uint32_t i = 0; i < program->links.count; i++)
        if (program->links.items[i]->model)
            model->links[model->link_count++] = program->links.items[i]->model;
    model->interfaces =
        region_take(e->region, program->interfaces.count * sizeof *model->interfaces);
    for (uint32_t i = 0; i < program->interfaces.count; i++)
        model->interfaces[model->interface_count++] = program->interfaces.items[i];
    model->enums = region_take(e->region, program->enums.count * sizeof *model->enums);
    for (uint32_t i = 0; i < program->enums.count; i++)
        model->enums[model->enum_count++] = program->enums.items[i];
}

struct model *model_make(struct elaboration *e)
{
    struct model *model = region_take(e->region, sizeof *model);
    struct type_info *type = e->root->object.type;
    e->model = model;
    model->name = type->model.name;
    model->doc = type->model.doc;
    model->place = type->model.place;
    struct node **order = region_take(e->region, e->nodes.count * sizeof(struct node *));
    uint32_t count = 0;
    number_nodes(e->root, order, &count);
    for (uint32_t i = 0; i < count; i++)
        make_ports(e, order[i]);
    for (uint32_t i = count; i-- > 0;)
        make_aliases(e, order[i]);
    make_parts(e, model);
    model->instances = region_take(e->region, count * sizeof *model->instances);
    model->leaves = region_take(e->region, count * sizeof *model->leaves);
    for (uint32_t i = 0; i < count; i++) {
        make_instance(e, order[i]);
        bool is_leaf = !order[i]->object.type->model.is_composite;
        order[i]->model.leaf_id = is_leaf ? model->leaf_count : UINT32_MAX;
        model->instances[model->instance_count++] = &order[i]->model;
        if (is_leaf)
            model->leaves[model->leaf_count++] = &order[i]->model;
    }
    model->root = &e->root->model;
    wires_make(e, model);
    make_connections(e, model);
    model->domains = e->domains.items;
    model->domain_count = e->domains.count;
    model->partitions = e->partitions.items;
    model->partition_count = e->partitions.count;
    model->spaces = region_take(e->region, e->spaces.count * sizeof *model->spaces);
    for (uint32_t i = 0; i < e->spaces.count; i++)
        model->spaces[model->space_count++] = e->spaces.items[i];
    model_declarations(e, model);
    return model;
}

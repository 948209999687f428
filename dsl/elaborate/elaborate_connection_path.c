/* Follows wires from leaf to leaf, and binds `any`. An `any` port takes the protocol of what it is
 * connected to; all `any` ports of one instance are bound alike, so that what comes in can go out.
 * Ports of `channel` are bound element by element, each like the one that it leads to.
 * Binding spreads along the paths until nothing changes, which takes at most as many rounds as
 * there are interconnects in a row. */
#include "dsl/elaborate/elaborate.h"

#include <string.h>

static bool carries(const struct wire *wire)
{
    return wire->link != NULL || wire->latency != NULL;
}

static void note_carrier(struct route_path *path, struct wire *wire)
{
    if (!carries(wire))
        return;
    if (path->carrier == NULL)
        path->carrier = wire;
    else if (path->second_carrier == NULL)
        path->second_carrier = wire;
}

static const struct ast_item *item_at(const struct wire_end *at)
{
    return at->node->object.type->ports.v.items[at->port];
}

/* Wires between leaves are at most two for each level of the tree. */
#define MAX_WIRES (2 * ELABORATE_MAX_DEPTH + 2)

static void trace(struct elaboration *e, struct wire_end from, struct wire *wire)
{
    struct route_path path = {.from = from, .first = wire, .last = wire, .outermost = wire};
    for (int i = 0; i < MAX_WIRES; i++) {
        note_carrier(&path, wire);
        path.last = wire;
        path.to = wire->right;
        if (wire->written_in->depth < path.outermost->written_in->depth)
            path.outermost = wire;
        if (!path.to.node->object.type->model.is_composite) {
            path.whole = true;
            break;
        }
        if (path.boundary.node == NULL && item_at(&path.to)->latency != NULL)
            path.boundary = path.to;
        struct port_end *end = wire_end_at(e, &path.to);
        struct wire *next = end == NULL                        ? NULL
                            : path.to.node == wire->written_in ? end->outer
                                                               : end->inner;
        if (next == NULL)
            break;
        wire = next;
    }
    vector_push(e->arena, &e->paths, path);
}

static bool is_any(const struct wire_end *at)
{
    return at->node->object.type->port_decls[at->port].is_any;
}

static bool is_channel(const struct wire_end *at)
{
    return at->node->object.type->port_decls[at->port].is_channel;
}

/* The port that requests leave by which come in at `in`: the next of the type's `channel` ports. */
static uint32_t partner_port(const struct type_info *type, uint32_t in)
{
    for (uint32_t out = in + 1; out < type->ports.v.count; out++)
        if (type->port_decls[out].is_channel && !type->port_decls[out].is_in)
            return out;
    return in;
}

/* The channel at a port going in or out. */
static struct channel *channel_at(struct elaboration *e, const struct wire_end *at)
{
    struct node *node = at->node;
    const struct type_info *type = node->object.type;
    bool is_in = type->port_decls[at->port].is_in;
    uint32_t in = at->port;
    while (!is_in && in > 0 && !(type->port_decls[in].is_channel && type->port_decls[in].is_in))
        in--;
    for (uint32_t i = 0; i < node->channels.count; i++)
        if (node->channels.items[i].in_port == in && node->channels.items[i].element == at->element)
            return &node->channels.items[i];
    struct channel fresh = {in, partner_port(type, in), at->element, NULL, 0};
    vector_push(e->arena, &node->channels, fresh);
    return &node->channels.items[node->channels.count - 1];
}

/* What an `any` or `channel` port is bound to. */
static const struct model_protocol **binding_of(struct elaboration *e, const struct wire_end *at)
{
    return is_channel(at) ? &channel_at(e, at)->protocol : &at->node->any;
}

const struct model_protocol *protocol_bound(struct elaboration *e, const struct wire_end *at)
{
    return is_any(at) ? *binding_of(e, at) : protocol_of_port(e, at->node, at->port);
}

const struct route_path *path_through(struct elaboration *e, const struct route_path *path)
{
    if (!path->whole || !is_channel(&path->to))
        return NULL;
    const struct channel *channel = channel_at(e, &path->to);
    return channel->leaves ? &e->paths.items[channel->leaves - 1] : NULL;
}

static void find_leaving(struct elaboration *e)
{
    for (uint32_t i = 0; i < e->paths.count; i++)
        if (is_channel(&e->paths.items[i].from))
            channel_at(e, &e->paths.items[i].from)->leaves = i + 1;
}

static bool bind_once(struct elaboration *e)
{
    bool changed = false;
    for (uint32_t i = 0; i < e->paths.count; i++) {
        const struct route_path *path = &e->paths.items[i];
        if (!path->whole)
            continue;
        const struct model_protocol *from = protocol_bound(e, &path->from),
                                    *to = protocol_bound(e, &path->to);
        if (from == NULL && to != NULL && is_any(&path->from)) {
            *binding_of(e, &path->from) = to;
            changed = true;
        } else if (to == NULL && from != NULL && is_any(&path->to)) {
            *binding_of(e, &path->to) = from;
            changed = true;
        }
    }
    return changed;
}

void paths_trace(struct elaboration *e)
{
    for (uint32_t i = 0; i < e->nodes.count; i++) {
        struct node *node = e->nodes.items[i];
        if (node->object.type->model.is_composite)
            continue;
        for (uint32_t port = 0; port < node->object.type->ports.v.count; port++) {
            if (node->object.type->ports.v.items[port]->is_in || port_count(e, node, port) <= 0)
                continue;
            for (uint32_t k = 0; k < node->ports[port].count; k++) {
                struct wire_end from = {node, port, k};
                struct port_end *end = wire_end_at(e, &from);
                if (end != NULL && end->outer != NULL)
                    trace(e, from, end->outer);
            }
        }
    }
    while (bind_once(e))
        continue;
    find_leaving(e);
}

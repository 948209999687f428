/* Follows wires from leaf to leaf, and binds `any`. An `any` port takes the protocol of what it is
 * connected to; all `any` ports of one instance are bound alike, so that what comes in can go out.
 * Binding spreads along the paths until nothing changes, which takes at most as many rounds as
 * there are interconnects in a row. */
#include <string.h>

#include "elaborate.h"

static bool carries(const struct wire *wire)
{
    return wire->link || wire->latency;
}

static void add_carrier(struct route_path *path, struct wire *wire)
{
    if (!carries(wire))
        return;
    if (!path->carrier)
        path->carrier = wire;
    else if (!path->second_carrier)
        path->second_carrier = wire;
}

static const struct ast_item *item_at(const struct wire_end *at)
{
    return at->node->object.type->ports.v.items[at->port];
}

/* Wires between leaves are at most two for each level of the tree. */
#define WIRES_MAX (2 * ELABORATE_DEPTH_MAX + 2)

static void trace(struct elaboration *e, struct wire_end from, struct wire *wire)
{
    struct route_path path = {.from = from, .first = wire, .last = wire, .outermost = wire};
    for (int i = 0; i < WIRES_MAX; i++) {
        add_carrier(&path, wire);
        path.last = wire;
        path.to = wire->right;
        if (wire->written_in->depth < path.outermost->written_in->depth)
            path.outermost = wire;
        if (!path.to.node->object.type->model.is_composite) {
            path.is_complete = true;
            break;
        }
        if (!path.boundary.node && item_at(&path.to)->latency)
            path.boundary = path.to;
        struct port_end *end = wire_end_at(e, &path.to);
        struct wire *next = !end                               ? NULL
                            : path.to.node == wire->written_in ? end->outer
                                                               : end->inner;
        if (!next)
            break;
        wire = next;
    }
    vector_push(e->region, &e->paths, path);
}

static bool is_any(const struct wire_end *at)
{
    return at->node->object.type->port_decls[at->port].is_any;
}

const struct model_protocol *protocol_bound(struct elaboration *e, const struct wire_end *at)
{
    return is_any(at) ? at->node->any : protocol_of_port(e, at->node, at->port);
}

static bool bind_once(struct elaboration *e)
{
    bool changed = false;
    for (uint32_t i = 0; i < e->paths.count; i++) {
        const struct route_path *path = &e->paths.items[i];
        if (!path->is_complete)
            continue;
        const struct model_protocol *from = protocol_bound(e, &path->from),
                                    *to = protocol_bound(e, &path->to);
        if (!from && to && is_any(&path->from)) {
            path->from.node->any = to;
            changed = true;
        } else if (!to && from && is_any(&path->to)) {
            path->to.node->any = from;
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
                if (end && end->outer)
                    trace(e, from, end->outer);
            }
        }
    }
    while (bind_once(e))
        continue;
}

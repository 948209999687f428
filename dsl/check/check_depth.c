/* Ports too shallow for what leads to them. A ring of `depth` lets `depth` messages go in the time
 * that space takes to come back: two latencies. */
#include "base/number.h"
#include "base/wide.h"
#include "dsl/message_layout.h"

#include "check.h"

/* Bytes of the longest message in one direction. */
static uint64_t longest(struct region *region, const struct model_message *messages, uint32_t count)
{
    uint64_t most = MESSAGE_FRAME_BYTES;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t bytes = message_wire_bytes(region, &messages[i]);
        most = max(bytes, most);
    }
    return most;
}

/* Messages that a link carries in two latencies, counted in the longest ones: what is too shallow
 * for these is too shallow for all. No more than the receiver takes in that time. */
static uint64_t needed_by_link(struct elaboration *e, const struct route_path *path)
{
    const struct model_link_type *link = path->carrier->link->model;
    const struct model_protocol *protocol = protocol_bound(e, &path->to);
    if (!link || !protocol || path->to.node->domain == DOMAIN_NONE)
        return 0;
    uint64_t hz = e->domains.items[path->to.node->domain].hz;
    wide needed = (wide)link->latency_ps * 2 * hz / PS_PER_S * path_width(e, path);
    if (link->bandwidth_bytes_per_s != 0) {
        uint64_t out = longest(e->region, protocol->requests, protocol->request_count);
        uint64_t back = longest(e->region, protocol->replies, protocol->reply_count);
        wide most =
            (wide)link->latency_ps * 2 * link->bandwidth_bytes_per_s / PS_PER_S / max(out, back);
        needed = min(most, needed);
    }
    return needed > UINT32_MAX ? UINT32_MAX : (uint64_t)needed;
}

static void report(struct elaboration *e, const struct route_path *path, uint32_t depth,
                   uint64_t needed)
{
    const struct ast_item *item = path->to.node->object.type->ports.v.items[path->to.port];
    const struct wire *carrier = path->carrier ? path->carrier : path->outermost;
    bool has_link = carrier->link != NULL;
    /* the depth of a port of the library is a parameter, which is set where the port is
     * connected */
    bool is_library = path->to.node->object.type->model.is_library;
    struct span crossing = carrier->statement->item->span;
    struct span place = is_library ? crossing : item->depth->span;
    struct diagnostic *d =
        has_link ? diagnostic_add(e->diagnostics, W0703, place,
                                  "'%s' is too shallow: depth %u, but '%s' carries %llu messages "
                                  "in two latencies",
                                  item->name.text, depth, carrier->link->name,
                                  (unsigned long long)needed)
                 : diagnostic_add(e->diagnostics, W0703, place,
                                  "'%s' is too shallow: depth %u, but the way there takes %ucy",
                                  item->name.text, depth, path->latency_cy);
    diagnostic_note(e->diagnostics, d, is_library ? item->depth->span : crossing,
                    is_library ? "its depth is given here"
                    : has_link ? "the link is crossed here"
                               : "the latency is given here");
    diagnostic_help(e->diagnostics, d,
                    "room comes back after two latencies: full speed needs a depth of %llu",
                    (unsigned long long)needed);
}

/* Ports of the library whose depth is a number are exempt: a platform that connects them cannot
 * change it, and control ports are shallow on purpose. */
static void run_shallow(struct elaboration *e)
{
    for (uint32_t i = 0; i < e->paths.count; i++) {
        const struct route_path *path = &e->paths.items[i];
        const struct ast_item *item = path->to.node->object.type->ports.v.items[path->to.port];
        bool has_link = path->carrier && path->carrier->link, stated;
        bool fixed = path->to.node->object.type->model.is_library
                     && (!item->depth || item->depth->kind == AST_NUMBER);
        if (!path->is_complete || fixed || (!has_link && path->latency_cy < 2))
            continue;
        uint32_t depth = port_depth(e, &path->to, &stated);
        uint64_t needed = has_link ? needed_by_link(e, path)
                                   : 2 * (uint64_t)path->latency_cy * path_width(e, path);
        if (stated && depth < needed)
            report(e, path, depth, needed);
    }
}

const struct check check_shallow = {.name = "shallow-port",
                                    .code = W0703,
                                    .run = run_shallow,
                                    .prerequisites = {&check_latency, &check_two_latencies}};

/* The number of messages that a port holds, and takes in a cycle: what its declaration states, or a
 * default. Called by the pipeline, by checks and by elaborate_model.c. */
#include "base/number.h"

#include "elaborate.h"

/* Deep enough that the credits of a full wire are back in time, when nothing is stated. */
#define DEPTH_DEFAULT 4u
#define DEPTH_MAX     4096u

uint32_t port_depth(struct elaboration *e, const struct wire_end *at, bool *is_stated)
{
    const struct ast_item *item = at->node->object.type->ports.v.items[at->port];
    struct scope scope = {&at->node->object, NULL};
    int64_t depth = DEPTH_DEFAULT;
    *is_stated = item->depth != NULL;
    if (item->depth && !eval_count(e, item->depth, &scope, 1, 1 << 16, &depth))
        return DEPTH_DEFAULT;
    return (uint32_t)depth;
}

static uint32_t port_width(struct elaboration *e, const struct wire_end *at, bool *is_stated)
{
    const struct ast_item *item = at->node->object.type->ports.v.items[at->port];
    struct scope scope = {&at->node->object, NULL};
    int64_t width = 1;
    *is_stated = item->width != NULL;
    if (item->width && !eval_count(e, item->width, &scope, 1, 1 << 16, &width))
        return 1;
    return (uint32_t)width;
}

uint32_t path_width(struct elaboration *e, const struct route_path *path)
{
    bool from_stated, to_stated;
    uint32_t from = port_width(e, &path->from, &from_stated),
             to = port_width(e, &path->to, &to_stated);
    if (from_stated && to_stated)
        return min(from, to);
    return from_stated ? from : to;
}

uint32_t path_depth(struct elaboration *e, const struct route_path *path, uint64_t latency_cy)
{
    bool is_stated;
    uint32_t depth = port_depth(e, &path->to, &is_stated);
    uint64_t needed = 2 * latency_cy * path_width(e, path);
    if (is_stated || needed <= depth)
        return depth;
    return needed > DEPTH_MAX ? DEPTH_MAX : (uint32_t)needed;
}

/* Touches without time take the way of requests. A template as interconnect.h, included behind it.
 */
#include "components/sampling/warmup.h"

static void INTERCONNECT(touch)(struct component *self, const struct warm_access *access)
{
    const struct INTERCONNECT_TYPE *c = (const struct INTERCONNECT_TYPE *)(const void *)self;
    const struct interconnect *x = &c->interconnect;
    int32_t target = -1, space;
    if (c->io.base.route_space < 0 && x->side[0].targets == 1)
        target = 0;
    else if (x->by_map && (space = platform_space(access->address)) >= 0)
        target = (int32_t)engine_base.platform->routes[x->routes + (uint32_t)space];
    else if (!x->by_map && c->io.base.route_space >= 0)
        target = platform_route(c->io.base.route_space, access->address);
    if (target < 0)
        target = c->io.base.route_else;
    if (target >= 0)
        warm_pass(engine_base.port_rings[2 * (INTERCONNECT(io)(c)->to_first + (uint32_t)target)],
                  access);
}

static const struct warm_ops INTERCONNECT(warm_ops) = {.touch = INTERCONNECT(touch)};

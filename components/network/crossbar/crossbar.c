/* Every input to every output. See interconnect.c for how; here is only what makes it a crossbar: a
 * width, and a latency of the whole way, legs on either side included. */
#include "crossbar.gen.h"

#define INTERCONNECT(name)  crossbar_##name
#define INTERCONNECT_TYPE   crossbar
#define INTERCONNECT_BUBBLE 0
#include "components/network/interconnect/interconnect.h"

struct crossbar {
    struct crossbar_io io;
    struct interconnect interconnect;
};

#include "components/network/interconnect/interconnect.c"
#include "components/network/interconnect/interconnect_warm.h"

static void crossbar_init(struct crossbar *c)
{
    warm_register(&c->io.base, &crossbar_warm_ops);
    crossbar_setup(c, (uint32_t)crossbar_params(c)->latency, true,
                   (uint64_t)crossbar_params(c)->request_width,
                   (uint64_t)crossbar_params(c)->width);
}

static bool crossbar_tick(struct crossbar *c)
{
    return crossbar_move(c);
}

static unsigned crossbar_outstanding(const struct crossbar *c, struct hang_report *report)
{
    return crossbar_unfinished(c, report);
}

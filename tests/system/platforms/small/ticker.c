/* The smallest behaviour: see small.heddle. */
#include "ticker.gen.h"

#include "runtime/observe/hang.h"

struct ticker {
    struct ticker_io io;
};

static bool ticker_tick(struct ticker *c)
{
    if (c->io.stats.ticks == ticker_params(c)->most)
        return false;
    c->io.stats.ticks++;
    return true;
}

static unsigned ticker_outstanding(const struct ticker *c, struct hang_report *report)
{
    (void)c;
    (void)report;
    return 0;
}

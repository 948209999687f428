/* The block of the page that came first goes. */
#include "fifo_eviction.gen.h"

#include "components/host/driver/migration/eviction_policy.h"

struct fifo_eviction {
    struct fifo_eviction_io io;
};

static void fifo_eviction_init(struct fifo_eviction *p)
{
    (void)p;
}

static const struct eviction_policy_ops fifo_eviction_ops = {.refreshes = false};

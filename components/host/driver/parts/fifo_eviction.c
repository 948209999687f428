/* The block of the page that came first goes. */
#include "fifo_eviction.gen.h"

#include "components/host/driver/eviction_policy.h"

struct fifo_eviction {
    struct fifo_eviction_io io;
};

static uint64_t fifo_eviction_block(const struct part *self)
{
    return fifo_eviction_params((const struct fifo_eviction *)(const void *)self)->block;
}

static const struct eviction_policy_ops fifo_eviction_ops = {.block = fifo_eviction_block,
                                                             .refreshes = false};

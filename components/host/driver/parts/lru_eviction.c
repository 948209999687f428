/* The block that was faulted on least recently goes. */
#include "lru_eviction.gen.h"

#include "components/host/driver/eviction_policy.h"

struct lru_eviction {
    struct lru_eviction_io io;
};

static uint64_t lru_eviction_block(const struct part *self)
{
    return lru_eviction_params((const struct lru_eviction *)(const void *)self)->block;
}

static const struct eviction_policy_ops lru_eviction_ops = {.block = lru_eviction_block,
                                                            .refreshes = true};

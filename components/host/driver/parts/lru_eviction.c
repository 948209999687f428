/* The block that was faulted on least recently goes. */
#include "lru_eviction.gen.h"

#include "components/host/driver/migration/eviction_policy.h"

struct lru_eviction {
    struct lru_eviction_io io;
};

static void lru_eviction_init(struct lru_eviction *p)
{
    (void)p;
}

static const struct eviction_policy_ops lru_eviction_ops = {.refreshes = true};

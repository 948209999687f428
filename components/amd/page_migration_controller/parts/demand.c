/* Demand paging: an access to a page that lies elsewhere waits until the page has come. */
#include "demand.gen.h"

#include "components/amd/page_migration_controller/migration_policy.h"

struct demand {
    struct demand_io io;
};

/* Pages come when an access waits for them, and for no other reason. */
static bool demand_wants(struct part *self, const struct migration_touch *touch)
{
    (void)self, (void)touch;
    return false;
}

static const struct migration_policy_ops demand_ops = {.wants = demand_wants, .faults = true};

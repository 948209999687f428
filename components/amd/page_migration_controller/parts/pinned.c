/* Pages stay where they are. */
#include "pinned.gen.h"

#include "components/amd/page_migration_controller/migration_policy.h"

struct pinned {
    struct pinned_io io;
};

static bool pinned_wants(struct part *self, const struct migration_touch *touch)
{
    (void)self, (void)touch;
    return false;
}

static const struct migration_policy_ops pinned_ops = {.wants = pinned_wants};

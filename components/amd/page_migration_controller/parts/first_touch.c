/* The first GPU that touches a page gets it, and keeps it. */
#include "first_touch.gen.h"

#include "components/amd/page_migration_controller/migration_policy.h"

struct first_touch {
    struct first_touch_io io;
};

static bool first_touch_wants(struct part *self, const struct migration_touch *touch)
{
    (void)self;
    return !touch->is_placed;
}

static const struct migration_policy_ops first_touch_ops = {.wants = first_touch_wants};

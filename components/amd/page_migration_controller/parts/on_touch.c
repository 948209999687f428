/* A GPU that touches a page gets it. */
#include "on_touch.gen.h"

#include "components/amd/page_migration_controller/migration_policy.h"

struct on_touch {
    struct on_touch_io io;
};

static bool on_touch_wants(struct part *self, const struct migration_touch *touch)
{
    (void)self;
    return !touch->is_local;
}

static const struct migration_policy_ops on_touch_ops = {.wants = on_touch_wants};

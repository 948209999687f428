/* A GPU that touches a page gets a copy of it. The first that writes gets the page, and the copies
 * go.
 */
#include "read_duplicate.gen.h"

#include "components/amd/page_migration_controller/migration_policy.h"

struct read_duplicate {
    struct read_duplicate_io io;
};

static bool read_duplicate_wants(struct part *self, const struct migration_touch *touch)
{
    (void)self;
    return !touch->is_local;
}

static const struct migration_policy_ops read_duplicate_ops = {.wants = read_duplicate_wants,
                                                               .copies = true};

/* Work-groups in order, each to the next compute unit after the one that got the last work-group; a
 * kernel begins at the unit where the kernel before it ended. */
#include "round_robin.gen.h"

#include "components/amd/command_processor/dispatch_order.h"

struct round_robin {
    struct round_robin_io io;
    uint32_t compute_units;
    uint32_t next_cu;
    uint64_t next, end; /* work-groups */
};

static struct round_robin *round_robin_of(struct part *self)
{
    return (struct round_robin *)(void *)self;
}

static void round_robin_setup(struct part *self, uint32_t compute_units)
{
    struct round_robin *p = round_robin_of(self);
    p->compute_units = compute_units;
    p->next_cu = compute_units ? round_robin_params(p)->first_unit % compute_units : 0;
}

static void round_robin_start(struct part *self, uint64_t work_groups)
{
    round_robin_of(self)->next = 0;
    round_robin_of(self)->end = work_groups;
}

static bool round_robin_propose(const struct part *self, uint32_t attempt, uint32_t *cu,
                                uint64_t *work_group)
{
    const struct round_robin *p = (const struct round_robin *)(const void *)self;
    *cu = p->next_cu + attempt;
    *cu -= *cu >= p->compute_units ? p->compute_units : 0;
    *work_group = p->next;
    return p->next < p->end;
}

static void round_robin_placed(struct part *self, uint32_t cu)
{
    struct round_robin *p = round_robin_of(self);
    p->next_cu = cu + 1 == p->compute_units ? 0 : cu + 1;
    p->next++;
}

static const struct dispatch_order_ops round_robin_ops = {.setup = round_robin_setup,
                                                          .start = round_robin_start,
                                                          .propose = round_robin_propose,
                                                          .placed = round_robin_placed};

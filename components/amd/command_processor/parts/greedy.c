/* Work-groups in order, each to the first compute unit that has room: one is filled before the next
 * gets any. */
#include "greedy.gen.h"

#include "components/amd/command_processor/dispatch_order.h"

struct greedy {
    struct greedy_io io;
    uint64_t next, end; /* work-groups */
};

static void greedy_setup(struct part *self, uint32_t compute_units)
{
    (void)self;
    (void)compute_units;
}

static void greedy_start(struct part *self, uint64_t work_groups)
{
    struct greedy *p = (struct greedy *)(void *)self;
    p->next = 0;
    p->end = work_groups;
}

static bool greedy_propose(const struct part *self, uint32_t attempt, uint32_t *cu,
                           uint64_t *work_group)
{
    const struct greedy *p = (const struct greedy *)(const void *)self;
    *cu = attempt;
    *work_group = p->next;
    return p->next < p->end;
}

static void greedy_placed(struct part *self, uint32_t cu)
{
    (void)cu;
    ((struct greedy *)(void *)self)->next++;
}

static const struct dispatch_order_ops greedy_ops = {.setup = greedy_setup,
                                                     .start = greedy_start,
                                                     .propose = greedy_propose,
                                                     .placed = greedy_placed};

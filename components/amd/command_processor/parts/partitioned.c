/* Each compute unit gets one run of neighbouring work-groups, so that neighbours share its L1; the
 * sizes of runs differ by at most one. Compute units take turns; a unit that is done early stays
 * idle.
 */
#include "partitioned.gen.h"

#include "components/amd/command_processor/dispatch_order.h"
#include "runtime/engine/engine.h"

struct partition_run {
    uint64_t next, end; /* work-groups */
};

struct partitioned {
    struct partitioned_io io;
    uint32_t compute_units;
    uint32_t next_cu;
    uint32_t runs_at; /* struct partition_run[compute_units] */
};

static struct partition_run *partitioned_run(const struct partitioned *p, uint32_t cu)
{
    return arena_at(struct partition_run, p->runs_at) + cu;
}

static void partitioned_setup(struct part *self, uint32_t compute_units)
{
    struct partitioned *p = (struct partitioned *)(void *)self;
    p->compute_units = compute_units;
    p->runs_at = arena_allocate(compute_units * sizeof(struct partition_run));
}

static void partitioned_start(struct part *self, uint64_t work_groups)
{
    struct partitioned *p = (struct partitioned *)(void *)self;
    uint64_t each = work_groups / p->compute_units, more = work_groups % p->compute_units, at = 0;
    for (uint32_t i = 0; i < p->compute_units; i++) {
        uint64_t end = at + each + (i < more);
        *partitioned_run(p, i) = (struct partition_run){at, end};
        at = end;
    }
    p->next_cu = 0;
}

static bool partitioned_propose(const struct part *self, uint32_t attempt, uint32_t *cu,
                                uint64_t *work_group)
{
    const struct partitioned *p = (const struct partitioned *)(const void *)self;
    *cu = p->next_cu + attempt;
    *cu -= *cu >= p->compute_units ? p->compute_units : 0;
    *work_group = partitioned_run(p, *cu)->next;
    return *work_group < partitioned_run(p, *cu)->end;
}

static void partitioned_placed(struct part *self, uint32_t cu)
{
    struct partitioned *p = (struct partitioned *)(void *)self;
    partitioned_run(p, cu)->next++;
    p->next_cu = cu + 1 == p->compute_units ? 0 : cu + 1;
}

static const struct dispatch_order_ops partitioned_ops = {.setup = partitioned_setup,
                                                          .start = partitioned_start,
                                                          .propose = partitioned_propose,
                                                          .placed = partitioned_placed};

/* What dispatching costs and in which order work-groups go where. Costs from Sun, "Refactoring
 * MGPUSim's Work-Group Dispatching Mechanism" (2020): 4 cycles up to 4 wavefronts, 1.03 N + 0.02
 * for N above. */
#define CU_RESOURCE_POOL_CONSTANTS                                                                 \
    {                                                                                              \
        .simds = 4, .wavefronts = 10, .vgprs = 256, .vgpr_granularity = 4, .sgprs = 800,           \
        .sgpr_granularity = 16, .lds = 65536, .lds_granularity = 512, .work_groups = 16            \
    }
#define DISPATCHER_POOL_OPS(pool) ((void)(pool), &cu_resource_pool_ops)
#include "components/command_processor/cu_resource_pool.c"
#include "components/command_processor/dispatcher.c"

#include <criterion/criterion.h>

#include "runtime/setup.h"

enum { CUS = 4 };

static struct dispatcher *dispatcher;
static const struct dispatch_cost cost = {400, 103};

static void set_up(void)
{
    arena_open();
    uint32_t pool = arena_allocate(sizeof(struct cu_resource_pool));
    dispatcher = arena_at(struct dispatcher, arena_allocate(sizeof *dispatcher));
    dispatcher->io.pool = pool;
    cu_resource_pool_init(arena_at(struct cu_resource_pool, pool));
    cu_resource_pool_ops.setup(arena_at(struct part, pool), CUS);
    dispatcher_init(dispatcher);
    dispatcher_setup(dispatcher, CUS);
}

static bool always(const void *owner, uint32_t cu)
{
    (void)owner;
    (void)cu;
    return true;
}

static bool start(uint16_t block, uint32_t groups, uint32_t group_bytes)
{
    struct aql_packet packet = {
        .work_group = {block, 1, 1}, .grid = {block * groups, 1, 1}, .group_bytes = group_bytes};
    struct aql_descriptor descriptor = {.rsrc1 = 5 | 2u << 6}; /* 24 vector, 24 scalar registers */
    bool possible = dispatcher_start(dispatcher, &packet, &descriptor, 0x1000, 0x2000, 1, 0);
    dispatcher->state = DISPATCHER_RUNNING;
    return possible;
}

/* Cycles from the first to the last of `groups` work-groups when each ends at once. */
static uint64_t dispatch_all(uint32_t groups)
{
    uint64_t first = 0, last = 0;
    uint32_t sent = 0;
    for (uint64_t now = 100; sent < groups && now < 1000000; now++) {
        struct work_placement p;
        uint32_t cu, id[3];
        if (!dispatcher_next(dispatcher, now, CUS, cost, always, NULL, &cu, id, &p))
            continue;
        first = sent ? first : now;
        last = now;
        cr_assert_eq(id[0], sent, "work-group %u comes when it is %u's turn", id[0], sent);
        cr_assert_eq(cu, sent % CUS, "not round robin");
        sent++;
        cr_assert_eq(dispatcher_finished(dispatcher, cu, p.work_group_slot), sent == groups);
    }
    cr_assert_eq(sent, groups);
    return last - first;
}

Test(dispatcher, costs_what_was_measured, .init = set_up)
{
    static const struct {
        uint16_t wavefronts;
        double cycles;
    } cases[] = {{1, 4}, {3, 4}, {4, 4}, {5, 5.17}, {8, 8.26}, {12, 12.38}, {16, 16.5}};
    enum { WORK_GROUPS = 1001 };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        dispatcher->next_cu = 0;
        dispatcher->busy_until = 0;
        cr_assert(start((uint16_t)(cases[i].wavefronts * 64), WORK_GROUPS, 0));
        double each = (double)dispatch_all(WORK_GROUPS) / (WORK_GROUPS - 1);
        cr_assert_float_eq(each, cases[i].cycles, 0.002, "%u wavefronts: %f cycles a work-group",
                           cases[i].wavefronts, each);
    }
}

Test(dispatcher, work_groups_go_out_in_the_order_x_y_z, .init = set_up)
{
    struct aql_packet packet = {.work_group = {64, 1, 1}, .grid = {3 * 64, 4, 2}};
    struct aql_descriptor descriptor = {.rsrc1 = 0};
    struct work_placement p;
    uint32_t cu, id[3], sent = 0;
    cr_assert(dispatcher_start(dispatcher, &packet, &descriptor, 0, 0, 1, 0));
    dispatcher->state = DISPATCHER_RUNNING;
    for (uint64_t now = 0; dispatcher->left; now++) {
        if (!dispatcher_next(dispatcher, now, CUS, cost, always, NULL, &cu, id, &p))
            continue;
        cr_assert_eq(id[0] + 3 * (id[1] + 4 * id[2]), sent, "(%u, %u, %u) came as number %u", id[0],
                     id[1], id[2], sent);
        sent++;
    }
    cr_assert_eq(sent, 24);
}

Test(dispatcher, a_part_of_a_launch_is_its_run_of_work_groups, .init = set_up)
{
    struct aql_packet packet = {.work_group = {64, 1, 1}, .grid = {3 * 64, 4, 2}};
    struct aql_descriptor descriptor = {.rsrc1 = 0};
    struct work_placement p;
    uint32_t cu, id[3];
    static const uint32_t runs[][2] = {{0, 24}, {0, 1}, {5, 7}, {12, 12}, {23, 1}};
    for (unsigned i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        uint32_t sent = 0;
        cr_assert(dispatcher_start(dispatcher, &packet, &descriptor, 0, 0, 1, 0));
        dispatcher_limit(dispatcher, runs[i][0], runs[i][1]);
        dispatcher->state = DISPATCHER_RUNNING;
        for (uint64_t now = 10000 * i; now < 10000 * (i + 1); now++) {
            if (!dispatcher_next(dispatcher, now, CUS, cost, always, NULL, &cu, id, &p))
                continue;
            cr_assert_eq(id[0] + 3 * (id[1] + 4 * id[2]), runs[i][0] + sent);
            sent++;
            cr_assert_eq(dispatcher_finished(dispatcher, cu, p.work_group_slot),
                         sent == runs[i][1]);
        }
        cr_assert_eq(sent, runs[i][1]);
    }
}

Test(dispatcher, edges_of_the_grid_have_fewer_items, .init = set_up)
{
    struct aql_packet packet = {.work_group = {16, 8, 1}, .grid = {40, 10, 1}};
    struct aql_descriptor descriptor = {.rsrc1 = 0};
    struct work_placement p;
    uint32_t cu, id[3], items[3][2] = {{0}};
    cr_assert(dispatcher_start(dispatcher, &packet, &descriptor, 0, 0, 1, 0));
    dispatcher->state = DISPATCHER_RUNNING;
    cr_assert_eq(dispatcher->left, 6);
    for (uint64_t now = 0; dispatcher->left; now++) {
        if (dispatcher_next(dispatcher, now, CUS, cost, always, NULL, &cu, id, &p)) {
            items[id[0]][id[1]] = (uint32_t)p.items[0] * p.items[1];
            cr_assert_eq(p.wavefronts, (items[id[0]][id[1]] + 63) / 64);
        }
    }
    cr_assert_eq(items[0][0], 128);
    cr_assert_eq(items[2][0], 64);
    cr_assert_eq(items[0][1], 32);
    cr_assert_eq(items[2][1], 16);
}

Test(dispatcher, waits_for_a_release_and_counts_the_wait, .init = set_up)
{
    struct work_placement p;
    uint32_t cu, id[3], sent = 0;
    cr_assert(start(64, 100, 65536)); /* one work-group fills a compute unit's LDS */
    for (uint64_t now = 0; now < 100; now++)
        sent += dispatcher_next(dispatcher, now, CUS, cost, always, NULL, &cu, id, &p);
    cr_assert_eq(sent, CUS);
    cr_assert_eq(dispatcher_due(dispatcher), ENGINE_NEVER);
    uint64_t refused_at = dispatcher->refused_at;
    cr_assert_not(dispatcher_finished(dispatcher, 2, 0));
    cr_assert(dispatcher_next(dispatcher, 500, CUS, cost, always, NULL, &cu, id, &p));
    cr_assert_eq(cu, 2);
    cr_assert_eq(dispatcher->io.stats.no_resources, 500 - refused_at);
}

Test(dispatcher, refuses_what_no_compute_unit_can_hold, .init = set_up)
{
    cr_assert_not(start(64, 1, 65537));
    cr_assert(start(1024, 1, 65536));
}

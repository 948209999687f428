/* What dispatching costs and in which order work-groups go where. Costs from Sun, "Refactoring
 * MGPUSim's Work-Group Dispatching Mechanism" (2020): 4 cycles up to 4 wavefronts, 1.03 N + 0.02
 * for N above. */
#define CU_RESOURCE_POOL_CONSTANTS                                                                 \
    {                                                                                              \
        .simds = 4, .wavefronts = 10, .vgprs = 256, .vgpr_granularity = 4, .sgprs = 800,           \
        .sgpr_granularity = 16, .lds = 65536, .lds_granularity = 512, .work_groups = 16            \
    }
#define ROUND_ROBIN_CONSTANTS                                                                      \
    {                                                                                              \
        .first_unit = 4 /* of 4, so the first */                                                   \
    }
#define ACK_NAK_CONSTANTS                                                                          \
    {                                                                                              \
        .hears = ACK_NAK_HEARS_ALL                                                                 \
    }
/* Both slots can be filled with each part: chosen by the tests. */
#define DISPATCHER_ORDER_OPS(part)    ((void)(part), order_ops)
#define DISPATCHER_PROTOCOL_OPS(part) ((void)(part), protocol_ops)
#include "base/number.h"
#include "components/amd/command_processor/dispatch_order.h"
#include "components/amd/command_processor/dispatch_protocol.h"
static const struct dispatch_order_ops *order_ops;
static const struct dispatch_protocol_ops *protocol_ops;
/* The order is the unit's. */
/* clang-format off */
#include "components/amd/command_processor/cu_resource_pool.c"
#include "components/amd/command_processor/parts/round_robin.c"
#include "components/amd/command_processor/parts/greedy.c"
#include "components/amd/command_processor/parts/partitioned.c"
#include "components/amd/command_processor/parts/no_answer.c"
#include "components/amd/command_processor/parts/ack_nak.c"
#include "components/amd/command_processor/dispatcher.c"
/* clang-format on */

#include <criterion/criterion.h>

#include "runtime/engine/arena.h"

enum { CUS = 4, ROUND_TRIP = 20 };
union any_order {
    struct round_robin round_robin;
    struct greedy greedy;
    struct partitioned partitioned;
};

static struct dispatcher *dispatcher;

static void set_up(void)
{
    arena_open();
    uint32_t pool = arena_allocate(sizeof(struct cu_resource_pool));
    order_ops = &round_robin_ops;
    protocol_ops = &no_answer_ops;
    dispatcher = arena_at(struct dispatcher, arena_allocate(sizeof *dispatcher));
    dispatcher->io.pool = pool;
    pool_init(arena_at(struct cu_resource_pool, pool), CUS);
    dispatcher->io.order = arena_allocate(sizeof(union any_order));
    dispatcher->io.protocol = arena_allocate(sizeof(struct ack_nak));
    dispatcher_setup(dispatcher, CUS, ROUND_TRIP);
}

/* The same dispatcher with other parts. */
static void fill(const struct dispatch_order_ops *order,
                 const struct dispatch_protocol_ops *protocol)
{
    memset(arena_at(char, dispatcher->io.order), 0, sizeof(union any_order));
    memset(arena_at(char, dispatcher->io.protocol), 0, sizeof(struct ack_nak));
    order_ops = order;
    protocol_ops = protocol;
    dispatcher_setup(dispatcher, CUS, ROUND_TRIP);
}

static bool always(const void *owner, uint32_t cu)
{
    (void)owner;
    (void)cu;
    return true;
}

static bool next(uint64_t now, struct dispatched_group *g)
{
    const struct dispatch_units units = {.count = CUS, .cost = {400, 103}, .can_send = always};
    return dispatcher_next(dispatcher, now, &units, g);
}

static bool begin(enum isa_target target, const struct aql_packet *packet,
                  const struct aql_descriptor *descriptor)
{
    const struct work_launch launch = {target, packet, descriptor, 0x1000, 0x2000, 1, 0};
    return dispatcher_begin(dispatcher, &launch);
}

static bool start(uint16_t block, uint32_t groups, uint32_t group_bytes)
{
    struct aql_packet packet = {
        .work_group = {block, 1, 1}, .grid = {block * groups, 1, 1}, .group_bytes = group_bytes};
    struct aql_descriptor descriptor = {.rsrc1 = 5 | 2u << 6}; /* 24 vector, 24 scalar registers */
    bool possible = begin(ISA_GFX803, &packet, &descriptor);
    dispatcher->state = DISPATCHER_RUNNING;
    return possible;
}

/* Cycles from the first to the last of `groups` work-groups when each ends at once. */
static uint64_t dispatch_all(uint32_t groups)
{
    uint64_t first = 0, last = 0;
    uint32_t sent = 0;
    for (uint64_t now = 100; sent < groups && now < 1000000; now++) {
        struct dispatched_group g;
        if (!next(now, &g))
            continue;
        first = sent ? first : now;
        last = now;
        cr_assert_eq(g.id[0], sent, "work-group %u comes when it is %u's turn", g.id[0], sent);
        cr_assert_eq(g.cu, sent % CUS, "not round robin");
        sent++;
        cr_assert_eq(dispatcher_finished(dispatcher, g.cu, g.placement.work_group_slot),
                     sent == groups);
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
    for (unsigned i = 0; i < ARRAY_COUNT(cases); i++) {
        fill(&round_robin_ops, &no_answer_ops);
        dispatcher->busy_until_centi_cy = 0;
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
    struct dispatched_group g;
    uint32_t sent = 0;
    cr_assert(begin(ISA_GFX803, &packet, &descriptor));
    dispatcher->state = DISPATCHER_RUNNING;
    for (uint64_t now = 0; dispatcher->remaining; now++) {
        if (!next(now, &g))
            continue;
        cr_assert_eq(g.id[0] + 3 * (g.id[1] + 4 * g.id[2]), sent, "(%u, %u, %u) came as number %u",
                     g.id[0], g.id[1], g.id[2], sent);
        sent++;
    }
    cr_assert_eq(sent, 24);
}

Test(dispatcher, a_part_of_a_launch_is_its_run_of_work_groups, .init = set_up)
{
    struct aql_packet packet = {.work_group = {64, 1, 1}, .grid = {3 * 64, 4, 2}};
    struct aql_descriptor descriptor = {.rsrc1 = 0};
    struct dispatched_group g;
    static const uint32_t runs[][2] = {{0, 24}, {0, 1}, {5, 7}, {12, 12}, {23, 1}};
    for (unsigned i = 0; i < ARRAY_COUNT(runs); i++) {
        uint32_t sent = 0;
        cr_assert(begin(ISA_GFX803, &packet, &descriptor));
        dispatcher_limit(dispatcher, runs[i][0], runs[i][1]);
        dispatcher->state = DISPATCHER_RUNNING;
        for (uint64_t now = 10000 * i; now < 10000 * (i + 1); now++) {
            if (!next(now, &g))
                continue;
            cr_assert_eq(g.id[0] + 3 * (g.id[1] + 4 * g.id[2]), runs[i][0] + sent);
            sent++;
            cr_assert_eq(dispatcher_finished(dispatcher, g.cu, g.placement.work_group_slot),
                         sent == runs[i][1]);
        }
        cr_assert_eq(sent, runs[i][1]);
    }
}

/* Each die begins at its number and goes on by the number of dies, within the run of the launch
 * that this GPU has; private memory is cut in the same way, so no two use the same. */
static void run_share(uint32_t share, uint32_t dies, uint32_t first, uint32_t count, bool *seen)
{
    uint32_t left = share < count ? divide_up(count - share, dies) : 0;
    dispatcher_limit(dispatcher, first, count);
    dispatcher_divide(dispatcher, share, dies);
    dispatcher->state = DISPATCHER_RUNNING;
    dispatcher->busy_until_centi_cy = 0;
    cr_assert_eq(dispatcher->remaining, left);
    for (uint64_t now = 0; dispatcher->remaining && now < 10000; now++) {
        struct dispatched_group g;
        if (!next(now, &g))
            continue;
        uint32_t number = g.id[0] + 3 * (g.id[1] + 4 * g.id[2]) - first;
        cr_assert(number < count && number % dies == share && !seen[number], "%u", number);
        cr_assert(g.placement.scratch_wavefront < count
                  && g.placement.scratch_wavefront % dies == share);
        seen[number] = true;
        dispatcher_finished(dispatcher, g.cu, g.placement.work_group_slot);
    }
    cr_assert_eq(dispatcher->remaining, 0);
}

Test(dispatcher, dies_take_work_groups_in_turn, .init = set_up)
{
    struct aql_packet packet = {
        .work_group = {64, 1, 1}, .grid = {3 * 64, 4, 2}, .private_bytes = 4, .scratch = 4096};
    struct aql_descriptor descriptor = {.rsrc1 = 0};
    aql_set_scratch(&packet, 4096, 13, 0);
    for (uint32_t dies = 1; dies <= 16; dies += 5) {
        bool seen[13] = {false};
        for (uint32_t share = 0; share < dies; share++) {
            cr_assert(begin(ISA_GFX942, &packet, &descriptor));
            run_share(share, dies, 5, 13, seen);
        }
        for (uint32_t i = 0; i < 13; i++)
            cr_assert(seen[i], "%u dies: work-group %u did not run", dies, i);
    }
}

Test(dispatcher, dies_without_private_memory_are_told, .init = set_up)
{
    struct aql_packet packet = {
        .work_group = {64, 1, 1}, .grid = {8 * 64, 1, 1}, .private_bytes = 4, .scratch = 4096};
    struct aql_descriptor descriptor = {.rsrc1 = 0};
    aql_set_scratch(&packet, 4096, 2, 0);
    for (uint32_t share = 0; share < 3; share++) {
        cr_assert(begin(ISA_GFX942, &packet, &descriptor));
        dispatcher_divide(dispatcher, share, 3);
        cr_assert_eq(dispatcher_lacks_scratch(dispatcher), share == 2);
    }
}

Test(dispatcher, edges_of_the_grid_have_fewer_items, .init = set_up)
{
    struct aql_packet packet = {.work_group = {16, 8, 1}, .grid = {40, 10, 1}};
    struct aql_descriptor descriptor = {.rsrc1 = 0};
    struct dispatched_group g;
    uint32_t items[3][2] = {{0}};
    cr_assert(begin(ISA_GFX803, &packet, &descriptor));
    dispatcher->state = DISPATCHER_RUNNING;
    cr_assert_eq(dispatcher->remaining, 6);
    for (uint64_t now = 0; dispatcher->remaining; now++) {
        if (next(now, &g)) {
            items[g.id[0]][g.id[1]] = (uint32_t)g.placement.items[0] * g.placement.items[1];
            cr_assert_eq(g.placement.wavefronts, divide_up(items[g.id[0]][g.id[1]], 64));
        }
    }
    cr_assert_eq(items[0][0], 128);
    cr_assert_eq(items[2][0], 64);
    cr_assert_eq(items[0][1], 32);
    cr_assert_eq(items[2][1], 16);
}

Test(dispatcher, waits_for_a_release_and_counts_the_wait, .init = set_up)
{
    struct dispatched_group g;
    uint32_t sent = 0;
    cr_assert(start(64, 100, 65536)); /* one work-group fills a compute unit's LDS */
    for (uint64_t now = 0; now < 100; now++)
        sent += next(now, &g);
    cr_assert_eq(sent, CUS);
    cr_assert_eq(dispatcher_due(dispatcher), ENGINE_NEVER);
    uint64_t refused_at = dispatcher->refused_at;
    cr_assert_not(dispatcher_finished(dispatcher, 2, 0));
    cr_assert(next(500, &g));
    cr_assert_eq(g.cu, 2);
    cr_assert_eq(dispatcher->io.stats.no_resources, 500 - refused_at);
}

Test(dispatcher, refuses_what_no_compute_unit_can_hold, .init = set_up)
{
    cr_assert_not(start(64, 1, 65537));
    cr_assert(start(1024, 1, 65536));
}

/* Where `groups` work-groups of one wavefront go when none ends: work-group at[i] was the i-th, on
 * compute unit on[i]. */
static uint32_t place_all(uint32_t groups, uint32_t lds, uint32_t at[], uint32_t on[])
{
    struct dispatched_group g;
    uint32_t sent = 0;
    cr_assert(start(64, groups, lds));
    for (uint64_t now = 0; now < 100000 && sent < groups; now++)
        if (next(now, &g)) {
            on[sent] = g.cu;
            at[sent++] = g.id[0];
        }
    return sent;
}

Test(dispatcher, greedy_fills_one_compute_unit_before_the_next, .init = set_up)
{
    uint32_t at[8], on[8];
    fill(&greedy_ops, &no_answer_ops);
    cr_assert_eq(place_all(7, 32768, at, on), 7); /* two fit on each */
    for (uint32_t i = 0; i < 7; i++) {
        cr_assert_eq(at[i], i);
        cr_assert_eq(on[i], i / 2, "work-group %u went to %u", i, on[i]);
    }
}

/* 10 on 4 compute units: 0-2, 3-5, 6-7, 8-9, in turn; a full unit does not hand its share on. */
Test(dispatcher, partitioned_gives_each_compute_unit_neighbours, .init = set_up)
{
    static const uint32_t expected[] = {0, 3, 6, 8, 1, 4, 7, 9, 2, 5};
    uint32_t at[10], on[10];
    fill(&partitioned_ops, &no_answer_ops);
    cr_assert_eq(place_all(10, 0, at, on), 10);
    for (uint32_t i = 0; i < 10; i++) {
        cr_assert_eq(at[i], expected[i], "number %u was work-group %u", i, at[i]);
        cr_assert_eq(on[i], i % CUS);
    }
    fill(&partitioned_ops, &no_answer_ops);
    for (uint32_t cu = 0; cu < CUS; cu++) /* what ran before */
        for (uint32_t slot = 0; slot < (cu < 2 ? 3u : 2u); slot++)
            pool_release(dispatcher_pool(dispatcher), cu, slot);
    cr_assert_eq(place_all(10, 32768, at, on), 8,
                 "two fit on each; the third ones wait for their own unit");
    cr_assert_eq(dispatcher->remaining, 2);
}

/* Every work-group of a grid with three directions comes exactly once, whatever the order; of a
 * part of a launch, every one of the part. */
Test(dispatcher, every_order_places_every_work_group_once, .init = set_up)
{
    static const struct dispatch_order_ops *const orders[] = {&round_robin_ops, &greedy_ops,
                                                              &partitioned_ops};
    static const struct dispatch_protocol_ops *const protocols[] = {&no_answer_ops, &ack_nak_ops};
    const struct aql_packet packet = {
        .work_group = {64, 1, 1}, .grid = {5 * 64, 7, 3}, .group_bytes = 20000};
    const struct aql_descriptor descriptor = {.rsrc1 = 0};
    for (unsigned i = 0; i < 12; i++) {
        const uint32_t first = i < 6 ? 0 : 17, count = i < 6 ? 105 : 61;
        struct dispatched_group g;
        uint32_t ended = 0, head = 0, tail = 0, queue[105][2];
        bool seen[105] = {false};
        fill(orders[i % 3], protocols[i / 3 % 2]);
        dispatcher->busy_until_centi_cy = 0;
        cr_assert(begin(ISA_GFX803, &packet, &descriptor));
        if (i >= 6)
            dispatcher_limit(dispatcher, first, count);
        dispatcher->state = DISPATCHER_RUNNING;
        for (uint64_t now = 0; now < 100000 && ended < count; now++) {
            if (next(now, &g)) {
                uint32_t number = g.id[0] + 5 * (g.id[1] + 7 * g.id[2]);
                cr_assert(number - first < count && !seen[number], "order %u: work-group %u again",
                          i, number);
                seen[number] = true;
                queue[tail][0] = g.cu;
                queue[tail++][1] = g.placement.work_group_slot;
            }
            if (now % 50 == 49 && head < tail) {
                dispatcher_finished(dispatcher, queue[head][0], queue[head][1]);
                head++;
                ended++;
            }
        }
        cr_assert_eq(ended, count, "order %u: %u ended", i, ended);
    }
}

Test(dispatcher, ack_nak_waits_for_each_answer, .init = set_up)
{
    uint32_t at[8];
    struct ack_nak *p = arena_at(struct ack_nak, dispatcher->io.protocol);
    fill(&round_robin_ops, &ack_nak_ops);
    cr_assert(start(64, 8, 0));
    dispatcher->busy_until_centi_cy = 0;
    uint64_t last = 0;
    uint32_t sent = 0;
    for (uint64_t now = 0; sent < 8; now++) {
        struct dispatched_group g;
        if (!next(now, &g))
            continue;
        cr_assert(!sent || now - last == ROUND_TRIP, "%u cycles", (unsigned)(now - last));
        last = now;
        at[sent++] = g.id[0];
    }
    cr_assert_eq(at[7], 7);
    cr_assert_eq(p->io.stats.acks, 8);
}

/* A refusal costs a round trip as well, and is not repeated before a work-group has ended there. */
Test(dispatcher, nak_marks_a_compute_unit_as_busy, .init = set_up)
{
    struct ack_nak *p = arena_at(struct ack_nak, dispatcher->io.protocol);
    struct dispatched_group g;
    uint32_t sent = 0;
    fill(&round_robin_ops, &ack_nak_ops);
    dispatcher->busy_until_centi_cy = 0;
    cr_assert(start(64, 100, 65536));
    for (uint64_t now = 0; now < 1000; now++)
        sent += next(now, &g);
    cr_assert_eq(sent, CUS);
    cr_assert_eq(p->io.stats.naks, CUS);
    cr_assert_eq(dispatcher_due(dispatcher), ENGINE_NEVER);
    cr_assert_eq(dispatcher->busy_until_centi_cy, DISPATCHER_CENTI_CY * 2 * CUS * ROUND_TRIP);
    dispatcher_finished(dispatcher, 2, 0);
    cr_assert(next(2000, &g));
    cr_assert_eq(g.cu, 2);
    dispatcher_other_finished(dispatcher, 1); /* its room was taken by somebody else meanwhile */
    cr_assert_not(next(3000, &g));
    cr_assert_eq(p->io.stats.naks, CUS + 1);
}

/* What one lane hears of another, and when: nothing before the next window, everything in it. */
#include <criterion/criterion.h>

#include "runtime/threads/shard.h"
#include "tests/runtime/probe.h"

#define LATENCY 5
#define DEPTH   2

static struct component *from, *to;

static void build(void)
{
    build_start("mail");
    uint32_t core = build_domain("core", 1000000000);
    uint32_t protocol = probe_protocol(16, false);
    uint32_t a = probe_instance(core, "a", PROBE_SOURCE, 0, 0, false);
    uint32_t b = probe_instance(core, "b", PROBE_STUBBORN, 0, 1, false);
    build_partition(b, 1);
    build_connect((struct build_end){a, PROBE_OUT, 0}, (struct build_end){b, PROBE_IN, 0},
                  probe_wire(protocol, DEPTH, 1, LATENCY));
    cr_assert(platform_build_threads(build_finish(), 2));
    cr_assert_eq(engine.lane_count, 2);
    from = platform_component(a);
    to = platform_component(b);
    for (uint32_t lane = 0; lane < 2; lane++) { /* the ticks after start-up */
        lanes[lane].until_ps = LATENCY * 1000;
        lane_find_awake(lane);
        lane_plan(lane);
        lane_run(lane);
    }
}

static void deliver(uint32_t lane, uint64_t window)
{
    mail_deliver(lane, window * LATENCY * 1000);
    lane_find_awake(lane);
    lane_plan(lane);
}

Test(mail, a_message_is_told_in_the_next_window)
{
    build();
    uint32_t lane = component_lane(to);
    cr_assert_eq(lanes[lane].next_ps, ENGINE_NEVER);
    cr_assert(!mail_is_pending());
    ring_send(ring_place_of(0), ring_limit(3), 0, 0, 0);
    cr_assert(mail_is_pending());
    cr_assert_eq(component_pending(to, 0), 0);
    mail_turn();
    cr_assert(!mail_is_pending());
    cr_assert(mail_is_due(lane));
    cr_assert(!mail_is_due(component_lane(from)));
    deliver(lane, 1);
    cr_assert_eq(component_pending(to, 0), 1);
    cr_assert_eq(lanes[lane].next_ps, (3 + LATENCY) * 1000);
    cr_assert_eq(ring_peek(ring_place_of(split_far(0)), ring_limit(3 + LATENCY - 1)), NULL);
    cr_assert_neq(ring_peek(ring_place_of(split_far(0)), ring_limit(3 + LATENCY)), NULL);
    mail_turn();
    cr_assert(!mail_is_due(lane)); /* once */
}

Test(mail, order_and_bytes_of_messages_stay)
{
    build();
    for (uint16_t i = 0; i < DEPTH; i++) {
        cr_assert(ring_can_send(ring_place_of(0), ring_limit(i)));
        ring_next(ring_place_of(0))->tag = i;
        ring_next(ring_place_of(0))->fields[0] = (uint8_t)(100 + i);
        ring_send(ring_place_of(0), ring_limit(i), 0, 0, 0);
    }
    mail_turn();
    deliver(component_lane(to), 1);
    for (uint16_t i = 0; i < DEPTH; i++) {
        const struct message *m = ring_peek(ring_place_of(split_far(0)), ring_limit(i + LATENCY));
        cr_assert_neq(m, NULL);
        cr_assert_eq(m->tag, i);
        cr_assert_eq(m->fields[0], 100 + i);
        ring_pop(ring_place_of(split_far(0)), ring_limit(i + LATENCY));
    }
    cr_assert_eq(component_pending(to, 0), 0);
}

Test(mail, a_refused_sender_is_woken_when_it_may_send)
{
    build();
    uint32_t lane = component_lane(from);
    for (uint64_t i = 0; i < DEPTH; i++)
        ring_send(ring_place_of(0), ring_limit(i), 0, 0, 0);
    cr_assert(!ring_can_send(ring_place_of(0), ring_limit(DEPTH)));
    cr_assert(
        !ring_can_send(ring_place_of(0), ring_limit(DEPTH))); /* asking twice is waiting once */
    cr_assert_eq(lanes[lane].waits, 1);
    cr_assert(mail_is_pending());
    mail_turn();
    deliver(component_lane(to), 1);
    deliver(lane, 1);
    cr_assert_eq(lanes[lane].waits, 1); /* nothing was freed */
    cr_assert_eq(lanes[lane].next_ps, ENGINE_NEVER);
    ring_pop(ring_place_of(split_far(0)), ring_limit(LATENCY + 1));
    mail_turn();
    cr_assert(mail_is_due(lane));
    deliver(lane, 2);
    cr_assert_eq(lanes[lane].waits, 0);
    cr_assert_eq(lanes[lane].next_ps, (2 * LATENCY + 1) * 1000);
    cr_assert(!ring_can_send(ring_place_of(0), ring_limit(2 * LATENCY)));
    cr_assert(ring_can_send(ring_place_of(0), ring_limit(2 * LATENCY + 1)));
}

Test(mail, everything_at_once_between_windows)
{
    build();
    ring_send(ring_place_of(0), ring_limit(1), 0, 0, 0);
    mail_deliver_all(LATENCY * 1000);
    cr_assert_eq(component_pending(to, 0), 1);
    cr_assert(!mail_is_pending());
    mail_turn();
    cr_assert(!mail_is_due(component_lane(to)));
}

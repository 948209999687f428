/* What one shard hears of another, and when: nothing before the next window, everything in it. */
#include <criterion/criterion.h>

#include "runtime/engine/engine.h"
#include "runtime/engine/shard.h"
#include "runtime/link/exchange.h"
#include "runtime/link/shard_cut.h"
#include "runtime/state/platform.h"
#include "tests/runtime/probe.h"

#define LATENCY 5
#define DEPTH   2

static struct component *from, *to;

static void build(void)
{
    build_start("exchange");
    uint32_t core = build_domain("core", 1000000000);
    uint32_t protocol = probe_protocol(16, false);
    uint32_t a = probe_instance(core, "a", PROBE_SOURCE, 0, 0, false);
    uint32_t b = probe_instance(core, "b", PROBE_STUBBORN, 0, 1, false);
    build_partition(b, 1);
    build_connect((struct build_end){a, PROBE_OUT, 0}, (struct build_end){b, PROBE_IN, 0},
                  probe_wire(protocol, DEPTH, 1, LATENCY));
    cr_assert(platform_build_threads(build_finish(), 2));
    cr_assert_eq(engine.shard_count, 2);
    from = platform_component(a);
    to = platform_component(b);
    for (uint32_t shard = 0; shard < 2; shard++) { /* the ticks after start-up */
        shards[shard].until_ps = LATENCY * 1000;
        shard_find_awake(shard);
        shard_plan(shard);
        shard_run(shard);
    }
}

static void deliver(uint32_t shard, uint64_t window)
{
    window_publish();
    exchange_deliver(shard, &window_published.plan, window * LATENCY * 1000);
    shard_find_awake(shard);
    shard_plan(shard);
}

Test(exchange, a_message_is_delivered_in_the_next_window)
{
    build();
    uint32_t shard = component_shard(to);
    cr_assert_eq(shards[shard].next_ps, ENGINE_NEVER);
    cr_assert(!exchange_is_pending());
    ring_put(ring_at(0), ring_limit(3), 0, 0, 0);
    cr_assert(exchange_is_pending());
    cr_assert_eq(component_pending(to, 0), 0);
    exchange_turn();
    cr_assert(!exchange_is_pending());
    cr_assert(exchange_prepare(shard, &window_plan));
    cr_assert(!exchange_prepare(component_shard(from), &window_plan));
    deliver(shard, 1);
    cr_assert_eq(component_pending(to, 0), 1);
    cr_assert_eq(shards[shard].next_ps, (3 + LATENCY) * 1000);
    cr_assert_eq(ring_peek(ring_place_of(shard_cut_far(0)), ring_limit(3 + LATENCY - 1)), NULL);
    cr_assert_neq(ring_peek(ring_place_of(shard_cut_far(0)), ring_limit(3 + LATENCY)), NULL);
    exchange_turn();
    cr_assert(!exchange_prepare(shard, &window_plan)); /* once */
}

Test(exchange, order_and_bytes_of_messages_stay)
{
    build();
    for (uint16_t i = 0; i < DEPTH; i++) {
        cr_assert(ring_can_send(ring_place_of(0), ring_limit(i)));
        ring_next(ring_place_of(0))->tag = i;
        ring_next(ring_place_of(0))->fields[0] = (uint8_t)(100 + i);
        ring_put(ring_at(0), ring_limit(i), 0, 0, 0);
    }
    exchange_turn();
    deliver(component_shard(to), 1);
    for (uint16_t i = 0; i < DEPTH; i++) {
        const struct message *m =
            ring_peek(ring_place_of(shard_cut_far(0)), ring_limit(i + LATENCY));
        cr_assert_neq(m, NULL);
        cr_assert_eq(m->tag, i);
        cr_assert_eq(m->fields[0], 100 + i);
        ring_pop(ring_place_of(shard_cut_far(0)), ring_limit(i + LATENCY));
    }
    cr_assert_eq(component_pending(to, 0), 0);
}

Test(exchange, a_refused_sender_is_woken_when_it_may_send)
{
    build();
    uint32_t shard = component_shard(from);
    for (uint64_t i = 0; i < DEPTH; i++)
        ring_put(ring_at(0), ring_limit(i), 0, 0, 0);
    cr_assert(!ring_can_send(ring_place_of(0), ring_limit(DEPTH)));
    cr_assert(
        !ring_can_send(ring_place_of(0), ring_limit(DEPTH))); /* asking twice is waiting once */
    cr_assert_eq(shards[shard].waiting_count, 1);
    cr_assert(exchange_is_pending());
    exchange_turn();
    deliver(component_shard(to), 1);
    deliver(shard, 1);
    cr_assert_eq(shards[shard].waiting_count, 1); /* nothing was freed */
    cr_assert_eq(shards[shard].next_ps, ENGINE_NEVER);
    ring_pop(ring_place_of(shard_cut_far(0)), ring_limit(LATENCY + 1));
    exchange_turn();
    cr_assert(exchange_prepare(shard, &window_plan));
    deliver(shard, 2);
    cr_assert_eq(shards[shard].waiting_count, 0);
    cr_assert_eq(shards[shard].next_ps, (2 * LATENCY + 1) * 1000);
    cr_assert(!ring_can_send(ring_place_of(0), ring_limit(2 * LATENCY)));
    cr_assert(ring_can_send(ring_place_of(0), ring_limit(2 * LATENCY + 1)));
}

Test(exchange, everything_at_once_between_windows)
{
    build();
    ring_put(ring_at(0), ring_limit(1), 0, 0, 0);
    exchange_deliver_all(LATENCY * 1000);
    cr_assert_eq(component_pending(to, 0), 1);
    cr_assert(!exchange_is_pending());
    exchange_turn();
    cr_assert(!exchange_prepare(component_shard(to), &window_plan));
}

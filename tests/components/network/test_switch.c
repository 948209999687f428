/* Switches: what they add to their links, and rings of them: what floods a ring of stops that keep
 * a bubble gets through. */
#include "mem.gen.h"
#include "switch.gen.h"

#include <criterion/criterion.h>

#include "base/number.h"
#include "runtime/engine/component_failure.h"
#include "runtime/engine/run_control.h"
#include "tests/components/harness.h"

extern const struct unit_type switch__generic;

static const struct build_port ports[] = {{"from", BUILD_IN, true}, {"to", BUILD_OUT, true}};
static const struct build_type switch_type = {
    .unit = &switch__generic, .ports = ports, .port_count = 2};
static const char *const names[] = {"latency", "depth", "bubble"};

#define STOPS 4u

static uint32_t stops[STOPS], sources[STOPS], memories[STOPS];

static struct build_end end(uint32_t leaf, uint32_t port, uint32_t element)
{
    return (struct build_end){leaf, port, element};
}

static void send(uint32_t from, struct harness_message m)
{
    harness_send(from, &m);
}

Test(switch_, adds_its_latency_to_its_links)
{
    static const int64_t latencies[] = {1, 20, 50, 700};
    for (size_t i = 0; i < ARRAY_COUNT(latencies); i++) {
        const int64_t params[] = {latencies[i], 256, 0};
        uint64_t latency = (uint64_t)latencies[i];
        harness_start();
        uint32_t hub = build_instance(&switch_type, 0, "hub", params, names, 3);
        build_route(hub, -1, -1);
        sources[0] = harness_requester();
        memories[0] = harness_server(1, harness_answer_memory);
        harness_wire(HARNESS_MEM, end(sources[0], 0, 0), end(hub, 0, 0), 256, 1, 1);
        harness_wire(HARNESS_MEM, end(hub, 1, 0), end(memories[0], 0, 0), 64, 1, 1);
        harness_build();
        send(sources[0], harness_read(7, 1, 128, 4));
        cr_assert_eq(harness_run(), ENGINE_IDLE);
        cr_expect_eq(harness_log(memories[0], 0)->cycle, 7 + 1 + latency + 1);
        cr_expect_eq(harness_log(sources[0], 0)->cycle, 7 + 2 * (1 + latency + 1));
    }
}

/* Stops in a ring, one way around: output 0 leads to the stop's own memory, output 1 to the next
 * stop. Stop s has addresses s * 64 KiB up; all else goes on. */
static void set_up_ring(int64_t depth, bool bubble, uint64_t memory)
{
    const int64_t params[] = {1, depth, bubble};
    harness_start();
    for (uint32_t s = 0; s < STOPS; s++)
        stops[s] = build_instance(&switch_type, 0, "stop", params, names, 3);
    for (uint32_t s = 0; s < STOPS; s++)
        build_route(stops[s], (int32_t)build_space("own", s << 16, 1 << 16, 1 << 16, 1), 1);
    for (uint32_t s = 0; s < STOPS; s++)
        sources[s] = harness_requester();
    for (uint32_t s = 0; s < STOPS; s++)
        memories[s] = harness_server(memory, harness_answer_memory);
    uint32_t deep = (uint32_t)depth;
    for (uint32_t s = 0; s < STOPS; s++)
        harness_wire(HARNESS_MEM, end(sources[s], 0, 0), end(stops[s], 0, 0), deep, 1, 1);
    for (uint32_t s = 0; s < STOPS; s++)
        harness_wire(HARNESS_MEM, end(stops[s], 1, 0), end(memories[s], 0, 0), 4, 1, 1);
    for (uint32_t s = 0; s < STOPS; s++)
        harness_wire(HARNESS_MEM, end(stops[s], 1, 1), end(stops[(s + 1) % STOPS], 0, 1), deep, 1,
                     1);
    harness_build();
}

#define EACH 2000u

/* Every source sends as fast as it can to the memories two and three stops further. */
static enum engine_result flood(int64_t depth, bool bubble)
{
    uint64_t random = 11;
    set_up_ring(depth, bubble, 20);
    for (uint32_t s = 0; s < STOPS; s++)
        for (uint16_t i = 0; i < EACH; i++) {
            uint64_t r = harness_random(&random), far = (s + 2 + i % 2) % STOPS;
            send(sources[s], harness_read(1, i, far << 16 | r % 1024 * 64, 64));
        }
    return harness_run();
}

Test(switch_, a_ring_with_a_bubble_never_fills_up)
{
    for (int64_t depth = 2; depth <= 8; depth++) {
        cr_assert_eq(flood(depth, true), ENGINE_IDLE, "depth %d", (int)depth);
        for (uint32_t s = 0; s < STOPS; s++) {
            cr_expect_eq(harness_count(sources[s]), EACH);
            cr_expect_eq(harness_count(memories[s]), EACH);
        }
    }
}

/* If this got through, the test above would show nothing. */
Test(switch_, a_ring_without_one_does)
{
    cr_expect_neq(flood(2, false), ENGINE_IDLE);
    engine_clear_failure();
}

Test(switch_, a_request_passes_one_stop_after_the_other)
{
    set_up_ring(8, true, 1);
    send(sources[0], harness_read(5, 1, UINT64_C(3) << 16, 4));
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    /* Five wires and four stops of one cycle each, there and back. */
    cr_expect_eq(harness_log(memories[3], 0)->cycle, 5 + 5 + 4);
    cr_expect_eq(harness_log(sources[0], 0)->cycle, 5 + 2 * (5 + 4));
}

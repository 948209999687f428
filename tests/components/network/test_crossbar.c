/* Crossbar: latency, bandwidth, fairness, routes, the way back. */
#include "command.gen.h"
#include "crossbar.gen.h"
#include "mem.gen.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/number.h"
#include "runtime/engine/component_failure.h"
#include "runtime/engine/run_control.h"
#include "tests/components/harness.h"

extern const struct unit_type crossbar__generic;

static const struct build_port ports[] = {{"from", BUILD_IN, true}, {"to", BUILD_OUT, true}};
static const struct build_type crossbar_type = {
    .unit = &crossbar__generic, .ports = ports, .port_count = 2};
#define INTERLEAVE 128u

static uint32_t net, sources[16], targets[16];
static uint32_t idle_inputs; /* of the next set_up() */

static void answer_with_tag(const struct harness_message *request, struct harness_message *reply)
{
    harness_answer_memory(request, reply);
    if (request->kind == MEM_READ)
        memcpy(reply->payload, request->fields, 8); /* the address comes back as data */
}

static void answer_done(const struct harness_message *request, struct harness_message *reply)
{
    (void)request;
    reply->kind = COMMAND_DONE;
}

static int64_t request_width; /* 0: as that of replies */
static enum harness_protocol protocol = HARNESS_MEM;
static harness_answer *answer = answer_with_tag;

/* Width and latency. */
static void set_up(const int64_t *params, uint32_t n, uint32_t m, uint64_t memory_latency)
{
    const struct crossbar_params k = {.width = params[0],
                                      .request_width = request_width ? request_width : params[0],
                                      .latency = params[1]};
    int64_t values[sizeof k / sizeof(int64_t)];
    memcpy(values, &k, sizeof values);
    harness_start();
    int32_t space = (int32_t)build_space("memory", 0, 1 << 20, INTERLEAVE, m);
    net = build_instance(&crossbar_type, 0, "net", values, NULL, ARRAY_COUNT(values));
    uint32_t idle =
        idle_inputs ? build_instance(&crossbar_type, 0, "idle", values, NULL, ARRAY_COUNT(values))
                    : 0;
    build_route(net, m > 1 ? space : -1, -1);
    for (uint32_t i = 0; i < n; i++)
        sources[i] = harness_requester();
    for (uint32_t i = 0; i < m; i++)
        targets[i] = harness_server(memory_latency, answer);
    for (uint32_t i = 0; i < n; i++)
        harness_wire(protocol, (struct build_end){sources[i], 0, 0}, (struct build_end){net, 0, i},
                     64, 1, 1);
    for (uint32_t i = 0; i < idle_inputs; i++)
        harness_wire(protocol, (struct build_end){idle, 1, i}, (struct build_end){net, 0, n + i},
                     64, 1, 1);
    for (uint32_t i = 0; i < m; i++)
        harness_wire(protocol, (struct build_end){net, 1, i}, (struct build_end){targets[i], 0, 0},
                     64, 1, 1);
    harness_build();
}

static void send(uint32_t end, struct harness_message m)
{
    harness_send(end, &m);
}

Test(crossbar, the_whole_way_takes_the_latency)
{
    static const int64_t latencies[] = {2, 3, 10, 64, 65, 500};
    for (size_t i = 0; i < ARRAY_COUNT(latencies); i++) {
        uint64_t latency = (uint64_t)latencies[i];
        set_up((int64_t[]){64, latencies[i]}, 3, 2, 1);
        send(sources[1], harness_read(7, 1, 128, 4));
        cr_assert_eq(harness_run(), ENGINE_IDLE);
        cr_expect_eq(harness_log(targets[1], 0)->cycle, 7 + latency);
        cr_expect_eq(harness_log(sources[1], 0)->cycle, 7 + latency + latency);
    }
}

Test(crossbar, an_output_takes_a_message_a_cycle_and_longer_for_wide_ones)
{
    static const struct {
        int64_t width;
        uint64_t read_cycles, write_cycles;
    } cases[] = {{64, 1, 1}, {32, 1, 2}, {16, 1, 4}, {128, 1, 1}};
    uint8_t bytes[64] = {0};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        for (unsigned writes = 0; writes < 2; writes++) {
            set_up((int64_t[]){cases[i].width, 2}, 4, 1, 1);
            for (uint16_t k = 0; k < 100; k++)
                for (uint32_t s = 0; s < 4; s++)
                    send(sources[s],
                         writes ? harness_write(1, k, 64, 1, bytes) : harness_read(1, k, 64, 4));
            cr_assert_eq(harness_run(), ENGINE_IDLE);
            uint64_t each = writes ? cases[i].write_cycles : cases[i].read_cycles;
            cr_expect_eq(harness_log(targets[0], 399)->cycle, 1 + 2 + 399 * each, "width %d",
                         (int)cases[i].width);
        }
}

Test(crossbar, requests_may_have_a_width_of_their_own)
{
    uint8_t bytes[64] = {0};
    for (unsigned writes = 0; writes < 2; writes++) {
        request_width = 16;
        set_up((int64_t[]){32, 2}, 1, 1, 1);
        for (uint16_t k = 0; k < 100; k++)
            send(sources[0],
                 writes ? harness_write(1, k, 64, 1, bytes) : harness_read(1, k, 64, 4));
        cr_assert_eq(harness_run(), ENGINE_IDLE);
        uint64_t there = writes ? 4 : 1, back = writes ? 1 : 2, each = max(there, back);
        cr_expect_eq(harness_log(targets[0], 99)->cycle, 1 + 2 + 99 * there);
        cr_expect_eq(harness_reply(sources[0], 99)->cycle - harness_reply(sources[0], 0)->cycle,
                     99 * each);
    }
}

Test(crossbar, inputs_that_want_one_output_share_it_evenly)
{
    set_up((int64_t[]){64, 4}, 5, 1, 1);
    for (uint16_t k = 0; k < 200; k++)
        for (uint32_t s = 0; s < 5; s++)
            send(sources[s], harness_read(1, k, 4096 * (uint64_t)s, 4));
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    /* In any five requests that arrive one after the other each source has one. */
    for (uint32_t i = 0; i + 5 <= harness_count(targets[0]); i += 5) {
        unsigned from = 0;
        for (uint32_t k = 0; k < 5; k++) {
            uint64_t address;
            memcpy(&address, harness_log(targets[0], i + k)->fields, 8);
            from |= 1u << (address / 4096);
        }
        cr_assert_eq(from, 31, "at %u", i);
    }
    const struct crossbar_io *io = harness_instance(net);
    cr_expect_eq(io->stats.requests, 1000);
    cr_expect_eq(io->stats.replies, 1000);
    cr_expect_geq(io->stats.conflicts, 990);
}

Test(crossbar, different_outputs_do_not_disturb_each_other)
{
    set_up((int64_t[]){64, 2}, 4, 4, 1);
    for (uint16_t k = 0; k < 100; k++)
        for (uint32_t s = 0; s < 4; s++)
            send(sources[s], harness_read(1, k, INTERLEAVE * (uint64_t)s, 4));
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    const struct crossbar_io *io = harness_instance(net);
    cr_expect_eq(io->stats.conflicts, 0);
    for (uint32_t s = 0; s < 4; s++)
        cr_expect_eq(harness_log(targets[s], 99)->cycle, 1 + 2 + 99);
}

static void random_traffic(int order, bool tick_all, uint64_t *digest)
{
    enum { N = 9, M = 4, EACH = 1500 };
    uint64_t random = 3;
    uint8_t bytes[64] = {0};
    set_up((int64_t[]){32, 6}, N, M, 17);
    harness_tick_order(order, tick_all);
    for (uint32_t s = 0; s < N; s++)
        for (uint16_t k = 0; k < EACH; k++) {
            uint64_t r = harness_random(&random), cycle = 1 + k + (r >> 40) % 200;
            uint64_t address = r % (1 << 16) / 64 * 64;
            send(sources[s], (r >> 30) % 4 ? harness_read(cycle, k, address, 4)
                                           : harness_write(cycle, k, address, 1, bytes));
        }
    harness_take_nothing_before(targets[2], 900);
    harness_take_nothing_before(sources[4], 1200);
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    const struct crossbar_io *io = harness_instance(net);
    *digest = io->stats.conflicts * 3 + io->stats.requests + io->stats.replies;
    cr_assert_eq(io->stats.requests, N * EACH);
    cr_assert_eq(io->stats.replies, N * EACH);
    for (uint32_t s = 0; s < N; s++) {
        cr_assert_eq(harness_count(sources[s]), EACH);
        for (uint32_t i = 0; i < EACH; i++) {
            const struct harness_message *m = harness_log(sources[s], i);
            *digest = *digest * 31 + m->cycle * 7 + m->tag;
        }
    }
    for (uint32_t t = 0; t < M; t++)
        for (uint32_t i = 0; i < harness_count(targets[t]); i++) {
            uint64_t address;
            memcpy(&address, harness_log(targets[t], i)->fields, 8);
            cr_assert_eq(address / INTERLEAVE % M, t);
        }
}

Test(crossbar, every_answer_finds_its_source_in_any_tick_order)
{
    uint64_t a, b, c;
    random_traffic(ENGINE_ASCENDING, false, &a);
    random_traffic(ENGINE_DESCENDING, false, &b);
    random_traffic(ENGINE_RANDOM, true, &c);
    cr_expect_eq(a, b);
    cr_expect_eq(a, c);
}

/* Up to 64 ports are bits of one word, with code of its own: inputs beside them that
 * nobody uses must change nothing. */
Test(crossbar, idle_ports_do_not_matter_however_many_there_are)
{
    static const uint32_t more[] = {1, 55, 56, 120};
    uint64_t alone, beside;
    random_traffic(ENGINE_ASCENDING, false, &alone);
    for (size_t i = 0; i < ARRAY_COUNT(more); i++) {
        idle_inputs = more[i];
        random_traffic(ENGINE_ASCENDING, false, &beside);
        cr_expect_eq(alone, beside, "%u idle inputs", more[i]);
    }
    idle_inputs = 0;
}

Test(crossbar, requests_in_flight_are_forgotten_when_answered)
{
    set_up((int64_t[]){64, 2}, 4, 4, 1);
    for (uint32_t k = 0; k < 20000; k++) /* together more than there are tags */
        for (uint32_t s = 0; s < 4; s++)
            send(sources[s], harness_read(1, (uint16_t)k, INTERLEAVE * (uint64_t)s, 4));
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    for (uint32_t s = 0; s < 4; s++)
        cr_expect_eq(harness_count(sources[s]), 20000);
}

Test(crossbar, answers_carry_what_their_request_asked)
{
    set_up((int64_t[]){64, 3}, 3, 2, 5);
    for (uint16_t k = 0; k < 100; k++)
        for (uint32_t s = 0; s < 3; s++)
            send(sources[s], harness_read(1, (uint16_t)(k + 1000 * s), (k * 3 + s) * 64u, 4));
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    for (uint32_t s = 0; s < 3; s++)
        for (uint16_t k = 0; k < 100; k++) {
            uint64_t address;
            memcpy(&address, harness_reply(sources[s], (uint16_t)(k + 1000 * s))->payload, 8);
            cr_assert_eq(address, (k * 3 + s) * 64u);
        }
}

/* More than the table of those in flight has room for at first; the server holds them for long. */
Test(crossbar, requests_in_flight_may_become_many)
{
    enum { EACH = 150 };
    set_up((int64_t[]){64, 2}, 2, 1, 1000);
    for (uint16_t k = 0; k < EACH; k++)
        for (uint16_t s = 0; s < 2; s++)
            send(sources[s], harness_read(1, (uint16_t)(2 * k + s), 1024 * (s + 1u) + 4 * k, 4));
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    for (uint16_t i = 0; i < 2 * EACH; i++) {
        const struct harness_message *reply = harness_reply(sources[i % 2], i);
        uint64_t address;
        cr_assert_not_null(reply, "no answer to %u", i);
        memcpy(&address, reply->payload, sizeof address);
        cr_assert_eq(address, 1024 * (i % 2 + 1u) + 4 * (i / 2u));
    }
}

Test(crossbar, an_address_nobody_holds_is_reported)
{
    set_up((int64_t[]){64, 3}, 1, 2, 5);
    send(sources[0], harness_read(1, 1, 1 << 24, 4));
    cr_expect_eq(harness_run(), ENGINE_FAILED);
    cr_expect_not_null(strstr(engine_failure(), "0x1000000"));
    engine_clear_failure();
}

Test(crossbar, a_protocol_may_have_many_kinds_of_messages)
{
    enum { TAGS = 1000 };
    protocol = HARNESS_COMMAND;
    answer = answer_done;
    set_up((int64_t[]){64, 2}, 2, 1, 5);
    for (uint8_t kind = COMMAND_READ; kind <= COMMAND_RESUME; kind++)
        for (uint16_t s = 0; s < 2; s++)
            send(sources[s], (struct harness_message){.cycle = kind,
                                                      .kind = kind,
                                                      .tag = (uint16_t)(TAGS * (s + 1) + kind)});
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    for (uint8_t kind = COMMAND_READ; kind <= COMMAND_RESUME; kind++)
        for (uint16_t s = 0; s < 2; s++) {
            const struct harness_message *request =
                harness_log(targets[0], 2u * (kind - COMMAND_READ) + s);
            const struct harness_message *reply =
                harness_reply(sources[s], (uint16_t)(TAGS * (s + 1) + kind));
            cr_expect_eq(request->kind, kind);
            cr_assert_not_null(reply, "no answer to message %u of source %u", kind, s);
            cr_expect_eq(reply->kind, COMMAND_DONE);
        }
}

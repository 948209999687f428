/* Endpoints: what they add to a way, turns between channels of different protocols, channels that
 * cannot stop each other, bytes. */
#include <criterion/criterion.h>
#include <string.h>

#include "endpoint.gen.h"
#include "mem.gen.h"
#include "tests/components/harness.h"
#include "translate.gen.h"

extern const struct unit_type endpoint__generic;

enum { FROM, TO, BACK_FROM, BACK_TO };

static const struct build_port ports[] = {{"from", BUILD_IN, true},
                                          {"to", BUILD_OUT, true},
                                          {"back_from", BUILD_IN, true},
                                          {"back_to", BUILD_OUT, true}};
static const struct build_type endpoint_type = {
    .unit = &endpoint__generic, .ports = ports, .port_count = 4};

#define MOST 4

static uint32_t station, asks[MOST], answers[MOST];

static struct build_end end(uint32_t leaf, uint32_t port, uint32_t element)
{
    return (struct build_end){leaf, port, element};
}

static void answer_page(const struct harness_message *request, struct harness_message *reply)
{
    memcpy(reply->fields, request->fields, 8);
}

/* What a message of either protocol takes on a wire, as the platform's tables say. */
static uint64_t bytes_of(uint32_t ring, unsigned kind)
{
    return engine_base.platform
        ->messages[engine_base.platform->protocols[engine_base.platform->rings[ring].protocol]
                       .first_message
                   + kind]
        .wire_bytes;
}

static void start(int64_t width, int64_t latency)
{
    static const char *const names[] = {"width", "latency", "depth"};
    const int64_t params[] = {width, latency, 64};
    harness_start();
    station = build_instance(&endpoint_type, 0, "station", params, names, 3);
}

/* Channel `i` of `kind`; ends are made before any of them is connected. */
static void connect(uint32_t i, enum harness_protocol kind, uint32_t in, uint32_t element)
{
    harness_wire(kind, end(asks[i], 0, 0), end(station, in, element), 64, 1, 1);
    harness_wire(kind, end(station, in + 1, element), end(answers[i], 0, 0), 64, 1, 1);
}

static struct harness_message look_up(uint64_t cycle, uint16_t tag, uint64_t page)
{
    struct harness_message m = {.cycle = cycle, .tag = tag};
    memcpy(m.fields, &page, sizeof page);
    return m;
}

static void send(uint32_t i, struct harness_message m)
{
    harness_send(asks[i], &m);
}

Test(endpoint, adds_its_latency_both_ways)
{
    static const int64_t latencies[] = {1, 4, 50, 700};
    for (size_t i = 0; i < sizeof latencies / sizeof latencies[0]; i++) {
        uint64_t latency = (uint64_t)latencies[i];
        start(4096, latencies[i]);
        asks[0] = harness_requester();
        answers[0] = harness_server(1, harness_answer_memory);
        connect(0, HARNESS_MEM, FROM, 0);
        harness_build();
        send(0, harness_read(7, 9, 128, 4));
        cr_assert_eq(harness_run(), ENGINE_IDLE);
        cr_assert_eq(harness_count(asks[0]), 1);
        cr_expect_eq(harness_log(answers[0], 0)->cycle, 7 + 1 + latency + 1);
        cr_expect_eq(harness_log(asks[0], 0)->cycle, 7 + 2 * (1 + latency + 1));
        cr_expect_eq(harness_log(asks[0], 0)->tag, 9);
    }
}

/* Reads and page walks with much to send: one of each in turn, each for its widths. */
Test(endpoint, channels_of_any_protocol_take_turns)
{
    for (int back = 0; back < 2; back++) {
        start(8, 1);
        for (uint32_t i = 0; i < 2; i++)
            asks[i] = harness_requester();
        answers[0] = harness_server(1, harness_answer_memory);
        answers[1] = harness_server(1, answer_page);
        connect(0, HARNESS_MEM, back ? BACK_FROM : FROM, 0);
        connect(1, HARNESS_TRANSLATE, back ? BACK_FROM : FROM, 1);
        harness_build();
        for (uint16_t k = 0; k < 60; k++) {
            send(0, harness_read(1, k, 64 * k, 4));
            send(1, look_up(1, k, (uint64_t)k << 12));
        }
        cr_assert_eq(harness_run(), ENGINE_IDLE);
        uint64_t read = (bytes_of(0, 0) + 7) / 8, walk = (bytes_of(4, 0) + 7) / 8;
        for (uint32_t k = 0; k < 60; k++) {
            cr_assert_eq(harness_log(answers[0], k)->cycle, 1 + 1 + 1 + 1 + k * (read + walk));
            cr_assert_eq(harness_log(answers[1], k)->cycle,
                         1 + 1 + 1 + 1 + k * (read + walk) + read);
        }
        const struct endpoint_stats *s =
            &((const struct endpoint_io *)harness_instance(station))->stats;
        uint64_t asked = 60 * (bytes_of(0, 0) + bytes_of(4, 0));
        cr_expect_eq(back ? s->backward_bytes : s->forward_bytes, asked);
        cr_expect_eq(back ? s->backward_busy : s->forward_busy, 60 * (read + walk));
        cr_expect_eq(s->backward_messages, 120);
        cr_expect_eq(s->forward_messages, 120);
        for (uint32_t k = 0; k < 60; k++) {
            cr_expect_eq(harness_log(asks[0], k)->tag, k);
            cr_expect_eq(harness_log(asks[1], k)->tag, k);
        }
    }
}

/* Requests one way and answers of what was asked the other way take turns. */
Test(endpoint, answers_share_a_direction_with_requests_the_other_way)
{
    start(1, 1);
    for (uint32_t i = 0; i < 2; i++)
        asks[i] = harness_requester();
    for (uint32_t i = 0; i < 2; i++)
        answers[i] = harness_server(1, harness_answer_memory);
    connect(0, HARNESS_MEM, FROM, 0);
    connect(1, HARNESS_MEM, BACK_FROM, 0);
    harness_build();
    for (uint16_t k = 0; k < 40; k++) {
        send(0, harness_read(1, k, 64 * k, 4));
        send(1, harness_read(1, k, 64 * k, 4));
    }
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    const struct endpoint_stats *s =
        &((const struct endpoint_io *)harness_instance(station))->stats;
    uint64_t read = bytes_of(0, 0), data = bytes_of(0, 4); /* the first reply, behind 4 requests */
    cr_expect_eq(s->forward_messages, 80);
    cr_expect_eq(s->backward_messages, 80);
    cr_expect_eq(s->forward_bytes, 40 * (read + data));
    cr_expect_eq(s->backward_bytes, 40 * (read + data));
    cr_expect_eq(s->forward_busy, s->forward_bytes);
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(harness_count(asks[i]), 40);
        /* the last one leaves when all others have */
        cr_expect_gt(harness_log(asks[i], 39)->cycle, s->forward_bytes - data);
    }
}

Test(endpoint, a_channel_that_stands_still_stops_no_other)
{
    start(64, 1);
    for (uint32_t i = 0; i < 2; i++)
        asks[i] = harness_requester();
    for (uint32_t i = 0; i < 2; i++)
        answers[i] = harness_server(1, harness_answer_memory);
    connect(0, HARNESS_MEM, FROM, 0);
    connect(1, HARNESS_MEM, FROM, 1);
    harness_build();
    harness_take_nothing_before(answers[0], 100000);
    for (uint16_t k = 0; k < 300; k++)
        send(0, harness_read(1, k, 0, 4));
    for (uint16_t k = 0; k < 20; k++)
        send(1, harness_read(1000, k, 64 * k, 4));
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    cr_expect_eq(harness_count(asks[0]), 300);
    cr_assert_eq(harness_count(asks[1]), 20);
    cr_expect_lt(harness_log(asks[1], 19)->cycle, 1100);
}

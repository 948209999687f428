/* Ideal memory: latency, bandwidth, fairness between its ports, order. */
#include "dram.gen.h"
#include "probe.gen.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/number.h"
#include "components/amd/isa/isa.h"
#include "components/protocols/probe/probe_die.h"
#include "runtime/engine/component_failure.h"
#include "runtime/engine/run_control.h"
#include "runtime/state/memory.h"
#include "tests/components/harness.h"

extern const struct unit_type dram__generic;

static const struct build_port ports[] = {
    {"top", BUILD_IN, false}, {"dma", BUILD_IN, false}, {"probe", BUILD_OUT, true}};
static const char *const parts[] = {NULL, NULL}; /* no timing part */
static const struct build_type type = {
    .unit = &dram__generic, .ports = ports, .port_count = 3, .parts = parts, .part_count = 2};

static uint32_t dram, top, dma;

static void set_up(int64_t latency, int64_t width)
{
    int64_t params[] = {1 << 20, 64, 64, latency, width};
    harness_start();
    build_space("memory", 0, 1 << 20, 64, 1);
    dram = build_instance(&type, 0, "dram", params, NULL, 5);
    top = harness_requester();
    dma = harness_requester();
    harness_wire(HARNESS_MEM, (struct build_end){top, 0, 0}, (struct build_end){dram, 0, 0}, 32,
                 (uint32_t)width, 1);
    harness_wire(HARNESS_MEM, (struct build_end){dma, 0, 0}, (struct build_end){dram, 1, 0}, 32, 1,
                 1);
    harness_build();
}

static void send(uint32_t end, struct harness_message m)
{
    harness_send(end, &m);
}

Test(dram, an_answer_is_seen_latency_plus_one_after_the_request)
{
    static const int64_t latencies[] = {1, 2, 100, 1000};
    for (size_t i = 0; i < ARRAY_COUNT(latencies); i++) {
        set_up(latencies[i], 1);
        send(top, harness_read(5, 1, 0x40, 4));
        cr_assert_eq(harness_run(), ENGINE_IDLE);
        cr_expect_eq(harness_log(top, 0)->cycle, 5 + (uint64_t)latencies[i] + 1);
    }
}

Test(dram, takes_its_width_a_cycle)
{
    for (int64_t width = 1; width <= 4; width *= 2) {
        set_up(100, width);
        for (uint16_t i = 0; i < 1000; i++)
            send(top, harness_read(1, i, i * 64u, 4));
        cr_assert_eq(harness_run(), ENGINE_IDLE);
        cr_expect_eq(harness_log(top, 999)->cycle, 1 + 100 + 1 + 1000 / (uint64_t)width - 1);
    }
}

Test(dram, ports_take_turns)
{
    set_up(50, 1);
    for (uint16_t i = 0; i < 500; i++) {
        send(top, harness_read(1, i, i * 64u, 4));
        send(dma, harness_read(1, i, i * 64u, 4));
    }
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    uint64_t a = harness_log(top, 499)->cycle, b = harness_log(dma, 499)->cycle;
    cr_expect_leq(a > b ? a - b : b - a, 1);
}

Test(dram, a_read_does_not_see_a_later_write)
{
    uint8_t bytes[64];
    memset(bytes, 7, sizeof bytes);
    set_up(100, 1);
    send(top, harness_read(1, 1, 0x80, 4));
    send(top, harness_write(2, 2, 0x80, 0xf0, bytes));
    send(top, harness_read(3, 3, 0x80, 4));
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    cr_expect_eq(harness_reply(top, 1)->payload[4], 0);
    cr_expect_eq(harness_reply(top, 3)->payload[4], 7);
    cr_expect_eq(harness_reply(top, 3)->payload[3], 0, "bytes beside the mask stay");
    const struct dram_io *io = harness_instance(dram);
    cr_expect_eq(io->stats.bytes_written, 4);
    cr_expect_eq(io->stats.bytes_read, 128);
    cr_expect_eq(*(uint8_t *)memory_at(0x87), 7, "contents are those of simulated memory");
}

Test(dram, atomics_return_the_old_line)
{
    uint32_t add[16] = {5, 6}, none[16] = {0};
    set_up(10, 1);
    for (uint16_t i = 0; i < 3; i++)
        send(top, harness_atomic(1, i, 0x100, 0xff, ISA_ATOMIC_ADD, 4, add, none));
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    const uint32_t *old = (const uint32_t *)(const void *)harness_reply(top, 2)->payload;
    cr_expect_eq(old[0], 10);
    cr_expect_eq(old[1], 12);
}

Test(dram, an_address_outside_of_memory_is_reported)
{
    set_up(10, 1);
    send(top, harness_read(1, 1, 0x123456789000, 4));
    cr_expect_eq(harness_run(), ENGINE_FAILED);
    cr_expect_not_null(strstr(engine_failure(), "0x123456789000"));
    engine_clear_failure();
}

Test(dram, nothing_is_lost_when_answers_are_not_taken)
{
    set_up(20, 1);
    harness_take_nothing_before(top, 2000);
    for (uint16_t i = 0; i < 300; i++)
        send(top, harness_read(1, i, i * 64u, 4));
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    cr_expect_eq(harness_count(top), 300);
    for (uint16_t i = 0; i < 300; i++)
        cr_assert_eq(harness_log(top, i)->tag, i);
}

/* ---- caches that are probed ---- */

enum { LET_GO = 300 }; /* cycles from a probe to its answer */
static uint32_t die[2];

static void let_go(const struct harness_message *request, struct harness_message *reply)
{
    (void)request;
    reply->kind = PROBE_DONE;
}

static void set_up_dies(void)
{
    int64_t params[] = {1 << 20, 64, 64, 10, 1};
    harness_start();
    build_map(build_space("memory", 0, 1 << 20, 64, 1));
    dram = build_instance(&type, 0, "dram", params, NULL, 5);
    top = harness_requester();
    for (uint32_t i = 0; i < 2; i++)
        die[i] = harness_server(LET_GO, let_go);
    harness_wire(HARNESS_MEM, (struct build_end){top, 0, 0}, (struct build_end){dram, 0, 0}, 32, 1,
                 1);
    for (uint32_t i = 0; i < 2; i++)
        harness_wire(HARNESS_PROBE, (struct build_end){dram, 2, i},
                     (struct build_end){die[i], 0, 0}, 4, 1, 1);
    harness_build();
}

/* A message whose process is that of die `number`, or of none (-1). */
static struct harness_message of_die(int number, struct harness_message m)
{
    uint32_t pid = number < 0 ? 0 : probe_pid((uint32_t)number);
    struct mem_request *r = (struct mem_request *)(void *)(m.fields - sizeof(uint64_t));
    if (m.kind == MEM_READ)
        r->read.pid = pid;
    else if (m.kind == MEM_WRITE)
        r->write.pid = (uint16_t)pid;
    else
        r->atomic.pid = pid;
    return m;
}

Test(dram, a_write_is_answered_when_other_dies_have_let_go_of_the_line)
{
    static const uint8_t ones[64] = {1};
    set_up_dies();
    send(top, of_die(1, harness_read(1, 1, 0x40, 4)));
    send(top, of_die(0, harness_write(100, 2, 0x40, 1, ones)));
    send(top, of_die(0, harness_read(101, 3, 0x40, 4)));
    send(top, of_die(0, harness_write(1000, 4, 0x40, 1, ones)));
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    cr_expect_geq(harness_reply(top, 2)->cycle, 100u + LET_GO);
    cr_expect_eq(harness_reply(top, 3)->cycle, 101 + 10 + 1, "a read waits for nothing");
    cr_expect_eq(harness_reply(top, 3)->payload[0], 1, "a write takes effect at once");
    cr_expect_eq(harness_reply(top, 4)->cycle, 1000 + 10 + 1, "nobody else holds the line");
    cr_expect_eq(harness_count(die[0]), 0u);
    cr_expect_eq(harness_count(die[1]), 1u);
}

Test(dram, an_atomic_waits_for_all_holders_and_none_is_left)
{
    static const uint8_t ones[64] = {1};
    set_up_dies();
    for (int i = 0; i < 2; i++)
        send(top, of_die(i, harness_read(1, (uint16_t)i, 0x80, 4)));
    send(top, of_die(-1, harness_atomic(50, 2, 0x80, 0xf, ATOMIC_OP_ADD, 4, ones, ones)));
    send(top, of_die(1, harness_write(1000, 3, 0x80, 1, ones)));
    send(top, of_die(1, harness_write(2000, 4, 0xc0, 1, ones)));
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    cr_expect_geq(harness_reply(top, 2)->cycle, 50u + LET_GO);
    cr_expect_eq(harness_reply(top, 3)->cycle, 1000 + 10 + 1);
    cr_expect_eq(harness_count(die[0]), 1u);
    cr_expect_eq(harness_count(die[1]), 1u);
}

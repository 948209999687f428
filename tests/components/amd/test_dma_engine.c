/* The DMA engine: random copies against flat memory, order of overlapping commands, lines in
 * flight. */
#include "command.gen.h"
#include "dma_engine.gen.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/number.h"
#include "runtime/engine/component_failure.h"
#include "runtime/engine/run_control.h"
#include "tests/components/harness.h"

extern const struct unit_type dma_engine__generic;

static const struct build_port ports[] = {
    {"command", BUILD_IN, false}, {"mem", BUILD_OUT, false}, {"lane", BUILD_OUT, true}};
static const struct build_type type = {
    .unit = &dma_engine__generic, .ports = ports, .port_count = 3};

static uint32_t engine_leaf, host, memory;

/* Each further lane leads to a memory of its own, all of which are harness_memory. */
static void set_up_lanes(int64_t commands, int64_t lines, uint64_t latency, uint32_t lanes)
{
    struct dma_engine_params params = {
        .commands = commands, .lines = lines, .lanes = lanes, .line = 64};
    int64_t values[sizeof params / sizeof(int64_t)];
    memcpy(values, &params, sizeof params);
    harness_start();
    engine_leaf = build_instance(&type, 0, "dma", values, NULL, ARRAY_COUNT(values));
    host = harness_requester();
    memory = harness_server(latency, harness_answer_memory);
    harness_wire(HARNESS_COMMAND, (struct build_end){host, 0, 0},
                 (struct build_end){engine_leaf, 0, 0}, 8, 1, 1);
    harness_wire(HARNESS_MEM, (struct build_end){engine_leaf, 1, 0},
                 (struct build_end){memory, 0, 0}, 32, 1, 1);
    for (uint32_t i = 0; i + 1 < lanes; i++)
        harness_wire(HARNESS_MEM, (struct build_end){engine_leaf, 2, i},
                     (struct build_end){harness_server(latency, harness_answer_memory), 0, 0}, 32,
                     1, 1);
    harness_build();
}

static void set_up(int64_t commands, int64_t lines, uint64_t latency)
{
    set_up_lanes(commands, lines, latency, 1);
}

static struct command_request *fields(struct message *header)
{
    memset(header, 0, sizeof *header);
    return (struct command_request *)(void *)header;
}

static void put(uint16_t tag, unsigned kind, const struct message *header, const void *bytes,
                uint32_t size)
{
    struct harness_message m = {.cycle = 1, .tag = tag, .kind = (uint8_t)kind};
    memcpy(m.fields, header->fields, sizeof m.fields);
    if (bytes)
        memcpy(m.payload, bytes, size);
    harness_send(host, &m);
}

static void put_write(uint16_t tag, uint64_t address, uint32_t size, const void *bytes)
{
    struct message h;
    struct command_request *m = fields(&h);
    m->write.address = address;
    m->write.size = size;
    put(tag, COMMAND_WRITE, &h, bytes, size);
}

static void put_read(uint16_t tag, uint64_t address, uint32_t size)
{
    struct message h;
    struct command_request *m = fields(&h);
    m->read.address = address;
    m->read.size = size;
    put(tag, COMMAND_READ, &h, NULL, 0);
}

static void put_fill(uint16_t tag, uint64_t address, uint32_t size, uint32_t pattern)
{
    struct message h;
    struct command_request *m = fields(&h);
    m->fill.address = address;
    m->fill.size = size;
    m->fill.pattern = pattern;
    put(tag, COMMAND_FILL, &h, NULL, 0);
}

static void put_copy(uint16_t tag, uint64_t to, uint64_t from, uint32_t size)
{
    struct message h;
    struct command_request *m = fields(&h);
    m->copy.destination = to;
    m->copy.source = from;
    m->copy.size = size;
    put(tag, COMMAND_COPY, &h, NULL, 0);
}

Test(dma_engine, random_commands_leave_what_doing_them_in_order_leaves)
{
    enum { COUNT = 3000, SPAN = 8192 };
    static const struct {
        int64_t commands, lines;
        uint64_t latency;
        uint32_t lanes;
    } cases[] = {{1, 1, 3, 1},    {4, 64, 120, 1}, {16, 7, 40, 1},
                 {64, 256, 1, 1}, {32, 99, 40, 3}, {130, 300, 9, 20}};
    static uint8_t flat[SPAN], expected[COUNT][256];
    static uint32_t sizes[COUNT];
    for (size_t k = 0; k < ARRAY_COUNT(cases); k++) {
        uint64_t random = 17;
        set_up_lanes(cases[k].commands, cases[k].lines, cases[k].latency, cases[k].lanes);
        memset(flat, 0, sizeof flat);
        for (uint16_t i = 0; i < COUNT; i++) {
            uint64_t r = harness_random(&random), kind = r % 4;
            uint32_t size = kind < 2 ? (uint32_t)(r >> 8) % 257 : (uint32_t)(r >> 8) % 600;
            uint32_t a = (uint32_t)(r >> 24) % (SPAN / 2 - 600),
                     b = (uint32_t)(r >> 40) % (SPAN / 2 - 600) + SPAN / 2;
            uint32_t pattern = (uint32_t)harness_random(&random);
            uint8_t bytes[256];
            sizes[i] = 0;
            for (uint32_t x = 0; x < 256; x++)
                bytes[x] = (uint8_t)(pattern >> (x % 25));
            if (r >> 60 & 1) {
                uint32_t swap = a;
                a = b;
                b = swap;
            }
            switch (kind) {
            case 0:
                put_write(i, a, size, bytes);
                memcpy(flat + a, bytes, size);
                break;
            case 1:
                put_read(i, a, size);
                sizes[i] = size;
                memcpy(expected[i], flat + a, size);
                break;
            case 2:
                put_fill(i, a & ~3u, size & ~3u, pattern);
                for (uint32_t x = 0; x < (size & ~3u); x += 4)
                    memcpy(flat + (a & ~3u) + x, &pattern, 4);
                break;
            default:
                put_copy(i, a, b, size);
                memcpy(flat + a, flat + b, size);
            }
        }
        cr_assert_eq(harness_run(), ENGINE_IDLE);
        cr_assert_eq(harness_count(host), COUNT);
        cr_expect_arr_eq(harness_memory, flat, SPAN);
        for (uint16_t i = 0; i < COUNT; i++)
            cr_assert_arr_eq(harness_reply(host, i)->payload, expected[i], sizes[i],
                             "read %u of case %d", i, (int)k);
        const struct dma_engine_io *io = harness_instance(engine_leaf);
        cr_expect_eq(io->stats.commands_done, COUNT);
    }
}

Test(dma_engine, atomics_find_what_came_before_and_leave_the_sum)
{
    enum { COUNT = 60, AT = 0x2478 };
    uint64_t sum = UINT64_MAX - 3, before;
    uint8_t first[sizeof sum];
    struct message h;
    set_up(16, 64, 90);
    memcpy(first, &sum, sizeof sum);
    put_write(COUNT, AT, sizeof sum, first);
    for (uint16_t i = 0; i < COUNT; i++) {
        struct command_request *m = fields(&h);
        m->atomic.address = AT;
        m->atomic.value = i * UINT64_C(0x100000007);
        put(i, COMMAND_ATOMIC, &h, NULL, 0);
    }
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    for (uint16_t i = 0; i < COUNT; i++) {
        cr_assert_eq(harness_reply(host, i)->kind, COMMAND_DATA);
        memcpy(&before, harness_reply(host, i)->payload, sizeof before);
        cr_expect_eq(before, sum, "atomic %u", i);
        sum += i * UINT64_C(0x100000007);
    }
    memcpy(&before, harness_memory + AT, sizeof before);
    cr_expect_eq(before, sum);
    cr_expect_eq(harness_memory[AT - 1] + harness_memory[AT + 8], 0);
}

Test(dma_engine, a_fill_moves_a_line_a_cycle)
{
    set_up(4, 256, 100);
    put_fill(1, 0x1000, 4096, 0x01020304);
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    /* Seen by the engine at 2; 64 lines from then on; the last one's answer 100 + 1 later; 1 back.
     */
    cr_expect_eq(harness_log(host, 0)->cycle, 2 + 63 + 101 + 1);
    cr_expect_eq(harness_memory[0x1fff], 1);
}

Test(dma_engine, each_lane_moves_a_line_a_cycle)
{
    set_up_lanes(4, 256, 100, 4);
    put_fill(1, 0x1000, 4096, 0x01020304);
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    cr_expect_eq(harness_log(host, 0)->cycle, 2 + 15 + 101 + 1);
    cr_expect_eq(harness_memory[0x1fff], 1);
}

Test(dma_engine, lines_in_flight_are_bounded)
{
    set_up(4, 4, 100);
    put_fill(1, 0, 4096, 0);
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    cr_expect_geq(harness_log(host, 0)->cycle, 64 / 4 * 101);
}

Test(dma_engine, a_command_for_others_is_reported)
{
    struct message h;
    fields(&h);
    set_up(4, 4, 10);
    put(1, COMMAND_FLUSH, &h, NULL, 0);
    cr_expect_eq(harness_run(), ENGINE_FAILED);
    cr_expect_not_null(strstr(engine_failure(), "DMA"));
    engine_clear_failure();
}

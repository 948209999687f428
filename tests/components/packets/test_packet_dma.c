/* The DMA engine of a packet device: any size at any alignment, overlapping commands in order,
 * several at a time, closed forms of its cycles, commands that make no sense. */
#include "packet_dma.gen.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/number.h"
#include "components/packets/packet_dma_command/packet_dma_command.h"
#include "components/packets/packet_dma_command/packet_dma_status.h"
#include "runtime/engine/run_control.h"
#include "runtime/state/blob.h"
#include "tests/components/harness.h"

extern const struct unit_type packet_dma__generic;

static const struct build_port ports[] = {{"command", BUILD_IN, false}, {"mem", BUILD_OUT, false}};
static const struct build_type type = {
    .unit = &packet_dma__generic, .ports = ports, .port_count = 2};

static uint32_t engine_leaf, host, memory;

static void set_up(int64_t commands, int64_t lines, uint64_t latency, bool physical)
{
    struct packet_dma_params params = {.commands = commands, .lines = lines, .physical = physical};
    int64_t values[sizeof params / sizeof(int64_t)];
    memcpy(values, &params, sizeof params);
    harness_start();
    engine_leaf = build_instance(&type, 0, "dma", values, NULL, ARRAY_COUNT(values));
    host = harness_requester();
    memory = harness_server(latency, harness_answer_memory);
    harness_wire(HARNESS_MEM, (struct build_end){host, 0, 0}, (struct build_end){engine_leaf, 0, 0},
                 16, 1, 1);
    harness_wire(HARNESS_MEM, (struct build_end){engine_leaf, 1, 0},
                 (struct build_end){memory, 0, 0}, 32, 1, 1);
    harness_build();
}

static const struct packet_dma_io *io(void)
{
    return harness_instance(engine_leaf);
}

static void put(uint16_t tag, struct packet_dma_command command)
{
    uint8_t line[64] = {0};
    struct packet_fault fault;
    size_t bytes = packet_dma_command_encode(&command, line, sizeof line, &fault);
    cr_assert_gt(bytes, 0);
    struct harness_message m = harness_write(1, tag, 0, ((uint64_t)1 << bytes) - 1, line);
    harness_send(host, &m);
}

static uint8_t byte_of(uint64_t i)
{
    return (uint8_t)(i * 131 + (i >> 8) * 29 + 7);
}

/* Every size around a line and every offset, both ways: no byte too few, none too many. */
Test(packet_dma, any_size_at_any_alignment_with_its_tail)
{
    static uint8_t before[512];
    set_up(1, 8, 5, false);
    for (uint32_t first = 0; first < 64; first += 3) {
        for (uint32_t size = 0; size <= 130; size++) {
            struct blob *blob = blob_new(size + 8);
            for (uint32_t i = 0; i < sizeof before; i++)
                before[i] = harness_memory[i] = byte_of(i + size);
            put(1, (struct packet_dma_command){.address = 64 + first,
                                               .size = size,
                                               .blob = blob->number,
                                               .offset = 4,
                                               .way = PACKET_DMA_WAY_TO_DEVICE});
            cr_assert_eq(harness_run(), ENGINE_IDLE);
            cr_assert_eq(blob->status, PACKET_DMA_DONE);
            cr_assert_arr_eq(blob->bytes + 4, before + 64 + first, size);
            cr_assert_eq(blob->bytes[3] | blob->bytes[size + 4], 0);
            memset(blob->bytes, 0xa5, size + 8);
            memset(before + 128 + first, 0xa5, size);
            put(2, (struct packet_dma_command){.address = 128 + first,
                                               .size = size,
                                               .blob = blob->number,
                                               .offset = 8,
                                               .way = PACKET_DMA_WAY_TO_MEMORY});
            cr_assert_eq(harness_run(), ENGINE_IDLE);
            cr_assert_arr_eq(harness_memory, before, sizeof before, "%u bytes at %u", size, first);
            blob_free(blob->number);
        }
    }
    cr_expect_eq(io()->stats.refused, 0);
}

/* Overlapping or not, the bytes are those of commands done one after the other. */
Test(packet_dma, random_commands_leave_what_doing_them_in_order_leaves)
{
    enum { COUNT = 400, SPAN = 4096, MOST = 700 };
    static const struct {
        int64_t commands, lines;
        uint64_t latency;
    } cases[] = {{1, 1, 3}, {8, 32, 120}, {64, 7, 40}};
    static uint8_t flat[SPAN], expected[COUNT][MOST];
    static struct blob *blobs[COUNT];
    for (size_t k = 0; k < ARRAY_COUNT(cases); k++) {
        uint64_t random = 99 + k;
        set_up(cases[k].commands, cases[k].lines, cases[k].latency, false);
        memset(harness_memory, 0, SPAN);
        memset(flat, 0, sizeof flat);
        for (uint16_t i = 0; i < COUNT; i++) {
            uint64_t r = harness_random(&random);
            uint32_t size = (uint32_t)(r >> 8) % MOST, a = (uint32_t)(r >> 24) % (SPAN - MOST),
                     b = (uint32_t)(r >> 40) % (SPAN - MOST);
            blobs[i] = blob_new(MOST);
            for (uint32_t x = 0; x < MOST; x++)
                expected[i][x] = blobs[i]->bytes[x] = byte_of(x + i);
            struct packet_dma_command command = {.address = a,
                                                 .source = b,
                                                 .size = size,
                                                 .blob = blobs[i]->number,
                                                 .way = (uint16_t)(r % 3)};
            if (command.way == PACKET_DMA_WAY_TO_DEVICE)
                memcpy(expected[i], flat + a, size);
            else if (command.way == PACKET_DMA_WAY_TO_MEMORY)
                memcpy(flat + a, expected[i], size);
            else if (a + size <= b || b + size <= a)
                memcpy(flat + a, flat + b, size);
            else
                command.size = 0; /* onto itself: what comes out is not said */
            put(i, command);
        }
        cr_assert_eq(harness_run(), ENGINE_IDLE);
        cr_assert_eq(harness_count(host), COUNT);
        cr_expect_arr_eq(harness_memory, flat, SPAN);
        for (uint32_t i = 0; i < COUNT; i++) {
            cr_assert_arr_eq(blobs[i]->bytes, expected[i], MOST, "blob %u of case %zu", i, k);
            blob_free(blobs[i]->number);
        }
        cr_expect_eq(io()->stats.commands_done, COUNT);
        cr_expect(cases[k].commands == 1 || io()->stats.ordered > 0);
    }
}

/* A line is asked for in each cycle while slots last; a slot is free again when its answer is here,
 * `latency` + 1 cycles after it was sent. The command is seen in cycle 2, and its answer a cycle
 * after the last line's. */
static uint64_t cycles_of(uint64_t lines, uint64_t slots, uint64_t latency)
{
    static uint64_t sent[1024];
    for (uint64_t i = 0; i < lines; i++) {
        sent[i] = i ? sent[i - 1] + 1 : 2;
        if (i >= slots && sent[i - slots] + latency + 1 > sent[i])
            sent[i] = sent[i - slots] + latency + 1;
    }
    return sent[lines - 1] + latency + 1 + 1;
}

Test(packet_dma, cycles_follow_from_lines_slots_and_latency)
{
    static const struct {
        uint64_t size, slots, latency;
    } cases[] = {{64, 32, 100},  {4, 32, 100},   {4096, 32, 100}, {4096, 256, 100}, {4096, 4, 100},
                 {4000, 16, 10}, {65536, 32, 7}, {65536, 8, 100}, {129, 1, 50}};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct blob *blob = blob_new(cases[i].size);
        set_up(8, (int64_t)cases[i].slots, cases[i].latency, false);
        put(1, (struct packet_dma_command){.address = 4096,
                                           .size = cases[i].size,
                                           .blob = blob->number,
                                           .way = PACKET_DMA_WAY_TO_DEVICE});
        cr_assert_eq(harness_run(), ENGINE_IDLE);
        cr_expect_eq(harness_log(host, 0)->cycle,
                     cycles_of(divide_up(cases[i].size, 64), cases[i].slots, cases[i].latency),
                     "%llu bytes", (unsigned long long)cases[i].size);
        blob_free(blob->number);
    }
}

/* Two commands of one line that do not meet are under way together; two that do are not. */
Test(packet_dma, commands_overlap_in_time_unless_they_touch_the_same_bytes)
{
    for (uint64_t distance = 0; distance <= 64; distance += 32) {
        struct blob *a = blob_new(64), *b = blob_new(64);
        set_up(8, 32, 100, false);
        put(1, (struct packet_dma_command){
                   .address = 0, .size = 64, .blob = a->number, .way = PACKET_DMA_WAY_TO_MEMORY});
        put(2, (struct packet_dma_command){.address = distance,
                                           .size = 64,
                                           .blob = b->number,
                                           .way = PACKET_DMA_WAY_TO_DEVICE});
        cr_assert_eq(harness_run(), ENGINE_IDLE);
        uint64_t apart = harness_log(host, 1)->cycle - harness_log(host, 0)->cycle;
        bool touch = distance < 64;
        cr_expect_eq(io()->stats.ordered, touch);
        cr_expect(touch ? apart >= 100 : apart <= 2, "%llu cycles apart at distance %llu",
                  (unsigned long long)apart, (unsigned long long)distance);
        blob_free(a->number);
        blob_free(b->number);
    }
}

Test(packet_dma, what_makes_no_sense_is_refused_and_answered)
{
    struct blob *blob = blob_new(64);
    uint8_t line[64] = {0};
    set_up(8, 32, 10, true); /* nothing is on the map */
    put(1, (struct packet_dma_command){.address = 0, .size = 8, .blob = blob->number});
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    cr_expect_eq(blob->status, PACKET_DMA_REFUSED);
    set_up(8, 32, 10, false);
    put(1, (struct packet_dma_command){.address = 0, .size = 65, .blob = blob->number});
    put(2,
        (struct packet_dma_command){.address = 0, .size = 1, .blob = blob->number, .offset = 64});
    put(3, (struct packet_dma_command){.address = 0, .size = 1, .blob = 77777});
    put(4, (struct packet_dma_command){.address = UINT64_MAX - 3, .size = 8, .blob = blob->number});
    struct harness_message m = harness_write(1, 5, 0, UINT64_MAX, line); /* no packet at all */
    harness_send(host, &m);
    m = harness_read(1, 6, 0, 8);
    harness_send(host, &m);
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    cr_expect_eq(harness_count(host), 6);
    cr_expect_eq(io()->stats.refused, 5);
    cr_expect_eq(harness_count(memory), 0);
    uint64_t refused;
    memcpy(&refused, harness_reply(host, 6)->payload, sizeof refused);
    cr_expect_eq(refused, 5);
    blob_free(blob->number);
}

Test(packet_dma, the_order_of_ticks_changes_nothing)
{
    uint64_t cycles[3];
    for (int order = 0; order < 3; order++) {
        struct blob *blob = blob_new(1000);
        set_up(4, 5, 30, false);
        harness_tick_order(order, order == 2);
        for (uint16_t i = 0; i < 6; i++)
            put(i, (struct packet_dma_command){.address = i * 50u,
                                               .size = 600,
                                               .blob = blob->number,
                                               .way = (uint16_t)(i % 2)});
        cr_assert_eq(harness_run(), ENGINE_IDLE);
        cycles[order] = harness_log(host, 5)->cycle;
        blob_free(blob->number);
    }
    cr_expect_eq(cycles[0], cycles[1]);
    cr_expect_eq(cycles[0], cycles[2]);
}

/* The pieces of trace player and streaming multiprocessor that are plain functions: records of the
 * store, coalescing, bank conflicts, occupancy. Oracles go byte by byte or lane by lane. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/number.h"

/* The order is the unit's. */
/* clang-format off */
#include "components/nvidia/streaming_multiprocessor/sm_shared.c"
#include "components/nvidia/program/sm_occupancy.c"
#include "components/nvidia/trace_player/trace_writer.c"
#include "components/nvidia/streaming_multiprocessor/coalesce.c"
/* clang-format on */

#include "tests/components/harness.h"

static uint64_t seed;

static uint64_t below(uint64_t limit)
{
    return harness_random(&seed) % limit;
}

/* A step with addresses of some kind: runs, strides, near and far ones. */
static struct itrace_step random_step(unsigned width)
{
    struct itrace_step s = {.mask = below(4) ? below((uint64_t)1 << 32) : UINT32_MAX,
                            .mode = below(3) ? ITRACE_MODE_LIST : ITRACE_MODE_STRIDE};
    uint64_t base = 0x7f0000000000 + below(4096), spread = (uint64_t)16 << below(30);
    s.count = (unsigned)__builtin_popcountll(s.mask);
    s.stride = below(2) ? width : (int64_t)below(300) - 150;
    for (unsigned i = 0; i < s.count; i++)
        s.address[i] = s.mode == ITRACE_MODE_STRIDE ? base + (uint64_t)((int64_t)i * s.stride)
                                                    : base + below(spread);
    return s;
}

Test(sm_pieces, records_give_back_what_was_written)
{
    seed = 1;
    for (unsigned round = 0; round < 2000; round++) {
        struct itrace_step s = random_step(4);
        uint32_t words[TRACE_RECORD + 1], id = (uint32_t)below(TRACE_INSTS_MAX);
        uint64_t address[32];
        enum trace_space space = (enum trace_space)below(4);
        unsigned length = trace_writer_record(words, id, &s, space);
        cr_assert_leq(length, TRACE_RECORD);
        cr_assert_eq(words[0] & TRACE_ID, id);
        cr_assert_eq(trace_record_space(words[0]), space);
        cr_assert_eq(trace_record_mask(words), (uint32_t)s.mask);
        cr_assert_eq(trace_record_end(words, 0), length);
        cr_assert_eq(trace_addresses(words, address), s.count);
        cr_assert_arr_eq(address, s.address, s.count * sizeof address[0]);
        cr_assert_neq(words[0], TRACE_LINK);
    }
}

/* Every byte that a lane touches, one by one. */
static unsigned bytes_of(const struct itrace_step *s, unsigned width, uint64_t line,
                         uint32_t bytes[4], unsigned *lanes)
{
    uint8_t sectors = 0;
    *lanes = 0;
    memset(bytes, 0, 4 * sizeof bytes[0]);
    for (unsigned i = 0; i < s->count; i++) {
        bool touches = false;
        for (unsigned b = 0; b < width; b++) {
            uint64_t at = s->address[i] + b;
            if (at / 128 != line / 128)
                continue;
            touches = true;
            bytes[at % 128 / 32] |= (uint32_t)1 << at % 32;
            sectors |= (uint8_t)(1u << at % 128 / 32);
        }
        *lanes += touches;
    }
    return sectors;
}

Test(sm_pieces, requests_name_each_line_once_with_all_that_is_touched)
{
    static struct sm_lines m;
    seed = 2;
    for (unsigned round = 0; round < 3000; round++) {
        unsigned width = 1u << below(6), total = 0;
        struct itrace_step s = random_step(width);
        uint32_t words[TRACE_RECORD], bytes[4];
        if (!s.count)
            continue;
        trace_writer_record(words, 0, &s, TRACE_GLOBAL);
        coalesce(&m, words, width, 0);
        cr_assert_gt(m.count, 0);
        cr_assert_leq(m.count, 64);
        for (uint32_t r = 0; r < m.count; r++) {
            unsigned lanes;
            cr_assert_eq(m.request[r].sectors,
                         bytes_of(&s, width, m.request[r].line, bytes, &lanes));
            cr_assert_arr_eq(m.request[r].bytes, bytes, sizeof bytes);
            uint8_t partial = 0;
            for (unsigned k = 0; k < 4; k++)
                partial |= (uint8_t)((bytes[k] && bytes[k] + 1) << k);
            cr_assert_eq(coalesce_partial(&m.request[r]), partial);
            total += lanes;
            for (uint32_t other = 0; other < r; other++)
                cr_assert_neq(m.request[r].line, m.request[other].line);
        }
        cr_assert_geq(total, s.count, "no lane is lost");
    }
}

/* Cycles by counting, for each bank, the different words of a part of the warp. */
static unsigned count_cycles(const uint64_t *lane, const bool *active, unsigned width)
{
    unsigned words = width <= 4 ? 1 : width <= 8 ? 2 : 4, part = 32 / words, cycles = 0;
    for (unsigned first = 0; first < 32; first += part) {
        unsigned most = 0;
        for (unsigned bank = 0; bank < 32; bank++) {
            unsigned different = 0;
            for (unsigned a = first * words; a < (first + part) * words; a++) {
                uint64_t word = lane[a / words] / 4 + a % words;
                bool counts = active[a / words] && word % 32 == bank;
                for (unsigned b = 0; counts && b < a; b++) /* in any part before, too */
                    counts = !active[b / words] || lane[b / words] / 4 + b % words != word;
                different += counts;
            }
            most = max(different, most);
        }
        cycles += most;
    }
    return cycles;
}

Test(sm_pieces, bank_conflicts_are_counted_word_by_word)
{
    seed = 3;
    for (unsigned round = 0; round < 2000; round++) {
        uint64_t lane[32], packed[32];
        bool active[32];
        uint32_t mask = 0;
        unsigned width = 1u << below(5), count = 0, parts;
        uint64_t unit = max(width, 4), stride = below(40) * unit;
        for (unsigned i = 0; i < 32; i++) {
            lane[i] = round % 2 ? below(512) * unit : i * stride;
            active[i] = below(5) != 0;
            mask |= (uint32_t)active[i] << i;
            if (active[i])
                packed[count++] = lane[i];
        }
        cr_assert_eq(shared_cycles(packed, mask, width, 32, &parts),
                     count_cycles(lane, active, width));
    }
}

Test(sm_pieces, word_that_all_lanes_want_is_fetched_once)
{
    uint64_t lane[32];
    unsigned parts;
    for (unsigned width = 4; width <= 16; width *= 2) {
        for (unsigned i = 0; i < 32; i++)
            lane[i] = 0x400;
        cr_expect_eq(shared_cycles(lane, UINT32_MAX, width, 32, &parts), 1);
        cr_expect_eq(parts, 1);
        for (unsigned i = 0; i < 32; i++)
            lane[i] = (uint64_t)width * i;
        cr_expect_eq(shared_cycles(lane, UINT32_MAX, width, 32, &parts), width / 4);
        cr_expect_eq(parts, width / 4);
    }
}

Test(sm_pieces, shared_memory_is_carved_in_the_sizes_of_the_card)
{
    static const uint32_t cases[][3] = {{0, 102400, 0},        {1, 102400, 8192},
                                        {8192, 102400, 8192},  {8193, 102400, 16384},
                                        {40000, 98304, 65536}, {65537, 102400, 102400},
                                        {98304, 98304, 98304}, {3000, 4096, 4096}};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        cr_expect_eq(sm_room_carve(cases[i][0], cases[i][1]), cases[i][2], "case %zu", i);
}

/* Blocks of an SM by NVIDIA's occupancy calculator, compute capabilities 7.0 and 8.6. */
Test(sm_pieces, occupancy_is_that_of_the_calculator)
{
    static const struct sm_shape volta = {{2048, 32, 65536, 98304}, 256, 4, 256, 0},
                                 ampere = {{1536, 32, 65536, 102400}, 256, 4, 128, 0},
                                 hopper = {{2048, 32, 65536, 233472}, 256, 4, 128, 1024};
    static const struct {
        const struct sm_shape *sm;
        uint32_t threads, registers, shared, blocks;
        const char *limit;
    } cases[] = {
        {&volta, 256, 32, 0, 8, "threads"},
        {&volta, 256, 64, 0, 4, "registers"},
        {&volta, 1024, 255, 0, 0, "registers"},
        {&volta, 32, 16, 0, 32, "blocks"},
        {&volta, 128, 32, 49152, 2, "bytes of shared memory"},
        {&volta, 96, 33, 0, 16, "registers"},
        {&ampere, 512, 21, 0, 3, "threads"},
        {&ampere, 256, 12, 0, 6, "threads"},
        {&ampere, 1024, 32, 0, 1, "threads"},
        {&ampere, 64, 16, 4000, 24, "threads"},
        {&ampere, 64, 16, 5000, 20, "bytes of shared memory"},
        {&ampere, 33, 40, 0, 24, "threads"},
        {&ampere, 0, 40, 0, 0, "threads"},
        {&ampere, 1537, 40, 0, 0, "threads"},
        {&ampere, 32, 400, 0, 8, "registers"},
        {&ampere, 32, 40, 102401, 0, "bytes of shared memory"},
        {&hopper, 128, 32, 116000, 1, "bytes of shared memory"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        const char *limit = "";
        struct sm_room block = {.blocks = UINT32_MAX};
        uint32_t blocks = sm_shape_blocks(cases[i].sm, cases[i].threads, cases[i].registers,
                                          cases[i].shared, &block, &limit);
        cr_expect_eq(blocks, cases[i].blocks, "case %zu: %u", i, blocks);
        cr_expect_str_eq(limit, cases[i].limit, "case %zu", i);
        struct sm_room room = cases[i].sm->room;
        uint32_t taken = 0;
        for (; sm_room_fits(&room, &block); taken++)
            sm_room_acquire(&room, &block);
        cr_expect_eq(taken, blocks);
        while (taken--)
            sm_room_release(&room, &block);
        cr_expect_eq(memcmp(&room, &cases[i].sm->room, sizeof room), 0);
    }
}

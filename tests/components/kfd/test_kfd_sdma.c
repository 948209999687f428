/* Queues of SDMA engines: each packet, mistakes, rings, orders. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/number.h"

#include "kfd_sdma_fake.h"

/* ---- each packet ---- */

Test(kfd_sdma, copies_go_by_the_call_for_where_both_ends_lie)
{
    static const struct {
        uint32_t to, from;
        const char *calls;
    } ways[] = {{VRAM, VRAM, "C"}, {HOST, HOST, "C"}, {HOST, VRAM, "R"}, {VRAM, HOST, "W"}};
    for (int i = 0; i < 8; i++) {
        uint32_t to = ways[i / 2].to + DATA, from = ways[i / 2].from + 2 * DATA + 1;
        open_queue(i % 2);
        char expected[1001];
        memcpy(expected, kfd_bytes(q.process, 0, from, 1001), 1001);
        COPY(to, from, 1001);
        run();
        expect_all_done();
        cr_expect_str_eq(calls, ways[i / 2].calls);
        cr_expect_arr_eq(kfd_bytes(q.process, 0, to, 1001), expected, 1001);
    }
}

Test(kfd_sdma, what_kernels_left_in_caches_is_written_back_before_a_copy_over_the_link)
{
    open_queue(true);
    q.process->caches->is_unreleased = true;
    COPY(HOST + DATA, VRAM, 4);
    COPY(HOST + DATA, VRAM, 4);
    run();
    cr_expect_str_eq(calls, "fRR");
}

Test(kfd_sdma, fills_repeat_their_pattern)
{
    for (uint32_t i = 0; i < 6; i++) {
        uint32_t size = i / 2, bytes = 60u << size;
        open_queue(i % 2);
        PUT(11u | size << 30, LOW(VRAM + DATA), 0x04030201, bytes - (is_gfx9() ? 1u << size : 0));
        run();
        expect_all_done();
        for (uint32_t k = 0; k < bytes; k++)
            cr_expect_eq(vram[DATA + k], (char)(1 + k % (1u << size)), "byte %u of %u", k, bytes);
        cr_expect_eq(vram[DATA + bytes], (char)((DATA + bytes) * 7 + (DATA + bytes) / 256));
    }
}

static uint32_t seed;
static uint32_t draw(uint32_t below)
{
    seed = seed * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)seed * below >> 32);
}

Test(kfd_sdma, sub_windows_move_exactly_their_elements)
{
    static char expected[SIZE];
    for (int i = 0; i < 400; i++) {
        uint32_t e = draw(5), x = 1 + draw(12), y = 1 + draw(5), z = 1 + draw(3);
        uint32_t row[2] = {x + draw(3), x + draw(3)}, slice[2], at[2][3];
        open_queue(i % 2);
        for (int side = 0; side < 2; side++) {
            slice[side] = row[side] * y + draw(5);
            for (int k = 0; k < 3; k++)
                at[side][k] = draw(4);
        }
        memcpy(expected, vram, SIZE);
        for (uint32_t n = 0; n < x * y * z; n++) {
            uint32_t c[3] = {n % x, n / x % y, n / x / y}, byte[2];
            for (int side = 0; side < 2; side++)
                byte[side] = ((at[side][0] + c[0]) + (at[side][1] + c[1]) * row[side]
                              + (at[side][2] + c[2]) * slice[side])
                             << e;
            memcpy(expected + byte[0], host + DATA + byte[1], (size_t)1 << e);
        }
        PUT(1 | 4 << 8 | e << 29, LOW(HOST + DATA), at[1][0] | at[1][1] << 16,
            at[1][2] | (row[1] - 1) << PITCH, slice[1] - 1, LOW(VRAM), at[0][0] | at[0][1] << 16,
            at[0][2] | (row[0] - 1) << PITCH, slice[0] - 1, (x - 1) | (y - 1) << 16, z - 1);
        run();
        expect_all_done();
        cr_assert(!memcmp(vram, expected, SIZE), "window %d", i);
        cr_expect(strspn(calls, "W") == strlen(calls) && strlen(calls) <= (size_t)y * z);
    }
}

Test(kfd_sdma, a_window_of_more_rows_than_the_driver_takes_goes_on_when_some_are_over)
{
    open_queue(true);
    PUT(1 | 4 << 8, LOW(HOST + DATA), 0, 7 << 13, 0, LOW(VRAM), 0, 7 << 13, 0, 3 | 199 << 16, 0);
    run();
    expect_all_done();
    for (int i = 0; i < 200 * 8; i++)
        cr_assert_eq(vram[i], i % 8 < 4 ? host[DATA + i] : (char)(i * 7 + i / 256));
}

Test(kfd_sdma, polls_wait_for_their_comparison)
{
    static const char passes[7][4] = {"111", "100", "110", "010", "101", "011", "001"};
    for (uint32_t i = 0; i < 2 * 7 * 3; i++) {
        uint32_t function = i / 6, value = 4 + i / 2 % 3;
        bool pass = passes[function][i / 2 % 3] == '1';
        open_queue(i % 2);
        set(HOST + DATA, 0xf00 | value, 4);
        PUT(8 | function << 28 | 1u << 31, LOW(HOST + DATA), 5, 0xff, 0xfff0004);
        FENCE(HOST + DATA + 4, 77);
        run();
        cr_expect_eq(word(HOST + DATA + 4) == 77, pass, "comparison %u of %u", function, value);
        cr_expect(!q.is_stopped);
        set(HOST + DATA, function == 1 ? 4 : function == 4 ? 6 : function == 6 ? 6 : 5, 4);
        run();
        expect_all_done();
    }
}

Test(kfd_sdma, atomics_change_a_word_of_32_or_64_bits)
{
    static const struct {
        uint8_t operation;
        uint64_t old, operand, compare, result;
    } cases[] = {
        {SDMA_SWAP, 5, 9, 0, 9},
        {SDMA_COMPARE_SWAP, 5, 9, 5, 9},
        {SDMA_COMPARE_SWAP, 5, 9, 6, 5},
        {SDMA_ADD, 2, UINT64_MAX, 0, 1},
        {SDMA_ADD, UINT32_MAX, 1, 0, UINT64_C(1) << 32},
        {SDMA_SUBTRACT, 5, 7, 0, (uint64_t)-2},
        {SDMA_AND, 12, 10, 0, 8},
        {SDMA_OR, 12, 10, 0, 14},
        {SDMA_XOR, 12, 10, 0, 6},
    };
    for (size_t i = 0; i < 4 * ARRAY_COUNT(cases); i++) {
        uint64_t long_one, mask = i & 2 ? UINT64_MAX : UINT32_MAX;
        open_queue(i & 1);
        set(HOST + DATA, cases[i / 4].old | (~mask & UINT64_C(0x1234) << 32), 8);
        ATOMIC(cases[i / 4].operation | (i & 2 ? 0x20 : 0x40), HOST + DATA, cases[i / 4].operand,
               cases[i / 4].compare);
        run();
        expect_all_done();
        memcpy(&long_one, host + DATA, 8);
        cr_expect_eq(long_one & mask, cases[i / 4].result & mask, "case %zu", i);
        cr_expect_eq(long_one & ~mask, ~mask & UINT64_C(0x1234) << 32);
    }
}

Test(kfd_sdma, a_comparing_atomic_can_be_tried_until_it_holds)
{
    open_queue(true);
    set(HOST + DATA, 1, 8);
    PUT(10u | 1 << 16 | 0x28u << 25, LOW(HOST + DATA), 8, 0, 2, 0, 0);
    run();
    cr_expect_eq(q.next, 0);
    set(HOST + DATA, 2, 8);
    run();
    expect_all_done();
    cr_expect_eq(word(HOST + DATA), 8);
}

Test(kfd_sdma, packets_that_tell_come_when_copies_before_them_are_over)
{
    open_queue(true);
    COPY(VRAM, HOST + DATA, 64);
    PUT(13 | 2 << 8, LOW(HOST + DATA + 64));
    FENCE(HOST + DATA + 72, 9);
    PUT(6, 0xf0000003);
    cr_expect(!ring());
    cr_expect(kfd_sdma_begin(&q));
    cr_expect(!kfd_sdma_begin(&q));
    cr_expect_eq(q.next, 28);
    set(HOST + DATA + 64, 0, 8);
    cr_expect(finish() && kfd_sdma_begin(&q));
    cr_expect_eq(word(HOST + DATA + 64), 1);
    cr_expect_eq(word(HOST + DATA + 72), 9);
    cr_expect_eq(interrupt, 3);
    expect_all_done();
}

Test(kfd_sdma, indirect_buffers_go_before_what_stands_behind_them)
{
    open_queue(true);
    const uint32_t buffer[] = {5, LOW(HOST + DATA), 1, 0x00010000, 0xdead, 5, LOW(HOST + DATA), 2};
    memcpy(vram, buffer, sizeof buffer);
    PUT(4, LOW(VRAM), sizeof buffer / 4, 0, 0);
    ATOMIC(SDMA_ADD, HOST + DATA, 40, 0);
    run();
    expect_all_done();
    cr_expect_eq(word(HOST + DATA), 42);
}

Test(kfd_sdma, registers_are_polled_only_to_flush)
{
    for (int i = 0; i < 2; i++) {
        open_queue(true);
        PUT(i ? 8u | 3u << 28 | 1u << 26 : 8u, 0, 0x80000000, 0, 0, 0);
        run();
        expect_all_done();
    }
}

/* ---- rings ---- */

Test(kfd_sdma, rings_begin_again_at_their_end)
{
    for (int gfx9 = 0; gfx9 < 2; gfx9++) {
        open_queue(gfx9);
        for (uint32_t i = 0; i < 1000; i++) {
            PUT((i % 3) << 16, 1, 2, 3);
            written -= 4 * (3 - i % 3);
            FENCE(VRAM, i);
            run();
            cr_assert_eq(word(VRAM), i);
            cr_assert_eq(word(READ_POINTER), gfx9 ? written : written % RING_BYTES);
        }
        expect_all_done();
        cr_expect(written > 4 * RING_BYTES);
    }
}

Test(kfd_sdma, threads_wait_at_the_doorbell_when_nothing_interrupts_or_the_ring_is_half_full)
{
    open_queue(true);
    FENCE(VRAM, 1);
    cr_expect(ring());
    FENCE(VRAM, 1);
    PUT(6, 1);
    cr_expect(!ring());
    for (int i = 0; i < RING_BYTES / 8; i++)
        PUT(0);
    PUT(6, 1);
    cr_expect(ring());
}

Test(kfd_sdma, doorbells_that_lie_stop_the_queue)
{
    static const uint64_t wrong[] = {2, RING_BYTES + 4, (uint64_t)1 << 40, UINT64_MAX};
    for (size_t i = 0; i < ARRAY_COUNT(wrong); i++) {
        open_queue(true);
        kfd_sdma_read_doorbell(&q, wrong[i]);
        cr_expect(q.is_stopped && strstr(said, "doorbell"), "%s", said);
    }
}

Test(kfd_sdma, packets_with_mistakes_stop_the_queue_and_say_why)
{
    const struct {
        uint32_t words[13];
        const char *says;
    } wrong[] = {
        {{0xff}, "a packet that is not known"},
        {{1 | 1 << 8}, "a packet that is not known"},
        {{17}, "a packet that is not known"},
        {{1 | 1 << 27}, "options"},
        {{1, 4, 1 << 16, LOW(HOST), LOW(VRAM)}, "swaps bytes"},
        {{1, 4, 0, LOW(HOST), LOW(VRAM + SIZE - 1)}, "a copy writes 5 bytes at 0x10ffff"},
        {{1, 4, 0, LOW(8), LOW(VRAM)}, "a copy reads 5 bytes at 0x8"},
        {{1, 0xffffffff, 0, LOW(HOST), LOW(VRAM)}, "a copy writes 1073741824 bytes"},
        {{1 | 4 << 8 | 5u << 29}, "16 bytes"},
        {{1 | 4 << 8, LOW(VRAM + 2)}, "at a dword"},
        {{1 | 4 << 8, LOW(VRAM), 0, 0, 0, LOW(HOST), 0, 0x7ffffu << 13, 0, 1 << 16}, "a copy"},
        {{11u | 3u << 30, LOW(VRAM)}, "8 bytes"},
        {{11u | 2u << 30, LOW(VRAM + 2)}, "aligned"},
        {{11u | 2u << 30, LOW(VRAM), 0, 0x3ffffffc}, "a fill writes 1073741824 bytes at 0x100000"},
        {{5, LOW(VRAM + 2)}, "dword"},
        {{5, LOW(VRAM - 4)}, "a fence writes 4 bytes at 0xffffc"},
        {{8u | 3u << 28, LOW(4)}, "a register"},
        {{8u | 7u << 28 | 1u << 31, LOW(VRAM)}, "comparison"},
        {{8u | 3u << 28 | 1u << 31, LOW(VRAM + 1)}, "dword"},
        {{8u | 3u << 28 | 1u << 31, LOW(UINT64_MAX - 3)}, "a poll reads 4 bytes"},
        {{10u | 0x20u << 25, LOW(VRAM)}, "not known"},
        {{10u | 1 << 16 | 0x2fu << 25, LOW(VRAM)}, "not known"},
        {{10u | 0x2fu << 25, LOW(VRAM + 4)}, "not aligned"},
        {{10u | 0x2fu << 25, LOW(8)}, "an atomic changes 8 bytes"},
        {{13 | 2 << 8, LOW(VRAM + 4)}, "qword"},
        {{13 | 2 << 8, LOW(0)}, "a timestamp writes"},
        {{13}, "a packet that is not known"},
        {{4, LOW(VRAM + 4), 4}, "32 bytes"},
        {{4, LOW(64), 4}, "an indirect buffer has 16 bytes"},
        {{4, LOW(RING), 6}, "leads to another one"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(wrong); i++) {
        open_queue(true);
        put(wrong[i].words, 13);
        FENCE(VRAM, 12345);
        run();
        cr_expect(q.is_stopped && strstr(said, wrong[i].says), "case %zu: '%s'", i, said);
        cr_expect_neq(word(VRAM), 12345);
    }
    open_queue(true);
    PUT(1, 4);
    run();
    cr_expect(q.is_stopped && strstr(said, "end was not announced"), "%s", said);
}

Test(kfd_sdma, any_words_stop_the_queue_or_are_done)
{
    static const uint8_t operations[] = {0, 1, 4, 5, 6, 8, 10, 11, 13};
    for (int i = 0; i < 20000; i++) {
        uint32_t words[64];
        open_queue(i % 2);
        for (int k = 0; k < 64; k++) {
            uint32_t kind = draw(4);
            words[k] = kind == 0   ? operations[draw(sizeof operations)] | draw(6) << 8
                       : kind == 1 ? draw(0x300000)
                       : kind == 2 ? draw(64)
                                   : draw(UINT32_MAX);
        }
        put(words, 1 + draw(63));
        run();
        cr_assert(q.is_stopped || q.next == q.announced_end || q.count == 0);
    }
}

/* ---- orders ---- */

static void send_one(int which)
{
    switch (which) {
    case 0:
        COPY(VRAM, HOST + DATA, 64);
        break;
    case 1:
        COPY(HOST + DATA, VRAM + 32, 64);
        break;
    case 2:
        PUT(11u | 2u << 30, LOW(VRAM + 16), 0x55, COUNT(32));
        break;
    case 3:
        FENCE(VRAM + 40, 0xabcd);
        break;
    default:
        ATOMIC(0x20 | SDMA_ADD, HOST + DATA + 8, UINT64_MAX, 0);
    }
}

/* All orders of five packets on memory that they share, as by one after the other. */
Test(kfd_sdma, packets_have_the_effect_of_their_order)
{
    static char one_by_one[2][SIZE];
    for (int order = 0; order < 120; order++) {
        int list[5] = {0, 1, 2, 3, 4}, left = order;
        for (int i = 0; i < 4; left /= 5 - i, i++) {
            int other = i + left % (5 - i), kept = list[i];
            list[i] = list[other];
            list[other] = kept;
        }
        for (int together = 0; together < 2; together++) {
            open_queue(order % 2);
            for (int i = 0; i < 5; i++) {
                send_one(list[i]);
                if (!together)
                    run();
            }
            run();
            expect_all_done();
            if (!together) {
                memcpy(one_by_one[0], vram, SIZE);
                memcpy(one_by_one[1], host, SIZE);
            }
        }
        cr_expect(!memcmp(one_by_one[0], vram, SIZE) && !memcmp(one_by_one[1], host, SIZE),
                  "order %d", order);
    }
}

/* What threads have read and written: when they are independent, and that memory comes back. */
#include <criterion/criterion.h>

#include "base/number.h"
#include "components/amd/functional/footprint.h"

enum { MEMORY = 1 << 20, THREADS = 3 };

static char before[MEMORY];

static void begin(void)
{
    memory_reserve(0, MEMORY);
    for (uint32_t i = 0; i < MEMORY; i++)
        memory.bytes[i] = before[i] = (char)(i * 7 + i / 256);
    footprint_begin(THREADS);
}

static void reads(uint32_t thread, uint64_t at, uint64_t bytes)
{
    footprint_mark(footprint_of(thread), memory.bytes + at, bytes, FOOTPRINT_READ);
}

static void writes(uint32_t thread, uint64_t at, uint64_t bytes)
{
    footprint_mark(footprint_of(thread), memory.bytes + at, bytes, FOOTPRINT_WRITTEN);
    memset(memory.bytes + at, (int)thread + 1, bytes);
}

static bool updates(uint32_t thread, uint64_t at, uint8_t operation)
{
    bool done = footprint_mark_update(footprint_of(thread), memory.bytes + at, 4, operation);
    memory.bytes[at]++;
    return done;
}

static bool is_as_before(void)
{
    return !memcmp(memory.bytes, before, MEMORY);
}

/* At the boundaries of words of marks, blocks and pages. */
static const uint64_t places[] = {0, 4, 252, 256, 260, 4092, 4096, 16380, 16384, 65536 - 128};

TestSuite(footprint, .init = begin);

Test(footprint, threads_that_write_side_by_side_and_read_the_same_are_independent)
{
    for (unsigned i = 0; i < ARRAY_COUNT(places); i++) {
        writes(0, places[i] + 0x20000, 4);
        writes(1, places[i] + 0x20004, 256);
        reads(2, places[i] + 0x20104, 64);
        reads(0, 0, 1024);
        reads(1, 0, 1024);
        cr_assert(footprint_end(THREADS), "place %u", i);
        cr_assert_eq(memory.bytes[places[i] + 0x20004], 2, "what was written stays");
        footprint_begin(THREADS);
    }
}

Test(footprint, a_dword_that_one_thread_writes_and_another_one_accesses_brings_memory_back)
{
    for (unsigned i = 0; i < ARRAY_COUNT(places); i++)
        for (unsigned kind = 0; kind < FOOTPRINT_KINDS; kind++)
            for (unsigned dword = 0; dword < 64; dword += 21) {
                writes(2, places[i], 256);
                writes(0, 0x80000, 4096);
                if (kind == FOOTPRINT_UPDATED)
                    updates(1, places[i] + 4 * dword, 1);
                else
                    (kind == FOOTPRINT_READ ? reads : writes)(1, places[i] + 4 * dword, 4);
                cr_assert_not(footprint_end(THREADS), "place %u, dword %u", i, dword);
                cr_assert(is_as_before());
                footprint_begin(THREADS);
            }
    reads(0, 0, 4096);
    cr_assert(footprint_end(THREADS), "no mark is left");
}

Test(footprint, threads_may_update_a_dword_by_one_operation_that_none_of_the_others_reads)
{
    for (unsigned i = 0; i < ARRAY_COUNT(places); i++) {
        for (uint32_t thread = 0; thread < THREADS; thread++)
            cr_assert(updates(thread, places[i], 3));
        cr_assert(footprint_end(THREADS), "place %u", i);
        cr_assert_eq(memory.bytes[places[i]], (char)(before[places[i]] + THREADS));
        memory.bytes[places[i]] = before[places[i]];
        footprint_begin(THREADS);
        cr_assert(updates(0, places[i], 4), "operations of earlier launches are forgotten");
        cr_assert(updates(2, places[i] ^ 4096, 3), "another page");
        cr_assert_not(updates(1, places[i] ^ 4, 3), "an operation of its own in the same page");
        reads(1, places[i], 4);
        cr_assert_not(footprint_end(THREADS), "place %u", i);
        cr_assert(is_as_before());
        footprint_begin(THREADS);
    }
}

Test(footprint, what_a_thread_cannot_mark_brings_memory_back)
{
    writes(0, 8192, 4096);
    writes(1, 4096, 4096);
    cr_assert_not(footprint_is_lost());
    footprint_lose();
    cr_assert(footprint_is_lost());
    cr_assert_not(footprint_end(THREADS));
    cr_assert(is_as_before());
    footprint_begin(THREADS);
    cr_assert_not(footprint_is_lost());
    cr_assert(footprint_end(THREADS));
}

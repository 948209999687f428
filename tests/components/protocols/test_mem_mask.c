/* Byte masks, against byte-by-byte loops. */
#include <criterion/criterion.h>

#include "components/protocols/mem/mem_mask.h"
#include "tests/components/harness.h"

static bool bit(struct mem_mask m, unsigned i)
{
    return m.word[i / 64] >> (i % 64) & 1;
}

Test(mem_mask, ranges_and_sums_hold_what_they_should)
{
    for (unsigned line = 16; line <= 128; line *= 2)
        for (unsigned first = 0; first < line; first++)
            for (unsigned count = 1; first + count <= line; count++) {
                struct mem_mask m = mem_mask_range(first, count, line),
                                rest = mem_mask_not(m, line);
                for (unsigned i = 0; i < line; i++) {
                    cr_assert_eq(bit(m, i), i >= first && i < first + count);
                    cr_assert_eq(bit(rest, i), !bit(m, i));
                }
                cr_assert_eq(mem_mask_count(m), count);
                cr_assert(mem_mask_is_full(mem_mask_or(m, rest), line));
                cr_assert_eq(mem_mask_is_full(m, line), count == line);
                cr_assert(mem_mask_covers(m, mem_mask_range(first, 1, line)));
                cr_assert_eq(mem_mask_covers(mem_mask_range(first, 1, line), m), count == 1);
            }
}

Test(mem_mask, copies_the_named_bytes_and_no_others)
{
    uint64_t random = 1;
    for (unsigned round = 0; round < 20000; round++) {
        unsigned line = 16u << (round % 4);
        uint8_t from[128], to[128], expected[128];
        struct mem_mask m = {{harness_random(&random), harness_random(&random)}};
        struct mem_mask full = mem_mask_full(line);
        for (unsigned w = 0; w < 2; w++)
            m.word[w] &= full.word[w] & (round % 3 ? harness_random(&random) : UINT64_MAX);
        if (round % 17 == 0)
            m = full;
        for (unsigned i = 0; i < line; i++) {
            from[i] = (uint8_t)harness_random(&random);
            to[i] = (uint8_t)harness_random(&random);
            expected[i] = bit(m, i) ? from[i] : to[i];
        }
        mem_copy_masked(to, from, m, line);
        cr_assert_arr_eq(to, expected, line);
    }
}

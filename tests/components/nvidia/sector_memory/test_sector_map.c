/* Hashes of slices and sets: against polynomial division, and for what they are there for. */
#include <criterion/criterion.h>

#include "base/number.h"
#include "base/splitmix64.h"
#include "components/protocols/sector_mem/sector_map.h"

static uint64_t remainder_of(uint64_t value, uint64_t divisor)
{
    int degree = 63 - __builtin_clzll(divisor);
    for (int bit = 63; bit >= degree; bit--)
        if (value >> bit & 1)
            value ^= divisor << (bit - degree);
    return value;
}

Test(sector_map, polynomials_are_irreducible)
{
    for (unsigned degree = 1; degree <= SECTOR_HASH_BITS; degree++) {
        uint64_t p = sector_polynomial(degree);
        cr_assert_eq(63 - __builtin_clzll(p), (int)degree);
        for (uint64_t d = 2; d < (uint64_t)1 << degree; d++)
            cr_assert_neq(remainder_of(p, d), 0, "degree %u: 0x%x divides", degree, (unsigned)d);
    }
}

Test(sector_map, polynomial_hashes_are_remainders)
{
    struct sector_hash h;
    for (unsigned bits = 1; bits <= SECTOR_HASH_BITS; bits++) {
        sector_hash_init(&h, SECTOR_HASH_POLYNOMIAL, 1 << bits);
        uint64_t state = bits;
        for (int i = 0; i < 1000; i++) {
            uint64_t x = splitmix64(&state);
            cr_assert_eq(sector_hash(&h, x), remainder_of(x, sector_polynomial(bits)));
        }
    }
}

Test(sector_map, plain_hashes_are_remainders_of_any_count)
{
    static const int64_t counts[] = {1, 2, 3, 5, 16, 24, 100, 4096};
    struct sector_hash h;
    for (unsigned i = 0; i < ARRAY_COUNT(counts); i++) {
        sector_hash_init(&h, SECTOR_HASH_PLAIN, counts[i]);
        for (uint64_t x = 0; x < 10000; x++)
            cr_assert_eq(sector_hash(&h, x), x % (uint64_t)counts[i]);
    }
}

/* A row of numbers from a multiple of the count on has values of its own, so numbering the lines of
 * a slice by dividing gives each a number of its own. */
Test(sector_map, numbers_in_a_row_permute_the_values)
{
    static const int64_t counts[] = {1, 2, 3, 4, 6, 8, 10, 20, 24, 32, 48, 64, 100, 128};
    struct sector_hash h;
    for (int kind = SECTOR_HASH_PLAIN; kind <= SECTOR_HASH_POLYNOMIAL; kind++)
        for (unsigned i = 0; i < ARRAY_COUNT(counts); i++) {
            sector_hash_init(&h, kind, counts[i]);
            for (uint64_t above = 0; above < 500; above++) {
                uint64_t found[2] = {0, 0}, first = above * 0x9e3779b9u * (uint64_t)counts[i];
                for (uint64_t low = 0; low < (uint64_t)counts[i]; low++) {
                    uint32_t v = sector_hash(&h, first + low);
                    cr_assert_lt(v, counts[i]);
                    cr_assert_eq(found[v / 64] >> (v % 64) & 1, 0);
                    found[v / 64] |= (uint64_t)1 << (v % 64);
                }
            }
        }
}

/* Other counts: no stride of the like leaves more than a third of the values out, or puts more than
 * four times the fair share on one. */
Test(sector_map, no_power_of_two_stride_camps_on_other_counts)
{
    static const uint32_t counts[] = {6, 10, 12, 20, 24, 40, 48};
    struct sector_hash h;
    for (unsigned i = 0; i < ARRAY_COUNT(counts); i++) {
        sector_hash_init(&h, SECTOR_HASH_POLYNOMIAL, counts[i]);
        for (unsigned shift = 0; shift < 30; shift++) {
            uint32_t load[64] = {0}, used = 0;
            for (uint64_t n = 0; n < 16 * counts[i]; n++) {
                uint32_t *v = &load[sector_hash(&h, n << shift)];
                used += !*v;
                cr_assert_leq(++*v, 64, "%u values, stride 2^%u", counts[i], shift);
            }
            cr_assert_geq(used * 3, counts[i] * 2, "%u values, stride 2^%u", counts[i], shift);
        }
    }
}

/* A walk over as many numbers as there are values, with any power-of-two stride, visits each value
 * once: nothing camps. */
Test(sector_map, no_power_of_two_stride_camps_on_a_polynomial)
{
    struct sector_hash h;
    for (unsigned bits = 4; bits <= 6; bits++) {
        sector_hash_init(&h, SECTOR_HASH_POLYNOMIAL, 1 << bits);
        for (unsigned shift = 0; shift < 40; shift++) {
            uint64_t found = 0;
            for (uint64_t i = 0; i < (uint64_t)1 << bits; i++)
                found |= (uint64_t)1 << sector_hash(&h, i << shift);
            cr_assert_eq(found, bits == 6 ? UINT64_MAX : ((uint64_t)1 << (1 << bits)) - 1,
                         "%u bits, stride 2^%u", bits, shift);
        }
    }
}

Test(sector_map, slices_number_their_lines_without_gaps)
{
    cr_expect_eq(sector_local(0, 256, 4), 0);
    cr_expect_eq(sector_local(255, 256, 4), 255);
    cr_expect_eq(sector_local(256, 256, 4), 0); /* another slice's */
    cr_expect_eq(sector_local(1024, 256, 4), 256);
    cr_expect_eq(sector_local(1024 + 640, 256, 4), 256 + 128);
    cr_expect_eq(sector_local(77777, 128, 1), 77777);
}

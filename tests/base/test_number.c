/* Numbers of each type keep it, and are rounded as the operators would. */
#include <criterion/criterion.h>
#include <stdint.h>

#include "base/number.h"

Test(number, operands_convert_as_those_of_operators)
{
    uint16_t narrow = 3;
    uint32_t word = 2;
    uint64_t wide = UINT64_MAX;
    cr_expect_eq(min(narrow, word), 2);
    cr_expect_eq(max(word, wide), UINT64_MAX);
    cr_expect_eq(min(-1, (int64_t)word), -1);
    cr_expect_eq(max(-1, word), UINT32_MAX);
    cr_expect_eq(sizeof min(narrow, word), 4);
    cr_expect_eq(sizeof max(word, wide), 8);
    cr_expect_eq(min(0.5, narrow), 0.5);
}

Test(number, operand_is_evaluated_once)
{
    int i = 0;
    cr_expect_eq(min(++i, 9), 1);
    cr_expect_eq(i, 1);
}

Test(number, nan_gives_the_second)
{
    cr_expect_eq(min(__builtin_nan(""), 2.0), 2.0);
    cr_expect_eq(max(__builtin_nan(""), 2.0), 2.0);
}

Test(number, is_rounded_to_multiples)
{
    static const struct {
        uint64_t number, by, quotient, up, down;
    } rows[] = {{0, 64, 0, 0, 0}, {1, 64, 1, 64, 0}, {64, 64, 1, 64, 64}, {7, 3, 3, 9, 6}};
    for (unsigned i = 0; i < ARRAY_COUNT(rows); i++) {
        cr_expect_eq(divide_up(rows[i].number, rows[i].by), rows[i].quotient, "row %u", i);
        cr_expect_eq(round_up(rows[i].number, rows[i].by), rows[i].up, "row %u", i);
        cr_expect_eq(round_down(rows[i].number, rows[i].by), rows[i].down, "row %u", i);
    }
    cr_expect_eq(round_up(UINT32_MAX, 2u), 0, "32 bits wrap as the sum does");
}

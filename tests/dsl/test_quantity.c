/* quantity.c: reading, writing and the algebra of dimensions; suggest.c. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/number.h"
#include "dsl/compile.h"
#include "dsl/quantity.h"

struct reading {
    const char *text;
    enum quantity_problem problem;
    int64_t value;
    enum model_dimension dimension;
};

static const struct reading readings[] = {
    {"0", QUANTITY_FINE, 0, MODEL_DIM_NONE},
    {"9223372036854775807", QUANTITY_FINE, INT64_MAX, MODEL_DIM_NONE},
    {"9223372036854775808", QUANTITY_TOO_LARGE, 0, MODEL_DIM_NONE},
    {"0x7fff_ffff_ffff_ffff", QUANTITY_FINE, INT64_MAX, MODEL_DIM_NONE},
    {"0x8000000000000000", QUANTITY_TOO_LARGE, 0, MODEL_DIM_NONE},
    {"0x", QUANTITY_MALFORMED, 0, MODEL_DIM_NONE},
    {"1TiB", QUANTITY_FINE, INT64_C(1) << 40, MODEL_DIM_BYTES},
    {"9000000TiB", QUANTITY_TOO_LARGE, 0, MODEL_DIM_BYTES},
    {"1.132GHz", QUANTITY_FINE, 1132000000, MODEL_DIM_HZ},
    {"2.5ns", QUANTITY_FINE, 2500, MODEL_DIM_SECONDS},
    {"0.5ps", QUANTITY_NOT_WHOLE, 0, MODEL_DIM_SECONDS},
    {"1.5", QUANTITY_NOT_WHOLE, 0, MODEL_DIM_NONE},
    {"4cy", QUANTITY_FINE, 4, MODEL_DIM_CYCLES},
    {"4cycles", QUANTITY_UNKNOWN_UNIT, 0, MODEL_DIM_NONE},
    {"1GiB/s", QUANTITY_FINE, INT64_C(1) << 30, MODEL_DIM_BYTES_PER_S},
    {"2KiB/cy", QUANTITY_FINE, 2048, MODEL_DIM_BYTES_PER_CY},
    {"3gb", QUANTITY_UNKNOWN_UNIT, 0, MODEL_DIM_NONE},
    {"1_000.5us", QUANTITY_FINE, 1000500000, MODEL_DIM_SECONDS},
    {"", QUANTITY_MALFORMED, 0, MODEL_DIM_NONE},
    {"us", QUANTITY_MALFORMED, 0, MODEL_DIM_NONE},
    {".5us", QUANTITY_MALFORMED, 0, MODEL_DIM_NONE},
    {"_1us", QUANTITY_MALFORMED, 0, MODEL_DIM_NONE},
    {"1.us", QUANTITY_UNKNOWN_UNIT, 0, MODEL_DIM_NONE},
    {"1.0.0us", QUANTITY_UNKNOWN_UNIT, 0, MODEL_DIM_NONE},
    {"1._5us", QUANTITY_UNKNOWN_UNIT, 0, MODEL_DIM_NONE},
};

Test(units, numbers_are_exact_or_refused)
{
    for (size_t i = 0; i < ARRAY_COUNT(readings); i++) {
        int64_t value;
        enum model_dimension dimension;
        enum quantity_problem problem =
            quantity_parse(readings[i].text, strlen(readings[i].text), &value, &dimension);
        cr_expect_eq(problem, readings[i].problem, "%s", readings[i].text);
        if (problem != QUANTITY_FINE)
            continue;
        cr_expect_eq(value, readings[i].value, "%s", readings[i].text);
        cr_expect_eq(dimension, readings[i].dimension, "%s", readings[i].text);
    }
}

Test(units, every_unit_of_the_list_reads_and_writes)
{
    struct region region;
    region_init(&region, "a test");
    for (size_t i = 0; quantity_unit_name(i); i++) {
        const char *text = region_printf(&region, "3%s", quantity_unit_name(i));
        int64_t value, again;
        enum model_dimension dimension, dimension_again;
        cr_assert_eq(quantity_parse(text, strlen(text), &value, &dimension), QUANTITY_FINE, "%s",
                     text);
        const char *written = quantity_format(&region, value, dimension);
        cr_expect_eq(quantity_parse(written, strlen(written), &again, &dimension_again),
                     QUANTITY_FINE, "%s", written);
        cr_expect(again == value && dimension_again == dimension, "%s became %s", text, written);
    }
    cr_expect_str_eq(quantity_format(&region, 65536, MODEL_DIM_BYTES), "64KiB");
    cr_expect_str_eq(quantity_format(&region, 140000, MODEL_DIM_SECONDS), "140ns");
    region_release(&region);
}

struct pair {
    enum model_dimension a, b, result;
    bool exists;
};

static const struct pair products[] = {
    {MODEL_DIM_SECONDS, MODEL_DIM_HZ, MODEL_DIM_CYCLES, true},
    {MODEL_DIM_BYTES_PER_CY, MODEL_DIM_HZ, MODEL_DIM_BYTES_PER_S, true},
    {MODEL_DIM_BYTES_PER_S, MODEL_DIM_SECONDS, MODEL_DIM_BYTES, true},
    {MODEL_DIM_NONE, MODEL_DIM_CYCLES, MODEL_DIM_CYCLES, true},
    {MODEL_DIM_BYTES, MODEL_DIM_BYTES, MODEL_DIM_NONE, false},
    {MODEL_DIM_BOOL, MODEL_DIM_NONE, MODEL_DIM_NONE, false},
};

static const struct pair quotients[] = {
    {MODEL_DIM_BYTES, MODEL_DIM_BYTES, MODEL_DIM_NONE, true},
    {MODEL_DIM_BYTES, MODEL_DIM_CYCLES, MODEL_DIM_BYTES_PER_CY, true},
    {MODEL_DIM_CYCLES, MODEL_DIM_HZ, MODEL_DIM_SECONDS, true},
    {MODEL_DIM_BYTES_PER_S, MODEL_DIM_HZ, MODEL_DIM_BYTES_PER_CY, true},
    {MODEL_DIM_NONE, MODEL_DIM_BYTES, MODEL_DIM_NONE, false},
};

Test(units, dimensions_multiply_and_divide)
{
    enum model_dimension result;
    for (size_t i = 0; i < ARRAY_COUNT(products); i++) {
        cr_expect_eq(quantity_multiply(products[i].a, products[i].b, &result), products[i].exists,
                     "product %zu", i);
        if (products[i].exists)
            cr_expect_eq(result, products[i].result, "product %zu", i);
    }
    for (size_t i = 0; i < ARRAY_COUNT(quotients); i++) {
        cr_expect_eq(quantity_divide(quotients[i].a, quotients[i].b, &result), quotients[i].exists,
                     "quotient %zu", i);
        if (quotients[i].exists)
            cr_expect_eq(result, quotients[i].result, "quotient %zu", i);
    }
}

Test(suggest, near_words_are_offered_and_far_ones_are_not)
{
    static const char *const words[] = {"size", "ways", "latency", "replacement", "GiB"};
    cr_expect_str_eq(compile_suggest("sise", words, 5), "size");
    cr_expect_str_eq(compile_suggest("latecny", words, 5), "latency");
    cr_expect_str_eq(compile_suggest("replacment", words, 5), "replacement");
    cr_expect_str_eq(compile_suggest("gib", words, 5), "GiB");
    cr_expect_null(compile_suggest("bandwidth", words, 5));
    cr_expect_null(compile_suggest("x", words, 5));
}

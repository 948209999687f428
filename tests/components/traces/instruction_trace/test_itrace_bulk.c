/* Bulk copies: transfers in a line become runs of rows. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "components/traces/instruction_trace/reader/itrace_bulk.h"

static const struct {
    const char *text;
    uint32_t width, runs;
    struct itrace_bulk_run first, last;
} cases[] = {
    /* neighbours become one row, rows at equal distances one run */
    {"0x400 0 0 0 3 1 0x1000", 64, 1, {0x1000, 0, 1, 64}, {0x1000, 0, 1, 64}},
    {"400 0 128 0 3 4 0x1000 0x1020 0x1040 0x1060",
     32,
     1,
     {0x1000, 0, 1, 128},
     {0x1000, 0, 1, 128}},
    {"0x400 0 0 0 4 0x1000 4 32 4064 32", 32, 1, {0x1000, 4096, 2, 64}, {0x1000, 4096, 2, 64}},
    {"0x400 1 0x3 0 0 4 0x9000 3 -4096 -4096",
     16,
     1,
     {0x9000, -4096, 3, 16},
     {0x9000, -4096, 3, 16}},
    {"0x400 0 0 0 3 5 0x1000 0x2000 0x3000 0x9000 0x9100",
     32,
     2,
     {0x1000, 4096, 3, 32},
     {0x9000, 256, 2, 32}},
    {"0x400 0 0 0 4 0x1000 0", 32, 0, {0}, {0}},
};

static bool same(const struct itrace_bulk_run *a, const struct itrace_bulk_run *b)
{
    return a->base == b->base && a->stride == b->stride && a->rows == b->rows
           && a->bytes == b->bytes;
}

Test(itrace_bulk, transfers_become_runs)
{
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct itrace_bulk copy;
        const char *at = cases[i].text;
        cr_assert(itrace_bulk_follows(at), "%s", at);
        cr_assert_null(itrace_bulk_take(&at, cases[i].width, &copy), "%s", cases[i].text);
        cr_expect_eq(*at, '\0');
        cr_expect_eq(copy.barrier, 0x400);
        cr_expect_eq(copy.multicast, strstr(cases[i].text, " 1 0x3 ") != NULL);
        cr_assert_eq(copy.runs, cases[i].runs, "%s: %u", cases[i].text, copy.runs);
        cr_expect_not(copy.is_short);
        if (!copy.runs)
            continue;
        cr_expect(same(&copy.run[0], &cases[i].first), "%s", cases[i].text);
        cr_expect(same(&copy.run[copy.runs - 1], &cases[i].last), "%s", cases[i].text);
    }
}

/* More runs than there is room for: no byte is lost, and the copy says so. */
Test(itrace_bulk, bytes_of_many_runs_are_all_there)
{
    char text[2000];
    struct itrace_bulk copy;
    const char *at = text;
    uint64_t bytes = 0;
    int size = snprintf(text, sizeof text, "0x400 0 0 0 3 40");
    for (unsigned i = 0; i < 40; i++)
        size += snprintf(text + size, sizeof text - (size_t)size, " 0x%x", 4096 * i * i);
    cr_assert_null(itrace_bulk_take(&at, 32, &copy));
    cr_expect(copy.is_short);
    cr_assert_eq(copy.runs, ITRACE_BULK_RUNS);
    for (unsigned i = 0; i < copy.runs; i++)
        bytes += (uint64_t)copy.run[i].rows * copy.run[i].bytes;
    cr_expect_eq(bytes, 40 * 32);
}

Test(itrace_bulk, what_is_missing_is_named)
{
    static const struct {
        const char *text, *says;
    } bad[] = {{"zz", "barrier"},
               {"0x400 2", "several blocks"},
               {"0x400 1 zz", "blocks of the cluster"},
               {"0x400 0 10", "bytes of the copy"},
               {"0x400 0 10 0 2", "how transfers"},
               {"0x400 0 10 0 3 x", "how many"},
               {"0x400 0 10 0 3 8193", "how many"},
               {"0x400 0 10 0 3 2 0x10", "the address of each"},
               {"0x400 0 10 0 4 0x10 3 1", "the difference"},
               {"0x400 0 10 0 4 zz", "base address"},
               {"0x400 0 10 0 3 1 0xffffffffffffff00", "can lie"}};
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
        struct itrace_bulk copy;
        const char *at = bad[i].text, *what = itrace_bulk_take(&at, 32, &copy);
        cr_assert_not_null(what, "%s", bad[i].text);
        cr_expect_not_null(strstr(what, bad[i].says), "%s: %s", bad[i].text, what);
    }
}

Test(itrace_bulk, common_form_is_told_apart)
{
    cr_expect_not(itrace_bulk_follows("1 0x1000 0"));
    cr_expect_not(itrace_bulk_follows("0 0x1000"));
    cr_expect(itrace_bulk_follows("0x400 0 8192 0 4 0x1000 0"));
    cr_expect(itrace_bulk_names("UTMALDG.2D") && itrace_bulk_names("UBLKCP"));
    cr_expect_not(itrace_bulk_names("UTMACMDFLUSH") || itrace_bulk_names("UTMA"));
    cr_expect(itrace_bulk_names("cp.async.bulk.global.shared::cta.bulk_group"));
    cr_expect_not(itrace_bulk_names("cp.async.bulk.wait_group"));
}

Test(itrace_bulk, barrier_says_what_a_wait_is_for)
{
    struct itrace_bulk copy;
    const char *at = "0x100000000408 12 ";
    cr_assert_null(itrace_bulk_take_barrier(&at, &copy));
    cr_expect(copy.barrier == 0x100000000408 && copy.need == 12 && !copy.runs && !*at);
    cr_expect_not_null(itrace_bulk_take_barrier(&(const char *){"zz"}, &copy));
    cr_expect_not_null(itrace_bulk_take_barrier(&(const char *){"0x400 4294967296"}, &copy));
}

/* What caches and TLBs keep, from a profile to a run by way of a file; and files that are none. */
#include "components/sampling/residency.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char path[] = "/tmp/heddle-test-kept-XXXXXX";

static void make_file(void)
{
    int file = mkstemp(path);
    cr_assert_geq(file, 0);
    close(file);
}

static void remove_file(void)
{
    unlink(path);
}

static void write_text(const char *text)
{
    FILE *out = fopen(path, "w");
    fputs(text, out);
    fclose(out);
}

static void expect_text(const char *want)
{
    char text[4096];
    FILE *in = fopen(path, "r");
    size_t size = fread(text, 1, sizeof text - 1, in);
    text[size] = '\0';
    fclose(in);
    cr_expect_str_eq(text, want);
}

TestSuite(residency, .init = make_file, .fini = remove_file);

Test(residency, runs_of_what_was_found_first_are_written_by_launch_instance_and_address)
{
    cr_assert(residency_open(path, true));
    cr_assert(residency_is_recorded());
    residency_record(7, 0x1080, 64, true);
    residency_record(7, 0x1000, 64, true);
    residency_record(7, 0x1040, 64, true);
    residency_record(7, 0x10c0, 64, false);
    residency_record(7, 0x10c0, 64, true); /* brought by the launch itself */
    residency_record(7, 0x1100, 64, true);
    residency_record(7, 0x1100, 64, false); /* and gone by itself */
    residency_record(3, 0x1140, 64, true);  /* another cache */
    residency_record(3, 0x1180, 128, true); /* with other lines, if that were possible */
    residency_record_launch(4);
    residency_record_launch(5);
    residency_record(7, 0x10c0, 64, true); /* launches do not know of each other */
    residency_record_launch(6);
    expect_text(""); /* nothing by this name until all is there */
    cr_assert(residency_close());
    cr_expect_not(residency_is_recorded());
    expect_text("4 3 64 0x1140 1\n"
                "4 3 128 0x1180 1\n"
                "4 7 64 0x1000 3\n"
                "4 7 64 0x1100 1\n"
                "6 7 64 0x10c0 1\n");
}

Test(residency, a_table_that_grows_forgets_nothing)
{
    enum { UNITS = 30000 };
    cr_assert(residency_open(path, true));
    for (unsigned round = 0; round < 2; round++)
        for (uint64_t i = 0; i < UNITS; i++)
            residency_record(1, (i * 7919 % UNITS) << 6, 64, !round);
    residency_record_launch(1);
    cr_assert(residency_close());
    expect_text("1 1 64 0x0 30000\n");
}

Test(residency, a_unit_is_taken_once_and_only_in_its_launch)
{
    write_text("2 1 64 0x1000 3\n2 9 4096 0x8000 2\n5 1 64 0x1000 1\n");
    cr_assert(residency_open(path, false));
    cr_assert(residency_is_known());
    cr_expect_not(residency_take(1, 0x1000), "no launch has begun");
    residency_begin(2);
    cr_expect(residency_take(1, 0x1040));
    cr_expect_not(residency_take(1, 0x1040), "a miss for the second time is the launch's own");
    cr_expect(residency_take(1, 0x1080));
    cr_expect_not(residency_take(1, 0x10c0));
    cr_expect_not(residency_take(9, 0x1000), "kept by another");
    cr_expect(residency_take(9, 0x9000));
    residency_begin(3);
    cr_expect_not(residency_take(1, 0x1000), "of which nothing is known");
    residency_begin(5);
    cr_expect(residency_take(1, 0x1000));
    cr_expect_not(residency_take(1, 0x1040));
}

Test(residency, without_a_file_every_miss_is_one_of_a_cold_start)
{
    cr_assert(residency_open(NULL, false));
    cr_expect_not(residency_is_known());
    cr_expect(residency_take(1, 0x1000));
    cr_expect(residency_take(1, 0x1000));
    cr_expect(residency_close());
}

Test(residency, what_is_not_such_a_file_is_named_with_its_line)
{
    static const struct {
        const char *text, *line;
    } bad[] = {
        {"2 1 64 0x1000\n", ":1:"},
        {"2 1 64 0x1000 1 1\n", ":1:"},
        {"2 1 64 1000 1\n", ":1:"},
        {"2 1 0 0x1000 1\n", ":1:"},
        {"2 1 64 0x1000 0\n", ":1:"},
        {"0 1 64 0x1000 1", ":1:"},
        {"2 1 64 0xffffffffffffff00 9\n", ":1:"},
        {"2 1 64 0x1000 1\n1 1 64 0x1000 1\n", ":2:"},
        {"2 1 64 0x1000 1\n2 0 64 0x1000 1\n", ":2:"},
        {"2 1 64 0x1000 2\n2 1 64 0x1040 1\n", ":2:"},
        {"2 1 64 0x0 4194305\n", ":1:"},
        {"2 1 64 0x0 4194304\n2 2 64 0x0 1\n", ":2:"},
        {"2 0 1 0x5 5\n2 1 1 0x0 18446744073709551615\n", ":2:"},
        {"{\"kernels\": []}\n", ":1:"},
    };
    cr_redirect_stderr();
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        write_text(bad[i].text);
        cr_expect_not(residency_open(path, false), "%s", bad[i].text);
        cr_expect_not(residency_is_known());
    }
    fflush(stderr);
    char text[8192];
    FILE *said = cr_get_redirected_stderr();
    size_t size = fread(text, 1, sizeof text - 1, said);
    text[size] = '\0';
    char *at = text;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char *end = strchr(at, '\n');
        cr_assert_not_null(end, "no message for '%s'", bad[i].text);
        *end = '\0';
        cr_expect(strstr(at, path) && strstr(at, bad[i].line), "'%s': %s", bad[i].text, at);
        at = end + 1;
    }
}

Test(residency, a_file_that_cannot_be_opened_is_named)
{
    cr_expect_not(residency_open("/nowhere/kept", false));
    cr_expect_not(residency_open("/nowhere/kept", true));
}

/* What caches and TLBs keep, from a profile to a run by way of a file; and files that are none. */
#include "components/sampling/residency.h"
#include "runtime/engine/version.h"

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

static const struct residency_identity own = {.model = "abc", .program = "def"};

/* The lines of a file up to those of its runs. */
#define HEAD  "heddle residency 1 of " HEDDLE_VERSION "\nmodel abc\nprogram def\nunified -\n"
#define FIRST (sizeof HEAD - 1)

static void write_text(const char *head, const char *text)
{
    FILE *out = fopen(path, "w");
    fputs(head, out);
    fputs(text, out);
    fclose(out);
}

static size_t read_text(char *text, size_t size)
{
    FILE *in = fopen(path, "r");
    size_t got = fread(text, 1, size - 1, in);
    text[got] = '\0';
    fclose(in);
    return got;
}

/* Behind the head and before the checksum. */
static void expect_text(const char *want)
{
    char text[4096];
    size_t size = read_text(text, sizeof text);
    if (!size) {
        cr_expect_str_eq(text, want);
        return;
    }
    cr_assert_eq(strncmp(text, HEAD, FIRST), 0, "%s", text);
    char *end = strstr(text, "\nend ");
    cr_assert_not_null(end);
    end[1] = '\0';
    cr_expect_str_eq(text + FIRST, want);
}

TestSuite(residency, .init = make_file, .fini = remove_file);

Test(residency, runs_of_what_was_found_first_are_written_by_launch_instance_and_address)
{
    cr_assert(residency_open(path, true, &own));
    cr_assert(residency_is_recorded());
    residency_turn(4);
    residency_record(7, 0x1080, 64, true);
    residency_record(7, 0x1000, 64, true);
    residency_record(7, 0x1040, 64, true);
    residency_record(7, 0x10c0, 64, false);
    residency_record(7, 0x10c0, 64, true); /* brought by the launch itself */
    residency_record(7, 0x1100, 64, true);
    residency_record(7, 0x1100, 64, false); /* and gone by itself */
    residency_record(3, 0x1140, 64, true);  /* another cache */
    residency_record(3, 0x1180, 128, true); /* with other lines, if that were possible */
    residency_record_launch(4, 0x40);
    residency_turn(5);
    residency_record_launch(5, 0x50);
    residency_turn(6);
    residency_record(7, 0x10c0, 64, true); /* launches do not know of each other */
    residency_record_launch(6, 0x60);
    expect_text(""); /* nothing by this name until all is there */
    cr_assert(residency_close());
    cr_expect_not(residency_is_recorded());
    expect_text("launch 4 0x40\n"
                "4 3 64 0x1140 1\n"
                "4 3 128 0x1180 1\n"
                "4 7 64 0x1000 3\n"
                "4 7 64 0x1100 1\n"
                "launch 5 0x50\n"
                "launch 6 0x60\n"
                "6 7 64 0x10c0 1\n");
}

Test(residency, launches_that_take_turns_have_units_of_their_own)
{
    cr_assert(residency_open(path, true, &own));
    for (uint64_t i = 0; i < 3000; i++) {
        residency_turn(1 + i % 3);
        residency_record(1, i << 6, 64, true);
        residency_record(2, 0x40, 64, i % 3 == 1); /* by each of them */
    }
    residency_record_launch(2, 0x20);
    residency_turn(1);
    residency_record(3, 0, 64, true);
    residency_record_launch(1, 0x10);
    residency_record_launch(3, 0x30);
    cr_assert(residency_close());
    cr_assert(residency_open(path, false, &own), "in the order of their ends");
    static const uint64_t shapes[] = {0, 0x10, 0x20, 0x30};
    for (uint64_t launch = 1; launch <= 3; launch++) {
        cr_assert_null(residency_begin(launch, shapes[launch]));
        for (uint64_t i = 0; i < 3000; i++)
            cr_assert_eq(residency_take(1, i << 6), 1 + i % 3 == launch);
        cr_expect_eq(residency_take(2, 0x40), launch == 2);
        cr_expect_eq(residency_take(3, 0), launch == 1);
    }
}

Test(residency, a_table_that_grows_forgets_nothing)
{
    enum { UNITS = 30000 };
    cr_assert(residency_open(path, true, &own));
    residency_turn(1);
    for (unsigned round = 0; round < 2; round++)
        for (uint64_t i = 0; i < UNITS; i++)
            residency_record(1, (i * 7919 % UNITS) << 6, 64, !round);
    residency_record_launch(1, 0x10);
    cr_assert(residency_close());
    expect_text("launch 1 0x10\n1 1 64 0x0 30000\n");
}

Test(residency, a_unit_is_taken_once_and_only_in_its_launch)
{
    cr_assert(residency_open(path, true, &own));
    residency_turn(2);
    for (uint64_t i = 0; i < 3; i++)
        residency_record(1, 0x1000 + i * 64, 64, true);
    residency_record(9, 0x8000, 4096, true);
    residency_record(9, 0x9000, 4096, true);
    residency_record_launch(2, 0x20);
    residency_record_launch(3, 0x30);
    residency_turn(5);
    residency_record(1, 0x1000, 64, true);
    residency_record_launch(5, 0x50);
    cr_assert(residency_close());
    cr_assert(residency_open(path, false, &own));
    cr_assert(residency_is_known());
    cr_expect_not(residency_take(1, 0x1000), "no launch has begun");
    cr_assert_null(residency_begin(2, 0x20));
    cr_expect(residency_take(1, 0x1040));
    cr_expect_not(residency_take(1, 0x1040), "a miss for the second time is the launch's own");
    cr_expect(residency_take(1, 0x1080));
    cr_expect_not(residency_take(1, 0x10c0));
    cr_expect_not(residency_take(9, 0x1000), "kept by another");
    cr_expect(residency_take(9, 0x9000));
    cr_assert_null(residency_begin(3, 0x30));
    cr_expect_not(residency_take(1, 0x1000), "of which nothing was kept");
    cr_assert_null(residency_begin(5, 0x50));
    cr_expect(residency_take(1, 0x1000));
    cr_expect_not(residency_take(1, 0x1040));
}

Test(residency, what_the_file_does_not_fit_is_named)
{
    static const struct {
        struct residency_identity of;
        const char *says;
    } others[] = {{{.model = "abd", .program = "def"}, "another platform"},
                  {{.model = "abc", .program = "de"}, "another program"},
                  {{.model = "abc", .program = "def", .unified = "0,1"}, "another --unified"}};
    char text[4096];
    cr_redirect_stderr();
    cr_assert(residency_open(path, true, &own));
    residency_turn(2);
    residency_record(1, 0x1000, 64, true);
    residency_record_launch(2, 0x20);
    cr_assert(residency_close());
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        cr_expect_not(residency_open(path, false, &others[i].of), "%s", others[i].says);
    cr_assert(residency_open(path, false, &own));
    cr_expect_null(residency_begin(2, 0x20));
    cr_expect_not_null(residency_begin(1, 0x20), "a launch of which it says nothing");
    cr_expect_not_null(residency_begin(2, 0x21), "another grid");
    fflush(stderr);
    FILE *said = cr_get_redirected_stderr();
    text[fread(text, 1, sizeof text - 1, said)] = '\0';
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        cr_expect_not_null(strstr(text, others[i].says));
}

Test(residency, every_cut_and_every_changed_byte_is_found)
{
    char text[4096];
    cr_redirect_stderr();
    cr_assert(residency_open(path, true, &own));
    residency_turn(2);
    residency_record(1, 0x1000, 64, true);
    residency_record_launch(2, 0x20);
    cr_assert(residency_close());
    size_t size = read_text(text, sizeof text);
    for (size_t i = 0; i < 2 * size; i++) {
        FILE *out = fopen(path, "w");
        bool cut = i >= size;
        text[i % size] ^= (char)!cut;
        fwrite(text, 1, cut ? i - size : size, out);
        text[i % size] ^= (char)!cut;
        fclose(out);
        cr_expect_not(residency_open(path, false, &own), "byte %zu, %s", i % size,
                      cut ? "cut" : "changed");
        cr_expect_not(residency_is_known());
    }
}

Test(residency, without_a_file_every_miss_is_one_of_a_cold_start)
{
    cr_assert(residency_open(NULL, false, &own));
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
        {"2 1 64 0x1000\n", ":6:"},
        {"2 1 64 0x1000 1 1\n", ":6:"},
        {"2 1 64 1000 1\n", ":6:"},
        {"2 1 0 0x1000 1\n", ":6:"},
        {"2 1 64 0x1000 0\n", ":6:"},
        {"0 1 64 0x1000 1", ":6:"},
        {"2 1 64 0xffffffffffffff00 9\n", ":6:"},
        {"2 1 64 0x1000 1\n1 1 64 0x1000 1\n", ":7:"},
        {"2 1 64 0x1000 1\n2 0 64 0x1000 1\n", ":7:"},
        {"2 1 64 0x1000 2\n2 1 64 0x1040 1\n", ":7:"},
        {"2 1 64 0x0 4194305\n", ":6:"},
        {"2 1 64 0x0 4194304\n2 2 64 0x0 1\n", ":7:"},
        {"2 0 1 0x5 5\n2 1 1 0x0 18446744073709551615\n", ":7:"},
        {"{\"kernels\": []}\n", ":6:"},
    };
    cr_redirect_stderr();
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        write_text(HEAD "launch 2 0x20\n", bad[i].text);
        cr_expect_not(residency_open(path, false, &own), "%s", bad[i].text);
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
    cr_expect_not(residency_open("/nowhere/kept", false, &own));
    cr_expect_not(residency_open("/nowhere/kept", true, &own));
}

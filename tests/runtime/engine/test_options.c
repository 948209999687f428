/* runtime/engine/options.c: options as text, and what asks for them. */
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "runtime/engine/options.h"

Test(options, what_is_put_is_read_again)
{
    char text[256] = "", line[32];
    size_t length = options_put(text, sizeof text, 0, "stats", '>', "/a;b/%41\nc.json");
    length = options_put(text, sizeof text, length, "tables", '=', "");
    length = options_put(text, sizeof text, length, "max-cycles", '=', "18446744073709551615");
    length = options_put(text, sizeof text, length, "play sass", '=', "x=y:z>w");
    length = options_put(text, sizeof text, length, "tick-all", '=', "1");
    cr_assert_eq(length, strlen(text));
    cr_assert(options_open(text));
    cr_expect_str_eq(option_text("stats"), "/a;b/%41\nc.json");
    cr_expect_str_eq(option_text("tables"), "");
    cr_expect_str_eq(option_text("play sass"), "x=y:z>w");
    cr_expect_null(option_text("series"));
    cr_expect_eq(option_number("max-cycles"), UINT64_MAX);
    cr_expect_eq(option_number("stall-limit"), 0);
    cr_expect(option_flag("tick-all"));
    cr_expect(option_line("stats", 1, line, sizeof line));
    cr_expect_str_eq(line, "c.json");
    cr_expect_not(option_line("stats", 2, line, sizeof line));
    cr_expect(options_end());
}

Test(options, the_length_is_known_before_there_is_room)
{
    char small[4] = "", text[64] = "";
    size_t length = options_put(NULL, 0, 0, "stats", '>', "a;b");
    cr_expect_eq(options_put(small, sizeof small, 0, "stats", '>', "a;b"), length);
    cr_expect_str_eq(small, "sta");
    cr_expect_eq(options_put(text, sizeof text, 0, "stats", '>', "a;b"), length);
    cr_expect_str_eq(text, "stats>a%3bb");
}

Test(options, malformed_text_is_refused, .init = cr_redirect_stderr)
{
    static const char *const mistakes[] = {"stats", "=1", "trace=%4", "trace=%zz", "a=1;;b=2"};
    for (size_t i = 0; i < ARRAY_COUNT(mistakes); i++)
        cr_expect_not(options_open(mistakes[i]), "%s", mistakes[i]);
    cr_expect(options_open(NULL));
    cr_expect(options_open(""));
    cr_expect_null(option_text("stats"));
}

Test(options, a_number_is_a_number, .init = cr_redirect_stderr)
{
    static const char *const mistakes[] = {"seed=", "seed=-1", "seed=1x",
                                           "seed=99999999999999999999"};
    for (size_t i = 0; i < ARRAY_COUNT(mistakes); i++) {
        cr_assert(options_open(mistakes[i]));
        cr_expect_eq(option_number("seed"), 0);
        cr_expect_not(options_end(), "%s", mistakes[i]);
    }
}

Test(options, a_word_is_one_of_those_that_are_known, .init = cr_redirect_stderr)
{
    static const char *const words[] = {"sum", "all", "none"};
    cr_assert(options_open("which=none"));
    cr_expect_eq(option_word("which", words, 3), 2);
    cr_expect_eq(option_word("other", words, 3), 0);
    cr_expect(options_end());
    cr_assert(options_open("which=some"));
    cr_expect_eq(option_word("which", words, 3), 0);
    cr_expect_not(options_end());
}

Test(options, a_key_that_nothing_asks_for_is_a_mistake, .init = cr_redirect_stderr)
{
    cr_assert(options_open("record instructions>/r;process:2"));
    cr_expect_not(options_end());
    fflush(stderr);
    cr_assert_stderr_eq_str("heddle: '--record instructions': this platform has nothing that acts "
                            "on it; leave it out\n");
}

/* Ranks differ in what they write, and in what concerns one process. */
Test(options, ranks_share_what_decides)
{
    cr_assert(options_open("stats>/a;seed=1;process:2"));
    cr_expect_str_eq(options_shared(), "stats>;seed=1");
    cr_expect(options_have_output());
    cr_assert(options_open("seed=1"));
    cr_expect_not(options_have_output());
}

Test(options, what_ranks_differ_in_is_said_as_it_is_typed)
{
    static const struct {
        const char *one, *other, *want;
    } cases[] = {
        {"seed=1;set=a=1%0ab=2;stats>", "seed=1;stats>", "--set a=1 b=2"},
        {"seed=1;stats>", "seed=1;set=a=1", "--stats"},
        {"stats>;seed=1", "seed=11", "--stats --seed 1"},
        {"seed=1", "seed=1", ""},
        {"", "seed=1", ""},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        char *text = options_difference(cases[i].one, cases[i].other);
        cr_expect_str_eq(text, cases[i].want);
        free(text);
    }
}

Test(options, a_further_process_writes_files_of_its_own)
{
    cr_assert(options_open("stats>/a.b/s.json;record instructions>/rec.d;process:3"));
    cr_expect_str_eq(option_file("stats"), "/a.b/s.process3.json");
    cr_expect_str_eq(option_folder("record instructions"), "/rec.d.process3");
    cr_expect_null(option_file("series"));
    cr_assert(options_open("stats>s.json;process:1"));
    cr_expect_str_eq(option_file("stats"), "s.json");
}

Test(options, paths_of_further_processes_have_their_number)
{
    static const struct {
        const char *path;
        unsigned number;
        bool folder;
        const char *want;
    } cases[] = {{"stats.json", 1, false, "stats.json"},
                 {"/a.b/stats.json", 2, false, "/a.b/stats.process2.json"},
                 {"/a.b/stats", 12, false, "/a.b/stats.process12"},
                 {".hidden", 2, false, ".hidden.process2"},
                 {"rec.d", 3, true, "rec.d.process3"}};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        char text[64];
        size_t size =
            options_number_path(cases[i].path, cases[i].number, cases[i].folder, text, sizeof text);
        cr_expect_str_eq(text, cases[i].want);
        cr_expect_eq(size, strlen(text));
    }
}

Test(options, a_constructor_sees_whole_pairs_only)
{
    static const struct {
        const char *text;
        bool found;
    } cases[] = {{"host-clock:simulated", true},
                 {"a=1;host-clock:simulated;b=2", true},
                 {"host-clock:simulated2", false},
                 {"old host-clock:simulated", false},
                 {"host-clock:host", false},
                 {"a=host-clock:simulated", false},
                 {"host-clock", false},
                 {"", false}};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        setenv(OPTIONS_ENV_OPTIONS, cases[i].text, 1);
        cr_expect_eq(option_is_set_early("host-clock", "simulated"), cases[i].found, "%s",
                     cases[i].text);
    }
    unsetenv(OPTIONS_ENV_OPTIONS);
    cr_expect_not(option_is_set_early("host-clock", "simulated"));
}

/* runtime/session/options_env.c: options through the environment and back. */
#include "runtime/session/options_env.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Test(options_env, what_is_encoded_is_decoded_again)
{
    struct heddle_options in = {.abi = PLATFORM_ABI,
                                .stats_path = "/a;b/%41\nc.json",
                                .stats_no_host = true,
                                .tables_path = "",
                                .max_cycles = UINT64_MAX,
                                .stall_limit = 5,
                                .tick_order = ENGINE_RANDOM,
                                .seed = 77,
                                .threads = 1};
    struct heddle_options out;
    char text[512], storage[512];
    const char *mistake = NULL;
    cr_assert_lt(options_env_encode(&in, text, sizeof text), sizeof text);
    cr_assert(options_env_decode(text, &out, storage, &mistake), "%s", mistake);
    cr_expect_str_eq(out.stats_path, in.stats_path);
    cr_expect_str_eq(out.tables_path, "");
    cr_expect_null(out.trace_path);
    cr_expect(out.stats_no_host);
    cr_expect_not(out.tick_all);
    cr_expect_eq(out.max_cycles, UINT64_MAX);
    cr_expect_eq(out.stall_limit, 5);
    cr_expect_eq(out.tick_order, ENGINE_RANDOM);
    cr_expect_eq(out.seed, 77);
    cr_expect_eq(out.abi, PLATFORM_ABI);
}

Test(options_env, the_length_is_known_before_there_is_room)
{
    struct heddle_options in = {.trace_path = "trace.json", .threads = 1};
    char small[4], text[128];
    size_t length = options_env_encode(&in, NULL, 0);
    cr_expect_eq(options_env_encode(&in, small, sizeof small), length);
    cr_expect_eq(strlen(small), 3);
    cr_expect_eq(options_env_encode(&in, text, sizeof text), length);
    cr_expect_eq(strlen(text), length);
}

static const char *const mistakes[] = {"nonsense=1",
                                       "stats",
                                       "max_cycles=-1",
                                       "max_cycles=1x",
                                       "tick_all=2",
                                       "seed=",
                                       "trace=%4",
                                       "trace=%zz",
                                       "threads=99999999999",
                                       "max_cycles=99999999999999999999"};

Test(options_env, mistakes_are_named)
{
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        struct heddle_options out;
        char storage[128];
        const char *mistake = NULL;
        cr_expect_not(options_env_decode(mistakes[i], &out, storage, &mistake), "%s", mistakes[i]);
        cr_expect(mistake && strncmp(mistake, mistakes[i], strlen(mistake)) == 0, "%s",
                  mistakes[i]);
    }
}

Test(options_env, nothing_means_defaults)
{
    struct heddle_options out;
    const char *mistake;
    cr_expect(options_env_decode(NULL, &out, NULL, &mistake));
    cr_expect_eq(out.threads, 1);
    cr_expect(options_env_decode("", &out, NULL, &mistake));
    cr_expect_eq(out.abi, PLATFORM_ABI);
}

Test(options_env, paths_of_further_processes_have_their_number)
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
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[64];
        size_t size = options_env_number_path(cases[i].path, cases[i].number, cases[i].folder, text,
                                              sizeof text);
        cr_expect_str_eq(text, cases[i].want);
        cr_expect_eq(size, strlen(text));
    }
}

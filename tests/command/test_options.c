/* command/options/options.c: the command line. */
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <string.h>

#include "base/number.h"
#include "command/options/options.h"
#include "dsl/compile.h"

static int parse(struct options *options, const char *const *words)
{
    static char storage[32][64];
    static char *argv[33];
    int argc = 0;
    for (; words[argc]; argc++) {
        strcpy(storage[argc], words[argc]);
        argv[argc] = storage[argc];
    }
    argv[argc] = NULL;
    return options_parse(options, argc, argv);
}

#define PARSE(options, ...) parse((options), (const char *const[]){"heddle", __VA_ARGS__, NULL})

Test(options, options_may_stand_anywhere_and_be_joined_to_their_values)
{
    struct options o;
    cr_assert_eq(PARSE(&o, "run", "--set", "a=1", "file", "--set=b=2", "-Ihere", "-I", "there",
                       "--max-cycles=12", "--", "prog", "--set", "x"),
                 -1);
    cr_expect_eq(o.command, COMMAND_RUN);
    cr_expect_eq(o.arguments.count, 1);
    cr_expect_str_eq(o.arguments.items[0], "file");
    cr_expect_eq(o.set.count, 2);
    cr_expect_str_eq(o.set.items[1], "b=2");
    cr_expect_eq(o.include.count, 2);
    cr_expect_str_eq(o.include.items[0], "here");
    cr_expect_eq(o.max_cycles, 12);
    cr_assert_not_null(o.program);
    cr_expect_str_eq(o.program[1], "--set");
    cr_expect_null(o.program[3]);
    options_release(&o);
}

Test(options, a_trace_of_api_calls_is_run_with_its_modules)
{
    struct options o;
    cr_assert_eq(PARSE(&o, "run", "file", "--play", "api=dir", "--module=a", "--module", "b"), -1);
    cr_expect_str_eq(o.play_api, "dir");
    cr_expect_eq(o.module.count, 2);
    cr_expect_str_eq(o.module.items[1], "b");
    options_release(&o);
}

Test(options, a_dash_alone_is_an_argument)
{
    struct options o;
    cr_assert_eq(PARSE(&o, "disasm", "--mcpu", "gfx803", "-"), -1);
    cr_expect_str_eq(o.arguments.items[0], "-");
    options_release(&o);
}

Test(options, mistakes_are_wrong_usage, .init = cr_redirect_stderr)
{
    struct options o;
    cr_expect_eq(PARSE(&o, "chekc", "f"), EXIT_USAGE);
    cr_expect_eq(PARSE(&o, "check"), EXIT_USAGE);
    cr_expect_eq(PARSE(&o, "dot", "a", "b"), EXIT_USAGE);
    cr_expect_eq(PARSE(&o, "check", "f", "--sett", "a=1"), EXIT_USAGE);
    cr_expect_eq(PARSE(&o, "check", "f", "--record", "perfetto=t"), EXIT_USAGE);
    cr_expect_eq(PARSE(&o, "check", "f", "--set"), EXIT_USAGE);
    cr_expect_eq(PARSE(&o, "check", "f", "--json=yes"), EXIT_USAGE);
    cr_expect_eq(PARSE(&o, "run", "f", "--threads", "none"), EXIT_USAGE);
    cr_expect_eq(PARSE(&o, "run", "f", "--max-cycles", "0"), EXIT_USAGE);
    cr_expect_eq(PARSE(&o, "check", "f", "--", "g"), EXIT_USAGE);
}

Test(options, a_misspelt_command_gets_a_suggestion, .init = cr_redirect_stderr)
{
    struct options o;
    cr_expect_eq(PARSE(&o, "biuld", "f"), EXIT_USAGE);
    fflush(stderr);
    cr_assert_stderr_eq_str("heddle: unknown command 'biuld'\nhelp: did you mean 'build'?\n"
                            "help: `heddle help` lists what there is\n");
}

Test(options, help_is_clean_and_goes_to_standard_output, .init = cr_redirect_stdout)
{
    struct options o;
    cr_expect_eq(PARSE(&o, "--help"), EXIT_CLEAN);
    cr_expect_eq(PARSE(&o, "run", "--help"), EXIT_CLEAN);
}

/* KIND=PATH: a kind has a field of its own, belongs to its commands, and is given once. */
Test(options, named_kinds)
{
    struct options o;
    cr_assert_eq(
        PARSE(&o, "run", "f", "--record", "api=a", "--record=instructions=b=c", "--play", "sass=d"),
        -1);
    cr_expect_str_eq(o.record_api, "a");
    cr_expect_str_eq(o.record_instructions, "b=c");
    cr_expect_str_eq(o.play_sass, "d");
    cr_expect_eq(o.record_perfetto, NULL);
    options_release(&o);
    static const char *const wrong[][2] = {
        {"--record", "api"},  {"--record", "api="}, {"--record", "sass=x"},
        {"--record", "ap=x"}, {"--play", "=x"},     {"--play", "perfetto=x"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(wrong); i++) {
        cr_expect_eq(PARSE(&o, "run", "f", wrong[i][0], wrong[i][1]), EXIT_USAGE, "%s %s",
                     wrong[i][0], wrong[i][1]);
        options_release(&o);
    }
    cr_expect_eq(PARSE(&o, "run", "f", "--play", "api=a", "--play", "api=b"), EXIT_USAGE);
    options_release(&o);
    cr_expect_eq(PARSE(&o, "experiment", "f", "--play", "sass=a"), -1);
    options_release(&o);
    cr_expect_eq(PARSE(&o, "experiment", "f", "--play", "api=a"), EXIT_USAGE);
    options_release(&o);
}

/* --kernels and --warmup as text: which launches are simulated how. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/number.h"
#include "components/sampling/sampling_options.h"

struct text_case {
    const char *kernels, *warmup;
    const char *mistake; /* a word of the message; NULL: none */
};

Test(sampling_options, lists_and_warmups_are_understood_or_named)
{
    static const struct text_case cases[] = {{"1", "none", NULL},
                                             {"3,7-9,20-", "memory:10", NULL},
                                             {"scale", "functional", NULL},
                                             {"scale,3", "full-memory", NULL},
                                             {NULL, NULL, NULL},
                                             {"0", NULL, "'0'"},
                                             {"2-1", NULL, "'2-1'"},
                                             {"4294967296", NULL, "'4294967296'"},
                                             {"1-2-3", NULL, "'1-2-3'"},
                                             {"1,", NULL, "''"},
                                             {"", NULL, "''"},
                                             {"1", "memory", "none, perfect"},
                                             {"1", "memory:0", "none, perfect"},
                                             {"1", "memory:2x", "none, perfect"},
                                             {"1", "functional:", "none, perfect"},
                                             {NULL, "none", "--kernels"},
                                             {"scale", "memory:1", "not names"}};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        char mistake[512] = "";
        struct sampling s;
        bool good = sampling_parse(cases[i].kernels, cases[i].warmup, &s, mistake, sizeof mistake);
        cr_expect_eq(good, !cases[i].mistake, "case %zu: %s", i, mistake);
        cr_expect(!cases[i].mistake || strstr(mistake, cases[i].mistake), "case %zu: %s", i,
                  mistake);
    }
}

Test(sampling_options, errors_are_per_cent)
{
    static const struct {
        const char *kernels, *error;
        double aim; /* 0: it is a mistake */
    } cases[] = {{"auto", NULL, 0.01}, {"auto", "0.5", 0.005}, {"auto", "2%", 0.02},
                 {"auto", "50", 0.5},  {"auto", "0.01", 1e-4}, {"auto", "0", 0},
                 {"auto", "51", 0},    {"auto", "", 0},        {"auto", "%", 0},
                 {"auto", "2x", 0},    {"auto", "2%%", 0},     {"auto", "-1", 0},
                 {"auto", "nan", 0},   {"auto", " 1", 0},      {"scale", "1", 0},
                 {"scale", NULL, 0.01}};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        char mistake[512] = "";
        struct sampling s;
        cr_assert(sampling_parse(cases[i].kernels, NULL, &s, mistake, sizeof mistake));
        bool good = sampling_parse_error(cases[i].error, &s, mistake, sizeof mistake);
        cr_expect_eq(good, cases[i].aim > 0, "case %zu", i);
        cr_expect(good || strstr(mistake, "--error"), "case %zu: %s", i, mistake);
        if (good)
            cr_expect_float_eq(s.aim, cases[i].aim, 1e-12, "case %zu: %f", i, s.aim);
    }
}

/* One letter a launch, from 1: Detailed, Memory, Touching, Skipped. */
static void ways(const char *kernels, const char *warmup, char text[13])
{
    char mistake[512];
    struct sampling s;
    cr_assert(sampling_parse(kernels, warmup, &s, mistake, sizeof mistake), "%s", mistake);
    for (uint64_t n = 1; n <= 12; n++)
        text[n - 1] = "DMTS"[sampling_way(&s, n, n % 4 ? "void scale<int>(int*)" : "add(int)",
                                          n % 4 ? "_Z5scale" : "_Z3addi")];
    text[12] = '\0';
}

Test(sampling_options, each_launch_goes_its_way)
{
    static const struct {
        const char *kernels, *warmup, *ways;
    } cases[] = {{NULL, NULL, "DDDDDDDDDDDD"},
                 {"5", "none", "SSSSDSSSSSSS"},
                 {"5", "perfect", "DDDDDSSSSSSS"},
                 {"5,9", "perfect", "DDDDDDDDDSSS"},
                 {"5,9", "full-memory", "MMMMDMMMDSSS"},
                 {"5,9", "memory:2", "SSMMDSMMDSSS"},
                 {"5-6,9", "functional:1", "SSSTDDSTDSSS"},
                 {"10-", "functional", "TTTTTTTTTDDD"},
                 {"9,2", "functional:3", "TDSSSTTTDSSS"},
                 {"add", "functional", "TTTDTTTDTTTD"},
                 {"_Z3addi", "none", "SSSDSSSDSSSD"},
                 {"scale<int>", "none", "DDDSDDDSDDDS"}};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        char text[13];
        ways(cases[i].kernels, cases[i].warmup, text);
        cr_expect_str_eq(text, cases[i].ways, "case %zu", i);
    }
}

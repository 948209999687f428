/* Lists of --kernels whose elements meet no launch. */
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "components/sampling/launch_census.h"
#include "components/sampling/sampling_options.h"

static const char *const launched[] = {"scale(float*)", "void add<int>(int)", "scale(float*)"};

static bool close_after(const char *kernels, unsigned count)
{
    struct sampling s;
    char mistake[512];
    cr_assert(sampling_parse(kernels, NULL, &s, mistake, sizeof mistake), "%s", mistake);
    census_open();
    for (unsigned i = 0; i < count; i++)
        census_note(&s, i + 1, launched[i], i == 1 ? "_Z3addIiEvT_" : "_Z5scalePf");
    return census_close(&s);
}

static void expect_said(const char *want)
{
    char text[4096];
    fflush(stderr);
    FILE *said = cr_get_redirected_stderr();
    size_t size = fread(text, 1, sizeof text - 1, said);
    text[size] = '\0';
    cr_expect_str_eq(text, want);
}

TestSuite(launch_census, .init = cr_redirect_stderr);

Test(launch_census, every_element_that_meets_a_launch_is_good)
{
    static const char *const good[] = {"1",        "3",          "2-9",   "2-",     "scale",
                                       "add<int>", "_Z5scalePf", "1,2,3", "scale,2"};
    for (size_t i = 0; i < ARRAY_COUNT(good); i++)
        cr_expect(close_after(good[i], 3), "%s", good[i]);
    cr_expect(close_after("auto", 1));
    expect_said("");
}

Test(launch_census, each_element_that_meets_none_is_named_with_what_there_was)
{
    cr_expect(close_after("1,nosuch,4-", 3), "one that is met is enough");
    expect_said("heddle: '--kernels 1,nosuch,4-': no launch is 'nosuch'\n"
                "heddle: '--kernels 1,nosuch,4-': no launch is '4-'\n"
                "heddle: there were 3 launches: scale (2, the first is 1), add<int> (1, the first "
                "is 2)\n");
}

Test(launch_census, a_list_that_meets_none_has_failed)
{
    cr_expect_not(close_after("nosuch", 3));
    cr_expect_not(close_after("500,4-", 3));
    cr_expect_not(close_after("scale", 0));
}

Test(launch_census, auto_has_nothing_to_choose_from)
{
    cr_expect_not(close_after("auto", 0));
    expect_said("heddle: '--kernels auto' had nothing to choose from\n"
                "heddle: no kernel was launched\n");
}

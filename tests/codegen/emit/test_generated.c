/* Generated code compiles without a warning, with gcc and with clang, and does what the description
 * says: the fixture platform runs to its end and gives the same statistics in every kind of build.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "tests/codegen/support.h"

#define WARNINGS "-std=c17 -fsyntax-only -Wall -Wextra -Wshadow -Wwrite-strings -Wcast-qual -Werror"

static void compile_all(const char *compiler, const char *option)
{
    char *folder = support_folder();
    struct support_result which = support_run("command -v %s", compiler);
    if (which.status != 0) {
        cr_log_warn("%s is not installed: generated code is not checked with it", compiler);
        support_release(&which);
        support_remove(folder);
        cr_skip_test("no compiler");
    }
    struct support_result gen =
        support_run("\"$HEDDLE\" gen \"$FIXTURE/weave.heddle\" %s -o '%s'", option, folder);
    cr_assert_eq(gen.status, 0, "%s", gen.errors);
    struct support_result cc =
        support_run("cd '%s' && for f in *.c; do %s " WARNINGS
                    " -iquote . -iquote \"$FIXTURE\" -iquote \"$SOURCE_ROOT\" $f || exit 1; done",
                    folder, compiler);
    cr_expect_eq(cc.status, 0, "%s", cc.errors);
    struct support_result headers =
        support_run("cd '%s' && for h in *.gen.h; do echo \"#include \\\"$h\\\"\" | %s " WARNINGS
                    " -Wno-unused-function -iquote . -iquote \"$FIXTURE\" -iquote \"$SOURCE_ROOT\" "
                    "-x c - || exit 1; done",
                    folder, compiler);
    cr_expect_eq(headers.status, 0, "%s", headers.errors);
    support_release(&which);
    support_release(&gen);
    support_release(&cc);
    support_release(&headers);
    support_remove(folder);
}

Test(generated, specialised_code_is_clean_with_gcc)
{
    compile_all("gcc", "");
}

Test(generated, generic_code_is_clean_with_gcc)
{
    compile_all("gcc", "--generic");
}

Test(generated, specialised_code_is_clean_with_clang)
{
    compile_all("clang-15", "");
}

Test(generated, generic_code_is_clean_with_clang)
{
    compile_all("clang-15", "--generic");
}

static char *statistics(const char *folder, const char *options)
{
    struct support_result run = support_run(
        "HEDDLE_CACHE='%s/cache' \"$HEDDLE\" run \"$FIXTURE/weave.heddle\" %s --stats '%s/s.json' "
        "--stats-no-host",
        folder, options, folder);
    cr_assert_eq(run.status, 0, "%s:\n%s%s", options, run.output, run.errors);
    support_release(&run);
    char *path = support_text("%s/s.json", folder);
    char *text = support_read(path, NULL);
    cr_assert_not_null(text);
    free(path);
    return text;
}

Test(generated, the_fixture_runs_and_every_build_gives_the_same_statistics)
{
    static const char *const variants[] = {"--generic", "--tick-order descending",
                                           "--tick-order random:5", "--tick-all",
                                           "--generic --tick-order descending"};
    char *folder = support_folder();
    char *reference = statistics(folder, "");
    cr_expect(strstr(reference, "\"sent\": 10"), "%s", reference);
    for (size_t i = 0; i < ARRAY_COUNT(variants); i++) {
        char *other = statistics(folder, variants[i]);
        cr_expect_str_eq(other, reference, "%s", variants[i]);
        free(other);
    }
    char *longer = statistics(folder, "--generic --set lines=20 --set producers=3");
    char *same = statistics(folder, "--set lines=20 --set producers=3");
    cr_expect_str_eq(longer, same);
    cr_expect_str_neq(longer, reference);
    free(longer);
    free(same);
    free(reference);
    support_remove(folder);
}

Test(generated, every_view_names_the_files_of_a_unit)
{
    char *folder = support_folder();
    struct support_result dump = support_run("\"$HEDDLE\" dump \"$FIXTURE/weave.heddle\" --json | "
                                             "tr -d ' \\n'");
    cr_expect(strstr(dump.output, "fixture/consumer_book.c\",\""), "%s", dump.output);
    struct support_result doc = support_run(
        "\"$HEDDLE\" doc \"$FIXTURE/weave.heddle\" -o '%s' && cat '%s/component-consumer.md'",
        folder, folder);
    cr_expect(strstr(doc.output, "fixture/consumer_book.c`, `"), "%s%s", doc.output, doc.errors);
    support_release(&dump);
    support_release(&doc);
    support_remove(folder);
}

/* Of a component and its part: one declaration alone is checked with the description. */
Test(generated, files_of_one_name_in_a_unit_are_refused)
{
    char *folder = support_folder(), *path = support_text("%s/twins.heddle", folder);
    support_write(path, "interface order;\n"
                        "part first : order { behaviour \"a/pick.c\"; }\n"
                        "component twins { slot order : order = first; behaviour \"b/pick.c\"; }\n"
                        "platform p { clock core = 1GHz; t : twins; }\n");
    struct support_result made = support_run(
        "cd '%s' && mkdir a b && touch a/pick.c b/pick.c && HEDDLE_CACHE=cache \"$HEDDLE\" build "
        "twins.heddle",
        folder);
    cr_expect_neq(made.status, 0);
    cr_expect(strstr(made.errors, "twins.heddle:3:11: error: the behaviour of component twins, "
                                  "'b/pick.c', is called like 'a/pick.c'"),
              "%s", made.errors);
    support_release(&made);
    free(path);
    support_remove(folder);
}

/* The headers are of all components in the file, also of those that only the other platform has. */
Test(generated, a_file_with_two_platforms_has_all_headers)
{
    char *folder = support_folder(), *path = support_text("%s/two.heddle", folder);
    support_write(path, "protocol note { request say { } }\n"
                        "component a { out to : note; }\ncomponent b { in from : note; }\n"
                        "platform one { clock core = 1GHz; a : a; b : b; a.to -> b.from; }\n"
                        "component alone { }\n"
                        "platform two { clock core = 1GHz; c : alone; }\n");
    struct support_result made =
        support_run("cd '%s' && \"$HEDDLE\" gen two.heddle -o out && ls out", folder);
    cr_expect_eq(made.status, 0, "%s", made.errors);
    cr_expect(strstr(made.output, "a.gen.h"), "%s", made.output);
    support_release(&made);
    free(path);
    support_remove(folder);
}

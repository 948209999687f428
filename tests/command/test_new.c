/* Files to start from, as `heddle new` writes them. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "codegen/views/view.h"
#include "command/command_new.h"
#include "tests/codegen/views/scratch.h"

static struct view_error failure;

Test(command_new, a_new_component_is_three_files_and_overwrites_nothing)
{
    const char *dir = scratch_make();
    char *said = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&said, &size);
    cr_assert(command_new_write("component", "my_filter", dir, out, &failure), "%s", failure.text);
    static const char *const files[] = {"my_filter.heddle", "my_filter.c", "my_filter_test.heddle"};
    for (size_t i = 0; i < 3; i++) {
        char *text = scratch_read(dir, files[i]);
        cr_assert_not_null(text, "%s", files[i]);
        cr_assert_neq(scratch_count(text, "my_filter"), 0u);
        cr_assert_eq(scratch_count(text, "@"), 0u);
        free(text);
    }
    cr_assert_not(command_new_write("component", "my_filter", dir, out, &failure));
    cr_assert_not_null(strstr(failure.text, "is there already"));
    fclose(out);
    cr_assert_not_null(strstr(said, "heddle run"));
    free(said);
    scratch_remove(dir);
}

Test(command_new, names_that_cannot_be_C_are_refused)
{
    static const char *const names[] = {"",       "2fast", "a-b",  "Filter", "struct",
                                        "tester", "a/b",   "../x", "_x"};
    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        failure.text[0] = '\0';
        cr_assert_not(command_new_write("component", names[i], "/tmp", stdout, &failure), "'%s'",
                      names[i]);
        cr_assert_neq(failure.text[0], '\0');
        cr_assert_not(command_new_write("platform", names[i], "/tmp", stdout, &failure), "'%s'",
                      names[i]);
        cr_assert_not(command_new_write("part", names[i], "/tmp", stdout, &failure), "'%s'",
                      names[i]);
    }
}

/* codegen/emit/intern.c: strings to numbers. */
#include <criterion/criterion.h>

#include "codegen/emit/intern.h"
#include "tests/codegen/support.h"

Test(intern, finds_what_was_added_and_nothing_else)
{
    struct region region;
    struct intern table;
    region_init(&region, "a test");
    intern_init(&table, &region);
    cr_expect_null(intern_find(&table, ""));
    for (uint32_t i = 0; i < 2000; i++)
        intern_add(&table, region_printf(&region, "key %u", i), i * 3);
    for (uint32_t i = 0; i < 2000; i++) {
        const char *text = region_printf(&region, "key %u", i);
        const struct intern_entry *entry = intern_find(&table, text);
        cr_assert_not_null(entry);
        cr_expect_eq(entry->value, i * 3);
        cr_expect_str_eq(entry->text, text);
    }
    cr_expect_null(intern_find(&table, "key 2000"));
    region_release(&region);
}

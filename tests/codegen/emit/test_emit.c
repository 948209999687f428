/* codegen/emit/emit.c: text, comments, files that are written only when they change. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "codegen/emit/emit.h"
#include "tests/codegen/support.h"

Test(emit, text_grows_beyond_its_first_buffer)
{
    struct region region;
    struct emit e;
    region_init(&region, "a test");
    emit_init(&e, &region);
    cr_expect_str_eq(e.text, "");
    for (int i = 0; i < 5000; i++)
        emit(&e, "%d ", i % 10);
    cr_expect_eq(e.size, 10000);
    cr_expect_eq(strlen(e.text), 10000);
    cr_expect_eq(e.text[9998], '9');
    region_release(&region);
}

Test(emit, a_comment_is_wrapped_and_cannot_be_closed_from_inside)
{
    struct region region;
    struct emit e;
    region_init(&region, "a test");
    emit_init(&e, &region);
    emit_comment(&e, "    ", "");
    cr_expect_str_eq(e.text, "");
    emit_comment(&e, "    ", "ends here */ int x;");
    cr_expect_str_eq(e.text, "    /* ends here * / int x; */\n");
    emit_init(&e, &region);
    for (int i = 0; i < 60; i++)
        emit_bytes(&e, "word ", 5);
    const char *words = e.text;
    emit_init(&e, &region);
    emit_comment(&e, "", words);
    for (const char *line = e.text; *line; line += strcspn(line, "\n") + 1)
        cr_expect_leq(strcspn(line, "\n"), 100);
    region_release(&region);
}

Test(emit, a_file_is_written_only_when_its_content_changes)
{
    char *folder = support_folder(), *path = support_text("%s/a/b/file", folder),
         *inner = support_text("%s/a/b", folder);
    struct stat first, second;
    cr_expect(emit_make_folder(inner));
    cr_expect_eq(emit_write_bytes(path, "one", 3), EMIT_WRITTEN);
    cr_assert_eq(stat(path, &first), 0);
    cr_expect_eq(emit_write_bytes(path, "one", 3), EMIT_UNCHANGED);
    cr_assert_eq(stat(path, &second), 0);
    cr_expect_eq(first.st_ino, second.st_ino);
    cr_expect_eq(emit_write_bytes(path, "one!", 4), EMIT_WRITTEN);
    cr_expect_eq(emit_write_bytes(path, "on", 2), EMIT_WRITTEN);
    size_t size;
    char *text = support_read(path, &size);
    cr_expect_eq(size, 2);
    cr_expect_str_eq(text, "on");
    free(text);
    free(path);
    free(inner);
    support_remove(folder);
}

Test(emit, a_folder_that_is_a_file_is_an_error)
{
    char *folder = support_folder(), *path = support_text("%s/file", folder),
         *below = support_text("%s/file/x", folder);
    support_write(path, "x");
    cr_expect_not(emit_make_folder(path));
    cr_expect_not(emit_make_folder(below));
    cr_expect_eq(emit_write_bytes(below, "x", 1), EMIT_FAILED);
    free(path);
    free(below);
    support_remove(folder);
}

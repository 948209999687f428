/* Files that appear whole or not at all. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/engine/output_file.h"

static char folder[] = "/tmp/heddle-test-XXXXXX";
static char path[64];

static void make_folder(void)
{
    cr_assert_not_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/file", folder);
}

static unsigned count_files(void)
{
    unsigned count = 0;
    DIR *entries = opendir(folder);
    for (struct dirent *e; (e = readdir(entries));)
        count += e->d_name[0] != '.';
    closedir(entries);
    return count;
}

static void remove_folder(void)
{
    unlink(path);
    rmdir(folder);
}

static void expect_text(const char *want)
{
    char text[64] = "";
    FILE *in = fopen(path, "r");
    cr_assert_not_null(in);
    cr_expect_not_null(fgets(text, sizeof text, in));
    fclose(in);
    cr_expect_str_eq(text, want);
}

TestSuite(output_file, .init = make_folder, .fini = remove_folder);

Test(output_file, replaces_what_was_there_when_it_is_published)
{
    struct output_file file;
    for (unsigned round = 0; round < 2; round++) {
        const char *text = round ? "second" : "first";
        cr_assert(output_file_open(&file, path));
        cr_assert_eq(write(file.fd, text, strlen(text)), (ssize_t)strlen(text));
        if (round)
            expect_text("first");
        cr_assert(output_file_publish(&file));
        expect_text(text);
        cr_expect_eq(count_files(), 1);
    }
}

Test(output_file, leaves_nothing_when_it_is_discarded)
{
    struct output_file file;
    cr_assert(output_file_open(&file, path));
    output_file_discard(&file);
    cr_expect_eq(count_files(), 0);
    cr_assert(output_file_open(&file, path));
    output_file_hide(&file);
    cr_expect_eq(count_files(), 0);
    output_file_discard(&file);
}

Test(output_file, a_folder_in_its_place_is_an_error_that_leaves_nothing)
{
    struct output_file file;
    cr_assert(output_file_open(&file, folder)); /* beside it */
    cr_expect_not(output_file_publish(&file));
    cr_expect(errno == EISDIR || errno == EEXIST);
    cr_expect_neq(access(file.temporary, F_OK), 0);
    cr_expect_not(output_file_open(&file, "/no/such/folder/file"));
    cr_expect_eq(errno, ENOENT);
}

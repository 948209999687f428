/* base/path_search.c: which of several programs of one name is found. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/number.h"
#include "base/path_search.h"

static void make_file(const char *path, mode_t mode)
{
    int file = open(path, O_CREAT | O_WRONLY, mode);
    cr_assert_geq(file, 0, "%s", path);
    close(file);
}

/* Folders a (a folder called "tool"), b (no program), c and d (programs), and a program here. */
static void make_folders(void)
{
    char folder[] = "/tmp/path_search_XXXXXX";
    cr_assert_not_null(mkdtemp(folder));
    cr_assert_eq(chdir(folder), 0);
    for (const char *name = "abcd"; *name; name++)
        mkdir((char[]){*name, 0}, 0700);
    mkdir("a/tool", 0700);
    make_file("b/tool", 0600);
    make_file("c/tool", 0700);
    make_file("d/tool", 0700);
    make_file("tool", 0700);
}

static void remove_folders(void)
{
    static const char *const files[] = {"b/tool", "c/tool", "d/tool", "tool"};
    static const char *const folders[] = {"a/tool", "a", "b", "c", "d"};
    char folder[64];
    for (size_t i = 0; i < ARRAY_COUNT(files); i++)
        unlink(files[i]);
    for (size_t i = 0; i < ARRAY_COUNT(folders); i++)
        rmdir(folders[i]);
    cr_assert_not_null(getcwd(folder, sizeof folder));
    rmdir(folder);
}

Test(path_search, finds_the_first_file_that_may_be_executed, .init = make_folders,
     .fini = remove_folders)
{
    static const struct {
        const char *path, *found;
    } cases[] = {
        {"a:b:c:d", "c/tool"}, {"d:c", "d/tool"}, {"a:b", NULL},      {"a::c", "./tool"},
        {"b:", "./tool"},      {":c", "./tool"},  {"/nowhere", NULL}, {"", "./tool"},
    };
    char found[16];
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        setenv("PATH", cases[i].path, 1);
        bool is_found = path_search("tool", found, sizeof found);
        cr_expect_eq(is_found, cases[i].found != NULL, "%s", cases[i].path);
        if (is_found && cases[i].found)
            cr_expect_str_eq(found, cases[i].found, "%s", cases[i].path);
    }
    unsetenv("PATH");
    cr_expect_not(path_search("tool", found, sizeof found));
    setenv("PATH", "c", 1);
    cr_expect_not(path_search("tool", found, strlen("c/tool")));
    cr_expect(path_search("tool", found, sizeof "c/tool"));
}

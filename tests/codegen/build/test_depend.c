/* codegen/build/depend.c: what a C file's digest covers. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "codegen/build/depend.h"
#include "tests/codegen/support.h"

/* The digest of FOLDER/main.c with FOLDER/include searched. */
static void digest(const char *folder, char hex[65])
{
    struct region region;
    struct depend depend;
    struct sha256 hash;
    char *main_file = support_text("%s/main.c", folder),
         *include = support_text("%s/include", folder);
    const char *folders[] = {include};
    region_init(&region, "a test");
    depend_init(&depend, &region);
    sha256_init(&hash);
    cr_assert(depend_add(&depend, &hash, main_file, folders, 1));
    sha256_finish(&hash, hex);
    region_release(&region);
    free(main_file);
    free(include);
}

static char *make(const char *main_text)
{
    char *folder = support_folder(), *path = support_text("%s/main.c", folder);
    struct support_result r =
        support_run("mkdir '%s/include'; echo one > '%s/include/a.h'", folder, folder);
    support_write(path, main_text);
    support_release(&r);
    free(path);
    return folder;
}

static const struct {
    const char *what, *main_text, *change;
    bool same;
} cases[] = {
    {"an included file", "#include \"a.h\"\n", "echo two > include/a.h", false},
    {"one included by it", "#include \"a.h\"\n", "echo '# include \"b.h\"' > include/a.h", false},
    {"a file nobody includes", "#include \"a.h\"\n", "echo two > include/c.h", true},
    {"one that comes before it in the search", "#include \"a.h\"\n", "echo two > a.h", false},
    {"an include under a condition", "#if 0\n  #include \"a.h\"\n#endif\n",
     "echo two > include/a.h", false},
    {"a neighbour of a file with a computed include", "#include WHATEVER\n",
     "echo x > neighbour.inc", false},
    {"a system header of that name", "#include <a.h>\n", "echo two > include/a.h", true},
};

Test(depend, covers_exactly_what_may_be_read)
{
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        char *folder = make(cases[i].main_text), before[65], after[65];
        digest(folder, before);
        struct support_result r = support_run("cd '%s' && %s", folder, cases[i].change);
        digest(folder, after);
        cr_expect_eq(strcmp(before, after) == 0, cases[i].same, "%s", cases[i].what);
        support_release(&r);
        support_remove(folder);
    }
}

Test(depend, does_not_depend_on_where_the_files_stand)
{
    char *a = make("#include \"a.h\"\n"), *b = make("#include \"a.h\"\n"), first[65], second[65];
    digest(a, first);
    digest(b, second);
    cr_expect_str_eq(first, second);
    support_remove(a);
    support_remove(b);
}

Test(depend, files_that_include_each_other_end)
{
    char *folder = make("#include \"a.h\"\n"), hex[65];
    struct support_result r =
        support_run("echo '#include \"../main.c\"' > '%s/include/a.h'", folder);
    digest(folder, hex);
    cr_expect_eq(strlen(hex), 64);
    support_release(&r);
    support_remove(folder);
}

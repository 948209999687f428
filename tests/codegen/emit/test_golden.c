/* One generated file per construct against its golden copy; UPDATE_GOLDEN=1 writes the copies. And:
 * the same model gives the same bytes, and a second run writes nothing. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "codegen/emit/gen.h"
#include "dsl/compile.h"
#include "tests/codegen/support.h"

static const char *const constructs[] = {
    "treatment.gen.h",                   /* a named enumeration */
    "strand.gen.h",                      /* a protocol */
    "producer.gen.h",                    /* parameters, slot, scalar port */
    "consumer.gen.h",                    /* port array, optional port, array of parts, store */
    "relay.gen.h",                       /* ports of any protocol */
    "auditor.gen.h",                     /* a store that is read */
    "strided.gen.h",                     /* a part */
    "producer__1.c",                     /* a specialised unit */
    "producer__generic.c",               /* a generic one */
    "consumer__1.c",                     /* a unit of several C files */
    "relay__1.c",          "platform.c", /* the tables */
};

/* Generates specialised and generic files into one folder; the generic platform.c goes to another.
 */
static uint32_t generate(const char *folder, const char *generic_folder)
{
    struct region region;
    region_init(&region, "a test");
    struct compilation *c = compile_open(NULL);
    char *path = support_text("%s/weave.heddle", support_env("FIXTURE"));
    const struct model *model = compile_platform(c, path, NULL);
    compile_print_diagnostics(c, stderr, false);
    cr_assert_not_null(model);
    struct gen_files files = {0};
    cr_assert(gen_headers(&region, model, folder, &files));
    cr_assert(gen_platform(&region, layout_make(&region, model, false), folder, &files));
    cr_assert(gen_platform(&region, layout_make(&region, model, true), generic_folder, &files));
    free(path);
    compile_close(c);
    region_release(&region);
    return files.written;
}

Test(golden, generated_files_equal_their_golden_copies)
{
    char *folder = support_folder(), *generic = support_text("%s/generic", folder);
    bool update = getenv("UPDATE_GOLDEN") != NULL;
    generate(folder, generic);
    for (size_t i = 0; i < ARRAY_COUNT(constructs); i++) {
        bool is_generic = strstr(constructs[i], "generic") != NULL;
        char *made = support_text("%s/%s", is_generic ? generic : folder, constructs[i]);
        char *golden = support_text("%s/%s", support_env("GOLDEN"), constructs[i]);
        char *now = support_read(made, NULL), *before = support_read(golden, NULL);
        cr_assert_not_null(now, "%s was not generated", constructs[i]);
        if (update)
            support_write(golden, now);
        else
            cr_expect(before && strcmp(now, before) == 0,
                      "%s differs from its golden copy; it is now:\n%s", constructs[i], now);
        free(made);
        free(golden);
        free(now);
        free(before);
    }
    free(generic);
    support_remove(folder);
}

Test(golden, the_same_model_gives_the_same_bytes)
{
    char *a = support_folder(), *b = support_folder();
    char *ag = support_text("%s/generic", a), *bg = support_text("%s/generic", b);
    generate(a, ag);
    generate(b, bg);
    struct support_result diff = support_run("diff -r '%s' '%s'", a, b);
    cr_expect_eq(diff.status, 0, "%s", diff.output);
    struct support_result paths =
        support_run("grep -rn '%s\\|/tmp/' '%s'", support_env("SOURCE_ROOT"), a);
    cr_expect_eq(paths.status, 1, "absolute paths in the output:\n%s", paths.output);
    support_release(&diff);
    support_release(&paths);
    free(ag);
    free(bg);
    support_remove(a);
    support_remove(b);
}

Test(golden, a_second_run_writes_nothing)
{
    char *folder = support_folder(), *generic = support_text("%s/generic", folder);
    cr_expect_gt(generate(folder, generic), 0);
    cr_expect_eq(generate(folder, generic), 0);
    free(generic);
    support_remove(folder);
}

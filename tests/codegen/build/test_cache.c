/* codegen/build/cache.c: what is removed when the cache is too large, and what never is. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <criterion/redirect.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/number.h"
#include "codegen/build/cache.h"
#include "tests/codegen/support.h"

#define BLOCK ((size_t)65536)

struct fixture {
    struct region region;
    char *folder;
};

static char *path_of(const struct fixture *f, const char *name)
{
    return support_text("%s/%s", f->folder, name);
}

/* A file of one block that was used `seconds` ago. */
static void make(const struct fixture *f, const char *name, long seconds)
{
    char *path = path_of(f, name), *text = calloc(1, BLOCK + 1);
    struct timespec times[2] = {{.tv_sec = time(NULL) - seconds}, {.tv_sec = time(NULL) - seconds}};
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0777);
        *slash = '/';
    }
    memset(text, 'x', BLOCK);
    support_write(path, text);
    cr_assert_eq(utimensat(AT_FDCWD, path, times, 0), 0);
    free(text);
    free(path);
}

static void make_link(const struct fixture *f, const char *from, const char *to)
{
    char *old = path_of(f, from), *new = path_of(f, to);
    cr_assert_eq(link(old, new), 0);
    free(old);
    free(new);
}

static bool exists(const struct fixture *f, const char *name)
{
    char *path = path_of(f, name);
    bool there = access(path, F_OK) == 0;
    free(path);
    return there;
}

static struct fixture set_up(void)
{
    struct fixture f;
    region_init(&f.region, "a test");
    f.folder = support_folder();
    return f;
}

static void tear_down(struct fixture *f)
{
    support_remove(f->folder);
    region_release(&f->region);
}

Test(cache, the_oldest_objects_go_first)
{
    struct fixture f = set_up();
    make(&f, "objects/aa/1.o", 90000);
    make(&f, "objects/aa/2.o", 80000);
    make(&f, "objects/bb/3.o", 95000);
    make(&f, "opencl/5", 99000);
    make(&f, "objects/bb/4.o", 70000);
    cr_expect_eq(cache_prune(&f.region, f.folder, 4 * BLOCK), BLOCK);
    cr_expect_not(exists(&f, "opencl/5"));
    cr_expect(exists(&f, "objects/bb/3.o"));
    cr_expect_eq(cache_prune(&f.region, f.folder, 2 * BLOCK), 2 * BLOCK);
    cr_expect_not(exists(&f, "objects/bb/3.o"));
    cr_expect_not(exists(&f, "objects/aa/1.o"));
    cr_expect(exists(&f, "objects/aa/2.o"));
    cr_expect(exists(&f, "objects/bb/4.o"));
    tear_down(&f);
}

Test(cache, what_was_used_within_the_last_hour_stays)
{
    struct fixture f = set_up();
    make(&f, "objects/aa/1.o", CACHE_RECENT_SECONDS - 60);
    make(&f, "objects/aa/2.o", CACHE_RECENT_SECONDS + 60);
    cr_expect_eq(cache_prune(&f.region, f.folder, 1), BLOCK);
    cr_expect(exists(&f, "objects/aa/1.o"));
    cr_expect_not(exists(&f, "objects/aa/2.o"));
    tear_down(&f);
}

Test(cache, a_use_makes_young)
{
    struct fixture f = set_up();
    make(&f, "objects/aa/1.o", 90000);
    char *path = path_of(&f, "objects/aa/1.o");
    cache_touch(path);
    free(path);
    cr_expect_eq(cache_prune(&f.region, f.folder, 1), 0);
    cr_expect(exists(&f, "objects/aa/1.o"));
    tear_down(&f);
}

/* Two platforms share one library; it goes with the second, not before. */
Test(cache, a_library_goes_with_the_last_platform_that_names_it)
{
    struct fixture f = set_up();
    make(&f, "platforms/p-1/lock", 90000);
    make(&f, "platforms/p-2/lock", 80000);
    make(&f, "libraries/aa/1.so", 99999);
    make_link(&f, "libraries/aa/1.so", "platforms/p-1/platform.so");
    make_link(&f, "libraries/aa/1.so", "platforms/p-2/platform.so");
    cr_expect_eq(cache_prune(&f.region, f.folder, BLOCK), BLOCK);
    cr_expect_not(exists(&f, "platforms/p-1"));
    cr_expect(exists(&f, "platforms/p-2/platform.so"));
    cr_expect(exists(&f, "libraries/aa/1.so"));
    cr_expect_eq(cache_prune(&f.region, f.folder, 1), 2 * BLOCK);
    cr_expect_not(exists(&f, "platforms/p-2"));
    cr_expect_not(exists(&f, "libraries/aa/1.so"));
    tear_down(&f);
}

Test(cache, a_platform_that_is_being_built_stays)
{
    struct fixture f = set_up();
    make(&f, "platforms/p-1/lock", 90000);
    make(&f, "platforms/p-1/platform.c", 90000);
    char *path = path_of(&f, "platforms/p-1/lock");
    int lock = open(path, O_RDWR);
    cr_assert_eq(flock(lock, LOCK_EX), 0);
    cr_expect_eq(cache_prune(&f.region, f.folder, 1), 0);
    cr_expect(exists(&f, "platforms/p-1/platform.c"));
    close(lock);
    cr_expect_eq(cache_prune(&f.region, f.folder, 1), 2 * BLOCK);
    cr_expect_not(exists(&f, "platforms/p-1"));
    free(path);
    tear_down(&f);
}

Test(cache, an_empty_or_missing_cache_is_no_mistake)
{
    struct fixture f = set_up();
    cr_expect_eq(cache_prune(&f.region, f.folder, 1), 0);
    cr_expect_eq(cache_prune(&f.region, "/no/such/folder", 1), 0);
    tear_down(&f);
}

struct limit {
    char text[24]; /* "-": unset */
    bool good;
    uint64_t bytes;
};

ParameterizedTestParameters(cache, the_bound_has_a_unit)
{
    static struct limit limits[] = {{"-", true, CACHE_DEFAULT_LIMIT},
                                    {"", true, CACHE_DEFAULT_LIMIT},
                                    {"0", true, 0},
                                    {"1000", true, 1000},
                                    {"1000B", true, 1000},
                                    {"3KiB", true, 3072},
                                    {"500MiB", true, (uint64_t)500 << 20},
                                    {"7GiB", true, (uint64_t)7 << 30},
                                    {"7GB", false, 0},
                                    {"GiB", false, 0},
                                    {"-1", false, 0},
                                    {"1.5GiB", false, 0},
                                    {"99999999999GiB", false, 0},
                                    {"99999999999999999999", false, 0}};
    return cr_make_param_array(struct limit, limits, ARRAY_COUNT(limits));
}

ParameterizedTest(struct limit *l, cache, the_bound_has_a_unit)
{
    uint64_t bytes;
    cr_redirect_stderr();
    unsetenv("HEDDLE_CACHE_LIMIT");
    if (strcmp(l->text, "-") != 0)
        setenv("HEDDLE_CACHE_LIMIT", l->text, 1);
    cr_expect_eq(cache_limit(&bytes), l->good);
    if (l->good)
        cr_expect_eq(bytes, l->bytes);
}

/* Looking through a large cache at the beginning of each build would take longer than the build. */
Test(cache, only_a_build_that_has_not_ended_well_is_cleaned_up_after)
{
    struct fixture f = set_up();
    const char *left = "platforms/p/platform.c.12.tmp";
    make(&f, left, 0);
    cache_end(cache_begin(&f.region, f.folder), true);
    cache_end(cache_begin(&f.region, f.folder), false);
    cr_assert(exists(&f, left), "all builds before had ended well");
    make(&f, "objects/aa/whole.o", 0);
    int file = cache_begin(&f.region, f.folder);
    cr_assert_not(exists(&f, left));
    cr_assert(exists(&f, "objects/aa/whole.o"));
    make(&f, left, 0);
    int other = cache_begin(&f.region, f.folder);
    cr_assert(exists(&f, left), "a build runs that may be about to need it");
    close(file); /* as one that is killed */
    cache_end(other, true);
    cache_end(cache_begin(&f.region, f.folder), true);
    cr_assert_not(exists(&f, left));
    tear_down(&f);
}

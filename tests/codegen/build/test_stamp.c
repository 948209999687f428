/* codegen/build/stamp.c: when "nothing has changed" is true. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "codegen/build/stamp.h"
#include "tests/codegen/support.h"

/* Moves a file's time of change `seconds` into the past. */
static void age(const char *path, long seconds)
{
    struct stat status;
    cr_assert_eq(stat(path, &status), 0);
    struct timespec times[2] = {status.st_mtim, status.st_mtim};
    times[1].tv_sec -= seconds;
    cr_assert_eq(utimensat(AT_FDCWD, path, times, 0), 0);
}

struct fixture {
    struct region region;
    char *folder, *input, *missing, *stamp;
};

static void open_fixture(struct fixture *f)
{
    region_init(&f->region, "a test");
    f->folder = support_folder();
    f->input = support_text("%s/input", f->folder);
    f->missing = support_text("%s/missing", f->folder);
    f->stamp = support_text("%s/stamp", f->folder);
    support_write(f->input, "one");
    age(f->input, 10);
}

static void close_fixture(struct fixture *f)
{
    support_remove(f->folder);
    free(f->input);
    free(f->missing);
    free(f->stamp);
    region_release(&f->region);
}

static void write_stamp(struct fixture *f)
{
    struct stamp stamp;
    stamp_begin(&stamp, &f->region);
    stamp_add(&stamp, f->input);
    stamp_add(&stamp, f->missing);
    stamp_write(&stamp, f->stamp);
}

Test(stamp, holds_until_a_file_changes)
{
    struct fixture f;
    open_fixture(&f);
    cr_expect_not(stamp_holds(f.stamp));
    write_stamp(&f);
    cr_expect(stamp_holds(f.stamp));
    support_write(f.input, "two");
    cr_expect_not(stamp_holds(f.stamp));
    close_fixture(&f);
}

Test(stamp, a_file_that_appears_counts)
{
    struct fixture f;
    open_fixture(&f);
    write_stamp(&f);
    support_write(f.missing, "");
    age(f.missing, 10);
    cr_expect_not(stamp_holds(f.stamp));
    close_fixture(&f);
}

Test(stamp, a_file_changed_during_the_build_leaves_no_stamp)
{
    struct fixture f;
    open_fixture(&f);
    write_stamp(&f);
    struct stamp stamp;
    stamp_begin(&stamp, &f.region);
    support_write(f.input, "two");
    stamp_add(&stamp, f.input);
    stamp_write(&stamp, f.stamp);
    cr_expect_neq(access(f.stamp, F_OK), 0);
    close_fixture(&f);
}

Test(stamp, a_damaged_stamp_does_not_hold)
{
    struct fixture f;
    open_fixture(&f);
    support_write(f.stamp, "");
    cr_expect_not(stamp_holds(f.stamp));
    support_write(f.stamp, "heddle stamp 1\nnonsense\n");
    cr_expect_not(stamp_holds(f.stamp));
    close_fixture(&f);
}

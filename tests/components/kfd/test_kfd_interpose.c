/* Paths and descriptors of components/kfd/program/interpose.c, above devices of the test's own. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "base/splitmix64.h"
#include "components/kfd/program/interpose.h"
#include "components/kfd/program/kfd_devices.h"

#define FOLDER "/of/this/run"

static int opened = -1; /* the descriptor that was opened last */

int kfd_open(bool render, int minor)
{
    (void)render, (void)minor;
    return opened = open("/dev/null", O_RDWR | O_CLOEXEC);
}

static bool is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

static void is(const char *path, enum interpose_kind kind, const char *real)
{
    struct interpose_path found;
    cr_expect_eq(interpose_find(path, &found), kind, "%s", path);
    if (kind != INTERPOSE_OTHER)
        cr_expect_str_eq(found.real, real, "%s", path);
}

Test(kfd_interpose, paths_of_the_driver_lead_to_the_folder_of_the_run)
{
    is("/dev/kfd", INTERPOSE_KFD, FOLDER "/dev/kfd");
    is("//dev/./dri/../kfd", INTERPOSE_KFD, FOLDER "/dev/kfd");
    is("/dev/dri", INTERPOSE_FILE, FOLDER "/dev/dri");
    is("/dev/dri/renderD130", INTERPOSE_RENDER, FOLDER "/dev/dri/renderD130");
    is("/dev/dri/renderD0130", INTERPOSE_FILE, FOLDER "/dev/dri/renderD0130");
    is("/dev/dri/renderD", INTERPOSE_FILE, FOLDER "/dev/dri/renderD");
    is("/dev/dri/renderD4294967424", INTERPOSE_FILE, FOLDER "/dev/dri/renderD4294967424");
    is("/sys/class/kfd/kfd/topology", INTERPOSE_FILE,
       FOLDER "/sys/devices/virtual/kfd/kfd/topology");
    is("/sys/dev/char/226:128/device/drm", INTERPOSE_FILE,
       FOLDER "/sys/dev/char/226:128/device/drm");
    is("/proc/modules/", INTERPOSE_FILE, FOLDER "/proc/modules");
}

Test(kfd_interpose, all_other_paths_are_left_alone)
{
    static const char *const others[] = {"",
                                         "/",
                                         "dev/kfd",
                                         "/dev/kfdx",
                                         "/dev",
                                         "/dev/drill",
                                         "/proc",
                                         "/proc/modulesx",
                                         "/sys/class/kfdx/y",
                                         "/sys/dev/char/2260:1",
                                         "/../..",
                                         "/dev/kfd/../null",
                                         "/sys/devices/virtual/kfd/../../../../etc/passwd"};
    for (size_t i = 0; i < ARRAY_COUNT(others); i++)
        is(others[i], INTERPOSE_OTHER, NULL);
    is(NULL, INTERPOSE_OTHER, NULL);
}

/* Any of them at random: what is ours lies below the folder, however the path is written. */
Test(kfd_interpose, no_path_leaves_the_folder)
{
    static const char *const words[] = {"..",  ".",    "",      "sys",     "devices",  "virtual",
                                        "kfd", "dev",  "dri",   "modules", "topology", "renderD128",
                                        "x",   "proc", "class", "226:1"};
    uint64_t state = 1, drawn = splitmix64(&state);
    uint32_t ours = 0;
    for (int i = 0; i < 200000; i++) {
        struct interpose_path found;
        char path[512] = "";
        for (size_t length = 0; length < 100 && (drawn >> 33) % 9; length = strlen(path)) {
            drawn = splitmix64(&state);
            snprintf(path + length, sizeof path - length, "/%s", words[(drawn >> 40) % 16]);
        }
        drawn = splitmix64(&state);
        if (interpose_find(path, &found) == INTERPOSE_OTHER)
            continue;
        ours++;
        cr_assert_eq(strncmp(found.real, FOLDER "/", sizeof FOLDER), 0, "%s", path);
        cr_assert_null(strstr(found.real, "/../"), "%s", path);
        cr_assert_str_eq(found.inside, found.real + strlen(FOLDER));
    }
    cr_assert_gt(ours, 1000);
}

Test(kfd_interpose, paths_that_are_too_long_are_left_to_the_kernel)
{
    static char path[2 * INTERPOSE_PATH_MAX];
    struct interpose_path found;
    for (size_t length = INTERPOSE_PATH_MAX - 64; length < INTERPOSE_PATH_MAX + 64; length++) {
        memset(path, 'x', length);
        memcpy(path, "/dev/dri/", strlen("/dev/dri/"));
        path[length] = '\0';
        bool fits = length + strlen(FOLDER) < INTERPOSE_PATH_MAX;
        cr_assert_eq(interpose_find(path, &found), fits ? INTERPOSE_FILE : INTERPOSE_OTHER);
    }
}

Test(kfd_interpose, a_device_is_closed_with_its_last_copy)
{
    struct interpose_path path = {.kind = INTERPOSE_RENDER, .minor = 129, .real = "/dev/null"};
    enum interpose_kind kind;
    int minor, fd = interpose_open_device(&path, O_CLOEXEC), copy = dup(fd);
    cr_assert(fd >= 0 && is_open(opened) && opened != fd && !interpose_is_parents(fd));
    cr_assert(interpose_is_device(fd, &kind, &minor) && kind == INTERPOSE_RENDER && minor == 129);
    interpose_copied(fd, copy);
    kind = INTERPOSE_OTHER, minor = 0;
    cr_assert(interpose_is_device(copy, &kind, &minor) && kind == INTERPOSE_RENDER && minor == 129);
    interpose_copied(-1, fd);
    cr_assert(is_open(opened) && !interpose_is_device(fd, &kind, &minor));
    cr_assert(interpose_is_device(copy, &kind, &minor));
    interpose_copied(-1, copy);
    cr_assert(!is_open(opened) && !interpose_is_device(copy, &kind, &minor));
    interpose_copied(-1, -5);
    interpose_copied(1 << 20, copy);
    cr_assert(!interpose_is_device(1 << 20, &kind, &minor));
    cr_assert(!interpose_is_device(-1, &kind, &minor) && !interpose_is_device(copy, &kind, &minor));
}

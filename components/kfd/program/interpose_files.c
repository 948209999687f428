/* Calls that name a file. See interpose.h. */
#define _GNU_SOURCE /* struct statx */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "interpose.h"

/* Linux, Documentation/admin-guide/devices.txt; /dev/kfd has a number of its own, from 234 down. */
enum { DRM_MAJOR = 226, KFD_MAJOR = 234, DEVICE_MODE = S_IFCHR | 0666 };

/* Like files of sysfs, they can only be read. */
static bool may_open(const char *real, int flags)
{
    if ((flags & O_ACCMODE) == O_RDONLY && !(flags & (O_CREAT | O_TRUNC)))
        return true;
    if ((flags & O_CREAT) || INTERPOSE_NEXT(access, "access")(real, F_OK) == 0)
        errno = EACCES;
    return false;
}

/* ---- open ---- */

static int next_open(int folder, const char *path, int flags, mode_t mode)
{
    return INTERPOSE_NEXT(openat, "openat")(folder, path, flags, mode);
}

static int open_at(int folder, const char *path, int flags, mode_t mode)
{
    struct interpose_path target;
    switch (interpose_find(path, &target)) {
    case INTERPOSE_OTHER:
        return next_open(folder, path, flags, mode);
    case INTERPOSE_FILE:
        return may_open(target.real, flags) ? next_open(AT_FDCWD, target.real, flags, mode) : -1;
    default:
        if ((flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL)) {
            errno = EEXIST;
            return -1;
        }
        return interpose_open_device(&target, flags);
    }
}

/* The mode is there only when a file may be made. */
#define MODE(flags)                                                                                \
    __extension__({                                                                                \
        va_list mode_arguments;                                                                    \
        mode_t mode_given = 0;                                                                     \
        va_start(mode_arguments, flags);                                                           \
        if ((flags) & (O_CREAT | O_TMPFILE))                                                       \
            mode_given = va_arg(mode_arguments, mode_t);                                           \
        va_end(mode_arguments);                                                                    \
        mode_given;                                                                                \
    })

/* A function in place of the C library's `symbol` that is one expression. */
#define INTERPOSED(type, name, symbol, parameters, ...)                                            \
    type interpose_##name parameters INTERPOSE(symbol);                                            \
    type interpose_##name parameters                                                               \
    {                                                                                              \
        return __VA_ARGS__;                                                                        \
    }                                                                                              \
    type interpose_##name parameters

int interpose_open(const char *path, int flags, ...) INTERPOSE(open);
int interpose_open(const char *path, int flags, ...)
{
    return open_at(AT_FDCWD, path, flags, MODE(flags));
}
int interpose_open64(const char *path, int flags, ...) INTERPOSE_AS(open64, open);

int interpose_openat(int folder, const char *path, int flags, ...) INTERPOSE(openat);
int interpose_openat(int folder, const char *path, int flags, ...)
{
    return open_at(folder, path, flags, MODE(flags));
}
int interpose_openat64(int folder, const char *path, int flags, ...) INTERPOSE_AS(openat64, openat);

/* _FORTIFY_SOURCE turns calls without a mode into these. */
INTERPOSED(int, open_2, __open_2, (const char *path, int flags), open_at(AT_FDCWD, path, flags, 0));
int interpose_open64_2(const char *path, int flags) INTERPOSE_AS(__open64_2, __open_2);

INTERPOSED(int, openat_2, __openat_2, (int folder, const char *path, int flags),
           open_at(folder, path, flags, 0));
int interpose_openat64_2(int folder, const char *path, int flags)
    INTERPOSE_AS(__openat64_2, __openat_2);

FILE *interpose_fopen(const char *path, const char *mode) INTERPOSE(fopen);
FILE *interpose_fopen(const char *path, const char *mode)
{
    struct interpose_path target;
    enum interpose_kind kind = interpose_find(path, &target);
    if (kind == INTERPOSE_OTHER)
        return INTERPOSE_NEXT(interpose_fopen, "fopen")(path, mode);
    if (mode && (mode[0] != 'r' || strchr(mode, '+')) && kind == INTERPOSE_FILE) {
        errno = EACCES;
        return NULL;
    }
    if (kind == INTERPOSE_FILE)
        return INTERPOSE_NEXT(interpose_fopen, "fopen")(target.real, mode);
    int fd = interpose_open_device(&target, O_RDWR);
    return fd < 0 ? NULL : fdopen(fd, mode);
}
FILE *interpose_fopen64(const char *path, const char *mode) INTERPOSE_AS(fopen64, fopen);

/* ---- folders ---- */

/* The path that is opened in place of this one, or this one. */
static const char *instead_of(const char *path, struct interpose_path *target)
{
    return interpose_find(path, target) == INTERPOSE_OTHER ? path : target->real;
}

DIR *interpose_opendir(const char *path) INTERPOSE(opendir);
DIR *interpose_opendir(const char *path)
{
    struct interpose_path target;
    return INTERPOSE_NEXT(interpose_opendir, "opendir")(instead_of(path, &target));
}

typedef int (*filter)(const struct dirent *);
typedef int (*order)(const struct dirent **, const struct dirent **);

int interpose_scandir(const char *path, struct dirent ***list, filter keep, order less)
    INTERPOSE(scandir);
int interpose_scandir(const char *path, struct dirent ***list, filter keep, order less)
{
    struct interpose_path target;
    return INTERPOSE_NEXT(interpose_scandir, "scandir")(instead_of(path, &target), list, keep,
                                                        less);
}
int interpose_scandir64(const char *path, struct dirent ***list, filter keep, order less)
    INTERPOSE_AS(scandir64, scandir);

/* ---- what a file is ---- */

static dev_t number_of(enum interpose_kind kind, int minor)
{
    return kind == INTERPOSE_RENDER ? makedev(DRM_MAJOR, (unsigned)minor) : makedev(KFD_MAJOR, 0);
}

/* The empty file that stands for a device has the rest. */
static int as_device(int result, enum interpose_kind kind, int minor, struct stat *status)
{
    if (result != 0 || (kind != INTERPOSE_KFD && kind != INTERPOSE_RENDER))
        return result;
    status->st_mode = DEVICE_MODE;
    status->st_rdev = number_of(kind, minor);
    status->st_size = 0;
    return 0;
}

static int stat_at(int folder, const char *path, struct stat *status, int flags)
{
    struct interpose_path target;
    enum interpose_kind kind = interpose_find(path, &target);
    int (*next)(int, const char *, struct stat *, int) = INTERPOSE_NEXT(stat_at, "fstatat");
    if (kind == INTERPOSE_OTHER)
        return next(folder, path, status, flags);
    return as_device(next(AT_FDCWD, target.real, status, flags), kind, target.minor, status);
}

static int stat_fd(int fd, struct stat *status)
{
    enum interpose_kind kind = INTERPOSE_OTHER;
    int minor = 0;
    interpose_is_device(fd, &kind, &minor);
    return as_device(INTERPOSE_NEXT(stat_fd, "fstat")(fd, status), kind, minor, status);
}

INTERPOSED(int, stat, stat, (const char *path, struct stat *status),
           stat_at(AT_FDCWD, path, status, 0));
int interpose_stat64(const char *path, struct stat *status) INTERPOSE_AS(stat64, stat);

INTERPOSED(int, lstat, lstat, (const char *path, struct stat *status),
           stat_at(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW));
int interpose_lstat64(const char *path, struct stat *status) INTERPOSE_AS(lstat64, lstat);

INTERPOSED(int, fstat, fstat, (int fd, struct stat *status), stat_fd(fd, status));
int interpose_fstat64(int fd, struct stat *status) INTERPOSE_AS(fstat64, fstat);

int interpose_fstatat(int folder, const char *path, struct stat *status, int flags)
    INTERPOSE(fstatat);
int interpose_fstatat(int folder, const char *path, struct stat *status, int flags)
{
    if (path && !*path && flags & AT_EMPTY_PATH)
        return stat_fd(folder, status);
    return stat_at(folder, path, status, flags);
}
int interpose_fstatat64(int folder, const char *path, struct stat *status, int flags)
    INTERPOSE_AS(fstatat64, fstatat);

/* Programs that were linked before glibc 2.33. */
INTERPOSED(int, xstat, __xstat, (int version, const char *path, struct stat *status),
           ((void)version, stat_at(AT_FDCWD, path, status, 0)));
int interpose_xstat64(int version, const char *path, struct stat *status)
    INTERPOSE_AS(__xstat64, __xstat);

INTERPOSED(int, lxstat, __lxstat, (int version, const char *path, struct stat *status),
           ((void)version, stat_at(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW)));
int interpose_lxstat64(int version, const char *path, struct stat *status)
    INTERPOSE_AS(__lxstat64, __lxstat);

INTERPOSED(int, fxstat, __fxstat, (int version, int fd, struct stat *status),
           ((void)version, stat_fd(fd, status)));
int interpose_fxstat64(int version, int fd, struct stat *status) INTERPOSE_AS(__fxstat64, __fxstat);

int interpose_statx(int folder, const char *restrict path, int flags, unsigned mask,
                    struct statx *restrict status) INTERPOSE(statx);
int interpose_statx(int folder, const char *restrict path, int flags, unsigned mask,
                    struct statx *restrict status)
{
    struct interpose_path target;
    enum interpose_kind kind = interpose_find(path, &target);
    const char *real = kind == INTERPOSE_OTHER ? path : target.real;
    if (path && !*path && flags & AT_EMPTY_PATH)
        interpose_is_device(folder, &kind, &target.minor);
    int result = INTERPOSE_NEXT(interpose_statx, "statx")(folder, real, flags, mask, status);
    if (result != 0 || (kind != INTERPOSE_KFD && kind != INTERPOSE_RENDER))
        return result;
    dev_t number = number_of(kind, target.minor);
    status->stx_mode = DEVICE_MODE;
    status->stx_rdev_major = major(number);
    status->stx_rdev_minor = minor(number);
    status->stx_size = 0;
    return 0;
}

/* ---- access and names ---- */

/* A device may be read and written; a file only read. */
static int access_at(int folder, const char *path, int mode, int flags)
{
    struct interpose_path target;
    enum interpose_kind kind = interpose_find(path, &target);
    int (*next)(int, const char *, int, int) = INTERPOSE_NEXT(access_at, "faccessat");
    if (kind == INTERPOSE_OTHER)
        return next(folder, path, mode, flags);
    if (next(AT_FDCWD, target.real, F_OK, flags) != 0)
        return -1;
    if (!(mode & (kind == INTERPOSE_FILE ? W_OK : X_OK)))
        return kind == INTERPOSE_FILE ? next(AT_FDCWD, target.real, mode, flags) : 0;
    errno = EACCES;
    return -1;
}

INTERPOSED(int, access, access, (const char *path, int mode), access_at(AT_FDCWD, path, mode, 0));

INTERPOSED(int, faccessat, faccessat, (int folder, const char *path, int mode, int flags),
           access_at(folder, path, mode, flags));

INTERPOSED(int, eaccess, eaccess, (const char *path, int mode),
           access_at(AT_FDCWD, path, mode, AT_EACCESS));
int interpose_euidaccess(const char *path, int mode) INTERPOSE_AS(euidaccess, eaccess);

ssize_t interpose_readlinkat(int folder, const char *path, char *to, size_t size)
    INTERPOSE(readlinkat);
ssize_t interpose_readlinkat(int folder, const char *path, char *to, size_t size)
{
    struct interpose_path target;
    return INTERPOSE_NEXT(interpose_readlinkat, "readlinkat")(folder, instead_of(path, &target), to,
                                                              size);
}

ssize_t interpose_readlink(const char *path, char *to, size_t size) INTERPOSE(readlink);
ssize_t interpose_readlink(const char *path, char *to, size_t size)
{
    struct interpose_path target;
    return INTERPOSE_NEXT(interpose_readlink, "readlink")(instead_of(path, &target), to, size);
}

/* Our files have no links among them, so that a path of theirs is its own. */
char *interpose_realpath(const char *restrict path, char *restrict to) INTERPOSE(realpath);
char *interpose_realpath(const char *restrict path, char *restrict to)
{
    struct interpose_path target;
    if (interpose_find(path, &target) == INTERPOSE_OTHER)
        return INTERPOSE_NEXT(interpose_realpath, "realpath")(path, to);
    if (access_at(AT_FDCWD, path, F_OK, 0) != 0)
        return NULL;
    return to ? strcpy(to, target.inside) : strdup(target.inside);
}

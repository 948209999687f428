/* The paths and descriptors that are ours. See interpose.h. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "interpose.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"

#include "kfd_devices.h"

#define LENGTH(text) (sizeof(text) - 1)

void *interpose_next(const char *name)
{
    void *function = dlsym(RTLD_NEXT, name);
    if (!function) {
        fprintf(stderr, "heddle: the C library has no function '%s'\n", name);
        abort();
    }
    return function;
}

/* ---- paths ---- */

/* Paths of ours begin so; `instead` replaces the beginning. A beginning that does not end with ':'
 * is a whole component. */
static const struct {
    const char *begins, *instead;
} ours[] = {
    {"/dev/kfd", "/dev/kfd"},
    {"/dev/dri", "/dev/dri"},
    {"/sys/devices/virtual/kfd", "/sys/devices/virtual/kfd"},
    {"/sys/class/kfd", "/sys/devices/virtual/kfd"},
    {"/sys/dev/char/226:", "/sys/dev/char/226:"},
    {"/sys/module/amdgpu", "/sys/module/amdgpu"},
    {"/proc/modules", "/proc/modules"},
    {"/usr/share/libdrm/amdgpu.ids", "/usr/share/libdrm/amdgpu.ids"},
    {"/opt/amdgpu/share/libdrm/amdgpu.ids", "/usr/share/libdrm/amdgpu.ids"},
};

/* Takes out empty components, `.` and `..`. False: longer than any path. */
static bool normalise(const char *path, char *to, size_t size)
{
    size_t length = 0;
    while (*path) {
        path += strspn(path, "/");
        size_t component = strcspn(path, "/");
        bool up = component == 2 && path[0] == '.' && path[1] == '.';
        if (length + component + 2 > size)
            return false;
        if (up) {
            while (length > 0 && to[--length] != '/')
                ;
        } else if (component && !(component == 1 && path[0] == '.')) {
            to[length++] = '/';
            memcpy(to + length, path, component);
            length += component;
        }
        path += component;
    }
    to[length] = '\0';
    return true;
}

static const char *topology_folder(void)
{
    static const char *folder;
    static bool is_known;
    if (!__atomic_load_n(&is_known, __ATOMIC_ACQUIRE)) {
        const char *named = getenv("HEDDLE_TOPOLOGY");
        __atomic_store_n(&folder, named && named[0] == '/' ? strdup(named) : NULL,
                         __ATOMIC_RELAXED);
        __atomic_store_n(&is_known, true, __ATOMIC_RELEASE);
    }
    return folder;
}

/* The minor number of "/dev/dri/renderD128"; -1: none. */
static int render_minor(const char *path)
{
    static const char begins[] = "/dev/dri/renderD";
    const char *digits = path + LENGTH(begins);
    size_t count;
    if (strncmp(path, begins, LENGTH(begins)) != 0)
        return -1;
    count = strspn(digits, "0123456789");
    return count && count < 6 && !digits[count] && digits[0] != '0' ? atoi(digits) : -1;
}

static enum interpose_kind kind_of(const char *path, int *minor)
{
    *minor = render_minor(path);
    return strcmp(path, "/dev/kfd") == 0 ? INTERPOSE_KFD
           : *minor >= 0                 ? INTERPOSE_RENDER
                                         : INTERPOSE_FILE;
}

enum interpose_kind interpose_find(const char *path, struct interpose_path *target)
{
    char clean[INTERPOSE_PATH_MAX];
    const char *folder;
    target->kind = INTERPOSE_OTHER;
    if (!path || path[0] != '/' || !(folder = topology_folder())
        || !normalise(path, clean, sizeof clean))
        return INTERPOSE_OTHER;
    for (size_t i = 0; i < ARRAY_COUNT(ours); i++) {
        size_t length = strlen(ours[i].begins);
        char next = clean[min(length, strlen(clean))];
        if (strncmp(clean, ours[i].begins, length) != 0
            || (next && next != '/' && ours[i].begins[length - 1] != ':'))
            continue;
        int size = snprintf(target->real, sizeof target->real, "%s%s%s", folder, ours[i].instead,
                            clean + length);
        if (size < 0 || (size_t)size >= sizeof target->real)
            return INTERPOSE_OTHER;
        target->inside = target->real + strlen(folder);
        return target->kind = kind_of(clean, &target->minor);
    }
    return INTERPOSE_OTHER;
}

/* ---- descriptors ---- */

/* Descriptors beyond these are refused. */
#define DESCRIPTORS 65536

/* The program has copies of the descriptor that kfd_open() made, which stays ours: it lives as long
 * as one of them. */
static struct {
    int device;               /* by the program's: 1 + ours; 0: not a device */
    int copies;               /* by ours */
    enum interpose_kind kind; /* by ours */
    int minor;
    pid_t owner; /* by ours: the process that opened it */
} descriptors[DESCRIPTORS];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool in_table(int fd)
{
    return fd >= 0 && fd < DESCRIPTORS;
}

static int device_of(int fd)
{
    return in_table(fd) ? __atomic_load_n(&descriptors[fd].device, __ATOMIC_ACQUIRE) : 0;
}

bool interpose_is_parents(int fd)
{
    int device = device_of(fd);
    return device && descriptors[device - 1].owner != getpid();
}

bool interpose_is_device(int fd, enum interpose_kind *kind, int *minor)
{
    int device = device_of(fd);
    if (!device)
        return false;
    *kind = descriptors[device - 1].kind;
    *minor = descriptors[device - 1].minor;
    return true;
}

static int close_next(int fd)
{
    return INTERPOSE_NEXT(close, "close")(fd);
}

void interpose_copied(int fd, int copy)
{
    int last = -1;
    pthread_mutex_lock(&lock);
    int device = in_table(fd) ? descriptors[fd].device : 0;
    if (in_table(copy)) {
        int before = descriptors[copy].device;
        if (before && --descriptors[before - 1].copies == 0)
            last = before - 1;
        __atomic_store_n(&descriptors[copy].device, device, __ATOMIC_RELEASE);
        if (device)
            descriptors[device - 1].copies++;
    }
    pthread_mutex_unlock(&lock);
    if (last >= 0)
        close_next(last);
}

int interpose_open_device(const struct interpose_path *path, int flags)
{
    if (INTERPOSE_NEXT(access, "access")(path->real, F_OK) != 0)
        return -1;
    int device = kfd_open(path->kind == INTERPOSE_RENDER, path->minor);
    if (device < 0)
        return -1;
    int command = flags & O_CLOEXEC ? F_DUPFD_CLOEXEC : F_DUPFD;
    int fd = INTERPOSE_NEXT(fcntl, "fcntl")(device, command, 0);
    if (!in_table(fd) || !in_table(device)) {
        int reason = fd < 0 ? errno : EMFILE;
        if (fd >= 0)
            close_next(fd);
        close_next(device);
        errno = reason;
        return -1;
    }
    pthread_mutex_lock(&lock);
    descriptors[device].owner = getpid();
    descriptors[device].kind = path->kind;
    descriptors[device].minor = path->minor;
    descriptors[device].copies = 1;
    __atomic_store_n(&descriptors[fd].device, device + 1, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&lock);
    return fd;
}

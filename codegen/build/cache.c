/* The cache of builds. A platform's folder holds platform.so under a second name: as long as that
 * is there, the library's bytes belong to the folder, and removing the folder removes both names.
 * Called by build.c, site.c, objects.c, outputs.c and link.c. */
#include "cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/number.h"
#include "codegen/emit/emit.h"
#include "codegen/emit/names.h"

#define BUILD_BEGINS    'b'
#define BUILD_HAS_ENDED 'e'

enum entry_kind { ENTRY_OBJECT, ENTRY_LIBRARY, ENTRY_PLATFORM };

struct entry {
    const char *path;
    enum entry_kind kind;
    bool removed;
    uint64_t bytes; /* freed when it is removed */
    ino_t inode;    /* the library's */
    int64_t used_s; /* wall clock */
};

struct entries {
    struct entry *items;
    uint32_t count, capacity;
};

const char *cache_folder(struct region *region)
{
    const char *value = getenv("HEDDLE_CACHE");
    if (value && *value)
        return value;
    value = getenv("XDG_CACHE_HOME");
    if (value && *value)
        return region_printf(region, "%s/heddle", value);
    value = getenv("HOME");
    if (value && *value)
        return region_printf(region, "%s/.cache/heddle", value);
    return region_printf(region, "/tmp/heddle-%ld", (long)getuid());
}

/* Owners outside a container, most often the machine's root, look like this one inside. */
#define OVERFLOW_USER 65534u

static bool say_foreign(const char *what, const char *path, const char *why)
{
    fprintf(stderr, "heddle: %s '%s'%s\n", what, path, why);
    fprintf(stderr, "help: what lies there is run; set HEDDLE_CACHE to a folder of your own\n");
    return false;
}

static bool say_shared(const char *what, const char *path)
{
    fprintf(stderr, "heddle: other users can write to %s '%s'\n", what, path);
    fprintf(stderr, "help: what lies there is run; chmod go-w '%s', or set HEDDLE_CACHE\n", path);
    return false;
}

static bool is_safe(const char *path)
{
    struct stat status;
    char why[64];
    if (stat(path, &status) != 0 || !S_ISDIR(status.st_mode))
        return true; /* making or entering it says why it fails */
    snprintf(why, sizeof why, " belongs to another user (%ld)", (long)status.st_uid);
    if (status.st_uid != geteuid())
        return say_foreign("the cache", path, why);
    return !(status.st_mode & (S_IWGRP | S_IWOTH)) || say_shared("the cache", path);
}

/* A folder on the way to the cache. Where others can write, they can put another cache in its
 * place, but not in a folder like /tmp, where names are their owners' (sticky). */
static bool is_safe_above(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return true;
    if (status.st_uid != geteuid() && status.st_uid != 0 && status.st_uid != OVERFLOW_USER)
        return say_foreign("the cache lies in", path, ", which belongs to another user");
    return !(status.st_mode & (S_IWGRP | S_IWOTH)) || (status.st_mode & S_ISVTX)
           || say_shared("the folder above the cache,", path);
}

static bool is_way_safe(const char *path)
{
    char above[PATH_MAX];
    size_t length = strlen(path);
    if (length >= sizeof above)
        return true; /* no such file can be opened */
    memcpy(above, path, length + 1);
    for (char *slash = strrchr(above, '/'); slash; slash = strrchr(above, '/')) {
        *slash = '\0';
        if (!is_safe_above(above[0] ? above : "/"))
            return false;
    }
    return true;
}

/* By its name, and where links lead. */
static bool is_place_safe(const char *folder)
{
    char here[PATH_MAX], path[2 * PATH_MAX];
    bool is_relative = folder[0] != '/';
    if (is_relative && !getcwd(here, sizeof here))
        return true;
    snprintf(path, sizeof path, "%s%s%s", is_relative ? here : "", is_relative ? "/" : "", folder);
    char *real = realpath(folder, NULL);
    bool safe = is_way_safe(path) && (!real || is_way_safe(real));
    free(real);
    return safe;
}

bool cache_is_safe(const char *folder)
{
    static const char *const inside[] = {"", "/objects", "/libraries", "/platforms", "/opencl"};
    char path[PATH_MAX];
    struct stat status;
    if (!is_place_safe(folder))
        return false;
    for (size_t i = 0; i < ARRAY_COUNT(inside); i++) {
        int length = snprintf(path, sizeof path, "%s%s", folder, inside[i]);
        if (length < (int)sizeof path && !is_safe(path))
            return false;
        if (i == 0 && stat(path, &status) == 0 && !(status.st_mode & (S_IXGRP | S_IXOTH)))
            return true; /* no other user reaches what is inside */
    }
    return true;
}

void cache_say_full(const char *folder)
{
    struct statvfs disk;
    if (statvfs(folder, &disk) == 0 && (uint64_t)disk.f_bavail * disk.f_frsize < 1 << 20)
        fprintf(stderr,
                "heddle: the disk of the cache '%s' is full\nhelp: make room, or set HEDDLE_CACHE "
                "to a folder on another disk\n",
                folder);
}

bool cache_limit(uint64_t *bytes)
{
    static const struct {
        const char *name;
        unsigned shift;
    } units[] = {{"", 0}, {"B", 0}, {"KiB", 10}, {"MiB", 20}, {"GiB", 30}};
    const char *text = getenv("HEDDLE_CACHE_LIMIT");
    char *end = NULL;
    *bytes = CACHE_DEFAULT_LIMIT;
    if (!text || !*text)
        return true;
    errno = 0;
    uint64_t n = *text >= '0' && *text <= '9' ? strtoull(text, &end, 10) : 0;
    for (size_t i = 0; end && errno == 0 && i < ARRAY_COUNT(units); i++) {
        if (strcmp(end, units[i].name) != 0 || n > UINT64_MAX >> units[i].shift)
            continue;
        *bytes = n << units[i].shift;
        return true;
    }
    fprintf(stderr,
            "heddle: HEDDLE_CACHE_LIMIT is '%s'; it is a number of bytes, KiB, MiB or GiB "
            "(500MiB), 0 for no bound\n",
            text);
    return false;
}

void cache_touch(const char *path)
{
    utimensat(AT_FDCWD, path, NULL, 0);
}

/* Calls `visit` for each name in the folder; nothing when there is no folder. */
static void each_name(struct region *region, const char *folder,
                      void (*visit)(struct region *region, const char *path, void *context),
                      void *context)
{
    DIR *open_folder = opendir(folder);
    const struct dirent *name;
    while (open_folder && (name = readdir(open_folder)))
        if (name->d_name[0] != '.')
            visit(region, region_printf(region, "%s/%s", folder, name->d_name), context);
    if (open_folder)
        closedir(open_folder);
}

static void add_file(struct region *region, const char *path, void *context)
{
    struct entries *list = context;
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return;
    struct entry e = {.path = path,
                      .kind = strstr(path, "/libraries/") ? ENTRY_LIBRARY : ENTRY_OBJECT,
                      .inode = status.st_ino,
                      .used_s = status.st_mtim.tv_sec};
    e.bytes = status.st_nlink == 1 ? (uint64_t)status.st_blocks * 512 : 0;
    vector_push(region, list, e);
}

static void add_files(struct region *region, const char *path, void *context)
{
    each_name(region, path, add_file, context);
}

static void add_sizes(struct region *region, const char *path, void *context)
{
    struct entry *e = context;
    struct stat status;
    const char *name = strrchr(path, '/');
    (void)region;
    if (stat(path, &status) != 0)
        return;
    if (strcmp(name, "/platform.so") == 0)
        e->inode = status.st_ino;
    /* Two names: here, and in libraries/. More: other platforms use it, too. */
    if (status.st_nlink <= 2)
        e->bytes += (uint64_t)status.st_blocks * 512;
    if (strcmp(name, "/lock") == 0)
        e->used_s = status.st_mtim.tv_sec;
}

static void add_platform(struct region *region, const char *path, void *context)
{
    struct entries *list = context;
    struct entry e = {.path = path, .kind = ENTRY_PLATFORM};
    each_name(region, path, add_sizes, &e);
    vector_push(region, list, e);
}

static int by_use(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->used_s != y->used_s)
        return x->used_s < y->used_s ? -1 : 1;
    return strcmp(x->path, y->path);
}

static void remove_file(struct region *region, const char *path, void *context)
{
    (void)region;
    (void)context;
    unlink(path);
}

/* False: another process is building there. */
static bool remove_platform(struct region *region, const struct entry *e)
{
    int lock = open(region_printf(region, "%s/lock", e->path), O_RDWR | O_CLOEXEC);
    bool free_now = lock < 0 || flock(lock, LOCK_EX | LOCK_NB) == 0;
    if (free_now) {
        each_name(region, e->path, remove_file, NULL);
        rmdir(e->path);
    }
    if (lock >= 0)
        close(lock);
    return free_now;
}

/* Libraries that no platform names any more go with the last one. */
static void remove_library(struct entries *list, ino_t inode)
{
    for (uint32_t i = 0; inode && i < list->count; i++) {
        struct entry *e = &list->items[i];
        struct stat status;
        if (e->kind == ENTRY_LIBRARY && !e->removed && e->inode == inode
            && stat(e->path, &status) == 0 && status.st_nlink == 1) {
            e->removed = true;
            unlink(e->path);
        }
    }
}

/* Files have names of their own until builds have completed them: NAME.PID.tmp, NAME.PID.log. */
static void remove_temporary(struct region *region, const char *path, void *context)
{
    (void)region;
    (void)context;
    const char *suffix = strrchr(path, '.'), *digits = suffix;
    if (!suffix || (strcmp(suffix, ".tmp") != 0 && strcmp(suffix, ".log") != 0))
        return;
    while (digits > path && digits[-1] >= '0' && digits[-1] <= '9')
        digits--;
    if (digits != suffix && digits != path && digits[-1] == '.')
        unlink(path);
}

static void remove_temporaries(struct region *region, const char *path, void *context)
{
    each_name(region, path, remove_temporary, context);
}

/* The file `building` gets a byte from each build that begins, and one from each that has ended
 * well. Is one missing? */
static bool has_unfinished(int file)
{
    char marks[4096];
    ssize_t size;
    int open_builds = 0;
    if (lseek(file, 0, SEEK_SET) != 0)
        return true;
    while ((size = read(file, marks, sizeof marks)) > 0)
        for (ssize_t i = 0; i < size; i++)
            open_builds += marks[i] == BUILD_BEGINS ? 1 : -1;
    return size < 0 || open_builds != 0;
}

/* Called while no other build runs. Searching the cache for leftovers takes longer than many
 * builds, so it is done only after a build that did not end. */
static void clean_up(struct region *region, const char *folder, int file)
{
    static const char *const inside[] = {"objects", "libraries", "platforms"};
    if (has_unfinished(file)) {
        remove_temporaries(region, folder, NULL);
        for (size_t i = 0; i < ARRAY_COUNT(inside); i++)
            each_name(region, region_printf(region, "%s/%s", folder, inside[i]), remove_temporaries,
                      NULL);
    }
    if (ftruncate(file, 0) != 0)
        fprintf(stderr, "heddle: cannot write to the cache '%s': %s\n", folder, strerror(errno));
}

/* A disk without room for a byte has none for what is built, which is said there. */
static void mark(int file, char what)
{
    ssize_t written = write(file, &what, 1);
    (void)written;
}

int cache_begin(struct region *region, const char *folder)
{
    const char *path = region_printf(region, "%s/building", folder);
    if (!emit_make_folder(name_folder(region, folder)))
        return -1;
    if (mkdir(folder, 0700) != 0 && errno != EEXIST) {
        fprintf(stderr, "heddle: cannot create the cache '%s': %s\n", folder, strerror(errno));
        return -1;
    }
    int file = open(path, O_RDWR | O_CREAT | O_APPEND, 0600); /* compilers inherit it */
    if (file < 0) {
        fprintf(stderr, "heddle: cannot write to the cache '%s': %s\n", folder, strerror(errno));
        return -1;
    }
    if (flock(file, LOCK_EX | LOCK_NB) == 0)
        clean_up(region, folder, file);
    if (flock(file, LOCK_SH) == 0) {
        mark(file, BUILD_BEGINS);
        return file;
    }
    fprintf(stderr, "heddle: cannot lock '%s': %s\n", path, strerror(errno));
    close(file);
    return -1;
}

void cache_end(int file, bool ok)
{
    if (ok)
        mark(file, BUILD_HAS_ENDED);
    close(file);
}

uint64_t cache_prune(struct region *region, const char *folder, uint64_t limit)
{
    struct entries list = {0};
    uint64_t total = 0, freed = 0;
    int64_t recent = (int64_t)time(NULL) - CACHE_RECENT_SECONDS;
    each_name(region, region_printf(region, "%s/objects", folder), add_files, &list);
    each_name(region, region_printf(region, "%s/libraries", folder), add_files, &list);
    each_name(region, region_printf(region, "%s/opencl", folder), add_file, &list);
    each_name(region, region_printf(region, "%s/platforms", folder), add_platform, &list);
    for (uint32_t i = 0; i < list.count; i++)
        total += list.items[i].bytes;
    if (list.count)
        qsort(list.items, list.count, sizeof *list.items, by_use);
    for (uint32_t i = 0; i < list.count && total - freed > limit; i++) {
        struct entry *e = &list.items[i];
        if (e->removed || e->used_s > recent || !e->bytes)
            continue;
        if (e->kind == ENTRY_PLATFORM && !remove_platform(region, e))
            continue;
        if (e->kind != ENTRY_PLATFORM)
            unlink(e->path);
        e->removed = true;
        freed += e->bytes;
        if (e->kind == ENTRY_PLATFORM)
            remove_library(&list, e->inode);
    }
    return freed;
}

/* One line a path: size, time of change, path; then the results: "= SIZE SUM NAME", beside
 * the list; then "end SUM", of all lines before it. Called by build.c. */
#include "stamp.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "codegen/emit/emit.h"
#include "codegen/emit/input.h"
#include "codegen/emit/names.h"

#include "depend.h"
#include "seal.h"

#define FORMAT_LINE "heddle stamp 3\n"

struct identity {
    int64_t size;
    int64_t time_ns; /* -1: missing */
};

static struct identity identify(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return (struct identity){-1, -1};
    return (struct identity){S_ISDIR(status.st_mode) ? 0 : (int64_t)status.st_size,
                             (int64_t)status.st_mtim.tv_sec * 1000000000 + status.st_mtim.tv_nsec};
}

void stamp_begin(struct stamp *stamp, struct region *region)
{
    struct timespec now;
    *stamp = (struct stamp){.region = region};
    intern_init(&stamp->seen, region);
    char here[PATH_MAX];
    stamp->here = getcwd(here, sizeof here) ? region_strdup(region, here) : ".";
    clock_gettime(CLOCK_REALTIME, &now);
    /* File systems keep coarser times than the clock: leave a margin of 20 ms. */
    stamp->began_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec - 20000000;
}

void stamp_add(struct stamp *stamp, const char *path)
{
    const char *copy = path[0] == '/' ? region_strdup(stamp->region, path)
                                      : region_printf(stamp->region, "%s/%s", stamp->here, path);
    if (intern_find(&stamp->seen, copy))
        return;
    intern_add(&stamp->seen, copy, 0);
    vector_push(stamp->region, &stamp->paths, copy);
}

void stamp_add_result(struct stamp *stamp, const char *name)
{
    vector_push(stamp->region, &stamp->results, region_strdup(stamp->region, name));
}

/* A file that is not there, or the outermost folder of it that is not: while that is missing, so is
 * all that would lie in it. Most places in which a header was looked for in vain are such. */
static const char *outermost_missing(struct region *region, const char *path)
{
    char *place = region_strdup(region, path), *slash;
    size_t kept = strlen(place);
    while ((slash = strrchr(place, '/')) && slash != place) {
        *slash = '\0';
        if (identify(place).time_ns >= 0)
            break;
        kept = (size_t)(slash - place);
    }
    return region_strndup(region, path, kept);
}

/* False: a path that cannot be written, or that has changed since. */
static bool put_inputs(const struct stamp *stamp, struct emit *e)
{
    struct intern missing;
    intern_init(&missing, stamp->region);
    for (uint32_t i = 0; i < stamp->paths.count; i++) {
        const char *path = stamp->paths.items[i];
        struct identity now = identify(path);
        if (now.time_ns >= stamp->began_ns || strchr(path, '\n'))
            return false;
        if (now.time_ns < 0) {
            path = outermost_missing(stamp->region, path);
            if (intern_find(&missing, path))
                continue;
            intern_add(&missing, path, 0);
        }
        emit(e, "%" PRId64 " %" PRId64 " %s\n", now.size, now.time_ns, path);
    }
    return true;
}

/* A result lies in the folder of the list, wherever that has been copied to. */
static const char *beside(struct region *region, const char *file, const char *name)
{
    return region_printf(region, "%s/%s", name_folder(region, file), name);
}

void stamp_write(const struct stamp *stamp, const char *file)
{
    struct emit e;
    emit_init(&e, stamp->region);
    emit(&e, FORMAT_LINE);
    if (!put_inputs(stamp, &e)) {
        unlink(file);
        return;
    }
    for (uint32_t i = 0; i < stamp->results.count; i++) {
        uint64_t size, sum;
        if (!seal_sum_file(beside(stamp->region, file, stamp->results.items[i]), &size, &sum)) {
            unlink(file);
            return;
        }
        emit(&e, "= %" PRIu64 " %" PRIx64 " %s\n", size, sum, stamp->results.items[i]);
    }
    emit(&e, "end %" PRIx64 "\n", hash_bytes(0, e.text, e.size));
    emit_write(&e, file);
}

/* "SIZE TIME PATH" */
static bool input_holds(const char *line)
{
    int64_t size, time_ns;
    int at = 0;
    if (sscanf(line, "%" SCNd64 " %" SCNd64 " %n", &size, &time_ns, &at) != 2 || at == 0)
        return false;
    struct identity now = identify(line + at);
    return now.time_ns == time_ns && now.size == size;
}

/* "SIZE SUM NAME" */
static bool result_holds(struct region *region, const char *file, const char *line)
{
    uint64_t size, sum, now_size, now;
    int at = 0;
    return sscanf(line, "%" SCNu64 " %" SCNx64 " %n", &size, &sum, &at) == 2 && at > 0
           && seal_sum_file(beside(region, file, line + at), &now_size, &now) && now_size == size
           && now == sum;
}

static bool lines_hold(struct region *region, const char *file, char *text, size_t size)
{
    char *end = size > 0 && text[size - 1] == '\n' ? strstr(text, "\nend ") : NULL;
    uint64_t sum;
    if (strncmp(text, FORMAT_LINE, sizeof FORMAT_LINE - 1) != 0 || !end
        || sscanf(end, "\nend %" SCNx64, &sum) != 1
        || hash_bytes(0, text, (size_t)(end + 1 - text)) != sum)
        return false;
    end[1] = '\0';
    for (char *line = text + sizeof FORMAT_LINE - 1; *line;) {
        char *next = strchr(line, '\n');
        *next = '\0';
        if (!(*line == '=' ? result_holds(region, file, line + 1) : input_holds(line)))
            return false;
        line = next + 1;
    }
    return true;
}

bool stamp_holds(const char *file)
{
    struct region region;
    size_t size;
    region_init(&region, "a description");
    char *text = input_read(&region, file, &size);
    bool holds = text && lines_hold(&region, file, text, size);
    region_release(&region);
    return holds;
}

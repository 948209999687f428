/* One line a path: size, time of change, path. Called by build.c. */
#include "codegen/build/stamp.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "codegen/emit/emit.h"

#define FORMAT_LINE "heddle stamp 1\n"

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

void stamp_begin(struct stamp *stamp, struct arena *arena)
{
    struct timespec now;
    *stamp = (struct stamp){.arena = arena};
    intern_init(&stamp->seen, arena);
    char here[PATH_MAX];
    stamp->here = getcwd(here, sizeof here) ? arena_strdup(arena, here) : ".";
    clock_gettime(CLOCK_REALTIME, &now);
    /* File systems keep coarser times than the clock: leave a margin of 20 ms. */
    stamp->began_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec - 20000000;
}

void stamp_add(struct stamp *stamp, const char *path)
{
    const char *copy = path[0] == '/' ? arena_strdup(stamp->arena, path)
                                      : arena_printf(stamp->arena, "%s/%s", stamp->here, path);
    if (intern_find(&stamp->seen, copy))
        return;
    intern_add(&stamp->seen, copy, 0);
    vector_push(stamp->arena, &stamp->paths, copy);
}

void stamp_write(const struct stamp *stamp, const char *file)
{
    struct emit e;
    emit_init(&e, stamp->arena);
    emit(&e, FORMAT_LINE);
    for (uint32_t i = 0; i < stamp->paths.count; i++) {
        struct identity now = identify(stamp->paths.items[i]);
        if (now.time_ns >= stamp->began_ns || strchr(stamp->paths.items[i], '\n')) {
            unlink(file);
            return;
        }
        emit(&e, "%" PRId64 " %" PRId64 " %s\n", now.size, now.time_ns, stamp->paths.items[i]);
    }
    emit_write(&e, file);
}

bool stamp_holds(const char *file)
{
    FILE *in = fopen(file, "r");
    if (!in)
        return false;
    char *line = NULL;
    size_t room = 0;
    ssize_t length = getline(&line, &room, in);
    bool holds = length > 0 && strcmp(line, FORMAT_LINE) == 0;
    while (holds && (length = getline(&line, &room, in)) > 0) {
        int64_t size, time_ns;
        int at = 0;
        line[length - 1] = '\0';
        holds = sscanf(line, "%" SCNd64 " %" SCNd64 " %n", &size, &time_ns, &at) == 2 && at > 0;
        if (holds) {
            struct identity now = identify(line + at);
            holds = now.size == size && now.time_ns == time_ns;
        }
    }
    free(line);
    fclose(in);
    return holds;
}

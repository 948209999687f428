/* Finds the library, the headers and the archives; see toolkit.h. Called once by main.c. */
#include "codegen/build/toolkit.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool exists(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0;
}

static const char *own_folder(struct arena *arena)
{
    char path[PATH_MAX];
    ssize_t size = readlink("/proc/self/exe", path, sizeof path - 1);
    if (size <= 0)
        return NULL;
    path[size] = '\0';
    char *slash = strrchr(path, '/');
    *slash = '\0';
    return arena_strdup(arena, path);
}

static bool set_home(struct arena *arena, const char *home, struct toolkit *toolkit)
{
    toolkit->home = home;
    toolkit->library = arena_printf(arena, "%s/components", home);
    toolkit->python = arena_printf(arena, "%s/python", home);
    return exists(toolkit->library);
}

/* Lines "key=value": source (the checkout), archive and library (any number), hip, opencl,
 * cuda, kfd, mpi, objects (folders and libraries). */
static bool read_home_file(struct arena *arena, const char *path, struct toolkit *toolkit)
{
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    char line[PATH_MAX + 32];
    const char *source = NULL;
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        char *value = strchr(line, '=');
        if (!value)
            continue;
        *value++ = '\0';
        if (strcmp(line, "source") == 0)
            source = arena_strdup(arena, value);
        else if (strcmp(line, "archive") == 0 && exists(value))
            vector_push(arena, &toolkit->archives, arena_strdup(arena, value));
        else if (strcmp(line, "archive") == 0)
            toolkit->not_built = arena_strdup(arena, value);
        else if (strcmp(line, "library") == 0)
            vector_push(arena, &toolkit->libraries, arena_strdup(arena, value));
        else if (strcmp(line, "hip") == 0)
            toolkit->hip_folder = arena_strdup(arena, value);
        else if (strcmp(line, "opencl") == 0 && exists(value))
            toolkit->opencl_library = arena_strdup(arena, value);
        else if (strcmp(line, "cuda") == 0)
            toolkit->cuda_folder = arena_strdup(arena, value);
        else if (strcmp(line, "kfd") == 0)
            toolkit->kfd_library = arena_strdup(arena, value);
        else if (strcmp(line, "mpi") == 0)
            toolkit->mpi_folder = arena_strdup(arena, value);
        else if (strcmp(line, "objects") == 0)
            toolkit->objects = arena_strdup(arena, value);
    }
    fclose(file);
    if (!source)
        return false;
    toolkit->include[0] = source;
    return set_home(arena, source, toolkit);
}

/* Without ".." and links: whether a file is of the library is told by its path. */
static const char *plain_path(struct arena *arena, const char *path)
{
    char *real = realpath(path, NULL);
    const char *made = arena_strdup(arena, real ? real : path);
    free(real);
    return made;
}

static bool read_prefix(struct arena *arena, const char *folder, struct toolkit *toolkit)
{
    static const char *const folders[] = {"lib", "lib/x86_64-linux-gnu", "lib64"};
    static const char *const archives[] = {
        "libheddle_runtime.a",    "heddle/libisa.a",           "heddle/libsampling.a",
        "heddle/libfunctional.a", "heddle/libexecute.a",       "heddle/libcode_object.a",
        "heddle/libapi_trace.a",  "heddle/libitrace.a",        "heddle/libptx_code.a",
        "heddle/libwarp.a",       "heddle/libptx.a",           "heddle/libptx_services.a",
        "heddle/libpage_table.a", "heddle/libdriver_memory.a", "heddle/libchecks.a"};
    /* What the readers of code objects and of compressed traces need. */
    static const char *const libraries[] = {"-ldw", "-lelf", "-lmsgpackc", "-llzma", "-lzstd"};
    const char *prefix = plain_path(arena, folder);
    if (!set_home(arena, arena_printf(arena, "%s/share/heddle", prefix), toolkit))
        return false;
    toolkit->objects = arena_printf(arena, "%s/share/heddle/compiled/objects", prefix);
    toolkit->include[0] = arena_printf(arena, "%s/include/heddle", prefix);
    toolkit->include[1] = toolkit->home;
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++)
        vector_push(arena, &toolkit->libraries, libraries[i]);
    for (size_t f = 0; f < sizeof folders / sizeof folders[0]; f++) {
        for (size_t a = 0; a < sizeof archives / sizeof archives[0]; a++) {
            const char *path = arena_printf(arena, "%s/%s/%s", prefix, folders[f], archives[a]);
            if (exists(path))
                vector_push(arena, &toolkit->archives, path);
        }
        const char *hip = arena_printf(arena, "%s/%s/heddle", prefix, folders[f]);
        if (exists(arena_printf(arena, "%s/libamdhip64.so.5", hip)))
            toolkit->hip_folder = hip;
        if (exists(arena_printf(arena, "%s/libheddle_opencl.so", hip)))
            toolkit->opencl_library = arena_printf(arena, "%s/libheddle_opencl.so", hip);
        if (exists(arena_printf(arena, "%s/libcudart.so.13", hip)))
            toolkit->cuda_folder = hip;
        if (exists(arena_printf(arena, "%s/libheddle_kfd.so", hip)))
            toolkit->kfd_library = arena_printf(arena, "%s/libheddle_kfd.so", hip);
        if (exists(arena_printf(arena, "%s/heddle_mpi_openmpi.so", hip))
            || exists(arena_printf(arena, "%s/heddle_mpi_mpich.so", hip)))
            toolkit->mpi_folder = hip;
    }
    return true;
}

bool toolkit_find(struct arena *arena, struct toolkit *toolkit)
{
    *toolkit = (struct toolkit){0};
    const char *home = getenv("HEDDLE_HOME");
    const char *start = home && *home ? home : own_folder(arena);
    if (start) {
        if (read_home_file(arena, arena_printf(arena, "%s/heddle.home", start), toolkit)
            || read_home_file(arena, arena_printf(arena, "%s/codegen/heddle.home", start), toolkit))
            return true;
        *toolkit = (struct toolkit){0};
        if (read_prefix(arena, home && *home ? start : arena_printf(arena, "%s/..", start),
                        toolkit))
            return true;
    }
    fprintf(stderr,
            "heddle: cannot find the component library: neither '%s/heddle.home' nor "
            "'%s%s/share/heddle/components' is there\n",
            start ? start : "?", start ? start : "?", home && *home ? "" : "/..");
    fprintf(stderr, "help: set HEDDLE_HOME to an installation prefix or a build folder\n");
    return false;
}

/* Finds the library, the headers and the archives; see toolkit.h. Called once by main.c. */
#include "toolkit.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/number.h"

static bool file_exists(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0;
}

static const char *own_folder(struct region *region)
{
    char path[PATH_MAX];
    ssize_t size = readlink("/proc/self/exe", path, sizeof path - 1);
    if (size <= 0)
        return NULL;
    path[size] = '\0';
    char *slash = strrchr(path, '/');
    *slash = '\0';
    return region_strdup(region, path);
}

static bool set_home(struct region *region, const char *home, struct toolkit *toolkit)
{
    toolkit->home = home;
    toolkit->library = region_printf(region, "%s/components", home);
    toolkit->python = region_printf(region, "%s/python", home);
    return file_exists(toolkit->library);
}

static void keep_path(struct region *region, struct toolkit *toolkit, const char *key,
                      const char *value)
{
    const struct {
        const char *key, **path;
        bool must_exist;
    } rows[] = {
        {"archive", &toolkit->not_built, false},    {"hip", &toolkit->hip_folder, false},
        {"opencl", &toolkit->opencl_library, true}, {"cuda", &toolkit->cuda_folder, false},
        {"kfd", &toolkit->kfd_library, false},      {"mpi", &toolkit->mpi_folder, false},
        {"objects", &toolkit->objects, false},
    };
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
        if (strcmp(key, rows[i].key) == 0 && (!rows[i].must_exist || file_exists(value)))
            *rows[i].path = region_strdup(region, value);
}

/* Lines "key=value": source (the checkout), archive and library (any number), hip, opencl,
 * cuda, kfd, mpi, objects (folders and libraries). */
static bool read_home_file(struct region *region, const char *path, struct toolkit *toolkit)
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
            source = region_strdup(region, value);
        else if (strcmp(line, "archive") == 0 && file_exists(value))
            vector_push(region, &toolkit->archives, region_strdup(region, value));
        else if (strcmp(line, "library") == 0)
            vector_push(region, &toolkit->libraries, region_strdup(region, value));
        else
            keep_path(region, toolkit, line, value);
    }
    fclose(file);
    if (!source)
        return false;
    toolkit->include[0] = source;
    return set_home(region, source, toolkit);
}

/* Without ".." and links: whether a file is of the library is told by its path. */
static const char *plain_path(struct region *region, const char *path)
{
    char *real = realpath(path, NULL);
    const char *made = region_strdup(region, real ? real : path);
    free(real);
    return made;
}

static bool read_prefix(struct region *region, const char *folder, struct toolkit *toolkit)
{
    static const char *const folders[] = {"lib", "lib/x86_64-linux-gnu", "lib64"};
    static const char *const archives[] = {
        "libheddle_runtime.a",       "heddle/libisa.a",        "heddle/libsampling.a",
        "heddle/libstatistics.a",    "heddle/libfunctional.a", "heddle/libexecute.a",
        "heddle/libcode_object.a",   "heddle/libapi_trace.a",  "heddle/libitrace.a",
        "heddle/libptx_code.a",      "heddle/libwarp.a",       "heddle/libptx.a",
        "heddle/libptx_services.a",  "heddle/libpage_table.a", "heddle/liblivelock.a",
        "heddle/libdriver_memory.a", "heddle/libpacket.a",     "heddle/libchecks.a",
        "heddle/libheddle_base.a"};
    /* Libraries that the readers of code objects and of compressed traces need. */
    static const char *const libraries[] = {"-ldw", "-lelf", "-lmsgpackc", "-llzma", "-lzstd"};
    const char *prefix = plain_path(region, folder);
    if (!set_home(region, region_printf(region, "%s/share/heddle", prefix), toolkit))
        return false;
    toolkit->objects = region_printf(region, "%s/share/heddle/compiled/objects", prefix);
    toolkit->include[0] = region_printf(region, "%s/include/heddle", prefix);
    toolkit->include[1] = toolkit->home;
    for (size_t i = 0; i < ARRAY_COUNT(libraries); i++)
        vector_push(region, &toolkit->libraries, libraries[i]);
    for (size_t f = 0; f < ARRAY_COUNT(folders); f++) {
        for (size_t a = 0; a < ARRAY_COUNT(archives); a++) {
            const char *path = region_printf(region, "%s/%s/%s", prefix, folders[f], archives[a]);
            if (file_exists(path))
                vector_push(region, &toolkit->archives, path);
        }
        const char *hip = region_printf(region, "%s/%s/heddle", prefix, folders[f]);
        if (file_exists(region_printf(region, "%s/libamdhip64.so.5", hip)))
            toolkit->hip_folder = hip;
        if (file_exists(region_printf(region, "%s/libheddle_opencl.so", hip)))
            toolkit->opencl_library = region_printf(region, "%s/libheddle_opencl.so", hip);
        if (file_exists(region_printf(region, "%s/libcudart.so.13", hip)))
            toolkit->cuda_folder = hip;
        if (file_exists(region_printf(region, "%s/libheddle_kfd.so", hip)))
            toolkit->kfd_library = region_printf(region, "%s/libheddle_kfd.so", hip);
        if (file_exists(region_printf(region, "%s/heddle_mpi_openmpi.so", hip))
            || file_exists(region_printf(region, "%s/heddle_mpi_mpich.so", hip)))
            toolkit->mpi_folder = hip;
    }
    return true;
}

bool toolkit_find(struct region *region, struct toolkit *toolkit)
{
    *toolkit = (struct toolkit){0};
    const char *home = getenv("HEDDLE_HOME");
    const char *start = home && *home ? home : own_folder(region);
    if (start) {
        if (read_home_file(region, region_printf(region, "%s/heddle.home", start), toolkit)
            || read_home_file(region, region_printf(region, "%s/codegen/heddle.home", start),
                              toolkit))
            return true;
        *toolkit = (struct toolkit){0};
        if (read_prefix(region, home && *home ? start : region_printf(region, "%s/..", start),
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

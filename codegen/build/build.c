/* Builds a platform. The steps are: look at the stamp; elaborate, generate, compile (objects.c),
 * link (link.c); write the stamp; bound the cache. Called by command_run.c. */
#include "build.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "codegen/emit/gen.h"
#include "codegen/emit/layout.h"
#include "dsl/compile.h"

#include "cache.h"
#include "link.h"
#include "objects.h"
#include "site.h"
#include "sources.h"
#include "stamp.h"

#define LIBRARY "platform.so"
#define TABLES  "platform.tables"
#define STAMP   "platform.stamp"

static bool start_build(struct site *site, struct region *region,
                        const struct build_request *request, struct build_result *result)
{
    *result = (struct build_result){0};
    if (!site_open(site, region, request))
        return false;
    result->platform_so = site_file(site, LIBRARY);
    result->tables = site_file(site, TABLES);
    return true;
}

bool build_is_current(struct region *region, const struct build_request *request,
                      struct build_result *result)
{
    struct site site;
    /* A folder of the user's may hold anything by now. */
    bool current = !request->folder && start_build(&site, region, request, result)
                   && access(result->platform_so, R_OK) == 0 && access(result->tables, R_OK) == 0
                   && stamp_holds(site_file(&site, STAMP));
    if (current)
        site_touch(&site);
    return current;
}

static bool is_below(const char *path, const char *folder)
{
    size_t size = strlen(folder);
    return strncmp(path, folder, size) == 0 && path[size] == '/';
}

/* The descriptions, and where a file that appears would be imported instead of one of them. */
static void add_descriptions(struct stamp *stamp, const struct compilation *compilation)
{
    const char *missed;
    for (size_t i = 0; i < compile_file_count(compilation); i++)
        stamp_add(stamp, compile_file_name(compilation, i));
    for (size_t i = 0; (missed = compile_missed(compilation, i)); i++)
        stamp_add(stamp, missed);
}

/* Everything the result was made from. */
static void write_stamp(const struct site *site, struct stamp *stamp,
                        const struct compilation *compilation, const struct depend *depend)
{
    const struct toolkit *toolkit = site->request->toolkit;
    add_descriptions(stamp, compilation);
    for (uint32_t i = 0; i < toolkit->archives.count; i++)
        stamp_add(stamp, toolkit->archives.items[i]);
    stamp_add(stamp, "/proc/self/exe");
    for (uint32_t i = 0; i < depend_count(depend); i++)
        if (!is_below(depend_path(depend, i), site->folder))
            stamp_add(stamp, depend_path(depend, i));
    stamp_add_result(stamp, LIBRARY);
    stamp_add_result(stamp, TABLES);
    stamp_write(stamp, site_file(site, STAMP));
}

static bool make_module(const struct site *site, const struct model *model, struct objects *objects,
                        struct build_result *result)
{
    struct gen_files files = {0};
    const struct layout *layout = layout_make(site->region, model, site->request->generic);
    if (!sources_check(layout))
        return false;
    bool ok = gen_headers(site->region, model, site->folder, &files)
              && gen_platform(site->region, layout, site->folder, &files)
              && objects_make(site, layout, objects);
    result->compiled = objects->compiled;
    return ok && link_platform(site, &objects->paths, result);
}

static struct compilation *open_compilation(const struct build_request *request)
{
    struct compile_options options = {
        .library_root = request->toolkit->library,
        .include_paths = request->include,
        .include_count = request->include_count,
        .overrides = request->overrides,
        .override_count = request->override_count,
        .allow_incoherent = request->allow_incoherent,
    };
    return compile_open(&options);
}

static void bound_cache(const struct site *site, uint64_t limit)
{
    uint64_t freed = cache_prune(site->region, site->cache, limit);
    if (freed && site->request->verbose)
        fprintf(stderr, "heddle: removed %llu MiB that were used longest ago from the cache\n",
                (unsigned long long)(freed >> 20));
}

bool build_platform(struct region *region, const struct build_request *request,
                    struct build_result *result)
{
    struct site site;
    struct stamp stamp;
    struct objects objects = {0};
    uint64_t limit;
    if (!cache_limit(&limit) || !start_build(&site, region, request, result))
        return false;
    int building = cache_begin(region, site.cache);
    if (building < 0)
        return false;
    stamp_begin(&stamp, region);
    struct compilation *compilation = open_compilation(request);
    const struct model *model = compile_platform(compilation, request->file, request->platform);
    compile_print_diagnostics(compilation, stderr, request->colour);
    result->refused = model && request->accept && !request->accept(model, request->context);
    if (result->refused)
        model = NULL;
    int lock = model ? site_lock(&site) : -1;
    bool ok = lock >= 0 && make_module(&site, model, &objects, result);
    /* Warnings are shown once a build, as compilers do; `heddle check` shows them always. */
    if (ok)
        write_stamp(&site, &stamp, compilation, &objects.depend);
    if (ok && limit && (result->compiled || result->linked))
        bound_cache(&site, limit);
    if (lock >= 0)
        close(lock);
    cache_end(building, ok);
    compile_close(compilation);
    return ok;
}

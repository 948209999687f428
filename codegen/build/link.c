/* Links objects to a platform. Linked libraries are shared, too: all generic builds with the same
 * units have one. Called by build.c. */
#include "link.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/number.h"
#include "base/sha256.h"
#include "codegen/emit/emit.h"
#include "codegen/emit/input.h"

#include "cache.h"
#include "compiler.h"
#include "outputs.h"
#include "seal.h"

static struct words link_arguments(const struct site *site, const struct words *objects,
                                   const char *output)
{
    static const char *const head[] = {"-shared",
                                       "-fPIC",
                                       "-Wl,-z,defs",
                                       "-Wl,-z,now",
                                       "-Wl,--gc-sections",
                                       "-Wl,-u,heddle_platform_open",
                                       "-Wl,-u,sampling_extension",
                                       "-Wl,-u,checks_extension",
                                       "-o"};
    const char *own_flags = getenv("HEDDLE_CFLAGS");
    const struct toolkit *toolkit = site->request->toolkit;
    struct region *region = site->region;
    struct words argv = {0};
    vector_push(region, &argv, site->compiler.name);
    for (size_t i = 0; i < ARRAY_COUNT(head); i++)
        vector_push(region, &argv, head[i]);
    vector_push(region, &argv, output);
    vector_push(region, &argv, "-Xlinker"); /* -Wl would part it at commas */
    vector_push(region, &argv,
                region_printf(region, "--version-script=%s/platform.map", site->cache));
    for (uint32_t i = 0; i < objects->count; i++)
        vector_push(region, &argv, objects->items[i]);
    /* Debug information is two thirds of the file, which each run reads. A user who asks for -g
     * wants to keep it. */
    if (!own_flags || !strstr(own_flags, "-g"))
        vector_push(region, &argv, "-Wl,--strip-debug");
    vector_push(region, &argv, "-Wl,--start-group");
    for (uint32_t i = 0; i < toolkit->archives.count; i++)
        vector_push(region, &argv, toolkit->archives.items[i]);
    vector_push(region, &argv, "-Wl,--end-group");
    vector_push(region, &argv, "-Wl,--as-needed");
    for (uint32_t i = 0; i < toolkit->libraries.count; i++)
        vector_push(region, &argv, toolkit->libraries.items[i]);
    vector_push(region, &argv, "-lm");
    vector_push(region, &argv, "-lpthread");
    words_add(region, &argv, getenv("HEDDLE_LDFLAGS"));
    return argv;
}

static void key_library(const struct site *site, const struct words *objects, char key[65])
{
    const struct toolkit *toolkit = site->request->toolkit;
    struct words argv = link_arguments(site, objects, "");
    struct sha256 hash;
    sha256_init(&hash);
    sha256_add_string(&hash, site->compiler.key);
    for (uint32_t i = 0; i < argv.count; i++)
        sha256_add_string(&hash, argv.items[i]);
    for (uint32_t i = 0; i < toolkit->archives.count; i++)
        compiler_add_identity(&hash, toolkit->archives.items[i]);
    sha256_finish(&hash, key);
}

/* Exports one symbol, whatever the archives have. */
static bool write_export_list(const struct site *site)
{
    static const char text[] = "{ global: heddle_platform_open; local: *; };\n";
    return emit_write_bytes(region_printf(site->region, "%s/platform.map", site->cache), text,
                            sizeof text - 1)
           != EMIT_FAILED;
}

static bool make_library(const struct site *site, const struct words *objects, const char *library)
{
    struct words argv = link_arguments(site, objects, outputs_temporary(site, library));
    struct outputs outputs = {0};
    outputs_plan(site, &outputs, "platform.so", &argv, library);
    outputs_make(site, &outputs);
    bool ok = outputs_keep(site, &outputs);
    if (!ok && site->request->toolkit->not_built)
        fprintf(stderr,
                "heddle: '%s' is not built, which platforms that execute PTX need; "
                "'./dev build' builds it\n",
                site->request->toolkit->not_built);
    return ok;
}

/* Gives `library` of the cache the name platform.so in the build's folder: the same file where that
 * is possible, otherwise a copy. */
static bool place_library(const struct site *site, const char *library, const char *output)
{
    struct stat wanted, present;
    const char *made = outputs_temporary(site, output);
    if (stat(library, &wanted) == 0 && stat(output, &present) == 0
        && wanted.st_ino == present.st_ino && wanted.st_dev == present.st_dev)
        return true;
    unlink(made);
    if (link(library, made) == 0) {
        if (rename(made, output) == 0)
            return true;
        fprintf(stderr, "heddle: cannot write '%s': %s\n", output, strerror(errno));
        return false;
    }
    size_t size;
    const char *bytes = input_read(site->region, library, &size);
    return bytes && emit_write_bytes(output, bytes, size) != EMIT_FAILED;
}

bool link_platform(const struct site *site, const struct words *objects,
                   struct build_result *result)
{
    char key[65];
    key_library(site, objects, key);
    const char *folder = region_printf(site->region, "%s/libraries/%.2s", site->cache, key);
    const char *library = region_printf(site->region, "%s/%s.so", folder, key);
    if (seal_holds(library)) {
        cache_touch(library);
    } else {
        if (!emit_make_folder(folder) || !write_export_list(site))
            return false;
        result->linked = true;
        if (!make_library(site, objects, library))
            return false;
    }
    return place_library(site, library, result->platform_so);
}

/* Finds the installed compiler and earlier builds, and chooses the steps of a build:
 * clCompileProgram() ends after the first, clLinkProgram() does the others. */
#define _GNU_SOURCE /* dladdr */
#include "opencl_compiler.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/number.h"
#include "base/path_search.h"
#include "components/amd/isa/isa_target.h"
#include "components/clang/clang_library.h"

#include "opencl_cache.h"
#include "opencl_clang.h"
#include "opencl_functions.h"
#include "opencl_prelude.h"

static const char extensions[] =
    "cl_khr_3d_image_writes cl_khr_byte_addressable_store cl_khr_fp16 cl_khr_fp64 "
    "cl_khr_global_int32_base_atomics "
    "cl_khr_global_int32_extended_atomics cl_khr_int64_base_atomics "
    "cl_khr_int64_extended_atomics cl_khr_local_int32_base_atomics "
    "cl_khr_local_int32_extended_atomics cl_khr_subgroups cl_amd_media_ops cl_amd_media_ops2";

/* ---- what is installed ---- */

/* Returns a message about the first thing that is missing, or NULL. */
static const char *find_missing(const char *target)
{
    char path[PATH_MAX], library[64];
    bool is_borrowed;
    if (!isa_traits_of(target))
        return "OpenCL programs cannot be compiled for this target";
    if (!path_search(OPENCL_COMPILER, path, sizeof path))
        return "OpenCL programs need clang-19 in PATH; install clang-19 and lld-19";
    if (!path_search(OPENCL_LINKER, path, sizeof path))
        return "OpenCL programs need ld.lld-19 in PATH; install lld-19";
    if (!clang_library_exists(opencl_libraries[0])
        || !clang_library_of_target(target, library, sizeof library, &is_borrowed))
        return "OpenCL programs need AMD's device library; install rocm-device-libs";
    return NULL;
}

bool opencl_compiler_is_available(const char *target)
{
    return !find_missing(target);
}

bool opencl_compiler_keeps_denormals(const char *target)
{
    enum isa_target isa;
    return isa_target_by_name(target, &isa) != 0 || isa_is_gfx9(isa);
}

const char *opencl_compiler_extensions(const char *target)
{
    return isa_traits_of(target) ? extensions : "";
}

/* ---- the cache's key ---- */

/* The dependencies of every build: target, compiler, device library, and this library, which says
 * how they are called. */
static void begin_key(struct sha256 *key, const char *target, const char *options)
{
    static const char *const programs[] = {OPENCL_COMPILER, OPENCL_LINKER};
    Dl_info library;
    sha256_init(key);
    sha256_add_string(key, "OpenCL 1");
    if (dladdr(opencl_prelude, &library) && library.dli_fname)
        opencl_cache_add_identity(key, library.dli_fname);
    sha256_add_string(key, target);
    sha256_add_string(key, options ? options : "");
    for (size_t i = 0; i < ARRAY_COUNT(programs); i++) {
        char path[PATH_MAX];
        bool is_found = path_search(programs[i], path, sizeof path);
        opencl_cache_add_identity(key, is_found ? path : "");
    }
    for (size_t i = 0; i < OPENCL_LIBRARIES; i++) {
        char *path = clang_join(CLANG_LIBRARY_FOLDER "/", opencl_libraries[i]);
        opencl_cache_add_identity(key, path);
        clang_release(path);
    }
}

static void add_texts(struct sha256 *key, const struct opencl_text *texts, size_t count)
{
    sha256_add(key, &count, sizeof count);
    for (size_t i = 0; i < count; i++) {
        sha256_add_string(key, texts[i].name ? texts[i].name : "");
        opencl_cache_add(key, texts[i].bytes, texts[i].size);
    }
}

/* ---- public ---- */

/* Refuses what cannot be built; OPENCL_BUILD_OK: continue. `options` is to be released. */
static enum opencl_build_status begin_build(struct opencl_options *options, const char *text,
                                            bool is_link, const char *target,
                                            struct opencl_built *built)
{
    *built = (struct opencl_built){.log = clang_allocate(1)};
    char *message = opencl_options_read(options, text, is_link);
    const char *missing = find_missing(target);
    enum opencl_build_status status =
        message   ? opencl_fail(built, OPENCL_BUILD_INVALID_OPTIONS, message)
        : missing ? opencl_fail(built, OPENCL_BUILD_COMPILER_MISSING, missing)
                  : OPENCL_BUILD_OK;
    clang_release(message);
    return status;
}

/* A code object, with the functions of ours that it needs, which are compiled once. */
static enum opencl_build_status link_object(const struct opencl_object *object,
                                            struct opencl_built *built)
{
    const struct opencl_text source = {.bytes = opencl_functions, .size = strlen(opencl_functions)};
    struct opencl_object read = {0};
    struct opencl_built functions = {0};
    if (!opencl_needs_functions(object))
        return opencl_link_object(object, NULL, built);
    const struct opencl_job job = {.sources = &source,
                                   .source_count = 1,
                                   .options = "-cl-std=CL3.0",
                                   .target = object->target};
    enum opencl_build_status status = opencl_compile(&job, &functions);
    if (status == OPENCL_BUILD_OK && opencl_object_read(&read, functions.bytes, functions.size))
        status = opencl_link_object(object, read.modules, built);
    else
        status = opencl_fail(built, OPENCL_BUILD_FAILED, functions.log);
    clang_release(read.modules);
    opencl_built_release(&functions);
    return status;
}

/* Makes a code object or an object of the bitcode. */
static enum opencl_build_status finish_compile(const struct opencl_job *job, uint32_t math,
                                               struct opencl_built *built)
{
    struct opencl_module module = {(const char *)built->bytes, built->size};
    uint8_t *bitcode = built->bytes;
    struct opencl_object object = {
        .kind = OPENCL_BINARY_OBJECT, .math = math, .module_count = 1, .modules = &module};
    snprintf(object.target, sizeof object.target, "%s", isa_traits_of(job->target)->name);
    built->bytes = NULL;
    enum opencl_build_status status = OPENCL_BUILD_OK;
    if (job->links)
        status = link_object(&object, built);
    else
        built->bytes = opencl_object_write(&object, &built->size);
    clang_release(bitcode);
    return status;
}

enum opencl_build_status opencl_compile(const struct opencl_job *job, struct opencl_built *built)
{
    struct opencl_options read;
    enum opencl_build_status status = begin_build(&read, job->options, false, job->target, built);
    struct sha256 key;
    char hex[65], *dependencies = NULL;
    if (status == OPENCL_BUILD_OK) {
        begin_key(&key, job->target, job->options);
        sha256_add(&key, &job->links, sizeof job->links);
        add_texts(&key, job->sources, job->source_count);
        add_texts(&key, job->headers, job->header_count);
        sha256_finish(&key, hex);
        struct opencl_built cached;
        if (opencl_cache_find(hex, &cached)) {
            opencl_built_release(built);
            *built = cached;
        } else {
            status = opencl_compile_source(job, &read, built, &dependencies);
            if (status == OPENCL_BUILD_OK)
                status = finish_compile(job, read.math, built);
            if (status == OPENCL_BUILD_OK)
                opencl_cache_keep(hex, built, dependencies);
        }
    }
    clang_release(dependencies);
    opencl_options_release(&read);
    return status;
}

/* Puts the modules of all objects into one list. False: one is not is_sound, or of another target.
 */
static bool collect_objects(const struct opencl_text *objects, size_t count, const char *target,
                            struct opencl_object *linked)
{
    size_t capacity = 0; /* `linked` begins with no modules */
    for (size_t i = 0; i < count; i++) {
        struct opencl_object object;
        bool is_sound = opencl_object_read(&object, objects[i].bytes, objects[i].size)
                        && strcmp(object.target, target) == 0;
        if (is_sound) {
            grow_list(linked->modules, linked->module_count + object.module_count, capacity,
                      "programs");
            memcpy(linked->modules + linked->module_count, object.modules,
                   object.module_count * sizeof *object.modules);
            linked->module_count += object.module_count;
            linked->math |= object.math;
        }
        clang_release(object.modules);
        if (!is_sound)
            return false;
    }
    return count > 0;
}

enum opencl_build_status opencl_link(const struct opencl_text *objects, size_t object_count,
                                     const char *options, const char *target,
                                     struct opencl_built *built)
{
    struct opencl_options read;
    enum opencl_build_status status = begin_build(&read, options, true, target, built);
    struct opencl_object linked = {.kind = OPENCL_BINARY_LIBRARY, .math = read.math};
    struct sha256 key;
    char hex[65];
    if (status == OPENCL_BUILD_OK) {
        snprintf(linked.target, sizeof linked.target, "%s", isa_traits_of(target)->name);
        begin_key(&key, target, options);
        add_texts(&key, objects, object_count);
        sha256_finish(&key, hex);
        struct opencl_built cached;
        if (!collect_objects(objects, object_count, linked.target, &linked)) {
            status = opencl_fail(built, OPENCL_BUILD_FAILED,
                                 "not all that is to be linked was compiled for this device");
        } else if (read.creates_library) {
            built->bytes = opencl_object_write(&linked, &built->size);
        } else if (opencl_cache_find(hex, &cached)) {
            opencl_built_release(built);
            *built = cached;
        } else {
            status = link_object(&linked, built);
            if (status == OPENCL_BUILD_OK)
                opencl_cache_keep(hex, built, NULL);
        }
    }
    clang_release(linked.modules);
    opencl_options_release(&read);
    return status;
}

void opencl_built_release(struct opencl_built *built)
{
    clang_release(built->bytes);
    clang_release(built->log);
    *built = (struct opencl_built){0};
}

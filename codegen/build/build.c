/* See build.h. The steps are: look at the stamp; elaborate, generate, key every unit, compile what
 * is missing, key it again, link when an object or archive is new; write the stamp; bound the
 * cache.
 *
 * Invariant: what has a key's name was made from what the key says. A compiler reads files later
 * than we do, so a source that has changed meanwhile has another key by then, and its object is
 * thrown away. */
#include "codegen/build/build.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path_search.h"
#include "base/sha256.h"
#include "codegen/build/build_flags.h"
#include "codegen/build/cache.h"
#include "codegen/build/depend.h"
#include "codegen/emit/input.h"
#include "codegen/emit/emit.h"
#include "codegen/emit/gen.h"
#include "codegen/build/jobs.h"
#include "codegen/emit/layout.h"
#include "codegen/emit/names.h"
#include "codegen/build/seal.h"
#include "codegen/build/sources.h"
#include "codegen/build/stamp.h"
#include "dsl/compile.h"
#include "dsl/source.h"

/* A unit of which an object is being made. */
struct compiled {
    const char *stem;
    const struct layout_unit *unit;
    const char *key;
};

/* State of one build. */
struct build {
    struct region *region;
    const struct build_request *request;
    const struct layout *layout;
    const char *cache;
    const char *folder; /* generated files and platform.so */
    const char *compiler;
    char compiler_key[65];
    struct depend depend;
    struct stamp stamp;
    struct words objects; /* in link order */
    VECTOR(struct job) jobs;
    VECTOR(const char *) targets; /* of each job: final name; it writes NAME.PID.tmp */
    VECTOR(struct compiled) compiled;
};

/* A file as it is now, without reading it: path, size, time of change. */
static void add_identity(struct sha256 *hash, const char *path)
{
    struct stat status;
    char text[96] = "missing";
    if (stat(path, &status) == 0)
        snprintf(text, sizeof text, "%lld %lld.%09ld", (long long)status.st_size,
                 (long long)status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
    sha256_add_string(hash, path);
    sha256_add_string(hash, text);
}

/* The compiler's own file stands for its version: asking it would take longer than all the rest of
 * an idle build. */
static bool find_compiler(struct build *b)
{
    const char *name = getenv("HEDDLE_CC");
    b->compiler = name && *name ? name : "cc";
    char path[PATH_MAX], real[PATH_MAX];
    bool has_folder = strchr(b->compiler, '/') != NULL;
    if (!(has_folder || path_search(b->compiler, path, sizeof path))
        || !realpath(has_folder ? b->compiler : path, real)) {
        fprintf(stderr,
                "heddle: no C compiler: '%s' is not on the PATH\nhelp: install gcc or clang, or "
                "set HEDDLE_CC\n",
                b->compiler);
        return false;
    }
    struct sha256 hash;
    sha256_init(&hash);
    add_identity(&hash, real);
    sha256_finish(&hash, b->compiler_key);
    return true;
}

/* The folder depends on all that was asked for, not on what the files hold. */
static void choose_folder(struct build *b)
{
    const struct build_request *request = b->request;
    if (request->folder) {
        b->folder = request->folder;
        return;
    }
    static const char *const variables[] = {"HEDDLE_CFLAGS", "HEDDLE_LDFLAGS"};
    struct sha256 hash;
    char real[PATH_MAX], digest[65];
    sha256_init(&hash);
    sha256_add_string(&hash, realpath(request->file, real) ? real : request->file);
    sha256_add_string(&hash, request->toolkit->library);
    sha256_add_string(&hash, b->compiler_key);
    sha256_add_string(&hash, request->platform ? request->platform : "");
    sha256_add_string(&hash, request->generic ? "generic" : "");
    sha256_add_string(&hash, request->allow_incoherent ? "incoherent" : "");
    sha256_add_string(&hash, request->profile ? "profile" : "");
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
        sha256_add_string(&hash, getenv(variables[i]) ? getenv(variables[i]) : "");
    for (size_t i = 0; i < request->override_count; i++)
        sha256_add_string(&hash, request->overrides[i]);
    sha256_add_string(&hash, "-I");
    for (size_t i = 0; i < request->include_count; i++)
        sha256_add_string(&hash, realpath(request->include[i], real) ? real : request->include[i]);
    sha256_finish(&hash, digest);
    char *stem = region_strdup(b->region, source_base_name(request->file));
    stem[strcspn(stem, ".")] = '\0';
    b->folder = region_printf(b->region, "%s/platforms/%s-%.16s", b->cache, stem, digest);
}

static const char *lock_file(const struct build *b)
{
    return region_printf(b->region, "%s/lock", b->folder);
}

/* Held until the process ends or the file is closed. */
static int lock_folder(struct build *b)
{
    const char *path = lock_file(b);
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file >= 0)
        cache_touch(path);
    if (file >= 0 && flock(file, LOCK_EX) == 0)
        return file;
    fprintf(stderr, "heddle: cannot lock '%s': %s\n", path, strerror(errno));
    if (file >= 0)
        close(file);
    return -1;
}

/* Folders for quoted includes: generated files, the authors' folders, the toolkit's. */
static struct words include_folders(struct build *b, const struct layout_unit *unit)
{
    struct words list = {0};
    vector_push(b->region, &list, b->folder);
    if (unit) {
        const char **folders;
        uint32_t count = layout_unit_folders(b->layout, unit, &folders);
        for (uint32_t i = 0; i < count; i++)
            vector_push(b->region, &list, *folders[i] ? folders[i] : ".");
    }
    for (size_t i = 0; b->request->toolkit->include[i]; i++)
        vector_push(b->region, &list, b->request->toolkit->include[i]);
    return list;
}

static const char *temporary(struct build *b, const char *path, const char *suffix)
{
    return region_printf(b->region, "%s.%ld.%s", path, (long)getpid(), suffix);
}

static void add_job(struct build *b, const char *what, const struct words *argv, const char *target)
{
    struct words list = {0};
    for (uint32_t i = 0; i < argv->count; i++)
        vector_push(b->region, &list, argv->items[i]);
    vector_push(b->region, &list, (const char *)NULL);
    struct job job = {.what = what, .argv = list.items, .output = temporary(b, target, "log")};
    vector_push(b->region, &b->jobs, job);
    vector_push(b->region, &b->targets, target);
}

static void plan_compile(struct build *b, const char *stem, const char *source, const char *object,
                         const struct words *flags, const struct words *folders)
{
    struct words argv = {0};
    vector_push(b->region, &argv, b->compiler);
    for (uint32_t i = 0; i < flags->count; i++)
        vector_push(b->region, &argv, flags->items[i]);
    for (uint32_t i = 0; i < folders->count; i++) {
        vector_push(b->region, &argv, "-iquote");
        vector_push(b->region, &argv, folders->items[i]);
    }
    vector_push(b->region, &argv, "-c");
    vector_push(b->region, &argv, source);
    vector_push(b->region, &argv, "-o");
    vector_push(b->region, &argv, temporary(b, object, "tmp"));
    add_job(b, stem, &argv, object);
}

/* The key of one generated C file, by what `depend` reads. false: it cannot be read. */
static bool key_source(struct build *b, struct depend *depend, const char *source,
                       const struct words *flags, const struct words *folders, char key[65])
{
    struct sha256 hash;
    sha256_init(&hash);
    sha256_add_string(&hash, b->compiler_key);
    for (uint32_t i = 0; i < flags->count; i++)
        sha256_add_string(&hash, flags->items[i]);
    if (!depend_add(depend, &hash, source, folders->items, folders->count))
        return false;
    sha256_finish(&hash, key);
    return true;
}

/* The object, if it came compiled with the toolkit; NULL: it did not. A user who can write there
 * can change the toolkit's sources as well. */
static const char *shipped_object(struct build *b, const char *key)
{
    const char *folder = b->request->toolkit->objects;
    if (!folder)
        return NULL;
    const char *object = region_printf(b->region, "%s/%.2s/%s.o", folder, key, key);
    return seal_holds(object) ? object : NULL;
}

/* Keys one generated C file; plans its compilation when neither the cache has it nor the toolkit.
 */
static bool plan_source(struct build *b, const char *stem, const struct layout_unit *unit)
{
    const char *source = region_printf(b->region, "%s/%s.c", b->folder, stem);
    struct words folders = include_folders(b, unit),
                 flags = build_flags(b->region, unit, b->request->profile);
    char key[65];
    if (!key_source(b, &b->depend, source, &flags, &folders, key))
        return false;
    const char *folder = region_printf(b->region, "%s/objects/%.2s", b->cache, key);
    const char *object = region_printf(b->region, "%s/%s.o", folder, key);
    bool is_there = seal_holds(object);
    const char *shipped = is_there ? NULL : shipped_object(b, key);
    vector_push(b->region, &b->objects, shipped ? shipped : object);
    if (is_there)
        cache_touch(object);
    if (is_there || shipped)
        return true;
    if (!emit_make_folder(folder))
        return false;
    plan_compile(b, stem, source, object, &flags, &folders);
    struct compiled compiled = {stem, unit, region_strdup(b->region, key)};
    vector_push(b->region, &b->compiled, compiled);
    return true;
}

/* Does unit `index` of those compiled still have its key, with every file read again? */
static bool is_unchanged(struct build *b, struct depend *again, uint32_t index)
{
    const struct compiled *c = &b->compiled.items[index];
    const char *source = region_printf(b->region, "%s/%s.c", b->folder, c->stem);
    struct words folders = include_folders(b, c->unit),
                 flags = build_flags(b->region, c->unit, b->request->profile);
    char key[65];
    if (key_source(b, again, source, &flags, &folders, key) && strcmp(key, c->key) == 0)
        return true;
    fprintf(stderr, "heddle: sources of %s have changed while it was compiled; build again\n",
            c->stem);
    return false;
}

/* Runs the planned jobs and gives their results their names. */
static bool run_jobs(struct build *b)
{
    bool verbose = b->request->verbose;
    uint32_t parallel = b->request->jobs ? b->request->jobs : jobs_processors();
    for (uint32_t i = 0; verbose && i < b->jobs.count; i++)
        fprintf(stderr, "heddle: compiling %s\n", b->jobs.items[i].what);
    bool ok = jobs_run(b->jobs.items, b->jobs.count, parallel,
                       verbose ? JOBS_QUIET : b->request->progress);
    struct depend again;
    depend_init(&again, b->region);
    for (uint32_t i = 0; i < b->jobs.count; i++) {
        const char *made = temporary(b, b->targets.items[i], "tmp");
        bool good = b->jobs.items[i].ok;
        if (good && i < b->compiled.count && !is_unchanged(b, &again, i))
            ok = good = false;
        if (good && (!seal_put(made) || rename(made, b->targets.items[i]) != 0)) {
            fprintf(stderr, "heddle: cannot write '%s': %s\n", b->targets.items[i],
                    strerror(errno));
            ok = good = false;
        }
        if (!good)
            unlink(made);
    }
    if (!ok)
        cache_say_full(b->cache);
    b->jobs.count = b->targets.count = b->compiled.count = 0;
    return ok;
}

static struct words link_arguments(struct build *b, const char *output)
{
    static const char *const head[] = {
        "-shared",     "-fPIC",      "-Wl,-u,heddle_platform_open", "-Wl,-u,sampling_extension",
        "-Wl,-z,defs", "-Wl,-z,now", "-Wl,--gc-sections",           "-o"};
    const char *own_flags = getenv("HEDDLE_CFLAGS");
    const struct toolkit *toolkit = b->request->toolkit;
    struct words argv = {0};
    vector_push(b->region, &argv, b->compiler);
    for (size_t i = 0; i < sizeof head / sizeof head[0]; i++)
        vector_push(b->region, &argv, head[i]);
    vector_push(b->region, &argv, output);
    vector_push(b->region, &argv, "-Xlinker"); /* -Wl would part it at commas */
    vector_push(b->region, &argv,
                region_printf(b->region, "--version-script=%s/platform.map", b->cache));
    for (uint32_t i = 0; i < b->objects.count; i++)
        vector_push(b->region, &argv, b->objects.items[i]);
    /* Debug information is two thirds of the file, which each run reads. A user who asks for -g
     * wants to keep it. */
    if (!own_flags || !strstr(own_flags, "-g"))
        vector_push(b->region, &argv, "-Wl,--strip-debug");
    vector_push(b->region, &argv, "-Wl,--start-group");
    for (uint32_t i = 0; i < toolkit->archives.count; i++)
        vector_push(b->region, &argv, toolkit->archives.items[i]);
    vector_push(b->region, &argv, "-Wl,--end-group");
    vector_push(b->region, &argv, "-Wl,--as-needed");
    for (uint32_t i = 0; i < toolkit->libraries.count; i++)
        vector_push(b->region, &argv, toolkit->libraries.items[i]);
    vector_push(b->region, &argv, "-lm");
    vector_push(b->region, &argv, "-lpthread");
    words_add(b->region, &argv, getenv("HEDDLE_LDFLAGS"));
    return argv;
}

/* Exports one symbol, whatever the archives have. */
static bool write_export_list(struct build *b)
{
    static const char text[] = "{ global: heddle_platform_open; local: *; };\n";
    return emit_write_bytes(region_printf(b->region, "%s/platform.map", b->cache), text,
                            sizeof text - 1)
           != EMIT_FAILED;
}

/* Gives `library` of the cache the name platform.so in the build's folder: the same file where that
 * is possible, otherwise a copy. */
static bool place_library(struct build *b, const char *library, const char *output)
{
    struct stat wanted, found;
    const char *made = temporary(b, output, "tmp");
    if (stat(library, &wanted) == 0 && stat(output, &found) == 0 && wanted.st_ino == found.st_ino
        && wanted.st_dev == found.st_dev)
        return true;
    unlink(made);
    if (link(library, made) == 0) {
        if (rename(made, output) == 0)
            return true;
        fprintf(stderr, "heddle: cannot write '%s': %s\n", output, strerror(errno));
        return false;
    }
    size_t size;
    const char *bytes = input_read(b->region, library, &size);
    return bytes && emit_write_bytes(output, bytes, size) != EMIT_FAILED;
}

/* Linked libraries are shared, too: all generic builds with the same units have one. */
static bool link_platform(struct build *b, struct build_result *result)
{
    struct words argv = link_arguments(b, "");
    struct sha256 hash;
    char key[65];
    sha256_init(&hash);
    sha256_add_string(&hash, b->compiler_key);
    for (uint32_t i = 0; i < argv.count; i++)
        sha256_add_string(&hash, argv.items[i]);
    for (uint32_t i = 0; i < b->request->toolkit->archives.count; i++)
        add_identity(&hash, b->request->toolkit->archives.items[i]);
    sha256_finish(&hash, key);
    const char *folder = region_printf(b->region, "%s/libraries/%.2s", b->cache, key);
    const char *library = region_printf(b->region, "%s/%s.so", folder, key);
    if (seal_holds(library)) {
        cache_touch(library);
    } else {
        if (!emit_make_folder(folder) || !write_export_list(b))
            return false;
        argv = link_arguments(b, temporary(b, library, "tmp"));
        add_job(b, "platform.so", &argv, library);
        result->linked = true;
        if (!run_jobs(b)) {
            if (b->request->toolkit->not_built)
                fprintf(stderr,
                        "heddle: '%s' is not built, which platforms that execute PTX need; "
                        "'./dev build' builds it\n",
                        b->request->toolkit->not_built);
            return false;
        }
    }
    return place_library(b, library, result->platform_so);
}

static bool start_build(struct build *b, struct region *region, const struct build_request *request,
                        struct build_result *result)
{
    *result = (struct build_result){0};
    *b = (struct build){.region = region, .request = request};
    b->cache = cache_folder(region);
    if (!cache_is_safe(b->cache) || !find_compiler(b))
        return false;
    choose_folder(b);
    result->platform_so = region_printf(region, "%s/platform.so", b->folder);
    result->tables = region_printf(region, "%s/platform.tables", b->folder);
    return true;
}

static const char *stamp_file(const struct build *b)
{
    return region_printf(b->region, "%s/platform.stamp", b->folder);
}

bool build_is_current(struct region *region, const struct build_request *request,
                      struct build_result *result)
{
    struct build b;
    /* A folder of the user's may hold anything by now. */
    bool current = !request->folder && start_build(&b, region, request, result)
                   && access(result->platform_so, R_OK) == 0 && access(result->tables, R_OK) == 0
                   && stamp_holds(stamp_file(&b));
    if (current)
        cache_touch(lock_file(&b));
    return current;
}

static bool is_below(const char *path, const char *folder)
{
    size_t size = strlen(folder);
    return strncmp(path, folder, size) == 0 && path[size] == '/';
}

/* The descriptions, and where a file that appears would be imported instead of one of them. */
static void add_descriptions(struct build *b, const struct compilation *compilation)
{
    const char *missed;
    for (size_t i = 0; i < compile_file_count(compilation); i++)
        stamp_add(&b->stamp, compile_file_name(compilation, i));
    for (size_t i = 0; (missed = compile_missed(compilation, i)); i++)
        stamp_add(&b->stamp, missed);
}

/* Everything the result was made from. */
static void write_stamp(struct build *b, const struct compilation *compilation)
{
    const struct toolkit *toolkit = b->request->toolkit;
    add_descriptions(b, compilation);
    for (uint32_t i = 0; i < toolkit->archives.count; i++)
        stamp_add(&b->stamp, toolkit->archives.items[i]);
    stamp_add(&b->stamp, "/proc/self/exe");
    for (uint32_t i = 0; i < depend_count(&b->depend); i++)
        if (!is_below(depend_path(&b->depend, i), b->folder))
            stamp_add(&b->stamp, depend_path(&b->depend, i));
    stamp_add_result(&b->stamp, "platform.so");
    stamp_add_result(&b->stamp, "platform.tables");
    stamp_write(&b->stamp, stamp_file(b));
}

static bool make_module(struct build *b, const struct model *model, struct build_result *result)
{
    struct gen_files files = {0};
    b->layout = layout_make(b->region, model, b->request->generic);
    if (!sources_check(b->layout))
        return false;
    bool ok = gen_headers(b->region, model, b->folder, &files)
              && gen_platform(b->region, b->layout, b->folder, &files)
              && plan_source(b, "platform", NULL);
    for (uint32_t i = 0; ok && i < b->layout->units.count; i++)
        ok = plan_source(b, b->layout->units.items[i]->symbol, b->layout->units.items[i]);
    result->compiled = b->jobs.count;
    return ok && (b->jobs.count == 0 || run_jobs(b)) && link_platform(b, result);
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

bool build_platform(struct region *region, const struct build_request *request,
                    struct build_result *result)
{
    struct build *b = region_take(region, sizeof *b);
    uint64_t limit;
    if (!cache_limit(&limit) || !start_build(b, region, request, result))
        return false;
    int building = cache_begin(region, b->cache);
    if (building < 0)
        return false;
    stamp_begin(&b->stamp, region);
    depend_init(&b->depend, region);
    struct compilation *compilation = open_compilation(request);
    const struct model *model = compile_platform(compilation, request->file, request->platform);
    compile_print_diagnostics(compilation, stderr, request->colour);
    result->refused = model && request->accept && !request->accept(model, request->context);
    if (result->refused)
        model = NULL;
    int lock = model && emit_make_folder(b->folder) ? lock_folder(b) : -1;
    bool ok = lock >= 0 && make_module(b, model, result);
    /* Warnings are shown once a build, as compilers do; `heddle check` shows them always. */
    if (ok)
        write_stamp(b, compilation);
    if (ok && limit && (result->compiled || result->linked)) {
        uint64_t freed = cache_prune(region, b->cache, limit);
        if (freed && request->verbose)
            fprintf(stderr, "heddle: removed %llu MiB that were used longest ago from the cache\n",
                    (unsigned long long)(freed >> 20));
    }
    if (lock >= 0)
        close(lock);
    cache_end(building, ok);
    compile_close(compilation);
    return ok;
}

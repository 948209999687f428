/* `heddle cuda-cc`: CUDA C++ to programs by the distribution's clang, with the headers of
 * components/cuda/include and without NVIDIA's toolkit.
 *
 * Each source is compiled twice: for the device to PTX, which becomes a fat binary, and for the
 * host, which embeds that. Words that are not of this command are clang's. */
#include <errno.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/number.h"
#include "codegen/emit/emit.h"
#include "codegen/emit/input.h"
#include "command/command_say.h"

#include "cuda_cc.h"

#define MATH_LIBRARY "/usr/lib/clc/nvptx64--nvidiacl.bc"
#define RUNTIME      "libcudart.so.12"
#define ARCHITECTURE "sm_80"
#define FATBIN_MAGIC 0xba55ed50u

extern char **environ;

void cuda_cc_add(struct cuda_cc *cc, words *list, const char *word)
{
    vector_push(cc->c->region, list, word);
}

static void add_all(struct cuda_cc *cc, words *list, const words *more)
{
    for (size_t i = 0; i < more->count; i++)
        cuda_cc_add(cc, list, more->items[i]);
}

static bool check_words(const struct cuda_cc *cc)
{
    const char *wrong = NULL;
    if (cc->sources.count + cc->objects.count == 0)
        wrong = "there is no source";
    else if ((cc->only_ptx || cc->only_objects) && cc->sources.count == 0)
        wrong = "there is nothing to compile";
    else if ((cc->only_ptx || cc->only_objects) && cc->output && cc->sources.count > 1)
        wrong = "several sources do not go into one file of -o";
    if (wrong)
        command_say("%s", wrong);
    return !wrong;
}

/* ---- clang ---- */

bool cuda_cc_run(struct cuda_cc *cc, words *line)
{
    VECTOR(char *) copies = {0};
    for (size_t i = 0; i < line->count; i++)
        vector_push(cc->c->region, &copies, region_strdup(cc->c->region, line->items[i]));
    vector_push(cc->c->region, &copies, NULL);
    char **words_of = copies.items;
    if (cc->verbose) {
        for (size_t i = 0; words_of[i]; i++)
            fprintf(stderr, "%s%s", i ? " " : "", words_of[i]);
        fputc('\n', stderr);
    }
    pid_t pid;
    int error = posix_spawnp(&pid, words_of[0], NULL, NULL, words_of, environ);
    if (error != 0) {
        command_say("cannot start %s: %s%s", words_of[0], strerror(error),
                    error == ENOENT ? "; install the package clang-19" : "");
        return false;
    }
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return false;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void add_words(struct cuda_cc *cc, words *line, const char *const *all, size_t count)
{
    for (size_t i = 0; i < count; i++)
        cuda_cc_add(cc, line, all[i]);
}

/* Names of static variables, which both compilations know, are those of one source. */
static const char *unit_of(struct cuda_cc *cc, const char *source)
{
    char *path = realpath(source, NULL);
    const char *name = path ? path : source;
    uint64_t hash = hash_bytes(0, name, strlen(name));
    free(path);
    return region_printf(cc->c->region, "-cuid=%016" PRIx64, hash);
}

/* The beginning of both compilations. */
static words begin_compilation(struct cuda_cc *cc, const char *source)
{
    static const char *const all[] = {CUDA_CC_COMPILER,
                                      "-x",
                                      "cuda",
                                      "-nocudainc",
                                      "-nocudalib",
                                      "--cuda-path=/nonexistent",
                                      "-Xclang",
                                      "-target-sdk-version=12.5",
                                      "-include",
                                      "cuda_runtime.h",
                                      "-Wno-linker-warnings",
                                      "-Wno-pass-failed",
                                      "-Qunused-arguments"};
    words line = {0};
    add_words(cc, &line, all, ARRAY_COUNT(all));
    cuda_cc_add(cc, &line, "-isystem");
    cuda_cc_add(cc, &line, region_printf(cc->c->region, "%s/cuda/include", cc->c->toolkit.library));
    cuda_cc_add(cc, &line, region_printf(cc->c->region, "--cuda-gpu-arch=%s", cc->architecture));
    if (cc->has_managed)
        cuda_cc_add(cc, &line, "-DHEDDLE_MANAGED");
    if (cc->has_clusters)
        cuda_cc_add(cc, &line, "-DHEDDLE_CLUSTERS");
    if (cc->relocatable) {
        cuda_cc_add(cc, &line, "-Xclang"); /* the driver would want NVIDIA's linker */
        cuda_cc_add(cc, &line, "-fgpu-rdc");
        cuda_cc_add(cc, &line, "-fuse-cuid=none");
        cuda_cc_add(cc, &line, "-Xclang");
        cuda_cc_add(cc, &line, unit_of(cc, source));
    }
    return line;
}

static bool wants_optimisation(const struct cuda_cc *cc)
{
    for (size_t i = 0; i < cc->both.count; i++)
        if (strncmp(cc->both.items[i], "-O", 2) == 0)
            return false;
    return true;
}

static bool compile_device(struct cuda_cc *cc, const char *source, bool to_ir, const char *path)
{
    static const char *const all[] = {"--cuda-device-only",
                                      "--cuda-feature=+ptx" CUDA_CC_PTX_VERSION,
                                      "-gline-tables-only",
                                      "-Xclang",
                                      "-mlink-builtin-bitcode",
                                      "-Xclang",
                                      MATH_LIBRARY};
    words line = begin_compilation(cc, source);
    /* The first lane of a group asks for a place and shuffles it to the others, whose variable has
     * no value yet: that is no reason to take all lanes for the first. */
    cuda_cc_add(cc, &line, "-Xclang");
    cuda_cc_add(cc, &line, "-no-enable-noundef-analysis");
    /* Sums of products are contracted in what the program says, as nvcc does, but not in the
     * library of math, whose errors would grow. */
    cuda_cc_add(cc, &line, "-ffp-contract=fast-honor-pragmas");
    if (access(MATH_LIBRARY, R_OK) != 0) {
        command_say("cannot read '%s': install the package libclc-19", MATH_LIBRARY);
        return false;
    }
    add_words(cc, &line, all, ARRAY_COUNT(all));
    if (to_ir)
        cuda_cc_add(cc, &line, "-emit-llvm");
    cuda_cc_add(cc, &line, "-S");
    if (wants_optimisation(cc))
        cuda_cc_add(cc, &line, "-O3"); /* as nvcc does for device code */
    add_all(cc, &line, &cc->both);
    add_all(cc, &line, &cc->device);
    cuda_cc_add(cc, &line, "-o");
    cuda_cc_add(cc, &line, path);
    cuda_cc_add(cc, &line, source);
    return cuda_cc_run(cc, &line);
}

static bool compile_host(struct cuda_cc *cc, const char *source, const char *fatbin, bool to_ir,
                         const char *path)
{
    static const char *const all[] = {"--cuda-host-only", "-Xclang", "-fcuda-include-gpubinary",
                                      "-Xclang"},
                             *const ir[] = {"-S", "-emit-llvm", "-Xclang", "-disable-llvm-passes"};
    words line = begin_compilation(cc, source);
    add_words(cc, &line, all, ARRAY_COUNT(all));
    cuda_cc_add(cc, &line, fatbin);
    if (wants_optimisation(cc))
        cuda_cc_add(cc, &line, "-O2");
    add_all(cc, &line, &cc->both);
    add_all(cc, &line, &cc->host);
    if (to_ir)
        add_words(cc, &line, ir, ARRAY_COUNT(ir));
    else
        cuda_cc_add(cc, &line, "-c");
    cuda_cc_add(cc, &line, "-o");
    cuda_cc_add(cc, &line, path);
    cuda_cc_add(cc, &line, source);
    return cuda_cc_run(cc, &line);
}

static bool link_program(struct cuda_cc *cc)
{
    words line = {0};
    const char *folder = cc->c->toolkit.cuda_folder;
    if (!folder) {
        command_say("this installation has no %s", RUNTIME);
        return false;
    }
    cuda_cc_add(cc, &line, CUDA_CC_COMPILER);
    add_all(cc, &line, &cc->objects);
    add_all(cc, &line, &cc->host);
    add_all(cc, &line, &cc->link);
    cuda_cc_add(cc, &line, "-L");
    cuda_cc_add(cc, &line, folder);
    cuda_cc_add(cc, &line, "-l:" RUNTIME);
    cuda_cc_add(cc, &line, "-Wl,--allow-shlib-undefined");
    cuda_cc_add(cc, &line, "-Qunused-arguments");
    cuda_cc_add(cc, &line, "-o");
    cuda_cc_add(cc, &line, cc->output ? cc->output : "a.out");
    return cuda_cc_run(cc, &line);
}

/* ---- a fat binary with one PTX, as it is ---- */

static void put_number(uint8_t *at, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

char *cuda_cc_read(struct cuda_cc *cc, const char *path, size_t *size)
{
    FILE *file = input_open("cuda-cc", path, INPUT_BYTES);
    struct stat status;
    if (!file)
        return NULL;
    size_t most = fstat(fileno(file), &status) == 0 ? (size_t)status.st_size : 0;
    char *bytes = region_take(cc->c->region, most + 1);
    *size = fread(bytes, 1, most, file);
    bytes[*size] = 0;
    fclose(file);
    return bytes;
}

bool cuda_cc_write_fatbin(struct cuda_cc *cc, const char *ptx, const char *fatbin)
{
    enum { HEADER = 16, ENTRY = 64, KIND_PTX = 1, ENTRY_VERSION = 0x101 };
    size_t size;
    const char *text = cuda_cc_read(cc, ptx, &size);
    if (!text)
        return false;
    size_t padded = round_up(size + 1, 8); /* a byte 0 ends the text */
    uint8_t *bytes = region_take(cc->c->region, HEADER + ENTRY + padded);
    memset(bytes, 0, HEADER + ENTRY + padded);
    memcpy(bytes + HEADER + ENTRY, text, size);
    put_number(bytes, FATBIN_MAGIC, 4);
    put_number(bytes + 4, 1, 2);
    put_number(bytes + 6, HEADER, 2);
    put_number(bytes + 8, ENTRY + padded, 8);
    uint8_t *entry = bytes + HEADER;
    put_number(entry, KIND_PTX, 2);
    put_number(entry + 2, ENTRY_VERSION, 2);
    put_number(entry + 4, ENTRY, 4);
    put_number(entry + 8, padded, 8);
    put_number(entry + 28, strtoul(cc->architecture + 3, NULL, 10), 4);
    return emit_write_bytes(fatbin, (const char *)bytes, HEADER + ENTRY + padded) != EMIT_FAILED;
}

/* ---- sources ---- */

/* "folder/a.cu" with another ending, in the folder that was asked for, or the current one. */
static const char *named_after(struct cuda_cc *cc, const char *source, const char *ending)
{
    const char *slash = strrchr(source, '/'), *name = slash ? slash + 1 : source;
    return region_printf(cc->c->region, "%s%s%.*s%s", cc->folder ? cc->folder : "",
                         cc->folder ? "/" : "", (int)(strrchr(name, '.') - name), name, ending);
}

const char *cuda_cc_temporary(struct cuda_cc *cc)
{
    const char *path = command_temporary(cc->c);
    if (path)
        cuda_cc_add(cc, &cc->temporary, path);
    return path;
}

/* Host code in C or C++, as nvcc takes sources that are not .cu; and what -E and -M ask for. */
static bool is_plain(const struct cuda_cc *cc, const char *source)
{
    const char *dot = strrchr(source, '.');
    return !cc->all_cuda && strcmp(dot, ".cu") != 0;
}

static bool compile_plain(struct cuda_cc *cc, const char *source, const char *object)
{
    const bool is_c = strcmp(strrchr(source, '.'), ".c") == 0, plain = is_plain(cc, source);
    words line = {0};
    if (plain) {
        cuda_cc_add(cc, &line, CUDA_CC_COMPILER);
        cuda_cc_add(cc, &line, is_c ? "-xc" : "-xc++");
        cuda_cc_add(cc, &line, "-isystem");
        cuda_cc_add(cc, &line,
                    region_printf(cc->c->region, "%s/cuda/include", cc->c->toolkit.library));
        cuda_cc_add(cc, &line, "-Qunused-arguments");
    } else {
        line = begin_compilation(cc, source);
        cuda_cc_add(cc, &line, "--cuda-host-only");
    }
    for (size_t i = 0; i < cc->both.count; i++) /* a standard is one of C++ */
        if (!is_c || strncmp(cc->both.items[i], "-std=", 5) != 0)
            cuda_cc_add(cc, &line, cc->both.items[i]);
    add_all(cc, &line, &cc->host);
    cuda_cc_add(cc, &line, cc->preprocessed ? cc->preprocessed : "-c");
    if (object) {
        cuda_cc_add(cc, &line, "-o");
        cuda_cc_add(cc, &line, object);
    }
    cuda_cc_add(cc, &line, source);
    if (!cc->preprocessed)
        cuda_cc_add(cc, &cc->objects, object);
    return cuda_cc_run(cc, &line);
}

static const char *object_of(struct cuda_cc *cc, const char *source)
{
    return !cc->only_objects ? cuda_cc_temporary(cc)
           : cc->output      ? cc->output
                             : named_after(cc, source, ".o");
}

static bool compile_cuda(struct cuda_cc *cc, const char *source)
{
    const char *ptx = !cc->only_ptx ? cuda_cc_temporary(cc)
                      : cc->output  ? cc->output
                                    : named_after(cc, source, ".ptx");
    const bool managed = cuda_cc_has_managed(cc, source);
    cc->has_managed = managed;
    cc->has_clusters = cuda_cc_has_clusters(cc, source);
    const bool twice = managed || cc->has_clusters;
    const char *ir = twice ? cuda_cc_temporary(cc) : ptx;
    if (!ptx || !ir || !compile_device(cc, source, twice || cc->relocatable, ir)) {
        cuda_cc_explain_headers(cc, source);
        return false;
    }
    if (twice && !cuda_cc_managed_ptx(cc, ir, ptx))
        return false;
    if (cc->has_clusters && !cuda_cc_write_clusters(cc, ir, ptx))
        return false;
    if (cc->only_ptx)
        return true;
    const char *fatbin = cuda_cc_temporary(cc), *object = object_of(cc, source);
    if (!fatbin || !object || !(cc->relocatable || cuda_cc_is_complete(cc, ptx))
        || !(cc->relocatable ? cuda_cc_make_bitcode : cuda_cc_write_fatbin)(cc, ptx, fatbin)
        || !compile_host(cc, source, fatbin, managed, managed ? ir : object)
        || (managed && !cuda_cc_managed_object(cc, ir, object)))
        return false;
    cuda_cc_add(cc, &cc->objects, object);
    return true;
}

static bool compile(struct cuda_cc *cc, const char *source)
{
    if (access(source, R_OK) != 0) {
        command_say("cannot read '%s': %s", source, strerror(errno));
        return false;
    }
    if (cc->preprocessed)
        return compile_plain(cc, source, cc->output);
    return is_plain(cc, source) ? compile_plain(cc, source, object_of(cc, source))
                                : compile_cuda(cc, source);
}

static bool make_archive(struct cuda_cc *cc)
{
    words line = {0};
    cuda_cc_add(cc, &line, "ar");
    cuda_cc_add(cc, &line, "rcs");
    cuda_cc_add(cc, &line, cc->output ? cc->output : "a.a");
    add_all(cc, &line, &cc->objects);
    return cuda_cc_run(cc, &line);
}

/* Makes the output from the objects. */
static bool finish_compilation(struct cuda_cc *cc)
{
    if (cc->only_ptx || cc->only_objects || cc->preprocessed)
        return true;
    if (cc->only_archive)
        return make_archive(cc);
    return cuda_cc_link_device(cc) && (cc->only_device_link || link_program(cc));
}

static int show_version(void)
{
    printf("heddle cuda-cc: clang 19 with headers of heddle's\n"
           "Cuda compilation tools, release %d.%d, V%d.%d.0\n",
           CUDA_CC_RELEASE / 10, CUDA_CC_RELEASE % 10, CUDA_CC_RELEASE / 10, CUDA_CC_RELEASE % 10);
    return EXIT_CLEAN;
}

int command_cuda_cc(struct command *c)
{
    struct cuda_cc cc = {.c = c, .architecture = ARCHITECTURE};
    const struct options_list *arguments = &c->options->arguments;
    bool ok = true;
    for (int i = 0; ok && (size_t)i < arguments->count; i++)
        ok = cuda_cc_read_word(&cc, arguments, &i);
    if (ok && cc.only_version)
        return show_version();
    if (!ok || !check_words(&cc) || !cuda_cc_check_libraries(&cc))
        return EXIT_USAGE;
    for (size_t i = 0; ok && i < cc.sources.count; i++)
        ok = compile(&cc, cc.sources.items[i]);
    ok = ok && finish_compilation(&cc);
    for (size_t i = 0; i < cc.temporary.count; i++)
        unlink(cc.temporary.items[i]);
    return ok ? EXIT_CLEAN : EXIT_ERRORS;
}

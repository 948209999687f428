/* `heddle cuda-cc`: CUDA C++ to programs by the distribution's clang, with the headers of
 * components/cuda/include and without NVIDIA's toolkit.
 *
 * Each source is compiled twice: for the device to PTX, which becomes a fat binary, and for the
 * host, which embeds that. Words that are not of this command are clang's. */
#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "codegen/command/command.h"
#include "codegen/emit/emit.h"
#include "codegen/emit/input.h"

#define COMPILER     "clang++-19"
#define MATH_LIBRARY "/usr/lib/clc/nvptx64--nvidiacl.bc"
#define RUNTIME      "libcudart.so.12"
#define ARCHITECTURE "sm_80"
#define PTX_VERSION  "83"
#define FATBIN_MAGIC 0xba55ed50u

extern char **environ;

typedef VECTOR(const char *) words;

struct cuda_cc {
    struct command *c;
    words sources, objects;
    words both, host, device, link; /* words for clang */
    words temporary;
    const char *output, *architecture;
    bool only_objects, only_ptx, verbose;
};

static void add(struct cuda_cc *cc, words *list, const char *word)
{
    vector_push(cc->c->arena, list, word);
}

static void add_all(struct cuda_cc *cc, words *list, const words *more)
{
    for (size_t i = 0; i < more->count; i++)
        add(cc, list, more->items[i]);
}

/* ---- the command line ---- */

/* Options of clang whose value is the next word. */
static bool has_value(const char *word)
{
    static const char *const names[] = {"-I",         "-D",      "-U",      "-include", "-isystem",
                                        "-idirafter", "-iquote", "-Xclang", "-mllvm",   "-MF",
                                        "-MT",        "-MQ",     "-x"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(word, names[i]) == 0)
            return true;
    return false;
}

static bool is_link_value(const char *word)
{
    return strcmp(word, "-L") == 0 || strcmp(word, "-l") == 0 || strcmp(word, "-Xlinker") == 0;
}

/* nvcc's options without a counterpart: what they ask for is so anyway. */
static bool is_silent(const char *word)
{
    static const char *const names[] = {"--expt-relaxed-constexpr",
                                        "--expt-extended-lambda",
                                        "--extended-lambda",
                                        "-expt-relaxed-constexpr",
                                        "-extended-lambda",
                                        "-lineinfo",
                                        "--generate-line-info",
                                        "-lcudart",
                                        "-G",
                                        "--device-debug",
                                        "-keep",
                                        "--keep",
                                        "--resource-usage",
                                        "-res-usage",
                                        "-allow-unsupported-compiler",
                                        "--allow-unsupported-compiler",
                                        "-rdc=false",
                                        "--relocatable-device-code=false"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(word, names[i]) == 0)
            return true;
    return false;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

static void take_file(struct cuda_cc *cc, const char *word)
{
    static const char *const sources[] = {".cu", ".cpp", ".cc", ".cxx", ".c"};
    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++)
        if (ends_with(word, sources[i])) {
            add(cc, &cc->sources, word);
            return;
        }
    add(cc, &cc->objects, word);
}

/* The newest "sm_NN" or "compute_NN" in the text, as "sm_NN"; NULL if there is none. */
static const char *find_architecture(struct cuda_cc *cc, const char *text)
{
    static const char *const prefixes[] = {"compute_", "sm_"};
    for (size_t i = 0; i < 2; i++) {
        const char *at = strstr(text, prefixes[i]);
        if (!at)
            continue;
        at += strlen(prefixes[i]);
        size_t length = strspn(at, "0123456789");
        if (length > 0)
            return arena_printf(cc->c->arena, "sm_%.*s%s", (int)length, at,
                                at[length] == 'a' ? "a" : "");
    }
    return NULL;
}

static bool take_architecture(struct cuda_cc *cc, const char *text)
{
    const char *found = find_architecture(cc, text);
    if (!found) {
        fprintf(stderr, "heddle cuda-cc: '%s' names no architecture such as sm_80\n", text);
        return false;
    }
    cc->architecture = found;
    return true;
}

static void take_host_words(struct cuda_cc *cc, const char *text)
{
    while (*text) {
        size_t length = strcspn(text, ",");
        add(cc, &cc->host, arena_printf(cc->c->arena, "%.*s", (int)length, text));
        text += length + (text[length] == ',');
    }
}

static const char *value_of(const char *word, const char *name)
{
    size_t length = strlen(name);
    return strncmp(word, name, length) == 0 && word[length] == '=' ? word + length + 1 : NULL;
}

/* --default-stream legacy, null or per-thread, behind `=` or as the next word; 0, 1 and -1 as
 * below. */
static int take_default_stream(struct cuda_cc *cc, const char *word, const char *next, int *at)
{
    const char *name = word + strspn(word, "-"), *value = value_of(name, "default-stream");
    if (strcmp(name, "default-stream") == 0 && next) {
        value = next;
        ++*at;
    }
    if (!value)
        return 0;
    if (strcmp(value, "per-thread") == 0) {
        add(cc, &cc->both, "-Xclang"); /* the driver hands it on for HIP only */
        add(cc, &cc->both, "-fgpu-default-stream=per-thread");
        add(cc, &cc->both, "-DCUDA_API_PER_THREAD_DEFAULT_STREAM");
    } else if (strcmp(value, "legacy") != 0 && strcmp(value, "null") != 0) {
        fprintf(stderr, "heddle cuda-cc: '%s' is none of legacy, null, per-thread\n", value);
        return -1;
    }
    return 1;
}

/* Options of nvcc about its own passes, with a value behind `=` or as the next word: they have none
 * here. What they say of precision is kept or exceeded. */
static bool take_idle_option(const char *word, const char *next, int *at)
{
    static const char *const names[] = {
        "-Xptxas",   "--ptxas-options", "-ccbin",          "--compiler-bindir", "-t",
        "--threads", "-diag-suppress",  "--diag-suppress", "-maxrregcount",     "--maxrregcount",
        "-prec-div", "--prec-div",      "-prec-sqrt",      "--prec-sqrt"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (value_of(word, names[i]))
            return true;
        if (strcmp(word, names[i]) == 0 && next) {
            ++*at;
            return true;
        }
    }
    return false;
}

static bool take_language(struct cuda_cc *cc, const char *word, const char *next, int *at)
{
    const char *name = word + strspn(word, "-");
    if (strcmp(name, "use_fast_math") == 0) {
        add(cc, &cc->device, "-ffast-math");
    } else if (strcmp(name, "ftz=true") == 0) {
        add(cc, &cc->device, "-fgpu-flush-denormals-to-zero");
    } else if (strcmp(word, "--std") == 0 && next) {
        add(cc, &cc->both, arena_printf(cc->c->arena, "-std=%s", next));
        ++*at;
    } else {
        return false;
    }
    return true;
}

/* An option of nvcc that clang spells otherwise. 1: taken; 0: it is not one; -1: said. */
static int take_nvcc_option(struct cuda_cc *cc, const char *word, const char *next, int *at)
{
    static const char *const architectures[] = {"-arch",    "--gpu-architecture", "--cuda-gpu-arch",
                                                "-gencode", "--generate-code",    "--offload-arch"};
    for (size_t i = 0; i < sizeof architectures / sizeof architectures[0]; i++) {
        const char *value = value_of(word, architectures[i]);
        if (!value && strcmp(word, architectures[i]) == 0 && next) {
            value = next;
            ++*at;
        }
        if (value)
            return take_architecture(cc, value) ? 1 : -1;
    }
    int stream = take_default_stream(cc, word, next, at);
    if (stream)
        return stream;
    if (is_silent(word) || take_idle_option(word, next, at) || take_language(cc, word, next, at))
        return 1;
    if (strcmp(word, "-cudart") == 0 || strncmp(word, "--cudart", 8) == 0) {
        *at += word[1] == 'c' && next;
        return 1;
    }
    if ((strcmp(word, "-Xcompiler") == 0 || strcmp(word, "--compiler-options") == 0) && next) {
        take_host_words(cc, next);
        ++*at;
        return 1;
    }
    if (value_of(word, "-Xcompiler") || value_of(word, "--compiler-options")) {
        take_host_words(cc, strchr(word, '=') + 1);
        return 1;
    }
    if (value_of(word, "-rdc") || strcmp(word, "-dc") == 0) {
        fprintf(stderr,
                "heddle cuda-cc: '%s': there is no linker of device code, so a kernel and the "
                "device functions that it calls have to stand in one file\n",
                word);
        return -1;
    }
    return 0;
}

/* One word of the command line; false: what is wrong was said. */
static bool take_word(struct cuda_cc *cc, const struct options_list *all, int *at)
{
    const char *word = all->items[*at];
    const char *next = (size_t)*at + 1 < all->count ? all->items[*at + 1] : NULL;
    if (word[0] != '-') {
        take_file(cc, word);
        return true;
    }
    if ((strcmp(word, "-o") == 0 || has_value(word) || is_link_value(word)) && !next) {
        fprintf(stderr, "heddle cuda-cc: '%s' needs a value\n", word);
        return false;
    }
    int taken = take_nvcc_option(cc, word, next, at);
    if (taken)
        return taken > 0;
    if (strcmp(word, "-o") == 0) {
        cc->output = next;
        ++*at;
    } else if (strcmp(word, "-c") == 0) {
        cc->only_objects = true;
    } else if (strcmp(word, "--ptx") == 0 || strcmp(word, "-ptx") == 0) {
        cc->only_ptx = true;
    } else if (strcmp(word, "--verbose") == 0) {
        cc->verbose = true;
    } else if (strcmp(word, "-x") == 0) {
        ++*at; /* the language is CUDA */
    } else if (is_link_value(word) || strncmp(word, "-l", 2) == 0 || strncmp(word, "-L", 2) == 0
               || strncmp(word, "-Wl,", 4) == 0) {
        add(cc, &cc->link, word);
        if (is_link_value(word))
            add(cc, &cc->link, all->items[++*at]);
    } else {
        words *list = strncmp(word, "-fopenmp", 8) == 0 || strcmp(word, "-pthread") == 0
                          ? &cc->host
                          : &cc->both;
        add(cc, list, word);
        if (has_value(word))
            add(cc, list, all->items[++*at]);
    }
    return true;
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
        fprintf(stderr, "heddle cuda-cc: %s\n", wrong);
    return !wrong;
}

/* ---- clang ---- */

static bool run(struct cuda_cc *cc, words *line)
{
    VECTOR(char *) copies = {0};
    for (size_t i = 0; i < line->count; i++)
        vector_push(cc->c->arena, &copies, arena_strdup(cc->c->arena, line->items[i]));
    vector_push(cc->c->arena, &copies, NULL);
    char **words_of = copies.items;
    if (cc->verbose) {
        for (size_t i = 0; words_of[i]; i++)
            fprintf(stderr, "%s%s", i ? " " : "", words_of[i]);
        fputc('\n', stderr);
    }
    pid_t pid;
    int error = posix_spawnp(&pid, words_of[0], NULL, NULL, words_of, environ);
    if (error != 0) {
        fprintf(stderr, "heddle cuda-cc: cannot start %s: %s%s\n", words_of[0], strerror(error),
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
        add(cc, line, all[i]);
}

/* The beginning of both compilations. */
static words begin(struct cuda_cc *cc)
{
    static const char *const all[] = {COMPILER,
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
    add_words(cc, &line, all, sizeof all / sizeof all[0]);
    add(cc, &line, "-isystem");
    add(cc, &line, arena_printf(cc->c->arena, "%s/cuda/include", cc->c->toolkit.library));
    add(cc, &line, arena_printf(cc->c->arena, "--cuda-gpu-arch=%s", cc->architecture));
    return line;
}

static bool wants_optimisation(const struct cuda_cc *cc)
{
    for (size_t i = 0; i < cc->both.count; i++)
        if (strncmp(cc->both.items[i], "-O", 2) == 0)
            return false;
    return true;
}

static bool compile_device(struct cuda_cc *cc, const char *source, const char *ptx)
{
    static const char *const all[] = {"--cuda-device-only",
                                      "--cuda-feature=+ptx" PTX_VERSION,
                                      "-gline-tables-only",
                                      "-S",
                                      "-Xclang",
                                      "-mlink-builtin-bitcode",
                                      "-Xclang",
                                      MATH_LIBRARY};
    words line = begin(cc);
    /* The first lane of a group asks for a place and shuffles it to the others, whose variable has
     * no value yet: that is no reason to take all lanes for the first. */
    add(cc, &line, "-Xclang");
    add(cc, &line, "-no-enable-noundef-analysis");
    /* Sums of products are contracted in what the program says, as nvcc does, but not in the
     * library of math, whose errors would grow. */
    add(cc, &line, "-ffp-contract=fast-honor-pragmas");
    if (access(MATH_LIBRARY, R_OK) != 0) {
        fprintf(stderr, "heddle cuda-cc: cannot read '%s': install the package libclc-19\n",
                MATH_LIBRARY);
        return false;
    }
    add_words(cc, &line, all, sizeof all / sizeof all[0]);
    if (wants_optimisation(cc))
        add(cc, &line, "-O3"); /* as nvcc does for device code */
    add_all(cc, &line, &cc->both);
    add_all(cc, &line, &cc->device);
    add(cc, &line, "-o");
    add(cc, &line, ptx);
    add(cc, &line, source);
    return run(cc, &line);
}

static bool compile_host(struct cuda_cc *cc, const char *source, const char *fatbin,
                         const char *object)
{
    static const char *const all[] = {"--cuda-host-only", "-Xclang", "-fcuda-include-gpubinary",
                                      "-Xclang"};
    words line = begin(cc);
    add_words(cc, &line, all, sizeof all / sizeof all[0]);
    add(cc, &line, fatbin);
    if (wants_optimisation(cc))
        add(cc, &line, "-O2");
    add_all(cc, &line, &cc->both);
    add_all(cc, &line, &cc->host);
    add(cc, &line, "-c");
    add(cc, &line, "-o");
    add(cc, &line, object);
    add(cc, &line, source);
    return run(cc, &line);
}

static bool link_program(struct cuda_cc *cc)
{
    words line = {0};
    const char *folder = cc->c->toolkit.cuda_folder;
    if (!folder) {
        fprintf(stderr, "heddle cuda-cc: this installation has no %s\n", RUNTIME);
        return false;
    }
    add(cc, &line, COMPILER);
    add_all(cc, &line, &cc->objects);
    add_all(cc, &line, &cc->host);
    add_all(cc, &line, &cc->link);
    add(cc, &line, "-L");
    add(cc, &line, folder);
    add(cc, &line, "-l:" RUNTIME);
    add(cc, &line, "-Wl,--allow-shlib-undefined");
    add(cc, &line, "-Qunused-arguments");
    add(cc, &line, "-o");
    add(cc, &line, cc->output ? cc->output : "a.out");
    return run(cc, &line);
}

/* ---- a fat binary with one PTX, as it is ---- */

static void put(uint8_t *at, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

static bool write_fatbin(struct cuda_cc *cc, const char *ptx, const char *fatbin)
{
    enum { HEADER = 16, ENTRY = 64, KIND_PTX = 1, ENTRY_VERSION = 0x101 };
    FILE *file = input_open("cuda-cc", ptx, INPUT_BYTES);
    struct stat status;
    if (!file)
        return false;
    size_t size = fstat(fileno(file), &status) == 0 ? (size_t)status.st_size : 0;
    size_t padded = (size + 1 + 7) / 8 * 8; /* a byte 0 ends the text */
    uint8_t *bytes = arena_alloc(cc->c->arena, HEADER + ENTRY + padded);
    memset(bytes, 0, HEADER + ENTRY + padded);
    size = fread(bytes + HEADER + ENTRY, 1, size, file);
    fclose(file);
    put(bytes, FATBIN_MAGIC, 4);
    put(bytes + 4, 1, 2);
    put(bytes + 6, HEADER, 2);
    put(bytes + 8, ENTRY + padded, 8);
    uint8_t *entry = bytes + HEADER;
    put(entry, KIND_PTX, 2);
    put(entry + 2, ENTRY_VERSION, 2);
    put(entry + 4, ENTRY, 4);
    put(entry + 8, padded, 8);
    put(entry + 28, strtoul(cc->architecture + 3, NULL, 10), 4);
    return emit_write_bytes(fatbin, (const char *)bytes, HEADER + ENTRY + padded) != EMIT_FAILED;
}

/* ---- sources ---- */

/* "folder/a.cu" with another ending, in the current folder. */
static const char *named_after(struct cuda_cc *cc, const char *source, const char *ending)
{
    const char *slash = strrchr(source, '/'), *name = slash ? slash + 1 : source;
    return arena_printf(cc->c->arena, "%.*s%s", (int)(strrchr(name, '.') - name), name, ending);
}

static const char *temporary(struct cuda_cc *cc)
{
    const char *path = command_temporary(cc->c);
    if (path)
        add(cc, &cc->temporary, path);
    return path;
}

static bool compile(struct cuda_cc *cc, const char *source)
{
    const char *ptx = cc->only_ptx ? cc->output : temporary(cc);
    if (access(source, R_OK) != 0) {
        fprintf(stderr, "heddle cuda-cc: cannot read '%s': %s\n", source, strerror(errno));
        return false;
    }
    if (cc->only_ptx)
        return compile_device(cc, source, ptx ? ptx : named_after(cc, source, ".ptx"));
    const char *fatbin = temporary(cc);
    const char *object = !cc->only_objects ? temporary(cc)
                         : cc->output      ? cc->output
                                           : named_after(cc, source, ".o");
    if (!ptx || !fatbin || !object || !compile_device(cc, source, ptx)
        || !write_fatbin(cc, ptx, fatbin) || !compile_host(cc, source, fatbin, object))
        return false;
    add(cc, &cc->objects, object);
    return true;
}

int command_cuda_cc(struct command *c)
{
    struct cuda_cc cc = {.c = c, .architecture = ARCHITECTURE};
    const struct options_list *all = &c->options->arguments;
    bool good = true;
    for (int i = 0; good && (size_t)i < all->count; i++)
        good = take_word(&cc, all, &i);
    if (!good || !check_words(&cc))
        return EXIT_USAGE;
    for (size_t i = 0; good && i < cc.sources.count; i++)
        good = compile(&cc, cc.sources.items[i]);
    if (good && !cc.only_ptx && !cc.only_objects)
        good = link_program(&cc);
    for (size_t i = 0; i < cc.temporary.count; i++)
        unlink(cc.temporary.items[i]);
    return good ? EXIT_CLEAN : EXIT_ERRORS;
}

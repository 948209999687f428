/* The command line of `heddle cuda-cc`: nvcc's options and clang's. What is neither goes to clang.
 */
#include <stdio.h>
#include <string.h>

#include "codegen/command/command_cuda_cc.h"

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
                                        "-lcudadevrt",
                                        "-G",
                                        "--device-debug",
                                        "-keep",
                                        "--keep",
                                        "--resource-usage",
                                        "-res-usage",
                                        "-allow-unsupported-compiler",
                                        "--allow-unsupported-compiler"};
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
            cuda_cc_add(cc, &cc->sources, word);
            return;
        }
    cuda_cc_add(cc, &cc->objects, word);
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
        cuda_cc_add(cc, &cc->host, arena_printf(cc->c->arena, "%.*s", (int)length, text));
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
        cuda_cc_add(cc, &cc->both, "-Xclang"); /* the driver hands it on for HIP only */
        cuda_cc_add(cc, &cc->both, "-fgpu-default-stream=per-thread");
        cuda_cc_add(cc, &cc->both, "-DCUDA_API_PER_THREAD_DEFAULT_STREAM");
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
        cuda_cc_add(cc, &cc->device, "-ffast-math");
    } else if (strcmp(name, "ftz=true") == 0) {
        cuda_cc_add(cc, &cc->device, "-fgpu-flush-denormals-to-zero");
    } else if (strcmp(word, "--std") == 0 && next) {
        cuda_cc_add(cc, &cc->both, arena_printf(cc->c->arena, "-std=%s", next));
        ++*at;
    } else {
        return false;
    }
    return true;
}

/* -rdc=true and its kind: device code of several files becomes one program. */
static int take_link_option(struct cuda_cc *cc, const char *word)
{
    const char *name = word + strspn(word, "-"), *value = value_of(name, "rdc");
    if (!value)
        value = value_of(name, "relocatable-device-code");
    bool only_compiles = strcmp(name, "dc") == 0 || strcmp(name, "device-c") == 0;
    bool only_links = strcmp(name, "dlink") == 0 || strcmp(name, "device-link") == 0;
    if (!value && !only_compiles && !only_links)
        return 0;
    cc->relocatable |= only_compiles || (value && strcmp(value, "true") == 0);
    cc->only_objects |= only_compiles;
    cc->only_device_link |= only_links;
    return 1;
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
    return take_link_option(cc, word);
}

bool cuda_cc_take_word(struct cuda_cc *cc, const struct options_list *all, int *at)
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
        cuda_cc_add(cc, &cc->link, word);
        if (is_link_value(word))
            cuda_cc_add(cc, &cc->link, all->items[++*at]);
    } else {
        words *list = strncmp(word, "-fopenmp", 8) == 0 || strcmp(word, "-pthread") == 0
                          ? &cc->host
                          : &cc->both;
        cuda_cc_add(cc, list, word);
        if (has_value(word))
            cuda_cc_add(cc, list, all->items[++*at]);
    }
    return true;
}

/* The command line of `heddle cuda-cc`: nvcc's options and clang's. What is neither goes to clang.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "command/command_say.h"

#include "cuda_cc.h"

/* Options of clang whose value is the next word. */
static bool has_value(const char *word)
{
    static const char *const names[] = {"-I",       "-D",         "-U",      "-include",
                                        "-isystem", "-idirafter", "-iquote", "-Xclang",
                                        "-mllvm",   "-MF",        "-MT",     "-MQ"};
    for (size_t i = 0; i < ARRAY_COUNT(names); i++)
        if (strcmp(word, names[i]) == 0)
            return true;
    return false;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

static void add_file(struct cuda_cc *cc, const char *word)
{
    static const char *const sources[] = {".cu", ".cpp", ".cc", ".cxx", ".c"};
    for (size_t i = 0; i < ARRAY_COUNT(sources); i++)
        if (ends_with(word, sources[i])) {
            cuda_cc_add(cc, &cc->sources, word);
            return;
        }
    cuda_cc_add(cc, &cc->objects, word);
}

/* ---- what options do ---- */

/* The newest architecture that clang 19 knows. Newer ones get its PTX, without the features that
 * only they have. */
enum { NEWEST = 90, ALL_MACHINES = 80 };

/* The number of "sm_NN" or "compute_NN" in the text, and whether it is a name such as "sm_90a"; 0
 * if there is none. */
static unsigned find_architecture(const char *text, bool *variant)
{
    static const char *const prefixes[] = {"compute_", "sm_"};
    for (size_t i = 0; i < 2; i++) {
        const char *at = strstr(text, prefixes[i]);
        char *end;
        unsigned number = at ? (unsigned)strtoul(at + strlen(prefixes[i]), &end, 10) : 0;
        if (number > 0) {
            *variant = *end == 'a';
            return number;
        }
    }
    return 0;
}

/* One of several architectures is taken, which all machines run: the newest up to sm_80; else the
 * oldest. */
static bool is_better(unsigned best, unsigned candidate)
{
    if ((best <= ALL_MACHINES) != (candidate <= ALL_MACHINES))
        return candidate <= ALL_MACHINES;
    return candidate <= ALL_MACHINES ? candidate > best : candidate < best;
}

static bool set_architecture(struct cuda_cc *cc, const char *option, const char *text)
{
    bool variant, is_one = strcmp(option, "gencode") != 0 && strcmp(option, "generate-code") != 0;
    if (strcmp(text, "native") == 0 || strncmp(text, "all", 3) == 0)
        return true; /* an architecture of all machines, which is the default */
    unsigned number = find_architecture(text, &variant);
    if (number == 0) {
        command_say("'%s' names no architecture such as sm_80", text);
        return false;
    }
    if (!is_one && cc->generation > 0 && !is_better(cc->generation, number))
        return true;
    cc->generation = number;
    if (number > NEWEST) {
        command_say("'%s' is newer than clang 19: takes sm_%d", text, NEWEST);
        number = NEWEST;
    }
    cc->architecture = region_printf(cc->c->region, "sm_%u%s", number, variant ? "a" : "");
    return true;
}

/* Words between commas and spaces, as nvcc and then a shell part them; the quotes go. */
static void add_host_words(struct cuda_cc *cc, const char *text)
{
    while (*text) {
        size_t length = strcspn(text, ", ");
        char *word = region_printf(cc->c->region, "%.*s", (int)length, text), *to = word;
        for (const char *at = word; *at; at++)
            if (*at != '"' && *at != '\'')
                *to++ = *at;
        *to = '\0';
        if (*word)
            cuda_cc_add(cc, &cc->host, word);
        text += length + (text[length] != '\0');
    }
}

static bool set_default_stream(struct cuda_cc *cc, const char *value)
{
    if (strcmp(value, "per-thread") == 0) {
        cuda_cc_add(cc, &cc->both, "-Xclang"); /* the driver hands it on for HIP only */
        cuda_cc_add(cc, &cc->both, "-fgpu-default-stream=per-thread");
        cuda_cc_add(cc, &cc->both, "-DCUDA_API_PER_THREAD_DEFAULT_STREAM");
    } else if (strcmp(value, "legacy") != 0 && strcmp(value, "null") != 0) {
        command_say("'%s' is not legacy, null or per-thread", value);
        return false;
    }
    return true;
}

/* ---- nvcc's options ---- */

enum action {
    IDLE,       /* asks for what is so anyway, or concerns a pass that clang does not have */
    IDLE_VALUE, /* with a value */
    ARCHITECTURE,
    HOST_WORDS,
    LINKER_WORDS,
    DEFAULT_STREAM,
    STANDARD,
    OUTPUT,
    FOLDER,
    LANGUAGE,
    RELOCATABLE,
    CONTRACTION,
    FLUSHING,
    ONLY_BEFORE, /* from here on options without a value */
    FAST_MATH,
    ONLY_COMPILES,
    ONLY_DEVICE_COMPILES,
    ONLY_LINKS_DEVICE,
    ONLY_PTX,
    ARCHIVE,
    PREPROCESSED,
    NO_WARNINGS,
    VERBOSE,
    VERSION,
    REFUSED,
};

static const struct option {
    const char *name; /* without its one or two dashes */
    enum action action;
} options[] = {
    {"expt-relaxed-constexpr", IDLE},
    {"expt-extended-lambda", IDLE},
    {"extended-lambda", IDLE},
    {"lineinfo", IDLE},
    {"generate-line-info", IDLE},
    {"src-in-ptx", IDLE},
    {"G", IDLE},
    {"device-debug", IDLE},
    {"keep", IDLE},
    {"resource-usage", IDLE},
    {"res-usage", IDLE},
    {"restrict", IDLE},
    {"extra-device-vectorization", IDLE},
    {"allow-unsupported-compiler", IDLE},
    {"forward-unknown-to-host-compiler", IDLE},
    {"forward-unknown-opts", IDLE},
    {"Wno-deprecated-gpu-targets", IDLE},
    {"Wext-lambda-captures-this", IDLE},
    {"Wmissing-launch-bounds", IDLE},
    {"Wdefault-stream-launch", IDLE},
    {"lcudart", IDLE},
    {"lcudart_static", IDLE},
    {"lcudadevrt", IDLE},
    {"lnvToolsExt", IDLE},
    {"lcuda", IDLE},
    {"lcurand", IDLE},
    {"Xptxas", IDLE_VALUE},
    {"ptxas-options", IDLE_VALUE},
    {"Xcudafe", IDLE_VALUE},
    {"Xnvlink", IDLE_VALUE},
    {"nvlink-options", IDLE_VALUE},
    {"Xfatbin", IDLE_VALUE},
    {"fatbin-options", IDLE_VALUE},
    {"ccbin", IDLE_VALUE},
    {"compiler-bindir", IDLE_VALUE},
    {"code", IDLE_VALUE},
    {"gpu-code", IDLE_VALUE},
    {"t", IDLE_VALUE},
    {"threads", IDLE_VALUE},
    {"split-compile", IDLE_VALUE},
    {"keep-dir", IDLE_VALUE},
    {"compress-mode", IDLE_VALUE},
    {"diag-suppress", IDLE_VALUE},
    {"diag-warn", IDLE_VALUE},
    {"diag-error", IDLE_VALUE},
    {"Werror", IDLE_VALUE},
    {"maxrregcount", IDLE_VALUE},
    {"prec-div", IDLE_VALUE},
    {"prec-sqrt", IDLE_VALUE},
    {"cudart", IDLE_VALUE},
    {"cudadevrt", IDLE_VALUE},
    {"dopt", IDLE_VALUE},
    {"arch", ARCHITECTURE},
    {"gpu-architecture", ARCHITECTURE},
    {"cuda-gpu-arch", ARCHITECTURE},
    {"offload-arch", ARCHITECTURE},
    {"gencode", ARCHITECTURE},
    {"generate-code", ARCHITECTURE},
    {"Xcompiler", HOST_WORDS},
    {"compiler-options", HOST_WORDS},
    {"Xlinker", LINKER_WORDS},
    {"linker-options", LINKER_WORDS},
    {"default-stream", DEFAULT_STREAM},
    {"std", STANDARD},
    {"o", OUTPUT},
    {"output-file", OUTPUT},
    {"odir", FOLDER},
    {"output-directory", FOLDER},
    {"x", LANGUAGE},
    {"rdc", RELOCATABLE},
    {"relocatable-device-code", RELOCATABLE},
    {"fmad", CONTRACTION},
    {"ftz", FLUSHING},
    {"use_fast_math", FAST_MATH},
    {"c", ONLY_COMPILES},
    {"compile", ONLY_COMPILES},
    {"dc", ONLY_DEVICE_COMPILES},
    {"device-c", ONLY_DEVICE_COMPILES},
    {"dlink", ONLY_LINKS_DEVICE},
    {"device-link", ONLY_LINKS_DEVICE},
    {"ptx", ONLY_PTX},
    {"lib", ARCHIVE},
    {"E", PREPROCESSED},
    {"preprocess", PREPROCESSED},
    {"M", PREPROCESSED},
    {"MM", PREPROCESSED},
    {"disable-warnings", NO_WARNINGS},
    {"verbose", VERBOSE},
    {"version", VERSION},
    {"V", VERSION},
    {"cubin", REFUSED},
    {"fatbin", REFUSED},
    {"run", REFUSED},
    {"dryrun", REFUSED},
};

static const struct option *find_option(const char *name, size_t length)
{
    for (size_t i = 0; i < ARRAY_COUNT(options); i++)
        if (strncmp(options[i].name, name, length) == 0 && options[i].name[length] == '\0')
            return &options[i];
    return NULL;
}

static bool act_on_value(struct cuda_cc *cc, const struct option *option, const char *value)
{
    bool is_true = strcmp(value, "true") == 0;
    switch (option->action) {
    case ARCHITECTURE:
        return set_architecture(cc, option->name, value);
    case HOST_WORDS:
        add_host_words(cc, value);
        break;
    case LINKER_WORDS:
        cuda_cc_add(cc, &cc->link, region_printf(cc->c->region, "-Wl,%s", value));
        break;
    case DEFAULT_STREAM:
        return set_default_stream(cc, value);
    case STANDARD:
        cuda_cc_add(cc, &cc->both, region_printf(cc->c->region, "-std=%s", value));
        break;
    case OUTPUT:
        cc->output = value;
        break;
    case FOLDER:
        cc->folder = value;
        break;
    case LANGUAGE:
        cc->all_cuda = strcmp(value, "cu") == 0 || strcmp(value, "cuda") == 0;
        break;
    case RELOCATABLE:
        cc->relocatable |= is_true;
        break;
    case CONTRACTION:
        if (!is_true)
            cuda_cc_add(cc, &cc->device, "-ffp-contract=off");
        break;
    case FLUSHING:
        if (is_true)
            cuda_cc_add(cc, &cc->device, "-fgpu-flush-denormals-to-zero");
        break;
    default:
        break;
    }
    return true;
}

static bool act(struct cuda_cc *cc, const struct option *option, const char *word)
{
    switch (option->action) {
    case FAST_MATH:
        cuda_cc_add(cc, &cc->device, "-ffast-math");
        break;
    case ONLY_DEVICE_COMPILES:
        cc->relocatable = true; /* fall through */
    case ONLY_COMPILES:
        cc->only_objects = true;
        break;
    case ONLY_LINKS_DEVICE:
        cc->only_device_link = true;
        break;
    case ONLY_PTX:
        cc->only_ptx = true;
        break;
    case ARCHIVE:
        cc->only_archive = true;
        break;
    case PREPROCESSED:
        cc->preprocessed = word[1] == '-' ? "-E" : word;
        break;
    case NO_WARNINGS:
        cuda_cc_add(cc, &cc->both, "-w");
        break;
    case VERBOSE:
        cc->verbose = true;
        break;
    case VERSION:
        cc->only_version = true;
        break;
    case REFUSED:
        command_say("'%s' is not there: what runs is PTX (--ptx), by `heddle run`", word);
        return false;
    default:
        break;
    }
    return true;
}

/* 1: taken; 0: it is not an option of nvcc; -1: what is wrong was said. */
static int read_nvcc_option(struct cuda_cc *cc, const char *word, const char *next, int *at)
{
    const char *name = word + strspn(word, "-"), *value = strchr(name, '=');
    const struct option *option = find_option(name, strcspn(name, "="));
    if (!option)
        return 0;
    if (option->action > ONLY_BEFORE || option->action == IDLE)
        return act(cc, option, word) ? 1 : -1;
    if (value) {
        value++;
    } else if (next) {
        value = next;
        ++*at;
    } else {
        command_say("'%s' needs a value", word);
        return -1;
    }
    return act_on_value(cc, option, value) ? 1 : -1;
}

/* ---- clang's ---- */

static bool is_link_value(const char *word)
{
    return strcmp(word, "-L") == 0 || strcmp(word, "-l") == 0;
}

/* True if the folder has headers of NVIDIA's toolkit, which heddle's replace. */
static bool is_toolkit(struct cuda_cc *cc, const char *folder)
{
    return access(region_printf(cc->c->region, "%s/cuda_runtime.h", folder), F_OK) == 0;
}

static words *list_of(struct cuda_cc *cc, const char *word)
{
    static const char *const of_host[] = {"-fopenmp", "-pthread", "-M", "-fPIC", "-shared"};
    static const char *const of_link[] = {"-l", "-L", "-Wl,"};
    for (size_t i = 0; i < ARRAY_COUNT(of_host); i++)
        if (strncmp(word, of_host[i], strlen(of_host[i])) == 0)
            return &cc->host;
    for (size_t i = 0; i < ARRAY_COUNT(of_link); i++)
        if (strncmp(word, of_link[i], strlen(of_link[i])) == 0)
            return &cc->link;
    return &cc->both;
}

bool cuda_cc_read_word(struct cuda_cc *cc, const struct options_list *arguments, int *at)
{
    const char *word = arguments->items[*at];
    const char *next = (size_t)*at + 1 < arguments->count ? arguments->items[*at + 1] : NULL;
    if (word[0] != '-') {
        add_file(cc, word);
        return true;
    }
    int outcome = read_nvcc_option(cc, word, next, at);
    if (outcome)
        return outcome > 0;
    bool needs_value = has_value(word) || is_link_value(word);
    if (needs_value && !next) {
        command_say("'%s' needs a value", word);
        return false;
    }
    *at += needs_value;
    if (strncmp(word, "-I", 2) == 0 && is_toolkit(cc, needs_value ? next : word + 2))
        return true;
    cuda_cc_add(cc, list_of(cc, word), word);
    if (needs_value)
        cuda_cc_add(cc, list_of(cc, word), next);
    return true;
}

/* Compiles OpenCL C by clang and lld.
 *
 * Sources become code in three steps, each a process that reads standard input and writes standard
 * output: clang reads OpenCL C and writes bitcode; clang adds the device library and writes an
 * object file; lld links that. Calls of printf are lowered in the first step, where its declaration
 * has no body yet; the device library's body does nothing. A process that crashes is a build that
 * fails. */
#define _GNU_SOURCE /* memmem */
#include "opencl_clang.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "components/clang/clang_library.h"

#include "opencl_prelude.h"

#define HEADER_FOLDER "/opencl/include"
#define SOURCE_NAME   "<source>"
#define TRIPLE        "amdgcn-amd-amdhsa"

static const char features[] =
    "-cl-ext=+__opencl_c_generic_address_space,+__opencl_c_atomic_order_acq_rel,"
    "+__opencl_c_atomic_order_seq_cst,+__opencl_c_program_scope_global_variables,"
    "+__opencl_c_subgroups,+__opencl_c_images,+__opencl_c_3d_image_writes,"
    "+__opencl_c_read_write_images,-__opencl_c_pipes,-__opencl_c_device_enqueue,"
    "-cl_khr_mipmap_image,-cl_khr_mipmap_image_writes";

const char *const opencl_libraries[OPENCL_LIBRARIES] = {"opencl.bc", "ocml.bc", "ockl.bc"};

/* ---- logs ---- */

static void replace(char *text, const char *from, const char *to)
{
    size_t old = strlen(from), new = strlen(to);
    for (char *place = strstr(text, from); place; place = strstr(place + new, from)) {
        memcpy(place, to, new);
        memmove(place + new, place + old, strlen(place + old) + 1);
    }
}

/* Takes the numbers of files in memory out of messages. */
static void hide_files(char *text)
{
    static const char folder[] = "/proc/self/fd/";
    for (char *place = strstr(text, folder); place; place = strstr(place, folder)) {
        size_t length = strlen(folder) + strspn(place + strlen(folder), "0123456789");
        memcpy(place, "program", 7);
        memmove(place + 7, place + length, strlen(place + length) + 1);
    }
}

/* The compiler's messages, without names that only this process knows. */
static char *read_log(int file)
{
    size_t size;
    char *log = clang_file_read(file, &size);
    for (char *place = log; place < log + size; place++)
        if (*place == '\0')
            *place = ' ';
    char *crash = strstr(log, "PLEASE submit a bug report");
    if (crash)
        *crash = '\0';
    hide_files(log);
    replace(log, HEADER_FOLDER "/", "");
    return log;
}

static void append_text(char **log, const char *text)
{
    char *longer = clang_join(*log, text);
    clang_release(*log);
    *log = longer;
}

enum opencl_build_status opencl_fail(struct opencl_built *built, enum opencl_build_status status,
                                     const char *message)
{
    if (!built->log)
        built->log = clang_allocate(1);
    append_text(&built->log, "heddle: ");
    append_text(&built->log, message);
    append_text(&built->log, "\n");
    return status;
}

/* ---- steps ---- */

/* Files of a step. */
struct step {
    int in, out, log, extra;
};

static void close_step(struct step *step)
{
    clang_file_close(&step->in);
    clang_file_close(&step->out);
    clang_file_close(&step->log);
    clang_file_close(&step->extra);
}

static bool open_step(struct step *step, const void *bytes, size_t size)
{
    *step = (struct step){clang_file_make(bytes, size), clang_file_make("", 0),
                          clang_file_make("", 0), clang_file_make("", 0)};
    return step->in >= 0 && step->out >= 0 && step->log >= 0 && step->extra >= 0;
}

/* Runs the command of a step, adds its messages to the log, and takes its output. */
static enum opencl_build_status run_step(struct step *step, struct clang_command *command,
                                         struct opencl_built *built)
{
    bool has_failed;
    int error = clang_run(command, step->in, step->out, step->log, &has_failed);
    if (error != 0)
        return opencl_fail(built,
                           error == ENOENT ? OPENCL_BUILD_COMPILER_MISSING : OPENCL_BUILD_FAILED,
                           strerror(error));
    char *log = read_log(step->log);
    append_text(&built->log, log);
    clang_release(log);
    clang_release(built->bytes);
    built->bytes = (uint8_t *)clang_file_read(step->out, &built->size);
    if (!has_failed && built->size > 0)
        return OPENCL_BUILD_OK;
    clang_release(built->bytes);
    built->bytes = NULL;
    built->size = 0;
    return strstr(built->log, "error")
               ? OPENCL_BUILD_FAILED
               : opencl_fail(built, OPENCL_BUILD_FAILED, "the compiler has failed");
}

static void add_target(struct clang_command *command, const char *target)
{
    static const char *const words[] = {"-target", TRIPLE, "-nogpulib", "-mcode-object-version=5",
                                        "-fno-crash-diagnostics"};
    clang_add(command, OPENCL_COMPILER, "");
    clang_add_words(command, words, ARRAY_COUNT(words));
    clang_add(command, "-mcpu=", target);
}

/* Macros of OpenCL 3.0 that the source sees beside those that clang defines by itself. */
static void add_language(struct clang_command *command, const struct opencl_options *options,
                         bool is_whole)
{
    /* Headers of the host are not for devices. */
    static const char *const words[] = {"-x",
                                        "cl",
                                        "-D__OPENCL_VERSION__=300",
                                        "-D__IMAGE_SUPPORT__=1",
                                        "-nostdlibinc",
                                        "-fno-color-diagnostics",
                                        "-Xclang",
                                        features};
    static const char *const newer[] = {"-D__opencl_c_work_group_collective_functions=1",
                                        "-D__opencl_c_atomic_scope_device=1",
                                        "-D__opencl_c_atomic_scope_all_devices=1"};
    const char *standard = "-cl-std=CL1.2";
    for (size_t i = 0; i < options->words.count; i++)
        if (strncmp(options->words.words[i], "-cl-std=", 8) == 0)
            standard = options->words.words[i];
    clang_add_words(command, words, ARRAY_COUNT(words));
    clang_add(command, standard, "");
    if (strcmp(standard, "-cl-std=CL3.0") == 0)
        clang_add_words(command, newer, ARRAY_COUNT(newer));
    if (is_whole) /* inline functions of C99 have a body elsewhere, and there is no elsewhere */
        clang_add(command, "-fgnu89-inline", "");
    clang_add_words(command, (const char *const *)options->words.words, options->words.count);
}

static char *join_sources(const struct opencl_job *job, size_t *size)
{
    static const char line[] = "#line 1 \"" SOURCE_NAME "\"\n";
    size_t capacity = strlen(opencl_prelude) + sizeof line;
    for (size_t i = 0; i < job->source_count; i++)
        capacity += job->sources[i].size;
    char *text = clang_allocate(capacity + 1);
    *size = strlen(strcat(strcpy(text, opencl_prelude), line));
    for (size_t i = 0; i < job->source_count; i++) {
        static const char mark[] = "\xef\xbb\xbf"; /* mark of UTF-8, which editors put in front */
        const char *bytes = job->sources[i].bytes;
        bool has_mark = job->sources[i].size >= 3 && memcmp(bytes, mark, 3) == 0;
        memcpy(text + *size, bytes + 3 * has_mark, job->sources[i].size - 3 * has_mark);
        *size += job->sources[i].size - 3 * has_mark;
    }
    text[(*size)++] = '\n';
    return text;
}

static bool make_overlay(const struct opencl_job *job, struct clang_overlay *overlay)
{
    struct clang_header *headers = clang_allocate(job->header_count * sizeof *headers);
    for (size_t i = 0; i < job->header_count; i++)
        headers[i] = (struct clang_header){job->headers[i].name, job->headers[i].bytes,
                                           job->headers[i].size};
    bool is_good = clang_overlay_make(overlay, HEADER_FOLDER, headers, job->header_count);
    clang_release(headers);
    return is_good;
}

enum opencl_build_status opencl_compile_source(const struct opencl_job *job,
                                               const struct opencl_options *options,
                                               struct opencl_built *built, char **dependencies)
{
    static const char *const last[] = {"-c", "-emit-llvm", "-", "-o", "-"};
    struct clang_command command = {0};
    struct clang_overlay overlay;
    struct step step;
    size_t size;
    char *source = join_sources(job, &size);
    bool is_good = make_overlay(job, &overlay);
    is_good = open_step(&step, source, size) && is_good;
    clang_release(source);
    enum opencl_build_status status;
    if (is_good) {
        add_target(&command, job->target);
        clang_add(&command, options->math & OPENCL_MATH_UNOPTIMISED ? "-O0" : "-O3", "");
        add_language(&command, options, job->links);
        clang_overlay_add(&overlay, &command, HEADER_FOLDER);
        clang_add(&command, "-MMD", "");
        clang_add(&command, "-MF", "");
        clang_add_file(&command, "", step.extra);
        clang_add_words(&command, last, ARRAY_COUNT(last));
        status = run_step(&step, &command, built);
        *dependencies = clang_file_read(step.extra, &size);
    } else {
        status = opencl_fail(built, OPENCL_BUILD_FAILED, strerror(errno));
    }
    close_step(&step);
    clang_overlay_close(&overlay);
    return status;
}

static void begin_library(struct clang_command *command, const char *option)
{
    clang_add(command, "-Xclang", "");
    clang_add(command, option, "");
    clang_add(command, "-Xclang", "");
}

static void add_library(struct clang_command *command, const char *name)
{
    begin_library(command, "-mlink-builtin-bitcode");
    clang_add(command, CLANG_LIBRARY_FOLDER "/", name);
}

/* The device library, and the constants that choose between its variants. */
static void add_libraries(struct clang_command *command, const char *target, uint32_t math)
{
    char target_library[64];
    bool is_borrowed,
        flushes = math & OPENCL_MATH_DENORMS_ARE_ZERO || !opencl_compiler_keeps_denormals(target);
    const char *const constants[] = {
        flushes ? "oclc_daz_opt_on.bc" : "oclc_daz_opt_off.bc",
        math & OPENCL_MATH_UNSAFE ? "oclc_unsafe_math_on.bc" : "oclc_unsafe_math_off.bc",
        math & OPENCL_MATH_FINITE ? "oclc_finite_only_on.bc" : "oclc_finite_only_off.bc",
        math & OPENCL_MATH_ROUNDED_SQRT ? "oclc_correctly_rounded_sqrt_on.bc"
                                        : "oclc_correctly_rounded_sqrt_off.bc",
        "oclc_wavefrontsize64_on.bc",
        "oclc_abi_version_500.bc",
    };
    for (size_t i = 0; i < OPENCL_LIBRARIES; i++)
        add_library(command, opencl_libraries[i]);
    for (size_t i = 0; i < ARRAY_COUNT(constants); i++)
        add_library(command, constants[i]);
    clang_library_of_target(target, target_library, sizeof target_library, &is_borrowed);
    add_library(command, target_library);
}

/* The library's functions precede the functions that they replace, for calls of the program and for
 * calls of opencl.bc. */
static void add_functions(struct clang_command *command, int file)
{
    for (int i = 0; i < 2; i++) {
        begin_library(command, "-mlink-builtin-bitcode");
        clang_add_file(command, "", file);
        if (i == 0)
            add_library(command, opencl_libraries[0]);
    }
}

/* The program's modules after the first one, which clang reads itself, and our functions. False:
 * one of them cannot be handed over. */
static bool add_modules(struct clang_command *command, const struct opencl_object *object,
                        const struct opencl_module *functions, int *files)
{
    bool is_good = true;
    for (uint32_t i = 1; i < object->module_count; i++) {
        files[i] = clang_file_make(object->modules[i].bytes, object->modules[i].size);
        is_good = is_good && files[i] >= 0;
        begin_library(command, "-mlink-bitcode-file");
        clang_add_file(command, "", files[i]);
    }
    if (functions) {
        files[0] = clang_file_make(functions->bytes, functions->size);
        is_good = is_good && files[0] >= 0;
        add_functions(command, files[0]);
    }
    return is_good;
}

/* Bitcode to an object file. -S ends clang's work with the compiler, which is then told to write
 * an object file. */
static enum opencl_build_status generate(const struct opencl_object *object,
                                         const struct opencl_module *functions,
                                         struct opencl_built *built)
{
    static const char *const words[] = {"-mllvm",
                                        "-amdgpu-internalize-symbols",
                                        "-fno-color-diagnostics",
                                        "-x",
                                        "ir",
                                        "-S",
                                        "-Xclang",
                                        "-emit-obj",
                                        "-",
                                        "-o",
                                        "-"};
    struct clang_command command = {0};
    struct step step;
    int *files = clang_allocate(object->module_count * sizeof *files);
    bool is_good = open_step(&step, object->modules[0].bytes, object->modules[0].size);
    add_target(&command, object->target);
    /* At -O0 clang 19 crashes on the device library. Functions that the first step was not to
     * optimise are has_mark, and stay as they are. */
    clang_add(&command, object->math & OPENCL_MATH_UNOPTIMISED ? "-O1" : "-O3", "");
    is_good = add_modules(&command, object, functions, files) && is_good;
    add_libraries(&command, object->target, object->math);
    clang_add_words(&command, words, ARRAY_COUNT(words));
    enum opencl_build_status status =
        is_good ? run_step(&step, &command, built)
                : opencl_fail(built, OPENCL_BUILD_FAILED, strerror(errno));
    clang_release_command(&command);
    for (uint32_t i = functions ? 0 : 1; i < object->module_count; i++)
        clang_file_close(&files[i]);
    clang_release(files);
    close_step(&step);
    return status;
}

/* An object file to a code object. */
static enum opencl_build_status join_logs(struct opencl_built *built)
{
    static const char *const words[] = {
        OPENCL_LINKER, "--no-undefined", "-shared", "/proc/self/fd/0", "-o", "-"};
    struct clang_command command = {0};
    struct step step;
    bool is_good = open_step(&step, built->bytes, built->size);
    clang_add_words(&command, words, ARRAY_COUNT(words));
    enum opencl_build_status status =
        is_good ? run_step(&step, &command, built)
                : opencl_fail(built, OPENCL_BUILD_FAILED, strerror(errno));
    clang_release_command(&command);
    close_step(&step);
    return status;
}

/* Says in the log which kernels no program can launch. */
static void warn_of_kernels(struct opencl_built *built)
{
    static const char *const words[] = {
        [OPENCL_ARGUMENT_PIPE] = "a pipe", [OPENCL_ARGUMENT_QUEUE] = "a queue"};
    struct opencl_facts facts;
    char error[320], line[512];
    if (!opencl_facts_read(&facts, built->bytes, built->size, error))
        return;
    for (size_t i = 0; i < facts.kernel_count; i++)
        for (uint32_t a = 0; a < facts.kernels[i].argument_count; a++) {
            enum opencl_argument_kind kind = facts.kernels[i].arguments[a].kind;
            if (kind < OPENCL_ARGUMENT_PIPE)
                continue;
            snprintf(line, sizeof line,
                     "warning: argument %u of kernel '%.200s' is %s, which the device does not "
                     "support\n",
                     a, facts.kernels[i].name, words[kind]);
            append_text(&built->log, line);
        }
    opencl_facts_release(&facts);
}

/* Names lie in bitcode as they are. */
bool opencl_needs_functions(const struct opencl_object *object)
{
    static const char *const names[] = {"ocl_image", "vloada_half3", "vstorea_half3"};
    for (uint32_t i = 0; i < object->module_count; i++)
        for (size_t n = 0; n < ARRAY_COUNT(names); n++)
            if (memmem(object->modules[i].bytes, object->modules[i].size, names[n],
                       strlen(names[n])))
                return true;
    return false;
}

enum opencl_build_status opencl_link_object(const struct opencl_object *object,
                                            const struct opencl_module *functions,
                                            struct opencl_built *built)
{
    enum opencl_build_status status = generate(object, functions, built);
    if (status == OPENCL_BUILD_OK)
        status = join_logs(built);
    if (status == OPENCL_BUILD_OK)
        warn_of_kernels(built);
    return status;
}

/* Runs the compiler and the linker for hipRTC.
 *
 * Two commands are run, one that compiles and one that links: clang would do both by itself, but
 * with a file between them whose folder it does not remove. Each reads standard input and writes
 * standard output. */
#include "hip_rtc_compiler.h"

#define __HIP_PLATFORM_AMD__
#include <errno.h>
#include <hip/hip_version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/number.h"
#include "components/clang/clang_library.h"
#include "components/clang/clang_process.h"
#include "components/hip/common/hip_common.h"

#define HEADER_FOLDER       "/hiprtc/include"
#define NUMBER_TEXT(number) #number
#define NUMBER(number)      NUMBER_TEXT(number)
#define HIP_VERSION_TEXT                                                                           \
    NUMBER(HIP_VERSION_MAJOR) "." NUMBER(HIP_VERSION_MINOR) "." NUMBER(HIP_VERSION_PATCH)

/* Debian's device library is as old as clang-15, which hipcc uses: what has a file there, that
 * compiler knows. */
static const struct compiler {
    const char *program;
    const char *const *options; /* up to NULL */
    bool is_newer;              /* than the device library */
} compilers[] = {
    {"clang-15",
     (const char *const[]){"-mllvm", "-amdgpu-early-inline-all=true", "-mllvm",
                           "-amdgpu-function-calls=false", NULL},
     false},
    {"clang-19", (const char *const[]){NULL}, true},
};
enum { COMPILERS = ARRAY_COUNT(compilers) };

static const char no_compiler[] =
    "hipRTC finds no compiler: it starts clang-15, or clang-19 for targets that clang-15 does not "
    "know, from PATH or from the folder that HIP_CLANG_PATH names; install clang-15, lld-15 and "
    "rocm-device-libs (or clang-19 and lld-19)";

struct files {
    int source, object, code, log; /* -1: none */
    struct clang_overlay overlay;
};

static void close_files(struct files *files)
{
    clang_file_close(&files->source);
    clang_file_close(&files->object);
    clang_file_close(&files->code);
    clang_file_close(&files->log);
    clang_overlay_close(&files->overlay);
}

static bool make_overlay(const struct hip_rtc_job *job, struct clang_overlay *overlay)
{
    struct clang_header *headers = hip_allocate(job->header_count * sizeof *headers);
    for (size_t i = 0; i < job->header_count; i++)
        headers[i] = (struct clang_header){job->headers[i].name, job->headers[i].text,
                                           strlen(job->headers[i].text)};
    bool is_complete = clang_overlay_make(overlay, HEADER_FOLDER, headers, job->header_count);
    hip_release(headers);
    return is_complete;
}

static bool make_files(const struct hip_rtc_job *job, struct files *files)
{
    *files = (struct files){.source = clang_file_make(job->source, strlen(job->source)),
                            .object = clang_file_make("", 0),
                            .code = clang_file_make("", 0),
                            .log = clang_file_make("", 0)};
    return make_overlay(job, &files->overlay) && files->source >= 0 && files->object >= 0
           && files->code >= 0 && files->log >= 0;
}

/* ---- the command ---- */

/* Names the files of the device library one by one, as clang does by itself where it finds the
 * target's library. */
static void add_libraries(struct clang_command *command, const char *library)
{
    static const char *const names[] = {
        "hip.bc",
        "ocml.bc",
        "ockl.bc",
        "oclc_daz_opt_off.bc",
        "oclc_unsafe_math_off.bc",
        "oclc_finite_only_off.bc",
        "oclc_correctly_rounded_sqrt_on.bc",
        "oclc_wavefrontsize64_on.bc",
        "oclc_abi_version_500.bc",
    };
    for (size_t i = 0; i < ARRAY_COUNT(names); i++)
        clang_add(command, "--hip-device-lib=", names[i]);
    clang_add(command, "--hip-device-lib=", library);
}

static void add_compiler(struct clang_command *command, const struct compiler *compiler)
{
    const char *folder = getenv("HIP_CLANG_PATH");
    if (folder)
        clang_add(command, folder, "/clang");
    else
        clang_add(command, compiler->program, "");
    if (!folder)
        for (const char *const *option = compiler->options; *option; option++)
            clang_add(command, *option, "");
}

/* -S ends clang's work with the compiler, which then gets the option to write an object file. */
static void make_compile_command(const struct hip_rtc_job *job, const struct compiler *compiler,
                                 const struct files *files, struct clang_command *command)
{
    static const char *const first[] = {"--cuda-device-only",
                                        "-fno-crash-diagnostics",
                                        "--hip-version=" HIP_VERSION_TEXT,
                                        "-D__HIPCC_RTC__",
                                        "-std=c++17",
                                        "-O3"};
    static const char *const last[] = {"-S", "-Xclang", "-emit-obj", "-x", "hip", "-", "-o", "-"};
    char library[64];
    bool is_borrowed;
    add_compiler(command, compiler);
    clang_add_words(command, first, ARRAY_COUNT(first));
    if (!getenv("ROCM_PATH"))
        clang_add(command, "--rocm-path=", "/usr");
    if (!getenv("HIP_DEVICE_LIB_PATH"))
        clang_add(command, "--rocm-device-lib-path=", CLANG_LIBRARY_FOLDER);
    if (clang_library_of_target(job->target, library, sizeof library, &is_borrowed) && is_borrowed)
        add_libraries(command, library);
    clang_add(command, "--offload-arch=", job->target);
    clang_overlay_add(&files->overlay, command, HEADER_FOLDER);
    clang_add_words(command, job->options, job->option_count);
    clang_add_words(command, last, ARRAY_COUNT(last));
}

static void make_link_command(const struct compiler *compiler, struct clang_command *command)
{
    static const char *const words[] = {
        "-target", "amdgcn-amd-amdhsa", "-Wl,--no-undefined", "/proc/self/fd/0", "-o", "-"};
    struct compiler plain = {compiler->program, (const char *const[]){NULL}, false};
    add_compiler(command, &plain);
    clang_add_words(command, words, ARRAY_COUNT(words));
}

/* Compiles by the first compiler that is there, and links. */
static int compile_job(const struct hip_rtc_job *job, const struct files *files, bool *has_failed)
{
    char library[64];
    bool is_newer;
    clang_library_of_target(job->target, library, sizeof library, &is_newer);
    int error = ENOENT;
    for (int i = 0; i < COMPILERS && error == ENOENT; i++) {
        if (is_newer && !compilers[i].is_newer)
            continue;
        struct clang_command command = {0}, link = {0};
        make_compile_command(job, &compilers[i], files, &command);
        error = clang_run(&command, files->source, files->object, files->log, has_failed);
        if (*has_failed || !clang_file_is_code(files->object))
            continue;
        make_link_command(&compilers[i], &link);
        error = clang_run(&link, files->object, files->code, files->log, has_failed);
    }
    return error;
}

/* Takes the code that was written; adds to the log why there is none. */
static void read_output(const struct files *files, bool has_failed, struct hip_rtc_result *result)
{
    static const char no_code[] = "heddle: the compiler has not written a code object; options "
                                  "such as --version and -### make it "
                                  "do something else\n";
    size_t log_bytes;
    bool is_object = clang_file_is_code(files->object);
    result->log = clang_file_read(files->log, &log_bytes);
    if (is_object && !has_failed && clang_file_is_code(files->code)) {
        result->code = (uint8_t *)clang_file_read(files->code, &result->code_bytes);
    } else if (!is_object && !strstr(result->log, "error:")) {
        result->log = grow_memory(result->log, log_bytes + sizeof no_code, HIP_LIBRARY);
        memcpy(result->log + log_bytes, no_code, sizeof no_code);
    }
}

void hip_rtc_compile(const struct hip_rtc_job *job, struct hip_rtc_result *result)
{
    struct files files;
    bool has_failed = true;
    *result = (struct hip_rtc_result){.has_compiler = true};
    int error = make_files(job, &files) ? compile_job(job, &files, &has_failed) : errno;
    if (error == 0) {
        read_output(&files, has_failed, result);
    } else {
        const char *reason = error == ENOENT ? no_compiler : strerror(error);
        result->has_compiler = error != ENOENT;
        result->log = hip_allocate(strlen(reason) + 64);
        sprintf(result->log, "heddle: %s%s\n",
                error == ENOENT ? "" : "the compiler cannot be started: ", reason);
    }
    close_files(&files);
}

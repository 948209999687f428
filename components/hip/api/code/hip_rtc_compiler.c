/* See hip_rtc_compiler.h.
 *
 * Two commands are run, one that compiles and one that links: clang would do both by itself, but
 * with a file between them whose folder it leaves behind. Each reads standard input and writes
 * standard output; headers come through an overlay of the compiler's file system, which maps names
 * below HEADER_FOLDER to files in memory. Options are an array: no shell takes part. */
#define _GNU_SOURCE /* memfd_create */
#include "hip_rtc_compiler.h"

#define __HIP_PLATFORM_AMD__
#include <hip/hip_version.h>

#include "components/amd/isa/object/code_object.h"
#include "components/hip/common/hip_common.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define HEADER_FOLDER       "/hiprtc/include"
#define DEVICE_LIBRARIES    "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode"
#define NUMBER_TEXT(number) #number
#define NUMBER(number)      NUMBER_TEXT(number)
#define HIP_VERSION_TEXT                                                                           \
    NUMBER(HIP_VERSION_MAJOR) "." NUMBER(HIP_VERSION_MINOR) "." NUMBER(HIP_VERSION_PATCH)

extern char **environ;

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
enum { COMPILERS = sizeof compilers / sizeof compilers[0] };

static const char no_compiler[] =
    "hipRTC finds no compiler: it starts clang-15, or clang-19 for targets that clang-15 does not "
    "know, from PATH or from the folder that HIP_CLANG_PATH names; install clang-15, lld-15 and "
    "rocm-device-libs (or clang-19 and lld-19)";

/* ---- files in memory ---- */

/* The number of the file is none that the compiler's standard files get. -1: errno says why there
 * is none. */
static int make_file(const char *text, size_t size)
{
    int any = memfd_create("heddle hiprtc", MFD_CLOEXEC);
    int file = any < 0 ? -1 : fcntl(any, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (any >= 0)
        close(any);
    for (size_t done = 0; file >= 0 && done < size;) {
        ssize_t wrote = write(file, text + done, size - done);
        if (wrote < 0 && errno != EINTR) {
            close(file);
            return -1;
        }
        done += wrote > 0 ? (size_t)wrote : 0;
    }
    if (file >= 0)
        lseek(file, 0, SEEK_SET);
    return file;
}

/* The whole file, with a byte 0 behind it. */
static char *read_file(int file, size_t *size)
{
    struct stat status;
    size_t room = fstat(file, &status) == 0 ? (size_t)status.st_size : 0;
    char *bytes = hip_allocate(room + 1);
    *size = 0;
    for (ssize_t got = 1; *size < room && got > 0; *size += got > 0 ? (size_t)got : 0)
        got = pread(file, bytes + *size, room - *size, (off_t)*size);
    return bytes;
}

static bool is_code(int file)
{
    uint8_t start[64];
    ssize_t got = pread(file, start, sizeof start, 0);
    return got > 0 && code_object_recognise(start, (size_t)got);
}

struct files {
    int source, object, code, log, overlay; /* -1: none */
    int *headers;
    size_t header_count; /* made so far */
};

static void close_files(struct files *files)
{
    const int own[] = {files->source, files->object, files->code, files->log, files->overlay};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (own[i] >= 0)
            close(own[i]);
    for (size_t i = 0; i < files->header_count; i++)
        close(files->headers[i]);
    hip_release(files->headers);
}

static void print_json_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++)
        if (*text == '"' || *text == '\\')
            fprintf(out, "\\%c", *text);
        else if ((unsigned char)*text < ' ')
            fprintf(out, "\\u%04x", (unsigned char)*text);
        else
            fputc(*text, out);
    fputc('"', out);
}

/* Which name is which file: YAML, of which JSON is a part. */
static int make_overlay(const struct hip_rtc_job *job, const int *headers)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return -1;
    fputs("{\"version\":0,\"use-external-names\":false,\"roots\":[", out);
    for (size_t i = 0; i < job->header_count; i++) {
        const char *name = job->headers[i].name;
        char *path = hip_allocate(strlen(name) + sizeof HEADER_FOLDER + 1);
        sprintf(path, "%s%s", *name == '/' ? "" : HEADER_FOLDER "/", name);
        fprintf(out, "%s{\"type\":\"file\",\"external-contents\":\"/proc/self/fd/%d\",\"name\":",
                i ? "," : "", headers[i]);
        print_json_string(out, path);
        fputc('}', out);
        hip_release(path);
    }
    fputs("]}", out);
    fclose(out);
    int file = make_file(text, size);
    hip_release(text);
    return file;
}

static bool make_files(const struct hip_rtc_job *job, struct files *files)
{
    *files = (struct files){.overlay = -1,
                            .source = make_file(job->source, strlen(job->source)),
                            .object = make_file("", 0),
                            .code = make_file("", 0),
                            .log = make_file("", 0),
                            .headers = hip_allocate(job->header_count * sizeof(int))};
    for (size_t i = 0; i < job->header_count; i++) {
        int file = make_file(job->headers[i].text, strlen(job->headers[i].text));
        if (file < 0)
            return false;
        files->headers[files->header_count++] = file;
    }
    if (job->header_count > 0 && (files->overlay = make_overlay(job, files->headers)) < 0)
        return false;
    return files->source >= 0 && files->object >= 0 && files->code >= 0 && files->log >= 0;
}

/* ---- the command ---- */

struct command {
    char **words; /* up to NULL */
    size_t count, room;
};

/* Adds a word made of two parts. */
static void add(struct command *command, const char *first, const char *second)
{
    HIP_MAKE_ROOM(command->words, command->count + 1, command->room);
    char *word = hip_allocate(strlen(first) + strlen(second) + 1);
    command->words[command->count++] = strcat(strcpy(word, first), second);
    command->words[command->count] = NULL;
}

static void release_command(struct command *command)
{
    for (size_t i = 0; i < command->count; i++)
        hip_release(command->words[i]);
    hip_release(command->words);
}

/* The number of the target in names of the device library: "gfx90a:xnack-" has "90a". */
static void name_library(const char *target, bool family, char *name, size_t size)
{
    size_t length = strcspn(target, ":");
    const char *number = length > 3 ? target + 3 : "";
    snprintf(name, size, "oclc_isa_version_%.*s.bc", length > 3 ? (int)(length - 3) : 0, number);
    if (family && length > 3)
        name[strlen(name) - 4] = '0'; /* the last digit, in front of ".bc" */
}

static bool library_exists(const char *name)
{
    char path[sizeof DEVICE_LIBRARIES + 128];
    snprintf(path, sizeof path, "%s/%s", DEVICE_LIBRARIES, name);
    return access(path, R_OK) == 0;
}

/* Does the device library lack the target, but have the first of its family, whose constants are
 * the same? */
static bool borrows_library(const char *target, char *name, size_t size)
{
    name_library(target, false, name, size);
    if (library_exists(name))
        return false;
    name_library(target, true, name, size);
    return library_exists(name);
}

/* Names the files of the device library one by one, as clang does by itself where it finds that of
 * the target. */
static void add_libraries(struct command *command, const char *own)
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
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        add(command, "--hip-device-lib=", names[i]);
    add(command, "--hip-device-lib=", own);
}

static void add_compiler(struct command *command, const struct compiler *compiler)
{
    const char *folder = getenv("HIP_CLANG_PATH");
    if (folder)
        add(command, folder, "/clang");
    else
        add(command, compiler->program, "");
    for (const char *const *option = compiler->options; !folder && *option; option++)
        add(command, *option, "");
}

static void add_words(struct command *command, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (words[i] && *words[i])
            add(command, words[i], "");
}

/* -S ends clang's work with the compiler, which is then told to write an object file. */
static void make_compile_command(const struct hip_rtc_job *job, const struct compiler *compiler,
                                 const struct files *files, struct command *command)
{
    static const char *const first[] = {"--cuda-device-only",
                                        "-fno-crash-diagnostics",
                                        "--hip-version=" HIP_VERSION_TEXT,
                                        "-D__HIPCC_RTC__",
                                        "-std=c++17",
                                        "-O3"};
    static const char *const last[] = {"-S", "-Xclang", "-emit-obj", "-x", "hip", "-", "-o", "-"};
    char library[64];
    add_compiler(command, compiler);
    add_words(command, first, sizeof first / sizeof first[0]);
    if (!getenv("ROCM_PATH"))
        add(command, "--rocm-path=", "/usr");
    if (!getenv("HIP_DEVICE_LIB_PATH"))
        add(command, "--rocm-device-lib-path=", DEVICE_LIBRARIES);
    if (borrows_library(job->target, library, sizeof library))
        add_libraries(command, library);
    add(command, "--offload-arch=", job->target);
    if (files->overlay >= 0) {
        char path[32];
        snprintf(path, sizeof path, "/proc/self/fd/%d", files->overlay);
        add(command, "-ivfsoverlay", "");
        add(command, path, "");
        add(command, "-I", HEADER_FOLDER);
    }
    add_words(command, job->options, job->option_count);
    add_words(command, last, sizeof last / sizeof last[0]);
}

static void make_link_command(const struct compiler *compiler, struct command *command)
{
    static const char *const words[] = {
        "-target", "amdgcn-amd-amdhsa", "-Wl,--no-undefined", "/proc/self/fd/0", "-o", "-"};
    struct compiler plain = {compiler->program, (const char *const[]){NULL}, false};
    add_compiler(command, &plain);
    add_words(command, words, sizeof words / sizeof words[0]);
}

/* ---- running it ---- */

/* 0, or the number of the error. A file that is duplicated to its own number stays open in the
 * process. */
static int start(const struct command *command, const struct files *files, int in, int out,
                 pid_t *child)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, children;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, files->log, STDERR_FILENO);
    if (files->overlay >= 0)
        posix_spawn_file_actions_adddup2(&actions, files->overlay, files->overlay);
    for (size_t i = 0; i < files->header_count; i++)
        posix_spawn_file_actions_adddup2(&actions, files->headers[i], files->headers[i]);
    posix_spawnattr_init(&attributes);
    sigemptyset(&none);
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD); /* where the program ignores it, the compiler has use for it */
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &children);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    int error =
        posix_spawnp(child, command->words[0], &actions, &attributes, command->words, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* Whether the child has failed. A program that ignores SIGCHLD, or that waits for all children in
 * another thread, takes the status away: then the output decides. */
static bool has_failed(pid_t child)
{
    int status = 0;
    pid_t got;
    do
        got = waitpid(child, &status, 0);
    while (got < 0 && errno == EINTR);
    return got == child && status != 0;
}

/* Starts the command and waits for its end. 0, or the number of the error. */
static int run(struct command *command, const struct files *files, int in, int out, bool *failed)
{
    pid_t child;
    int error = start(command, files, in, out, &child);
    release_command(command);
    *failed = error != 0 || has_failed(child);
    return error;
}

/* Compiles by the first compiler that is there, and links. */
static int compile(const struct hip_rtc_job *job, const struct files *files, bool *failed)
{
    char library[64];
    bool newer = borrows_library(job->target, library, sizeof library);
    int error = ENOENT;
    for (int i = 0; i < COMPILERS && error == ENOENT; i++) {
        if (newer && !compilers[i].is_newer)
            continue;
        struct command command = {0}, link = {0};
        make_compile_command(job, &compilers[i], files, &command);
        error = run(&command, files, files->source, files->object, failed);
        if (*failed || !is_code(files->object))
            continue;
        make_link_command(&compilers[i], &link);
        lseek(files->object, 0, SEEK_SET);
        error = run(&link, files, files->object, files->code, failed);
    }
    return error;
}

/* Takes the code that was written; adds to the log why there is none. */
static void take_output(const struct files *files, bool failed, struct hip_rtc_result *result)
{
    static const char no_code[] = "heddle: the compiler has not written a code object; options "
                                  "such as --version and -### make it "
                                  "do something else\n";
    size_t log_bytes;
    bool is_object = is_code(files->object);
    result->log = read_file(files->log, &log_bytes);
    if (is_object && !failed && is_code(files->code)) {
        result->code = (uint8_t *)read_file(files->code, &result->code_bytes);
    } else if (!is_object && !strstr(result->log, "error:")) {
        result->log = hip_grow(result->log, log_bytes + sizeof no_code);
        memcpy(result->log + log_bytes, no_code, sizeof no_code);
    }
}

void hip_rtc_compile(const struct hip_rtc_job *job, struct hip_rtc_result *result)
{
    struct files files;
    bool failed = true;
    *result = (struct hip_rtc_result){.has_compiler = true};
    int error = make_files(job, &files) ? compile(job, &files, &failed) : errno;
    if (error == 0) {
        take_output(&files, failed, result);
    } else {
        const char *why = error == ENOENT ? no_compiler : strerror(error);
        result->has_compiler = error != ENOENT;
        result->log = hip_allocate(strlen(why) + 64);
        sprintf(result->log, "heddle: %s%s\n",
                error == ENOENT ? "" : "the compiler cannot be started: ", why);
    }
    close_files(&files);
}

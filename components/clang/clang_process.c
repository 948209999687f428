/* Commands, files in memory and overlays for processes of clang (see clang_process.h). */
#define _GNU_SOURCE /* memfd_create */
#include "clang_process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/grow.h"
#include "components/amd/isa/object/code_object.h"

extern char **environ;

#define SOURCE "a program's source" /* what memory is for */

void *clang_allocate(size_t size)
{
    return grow_zeroed(size, SOURCE);
}

char *clang_join(const char *first, const char *second)
{
    char *text = clang_allocate(strlen(first) + strlen(second) + 1);
    return strcat(strcpy(text, first), second);
}

void clang_release(void *memory)
{
    free(memory);
}

/* ---- files in memory ---- */

int clang_file_make(const void *bytes, size_t size)
{
    int memory_file = memfd_create("heddle compiler", MFD_CLOEXEC);
    int file = memory_file < 0 ? -1 : fcntl(memory_file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (memory_file >= 0)
        close(memory_file);
    for (size_t written = 0; file >= 0 && written < size;) {
        ssize_t wrote = write(file, (const char *)bytes + written, size - written);
        if (wrote < 0 && errno != EINTR) {
            close(file);
            return -1;
        }
        written += wrote > 0 ? (size_t)wrote : 0;
    }
    if (file >= 0)
        lseek(file, 0, SEEK_SET);
    return file;
}

char *clang_file_read(int file, size_t *size)
{
    struct stat status;
    size_t room = fstat(file, &status) == 0 ? (size_t)status.st_size : 0;
    char *bytes = clang_allocate(room + 1);
    *size = 0;
    for (ssize_t got = 1; *size < room && got > 0; *size += got > 0 ? (size_t)got : 0)
        got = pread(file, bytes + *size, room - *size, (off_t)*size);
    return bytes;
}

bool clang_file_is_code(int file)
{
    uint8_t start[64];
    ssize_t got = pread(file, start, sizeof start, 0);
    return got > 0 && code_object_recognise(start, (size_t)got);
}

void clang_file_close(int *file)
{
    if (*file >= 0)
        close(*file);
    *file = -1;
}

/* ---- commands ---- */

static void add_word(struct clang_command *command, char *word)
{
    grow_list(command->words, command->count + 2, command->capacity, SOURCE);
    command->words[command->count++] = word;
    command->words[command->count] = NULL;
}

void clang_add(struct clang_command *command, const char *first, const char *second)
{
    add_word(command, clang_join(first, second));
}

void clang_add_words(struct clang_command *command, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (words[i] && *words[i])
            clang_add(command, words[i], "");
}

static void keep_file(struct clang_command *command, int file)
{
    grow_list(command->files, command->file_count + 1, command->file_capacity, SOURCE);
    command->files[command->file_count++] = file;
}

void clang_add_file(struct clang_command *command, const char *prefix, int file)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    clang_add(command, prefix, path);
    keep_file(command, file);
}

void clang_release_command(struct clang_command *command)
{
    for (size_t i = 0; i < command->count; i++)
        clang_release(command->words[i]);
    clang_release(command->words);
    clang_release(command->files);
    *command = (struct clang_command){0};
}

/* 0, or the number of the error. A file that is duplicated to its own number stays open in the
 * process. */
static int start_process(const struct clang_command *command, int in, int out, int log,
                         pid_t *child)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, children;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, log, STDERR_FILENO);
    for (size_t i = 0; i < command->file_count; i++)
        posix_spawn_file_actions_adddup2(&actions, command->files[i], command->files[i]);
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

/* True if the child has failed. A program that ignores SIGCHLD, or that waits for all children in
 * another thread, takes the status away: then the output decides. */
static bool ends_in_failure(pid_t child)
{
    int status = 0;
    pid_t got;
    do
        got = waitpid(child, &status, 0);
    while (got < 0 && errno == EINTR);
    return got == child && status != 0;
}

int clang_run(struct clang_command *command, int in, int out, int log, bool *has_failed)
{
    pid_t child;
    lseek(in, 0, SEEK_SET);
    int error = start_process(command, in, out, log, &child);
    clang_release_command(command);
    *has_failed = error != 0 || ends_in_failure(child);
    return error;
}

/* ---- headers ---- */

/* By hand: libraries that programs are linked with bring no other library for so little. */
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

/* Writes which name is which file, in YAML, of which JSON is a part. */
static int make_map(const char *folder, const struct clang_header *headers, const int *files,
                    size_t count)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return -1;
    fputs("{\"version\":0,\"use-external-names\":false,\"roots\":[", out);
    for (size_t i = 0; i < count; i++) {
        char *within = clang_join(folder, "/");
        char *path = clang_join(*headers[i].name == '/' ? "" : within, headers[i].name);
        fprintf(out, "%s{\"type\":\"file\",\"external-contents\":\"/proc/self/fd/%d\",\"name\":",
                i ? "," : "", files[i]);
        print_json_string(out, path);
        fputc('}', out);
        clang_release(path);
        clang_release(within);
    }
    fputs("]}", out);
    fclose(out);
    int file = clang_file_make(text, size);
    free(text);
    return file;
}

bool clang_overlay_make(struct clang_overlay *overlay, const char *folder,
                        const struct clang_header *headers, size_t count)
{
    *overlay = (struct clang_overlay){.file = -1, .headers = clang_allocate(count * sizeof(int))};
    for (size_t i = 0; i < count; i++) {
        int file = clang_file_make(headers[i].text, headers[i].size);
        if (file < 0)
            return false;
        overlay->headers[overlay->count++] = file;
    }
    if (count > 0)
        overlay->file = make_map(folder, headers, overlay->headers, count);
    return count == 0 || overlay->file >= 0;
}

void clang_overlay_add(const struct clang_overlay *overlay, struct clang_command *command,
                       const char *folder)
{
    if (overlay->file < 0)
        return;
    clang_add(command, "-ivfsoverlay", "");
    clang_add_file(command, "", overlay->file);
    clang_add(command, "-I", folder);
    for (size_t i = 0; i < overlay->count; i++)
        keep_file(command, overlay->headers[i]);
}

void clang_overlay_close(struct clang_overlay *overlay)
{
    clang_file_close(&overlay->file);
    for (size_t i = 0; i < overlay->count; i++)
        close(overlay->headers[i]);
    clang_release(overlay->headers);
    *overlay = (struct clang_overlay){.file = -1};
}

/* The emit helper: an append-only text buffer in the caller's region. Called by all emitters. */
#include "emit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "dsl/compiler_bug.h"

#define COMMENT_COLUMNS 100

void emit_init(struct emit *e, struct region *region)
{
    *e = (struct emit){.region = region, .capacity = 256};
    e->text = region_take(region, e->capacity);
}

static char *reserve(struct emit *e, size_t more)
{
    if (e->size + more + 1 > e->capacity) {
        e->capacity = grow_capacity(e->size + more + 1, e->capacity);
        char *larger = region_take(e->region, e->capacity);
        memcpy(larger, e->text, e->size + 1);
        e->text = larger;
    }
    return e->text + e->size;
}

void emit_bytes(struct emit *e, const void *bytes, size_t size)
{
    char *end = reserve(e, size);
    if (size > 0)
        memcpy(end, bytes, size);
    end[size] = '\0';
    e->size += size;
}

/* Most texts fit into what is reserved, and are then made once. */
void emit(struct emit *e, const char *format, ...)
{
    enum { USUAL = 256 };
    char *end = reserve(e, USUAL);
    va_list args;
    va_start(args, format);
    int size = vsnprintf(end, USUAL, format, args);
    va_end(args);
    if (size < 0)
        compiler_bug("bad format '%s'", format);
    if (size >= USUAL) {
        end = reserve(e, (size_t)size);
        va_start(args, format);
        vsnprintf(end, (size_t)size + 1, format, args);
        va_end(args);
    }
    e->size += (size_t)size;
}

/* Documentation that holds the end of a comment must not end ours. */
static void emit_word(struct emit *e, const char *word, size_t size)
{
    size_t from = 0;
    for (size_t i = 0; i + 1 < size; i++) {
        if (word[i] != '*' || word[i + 1] != '/')
            continue;
        emit_bytes(e, word + from, i + 1 - from);
        emit_bytes(e, " ", 1);
        from = i + 1;
    }
    emit_bytes(e, word + from, size - from);
}

void emit_comment(struct emit *e, const char *indent, const char *text)
{
    if (!text || !*text)
        return;
    size_t column = strlen(indent) + 2;
    emit(e, "%s/*", indent);
    while (*text) {
        size_t word = strcspn(text, " \n\t");
        if (word > 0) {
            if (column + 1 + word + 3 > COMMENT_COLUMNS) {
                emit(e, "\n%s *", indent);
                column = strlen(indent) + 2;
            }
            emit_bytes(e, " ", 1);
            emit_word(e, text, word);
            column += 1 + word;
        }
        text += word;
        text += strspn(text, " \n\t");
    }
    emit(e, " */\n");
}

/* True if the file holds exactly these bytes. */
static bool file_equals(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    const char *expected = bytes;
    char buffer[16384];
    size_t at = 0, got;
    bool equal = true;
    while (equal && (got = fread(buffer, 1, sizeof buffer, file)) > 0) {
        equal = got <= size - at && memcmp(buffer, expected + at, got) == 0;
        at += got;
    }
    fclose(file);
    return equal && at == size;
}

/* A pipe or a device can be neither compared nor replaced, and a link shall stay one. */
static enum emit_result write_through(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    bool ok = file && fwrite(bytes, 1, size, file) == size;
    if (file && fclose(file) != 0)
        ok = false;
    if (!ok)
        fprintf(stderr, "heddle: cannot write '%s': %s\n", path, strerror(errno));
    return ok ? EMIT_WRITTEN : EMIT_FAILED;
}

enum emit_result emit_write_bytes(const char *path, const void *bytes, size_t size)
{
    struct stat status;
    if (lstat(path, &status) == 0 && !S_ISREG(status.st_mode))
        return write_through(path, bytes, size);
    if (file_equals(path, bytes, size))
        return EMIT_UNCHANGED;
    size_t length = strlen(path) + 32;
    char temporary[4096];
    if (length > sizeof temporary) {
        fprintf(stderr, "heddle: %s: the path is too long\n", path);
        return EMIT_FAILED;
    }
    snprintf(temporary, sizeof temporary, "%s.%ld.tmp", path, (long)getpid());
    FILE *file = fopen(temporary, "wb");
    bool ok = file && fwrite(bytes, 1, size, file) == size;
    if (file && fclose(file) != 0)
        ok = false;
    if (ok && rename(temporary, path) == 0)
        return EMIT_WRITTEN;
    fprintf(stderr, "heddle: cannot write '%s': %s\n", path, strerror(errno));
    unlink(temporary);
    return EMIT_FAILED;
}

enum emit_result emit_write(const struct emit *e, const char *path)
{
    return emit_write_bytes(path, e->text, e->size);
}

bool emit_make_folder(const char *path)
{
    char partial[4096];
    size_t size = strlen(path);
    if (size == 0)
        return true;
    if (size >= sizeof partial) {
        fprintf(stderr, "heddle: %s: the path is too long\n", path);
        return false;
    }
    for (size_t i = 1; i <= size; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        memcpy(partial, path, i);
        partial[i] = '\0';
        if (mkdir(partial, 0777) != 0 && errno != EEXIST) {
            fprintf(stderr, "heddle: cannot create folder '%s': %s\n", partial, strerror(errno));
            return false;
        }
    }
    struct stat status;
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        return true;
    fprintf(stderr, "heddle: '%s' is not a folder\n", path);
    return false;
}

bool emit_write_below(struct region *region, const char *path, const char *text)
{
    size_t folder = (size_t)(strrchr(path, '/') - path);
    return emit_make_folder(region_strndup(region, path, folder))
           && (path[folder + 1] == '\0'
               || emit_write_bytes(path, text, strlen(text)) != EMIT_FAILED);
}

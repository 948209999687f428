/* Keeps results of compilations in files.
 *
 * A file holds the digest of what follows it: how many header files there are, for each its path
 * and the digest of what it held, the log, and the code. A file that does not agree with its digest
 * is as good as missing. What is too much goes with what builds have left (codegen/build/cache.h).
 */
#include "opencl_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "components/clang/clang_process.h"
#include "runtime/engine/output_file.h"

enum { DIGEST = 64, PATH_BYTES = 4096 };

void opencl_cache_add(struct sha256 *key, const void *bytes, size_t size)
{
    sha256_add(key, &size, sizeof size);
    sha256_add(key, bytes, size);
}

void opencl_cache_add_identity(struct sha256 *key, const char *path)
{
    struct stat status;
    sha256_add_string(key, path);
    if (stat(path, &status) == 0) {
        sha256_add(key, &status.st_size, sizeof status.st_size);
        sha256_add(key, &status.st_mtim, sizeof status.st_mtim);
    }
}

/* False: there is no cache. */
static bool name_file(const char *name, char path[PATH_BYTES])
{
    const char *folder = getenv("HEDDLE_CACHE");
    return folder && *folder
           && snprintf(path, PATH_BYTES, "%s/opencl/%s", folder, name) < PATH_BYTES;
}

/* ---- reading ---- */

struct reader {
    const char *next, *end;
};

static const char *read_bytes(struct reader *r, size_t size)
{
    const char *bytes = r->next;
    if ((size_t)(r->end - r->next) < size)
        return NULL;
    r->next += size;
    return bytes;
}

static bool read_size(struct reader *r, uint64_t *size)
{
    const char *bytes = read_bytes(r, sizeof *size);
    if (bytes)
        memcpy(size, bytes, sizeof *size);
    return bytes != NULL;
}

static void digest_of(const void *bytes, size_t size, char hex[DIGEST + 1])
{
    struct sha256 digest;
    sha256_init(&digest);
    sha256_add(&digest, bytes, size);
    sha256_finish(&digest, hex);
}

static bool digest_file(const char *path, char hex[DIGEST + 1])
{
    struct sha256 digest;
    sha256_init(&digest);
    bool is_read = sha256_add_file(&digest, path);
    sha256_finish(&digest, hex);
    return is_read;
}

/* True if each header file still has the contents that were compiled. */
static bool headers_are_the_same(struct reader *r)
{
    uint64_t count;
    if (!read_size(r, &count))
        return false;
    while (count-- > 0) {
        char digest[DIGEST + 1];
        const char *path = r->next, *end = memchr(r->next, '\0', (size_t)(r->end - r->next));
        if (!end)
            return false;
        r->next = end + 1;
        const char *old_digest = read_bytes(r, DIGEST);
        if (!old_digest || !digest_file(path, digest) || memcmp(old_digest, digest, DIGEST) != 0)
            return false;
    }
    return true;
}

static bool read_built(struct reader *r, struct opencl_built *built)
{
    uint64_t log, code;
    if (!headers_are_the_same(r) || !read_size(r, &log) || !read_size(r, &code)
        || log > (size_t)(r->end - r->next) || code != (size_t)(r->end - r->next) - log)
        return false;
    built->log = clang_allocate(log + 1);
    memcpy(built->log, read_bytes(r, log), log);
    built->bytes = clang_allocate(code);
    memcpy(built->bytes, read_bytes(r, code), code);
    built->size = code;
    return true;
}

bool opencl_cache_find(const char *key, struct opencl_built *built)
{
    char path[PATH_BYTES], hex[DIGEST + 1];
    size_t size;
    struct stat status;
    int file = name_file(key, path) ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
    if (file < 0)
        return false;
    bool is_found = fstat(file, &status) == 0 && status.st_uid == geteuid();
    char *bytes = is_found ? clang_file_read(file, &size) : NULL;
    if (is_found)
        futimens(file, NULL); /* used now */
    close(file);
    is_found = is_found && size > DIGEST;
    if (is_found) {
        struct reader r = {bytes + DIGEST, bytes + size};
        digest_of(r.next, size - DIGEST, hex);
        is_found = memcmp(hex, bytes, DIGEST) == 0 && read_built(&r, built);
    }
    clang_release(bytes);
    return is_found;
}

/* ---- writing ---- */

/* The next path of a makefile's rule, in which a backslash precedes a space or an end of line. */
static bool read_path(const char **text, char path[PATH_BYTES])
{
    size_t size = 0;
    while (**text && (strchr(" \n", **text) || strncmp(*text, "\\\n", 2) == 0))
        *text += **text == '\\' ? 2 : 1;
    for (; **text && !strchr(" \n", **text) && size + 1 < PATH_BYTES; ++*text) {
        if (**text == '\\' && (*text)[1] == '\n')
            break;
        if (strncmp(*text, "$$", 2) == 0 || (**text == '\\' && strchr(" #", (*text)[1])))
            ++*text;
        path[size++] = **text;
    }
    path[size] = '\0';
    return size > 0;
}

/* Header files that the compiler read; what is in memory has no path of its own. */
static uint64_t print_headers(FILE *out, const char *dependencies)
{
    char path[PATH_BYTES], hex[DIGEST + 1];
    uint64_t count = 0;
    const char *next = dependencies ? strchr(dependencies, ':') : NULL;
    for (next = next ? next + 1 : ""; read_path(&next, path);) {
        if (strcmp(path, "-") == 0 || !digest_file(path, hex))
            continue;
        count++;
        if (out) {
            fwrite(path, 1, strlen(path) + 1, out);
            fwrite(hex, 1, DIGEST, out);
        }
    }
    return count;
}

static void print_size(FILE *out, uint64_t size)
{
    fwrite(&size, sizeof size, 1, out);
}

static bool write_all(int file, const char *bytes, size_t size)
{
    for (size_t written = 0; written < size;) {
        ssize_t wrote = write(file, bytes + written, size - written);
        if (wrote < 0 && errno != EINTR)
            return false;
        written += wrote > 0 ? (size_t)wrote : 0;
    }
    return true;
}

static void write_file(const char *key, const char *bytes, size_t size)
{
    char path[PATH_BYTES], hex[DIGEST + 1];
    struct output_file file;
    if (!name_file(key, path))
        return;
    digest_of(bytes, size, hex);
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    if (!output_file_open(&file, path))
        return;
    if (write_all(file.fd, hex, DIGEST) && write_all(file.fd, bytes, size))
        output_file_publish(&file);
    else
        output_file_discard(&file);
}

void opencl_cache_keep(const char *key, const struct opencl_built *built, const char *dependencies)
{
    char *bytes = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&bytes, &size);
    if (!out)
        return;
    print_size(out, print_headers(NULL, dependencies));
    print_headers(out, dependencies);
    print_size(out, strlen(built->log));
    print_size(out, built->size);
    fwrite(built->log, 1, strlen(built->log), out);
    fwrite(built->bytes, 1, built->size, out);
    fclose(out);
    write_file(key, bytes, size);
    free(bytes);
}

/* The files of a recording. Nothing here takes memory of the program's heap while the program runs,
 * so files are read and written without <stdio.h>. Data that were written before are found by size
 * and hash, and then compared with the file, so that a hash that two share does no harm. */
#include "hip_record_files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/hash.h"
#include "base/number.h"
#include "components/hip/api/hip_internal.h"
#include "runtime/session/run_ledger.h"

#include "hip_record.h"

enum { PATH_BYTES = 4096, NAME_BYTES = 32, CHUNK = 65536, PIECE = 1 << 20 };

#define UNFINISHED_FILE API_TRACE_FILE ".part"

/* Rows of bytes in memory. */
struct rows {
    char *bytes;
    uint64_t size, count, pitch;
};

struct data_file {
    uint64_t hash, size;
    const char *name;
};

static struct {
    const char *folder;
    struct data_file *list;
    size_t count, capacity;
    int trace;
    char *piece; /* the free rest of a piece of memory */
    size_t piece_bytes;
} files;

void *hip_record_keep(size_t size)
{
    size = round_up(size, 16);
    if (size > files.piece_bytes) {
        size_t bytes = max(size, PIECE);
        files.piece = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        files.piece_bytes = bytes;
        if (files.piece == MAP_FAILED) {
            fprintf(stderr, "heddle: out of memory for %zu bytes of a recording\n", bytes);
            abort();
        }
    }
    char *kept = files.piece;
    files.piece += size;
    files.piece_bytes -= size;
    return kept;
}

void *hip_record_make_room(void *list, size_t count, size_t *capacity, size_t element_bytes)
{
    if (count < *capacity)
        return list;
    *capacity = grow_capacity(count + 1, *capacity);
    void *grown = hip_record_keep(*capacity * element_bytes);
    return count ? memcpy(grown, list, count * element_bytes) : grown;
}

static int open_file(const char *name, int flags)
{
    char path[PATH_BYTES];
    int size = snprintf(path, sizeof path, "%s/%s", files.folder, name);
    return size > 0 && (size_t)size < sizeof path ? open(path, flags | O_CLOEXEC, 0666) : -1;
}

bool hip_record_files_open(const char *folder)
{
    files.folder = folder;
    files.trace = open_file(UNFINISHED_FILE, O_WRONLY | O_CREAT | O_EXCL);
    if (files.trace < 0) {
        hip_say(errno == EEXIST ? "--record api records one process; this is a second one%s"
                                : "--record api: cannot write: %s",
                errno == EEXIST ? "" : strerror(errno));
    }
    return files.trace >= 0;
}

static uint64_t hash_rows(const struct rows *rows)
{
    uint64_t hash = 0;
    for (uint64_t row = 0; row < rows->count; row++)
        hash = hash_bytes(hash, rows->bytes + row * rows->pitch, rows->size);
    return hash;
}

/* Reads, or writes, all of the bytes. */
static bool move_all(int stream, void *bytes, size_t size, bool is_write)
{
    char *rest = bytes;
    while (size > 0) {
        ssize_t moved = is_write ? write(stream, rest, size) : read(stream, rest, size);
        if (moved < 0 && errno == EINTR)
            continue;
        if (moved <= 0)
            return false;
        rest += moved;
        size -= (size_t)moved;
    }
    return true;
}

static bool is_same(const struct data_file *file, const struct rows *rows)
{
    char buffer[CHUNK];
    int stream = open_file(file->name, O_RDONLY);
    bool is_equal = stream >= 0;
    for (uint64_t row = 0; row < rows->count && is_equal; row++) {
        for (uint64_t offset = 0; offset < rows->size && is_equal; offset += CHUNK) {
            size_t size = rows->size - offset < CHUNK ? (size_t)(rows->size - offset) : CHUNK;
            is_equal = move_all(stream, buffer, size, false)
                       && memcmp(buffer, rows->bytes + row * rows->pitch + offset, size) == 0;
        }
    }
    if (stream >= 0)
        close(stream);
    return is_equal;
}

static void cannot_write(const char *reason)
{
    hip_record_give_up(reason);
    run_ledger_report(EXIT_UNABLE);
}

static void write_rows(const char *name, const struct rows *rows)
{
    int stream = open_file(name, O_WRONLY | O_CREAT | O_TRUNC);
    bool has_succeeded = stream >= 0;
    for (uint64_t row = 0; row < rows->count && has_succeeded; row++)
        has_succeeded = move_all(stream, rows->bytes + row * rows->pitch, rows->size, true);
    if (stream >= 0)
        has_succeeded = close(stream) == 0 && has_succeeded;
    if (!has_succeeded)
        cannot_write(strerror(errno));
}

const char *hip_record_data(const void *bytes, uint64_t size, uint64_t count, uint64_t pitch)
{
    struct rows rows = {(char *)(uintptr_t)bytes, size, count > 0 ? count : 1, pitch};
    uint64_t hash = hash_rows(&rows), total = rows.size * rows.count;
    for (size_t i = 0; i < files.count; i++) {
        const struct data_file *file = &files.list[i];
        if (file->hash == hash && file->size == total && is_same(file, &rows))
            return file->name;
    }
    HIP_RECORD_MAKE_ROOM(files.list, files.count, files.capacity);
    char *name = hip_record_keep(NAME_BYTES);
    snprintf(name, NAME_BYTES, "data-%zu.bin", files.count + 1);
    write_rows(name, &rows);
    files.list[files.count++] = (struct data_file){hash, total, name};
    return name;
}

void hip_record_files_close(const struct api_trace *trace, const struct api_trace_sink *sink)
{
    char unfinished[PATH_BYTES], whole[PATH_BYTES];
    FILE *stream = fdopen(files.trace, "wb");
    bool has_succeeded = stream && api_trace_write(trace, stream, sink);
    has_succeeded = stream && fclose(stream) == 0 && has_succeeded;
    snprintf(unfinished, sizeof unfinished, "%s/%s", files.folder, UNFINISHED_FILE);
    snprintf(whole, sizeof whole, "%s/%s", files.folder, API_TRACE_FILE);
    if (!has_succeeded || rename(unfinished, whole) != 0)
        cannot_write("the trace cannot be written");
}

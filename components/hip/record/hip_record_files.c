/* See hip_record_files.h. Data that were written before are found by size and hash, and then
 * compared with the file, so that a hash that two share does no harm. */
#include "hip_record_files.h"

#include "components/hip/api/hip_recorder.h"
#include "runtime/engine/hash.h"
#include "runtime/session/run_ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

enum { PATH_BYTES = 4096, NAME_BYTES = 32, CHUNK = 65536 };

#define PART_FILE API_TRACE_FILE ".part"

/* Rows of bytes in memory. */
struct rows {
    const char *bytes;
    uint64_t size, count, pitch;
};

struct data_file {
    uint64_t hash, size;
    const char *name;
};

static struct {
    const char *folder;
    struct data_file *list;
    size_t count, room;
    FILE *trace;
} files;

static FILE *open_file(const char *name, const char *mode)
{
    char path[PATH_BYTES];
    int size = snprintf(path, sizeof path, "%s/%s", files.folder, name);
    return size > 0 && (size_t)size < sizeof path ? fopen(path, mode) : NULL;
}

bool hip_record_files_open(const char *folder)
{
    files.folder = folder;
    files.trace = open_file(PART_FILE, "wbxe");
    if (!files.trace) {
        hip_say(errno == EEXIST ? "--record api records one process; this is a second one%s"
                                : "--record api: cannot write: %s",
                errno == EEXIST ? "" : strerror(errno));
    }
    return files.trace != NULL;
}

static uint64_t hash_rows(const struct rows *rows)
{
    uint64_t hash = 0;
    for (uint64_t row = 0; row < rows->count; row++)
        hash = hash_bytes(hash, rows->bytes + row * rows->pitch, rows->size);
    return hash;
}

static bool is_same(const struct data_file *file, const struct rows *rows)
{
    char buffer[CHUNK];
    FILE *stream = open_file(file->name, "rbe");
    bool same = stream != NULL;
    for (uint64_t row = 0; row < rows->count && same; row++) {
        for (uint64_t at = 0; at < rows->size && same; at += CHUNK) {
            size_t size = rows->size - at < CHUNK ? (size_t)(rows->size - at) : CHUNK;
            same = fread(buffer, 1, size, stream) == size
                   && memcmp(buffer, rows->bytes + row * rows->pitch + at, size) == 0;
        }
    }
    if (stream)
        fclose(stream);
    return same;
}

static void cannot_write(const char *why)
{
    hip_recorder.refuse(why);
    run_ledger_report(EXIT_NOT_STARTED);
}

static void write_rows(const char *name, const struct rows *rows)
{
    FILE *stream = open_file(name, "wbe");
    bool good = stream != NULL;
    for (uint64_t row = 0; row < rows->count && good; row++)
        good = fwrite(rows->bytes + row * rows->pitch, 1, rows->size, stream) == rows->size;
    if (stream)
        good = fclose(stream) == 0 && good;
    if (!good)
        cannot_write(strerror(errno));
}

const char *hip_record_data(const void *bytes, uint64_t size, uint64_t count, uint64_t pitch)
{
    struct rows rows = {bytes, size, count > 0 ? count : 1, pitch};
    uint64_t hash = hash_rows(&rows), total = rows.size * rows.count;
    for (size_t i = 0; i < files.count; i++) {
        const struct data_file *file = &files.list[i];
        if (file->hash == hash && file->size == total && is_same(file, &rows))
            return file->name;
    }
    HIP_MAKE_ROOM(files.list, files.count, files.room);
    char *name = hip_allocate(NAME_BYTES);
    snprintf(name, NAME_BYTES, "data-%zu.bin", files.count + 1);
    write_rows(name, &rows);
    files.list[files.count++] = (struct data_file){hash, total, name};
    return name;
}

void hip_record_files_close(const struct api_trace *trace, const struct api_trace_sink *sink)
{
    char part[PATH_BYTES], whole[PATH_BYTES];
    bool good = api_trace_write(trace, files.trace, sink);
    good = fclose(files.trace) == 0 && good;
    snprintf(part, sizeof part, "%s/%s", files.folder, PART_FILE);
    snprintf(whole, sizeof whole, "%s/%s", files.folder, API_TRACE_FILE);
    if (!good || rename(part, whole) != 0)
        cannot_write("the trace cannot be written");
}

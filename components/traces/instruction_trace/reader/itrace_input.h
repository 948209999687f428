/* A text file line by line, plain, xz, zstd or .tracez (itrace_tracez.h): told apart by their first
 * bytes, not by their names. Lines of a .tracez are numbered as Accel-Sim's traceDsm writes them.
 * Memory stays constant however long the file is; a line may have ITRACE_LINE_MAX bytes. */
#ifndef HEDDLE_COMPONENTS_TRACES_INSTRUCTION_TRACE_READER_ITRACE_INPUT_H
#define HEDDLE_COMPONENTS_TRACES_INSTRUCTION_TRACE_READER_ITRACE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 64 addresses and register values of 64 lanes take 12 KB: more than this is no trace. */
#define ITRACE_LINE_MAX (1 << 20)

/* CRC-64 of bytes (.xz file format 1.1, 6), and how many they are: names the content of a file and
 * finds damage by accident. Zero is that of no bytes. */
struct itrace_digest {
    uint64_t crc, size;
};

struct itrace_decoder; /* xz or zstd */

struct itrace_input {
    int fd;        /* -1: memory */
    uint64_t size; /* bytes of the file */
    const uint8_t *memory;
    size_t memory_left;
    struct itrace_decoder *decoder;  /* NULL: plain, or a container */
    struct itrace_tracez *container; /* NULL: none */
    uint8_t *packed;                 /* as read from the file, when there is a decoder */
    size_t packed_at, packed_size;
    char *text; /* unpacked, [at, end) not yet given out; NUL after it */
    size_t at, end, capacity;
    uint64_t line;               /* number of the line given out last, from 1 */
    bool ended;                  /* nothing more to read from the file */
    bool drained;                /* nothing more to unpack */
    struct itrace_digest digest; /* digest of the file's bytes as far as they were read */
    char error[160];
};

/* Open input must be closed, also after an error. False: `error` says why, without the path. */
bool itrace_input_open(struct itrace_input *input, const char *path);
/* `bytes` must outlive the input. */
bool itrace_input_open_memory(struct itrace_input *input, const void *bytes, size_t size);
/* The next line without its end (LF or CR LF), NUL-terminated and valid until the next call.
 * 1: a line, 0: the end, -1: `error` says what is wrong with the file. */
int itrace_input_line(struct itrace_input *input, char **line, size_t *size);
void itrace_input_close(struct itrace_input *input);

void itrace_digest_add(struct itrace_digest *digest, const void *bytes, size_t size);
/* The digest of all that the file has left. False: it cannot be read (errno). */
bool itrace_digest_rest(int fd, struct itrace_digest *digest);
/* The digest of the file's bytes. False: it cannot be read (errno). */
bool itrace_input_digest(const char *path, struct itrace_digest *digest);

#endif

/* Traces in Accel-Sim 2.0's container (*.tracez), unpacked into the text of a .traceg.
 *
 * Layout, numbers little-endian, after namespace tracez of Accel-Sim's tracer_tool:
 *   header text, a zero byte
 *   u32 bytes of the dictionary, u32 instructions of a part; the dictionary of zstd
 *   for each warp: u32 instructions, u32 parts; for each part: u32 bytes, a frame of zstd
 *   the index: u32 blocks; for each block: u32 x, y, z, nine of its cluster's numbers and its rank,
 *     u32 warps; for each warp: u32 instructions, u32 parts, u64 its place, u32 instructions of
 *     each part
 *   u64 the place of the index
 * There is no checksum; every count is in two places, and both are compared. Memory is constant
 * however long the file is. */
#ifndef HEDDLE_COMPONENTS_TRACES_INSTRUCTION_TRACE_READER_ITRACE_TRACEZ_H
#define HEDDLE_COMPONENTS_TRACES_INSTRUCTION_TRACE_READER_ITRACE_TRACEZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The file, or bytes, that a container lies in. */
struct itrace_bytes {
    int fd;                /* -1: memory */
    const uint8_t *memory; /* must outlive the reader */
    uint64_t size;
};

struct itrace_tracez;

/* The bytes of the header text if a file that begins with `bytes` is such a container, 0 otherwise:
 * lines of a header up to a zero byte, which no text has. */
size_t itrace_tracez_header(const uint8_t *bytes, size_t size);
/* True if these are lines of a header and nothing else, so that more of the file is needed. */
bool itrace_tracez_undecided(const uint8_t *bytes, size_t size);
/* Checks the index. NULL: `error` says what is wrong, and where. */
struct itrace_tracez *itrace_tracez_open(const struct itrace_bytes *from, uint64_t header_size,
                                         char error[160]);
/* Up to `room` bytes of the text after the header, `room` > 0. 1: *got of them, 0: the end, -1:
 * `error` says what is wrong, and where. */
int itrace_tracez_read(struct itrace_tracez *tracez, char *to, size_t room, size_t *got,
                       char error[160]);
void itrace_tracez_close(struct itrace_tracez *tracez);

#endif

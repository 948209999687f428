/* Unpacks a container as the reader asks for lines. Two places move along: one in the index, read
 * through a small buffer, and one in the part of a warp that is being unpacked. A block, a warp and
 * a part each have their function, which looks at the next one and queues the lines that precede
 * it. */
#include "itrace_tracez.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "base/number.h"

#include "itrace_memory.h"

#define PACKED_SIZE    65536
#define INDEX_BUFFER   4096
/* Accel-Sim writes 64 KiB at most. */
#define DICTIONARY_MAX (16u << 20)
#define BLOCK_NUMBERS  10

enum phase { NEXT_BLOCK, NEXT_WARP, NEXT_PART, IN_PART, OVER };

struct itrace_tracez {
    struct itrace_bytes from;
    uint64_t data_at;             /* the first byte after the dictionary */
    uint64_t index_at, index_end; /* what is left of the index */
    uint64_t index_begin;
    uint8_t index[INDEX_BUFFER];
    uint64_t index_base; /* where `index` lies in the file */
    size_t index_size;

    enum phase phase;
    uint32_t blocks, warps, parts; /* left: of the file, the block, the warp */
    uint32_t place[BLOCK_NUMBERS]; /* numbers of the block under way */
    uint32_t warp, part;           /* numbers of those under way */
    uint32_t warp_lines;           /* lines of the warp in its parts to come */
    uint64_t at;                   /* in the warp's data */

    uint64_t frame_at;           /* where the part's frame begins, for messages */
    uint64_t frame_left;         /* its bytes that were not read yet */
    uint32_t frame_lines, lines; /* what the index says, and what has come */
    bool in_frame, line_open;    /* the frame is not complete; its last line */
    uint8_t packed[PACKED_SIZE];
    size_t packed_at, packed_size;

    char text[400]; /* lines in front of the next piece, not yet given out */
    size_t text_at, text_size;
    ZSTD_DCtx *decoder;
    ZSTD_DDict *dictionary;
    char *error;
};

__attribute__((format(printf, 2, 3))) static bool fail(struct itrace_tracez *z, const char *format,
                                                       ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(z->error, 160, format, args);
    va_end(args);
    return false;
}

/* Reports at the part under way. */
static bool fail_in_part(struct itrace_tracez *z, const char *what)
{
    return fail(z,
                "thread block %" PRIu32 ",%" PRIu32 ",%" PRIu32 ", warp %" PRIu32 ", part %" PRIu32
                " at byte %" PRIu64 ": %s",
                z->place[0], z->place[1], z->place[2], z->warp, z->part, z->frame_at, what);
}

/* Exactly `size` bytes from `at` on, which lie within the file as it was. */
static bool read_at(struct itrace_tracez *z, uint64_t at, void *to, size_t size)
{
    uint8_t *bytes = to;
    if (at > z->from.size || size > z->from.size - at)
        return fail(z, "the file ends before byte %" PRIu64 ": it is cut", at + size);
    if (z->from.fd < 0) {
        memcpy(to, z->from.memory + at, size);
        return true;
    }
    while (size > 0) {
        ssize_t got = pread(z->from.fd, bytes, size, (off_t)at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return fail(z, "%s", got < 0 ? strerror(errno) : "the file became shorter");
        bytes += got;
        at += (uint64_t)got;
        size -= (size_t)got;
    }
    return true;
}

static uint32_t number_of(const uint8_t bytes[4])
{
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static bool take_number(struct itrace_tracez *z, uint32_t *number)
{
    if (z->index_end - z->index_at < 4)
        return fail(z, "the index ends in the middle, at byte %" PRIu64 ": the file is damaged",
                    z->index_at);
    if (z->index_at < z->index_base || z->index_at + 4 > z->index_base + z->index_size) {
        uint64_t left = z->index_end - z->index_at;
        z->index_base = z->index_at;
        z->index_size = left < INDEX_BUFFER ? (size_t)left : INDEX_BUFFER;
        if (!read_at(z, z->index_base, z->index, z->index_size))
            return false;
    }
    *number = number_of(z->index + (z->index_at - z->index_base));
    z->index_at += 4;
    return true;
}

static bool take_numbers(struct itrace_tracez *z, uint32_t *numbers, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (!take_number(z, &numbers[i]))
            return false;
    return true;
}

/* A warp of the index: instructions, parts, place. */
static bool take_warp(struct itrace_tracez *z, uint32_t *lines, uint32_t *parts, uint64_t *at)
{
    uint32_t numbers[4];
    if (!take_numbers(z, numbers, 4))
        return false;
    *lines = numbers[0];
    *parts = numbers[1];
    *at = numbers[2] | (uint64_t)numbers[3] << 32;
    if (*at < z->data_at || *at > z->index_begin || z->index_begin - *at < 8)
        return fail(z, "the index places a warp at byte %" PRIu64 ", outside of the data", *at);
    return true;
}

static bool rewind_index(struct itrace_tracez *z)
{
    z->index_at = z->index_begin;
    return take_number(z, &z->blocks);
}

/* The index has the length that its counts give. */
static bool check_index(struct itrace_tracez *z)
{
    uint32_t numbers[BLOCK_NUMBERS + 1], lines, parts, count;
    uint64_t at;
    if (!rewind_index(z))
        return false;
    for (uint32_t b = 0; b < z->blocks; b++) {
        if (!take_numbers(z, numbers, BLOCK_NUMBERS + 1))
            return false;
        for (uint32_t w = 0; w < numbers[BLOCK_NUMBERS]; w++) {
            if (!take_warp(z, &lines, &parts, &at))
                return false;
            for (uint32_t p = 0; p < parts; p++)
                if (!take_number(z, &count))
                    return false;
        }
    }
    if (z->index_at != z->index_end)
        return fail(z, "the index ends at byte %" PRIu64 ", not at %" PRIu64 ": it is damaged",
                    z->index_at, z->index_end);
    return rewind_index(z);
}

/* Dictionary and place of the index. */
static bool open_parts(struct itrace_tracez *z, uint64_t header_size)
{
    uint8_t bytes[8], last[8];
    uint64_t at = header_size + 1;
    if (z->from.size < at + 8 + 4 + 8)
        return fail(z, "the file ends behind its header: it is cut");
    if (!read_at(z, at, bytes, 8) || !read_at(z, z->from.size - 8, last, 8))
        return false;
    uint32_t size = number_of(bytes);
    z->data_at = at + 8 + size;
    z->index_end = z->from.size - 8;
    z->index_begin = number_of(last) | (uint64_t)number_of(last + 4) << 32;
    if (size > DICTIONARY_MAX || z->data_at > z->index_end)
        return fail(z, "a dictionary of %" PRIu32 " bytes at byte %" PRIu64 ": the file is damaged",
                    size, at);
    if (z->index_begin < z->data_at || z->index_begin > z->index_end - 4)
        return fail(z,
                    "the last 8 bytes place the index at byte %" PRIu64 " of %" PRIu64
                    ": the file is cut or damaged",
                    z->index_begin, z->from.size);
    z->decoder = ZSTD_createDCtx();
    if (!z->decoder)
        return fail(z, "out of memory for unpacking zstd");
    if (size == 0)
        return true;
    uint8_t *dictionary = itrace_allocate(size, 1);
    bool ok = read_at(z, at + 8, dictionary, size);
    if (ok)
        z->dictionary = ZSTD_createDDict(dictionary, size);
    itrace_free(dictionary);
    if (ok && (!z->dictionary || ZSTD_isError(ZSTD_DCtx_refDDict(z->decoder, z->dictionary))))
        return fail(z, "the dictionary at byte %" PRIu64 " is damaged", at + 8);
    return ok;
}

/* True if all lines begin as those of a header do. */
static bool are_header_lines(const uint8_t *bytes, const uint8_t *end)
{
    for (const uint8_t *line = bytes; line && line < end;) {
        if (*line != '-' && *line != '#' && *line != '\n')
            return false;
        line = memchr(line, '\n', (size_t)(end - line));
        line = line ? line + 1 : NULL;
    }
    return true;
}

size_t itrace_tracez_header(const uint8_t *bytes, size_t size)
{
    const uint8_t *end = size && bytes[0] == '-' ? memchr(bytes, '\0', size) : NULL;
    bool is_header = end && end[-1] == '\n' && are_header_lines(bytes, end);
    return is_header ? (size_t)(end - bytes) : 0;
}

bool itrace_tracez_undecided(const uint8_t *bytes, size_t size)
{
    return size && bytes[0] == '-' && !memchr(bytes, '\0', size)
           && are_header_lines(bytes, bytes + size);
}

struct itrace_tracez *itrace_tracez_open(const struct itrace_bytes *from, uint64_t header_size,
                                         char error[160])
{
    struct itrace_tracez *z = itrace_allocate(1, sizeof *z);
    z->from = *from;
    z->error = error;
    if (open_parts(z, header_size) && check_index(z))
        return z;
    itrace_tracez_close(z);
    return NULL;
}

void itrace_tracez_close(struct itrace_tracez *z)
{
    if (!z)
        return;
    ZSTD_freeDCtx(z->decoder);
    ZSTD_freeDDict(z->dictionary);
    itrace_free(z);
}

__attribute__((format(printf, 2, 3))) static void queue(struct itrace_tracez *z, const char *format,
                                                        ...)
{
    va_list args;
    va_start(args, format);
    z->text_at = 0;
    z->text_size = (size_t)vsnprintf(z->text, sizeof z->text, format, args);
    va_end(args);
}

static bool begin_block(struct itrace_tracez *z)
{
    const uint32_t *n = z->place;
    if (z->blocks == 0) {
        z->phase = OVER;
        return true;
    }
    z->blocks--;
    if (!take_numbers(z, z->place, BLOCK_NUMBERS) || !take_number(z, &z->warps))
        return false;
    z->warp = UINT32_MAX;
    z->phase = NEXT_WARP;
#define TRIPLE "%" PRIu32 ",%" PRIu32 ",%" PRIu32 "\n"
    queue(z,
          "\n#BEGIN_TB\n\nthread block = " TRIPLE "cluster id = " TRIPLE "cluster cta = " TRIPLE
          "cluster rank = %" PRIu32 "\n",
          n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8], n[9]);
#undef TRIPLE
    return true;
}

static bool begin_warp(struct itrace_tracez *z)
{
    uint8_t bytes[8];
    if (z->warps == 0) {
        z->phase = NEXT_BLOCK;
        queue(z, "\n#END_TB\n");
        return true;
    }
    z->warps--;
    z->warp++;
    z->part = 0;
    if (!take_warp(z, &z->warp_lines, &z->parts, &z->at) || !read_at(z, z->at, bytes, 8))
        return false;
    z->frame_at = z->at;
    if (number_of(bytes) != z->warp_lines || number_of(bytes + 4) != z->parts)
        return fail_in_part(z, "its counts are others than in the index: the file is damaged");
    z->at += 8;
    z->phase = NEXT_PART;
    queue(z, "\nwarp = %" PRIu32 "\ninsts = %" PRIu32 "\n", z->warp, z->warp_lines);
    return true;
}

static bool begin_part(struct itrace_tracez *z)
{
    uint8_t bytes[4];
    z->frame_at = z->at;
    if (z->parts == 0) {
        z->phase = NEXT_WARP;
        return z->warp_lines == 0
               || fail_in_part(z, "the parts have fewer instructions than the warp");
    }
    z->parts--;
    if (!take_number(z, &z->frame_lines) || !read_at(z, z->at, bytes, 4))
        return false;
    z->frame_left = number_of(bytes);
    z->at += 4;
    if (z->at > z->index_begin || z->frame_left > z->index_begin - z->at)
        return fail_in_part(z, "it reaches into the index: the file is damaged");
    if (z->frame_lines > z->warp_lines)
        return fail_in_part(z, "the parts have more instructions than the warp");
    z->warp_lines -= z->frame_lines;
    z->lines = 0;
    z->line_open = false;
    z->in_frame = true;
    z->packed_at = z->packed_size = 0;
    ZSTD_DCtx_reset(z->decoder, ZSTD_reset_session_only);
    z->phase = IN_PART;
    return true;
}

/* The part's frame is complete. */
static bool end_part(struct itrace_tracez *z)
{
    if (z->frame_left || z->packed_at < z->packed_size)
        return fail_in_part(z, "bytes behind its zstd data");
    z->lines += z->line_open;
    if (z->lines != z->frame_lines)
        return fail_in_part(z, "it has another number of instructions than the index says");
    if (z->line_open)
        queue(z, "\n");
    z->part++;
    z->phase = NEXT_PART;
    return true;
}

static void count_lines(struct itrace_tracez *z, const char *text, size_t size)
{
    const char *end = text + size;
    for (const char *at = text; (at = memchr(at, '\n', (size_t)(end - at))); at++)
        z->lines++;
    if (size)
        z->line_open = end[-1] != '\n';
}

/* More of the part's text; *got is 0 when there is none yet. */
static bool unpack(struct itrace_tracez *z, char *to, size_t room, size_t *got)
{
    if (!z->in_frame)
        return end_part(z);
    if (z->packed_at == z->packed_size && z->frame_left) {
        z->packed_size = z->frame_left < PACKED_SIZE ? (size_t)z->frame_left : PACKED_SIZE;
        z->packed_at = 0;
        if (!read_at(z, z->at, z->packed, z->packed_size))
            return false;
        z->at += z->packed_size;
        z->frame_left -= z->packed_size;
    }
    ZSTD_inBuffer in = {z->packed, z->packed_size, z->packed_at};
    ZSTD_outBuffer out = {to, room, 0};
    size_t status = ZSTD_decompressStream(z->decoder, &out, &in);
    if (ZSTD_isError(status))
        return fail_in_part(z, "the zstd data are damaged");
    bool moved = out.pos > 0 || in.pos > z->packed_at;
    z->packed_at = in.pos;
    z->in_frame = status != 0;
    if (z->in_frame && !moved)
        return fail_in_part(z, "the zstd data end too early");
    count_lines(z, to, out.pos);
    *got = out.pos;
    return true;
}

int itrace_tracez_read(struct itrace_tracez *z, char *to, size_t room, size_t *got, char error[160])
{
    bool ok = true;
    z->error = error;
    for (*got = 0; ok && *got == 0;) {
        if (z->text_at < z->text_size) {
            size_t left = z->text_size - z->text_at;
            *got = min(left, room);
            memcpy(to, z->text + z->text_at, *got);
            z->text_at += *got;
            break;
        }
        switch (z->phase) {
        case NEXT_BLOCK:
            ok = begin_block(z);
            break;
        case NEXT_WARP:
            ok = begin_warp(z);
            break;
        case NEXT_PART:
            ok = begin_part(z);
            break;
        case IN_PART:
            ok = unpack(z, to, room, got);
            break;
        default:
            return 0;
        }
    }
    return ok ? 1 : -1;
}

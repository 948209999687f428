/* Bytes come from a file or from memory, pass a decoder if there is one, and collect in `text`;
 * lines are cut out of it in place. Formats: RFC 8878 (zstd), the .xz file format 1.1. */
#include "itrace_input.h"

#include <errno.h>
#include <fcntl.h>
#include <lzma.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/grow.h"
#include "base/number.h"

#include "itrace_memory.h"
#include "itrace_tracez.h"

#define PACKED_SIZE 65536
#define FIRST_SIZE  4096 /* a page: often only the header is wanted */
#define TEXT_SIZE   (2 * 65536)
/* `xz -9` needs 65 MiB; more than this is refused. */
#define DECODER_MAX (128u << 20)

struct itrace_decoder {
    bool is_xz;
    lzma_stream xz;
    ZSTD_DStream *zstd;
    bool in_frame; /* zstd: the last frame is not complete */
};

static bool fail(struct itrace_input *in, const char *text)
{
    snprintf(in->error, sizeof in->error, "%s", text);
    return false;
}

/* Up to `size` bytes of the file as it is; 0 at its end, -1 after an error. */
static ssize_t read_bytes(struct itrace_input *in, void *bytes, size_t size)
{
    ssize_t got;
    if (in->fd < 0) {
        got = (ssize_t)(min(size, in->memory_left));
        if (got) {
            memcpy(bytes, in->memory, (size_t)got);
            in->memory += got;
        }
        in->memory_left -= (size_t)got;
    } else {
        do
            got = read(in->fd, bytes, size);
        while (got < 0 && errno == EINTR);
    }
    if (got < 0)
        fail(in, strerror(errno));
    if (got > 0)
        itrace_digest_add(&in->digest, bytes, (size_t)got);
    in->ended = got <= 0;
    return got;
}

static bool unpack_xz(struct itrace_input *in)
{
    lzma_stream *xz = &in->decoder->xz;
    xz->next_in = in->packed + in->packed_at;
    xz->avail_in = in->packed_size - in->packed_at;
    xz->next_out = (uint8_t *)in->text + in->end;
    xz->avail_out = in->capacity - in->end;
    lzma_ret status = lzma_code(xz, in->ended ? LZMA_FINISH : LZMA_RUN);
    in->packed_at = in->packed_size - xz->avail_in;
    in->end = in->capacity - xz->avail_out;
    in->drained = status == LZMA_STREAM_END;
    if (status == LZMA_OK || status == LZMA_STREAM_END)
        return true;
    if (status == LZMA_BUF_ERROR)
        return fail(in, "the xz data ends too early");
    if (status == LZMA_MEMLIMIT_ERROR)
        return fail(in, "unpacking the xz data takes more than 128 MiB of memory");
    return fail(in, "the xz data are damaged");
}

static bool unpack_zstd(struct itrace_input *in)
{
    struct itrace_decoder *d = in->decoder;
    if (in->ended && in->packed_at == in->packed_size && !d->in_frame) {
        in->drained = true;
        return true;
    }
    ZSTD_inBuffer from = {in->packed, in->packed_size, in->packed_at};
    ZSTD_outBuffer to = {in->text, in->capacity, in->end};
    size_t before = in->end, status = ZSTD_decompressStream(d->zstd, &to, &from);
    if (ZSTD_isError(status))
        return fail(in, "the zstd data are damaged");
    bool moved = to.pos > before || from.pos > in->packed_at;
    in->packed_at = from.pos;
    in->end = to.pos;
    d->in_frame = status != 0;
    if (in->ended && !moved)
        return fail(in, "the zstd data end too early");
    return true;
}

/* The digest is that of the whole file, whose bytes a container does not give out in their order.
 */
static bool fill_from_container(struct itrace_input *in)
{
    size_t got;
    int status = itrace_tracez_read(in->container, in->text + in->end, in->capacity - in->end, &got,
                                    in->error);
    in->end += status > 0 ? got : 0;
    in->drained = status <= 0;
    if (status == 0 && in->fd >= 0)
        return (lseek(in->fd, 0, SEEK_SET) == 0 && itrace_digest_rest(in->fd, &in->digest))
               || fail(in, strerror(errno));
    return status >= 0;
}

/* More text after `end`; room is there. */
static bool fill_buffer(struct itrace_input *in)
{
    if (in->container)
        return fill_from_container(in);
    if (!in->decoder) {
        ssize_t got = read_bytes(in, in->text + in->end, in->capacity - in->end);
        in->end += got > 0 ? (size_t)got : 0;
        in->drained = got <= 0;
        return got >= 0;
    }
    if (in->packed_at == in->packed_size && !in->ended) {
        ssize_t got = read_bytes(in, in->packed, PACKED_SIZE);
        if (got < 0)
            return false;
        in->packed_at = 0;
        in->packed_size = (size_t)got;
    }
    return in->decoder->is_xz ? unpack_xz(in) : unpack_zstd(in);
}

/* Text as it is, or the header of a container. */
static bool begin_plain(struct itrace_input *in, const struct itrace_bytes *whole)
{
    size_t header = itrace_tracez_header(in->packed, in->packed_size);
    in->end = header ? header : in->packed_size;
    memcpy(in->text, in->packed, in->end);
    if (!header)
        return true;
    in->container = itrace_tracez_open(whole, header, in->error);
    return in->container;
}

/* Packed by a program whose format is not read. NULL: it is not. */
static const char *foreign(const uint8_t *bytes, size_t size)
{
    if (size >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b)
        return "it is packed by gzip, which is not read: 'gunzip' it, and name what comes out";
    if (size >= 3 && memcmp(bytes, "BZh", 3) == 0)
        return "it is packed by bzip2, which is not read: 'bunzip2' it, and name what comes out";
    if (size >= 4 && memcmp(bytes, "PK\3\4", 4) == 0)
        return "it is a zip archive, which is not read: 'unzip' it, and name what comes out";
    return NULL;
}

/* Reads the first bytes and sets up the decoder that they ask for. */
static bool begin_input(struct itrace_input *in, const struct itrace_bytes *whole)
{
    static const uint8_t xz_magic[6] = {0xfd, '7', 'z', 'X', 'Z', 0};
    static const uint8_t zstd_magic[4] = {0x28, 0xb5, 0x2f, 0xfd};
    in->packed = itrace_allocate(PACKED_SIZE, 1);
    grow_list(in->text, TEXT_SIZE + 1, in->capacity, ITRACE_MEMORY);
    in->capacity--; /* for the NUL */
    while (!in->ended && in->packed_size <= PACKED_SIZE - FIRST_SIZE
           && (in->packed_size < sizeof xz_magic
               || itrace_tracez_undecided(in->packed, in->packed_size))) {
        ssize_t got = read_bytes(in, in->packed + in->packed_size, FIRST_SIZE);
        if (got < 0)
            return false;
        in->packed_size += (size_t)got;
    }
    bool is_xz = in->packed_size >= sizeof xz_magic && memcmp(in->packed, xz_magic, 6) == 0;
    bool is_zstd = in->packed_size >= sizeof zstd_magic && memcmp(in->packed, zstd_magic, 4) == 0;
    const char *other = foreign(in->packed, in->packed_size);
    if (other)
        return fail(in, other);
    if (!is_xz && !is_zstd)
        return begin_plain(in, whole);
    in->decoder = itrace_allocate(1, sizeof *in->decoder);
    in->decoder->is_xz = is_xz;
    if (is_xz) {
        in->decoder->xz = (lzma_stream)LZMA_STREAM_INIT;
        return lzma_stream_decoder(&in->decoder->xz, DECODER_MAX, LZMA_CONCATENATED) == LZMA_OK
               || fail(in, "out of memory for unpacking xz");
    }
    in->decoder->zstd = ZSTD_createDStream();
    return in->decoder->zstd || fail(in, "out of memory for unpacking zstd");
}

bool itrace_input_open(struct itrace_input *in, const char *path)
{
    struct stat status;
    *in = (struct itrace_input){.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (in->fd < 0)
        return fail(in, strerror(errno));
    if (fstat(in->fd, &status) == 0 && S_ISDIR(status.st_mode))
        return fail(in, strerror(EISDIR));
    if (!S_ISREG(status.st_mode)) /* a pipe cannot be read twice, a device has no end */
        return fail(in, "it is not a regular file");
    in->size = (uint64_t)status.st_size;
    return begin_input(in, &(struct itrace_bytes){in->fd, NULL, in->size});
}

bool itrace_input_open_memory(struct itrace_input *in, const void *bytes, size_t size)
{
    *in = (struct itrace_input){.fd = -1, .size = size, .memory = bytes, .memory_left = size};
    return begin_input(in, &(struct itrace_bytes){-1, bytes, size});
}

/* Makes room after `end`, by moving what is left to the front, or by growing. */
static bool make_room(struct itrace_input *in)
{
    if (in->at > 0) {
        memmove(in->text, in->text + in->at, in->end - in->at);
        in->end -= in->at;
        in->at = 0;
    }
    if (in->end < in->capacity / 2)
        return true;
    if (in->end >= ITRACE_LINE_MAX)
        return fail(in, "a line is longer than 1 MiB: this is no trace");
    in->capacity++;
    grow_list(in->text, 2 * in->capacity, in->capacity, ITRACE_MEMORY);
    in->capacity--;
    return true;
}

int itrace_input_line(struct itrace_input *in, char **line, size_t *size)
{
    size_t seen = 0; /* bytes after `at` known to hold no line end */
    for (;;) {
        char *begin_at = in->text + in->at;
        char *newline = memchr(begin_at + seen, '\n', in->end - in->at - seen);
        if (!newline && !in->drained) {
            seen = in->end - in->at;
            if (!make_room(in) || !fill_buffer(in)) {
                in->line++;
                return -1;
            }
            continue;
        }
        if (!newline && in->at == in->end)
            return 0;
        size_t length = newline ? (size_t)(newline - begin_at) : in->end - in->at;
        in->at += length + (newline ? 1 : 0);
        in->line++;
        if (length > 0 && begin_at[length - 1] == '\r')
            length--;
        begin_at[length] = '\0';
        *line = begin_at;
        *size = length;
        return 1;
    }
}

void itrace_input_close(struct itrace_input *in)
{
    if (in->decoder && in->decoder->is_xz)
        lzma_end(&in->decoder->xz);
    else if (in->decoder)
        ZSTD_freeDStream(in->decoder->zstd);
    itrace_tracez_close(in->container);
    itrace_free(in->decoder);
    itrace_free(in->packed);
    itrace_free(in->text);
    if (in->fd >= 0)
        close(in->fd);
    *in = (struct itrace_input){.fd = -1};
}

void itrace_digest_add(struct itrace_digest *digest, const void *bytes, size_t size)
{
    digest->crc = lzma_crc64(bytes, size, digest->crc);
    digest->size += size;
}

bool itrace_digest_rest(int fd, struct itrace_digest *digest)
{
    uint8_t *buffer = itrace_allocate(PACKED_SIZE, 1);
    ssize_t got;
    *digest = (struct itrace_digest){0};
    while ((got = read(fd, buffer, PACKED_SIZE)) > 0 || (got < 0 && errno == EINTR))
        if (got > 0)
            itrace_digest_add(digest, buffer, (size_t)got);
    itrace_free(buffer);
    return got == 0;
}

bool itrace_input_digest(const char *path, struct itrace_digest *digest)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool ok = fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode)
              && itrace_digest_rest(fd, digest);
    if (fd >= 0)
        close(fd);
    return ok;
}

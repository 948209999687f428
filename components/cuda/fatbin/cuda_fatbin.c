/* Reads the containers of PTX in CUDA programs. All numbers are little endian. */
#include "cuda_fatbin.h"

#include <inttypes.h>
#include <limits.h>
#include <lz4.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/number.h"

#define MAGIC 0xba55ed50u

enum {
    VERSION = 1,
    HEADER_BYTES = 16, /* u32 magic, u16 version, u16 bytes of the header, u64 bytes after it */
    ENTRY_BYTES = 64,
    /* Offsets in the header of an entry. */
    AT_KIND = 0,            /* u16 */
    AT_HEADER_BYTES = 4,    /* u32 */
    AT_STORED_BYTES = 8,    /* u64, padded */
    AT_PACKED_BYTES = 16,   /* u32, where the entry is packed */
    AT_SM = 28,             /* u32 */
    AT_FLAGS = 40,          /* u64 */
    AT_UNPACKED_BYTES = 56, /* u64 */
    FLAG_LZ4 = 0x2000,
    FLAG_ZSTD = 0x8000
};

static uint64_t read_number(const uint8_t *bytes, size_t count)
{
    uint64_t value = 0;
    for (size_t i = 0; i < count; i++)
        value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

__attribute__((format(printf, 2, 3))) static bool fail_with(struct cuda_fatbin *fatbin,
                                                            const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fatbin->error, sizeof fatbin->error, format, arguments);
    va_end(arguments);
    return false;
}

/* Reads the entry at `at`, `left` bytes before the container's end, and says how long it is. */
static bool read_entry(struct cuda_fatbin *fatbin, const uint8_t *start, size_t left,
                       size_t *length)
{
    if (left < ENTRY_BYTES)
        return fail_with(fatbin, "%zu bytes where an entry has a header of %d", left, ENTRY_BYTES);
    if (fatbin->count == CUDA_FATBIN_ENTRIES_MAX)
        return fail_with(fatbin, "more than %d entries", CUDA_FATBIN_ENTRIES_MAX);
    uint64_t header = read_number(start + AT_HEADER_BYTES, 4),
             stored = read_number(start + AT_STORED_BYTES, 8);
    uint64_t packed = read_number(start + AT_PACKED_BYTES, 4),
             flags = read_number(start + AT_FLAGS, 8);
    if (header < ENTRY_BYTES || header > left || stored > left - header)
        return fail_with(
            fatbin, "entry %zu has a header of %" PRIu64 " and %" PRIu64 " bytes, but %zu are left",
            fatbin->count, header, stored, left);
    struct cuda_fatbin_entry *entry = &fatbin->entries[fatbin->count++];
    *entry = (struct cuda_fatbin_entry){.kind = (uint32_t)read_number(start + AT_KIND, 2),
                                        .sm = (uint32_t)read_number(start + AT_SM, 4),
                                        .packing = flags & FLAG_ZSTD  ? CUDA_FATBIN_ZSTD
                                                   : flags & FLAG_LZ4 ? CUDA_FATBIN_LZ4
                                                                      : CUDA_FATBIN_PLAIN,
                                        .bytes = start + header,
                                        .size = (size_t)stored};
    if (entry->packing != CUDA_FATBIN_PLAIN) {
        if (packed > stored)
            return fail_with(fatbin, "entry %zu has %" PRIu64 " packed bytes in %" PRIu64,
                             fatbin->count - 1, packed, stored);
        entry->size = (size_t)packed;
        entry->unpacked = read_number(start + AT_UNPACKED_BYTES, 8);
    }
    *length = (size_t)(header + stored);
    return true;
}

bool cuda_fatbin_recognise(const void *bytes, size_t size)
{
    return size >= HEADER_BYTES && read_number(bytes, 4) == MAGIC;
}

bool cuda_fatbin_read(struct cuda_fatbin *fatbin, const void *bytes, size_t size)
{
    const uint8_t *next = bytes;
    fatbin->count = 0;
    fatbin->error[0] = '\0';
    if (!cuda_fatbin_recognise(next, size))
        return fail_with(fatbin, "no fat binary of CUDA: it does not begin with 0x%08x", MAGIC);
    uint64_t version = read_number(next + 4, 2), header = read_number(next + 6, 2),
             content = read_number(next + 8, 8);
    if (version != VERSION || header < HEADER_BYTES)
        return fail_with(fatbin,
                         "a fat binary of version %" PRIu64 " with a header of %" PRIu64
                         " bytes; known is version %d",
                         version, header, VERSION);
    if (header > size || content > size - header)
        return fail_with(fatbin, "a fat binary of %" PRIu64 " bytes, of which only %zu can be read",
                         header > UINT64_MAX - content ? UINT64_MAX : header + content, size);
    next += header;
    for (size_t left = (size_t)content, length = 0; left > 0; left -= length, next += length)
        if (!read_entry(fatbin, next, left, &length))
            return false;
    return true;
}

const struct cuda_fatbin_entry *cuda_fatbin_find(const struct cuda_fatbin *fatbin, uint32_t sm)
{
    const struct cuda_fatbin_entry *best = NULL;
    for (size_t i = 0; i < fatbin->count; i++) {
        const struct cuda_fatbin_entry *entry = &fatbin->entries[i];
        if (entry->kind == CUDA_FATBIN_PTX && entry->sm <= sm && (!best || entry->sm > best->sm))
            best = entry;
    }
    return best;
}

static const char *kind_name(uint32_t kind)
{
    static const char *const names[] = {
        [CUDA_FATBIN_PTX] = "PTX", [CUDA_FATBIN_MACHINE_CODE] = "machine code"};
    return kind < ARRAY_COUNT(names) && names[kind] ? names[kind] : "something else";
}

void cuda_fatbin_list(const struct cuda_fatbin *fatbin, char *text, size_t size)
{
    size_t used = 0;
    snprintf(text, size, "nothing");
    for (size_t i = 0; i < fatbin->count && used < size; i++) {
        const struct cuda_fatbin_entry *entry = &fatbin->entries[i];
        used += (size_t)snprintf(text + used, size - used, "%s%s of sm_%" PRIu32, i > 0 ? ", " : "",
                                 kind_name(entry->kind), entry->sm);
    }
}

static bool unpack_zstd(const struct cuda_fatbin_entry *entry, char *to, size_t size)
{
    size_t got = ZSTD_decompress(to, size, entry->bytes, entry->size);
    return !ZSTD_isError(got) && got == size;
}

static bool unpack_lz4(const struct cuda_fatbin_entry *entry, char *to, size_t size)
{
    return entry->size <= INT_MAX
           && LZ4_decompress_safe((const char *)entry->bytes, to, (int)entry->size, (int)size)
                  == (int)size;
}

static bool unpack_entry(const struct cuda_fatbin_entry *entry, char *to, size_t size)
{
    switch (entry->packing) {
    case CUDA_FATBIN_LZ4:
        return unpack_lz4(entry, to, size);
    case CUDA_FATBIN_ZSTD:
        return unpack_zstd(entry, to, size);
    default:
        memcpy(to, entry->bytes, size);
        return true;
    }
}

char *cuda_fatbin_unpack(struct cuda_fatbin *fatbin, const struct cuda_fatbin_entry *entry,
                         size_t *length)
{
    uint64_t size = entry->packing == CUDA_FATBIN_PLAIN ? entry->size : entry->unpacked;
    if (size > CUDA_FATBIN_TEXT_MAX) {
        fail_with(fatbin, "PTX of %" PRIu64 " bytes; at most %d are read", size,
                  CUDA_FATBIN_TEXT_MAX);
        return NULL;
    }
    char *text = malloc((size_t)size + 1);
    if (!text || !unpack_entry(entry, text, (size_t)size)) {
        fail_with(
            fatbin, "%s",
            text ? "the packed PTX is damaged: it does not give as many bytes as its header says"
                 : "out of memory for the PTX");
        free(text);
        return NULL;
    }
    text[size] = '\0';
    *length = strlen(text); /* padding is zeros */
    return text;
}

/* The header of a recorded AMD launch: keys beside those of Accel-Sim (docs/traces.md). */
#include "replay_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "components/command/aql_packet.h"
#include "components/sass_trace/sass_memory.h"
#include "components/sass_trace/sass_text.h"

struct line {
    const char *value;
    size_t size;
};

/* The next line "-key = value" behind *at; false: there is none. */
static bool next_line(const struct sass_trace *t, const char *key, size_t *at, struct line *line)
{
    size_t length = strlen(key);
    while (*at < t->header_size) {
        const char *text = t->header_text + *at, *end = memchr(text, '\n', t->header_size - *at);
        size_t size = end ? (size_t)(end - text) : t->header_size - *at;
        *at += size + 1;
        if (size <= length + 1 || text[0] != '-' || memcmp(text + 1, key, length) != 0)
            continue;
        const char *p = text + 1 + length, *stop = text + size;
        while (p < stop && sass_is_blank(*p))
            p++;
        if (p == stop || *p != '=')
            continue;
        for (p++; p < stop && sass_is_blank(*p);)
            p++;
        *line = (struct line){p, (size_t)(stop - p)};
        return true;
    }
    return false;
}

/* Bytes as hexadecimal digits, two a byte in the order of memory; how many there are, or -1. */
static int64_t take_bytes(struct line line, uint8_t *bytes, size_t capacity)
{
    size_t count = 0;
    while (line.size && sass_is_blank(line.value[line.size - 1]))
        line.size--;
    if (line.size % 2 || line.size / 2 > capacity)
        return -1;
    for (; count < line.size / 2; count++) {
        unsigned high = sass_hex_digit(line.value[2 * count]);
        unsigned low = sass_hex_digit(line.value[2 * count + 1]);
        if (high > 15 || low > 15)
            return -1;
        bytes[count] = (uint8_t)(high << 4 | low);
    }
    return (int64_t)count;
}

/* A number at the line's beginning; *line is what stands behind it and a comma or blanks. */
static bool take_number(struct line *line, uint64_t *value)
{
    char text[32], *end;
    size_t size = line->size < sizeof text - 1 ? line->size : sizeof text - 1;
    memcpy(text, line->value, size);
    text[size] = '\0';
    if (text[0] < '0' || text[0] > '9')
        return false;
    *value = strtoull(text, &end, 0);
    size_t used = (size_t)(end - text);
    while (used < line->size && (sass_is_blank(line->value[used]) || line->value[used] == ','))
        used++;
    *line = (struct line){line->value + used, line->size - used};
    return true;
}

void replay_free_ranges(struct replay_ranges *code)
{
    for (size_t i = 0; i < code->count; i++)
        sass_free(code->range[i].bytes);
    sass_free(code->range);
    *code = (struct replay_ranges){0};
}

const struct replay_range *replay_find_range(const struct replay_ranges *code, uint64_t address)
{
    for (size_t i = 0; i < code->count; i++) {
        if (address - code->range[i].address < code->range[i].size)
            return &code->range[i];
    }
    return NULL;
}

static bool take_code(const struct sass_trace *t, struct replay_ranges *code,
                      char text[REPLAY_TEXT])
{
    struct line line;
    for (size_t at = 0; next_line(t, "code", &at, &line);) {
        struct replay_range range = {0};
        if (!take_number(&line, &range.address)) {
            replay_say(text, t->path, "'-code' wants an address and bytes, not '%.*s'",
                       line.size < 40 ? (int)line.size : 40, line.value);
            return false;
        }
        range.bytes = sass_allocate(line.size / 2 + 1, 1);
        int64_t bytes = take_bytes(line, range.bytes, line.size / 2);
        code->range = sass_reserve(code->range, code->count + 1, &code->capacity, sizeof range);
        range.size = bytes > 0 ? (uint64_t)bytes : 0;
        struct replay_range *last = code->count ? &code->range[code->count - 1] : NULL;
        if (bytes <= 0) {
            replay_say(text, t->path,
                       "'-code = 0x%" PRIx64 " ...' wants bytes as hexadecimal digits",
                       range.address);
            sass_free(range.bytes);
            return false;
        }
        if (last && last->address + last->size == range.address) { /* a line that goes on */
            uint8_t *joined = sass_allocate(last->size + range.size, 1);
            memcpy(joined, last->bytes, last->size);
            memcpy(joined + last->size, range.bytes, range.size);
            sass_free(last->bytes);
            sass_free(range.bytes);
            last->bytes = joined;
            last->size += range.size;
            continue;
        }
        code->range[code->count++] = range;
    }
    if (code->count)
        return true;
    replay_say(text, t->path, "the header has no '-code = ADDRESS BYTES'");
    return false;
}

/* 64 bytes, and an address in front of them where `address` is not NULL. */
static bool take_block(const struct sass_trace *t, const char *key, uint8_t bytes[64],
                       uint64_t *address, char text[REPLAY_TEXT])
{
    struct line line;
    size_t at = 0;
    if (!next_line(t, key, &at, &line)) {
        replay_say(text, t->path,
                   "the header has no '-%s = ...': it is no trace of an AMD program, or not whole",
                   key);
        return false;
    }
    if (address && line.size > 2 && line.value[0] == '0' && line.value[1] == 'x'
        && !take_number(&line, address))
        line.size = 0;
    if (take_bytes(line, bytes, 64) == 64)
        return true;
    replay_say(text, t->path, "'-%s' wants 64 bytes as hexadecimal digits", key);
    return false;
}

static bool take_target(const struct sass_trace *t, enum isa_target *target,
                        char text[REPLAY_TEXT])
{
    char name[16] = "";
    struct line line = {NULL, 0};
    size_t at = 0;
    if (next_line(t, "isa", &at, &line) && line.size < sizeof name)
        memcpy(name, line.value, line.size);
    if (line.size && isa_target_by_name(name, target) == 0)
        return true;
    if (!line.size)
        replay_say(text, t->path,
                   "the header has no '-isa = ...': traces of CUDA programs are played with "
                   "--sass-trace");
    else
        replay_say(text, t->path, "'-isa = %.*s': it is gfx803 or gfx906",
                   line.size < 40 ? (int)line.size : 40, line.value);
    return false;
}

static void take_name(const struct sass_trace *t, const char *key, char name[256])
{
    struct line line;
    size_t at = 0;
    if (next_line(t, key, &at, &line))
        snprintf(name, 256, "%.*s", (int)line.size, line.value);
}

/* "-key = NUMBER[,NUMBER]": what is not there stays. */
static void take_numbers(const struct sass_trace *t, const char *key, uint64_t *first,
                         uint64_t *second)
{
    struct line line;
    size_t at = 0;
    if (next_line(t, key, &at, &line) && take_number(&line, first) && second)
        take_number(&line, second);
}

static bool fits_block(const struct sass_trace *t, const struct aql_packet *packet)
{
    for (unsigned i = 0; i < 3; i++) {
        uint64_t block = packet->work_group[i];
        if (!block || block != t->header.block[i]
            || (packet->grid[i] + block - 1) / block != t->header.grid[i])
            return false;
    }
    return true;
}

bool replay_take_header(const struct sass_trace *t, struct replay_header *header,
                        struct replay_ranges *code, char text[REPLAY_TEXT])
{
    struct aql_packet packet;
    struct aql_descriptor descriptor;
    uint64_t align = 8, bytes = 0;
    uint8_t raw[64];
    *header = (struct replay_header){.stream = t->header.stream};
    if (!take_target(t, &header->target, text) || !take_code(t, code, text)
        || !take_block(t, "descriptor", header->descriptor, NULL, text)
        || !take_block(t, "packet", raw, &header->packet_address, text))
        return false;
    memcpy(&packet, raw, sizeof packet);
    memcpy(&descriptor, header->descriptor, sizeof descriptor);
    if (!fits_block(t, &packet)) {
        replay_say(text, t->path, "'grid dim' and 'block dim' are not those of '-packet'");
        return false;
    }
    for (unsigned i = 0; i < 3; i++) {
        header->grid[i] = packet.grid[i];
        header->block[i] = packet.work_group[i];
    }
    header->group_bytes = packet.group_bytes;
    header->private_bytes = packet.private_bytes;
    header->kernarg = packet.kernarg;
    header->kernel_object = packet.kernel_object;
    header->gpu = packet.gpu;
    header->entry = packet.kernel_object + (uint64_t)descriptor.entry_offset;
    bytes = descriptor.kernarg_bytes;
    take_numbers(t, "entry", &header->entry, NULL);
    take_numbers(t, "kernarg", &bytes, &align);
    header->kernarg_bytes = (uint32_t)bytes;
    header->kernarg_align = (uint32_t)align;
    snprintf(header->symbol, sizeof header->symbol, "%.255s", t->header.kernel_name);
    memcpy(header->name, header->symbol, sizeof header->name);
    take_name(t, "demangled name", header->name);
    if (replay_find_range(code, header->entry))
        return true;
    replay_say(text, t->path, "the kernel begins at 0x%" PRIx64 ", outside of its '-code'",
               header->entry);
    return false;
}

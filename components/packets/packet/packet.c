/* Encodes and decodes packets by tables (packet.h has the rules). Both look at everything before
 * they write anything. */
#include "packet.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Fields side by side, and the bytes of the packet that they take; the end is none of them. */
struct run {
    const struct packet_field *begin, *end;
    uint32_t begin_byte, end_byte;
};

static struct run run_from(const struct packet_layout *layout, const struct packet_field *first,
                           uint32_t offset)
{
    struct run run = {first, first, offset, offset};
    const struct packet_field *end = layout->fields + layout->field_count;
    for (; run.end < end && run.end->kind != PACKET_CASE; run.end++)
        run.end_byte += run.end->bytes;
    return run;
}

static struct run common_fields(const struct packet_layout *layout)
{
    return run_from(layout, layout->fields, PACKET_HEADER_BYTES);
}

static bool has_cases(const struct packet_layout *layout, const struct run *common)
{
    return common->end < layout->fields + layout->field_count;
}

/* Finds the fields of the case of `value`. False: it has none. */
static bool find_case(const struct packet_layout *layout, const struct run *common, uint64_t value,
                      struct run *run)
{
    const struct packet_field *end = layout->fields + layout->field_count;
    for (const struct packet_field *f = common->end; f < end; f++)
        if (f->kind == PACKET_CASE && f->limit == value) {
            *run = run_from(layout, f + 1, common->end_byte);
            return true;
        }
    return false;
}

static uint64_t read_number(const uint8_t *bytes, uint32_t count)
{
    uint64_t value = 0;
    memcpy(&value, bytes, count);
    return value;
}

static void begin(struct packet_fault *fault, const struct packet_layout *layout)
{
    *fault = (struct packet_fault){.error = PACKET_FINE, .packet = layout->name, .field = ""};
}

static bool fail(struct packet_fault *fault, enum packet_error error, const char *field,
                 uint32_t offset, uint64_t found, uint64_t expected)
{
    fault->error = error;
    fault->field = field;
    fault->offset = offset;
    fault->found = found;
    fault->expected = expected;
    return false;
}

/* True if the bytes are text, a zero, then zeros only. */
static bool is_text(const uint8_t *text, uint32_t bytes)
{
    const uint8_t *end = memchr(text, 0, bytes);
    while (end && end < text + bytes && *end == 0)
        end++;
    return end == text + bytes;
}

/* True if all fields, whose bytes begin at `field_bytes`, have values that exist. */
static bool check_values(const struct run *run, const uint8_t *field_bytes,
                         struct packet_fault *fault)
{
    uint32_t offset = run->begin_byte;
    for (const struct packet_field *f = run->begin; f < run->end; f++) {
        uint64_t value = f->kind == PACKET_BOOL || f->kind == PACKET_CHOICE
                             ? read_number(field_bytes, f->bytes)
                             : 0;
        if ((f->kind == PACKET_BOOL && value > 1) || (f->kind == PACKET_CHOICE && value >= f->limit)
            || (f->kind == PACKET_STRING && !is_text(field_bytes, f->bytes)))
            return fail(fault, PACKET_WRONG_VALUE, f->name, offset, value, f->limit);
        offset += f->bytes;
        field_bytes += f->bytes;
    }
    return true;
}

/* The last of the common fields, which chooses the case, has the value `value`. */
static bool fail_unknown_case(const struct run *common, uint64_t value, struct packet_fault *fault)
{
    const struct packet_field *chooser = common->end - 1;
    return fail(fault, PACKET_UNKNOWN_CASE, chooser->name, common->end_byte - chooser->bytes, value,
                chooser->limit);
}

uint32_t packet_bytes(const struct packet_layout *layout, uint32_t value)
{
    struct run common = common_fields(layout), one;
    if (!has_cases(layout, &common))
        return common.end_byte;
    return find_case(layout, &common, value, &one) ? one.end_byte : 0;
}

/* The choice of `bytes`, which begin with the common fields. */
static uint64_t read_choice(const struct run *common, const uint8_t *bytes)
{
    uint32_t width = (common->end - 1)->bytes;
    return read_number(bytes + common->end_byte - common->begin_byte - width, width);
}

size_t packet_encode(const struct packet_layout *layout, const void *packet, void *bytes,
                     size_t size, struct packet_fault *fault)
{
    const uint8_t *members = packet;
    struct run common = common_fields(layout), one = {.end_byte = common.end_byte};
    begin(fault, layout);
    if (has_cases(layout, &common)) {
        uint64_t value = read_choice(&common, members);
        if (!find_case(layout, &common, value, &one))
            return fail_unknown_case(&common, value, fault);
    }
    if (!check_values(&common, members, fault)
        || !check_values(&one, members + common.end_byte - common.begin_byte, fault))
        return 0;
    if (size < one.end_byte)
        return fail(fault, PACKET_ROOM_TOO_SMALL, "length", 4, size, one.end_byte);
    uint8_t *out = bytes;
    memcpy(out, &layout->version, 4);
    memcpy(out + 4, &one.end_byte, 4);
    memcpy(out + PACKET_HEADER_BYTES, members, one.end_byte - PACKET_HEADER_BYTES);
    return one.end_byte;
}

/* True if the fields lie within the stated length, and within the bytes there are. */
static bool check_length(const struct run *run, uint64_t length, size_t size,
                         struct packet_fault *fault)
{
    if (length < run->end_byte)
        return fail(fault, PACKET_WRONG_LENGTH, "length", 4, length, run->end_byte);
    uint32_t offset = run->begin_byte;
    for (const struct packet_field *f = run->begin; f < run->end; f++) {
        if (offset + f->bytes > size)
            return fail(fault, PACKET_TRUNCATED, f->name, offset, size, offset + f->bytes);
        offset += f->bytes;
    }
    return true;
}

static bool check_header(const struct packet_layout *layout, const uint8_t *bytes, size_t size,
                         struct packet_fault *fault)
{
    if (size < 4)
        return fail(fault, PACKET_TRUNCATED, "version", 0, size, 4);
    uint64_t version = read_number(bytes, 4);
    if (version != layout->version)
        return fail(fault, PACKET_WRONG_VERSION, "version", 0, version, layout->version);
    if (size < PACKET_HEADER_BYTES)
        return fail(fault, PACKET_TRUNCATED, "length", 4, size, PACKET_HEADER_BYTES);
    return true;
}

size_t packet_decode(const struct packet_layout *layout, void *packet, const void *bytes,
                     size_t size, struct packet_fault *fault)
{
    const uint8_t *in = bytes;
    begin(fault, layout);
    if (!check_header(layout, in, size, fault))
        return 0;
    uint64_t length = read_number(in + 4, 4);
    struct run common = common_fields(layout), one = {.end_byte = common.end_byte};
    if (!check_length(&common, length, size, fault))
        return 0;
    if (has_cases(layout, &common)) {
        uint64_t value = read_choice(&common, in + common.begin_byte);
        if (!find_case(layout, &common, value, &one))
            return fail_unknown_case(&common, value, fault);
        if (!check_length(&one, length, size, fault))
            return 0;
    }
    if (length != one.end_byte)
        return fail(fault, PACKET_WRONG_LENGTH, "length", 4, length, one.end_byte);
    if (!check_values(&common, in + common.begin_byte, fault)
        || !check_values(&one, in + common.end_byte, fault))
        return 0;
    memset(packet, 0, layout->struct_bytes);
    memcpy(packet, in + PACKET_HEADER_BYTES, one.end_byte - PACKET_HEADER_BYTES);
    return one.end_byte;
}

const char *packet_fault_text(const struct packet_fault *fault, char *text, size_t size)
{
    static const char *const formats[] = {
        [PACKET_FINE] = "in order",
        [PACKET_TRUNCATED] = "there are only %" PRIu64 " bytes, it ends at %" PRIu64,
        [PACKET_WRONG_VERSION] = "it is %" PRIu64 ", this side speaks %" PRIu64,
        [PACKET_WRONG_LENGTH] = "it is %" PRIu64 ", such a packet has %" PRIu64 " bytes",
        [PACKET_UNKNOWN_CASE] = "nothing is known by the number %" PRIu64,
        [PACKET_WRONG_VALUE] = "%" PRIu64 " is not a value of it",
        [PACKET_ROOM_TOO_SMALL] = "there is room for %" PRIu64 " bytes, the packet has %" PRIu64,
    };
    int head = snprintf(text, size, "packet '%s', field '%s' at byte %" PRIu32 ": ", fault->packet,
                        fault->field, fault->offset);
    if (head < 0 || (size_t)head >= size)
        return text;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(text + head, size - (size_t)head, formats[fault->error], fault->found,
             fault->expected);
#pragma GCC diagnostic pop
    return text;
}

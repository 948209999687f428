/* Encoding and decoding by tables; packet.h has the rules. Both look at everything before they
 * write anything. */
#include "components/packets/packet/packet.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Fields side by side, the first at `offset` of the packet, those behind them from `end` on. */
struct packet_run {
    const struct packet_field *first, *behind;
    uint32_t offset, end;
};

static inline struct packet_run packet_run_from(const struct packet_layout *layout,
                                                const struct packet_field *first, uint32_t offset)
{
    struct packet_run run = {first, first, offset, offset};
    const struct packet_field *last = layout->fields + layout->field_count;
    for (; run.behind < last && run.behind->kind != PACKET_CASE; run.behind++)
        run.end += run.behind->bytes;
    return run;
}

static inline struct packet_run packet_common(const struct packet_layout *layout)
{
    return packet_run_from(layout, layout->fields, PACKET_HEADER_BYTES);
}

static inline bool packet_has_cases(const struct packet_layout *layout,
                                    const struct packet_run *common)
{
    return common->behind < layout->fields + layout->field_count;
}

/* The fields of the case of `value`; false: it has none. */
static inline bool packet_find_case(const struct packet_layout *layout,
                                    const struct packet_run *common, uint64_t value,
                                    struct packet_run *run)
{
    const struct packet_field *last = layout->fields + layout->field_count;
    for (const struct packet_field *f = common->behind; f < last; f++)
        if (f->kind == PACKET_CASE && f->limit == value) {
            *run = packet_run_from(layout, f + 1, common->end);
            return true;
        }
    return false;
}

static inline uint64_t packet_number(const uint8_t *bytes, uint32_t count)
{
    uint64_t value = 0;
    memcpy(&value, bytes, count);
    return value;
}

static inline bool packet_fail(struct packet_fault *fault, const struct packet_layout *layout,
                               enum packet_error error, const char *field, uint32_t offset,
                               uint64_t found, uint64_t expected)
{
    *fault = (struct packet_fault){.error = error,
                                   .packet = layout->name,
                                   .field = field,
                                   .offset = offset,
                                   .found = found,
                                   .expected = expected};
    return false;
}

/* Text, a zero, then zeros only. */
static inline bool packet_is_text(const uint8_t *text, uint32_t bytes)
{
    const uint8_t *end = memchr(text, 0, bytes);
    while (end && end < text + bytes && *end == 0)
        end++;
    return end == text + bytes;
}

/* Do the fields, which begin at `at`, have values that exist? */
static inline bool packet_check_values(const struct packet_layout *layout,
                                       const struct packet_run *run, const uint8_t *at,
                                       struct packet_fault *fault)
{
    uint32_t offset = run->offset;
    for (const struct packet_field *f = run->first; f < run->behind; f++) {
        uint64_t value =
            f->kind == PACKET_BOOL || f->kind == PACKET_CHOICE ? packet_number(at, f->bytes) : 0;
        if ((f->kind == PACKET_BOOL && value > 1) || (f->kind == PACKET_CHOICE && value >= f->limit)
            || (f->kind == PACKET_STRING && !packet_is_text(at, f->bytes)))
            return packet_fail(fault, layout, PACKET_WRONG_VALUE, f->name, offset, value, f->limit);
        offset += f->bytes;
        at += f->bytes;
    }
    return true;
}

/* The last of the common fields, which chooses the case, has the value `value`. */
static inline bool packet_unknown_case(const struct packet_layout *layout,
                                       const struct packet_run *common, uint64_t value,
                                       struct packet_fault *fault)
{
    const struct packet_field *chooser = common->behind - 1;
    return packet_fail(fault, layout, PACKET_UNKNOWN_CASE, chooser->name,
                       common->end - chooser->bytes, value, chooser->limit);
}

static inline uint32_t packet_bytes(const struct packet_layout *layout, uint32_t value)
{
    struct packet_run common = packet_common(layout), one;
    if (!packet_has_cases(layout, &common))
        return common.end;
    return packet_find_case(layout, &common, value, &one) ? one.end : 0;
}

/* The choice of `bytes`, which begin with the common fields. */
static inline uint64_t packet_choice(const struct packet_run *common, const uint8_t *bytes)
{
    uint32_t width = (common->behind - 1)->bytes;
    return packet_number(bytes + common->end - common->offset - width, width);
}

static inline size_t packet_encode(const struct packet_layout *layout, const void *packet,
                                   void *bytes, size_t size, struct packet_fault *fault)
{
    const uint8_t *members = packet;
    struct packet_run common = packet_common(layout), one = {.end = common.end};
    if (packet_has_cases(layout, &common)) {
        uint64_t value = packet_choice(&common, members);
        if (!packet_find_case(layout, &common, value, &one))
            return packet_unknown_case(layout, &common, value, fault);
    }
    if (!packet_check_values(layout, &common, members, fault)
        || !packet_check_values(layout, &one, members + common.end - common.offset, fault))
        return 0;
    if (size < one.end)
        return packet_fail(fault, layout, PACKET_NO_ROOM, "length", 4, size, one.end);
    uint8_t *out = bytes;
    memcpy(out, &layout->version, 4);
    memcpy(out + 4, &one.end, 4);
    memcpy(out + PACKET_HEADER_BYTES, members, one.end - PACKET_HEADER_BYTES);
    *fault = (struct packet_fault){.error = PACKET_FINE, .packet = layout->name, .field = ""};
    return one.end;
}

/* Do the fields lie within the stated length, and that within the bytes there are? */
static inline bool packet_check_room(const struct packet_layout *layout,
                                     const struct packet_run *run, uint64_t length, size_t size,
                                     struct packet_fault *fault)
{
    if (length < run->end)
        return packet_fail(fault, layout, PACKET_WRONG_LENGTH, "length", 4, length, run->end);
    uint32_t offset = run->offset;
    for (const struct packet_field *f = run->first; f < run->behind; f++) {
        if (offset + f->bytes > size)
            return packet_fail(fault, layout, PACKET_TRUNCATED, f->name, offset, size,
                               offset + f->bytes);
        offset += f->bytes;
    }
    return true;
}

static inline bool packet_check_header(const struct packet_layout *layout, const uint8_t *bytes,
                                       size_t size, struct packet_fault *fault)
{
    if (size < 4)
        return packet_fail(fault, layout, PACKET_TRUNCATED, "version", 0, size, 4);
    uint64_t version = packet_number(bytes, 4);
    if (version != layout->version)
        return packet_fail(fault, layout, PACKET_WRONG_VERSION, "version", 0, version,
                           layout->version);
    if (size < PACKET_HEADER_BYTES)
        return packet_fail(fault, layout, PACKET_TRUNCATED, "length", 4, size, PACKET_HEADER_BYTES);
    return true;
}

static inline size_t packet_decode(const struct packet_layout *layout, void *packet,
                                   const void *bytes, size_t size, struct packet_fault *fault)
{
    const uint8_t *in = bytes;
    if (!packet_check_header(layout, in, size, fault))
        return 0;
    uint64_t length = packet_number(in + 4, 4);
    struct packet_run common = packet_common(layout), one = {.end = common.end};
    if (!packet_check_room(layout, &common, length, size, fault))
        return 0;
    if (packet_has_cases(layout, &common)) {
        uint64_t value = packet_choice(&common, in + common.offset);
        if (!packet_find_case(layout, &common, value, &one))
            return packet_unknown_case(layout, &common, value, fault);
        if (!packet_check_room(layout, &one, length, size, fault))
            return 0;
    }
    if (length != one.end)
        return packet_fail(fault, layout, PACKET_WRONG_LENGTH, "length", 4, length, one.end);
    if (!packet_check_values(layout, &common, in + common.offset, fault)
        || !packet_check_values(layout, &one, in + common.end, fault))
        return 0;
    memset(packet, 0, layout->struct_bytes);
    memcpy(packet, in + PACKET_HEADER_BYTES, one.end - PACKET_HEADER_BYTES);
    *fault = (struct packet_fault){.error = PACKET_FINE, .packet = layout->name, .field = ""};
    return one.end;
}

static inline const char *packet_fault_text(const struct packet_fault *fault, char *text,
                                            size_t size)
{
    static const char *const formats[] = {
        [PACKET_FINE] = "in order",
        [PACKET_TRUNCATED] = "there are only %" PRIu64 " bytes, it ends at %" PRIu64,
        [PACKET_WRONG_VERSION] = "it is %" PRIu64 ", this side speaks %" PRIu64,
        [PACKET_WRONG_LENGTH] = "it is %" PRIu64 ", such a packet has %" PRIu64 " bytes",
        [PACKET_UNKNOWN_CASE] = "nothing is known by the number %" PRIu64,
        [PACKET_WRONG_VALUE] = "%" PRIu64 " is not a value of it",
        [PACKET_NO_ROOM] = "there is room for %" PRIu64 " bytes, the packet has %" PRIu64,
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

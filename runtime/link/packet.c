/* Encoding and decoding by tables; packet.h has the rules. Both look at everything before they
 * write anything. */
#include "runtime/link/packet.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The value of a member of 1, 2, 4 or 8 bytes, whatever the host's order of bytes. */
static uint64_t member_value(const void *member, uint32_t bytes)
{
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
    switch (bytes) {
    case 1:
        memcpy(&u8, member, sizeof u8);
        return u8;
    case 2:
        memcpy(&u16, member, sizeof u16);
        return u16;
    case 4:
        memcpy(&u32, member, sizeof u32);
        return u32;
    default:
        memcpy(&u64, member, sizeof u64);
        return u64;
    }
}

static void set_member(void *member, uint32_t bytes, uint64_t value)
{
    uint8_t u8 = (uint8_t)value;
    uint16_t u16 = (uint16_t)value;
    uint32_t u32 = (uint32_t)value;
    switch (bytes) {
    case 1:
        memcpy(member, &u8, sizeof u8);
        break;
    case 2:
        memcpy(member, &u16, sizeof u16);
        break;
    case 4:
        memcpy(member, &u32, sizeof u32);
        break;
    default:
        memcpy(member, &value, sizeof value);
        break;
    }
}

static uint64_t wire_value(const uint8_t *bytes, uint32_t count)
{
    uint64_t value = 0;
    for (uint32_t i = 0; i < count; i++)
        value |= (uint64_t)bytes[i] << 8 * i;
    return value;
}

static void set_wire(uint8_t *bytes, uint32_t count, uint64_t value)
{
    for (uint32_t i = 0; i < count; i++)
        bytes[i] = (uint8_t)(value >> 8 * i);
}

static bool fail(struct packet_fault *fault, const struct packet_layout *layout,
                 enum packet_error error, const char *field, uint32_t offset, uint64_t found,
                 uint64_t expected)
{
    *fault = (struct packet_fault){.error = error,
                                   .packet = layout->name,
                                   .field = field,
                                   .offset = offset,
                                   .found = found,
                                   .expected = expected};
    return false;
}

/* Text of at most `bytes`, then zeros only. */
static bool is_padded(const uint8_t *text, uint32_t bytes)
{
    uint32_t i = 0;
    while (i < bytes && text[i] != 0)
        i++;
    while (i < bytes && text[i] == 0)
        i++;
    return i == bytes;
}

static bool wrong_value(const struct packet_layout *layout, const struct packet_field *field,
                        uint64_t found, struct packet_fault *fault)
{
    return fail(fault, layout, PACKET_WRONG_VALUE, field->name, field->offset, found, field->limit);
}

/* Are the bytes of each field such as encoding writes? */
static bool check_wire(const struct packet_layout *layout, const struct packet_field *fields,
                       uint32_t count, const uint8_t *bytes, struct packet_fault *fault)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct packet_field *field = &fields[i];
        const uint8_t *at = bytes + field->offset;
        uint64_t value = field->kind == PACKET_BOOL || field->kind == PACKET_CHOICE
                             ? wire_value(at, field->bytes)
                             : 0;
        if ((field->kind == PACKET_BOOL && value > 1)
            || (field->kind == PACKET_CHOICE && value >= field->limit)
            || (field->kind == PACKET_STRING && !is_padded(at, field->bytes)))
            return wrong_value(layout, field, value, fault);
    }
    return true;
}

/* Can each member be written? A truth value always can. */
static bool check_members(const struct packet_layout *layout, const struct packet_field *fields,
                          uint32_t count, const void *packet, struct packet_fault *fault)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct packet_field *field = &fields[i];
        const uint8_t *member = (const uint8_t *)packet + field->member;
        if (field->kind == PACKET_CHOICE && member_value(member, field->bytes) >= field->limit)
            return wrong_value(layout, field, member_value(member, field->bytes), fault);
        if (field->kind == PACKET_STRING && memchr(member, 0, field->bytes + 1) == NULL)
            return wrong_value(layout, field, 0, fault);
    }
    return true;
}

static void encode_fields(const struct packet_field *fields, uint32_t count, const void *packet,
                          uint8_t *bytes)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct packet_field *field = &fields[i];
        const uint8_t *member = (const uint8_t *)packet + field->member;
        uint8_t *at = bytes + field->offset;
        if (field->kind == PACKET_BYTES) {
            memcpy(at, member, field->bytes);
        } else if (field->kind == PACKET_STRING) {
            size_t length = strnlen((const char *)member, field->bytes);
            memcpy(at, member, length);
            memset(at + length, 0, field->bytes - length);
        } else if (field->kind == PACKET_BOOL) {
            set_wire(at, 1, member_value(member, 1) != 0);
        } else {
            set_wire(at, field->bytes, member_value(member, field->bytes));
        }
    }
}

static void decode_fields(const struct packet_field *fields, uint32_t count, void *packet,
                          const uint8_t *bytes)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct packet_field *field = &fields[i];
        uint8_t *member = (uint8_t *)packet + field->member;
        const uint8_t *at = bytes + field->offset;
        if (field->kind == PACKET_BYTES || field->kind == PACKET_STRING)
            memcpy(member, at, field->bytes); /* the final zero of a text is there already */
        else
            set_member(member, field->bytes, wire_value(at, field->bytes));
    }
}

/* The case of `value`; NULL when it has none, or the layout has no union. */
static const struct packet_case *find_case(const struct packet_layout *layout, uint64_t value)
{
    bool has = value < layout->case_count && layout->cases[value].name != NULL;
    return has ? &layout->cases[value] : NULL;
}

static const struct packet_field *chooser(const struct packet_layout *layout)
{
    return layout->case_count > 0 ? &layout->fields[layout->field_count - 1] : NULL;
}

static bool unknown_case(const struct packet_layout *layout, uint64_t value,
                         struct packet_fault *fault)
{
    const struct packet_field *field = chooser(layout);
    return fail(fault, layout, PACKET_UNKNOWN_CASE, field->name, field->offset, value,
                layout->case_count);
}

uint32_t packet_bytes(const struct packet_layout *layout, uint32_t value)
{
    if (layout->case_count == 0)
        return layout->bytes;
    const struct packet_case *one = find_case(layout, value);
    return one != NULL ? one->bytes : 0;
}

size_t packet_encode(const struct packet_layout *layout, const void *packet, void *bytes,
                     size_t size, struct packet_fault *fault)
{
    const struct packet_case *one = NULL;
    uint32_t total = layout->bytes;
    if (layout->case_count > 0) {
        const struct packet_field *field = chooser(layout);
        uint64_t value = member_value((const uint8_t *)packet + field->member, field->bytes);
        one = find_case(layout, value);
        if (one == NULL)
            return unknown_case(layout, value, fault);
        total = one->bytes;
    }
    if (!check_members(layout, layout->fields, layout->field_count, packet, fault)
        || (one != NULL && !check_members(layout, one->fields, one->field_count, packet, fault)))
        return 0;
    if (size < total)
        return fail(fault, layout, PACKET_NO_ROOM, "length", 4, size, total);
    uint8_t *out = bytes;
    set_wire(out, 4, layout->version);
    set_wire(out + 4, 4, total);
    encode_fields(layout->fields, layout->field_count, packet, out);
    if (one != NULL)
        encode_fields(one->fields, one->field_count, packet, out);
    *fault = (struct packet_fault){.error = PACKET_FINE, .packet = layout->name, .field = ""};
    return total;
}

/* Do the fields lie within the stated length, and that within the bytes there are? */
static bool check_room(const struct packet_layout *layout, const struct packet_field *fields,
                       uint32_t count, uint32_t total, uint64_t length, size_t size,
                       struct packet_fault *fault)
{
    if (length < total)
        return fail(fault, layout, PACKET_WRONG_LENGTH, "length", 4, length, total);
    for (uint32_t i = 0; i < count; i++)
        if (fields[i].offset + fields[i].bytes > size)
            return fail(fault, layout, PACKET_TRUNCATED, fields[i].name, fields[i].offset, size,
                        fields[i].offset + fields[i].bytes);
    return true;
}

static bool check_header(const struct packet_layout *layout, const uint8_t *bytes, size_t size,
                         struct packet_fault *fault)
{
    if (size < 4)
        return fail(fault, layout, PACKET_TRUNCATED, "version", 0, size, 4);
    uint64_t version = wire_value(bytes, 4);
    if (version != layout->version)
        return fail(fault, layout, PACKET_WRONG_VERSION, "version", 0, version, layout->version);
    if (size < PACKET_HEADER_BYTES)
        return fail(fault, layout, PACKET_TRUNCATED, "length", 4, size, PACKET_HEADER_BYTES);
    return true;
}

size_t packet_decode(const struct packet_layout *layout, void *packet, const void *bytes,
                     size_t size, struct packet_fault *fault)
{
    const uint8_t *in = bytes;
    const struct packet_case *one = NULL;
    uint32_t total = layout->bytes;
    if (!check_header(layout, in, size, fault))
        return 0;
    uint64_t length = wire_value(in + 4, 4);
    if (!check_room(layout, layout->fields, layout->field_count, total, length, size, fault))
        return 0;
    if (layout->case_count > 0) {
        const struct packet_field *field = chooser(layout);
        uint64_t value = wire_value(in + field->offset, field->bytes);
        one = find_case(layout, value);
        if (one == NULL)
            return unknown_case(layout, value, fault);
        total = one->bytes;
        if (!check_room(layout, one->fields, one->field_count, total, length, size, fault))
            return 0;
    }
    if (length != total)
        return fail(fault, layout, PACKET_WRONG_LENGTH, "length", 4, length, total);
    if (!check_wire(layout, layout->fields, layout->field_count, in, fault)
        || (one != NULL && !check_wire(layout, one->fields, one->field_count, in, fault)))
        return 0;
    memset(packet, 0, layout->struct_bytes);
    decode_fields(layout->fields, layout->field_count, packet, in);
    if (one != NULL)
        decode_fields(one->fields, one->field_count, packet, in);
    *fault = (struct packet_fault){.error = PACKET_FINE, .packet = layout->name, .field = ""};
    return total;
}

const char *packet_fault_text(const struct packet_fault *fault, char *text, size_t size)
{
    static const char *const formats[] = {
        [PACKET_FINE] = "in order",
        [PACKET_TRUNCATED] = "there are only %" PRIu64 " bytes, it ends at %" PRIu64,
        [PACKET_WRONG_VERSION] = "it is %" PRIu64 ", this side speaks %" PRIu64,
        [PACKET_WRONG_LENGTH] = "it is %" PRIu64 ", such a packet has %" PRIu64 " bytes",
        [PACKET_UNKNOWN_CASE] = "nothing is known by the number %" PRIu64,
        [PACKET_WRONG_VALUE] = "%" PRIu64 " is no value of it",
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

/* Lays out a message's fields by the rule of message_layout.h, for the check of depths and the
 * emitters of protocols, ports and tables. */
#include "message_layout.h"

#include "base/number.h"

static bool is_block(const struct model_field *field)
{
    return field->kind == MODEL_FIELD_BITS || field->kind == MODEL_FIELD_BYTES;
}

uint32_t message_field_bytes(const struct model_field *field)
{
    return field->kind == MODEL_FIELD_BITS ? round_up(field->size, 64) / 8 : field->size;
}

uint32_t message_field_alignment(const struct model_field *field)
{
    if (field->kind == MODEL_FIELD_BITS)
        return 8;
    return field->kind == MODEL_FIELD_BYTES ? 16 : field->size;
}

/* The scalar fields in header order: first address, then by size. */
static uint32_t sort_scalars(const struct model_message *message, const struct model_field **sorted)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < message->field_count && count == 0; i++)
        if (message->fields[i].kind == MODEL_FIELD_ADDR)
            sorted[count++] = &message->fields[i];
    const struct model_field *address = count ? sorted[0] : NULL;
    for (uint32_t size = 8; size > 0; size /= 2)
        for (uint32_t i = 0; i < message->field_count; i++) {
            const struct model_field *field = &message->fields[i];
            if (!is_block(field) && field != address && field->size == size)
                sorted[count++] = field;
        }
    return count;
}

struct message_layout message_layout(struct region *region, const struct model_message *message)
{
    size_t bytes = (message->field_count + 1) * sizeof(const struct model_field *);
    struct message_layout layout = {.header = region_take(region, bytes),
                                    .payload = region_take(region, bytes)};
    const struct model_field **sorted = region_take(region, bytes);
    uint32_t count = sort_scalars(message, sorted);
    uint32_t used = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (used + sorted[i]->size <= MESSAGE_HEADER_FIELD_BYTES) {
            layout.header[layout.header_count++] = sorted[i];
            used += sorted[i]->size;
        } else {
            layout.payload[layout.payload_count++] = sorted[i];
        }
    }
    static const enum model_field_kind blocks[] = {MODEL_FIELD_BITS, MODEL_FIELD_BYTES};
    for (size_t b = 0; b < 2; b++)
        for (uint32_t i = 0; i < message->field_count; i++)
            if (message->fields[i].kind == blocks[b])
                layout.payload[layout.payload_count++] = &message->fields[i];
    return layout;
}

uint32_t message_payload_bytes(struct region *region, const struct model_message *message)
{
    struct message_layout layout = message_layout(region, message);
    uint32_t bytes = 0;
    for (uint32_t i = 0; i < layout.payload_count; i++)
        bytes = round_up(bytes, message_field_alignment(layout.payload[i]))
                + message_field_bytes(layout.payload[i]);
    return bytes;
}

uint32_t message_wire_bytes(struct region *region, const struct model_message *message)
{
    struct message_layout layout = message_layout(region, message);
    uint32_t bytes = MESSAGE_FRAME_BYTES + message_payload_bytes(region, message);
    for (uint32_t i = 0; i < layout.header_count; i++)
        bytes += layout.header[i]->size;
    return bytes;
}

/* The field whose bytes travel by a length, or NULL. */
static const struct model_field *variable_field(const struct model_message *message)
{
    for (uint32_t i = 0; i < message->field_count; i++)
        if (message->fields[i].kind == MODEL_FIELD_BYTES && message->fields[i].length_field)
            return &message->fields[i];
    return NULL;
}

uint32_t message_variable_bytes(const struct model_message *message)
{
    const struct model_field *field = variable_field(message);
    return field ? field->size : 0;
}

uint32_t message_length_offset(struct region *region, const struct model_message *message)
{
    const struct model_field *field = variable_field(message);
    struct message_layout layout = message_layout(region, message);
    uint32_t offset = MESSAGE_HEADER_OFFSET;
    if (!field)
        return 0;
    for (uint32_t i = 0; i < layout.header_count; i++) {
        if (layout.header[i] == &message->fields[field->length_field - 1])
            return offset;
        offset += layout.header[i]->size;
    }
    return 0; /* the field did not fit into the header */
}

uint32_t message_slot_bytes(struct region *region, const struct model_message *messages,
                            uint32_t count)
{
    uint32_t largest = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t bytes = message_payload_bytes(region, &messages[i]);
        if (bytes > largest)
            largest = bytes;
    }
    return round_up(largest, 16);
}

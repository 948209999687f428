/* The places of the fields of a message: in the 22 bytes of its header, or in its payload slot.
 *
 * Header: the first `addr` field, then the others by size, largest first, in order of declaration
 * among equals, as long as they fit; so every field is aligned by its size, and an interconnect
 * finds a request's address at offset 8 of the message. Payload: fields that did not fit, then
 * masks (8-aligned), then bytes (16-aligned), each in this order. */
#ifndef HEDDLE_DSL_MESSAGE_LAYOUT_H
#define HEDDLE_DSL_MESSAGE_LAYOUT_H

#include "base/region.h"

#include "model.h"

#define MESSAGE_HEADER_FIELD_BYTES 22 /* RING_FIELD_BYTES of runtime/link/ring.h */
#define MESSAGE_HEADER_OFFSET      8
/* Bytes of a message on a link in addition to its fields: kind, tag, length. */
#define MESSAGE_FRAME_BYTES        8

struct message_layout {
    const struct model_field **header; /* in order of offsets */
    uint32_t header_count;
    const struct model_field **payload; /* in order of offsets */
    uint32_t payload_count;
};

struct message_layout message_layout(struct region *region, const struct model_message *message);

/* Bytes and alignment of a field in its place; masks and bytes for the protocol's arguments of
 * this model. */
uint32_t message_field_bytes(const struct model_field *field);
uint32_t message_field_alignment(const struct model_field *field);

/* Payload used by a message, not rounded up; 0: none. */
uint32_t message_payload_bytes(struct region *region, const struct model_message *message);
/* On a link: frame, header fields and payload. */
uint32_t message_wire_bytes(struct region *region, const struct model_message *message);
/* Offset of the message's length field from the start of struct message; 0: the message is always
 * as long. */
uint32_t message_length_offset(struct region *region, const struct model_message *message);
/* Bytes of the field whose length that field gives. */
uint32_t message_variable_bytes(const struct model_message *message);
/* Slot size for one direction of a protocol: the largest payload, rounded up to 16. */
uint32_t message_slot_bytes(struct region *region, const struct model_message *messages,
                            uint32_t count);

#endif

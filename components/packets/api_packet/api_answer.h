/* The answer to a call: its structure, made from api_answer.def, and its encoding. */
#ifndef HEDDLE_COMPONENTS_API_ANSWER_H
#define HEDDLE_COMPONENTS_API_ANSWER_H

#include "components/protocols/api_call/api_call.h"
#include "components/packets/packet/packet.h"

/* Whether a call has been taken, and is over. */
enum api_state { API_STATE_DONE, API_STATE_BLOCKED, API_STATE_PENDING, API_STATE_COUNT };

#define API_ANSWER_MOST_BYTES (PACKET_HEADER_BYTES + sizeof(struct api_answer))

struct api_answer {
#include "components/packets/packet/packet_members.def"
#include "components/packets/api_packet/api_answer.def"
#include "components/packets/packet/packet_undefine.def"
} PACKED;

static const struct packet_field api_answer_fields[] = {
#include "components/packets/packet/packet_table.def"
#include "components/packets/api_packet/api_answer.def"
#include "components/packets/packet/packet_undefine.def"
};

static const struct packet_layout api_answer_layout = {
    .name = "api_answer",
    .version = 1,
    .fields = api_answer_fields,
    .field_count = sizeof api_answer_fields / sizeof api_answer_fields[0],
    .struct_bytes = sizeof(struct api_answer),
};

/* Bytes written, or 0: `fault` says why. */
static inline size_t api_answer_encode(const struct api_answer *packet, void *bytes, size_t size,
                                       struct packet_fault *fault)
{
    return packet_encode(&api_answer_layout, packet, bytes, size, fault);
}

/* Bytes read, or 0: `fault` says why, and `packet` is as it was. */
static inline size_t api_answer_decode(struct api_answer *packet, const void *bytes, size_t size,
                                       struct packet_fault *fault)
{
    return packet_decode(&api_answer_layout, packet, bytes, size, fault);
}

#endif

/* A call to the API: its structure, made from api_request.def, and its encoding.
 *
 * A program on a simulated host writes an api_request to memory, tells the device its address, and
 * reads an api_answer from there. The calls are those of SST's balar; the layout is our own,
 * because balar's is that of one compiler and has no version. */
#ifndef HEDDLE_COMPONENTS_API_REQUEST_H
#define HEDDLE_COMPONENTS_API_REQUEST_H

#include "components/protocols/api_call/api_call.h"
#include "components/packets/packet/packet.h"

/* Which way a copy goes; the values of hipMemcpyKind. BY_ADDRESS: the addresses tell. */
enum api_direction {
    API_DIRECTION_HOST_TO_HOST,
    API_DIRECTION_HOST_TO_DEVICE,
    API_DIRECTION_DEVICE_TO_HOST,
    API_DIRECTION_DEVICE_TO_DEVICE,
    API_DIRECTION_BY_ADDRESS,
    API_DIRECTION_COUNT
};

#define API_REQUEST_MOST_BYTES (PACKET_HEADER_BYTES + sizeof(struct api_request))

struct api_request {
#include "components/packets/packet/packet_members.def"
#include "components/packets/api_packet/api_request.def"
#include "components/packets/packet/packet_undefine.def"
} PACKED;

static const struct packet_field api_request_fields[] = {
#include "components/packets/packet/packet_table.def"
#include "components/packets/api_packet/api_request.def"
#include "components/packets/packet/packet_undefine.def"
};

static const struct packet_layout api_request_layout = {
    .name = "api_request",
    .version = 1,
    .fields = api_request_fields,
    .field_count = sizeof api_request_fields / sizeof api_request_fields[0],
    .struct_bytes = sizeof(struct api_request),
};

/* Bytes written, or 0: `fault` says why. */
static inline size_t api_request_encode(const struct api_request *packet, void *bytes, size_t size,
                                        struct packet_fault *fault)
{
    return packet_encode(&api_request_layout, packet, bytes, size, fault);
}

/* Bytes read, or 0: `fault` says why, and `packet` is as it was. */
static inline size_t api_request_decode(struct api_request *packet, const void *bytes, size_t size,
                                        struct packet_fault *fault)
{
    return packet_decode(&api_request_layout, packet, bytes, size, fault);
}

#endif

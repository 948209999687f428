/* A call to the API: its structure, made from api_request.def, and its encoding.
 *
 * A program on a simulated host writes an api_request to memory, sends its address to the device,
 * and reads an api_answer from there. The calls are those of SST's balar; the layout is our own,
 * because balar's is that of one compiler and has no version. */
#ifndef HEDDLE_COMPONENTS_PACKETS_API_PACKET_API_REQUEST_H
#define HEDDLE_COMPONENTS_PACKETS_API_PACKET_API_REQUEST_H

#include "components/packets/packet/packet.h"
#include "components/protocols/api_call/api_call.h"

/* The direction of a copy, with the values of hipMemcpyKind. BY_ADDRESS: it follows from the
 * addresses. */
enum api_direction {
    API_DIRECTION_HOST_TO_HOST,
    API_DIRECTION_HOST_TO_DEVICE,
    API_DIRECTION_DEVICE_TO_HOST,
    API_DIRECTION_DEVICE_TO_DEVICE,
    API_DIRECTION_BY_ADDRESS,
    API_DIRECTION_COUNT
};

#define API_REQUEST_BYTES_MAX (PACKET_HEADER_BYTES + sizeof(struct api_request))

#define PACKET             api_request
#define PACKET_DESCRIPTION "components/packets/api_packet/api_request.def"
#include "components/packets/packet/packet_declare.def"

#endif

/* The answer to a call: its structure, made from api_answer.def, and its encoding. */
#ifndef HEDDLE_COMPONENTS_PACKETS_API_PACKET_API_ANSWER_H
#define HEDDLE_COMPONENTS_PACKETS_API_PACKET_API_ANSWER_H

#include "components/packets/packet/packet.h"
#include "components/protocols/api_call/api_call.h"

/* The state of a call: over, not taken yet, or taken. */
enum api_state { API_STATE_DONE, API_STATE_BLOCKED, API_STATE_PENDING, API_STATE_COUNT };

#define API_ANSWER_BYTES_MAX (PACKET_HEADER_BYTES + sizeof(struct api_answer))

#define PACKET             api_answer
#define PACKET_DESCRIPTION "components/packets/api_packet/api_answer.def"
#include "components/packets/packet/packet_declare.def"

#endif

/* A command to a packet_dma: its structure, made from packet_dma_command.def, and its encoding. */
#ifndef HEDDLE_COMPONENTS_PACKET_DMA_COMMAND_H
#define HEDDLE_COMPONENTS_PACKET_DMA_COMMAND_H

#include "components/packets/packet/packet.h"

/* Which way a command moves bytes: simulated memory to the device that gave the command, back, or
 * inside of memory. */
enum packet_dma_way {
    PACKET_DMA_WAY_TO_DEVICE,
    PACKET_DMA_WAY_TO_MEMORY,
    PACKET_DMA_WAY_IN_MEMORY,
    PACKET_DMA_WAY_COUNT
};

struct packet_dma_command {
#include "components/packets/packet/packet_members.def"
#include "components/packets/packet_dma_command/packet_dma_command.def"
#include "components/packets/packet/packet_undefine.def"
} PACKED;

static const struct packet_field packet_dma_command_fields[] = {
#include "components/packets/packet/packet_table.def"
#include "components/packets/packet_dma_command/packet_dma_command.def"
#include "components/packets/packet/packet_undefine.def"
};

static const struct packet_layout packet_dma_command_layout = {
    .name = "packet_dma_command",
    .version = 1,
    .fields = packet_dma_command_fields,
    .field_count = sizeof packet_dma_command_fields / sizeof packet_dma_command_fields[0],
    .struct_bytes = sizeof(struct packet_dma_command),
};

/* Bytes written, or 0: `fault` says why. */
static inline size_t packet_dma_command_encode(const struct packet_dma_command *packet, void *bytes,
                                               size_t size, struct packet_fault *fault)
{
    return packet_encode(&packet_dma_command_layout, packet, bytes, size, fault);
}

/* Bytes read, or 0: `fault` says why, and `packet` is as it was. */
static inline size_t packet_dma_command_decode(struct packet_dma_command *packet, const void *bytes,
                                               size_t size, struct packet_fault *fault)
{
    return packet_decode(&packet_dma_command_layout, packet, bytes, size, fault);
}

#endif

/* A command to a packet_dma: its structure, made from packet_dma_command.def, and its encoding. */
#ifndef HEDDLE_COMPONENTS_PACKETS_PACKET_DMA_COMMAND_PACKET_DMA_COMMAND_H
#define HEDDLE_COMPONENTS_PACKETS_PACKET_DMA_COMMAND_PACKET_DMA_COMMAND_H

#include "components/packets/packet/packet.h"

/* The direction in which a command moves bytes: simulated memory to the device that gave the
 * command, back, or inside of memory. */
enum packet_dma_way {
    PACKET_DMA_WAY_TO_DEVICE,
    PACKET_DMA_WAY_TO_MEMORY,
    PACKET_DMA_WAY_IN_MEMORY,
    PACKET_DMA_WAY_COUNT
};

#define PACKET             packet_dma_command
#define PACKET_DESCRIPTION "components/packets/packet_dma_command/packet_dma_command.def"
#include "components/packets/packet/packet_declare.def"

#endif

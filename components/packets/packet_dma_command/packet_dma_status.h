/* The values that a packet_dma writes into the status of a command's blob, for the component that
 * gave the command. */
#ifndef HEDDLE_COMPONENTS_PACKETS_PACKET_DMA_COMMAND_PACKET_DMA_STATUS_H
#define HEDDLE_COMPONENTS_PACKETS_PACKET_DMA_COMMAND_PACKET_DMA_STATUS_H

enum packet_dma_status {
    PACKET_DMA_NONE,
    PACKET_DMA_BUSY,
    PACKET_DMA_DONE,
    PACKET_DMA_REFUSED /* nothing was moved */
};

#endif

/* What a packet_dma writes into the status of the blob of a command. */
#ifndef HEDDLE_PACKET_DMA_STATE_H
#define HEDDLE_PACKET_DMA_STATE_H

enum packet_dma_state {
    PACKET_DMA_NONE,
    PACKET_DMA_BUSY,
    PACKET_DMA_DONE,
    PACKET_DMA_REFUSED /* nothing was moved */
};

#endif

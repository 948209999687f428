/* Queues of SDMA engines: rings of packets that copy, fill, wait and tell. See kfd_sdma_queue.c. */
#ifndef HEDDLE_COMPONENTS_KFD_SERVER_QUEUES_KFD_SDMA_QUEUE_H
#define HEDDLE_COMPONENTS_KFD_SERVER_QUEUES_KFD_SDMA_QUEUE_H

#include "kfd_aql_packet.h"

/* True if it is one of the driver's types of queues that packets for SDMA engines go to. */
bool kfd_sdma_is_type(uint32_t queue_type);
/* A ring of this size can be used. */
bool kfd_sdma_ring_size(uint64_t bytes);
/* The number of queues of a type that the engines of a GPU have. */
uint32_t kfd_sdma_queues(uint32_t gpu);
/* Begins packets that were announced, as far as they can be begun now. */
bool kfd_sdma_begin(struct kfd_queue *q);
/* The doorbell has this value. True: no thread will wait by an event for what it announces, or
 * there may be no room for more. */
bool kfd_sdma_read_doorbell(struct kfd_queue *q, uint64_t value);

#endif

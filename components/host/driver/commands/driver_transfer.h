/* Messages that move data, and the slots that they occupy. See driver_transfer.c. */
#ifndef HEDDLE_DRIVER_TRANSFER_H
#define HEDDLE_DRIVER_TRANSFER_H

#include "components/host/driver/copy_middleware.h"
#include "components/host/driver/driver_state.h"

/* A slot for a message to device `number`, or -1 when none is free or the port is full. */
static int slot_for(struct driver *d, uint32_t number);
static int slot_for_launch(struct driver *d, uint32_t number);

enum link_way { LINK_THERE, LINK_BACK };

/* Does the link take no more data for now? Then the driver wakes when it does. One page may wait.
 */
static bool link_busy(struct driver *d, uint32_t number, enum link_way way);
static void link_take(struct driver *d, uint32_t number, enum link_way way, uint32_t bytes);

/* How many bytes the next message of a command moves. */
static uint32_t copy_cut(struct driver *d, uint32_t command, uint64_t physical, uint64_t most);

static uint64_t least(uint64_t a, uint64_t b);
static void slot_take(struct driver *d, uint32_t number, int slot, uint32_t command,
                      uint64_t offset, uint32_t size);
static void send_write(struct driver *d, uint32_t number, int slot, uint64_t physical,
                       const void *from, uint32_t size);
static enum copy_kind command_copy_kind(const struct driver_command *k);

/* How the copy is done: inside of one GPU, between GPUs that all have access to each other as far
 * as the copy goes, or through the host. */
static enum copy_way copy_find_way(const struct driver *d, const struct driver_command *k);

/* Each sends the next message of a command, if it can be sent now. `gpu`: that of the queue. A copy
 * may have nothing to send. */
static bool send_writes(struct driver *d, uint32_t command, uint32_t gpu);
static bool send_reads(struct driver *d, uint32_t command, uint32_t gpu);
static bool send_copies(struct driver *d, uint32_t command, uint32_t gpu);
static bool send_fills(struct driver *d, uint32_t command, uint32_t gpu);
static bool send_stages(struct driver *d, uint32_t command, uint32_t gpu);
static bool send_shootdowns(struct driver *d, uint32_t command, uint32_t gpu);

#endif

/* The copy middleware of the driver: it decides how the bytes of copies, fills and launches get to
 * a GPU's memory and back. The driver has looked up the pages, flushed what is dirty in caches, and
 * keeps the order of queues.
 *
 * A part with a `slot next : copy_middleware` passes on what it does not do itself, so parts form a
 * chain that sees each command and each message: docs/examples/middleware. What the first one says
 * of `takes_no_time` holds.
 *
 * Messages go to the GPU that owns the page, over the link. A direct move reads or writes simulated
 * memory itself and takes no time: the command ends in the cycle in which it begins. (Both ways are
 * those of MGPUSim's driver: its default and its "global storage" memory copy middleware.) */
#ifndef HEDDLE_COMPONENTS_HOST_DRIVER_COPY_MIDDLEWARE_H
#define HEDDLE_COMPONENTS_HOST_DRIVER_COPY_MIDDLEWARE_H

#include <stdbool.h>
#include <stdint.h>

struct part;

/* Copies between GPUs go through the host, or directly from one to the other. */
enum copy_kind {
    COPY_TO_GPU,
    COPY_FROM_GPU,
    COPY_ON_GPU,
    COPY_BETWEEN_GPUS,
    COPY_TO_PEER,
    COPY_FILL
};

struct copy_middleware_ops {
    /* True if there are direct moves; events and waits between copies then take no time, either. */
    bool takes_no_time;
    /* A command of `size` bytes is about to begin: moved directly (true), or by messages? Called
     * once for each command. */
    bool (*direct)(struct part *self, enum copy_kind kind, uint64_t size);
    /* A message of at most `most` bytes at physical address `address`, all on one page: its bytes,
     * at least 1. A message from or to the host carries at most COPY_MESSAGE_BYTES. Called once for
     * each message that is sent. */
    uint32_t (*cut)(struct part *self, enum copy_kind kind, uint64_t address, uint64_t most);
};

enum { COPY_MESSAGE_BYTES = 4096 }; /* the payload of a command message */

#endif

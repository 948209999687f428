/* The stream rules of the driver: they decide when a call may begin on a queue, and whether the
 * program waits for its end. A front end asks through the driver (driver_api.h): call_begin()
 * before the commands of a call, call_end() after them.
 *
 * Nothing here waits: the caller also advances time, and would wait for itself. A call that may
 * not begin is answered with the ticket of something that is pending; when that is done, the front
 * end asks again.
 *
 * `hip` leaves everything to the front end, which knows HIP's rules and puts waits into the queues;
 * `balar` has the rules of SST's balar ("Balar In Depth", CUDA stream support). */
#ifndef HEDDLE_COMPONENTS_HOST_DRIVER_STREAM_RULES_H
#define HEDDLE_COMPONENTS_HOST_DRIVER_STREAM_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "driver_api.h"

struct part;

struct stream_rules_ops {
    /* enum driver_stream_flags. */
    uint32_t (*flags)(const struct part *self);
    /* True if the call may begin. `is_default`: the queue is that of a default stream. False: not
     * yet; `*blocker` is the ticket of a pending command, and nothing has happened. */
    bool (*begin)(struct part *self, enum driver_stream_call call, uint32_t queue, bool is_default,
                  uint64_t *blocker);
    /* The call that has begun on the queue has enqueued all its commands; `ticket`: of the last, 0:
     * it has none. */
    void (*end)(struct part *self, uint32_t queue, uint64_t ticket);
    /* A command of the queue is done. */
    void (*completed)(struct part *self, uint32_t queue, uint64_t ticket);
};

#endif

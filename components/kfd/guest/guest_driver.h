/* The driver of a machine in another process (heddle-kfd), as the HIP library calls it: the table
 * of driver_api.h, of which each call is a message (guest_channel.h). Calls that are LOCAL
 * (driver_calls.def) are NULL, and so is `user_queues`.
 *
 * A thread that calls waits for the answer. The server takes calls of one process at a time, until
 * that waits, and runs the engine when all processes wait: docs/design/host-threads.md. */
#ifndef HEDDLE_COMPONENTS_KFD_GUEST_GUEST_DRIVER_H
#define HEDDLE_COMPONENTS_KFD_GUEST_GUEST_DRIVER_H

#include "components/host/driver/driver_api.h"

/* True if it is the socket of such a machine. */
bool guest_driver_is(const char *path);
/* Connects the process. NULL: a message on stderr has the reason. */
const struct driver_api *guest_driver_open(const char *path, bool *functional);

#endif

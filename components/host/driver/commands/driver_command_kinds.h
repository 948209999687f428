/* What each kind of command does: one row of functions a kind. */
#ifndef HEDDLE_DRIVER_COMMAND_KINDS_H
#define HEDDLE_DRIVER_COMMAND_KINDS_H

#include "components/host/driver/driver_state.h"

struct command_kind {
    const char *name;
    /* May the first command of its queue begin? What has to be flushed has been. True: its phase is
     * what follows PHASE_QUEUED. False: it is asked again. */
    bool (*begin)(struct driver *d, struct driver_queue *q, struct driver_command *k);
    /* One step in PHASE_MOVE or PHASE_LAUNCH_FIRST: at most one message, or the end. True:
     * something changed. */
    bool (*step)(struct driver *d, struct driver_queue *q, uint32_t command);
    /* Sends the next message of the command, if it can be sent now. NULL: the kind has no messages
     * that move data. */
    bool (*send)(struct driver *d, uint32_t command, uint32_t gpu);
    /* An answer from GPU `gpu` to a message of the command that was no flush; the slot is what was
     * sent. */
    void (*answer)(struct driver *d, uint32_t gpu, uint32_t command,
                   const struct driver_slot *sent);
};

static const struct command_kind command_kinds[DRIVER_KINDS]; /* defined in the .c file */

#endif

/* Launches in parts. See driver_parts.c. */
#ifndef HEDDLE_DRIVER_PARTS_H
#define HEDDLE_DRIVER_PARTS_H

#include "components/host/driver/driver_state.h"

/* A launch that is to be simulated: in parts, if that pays and can be done. Its first part is next.
 */
static void parts_choose(const struct driver *d, struct driver_command *k, uint32_t device);

/* A launch, or a part of one, is over. True: there is another part, which waits for its turn. */
static bool parts_continue(struct driver *d, struct driver_command *k, uint32_t device);

/* Has a part of the launch been executed already? */
static bool parts_goes_on(const struct driver_command *k);

#endif

/* What of the arena belongs to which shard, so that one rank can have the state of all: for reports
 * of a run that does not go on. Noted while the platform is built, with several ranks only. */
#ifndef HEDDLE_RUNTIME_OWNED_H
#define HEDDLE_RUNTIME_OWNED_H

#include <stdint.h>

#include "runtime/engine/arena.h"

void owned_forget(void);
/* All that was handed out between the two belongs to the shard. */
void owned_between(uint32_t shard, struct arena_ends before, struct arena_ends after);
/* By all ranks, between windows: afterwards the arena of rank 0 has the components and rings of all
 * ranks as they are there. */
void owned_gather(void);

#endif

/* All shards as one, for as long as one thread runs them; see unite.c. By the leader, between
 * windows. No result depends on it. */
#ifndef HEDDLE_RUNTIME_UNITE_H
#define HEDDLE_RUNTIME_UNITE_H

#include <stdbool.h>
#include <stdint.h>

void unite_open(void);
/* Can it be done on this platform? */
bool unite_is_possible(void);
/* Is everything in shard 0? */
bool unite_holds(void);
/* All edges before `start_ps` have been run, the end of a window; what is under way between shards
 * arrives no earlier. */
void unite_shards(uint64_t start_ps);
/* Each shard has its own again. Likewise. */
void unite_undo(uint64_t start_ps);
/* While that holds: has anything of another shard ticked since this was asked last? */
bool unite_is_worth_threads(void);

#endif

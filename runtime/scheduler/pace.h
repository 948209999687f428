/* How many threads a relay is worth (relay.h), and how long it is to be, by the time that the last
 * ones took; see pace.c. By the leader, between windows. No result depends on it. */
#ifndef HEDDLE_RUNTIME_PACE_H
#define HEDDLE_RUNTIME_PACE_H

#include <stdint.h>

/* `seed`: not 0 in tests, where chance chooses. */
void pace_open(uint32_t threads, uint64_t seed);
/* That many, always: for tests and measurements. */
void pace_open_fixed(uint32_t threads);
/* For the relay that begins. */
uint32_t pace_choose(void);
/* As many windows as it is to have. */
uint32_t pace_windows(void);
/* What that relay did: its work in ticks (balance.h), its windows, and how long it took. */
void pace_note(uint64_t work, uint32_t windows, uint64_t ns);
/* How long it took to make one shard of all for one thread (unite.h), or several again. */
void pace_note_switch(uint64_t ns);
/* How many times as long one thread would have taken for such a relay, by those that one thread ran
 * last; 1: not known yet. */
double pace_gain(uint64_t work, uint64_t ns);

#endif

/* Which launches are timed, and how the others are done. See driver_sampling.c. */
#ifndef HEDDLE_DRIVER_SAMPLING_H
#define HEDDLE_DRIVER_SAMPLING_H

#include "components/host/driver/driver_state.h"

enum { SAMPLE_RETRY = 64 }; /* cycles until it is looked again whether all is quiet */

/* At start-up: with chosen launches, a simulated host is none of what has to be quiet. */
static void sample_init(const struct driver *d);

/* The flushes that the command would have asked for, in no time: what is dirty is in memory
 * already. */
static void sample_flush(struct driver *d, struct driver_command *k, uint32_t device);

/* Does what waits for the end of a window, if nothing else is under way. */
static void sample_window_end(struct driver *d);

enum sample_turn { SAMPLE_GO_ON, SAMPLE_WAITS, SAMPLE_BEGAN };

/* The first command of a queue, whose turn has come: does it go on as always? */
static enum sample_turn sample_begin(struct driver *d, struct driver_command *k,
                                     void (*at_end)(struct component *c));

/* Is the command done? Else it is tried again a little later. */
static bool sample_step(struct driver *d, struct driver_command *k, uint32_t device);

/* A timed launch has begun, past everything that it may have to wait for. */
static void sample_note_timed(struct driver *d, struct driver_command *k);

#endif

/* Launches with gaps. See driver_gaps.c. */
#ifndef HEDDLE_DRIVER_GAPS_H
#define HEDDLE_DRIVER_GAPS_H

#include "components/host/driver/driver_state.h"

/* A launch that is to be simulated: with gaps, if that can be done. */
static bool gaps_choose(const struct driver *d, const struct driver_command *k);

/* From ticks: it has been sent, or is over. */
static void gaps_start(struct driver *d, uint32_t command, uint32_t device);
static void gaps_stop(struct driver *d, const struct driver_command *k);

/* Each tick, and what it leaves for the end of the window. */
static void gaps_tick(struct driver *d);
static void gaps_window_end(struct driver *d);

#endif

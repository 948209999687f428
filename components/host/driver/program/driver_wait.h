/* Running the engine for a thread of the program that waits. See driver_wait.c. */
#ifndef HEDDLE_DRIVER_WAIT_H
#define HEDDLE_DRIVER_WAIT_H

#include "components/host/driver/driver_state.h"

/* Waits while the simulation is paused; the lock is free meanwhile. */
static enum driver_status host_wait_continued(void);

/* Runs the engine until the tick asks it to stop. The front end prints what the status text says;
 * reports of hangs have been printed by the engine. */
static enum driver_status host_run(struct driver *d);

static enum driver_status host_usable(void);

static enum driver_status host_wait(struct driver *d, uint64_t ticket);

/* Waits until fewer than `most` commands are undone. */
static enum driver_status host_wait_some(struct driver *d, uint32_t most);

/* Waits until no page is on its way to another GPU. */
static enum driver_status host_wait_migration(struct driver *d);

static enum driver_status host_wait_queue(struct driver *d, uint32_t queue);

#endif

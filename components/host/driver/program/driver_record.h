/* Notes the program's calls for a recording. See driver_record.c. */
#ifndef HEDDLE_DRIVER_RECORD_H
#define HEDDLE_DRIVER_RECORD_H

#include "components/host/driver/driver_state.h"

/* Launches that do not come from this driver cannot be recorded: the run ends then. */
static void record_init(const struct driver *d);

static void record_allocated(uint32_t gpu, uint64_t address, uint64_t bytes, bool managed);

/* A command was appended to its queue. */
static void record_enqueued(const struct driver_command *k);

/* The launch that was enqueued last. */
static void record_launch(const struct driver *d, uint32_t queue, const struct driver_launch *l);

/* A launch goes to GPU `number`. */
static void record_start(const struct driver *d, const struct driver_command *k, uint32_t number);

static void record_completed(const struct driver_command *k);

/* The host knows that the ticket is done. */
static void record_wait(uint64_t ticket);

/* The host asked for the ticket, and time passed. */
static void record_query(uint64_t ticket);

/* The end of the program. false: a file could not be written. */
static bool record_finish(void);

#endif

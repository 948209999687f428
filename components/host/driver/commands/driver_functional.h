/* Commands done at once on simulated memory. See driver_functional.c. */
#ifndef HEDDLE_DRIVER_FUNCTIONAL_H
#define HEDDLE_DRIVER_FUNCTIONAL_H

#include "components/amd/functional/functional.h"
#include "components/host/driver/driver_state.h"
#include "components/sampling/sampling_options.h"

struct functional_profile;

/* The record of a launch that has been executed; from a tick, whose time it gets. */
static void functional_record(struct driver *d, const struct driver_command *k, uint32_t number,
                              enum sampling_way way, const struct functional_profile *profile);

/* The launch as the executor takes it, without touches; `descriptor` is filled, too. */
static struct functional_launch functional_describe_launch(const struct driver *d,
                                                           const struct driver_command *k,
                                                           uint32_t number,
                                                           struct aql_descriptor *descriptor);

/* Does a command. False: the run has failed. */
static bool functional_launch(struct driver *d, struct driver_command *k, uint32_t number,
                              enum sampling_way way);

/* Moves the data of a copy, a fill, or a launch's arguments. */
static void functional_move_command(struct driver *d, const struct driver_command *k,
                                    uint32_t number);

/* Is there room for the command beside launches that have yielded? */
static bool functional_can_begin(const struct driver *d, const struct driver_command *k,
                                 uint32_t number);

/* Goes on with a launch in PHASE_YIELDED. False: the run has failed. */
static bool functional_go_on(struct driver *d, struct driver_command *k, uint32_t number);

/* Does the command, a launch perhaps in part: PHASE_YIELDED. False: the run has failed. */
static bool functional_command(struct driver *d, struct driver_command *k, uint32_t number);

#endif

/* The platform that a program runs on, as a shared object: for all libraries of programs. Messages
 * on stderr. */
#ifndef HEDDLE_COMPONENTS_HOST_START_OPEN_PLATFORM_H
#define HEDDLE_COMPONENTS_HOST_START_OPEN_PLATFORM_H

#include "components/host/driver/driver_api.h"
#include "runtime/session/exit_status.h"
#include "runtime/state/platform.h"

/* NULL: the file is not a platform of this version. */
const struct heddle_platform *open_platform(const char *path);
/* Starts the simulation with the options, and gives its driver. NULL: it does not start. */
const struct driver_api *start_platform(const struct heddle_platform *platform, const char *options,
                                        const char *path);

/* The status of `heddle run` when the simulation has ended with this one. */
enum exit_status exit_status_of(enum driver_status status);

#endif

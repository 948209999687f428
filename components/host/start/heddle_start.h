/* For C programs that speak to the driver of a simulated system themselves, without HIP: placement
 * of memory on GPUs, queues and copies, as in driver_api.h. Link with -lheddle_start -ldl and start
 * the program by `heddle run PLATFORM -- PROGRAM`. */
#ifndef HEDDLE_COMPONENTS_HOST_START_HEDDLE_START_H
#define HEDDLE_COMPONENTS_HOST_START_HEDDLE_START_H

#include "components/host/driver/driver_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Starts the simulation that `heddle run` has prepared, and ends it, with its statistics, when the
 * program exits. Device addresses lie in [HEDDLE_WINDOW, HEDDLE_WINDOW + HEDDLE_WINDOW_BYTES).
 * NULL: a message on stderr has the reason. Once a process; later calls return the same table. */
const struct driver_api *heddle_start(void);

#define HEDDLE_WINDOW       DRIVER_WINDOW
#define HEDDLE_WINDOW_BYTES DRIVER_WINDOW_BYTES

#ifdef __cplusplus
}
#endif

#endif

/* What the HIP library offers to heddle-play-instructions: the driver below it, since recorded
 * instruction traces have the driver's commands. Nothing of HIP may be called between the two. One
 * host thread. */
#ifndef HEDDLE_DRIVER_H
#define HEDDLE_DRIVER_H

#include "components/host/driver/driver_api.h"

/* Opens the platform. Returns a hipError_t; an error was said. */
int heddlePlayDriver(const struct driver_api **driver);
/* Says what the driver's answer means when it is a failure, `what` in front, and notes that the run
 * has failed. Returns a hipError_t. */
int heddlePlayStatus(enum driver_status status, const char *what);

#endif

/* The table of calls that the platform hands to front ends, and what its parts share. */
#ifndef HEDDLE_DRIVER_API_TABLE_H
#define HEDDLE_DRIVER_API_TABLE_H

#include "components/host/driver/driver_state.h"

/* Begin and end of every call: the driver's lock. api_leave() passes the status on. */
static void api_enter(void);
static enum driver_status api_leave(enum driver_status status);

static const struct driver_api *driver_api_table(void);

#endif

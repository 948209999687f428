/* The table of user-queue calls that struct driver_api leads to. */
#ifndef HEDDLE_DRIVER_USER_QUEUE_API_H
#define HEDDLE_DRIVER_USER_QUEUE_API_H

#include "components/host/driver/user_queue_api.h"

static const struct driver_queue_api driver_queue_api_table; /* constant; defined in the .c file */

#endif

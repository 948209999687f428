/* The driver for the player of instruction traces; see heddle_driver.h. */
#include "hip_internal.h"

#pragma GCC visibility push(default)
#include "heddle_driver.h"
#pragma GCC visibility pop

static hipError_t get_driver(const struct driver_api **driver)
{
    *driver = hip.api;
    return hipSuccess;
}

int heddlePlayDriver(const struct driver_api **driver)
{
    HIP_API(get_driver(driver));
}

int heddlePlayStatus(enum driver_status status, const char *what)
{
    HIP_API_ALWAYS(hip_status_of(status, what));
}

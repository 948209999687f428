/* Pages that come before an access waits for them, and what the program says about its pages. See
 * driver_prefetch.c. */
#ifndef HEDDLE_DRIVER_PREFETCH_H
#define HEDDLE_DRIVER_PREFETCH_H

#include "components/host/driver/driver_state.h"

/* The page of question `t`, for which an access waits, has come: asks for those that the prefetch
 * policy wants with it. */
static void prefetch_neighbours(struct driver *d, const struct driver_page_request *t);

/* See driver_api.h. */
static enum driver_status host_prefetch(struct driver *d, uint32_t number, uint64_t address,
                                        uint64_t size);

#endif

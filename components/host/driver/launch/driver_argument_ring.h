/* The ring of packets and arguments of a GPU. See driver_argument_ring.c. */
#ifndef HEDDLE_DRIVER_ARGUMENT_RING_H
#define HEDDLE_DRIVER_ARGUMENT_RING_H

#include "components/host/driver/driver_state.h"

/* The ring is made at the first launch. */
static enum driver_status argument_ring_open(struct driver *d, uint32_t number);

static uint32_t argument_ring_hold(struct driver_device *device, uint64_t start, uint32_t bytes,
                                   bool written);

/* The piece that was taken last, if it contains these bytes: its number, or DRIVER_NONE. Another
 * queue may use it only when it has been written; `at` is where a piece would begin. */
static bool argument_ring_is_last(const struct driver_device *device, const void *content,
                                  uint32_t bytes, uint32_t queue);

/* Finds where a new piece begins; waits for launches to end while there is none. */
static enum driver_status argument_ring_find(struct driver *d, struct driver_device *device,
                                             uint32_t bytes, uint32_t align, uint64_t *start);

static uint32_t argument_ring_take(struct driver_device *device, uint64_t start,
                                   const void *content, uint32_t bytes, uint32_t queue);

/* The piece's bytes are in the device's memory. */
static void argument_ring_written(struct driver_device *device, uint32_t number);

static void argument_ring_give(struct driver_device *device, uint32_t number);

#endif

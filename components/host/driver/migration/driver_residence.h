/* Managed pages in the memory of GPUs, in the order in which they leave. See driver_residence.c. */
#ifndef HEDDLE_DRIVER_RESIDENCE_H
#define HEDDLE_DRIVER_RESIDENCE_H

#include "components/host/driver/driver_state.h"

static void residence_init(struct driver *d);

/* The page has come to `physical`, in the memory of a GPU, as the youngest. */
static void residence_came(struct driver *d, uint32_t pid, uint64_t address, uint64_t physical);

/* No managed page is at `physical` any more, which may be the host's memory. */
static void residence_went(struct driver *d, uint64_t physical);

/* Managed pages of [address, address + size) are not there any more, since they are to be freed. */
static void residence_free(struct driver *d, uint32_t pid, uint64_t address, uint64_t size);

/* A fault on the page has come from the GPU. */
static void residence_faulted(struct driver *d, uint32_t gpu, uint32_t pid, uint64_t address);

/* Has the page at `physical` come to its GPU in the pause that is under way? */
static bool residence_is_new(const struct driver *d, uint64_t physical);

/* Puts questions in front of the others that send pages of the GPU to the host's memory. False: no
 * page can go. */
static bool residence_evict(struct driver *d, uint32_t gpu);

#endif

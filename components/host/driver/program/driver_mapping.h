/* Calls that change mappings, and contexts. See driver_mapping.c. */
#ifndef HEDDLE_DRIVER_MAPPING_H
#define HEDDLE_DRIVER_MAPPING_H

#include "components/host/driver/driver_state.h"

static enum driver_status host_allocate(struct driver *d, uint32_t number, uint64_t size,
                                        uint64_t align, bool unified, uint64_t *address);

/* See driver_api.h. */
static enum driver_status host_allocate_at(struct driver *d, uint32_t number, uint64_t address,
                                           uint64_t size, bool unified);

static enum driver_status host_release(struct driver *d, uint64_t address);

/* The host's pages at `host` show the allocation's bytes; NULL: the bytes become zeros. */
static enum driver_status host_alias(struct driver *d, uint64_t address, uint64_t size, char *host);

/* Evicts managed pages until each device of the request has its share of `pages`. False: it cannot.
 */
static bool host_make_room(struct driver *d, const struct memory_request *q, uint64_t pages);

/* See driver_api.h. */
static enum driver_status host_advise(struct driver *d, uint64_t address, uint64_t size,
                                      enum driver_advice advice, bool on);

/* The pages that touch [address, address + size) lie on GPU `gpu` from now on. Their contents are
 * lost. */
static enum driver_status host_remap(struct driver *d, uint64_t address, uint64_t size,
                                     uint32_t gpu);

static enum driver_status host_remove_page(struct driver *d, uint64_t address);
static enum driver_status host_allocate_page_at(struct driver *d, uint32_t number, uint64_t address,
                                                bool unified);
static enum driver_status host_page_info(struct driver *d, uint64_t address,
                                         struct driver_page *page);

/* Queues and code, as calls of the program and of devices have them; see driver_api.h. */
static enum driver_status queue_create(struct driver *d, uint32_t device, uint32_t *queue);
static enum driver_status queue_destroy(struct driver *d, uint32_t queue);
static enum driver_status code_register(struct driver *d, uint32_t device, const char *name,
                                        uint64_t address, const void *bytes, uint64_t size);
static enum driver_status code_unregister(struct driver *d, uint64_t address);
static enum driver_status code_register_kernel(struct driver *d, uint32_t device, const char *name,
                                               uint64_t entry);
static enum driver_status host_copy_code(struct driver *d, uint32_t number, uint64_t address);

/* Makes the same GPUs known in another process. `pid`: that of a living process, or 0 for a new
 * one. */
static enum driver_status context_create(struct driver *d, uint32_t like, uint32_t pid,
                                         uint32_t *context);

static enum driver_status context_destroy(struct driver *d, uint32_t number);

#endif

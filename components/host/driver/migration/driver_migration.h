/* Managed pages: where they live, when they move, and what moves before it is needed. */
#ifndef HEDDLE_COMPONENTS_HOST_DRIVER_MIGRATION_DRIVER_MIGRATION_H
#define HEDDLE_COMPONENTS_HOST_DRIVER_MIGRATION_DRIVER_MIGRATION_H

#include "components/host/driver/driver_state.h"

/* Moving pages between GPUs. See driver_migration.c. */

static void migrate_init(struct driver *d);

/* Changes the page table as the request wants, at the end of a window. */
static void migrate_swap(struct driver *d);

static bool driver_work(struct driver *d);

/* Requests for pages, and copies of pages for reading. See driver_read_copies.c. */

static struct driver_page_request *migrate_first(const struct driver *d);
static struct driver_page_request *migrate_at(const struct driver *d, uint32_t i);

/* Adds a request; there is room. */
static void migrate_add(struct driver *d, const struct driver_page_request *r);

/* Adds a request before the others; there is room. */
static void migrate_add_first(struct driver *d, const struct driver_page_request *r);

/* Finds where the page is, if it can move. */
static bool migrate_find(const struct driver *d, const struct driver_page_request *r,
                         uint64_t *physical, uint64_t *flags);

/* The work that the request asks for, as things are now. */
static enum migrate_work migrate_work_of(const struct driver *d,
                                         const struct driver_page_request *r);

/* The copy that was made is one. At the end of a window. */
static void copies_enter(struct driver *d, const struct driver_page_request *r, uint64_t physical,
                         uint64_t flags);

/* Lets the copies of the page go; that of its writer becomes the page. At the end of a window. */
static void copies_leave(struct driver *d, const struct driver_page_request *r, uint64_t physical,
                         uint64_t flags);

/* True if the command must wait until read copies of the pages that it writes are gone. Asks for
 * their end; `requests`: not all of it had been asked for. */
static bool copies_awaited(struct driver *d, const struct driver_command *k, bool *requests);

/* Managed pages in the memory of GPUs, in the order in which they leave. See
 * driver_residence.c. */

static void residence_init(struct driver *d);

/* The page has come to `physical`, in the memory of a GPU, as the youngest. */
static void residence_came(struct driver *d, uint32_t pid, uint64_t address, uint64_t physical);

/* No managed page is at `physical` any more, which may be the host's memory. */
static void residence_went(struct driver *d, uint64_t physical);

/* Managed pages of [address, address + size) are not there any more, since they are to be freed. */
static void residence_free(struct driver *d, uint32_t pid, uint64_t address, uint64_t size);

/* A fault on the page has come from the GPU. */
static void residence_faulted(struct driver *d, uint32_t gpu, uint32_t pid, uint64_t address);

/* True if the page at `physical` has come to its GPU in the pause that is under way. */
static bool residence_is_new(const struct driver *d, uint64_t physical);

/* Puts requests before the others that send pages of the GPU to the host's memory. False: no
 * page can go. */
static bool residence_evict(struct driver *d, uint32_t gpu);

/* Pages that come before an access waits for them, and what the program says about its pages. See
 * driver_prefetch.c. */

/* The page of request `r`, for which an access waits, has come: asks for those that the prefetch
 * policy wants with it. */
static void prefetch_neighbours(struct driver *d, const struct driver_page_request *r);

#endif

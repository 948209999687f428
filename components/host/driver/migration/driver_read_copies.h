/* Questions for pages, and copies of pages for reading. See driver_read_copies.c. */
#ifndef HEDDLE_DRIVER_READ_COPIES_H
#define HEDDLE_DRIVER_READ_COPIES_H

#include "components/host/driver/driver_state.h"

static struct driver_page_request *migrate_first(const struct driver *d);
static struct driver_page_request *migrate_at(const struct driver *d, uint32_t i);

/* Adds a question; there is room. */
static void migrate_add(struct driver *d, const struct driver_page_request *t);

/* Adds a question in front of the others; there is room. */
static void migrate_add_first(struct driver *d, const struct driver_page_request *t);

/* Finds where the page is, if it can move. */
static bool migrate_find(const struct driver *d, const struct driver_page_request *t,
                         uint64_t *physical, uint64_t *flags);

/* The work that the question asks for, as things are now. */
static enum migrate_work migrate_work_of(const struct driver *d,
                                         const struct driver_page_request *t);

/* The copy that was made is one. At the end of a window. */
static void copies_enter(struct driver *d, const struct driver_page_request *t, uint64_t physical,
                         uint64_t flags);

/* Lets the copies of the page go; that of its writer becomes the page. At the end of a window. */
static void copies_leave(struct driver *d, const struct driver_page_request *t, uint64_t physical,
                         uint64_t flags);

/* Must the command wait for copies of what it writes to go? Asks for that; `asked`: something new.
 */
static bool copies_awaited(struct driver *d, const struct driver_command *k, bool *asked);

#endif

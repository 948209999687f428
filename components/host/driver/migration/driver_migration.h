/* Moving pages between GPUs. See driver_migration.c. */
#ifndef HEDDLE_DRIVER_MIGRATION_H
#define HEDDLE_DRIVER_MIGRATION_H

#include "components/host/driver/driver_state.h"

static void migrate_init(struct driver *d);

/* Changes the page table as the question wants, at the end of a window. */
static void migrate_swap(struct driver *d);

static bool driver_work(struct driver *d);

#endif

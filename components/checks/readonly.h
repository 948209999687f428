/* `--check readonly`: stores to what a kernel may only read; see readonly.c. */
#ifndef HEDDLE_COMPONENTS_CHECKS_READONLY_H
#define HEDDLE_COMPONENTS_CHECKS_READONLY_H

#include "check_place.h"

/* The lanes of `mask` store so many bytes at global addresses; of one that is no lane's
 * (FINDING_LANE_NONE) the first address counts. */
void check_stores(struct check_place place, const uint64_t *address, uint64_t mask, uint32_t bytes);

#endif

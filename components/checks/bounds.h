/* The checks of LDS accesses and of stores to what may only be read; see bounds.c. */
#ifndef HEDDLE_CHECKS_BOUNDS_H
#define HEDDLE_CHECKS_BOUNDS_H

#include "checks.h"

extern const struct check check_lds, check_readonly;

#endif

/* The check of races of wavefronts; see races.c. */
#ifndef HEDDLE_CHECKS_RACES_H
#define HEDDLE_CHECKS_RACES_H

#include "command_order.h"
#include "components/checks/checks.h"

extern const struct check check_races;

#endif

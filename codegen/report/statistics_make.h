/* Statistics of a part of a run, made as JSON in the form of a statistics file, so that the rules
 * of measures (measure.h) are the same for both. */
#ifndef HEDDLE_CODEGEN_STATISTICS_MAKE_H
#define HEDDLE_CODEGEN_STATISTICS_MAKE_H

#include <stdint.h>

#include <jansson.h>

#include "dsl/model.h"

/* Cycles of a clock in so much time. */
uint64_t statistics_cycles(const struct model *model, uint32_t domain, uint64_t time_ps);
/* Time and clocks, and no counters. A new object. */
json_t *statistics_make(const struct model *model, uint64_t time_ps);
/* The object that is called `key`, made when there is none. Borrowed from `object`. */
json_t *statistics_below(json_t *object, const char *key);

#endif

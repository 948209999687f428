/* Estimates in the statistics, as members of the object that is open: `cycles` and the half of its
 * interval; under `memory`, the same of the bytes that are read and written. */
#ifndef HEDDLE_COMPONENTS_SAMPLING_ESTIMATE_WRITE_H
#define HEDDLE_COMPONENTS_SAMPLING_ESTIMATE_WRITE_H

#include "runtime/observe/json.h"

#include "stratified_sampler.h"

/* By quantity: of a group of launches, or of all. */
void estimate_write(struct json *j, const struct sampler_estimate e[SAMPLER_QUANTITIES]);
/* The estimate of a launch that was simulated in part. */
void estimate_write_cut(struct json *j, const struct cut_estimate e[SAMPLER_QUANTITIES]);

#endif

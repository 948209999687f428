/* Values of the model as a person writes them: with the largest unit that divides them. Used by
 * every view. */
#ifndef HEDDLE_CODEGEN_VIEWS_PARAMS_VALUE_H
#define HEDDLE_CODEGEN_VIEWS_PARAMS_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/region.h"
#include "dsl/model.h"

#define PARAMS_VALUE_MAX 64

/* "128KiB", "4cy", "1GHz", "140ns", "32GB/s", "64B/cy", "back", "true", "7". Uses `buffer`
 * (PARAMS_VALUE_MAX bytes) or returns a string of the model. */
const char *params_value_text(const struct model_value *value, char *buffer);

/* Text of bare numbers, as params_value_text() writes values. */
const char *params_bytes_text(uint64_t bytes, char *buffer);
const char *params_bandwidth_text(uint64_t bytes_per_s, char *buffer); /* 0: "unlimited" */
const char *params_time_text(uint64_t picoseconds, char *buffer);
const char *params_hz_text(uint64_t hz, char *buffer);

/* The type as it is written in a description: "bytes", "B/cy", "enum { back, through }" or the
 * enum's name. */
const char *params_dimension_name(enum model_dimension dimension);
/* "default", "body", "override", "let". */
const char *params_source_name(enum model_value_source source);

/* "gpu.sa[3].cu[1]" -> "gpu.sa[*].cu[*]". */
const char *params_collapse(struct region *region, const char *path);

bool params_value_equal(const struct model_value *a, const struct model_value *b);

/* Parameter `index` in all of `instances` (of one type): its value, or "16KiB .. 64KiB" when they
 * differ. `buffer` holds 2 * PARAMS_VALUE_MAX + 8 bytes. */
const char *params_group_text(const struct model_instance *const *instances, uint32_t count,
                              uint32_t index, char *buffer);

#endif

/* Quantities: numbers with a dimension.
 *
 * A quantity is an integer in the base unit of its dimension: bytes, cycles, hertz, picoseconds,
 * bytes a second, bytes a cycle; plain counts have none. The list of units is closed, and a number
 * with its unit is one token. */
#ifndef HEDDLE_DSL_QUANTITY_H
#define HEDDLE_DSL_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/region.h"

#include "model.h"

enum quantity_problem {
    QUANTITY_FINE,
    QUANTITY_UNKNOWN_UNIT, /* no such unit */
    QUANTITY_TOO_LARGE,    /* does not fit 63 bits */
    QUANTITY_NOT_WHOLE,    /* 1.5B: not an integer in the base unit */
    QUANTITY_MALFORMED,
};

/* `unit` (of `length` bytes) is in the closed list. */
bool quantity_unit_exists(const char *unit, size_t length);
/* Reads "64KiB", "1_000", "0x4000", "1.5GHz". */
enum quantity_problem quantity_parse(const char *text, size_t length, int64_t *value,
                                     enum model_dimension *dimension);
/* Offset of the unit in a number token. */
size_t quantity_digits(const char *text, size_t length);
/* The shortest exact spelling: 65536 bytes are "64KiB". */
const char *quantity_format(struct region *region, int64_t value, enum model_dimension dimension);
/* "bytes", "a plain number": as messages call it. */
const char *quantity_dimension_name(enum model_dimension dimension);
/* An example unit for help texts: "B", "cy"; "" for plain numbers. */
const char *quantity_example_unit(enum model_dimension dimension);
/* Type names of the language: "int", "bytes", "B/cy"... False when there is none. */
bool quantity_type_named(const char *name, enum model_dimension *dimension);
const char *const *quantity_type_names(size_t *count);
/* The `i`-th unit, from 0; NULL after the last. */
const char *quantity_unit_name(size_t i);

/* Products and quotients: false when the result has no dimension of its own. */
bool quantity_multiply(enum model_dimension a, enum model_dimension b,
                       enum model_dimension *result);
bool quantity_divide(enum model_dimension a, enum model_dimension b, enum model_dimension *result);
/* True if values of this dimension can be added and compared by size. */
bool quantity_is_ordered(enum model_dimension dimension);

#endif

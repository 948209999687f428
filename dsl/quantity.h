/* Dimensions and units.
 *
 * A quantity is an integer in the base unit of its dimension: bytes, cycles, hertz, picoseconds,
 * bytes a second, bytes a cycle; plain counts have none. The list of units is closed, and a number
 * with its unit is one token. */
#ifndef HEDDLE_DSL_QUANTITY_H
#define HEDDLE_DSL_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dsl/arena.h"
#include "dsl/model.h"

enum unit_problem {
    UNIT_FINE,
    UNIT_UNKNOWN,   /* no such unit */
    UNIT_TOO_LARGE, /* does not fit 63 bits */
    UNIT_NOT_WHOLE, /* 1.5B: not an integer in the base unit */
    UNIT_MALFORMED,
};

/* `unit` (of `length` bytes) is in the closed list. */
bool unit_exists(const char *unit, size_t length);
/* Reads "64KiB", "1_000", "0x4000", "1.5GHz". */
enum unit_problem unit_parse(const char *text, size_t length, int64_t *value,
                             enum model_dimension *dimension);
/* Where the unit begins in a number token. */
size_t unit_digits(const char *text, size_t length);
/* The shortest exact spelling: 65536 bytes are "64KiB". */
const char *unit_format(struct arena *arena, int64_t value, enum model_dimension dimension);
/* "bytes", "a plain number": as messages call it. */
const char *unit_dimension_name(enum model_dimension dimension);
/* An example unit for help texts: "B", "cy"; "" for plain numbers. */
const char *unit_example(enum model_dimension dimension);
/* Type names of the language: "int", "bytes", "B/cy"... False when there is none. */
bool unit_type_named(const char *name, enum model_dimension *dimension);
const char *const *unit_type_names(size_t *count);
const char *const *unit_names(size_t *count);

/* Products and quotients: false when the result has no dimension of its own. */
bool unit_multiply(enum model_dimension a, enum model_dimension b, enum model_dimension *result);
bool unit_divide(enum model_dimension a, enum model_dimension b, enum model_dimension *result);
/* Whether values of this dimension can be added and compared by size. */
bool unit_is_quantity(enum model_dimension dimension);

#endif

/* Values out of a statistics file (`heddle run --stats`) that is read as JSON. What is not there
 * counts as 0. */
#ifndef HEDDLE_CODEGEN_STATISTICS_H
#define HEDDLE_CODEGEN_STATISTICS_H

#include <stdint.h>

#include <jansson.h>

uint64_t statistics_number(json_t *object, const char *key);

#endif

/* Values out of a statistics file (`heddle run --stats`) that is read as JSON. What is not there
 * counts as 0. */
#ifndef HEDDLE_CODEGEN_STATISTICS_H
#define HEDDLE_CODEGEN_STATISTICS_H

#include <stdint.h>

#include <jansson.h>

/* The record of launch `number`, counted from 1; NULL: there is none. Borrowed from `root`. */
json_t *statistics_launch(json_t *root, uint64_t number);
uint64_t statistics_number(json_t *object, const char *key);
/* CPU seconds of the simulating process. */
double statistics_cpu_seconds(json_t *root);

#endif

/* What was estimated in a run that simulated only a part, as text. */
#ifndef HEDDLE_CODEGEN_SAMPLE_PRINT_H
#define HEDDLE_CODEGEN_SAMPLE_PRINT_H

#include <stdio.h>

#include <jansson.h>

/* The section `sample` of a run's statistics: groups of launches, launches in parts, and the sum.
 */
void sample_print(FILE *out, json_t *run);

#endif

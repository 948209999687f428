/* The launches that there were, for a list of --kernels whose elements meet none: a list that
 * chooses nothing would otherwise look like a run in which nothing took time. */
#ifndef HEDDLE_COMPONENTS_SAMPLING_LAUNCH_CENSUS_H
#define HEDDLE_COMPONENTS_SAMPLING_LAUNCH_CENSUS_H

#include <stdbool.h>
#include <stdint.h>

struct sampling;

/* A run begins. */
void census_open(void);
/* The program has asked for launch `number`; only while launches are chosen. In order. */
void census_note(const struct sampling *s, uint64_t number, const char *name, const char *symbol);
/* At the end: elements of the list that have chosen none, and `auto` if there was nothing, are
 * named on standard error, with the kernels there were. False: none at all was chosen. A list may
 * be meant for several programs, so one element is enough. */
bool census_close(const struct sampling *s);

#endif

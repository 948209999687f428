/* Rings between two ranks: what crosses them at the end of a window; see cut.c.
 *
 * Life cycle: cut_open() when the instances are initialised, with several ranks. Then, between two
 * windows: cut_tell(), an exchange (rank.h), cut_take() for each of the others. */
#ifndef HEDDLE_RUNTIME_CUT_H
#define HEDDLE_RUNTIME_CUT_H

#include <stdbool.h>
#include <stdint.h>

struct platform_table;

/* false: the platform has something that cannot be cut; the reason was said, at rank 0. */
bool cut_open(const struct platform_table *table);
/* Tells the other ranks which messages were sent to them and which slots were freed. Lowers
 * `arrival_ps` of each rank to the time of the first of what it is told. */
void cut_tell(uint64_t *arrival_ps);
/* Takes in what `from` has told. The clocks of all shards stand before the end of the window. */
void cut_take(uint32_t from);

#endif

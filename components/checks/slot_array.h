/* Arrays of checks, by numbers of slots: they grow and are never given back. */
#ifndef HEDDLE_CHECKS_SLOT_ARRAY_H
#define HEDDLE_CHECKS_SLOT_ARRAY_H

#include <stddef.h>
#include <stdint.h>

/* `old`, an array of *room elements of `size` bytes, or a larger one in its place that has an
 * element `index`; what is new is zero. Ends the run when there is no memory. */
void *slot_array_grow(void *old, uint64_t *room, uint64_t index, size_t size);

#endif

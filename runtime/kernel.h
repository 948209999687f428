/* Kernels in the statistics: the command processor says when one begins and ends, and what it
 * amounted to.
 *
 * Records and the components' statistics of a kernel (the difference of two snapshots) are taken at
 * the end of the edge of the call, so that they do not depend on the order of ticks. Kernels may
 * overlap. */
#ifndef HEDDLE_RUNTIME_KERNEL_H
#define HEDDLE_RUNTIME_KERNEL_H

#include "engine.h"

/* From a tick of `c`, whose clock counts the kernel's cycles. `name` is copied. Returns the handle.
 */
uint32_t kernel_begin(const struct component *c, const char *name, uint32_t gpu);

/* Adds to the kernel's `work_groups` and `wavefront_instructions`. Before kernel_end(). */
void kernel_count(uint32_t kernel, uint64_t work_groups, uint64_t wavefront_instructions);

void kernel_end(const struct component *c, uint32_t kernel);

#endif

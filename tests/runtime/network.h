/* A platform of probes that talk at random, over wires, links, and shared wires, in three
 * clock domains: the same for the same seed. For tests that compare whole runs. */
#ifndef HEDDLE_TESTS_RUNTIME_NETWORK_H
#define HEDDLE_TESTS_RUNTIME_NETWORK_H

#include "probe.h"

const struct platform_table *network_describe(uint64_t seed);

/* The same kind of platform in `partitions` partitions besides the main one, with at least `least`
 * cycles of the slowest clock between two of them. */
const struct platform_table *network_describe_cut(uint64_t seed, uint32_t partitions,
                                                  uint32_t least);

#endif

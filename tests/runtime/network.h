/* A platform of probes that talk at random, over wires, links and a bus, in three clock domains:
 * the same for the same seed. For tests that compare whole runs. */
#ifndef HEDDLE_TESTS_RUNTIME_NETWORK_H
#define HEDDLE_TESTS_RUNTIME_NETWORK_H

#include "tests/runtime/probe.h"

const struct platform_table *network_describe(uint64_t seed);

#endif

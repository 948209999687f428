/* Loads by which a wavefront waits: a loop that does nothing else with memory, and whose address
 * stays. Where instructions do not say which loads are atomic, these are. Pure. */
#ifndef HEDDLE_COMPONENTS_CHECKS_RACES_SPINS_H
#define HEDDLE_COMPONENTS_CHECKS_RACES_SPINS_H

#include <stdbool.h>
#include <stdint.h>

#include "components/amd/isa/isa.h"

/* Code of `size` bytes, where it is executed from `address`. */
struct spin_code {
    const uint8_t *bytes;
    uint64_t address, size;
};

/* True if the load at `pc` is one of these. */
bool spins_at(enum isa_target target, const struct spin_code *code, uint64_t pc);

#endif

/* Ends of LDS instructions; see cu_local_memory.c. */
#ifndef HEDDLE_COMPUTE_UNIT_CU_LOCAL_MEMORY_H
#define HEDDLE_COMPUTE_UNIT_CU_LOCAL_MEMORY_H

#include "compute_unit_state.h"

struct cu_lds_end {
    uint64_t cycle;
    uint16_t wave;
};

static inline uint64_t lds_conflicts_until(const struct compute_unit *c, uint64_t now);
static void lds_start(struct compute_unit *c, unsigned wave, const struct isa_inst *inst,
                      const uint32_t *address, uint64_t active, uint64_t now);
static void lds_finish(struct compute_unit *c, uint64_t now);

#endif

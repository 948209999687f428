/* What a simulated program must not do; see cu_fault.c. */
#ifndef HEDDLE_COMPUTE_UNIT_CU_FAULT_H
#define HEDDLE_COMPUTE_UNIT_CU_FAULT_H

#include "compute_unit_state.h"

static void cu_fault(struct compute_unit *c, unsigned wave, const struct isa_inst *inst,
                     uint64_t pc, unsigned lane, const char *what);
static bool bounds_hold(struct compute_unit *c, unsigned wave, uint64_t start, uint64_t end);
static void bounds_fault(struct compute_unit *c, unsigned wave, const struct isa_inst *inst,
                         uint64_t pc, unsigned lane, const char *access, unsigned bytes,
                         uint64_t address);

#endif

/* Reports of faults of the simulated program, in the same words in timing and in functional
 * mode. */
#ifndef HEDDLE_COMPONENTS_AMD_EXECUTE_WORK_FAULT_H
#define HEDDLE_COMPONENTS_AMD_EXECUTE_WORK_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "components/amd/isa/isa.h"
#include "components/memory/page_table/program_table.h"

enum { WORK_FAULT_BYTES = 1024, WORK_FAULT_CAUSE_BYTES = 320 };
#define WORK_LANE_NONE UINT32_MAX /* the wavefront as a whole */

/* The kernel, instruction and lanes of a fault. */
struct work_fault_place {
    const char *kernel;
    const struct isa_inst *inst; /* NULL: the instruction is not known */
    uint64_t pc;
    uint32_t group[3];
    unsigned wavefront; /* in its work-group */
    unsigned lane;      /* or WORK_LANE_NONE */
};

void work_fault_text(const struct work_fault_place *p, const char *cause, char *text, size_t size);

/* An access that is not allowed. */
struct work_fault_access {
    const char *name; /* "load", "scalar store", ... */
    unsigned bytes;
    uint64_t address;
};

void work_fault_bounds(const struct program_table *program, uint32_t pid,
                       const struct work_fault_access *access, char *cause, size_t size);

void work_fault_fetch(const struct program_table *program, uint64_t pc, char *cause, size_t size);

/* `is_known`: an instruction of the target whose semantics are missing. */
void work_fault_decode(enum isa_target target, uint32_t word, bool is_known, char *cause,
                       size_t size);

/* The reason why isa_execute() refused, or the trap that ends a kernel. */
const char *work_fault_status(enum isa_status status);

/* After ISA_TRAPPED: only trap 2 (abort, failed assertion) ends a kernel; 3 is a breakpoint. */
static inline bool work_trap_is_fatal(const struct isa_wave *wave)
{
    return wave->trapped == 2 + 1;
}

#endif

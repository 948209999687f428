/* Cycles that the banks of the LDS take for 32 lanes, if vectors of the host count them faster than
 * a loop over the lanes. Variants as in isa_valu.h. */
#ifndef HEDDLE_COMPONENTS_AMD_ISA_EXECUTE_ISA_LDS_CONFLICTS_H
#define HEDDLE_COMPONENTS_AMD_ISA_EXECUTE_ISA_LDS_CONFLICTS_H

#include <stdint.h>

enum { ISA_LDS_BANKS = 32 };

/* The most different dwords of a bank that the active ones of 32 lanes request, one at each lane's
 * address. 0: the current variant has no such vectors. */
typedef unsigned isa_conflicts_function(const uint32_t *address, uint32_t active);
isa_conflicts_function isa_lds_conflicts;
isa_conflicts_function isa_lds_conflicts_v2, isa_lds_conflicts_v3;

#endif

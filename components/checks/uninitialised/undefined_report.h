/* Reports of values that were never written, for AMD's wavefronts and for warps of PTX. Each
 * follows its registers in its own way, and keeps for each value the instruction that has read it.
 */
#ifndef HEDDLE_COMPONENTS_CHECKS_UNINITIALISED_UNDEFINED_REPORT_H
#define HEDDLE_COMPONENTS_CHECKS_UNINITIALISED_UNDEFINED_REPORT_H

#include "components/checks/check_place.h"

/* A read of memory that nothing has written; reports name the address. */
void undefined_note(uint32_t instruction, enum finding_space space, uint64_t address);
bool undefined_is_noted(uint32_t instruction);
/* Such a value is used. `read`: where it was read; NULL: it was in a register from the start. */
void undefined_report(enum finding_kind kind, const struct check_place *use,
                      const struct check_place *read);

#endif

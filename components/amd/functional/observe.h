/* Hands the instructions that wavefronts execute to the recorder
 * (components/statistics/execution_observer.h). Private to components/amd/functional; called while
 * there is a recorder. `wave` is unique among the wavefronts that have begun and not ended. */
#ifndef HEDDLE_COMPONENTS_AMD_FUNCTIONAL_OBSERVE_H
#define HEDDLE_COMPONENTS_AMD_FUNCTIONAL_OBSERVE_H

#include "components/amd/isa/isa.h"
#include "components/statistics/execution_observer.h"

void observe_begin(uint32_t wave, const struct observed_wavefront *what);
/* The instruction is about to be executed; registers stay as they are. */
void observe_step(uint32_t wave, struct isa_context *context, const struct isa_wave *scalars,
                  const struct isa_inst *inst);
void observe_end(uint32_t wave);

/* Works out a vector instruction's accesses before it is executed; registers stay as they are. */
bool observe_addresses(struct isa_context *context, const struct isa_wave *scalars,
                       const struct isa_inst *inst, struct isa_memory *access);

#endif

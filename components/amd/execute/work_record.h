/* Hands the observer (components/statistics/execution_observer.h) the instruction that a wavefront
 * is about to execute. The compute unit and the functional executor call these functions while
 * there is an observer; the functions are out of line, so that other runs do not pay for them. */
#ifndef HEDDLE_COMPONENTS_AMD_EXECUTE_WORK_RECORD_H
#define HEDDLE_COMPONENTS_AMD_EXECUTE_WORK_RECORD_H

#include "components/amd/isa/isa.h"
#include "components/statistics/execution_observer.h"

/* An instruction that accesses no memory, or only the LDS: there the address is what its register
 * holds, for all active lanes. */
void work_record_plain(uint32_t unit, uint32_t wave, const struct isa_wave *s,
                       const struct isa_inst *inst, const struct isa_context *context);

/* Vector memory. Flat lanes that fall into the LDS keep an address in its aperture. */
void work_record_vector(uint32_t unit, uint32_t wave, const struct isa_wave *s,
                        const struct isa_inst *inst, const struct isa_context *context,
                        const struct isa_memory *access);

/* Scalar memory: one address, written as that of lane 0. */
void work_record_scalar(uint32_t unit, uint32_t wave, const struct isa_wave *s,
                        const struct isa_inst *inst, const struct isa_context *context,
                        const struct isa_scalar *access);

#endif

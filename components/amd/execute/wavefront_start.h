/* Initial state of a wavefront: its scalar and vector registers, and the apertures that it sees
 * beside the device's memory.
 *
 * Pure functions on a placement, for the compute unit and the functional executor. The order of the
 * initial scalar registers is that of the AMDGPU ABI (LLVM, "User Guide for AMDGPU Backend",
 * Initial Kernel Execution State). */
#ifndef HEDDLE_COMPONENTS_AMD_EXECUTE_WAVEFRONT_START_H
#define HEDDLE_COMPONENTS_AMD_EXECUTE_WAVEFRONT_START_H

#include "components/amd/isa/isa.h"
#include "components/protocols/work/work_placement.h"

/* All registers of a wavefront that is about to run its first instruction. */
void wavefront_start(enum isa_target target, struct isa_wave *s, uint32_t *vgpr,
                     const struct work_placement *p, const uint32_t id[3], unsigned number);

/* Sets the apertures, where flat accesses leave the device's memory. */
static inline void wavefront_set_apertures(enum isa_target target, uint64_t scratch,
                                           struct isa_context *context)
{
    context->shared_aperture = (uint64_t)isa_traits[target].shared_aperture << 32;
    context->private_aperture = (uint64_t)isa_traits[target].private_aperture << 32;
    context->scratch_base = scratch;
}

#endif

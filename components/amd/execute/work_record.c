/* Instructions on their way to the observer. Cold: only runs that are observed come here. */
#include "work_record.h"

__attribute__((cold)) void work_record_plain(uint32_t unit, uint32_t wave, const struct isa_wave *s,
                                             const struct isa_inst *inst,
                                             const struct isa_context *context)
{
    struct observed_instruction step = {.pc = s->pc,
                                        .mask = isa_wave_exec(s),
                                        .code_bytes = inst->size,
                                        .inst = inst,
                                        .scalars = s,
                                        .context = context};
    uint64_t address[ISA_LANES];
    if (inst->unit == ISA_UNIT_LDS && inst->src[0] >= ISA_VGPR && inst->src[0] < ISA_VGPR + 256) {
        const uint32_t *held = context->vgpr + (size_t)(inst->src[0] - ISA_VGPR) * ISA_LANES;
        for (unsigned lane = 0; lane < ISA_LANES; lane++)
            address[lane] = held[lane];
        step.address = address;
    }
    execution_observer->step(unit, wave, &step);
}

__attribute__((cold)) void work_record_vector(uint32_t unit, uint32_t wave,
                                              const struct isa_wave *s, const struct isa_inst *inst,
                                              const struct isa_context *context,
                                              const struct isa_memory *access)
{
    struct observed_instruction step = {.pc = s->pc,
                                        .code_bytes = inst->size,
                                        .inst = inst,
                                        .scalars = s,
                                        .context = context,
                                        .memory = access};
    uint64_t address[ISA_LANES];
    if (access->kind == ISA_MEMORY_CACHE_OP) {
        step.mask = isa_wave_exec(s);
        execution_observer->step(unit, wave, &step);
        return;
    }
    step.mask = access->mask | access->lds_mask;
    step.address = access->address;
    step.bytes = access->bytes;
    step.apart = access->swizzle_mask && access->bytes > 4 ? access->dword_stride : 0;
    if (access->lds_mask) {
        for (unsigned lane = 0; lane < ISA_LANES; lane++)
            address[lane] = access->address[lane]
                            | (access->lds_mask >> lane & 1 ? context->shared_aperture : 0);
        step.address = address;
    }
    execution_observer->step(unit, wave, &step);
}

__attribute__((cold)) void work_record_scalar(uint32_t unit, uint32_t wave,
                                              const struct isa_wave *s, const struct isa_inst *inst,
                                              const struct isa_context *context,
                                              const struct isa_scalar *access)
{
    struct observed_instruction step = {.pc = s->pc,
                                        .mask = isa_wave_exec(s),
                                        .code_bytes = inst->size,
                                        .inst = inst,
                                        .scalars = s,
                                        .context = context,
                                        .scalar = access};
    bool moves = access->kind != ISA_SCALAR_TIME && access->kind != ISA_SCALAR_CACHE_OP;
    if (moves && access->valid) {
        step.mask = 1;
        step.address = &access->address;
        step.bytes = 4u * access->valid;
    }
    execution_observer->step(unit, wave, &step);
}

/* Hands instructions and accesses to the recorder. Accesses are worked out here once more: the
 * executor does it in one go with moving the bytes. */
#include "observe.h"

#include <string.h>

#include "base/number.h"
#include "components/amd/execute/work_record.h"
#include "runtime/engine/engine.h"
#include "runtime/state/platform.h"

/* Behind all components of the platform. */
static uint32_t unit(void)
{
    return engine_base.platform->instance_count;
}

void observe_begin(uint32_t wave, const struct observed_wavefront *what)
{
    execution_observer->begin(unit(), wave, what);
}

void observe_end(uint32_t wave)
{
    execution_observer->end(unit(), wave);
}

/* Working out the addresses of a load clears the registers of lanes out of a buffer's range, which
 * may be those of the addresses; so they are put back. */
bool observe_addresses(struct isa_context *context, const struct isa_wave *scalars,
                       const struct isa_inst *inst, struct isa_memory *access)
{
    uint32_t saved[4 * ISA_LANES];
    uint32_t *to = NULL;
    size_t count = 0;
    if (inst->dst >= ISA_VGPR && inst->dst < ISA_VGPR + context->vgpr_count) {
        count = context->vgpr_count - (inst->dst - ISA_VGPR);
        count = min(count, 4) * ISA_LANES;
        to = context->vgpr + (size_t)(inst->dst - ISA_VGPR) * ISA_LANES;
        memcpy(saved, to, count * sizeof *to);
    }
    bool ok = isa_memory_addresses(context, scalars, inst, access) == ISA_OK;
    if (to)
        memcpy(to, saved, count * sizeof *to);
    return ok;
}

void observe_step(uint32_t wave, struct isa_context *context, const struct isa_wave *scalars,
                  const struct isa_inst *inst)
{
    struct isa_scalar scalar;
    struct isa_memory vector;
    if (inst->unit == ISA_UNIT_VMEM) {
        if (observe_addresses(context, scalars, inst, &vector))
            work_record_vector(unit(), wave, scalars, inst, context, &vector);
    } else if (inst->unit != ISA_UNIT_SMEM) {
        work_record_plain(unit(), wave, scalars, inst, context);
    } else if (isa_scalar_address(context, scalars, inst, &scalar) == ISA_OK) {
        work_record_scalar(unit(), wave, scalars, inst, context, &scalar);
    }
}

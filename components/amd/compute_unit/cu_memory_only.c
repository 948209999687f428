/* Work-groups whose memory instructions alone take time. They leave in caches and TLBs what the
 * launch would leave, at less cost (`--warmup memory:N`).
 *
 * Between two memory instructions, waits and barriers a wavefront executes everything at once. So
 * registers, addresses and data are those of the launch, and an access that depends on another
 * still waits for it. Arithmetic, LDS and branches take no time, so accesses of different
 * wavefronts meet in another order. Lines of code are fetched as always. */
#include "compute_unit.gen.h"

#include "compute_unit_internal.h"
#include "compute_unit_state.h"
#include "cu_fetch.h"

enum {
    MEMORY_ONLY_MAX = 1 << 14
}; /* instructions at once, so that a loop without memory takes time */

static bool memory_only_takes_time(const struct isa_inst *inst)
{
    return inst->unit == ISA_UNIT_VMEM || inst->unit == ISA_UNIT_SMEM
           || (inst->flags & (ISA_IS_ENDPGM | ISA_IS_WAITCNT | ISA_IS_BARRIER | ISA_IS_SYNC));
}

/* Executes up to the next instruction that takes time. False: the wavefront waits for its code, or
 * the run has failed. */
static bool wave_skip(struct compute_unit *c, struct cu_wave *w)
{
    struct isa_context context = cu_context(c, w);
    struct isa_wave *s = cu_scalars(c, w);
    for (unsigned i = 0; i < MEMORY_ONLY_MAX; i++) {
        struct decoded *d = &cu_decoded(c)[w->decoded];
        uint64_t pc = s->pc;
        if (memory_only_takes_time(&d->inst))
            break;
        enum isa_status status = isa_execute(&context, s, &d->inst);
        if (status != ISA_OK && !(status == ISA_TRAPPED && !work_trap_is_fatal(s))) {
            cu_fault(c, w, &d->inst, pc, UINT32_MAX, work_fault_status(status));
            return false;
        }
        d->count++;
        w->instructions++;
        c->io.stats.instructions++;
        c->retired++;
        if (!wave_decode(c, w))
            return false;
    }
    return true;
}

/* The counters of outstanding memory operations, vmcnt and lgkmcnt: when an s_waitcnt is satisfied,
 * and when an instruction waits because a counter can count no further.
 *
 * Memory instructions raise the counters where they issue (cu_vector_memory.c, cu_scalar_memory.c,
 * cu_local_memory.c) and lower them when they are over, followed by wave_check_counters(). The
 * wavefront of an s_waitcnt issues again one cycle after both are at most what it names. */
#include "compute_unit.gen.h"

#include "compute_unit_internal.h"
#include "compute_unit_state.h"

/* The largest vmcnt: 4 bits on gfx8, 6 on gfx9 (ISA manuals, s_waitcnt). */
static unsigned wave_most_vm(const struct compute_unit *c)
{
    return isa_traits[cu_target(c)].vmcnt_most;
}

/* True if the wavefront has as many operations outstanding as its counters can count. It then waits
 * for one of them. */
static bool wave_counters_are_full(struct compute_unit *c, struct cu_wave *w,
                                   const struct isa_inst *inst)
{
    if (!(inst->flags & (ISA_RAISES_VM | ISA_RAISES_LGKM)))
        return false;
    bool vm = (inst->flags & ISA_RAISES_VM) && w->vm >= wave_most_vm(c);
    bool lgkm = (inst->flags & ISA_RAISES_LGKM) && w->lgkm >= CU_LGKM_MAX;
    if (!vm && !lgkm)
        return false;
    w->limit_vm = vm ? (uint8_t)(wave_most_vm(c) - 1) : UINT8_MAX;
    w->limit_lgkm = lgkm ? CU_LGKM_MAX - 1 : UINT8_MAX;
    wave_begin_wait(c, w, component_now(&c->io.base), WORK_WAITING_COUNTER_FULL);
    w->state = WAVE_WAITCNT;
    return true;
}

/* The counter that keeps the wavefront at its s_waitcnt. */
static inline enum work_cycles_kind wave_counter(const struct cu_wave *w)
{
    if (w->vm > w->limit_vm)
        return WORK_WAITING_VMCNT;
    if (w->lgkm > w->lds + w->flat)
        return WORK_WAITING_LGKMCNT_SMEM;
    return w->flat ? WORK_WAITING_VMCNT : WORK_WAITING_LGKMCNT_LDS;
}

/* A counter went down: the wavefront issues again if it has waited for that. */
static inline void wave_check_counters(struct compute_unit *c, struct cu_wave *w, uint64_t now)
{
    if (w->state == WAVE_WAITCNT && w->vm <= w->limit_vm && w->lgkm <= w->limit_lgkm)
        wave_continue(c, w, now, now + 1);
    else if (w->state == WAVE_WAITCNT && w->time_kind != WORK_WAITING_COUNTER_FULL
             && w->time_kind != wave_counter(w))
        wave_begin_wait(c, w, now, wave_counter(w));
    else if (w->state == WAVE_ENDING && !w->vm && !w->lgkm)
        wave_end(c, w, now);
}

/* The wavefront has issued an s_waitcnt. */
static inline void wave_wait_counters(struct compute_unit *c, struct cu_wave *w,
                                      const struct isa_inst *inst, uint64_t now)
{
    w->limit_vm = inst->wait_vm;
    w->limit_lgkm = inst->wait_lgkm;
    w->state = WAVE_WAITCNT;
    w->time_kind = WORK_WAITING_VMCNT;
    wave_check_counters(c, w, now);
}

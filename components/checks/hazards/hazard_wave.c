/* Follows the counters and latest instructions of a wavefront, and finds what an instruction should
 * have waited for. */
#include "hazard_wave.h"

#include "base/number.h"

struct step_check {
    struct hazard_wave *wave;
    const struct isa_hazard_code *code;
    const struct hazard_step *step;
    hazard_reporter *report;
    void *context;
};

/* ---- what is not done ---- */

static void note_writes(struct hazard_wave *w, const struct hazard_pending *p)
{
    for (unsigned i = p->code < 128 ? p->code : p->code - 128u, end = i + p->dwords; i < end; i++)
        if (i < HAZARD_REGISTERS)
            w->writes[i / 64] |= UINT64_C(1) << i % 64;
}

/* Drops what is done, and finds the registers of the rest. */
static void pack(struct hazard_wave *w)
{
    uint32_t kept = 0;
    memset(w->writes, 0, sizeof w->writes);
    for (uint32_t i = 0; i < w->count; i++) {
        struct hazard_pending *p = &w->pending[i];
        if (!p->counts_vm && !p->counts_lgkm)
            continue;
        note_writes(w, p);
        if (kept != i)
            w->pending[kept] = *p;
        kept++;
    }
    w->count = kept;
}

/* A wait for `most` by one of the counters. */
static void wait_for(struct hazard_wave *w, bool vm, unsigned most)
{
    unsigned later = 0;
    for (uint32_t i = w->count; i-- > 0;) {
        struct hazard_pending *p = &w->pending[i];
        bool *counts = vm ? &p->counts_vm : &p->counts_lgkm;
        if (!*counts || (!p->is_in_order && most))
            continue;
        if (later++ >= most)
            *counts = false;
    }
}

static void wait_counters(struct hazard_wave *w, const struct isa_inst *inst)
{
    if (!w->count)
        return;
    if (inst->wait_vm != ISA_WAIT_NONE)
        wait_for(w, true, inst->wait_vm);
    if (inst->wait_lgkm != ISA_WAIT_NONE)
        wait_for(w, false, inst->wait_lgkm);
    pack(w);
}

/* A counter that is at its end lets no more be issued, so the oldest is done. */
static void make_room(struct hazard_wave *w, const struct isa_inst *inst, bool vm)
{
    enum { LGKM_MAX = 15 };
    wait_for(w, vm, (vm ? isa_traits[inst->target].vmcnt_most : LGKM_MAX) - 1u);
    pack(w);
    if (w->count < HAZARD_PENDING)
        return;
    w->pending[0].counts_vm = w->pending[0].counts_lgkm = false;
    pack(w);
}

static void issue_instruction(struct hazard_wave *w, const struct isa_hazard_code *code,
                              const struct hazard_step *step)
{
    const struct isa_inst *inst = &code->inst;
    bool flat = inst->flags & ISA_IS_FLAT, scalar = inst->unit == ISA_UNIT_SMEM;
    bool vm =
        flat ? step->reaches_memory || !step->reaches_lds : (inst->flags & ISA_RAISES_VM) != 0;
    bool lgkm = flat ? step->reaches_lds : (inst->flags & ISA_RAISES_LGKM) != 0;
    if (!vm && !lgkm)
        return;
    if (vm)
        make_room(w, inst, true);
    if (lgkm)
        make_room(w, inst, false);
    struct hazard_pending *p = &w->pending[w->count++];
    bool lds = inst->unit == ISA_UNIT_LDS && !(inst->flags & (ISA_IS_GDS | ISA_IS_SYNC));
    *p = (struct hazard_pending){.inst = *inst,
                                 .pc = step->pc,
                                 .lanes = scalar ? ~UINT64_C(0) : step->exec,
                                 .counts_vm = vm,
                                 .counts_lgkm = lgkm,
                                 .is_in_order = vm ? !lgkm : lds || flat};
    for (unsigned i = 0; i < code->count; i++)
        if (code->uses[i].written && code->uses[i].place == ISA_USE_DESTINATION) {
            p->code = code->uses[i].code;
            p->dwords = code->uses[i].dwords;
        }
    note_writes(w, p);
}

/* ---- what needs it ---- */

static void report_pending(const struct step_check *t, struct hazard_pending *p,
                           enum hazard_kind kind, unsigned code)
{
    const struct hazard hazard = {.kind = kind,
                                  .first = &p->inst,
                                  .second = &t->code->inst,
                                  .first_pc = p->pc,
                                  .second_pc = t->step->pc,
                                  .code = (uint16_t)code,
                                  .counts_vm = p->counts_vm,
                                  .counts_lgkm = p->counts_lgkm};
    t->report(t->context, &hazard);
}

static bool is_written_late(const struct hazard_wave *w, const struct isa_use *use)
{
    unsigned i = use->code < 128 ? use->code : use->code - 128u;
    for (unsigned d = 0; d < use->dwords && i + d < HAZARD_REGISTERS; d++)
        if (w->writes[(i + d) / 64] >> (i + d) % 64 & 1)
            return true;
    return false;
}

/* True if the two write in the order of issue. */
static bool comes_before(const struct hazard_pending *p, const struct step_check *t)
{
    const struct isa_inst *later = &t->code->inst;
    if (!p->is_in_order || ((later->flags & ISA_IS_FLAT) && t->step->reaches_lds))
        return false;
    return p->counts_vm ? later->unit == ISA_UNIT_VMEM : later->unit == ISA_UNIT_LDS;
}

static void check_use(const struct step_check *t, const struct isa_use *use)
{
    struct hazard_wave *w = t->wave;
    uint64_t lanes = t->code->reads_all_lanes ? ~UINT64_C(0) : t->step->exec;
    for (uint32_t i = 0; i < w->count; i++) {
        struct hazard_pending *p = &w->pending[i];
        bool meets = use->code < p->code + p->dwords && p->code < use->code + use->dwords;
        if (!meets || (isa_use_is_vector(use) && !(p->lanes & lanes))
            || (use->written && comes_before(p, t)))
            continue;
        report_pending(t, p, use->written ? HAZARD_EARLY_WRITE : HAZARD_EARLY_READ,
                       max(use->code, p->code));
        p->dwords = 0; /* once is enough */
    }
}

static void check_pending(const struct step_check *t)
{
    for (unsigned written = 0; written < 2; written++) /* reads first */
        for (unsigned i = 0; i < t->code->count; i++) {
            const struct isa_use *use = &t->code->uses[i];
            if (use->written == written && is_written_late(t->wave, use))
                check_use(t, use);
        }
}

/* Other wavefronts may read the LDS after a barrier. */
static void check_barrier(const struct step_check *t)
{
    for (uint32_t i = 0; i < t->wave->count && !t->step->is_alone; i++) {
        struct hazard_pending *p = &t->wave->pending[i];
        if (p->counts_lgkm && p->inst.unit != ISA_UNIT_SMEM && p->lanes
            && (p->inst.flags & (ISA_IS_STORE | ISA_IS_ATOMIC)))
            report_pending(t, p, HAZARD_EARLY_BARRIER, ISA_OPERAND_NONE);
    }
}

/* ---- wait states ---- */

static void check_past(const struct step_check *t)
{
    const struct hazard_wave *w = t->wave;
    uint64_t far = w->position < w->last_matrix + ISA_HAZARD_STATES_MAX ? ISA_HAZARD_STATES_MAX
                                                                        : ISA_HAZARD_STATES_USUAL;
    const struct hazard_past *last = &w->past[(w->past_count - 1) % HAZARD_PAST];
    for (uint32_t back = 1; back <= w->past_count && back < HAZARD_PAST; back++) {
        const struct hazard_past *p = &w->past[(w->past_count - back) % HAZARD_PAST];
        uint64_t present = w->position - p->position;
        unsigned code = ISA_OPERAND_NONE;
        if (present >= far)
            return;
        unsigned needed = isa_hazard_states(&p->code, &last->code, t->code, &code);
        if (needed <= present)
            continue;
        const struct hazard hazard = {.kind = HAZARD_WAIT_STATES,
                                      .first = &p->code.inst,
                                      .second = &t->code->inst,
                                      .first_pc = p->pc,
                                      .second_pc = t->step->pc,
                                      .code = (uint16_t)code,
                                      .needed = (uint8_t)needed,
                                      .present = (uint8_t)present};
        t->report(t->context, &hazard);
    }
}

static void note_past(struct hazard_wave *w, const struct isa_hazard_code *code, uint64_t pc)
{
    w->position += code->states;
    if (code->passes)
        w->last_matrix = w->position;
    if (code->as_first) {
        struct hazard_past *p = &w->past[w->past_count++ % HAZARD_PAST];
        p->code = *code;
        p->pc = pc;
        p->position = w->position;
    }
}

/* ---- the wavefront ---- */

void hazard_wave_begin(struct hazard_wave *w)
{
    memset(w->writes, 0, sizeof w->writes);
    w->count = w->past_count = 0;
    w->position = ISA_HAZARD_STATES_MAX;
    w->last_matrix = 0;
}

void hazard_wave_step(struct hazard_wave *w, const struct isa_hazard_code *code,
                      const struct hazard_step *step, hazard_reporter *report, void *context)
{
    const struct step_check t = {w, code, step, report, context};
    if (code->as_second)
        check_past(&t);
    if (w->count) {
        check_pending(&t);
        if (code->inst.flags & ISA_IS_BARRIER)
            check_barrier(&t);
    }
    if (code->inst.flags & ISA_IS_WAITCNT)
        wait_counters(w, &code->inst);
    else if (code->inst.flags & (ISA_RAISES_VM | ISA_RAISES_LGKM))
        issue_instruction(w, code, step);
    note_past(w, code, step->pc);
}

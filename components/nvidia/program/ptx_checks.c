/* Passes each step of a checked launch on to the checks that were asked for. Overruns of shared
 * memory are no finding: they end the launch, as on a card. */
#include "ptx_checks.h"

#include "base/number.h"
#include "components/checks/races/command_order.h"
#include "components/checks/readonly.h"

#include "ptx_check_block.h"

enum { GPUS = 1024 };

static uint32_t launch_counts[GPUS];

static const struct {
    enum finding_check check;
    enum { UNCHECKED, OBSERVED, FOLLOWED } how;
} checks[] = {
#define CHECKED(id, wavefronts, warps) {FINDING_CHECK_##id, warps},
#include "components/checks/checks.def"
#undef CHECKED
};

void ptx_checks_begin(struct ptx_call *call, const struct ptx_order *order)
{
    launch_counts[order->gpu % GPUS]++;
    for (size_t i = 0; i < ARRAY_COUNT(checks); i++) {
        if (!finding_is_wanted(checks[i].check))
            continue;
        if (checks[i].how == OBSERVED)
            call->launch.observe = ptx_checks_step;
        else if (checks[i].how == FOLLOWED)
            call->launch.undefined = &ptx_uninitialised;
    }
}

bool ptx_check_accesses(const struct ptx_instruction *inst)
{
    return inst->opcode == PTX_OP_LD || inst->opcode == PTX_OP_LDU || inst->opcode == PTX_OP_ST
           || inst->opcode == PTX_OP_ATOM || inst->opcode == PTX_OP_RED;
}

void ptx_checks_step(void *call, const struct warp_step *s)
{
    const struct ptx_call *c = call;
    struct ptx_check_block *b =
        ptx_check_block(c, s->block, check_command_of(c->gpu, launch_counts[c->gpu % GPUS] - 1));
    const struct ptx_function *f = ptx_function_of(c->code->module, s->instruction);
    const struct ptx_instruction *inst = &f->instructions[s->instruction - f->first_instruction];
    bool accesses = ptx_check_accesses(inst);
    ptx_check_pass_barrier(b, s, accesses);
    if (finding_is_wanted(FINDING_CHECK_RACES))
        ptx_races_step(b, s, inst);
    bool writes = accesses && inst->opcode != PTX_OP_LD && inst->opcode != PTX_OP_LDU;
    if (writes && s->addresses && s->space == PTX_SPACE_GLOBAL
        && finding_is_wanted(FINDING_CHECK_READONLY))
        check_stores((struct check_place){&b->identity, s->warp, s->instruction, 0}, s->addresses,
                     s->active, s->bytes);
    if (inst->opcode == PTX_OP_BAR || inst->opcode == PTX_OP_BARRIER)
        ptx_check_arrive(b, s, inst);
    else if (inst->opcode == PTX_OP_EXIT || (inst->opcode == PTX_OP_RET && f->is_entry))
        ptx_check_exit(b, s);
}

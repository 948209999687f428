/* See ptx_checks.h. Overruns of shared memory are no finding: they end the launch, as on a card. */
#include "ptx_checks.h"

#include <stdio.h>

#include "base/number.h"
#include "components/checks/check_code.h"
#include "components/checks/races/command_order.h"
#include "components/protocols/page_table/program_table.h"
#include "ptx_races.h"
#include "ptx_uninitialised.h"

enum { GPUS = 1024 };

static uint32_t begun[GPUS];

static const enum finding_check observed[] = {FINDING_CHECK_RACES, FINDING_CHECK_READONLY,
                                              FINDING_CHECK_BARRIERS};

void ptx_checks_begin(struct ptx_call *call, const struct ptx_order *order)
{
    begun[order->gpu % GPUS]++;
    for (size_t i = 0; i < ARRAY_COUNT(observed); i++)
        if (finding_wanted(observed[i]))
            call->launch.observe = ptx_checks_step;
    if (finding_wanted(FINDING_CHECK_UNINITIALISED))
        call->launch.undefined = &ptx_uninitialised;
}

/* ---- memory that is only read ---- */

static const struct ptx_variable *constant_at(const struct ptx_code *code, uint64_t address)
{
    const struct ptx_module *m = code->module;
    for (uint32_t i = 0; i < m->variable_count; i++)
        if (m->variables[i].space == PTX_SPACE_CONST
            && address - code->address - m->variables[i].offset < m->variables[i].bytes)
            return &m->variables[i];
    return NULL;
}

static void note_store(const struct ptx_past *past, const struct warp_step *s, unsigned lane)
{
    uint64_t address = s->addresses[lane];
    const struct ptx_variable *v = constant_at(past->code, address);
    const struct program_allocation *a = v ? NULL : program_find(past->program, address);
    const char *why = v                                  ? v->name
                      : a && a->use == PROGRAM_ARGUMENTS ? "a kernel's arguments"
                                                         : check_is_constant(address);
    if (!why
        || finding_seen(FINDING_READONLY_STORE,
                        warp_instruction_address(past->code->code, s->instruction), 0))
        return;
    struct finding f = {
        .kind = FINDING_READONLY_STORE, .places = 1, .space = FINDING_GLOBAL, .address = address};
    ptx_check_place(past, s->warp, s->instruction, lane, &f.place[0]);
    f.place[0].bytes = s->bytes;
    program_describe(past->program, address, f.memory, sizeof f.memory);
    snprintf(f.detail, sizeof f.detail, "what lies there: %s%s", why,
             v ? ", a variable in constant memory" : "");
    finding_report(&f);
}

static void step_readonly(const struct ptx_past *past, const struct warp_step *s,
                          const struct ptx_instruction *inst)
{
    bool reads = inst->opcode == PTX_OP_LD || inst->opcode == PTX_OP_LDU;
    uint64_t last = UINT64_MAX;
    if (reads || s->space != PTX_SPACE_GLOBAL)
        return;
    for (uint32_t rest = s->active; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        if (s->addresses[lane] / 16 != last)
            note_store(past, s, lane);
        last = s->addresses[lane] / 16;
    }
}

/* ---- each instruction ---- */

bool ptx_check_accesses(const struct ptx_instruction *inst)
{
    return inst->opcode == PTX_OP_LD || inst->opcode == PTX_OP_LDU || inst->opcode == PTX_OP_ST
           || inst->opcode == PTX_OP_ATOM || inst->opcode == PTX_OP_RED;
}

void ptx_checks_step(void *call, const struct warp_step *s)
{
    const struct ptx_call *c = call;
    struct ptx_check_block *b =
        ptx_check_block(c, s->block, check_command_of(c->gpu, begun[c->gpu % GPUS] - 1));
    const struct ptx_function *f = ptx_function_of(c->code->module, s->instruction);
    const struct ptx_instruction *inst = &f->instructions[s->instruction - f->first_instruction];
    bool accesses = ptx_check_accesses(inst);
    ptx_check_go_on(b, s, accesses);
    if (finding_wanted(FINDING_CHECK_RACES))
        ptx_races_step(c, b, s, inst);
    if (accesses && s->addresses && finding_wanted(FINDING_CHECK_READONLY))
        step_readonly(ptx_check_past(b->group), s, inst);
    if (inst->opcode == PTX_OP_BAR || inst->opcode == PTX_OP_BARRIER)
        ptx_check_arrive(b, s, inst);
    else if (inst->opcode == PTX_OP_EXIT || (inst->opcode == PTX_OP_RET && f->is_entry))
        ptx_check_exit(b, s);
}

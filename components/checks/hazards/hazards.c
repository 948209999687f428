/* Reports waits that are missing, which hazard_wave.h finds. What an instruction is for the rules
 * follows from its bytes, and is kept by address. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "components/checks/checks.h"

#include "hazard_wave.h"

enum { CODES = 1 << 12, CODE_STEP = 4, REGISTER_TEXT = 24 };

static const enum finding_kind kinds[] = {[HAZARD_EARLY_READ] = FINDING_EARLY_READ,
                                          [HAZARD_EARLY_WRITE] = FINDING_EARLY_WRITE,
                                          [HAZARD_WAIT_STATES] = FINDING_WAIT_STATES,
                                          [HAZARD_EARLY_BARRIER] = FINDING_EARLY_BARRIER};

static struct isa_hazard_code codes[CODES];
static void *waves[CHECK_SLOTS]; /* struct hazard_wave */

static const struct isa_hazard_code *code_of(uint64_t pc, const struct isa_inst *inst)
{
    struct isa_hazard_code *code = &codes[pc / CODE_STEP % CODES];
    if (memcmp(&code->inst, inst, sizeof *inst) != 0)
        isa_hazard_make(inst, code);
    return code;
}

static void describe_hazard(const struct hazard *hazard, char *text, size_t size)
{
    char name[REGISTER_TEXT] = "";
    const char *counters = hazard->counts_vm ? "vmcnt" : "lgkmcnt";
    if (hazard->counts_vm && hazard->counts_lgkm)
        counters = "vmcnt and lgkmcnt";
    if (hazard->code != ISA_OPERAND_NONE)
        isa_format_register((enum isa_target)hazard->second->target, hazard->code, 1, name,
                            sizeof name);
    if (hazard->kind != HAZARD_WAIT_STATES)
        snprintf(text, size, "%s%sno s_waitcnt since has proved by %s that the first is done", name,
                 name[0] ? ": " : "", counters);
    else
        snprintf(text, size, "%s%s%s needs %u wait state%s between the two, and there %s %u", name,
                 name[0] ? ": " : "", isa_traits[hazard->second->target].name, hazard->needed,
                 hazard->needed == 1 ? "" : "s", hazard->present == 1 ? "is" : "are",
                 hazard->present);
}

static void report_hazard(void *context, const struct hazard *hazard)
{
    const struct check_wave *wave = context;
    const struct check_place first = check_wave_place(
        wave, check_instruction(wave, hazard->first_pc, hazard->first), FINDING_LANE_NONE);
    const struct check_place second = check_wave_place(
        wave, check_instruction(wave, hazard->second_pc, hazard->second), FINDING_LANE_NONE);
    struct finding found;
    if (!check_found(kinds[hazard->kind], &first, &second, &found))
        return;
    describe_hazard(hazard, found.detail, sizeof found.detail);
    finding_report(&found);
}

static void begin_hazards(const struct check_wave *wave)
{
    hazard_wave_begin(check_slot_memory(waves, wave->slot, sizeof(struct hazard_wave)));
}

static void step_hazards(const struct check_wave *wave, const struct observed_instruction *step)
{
    if (!step->inst)
        return;
    const struct hazard_step executed = {
        .pc = step->pc,
        .exec = isa_wave_exec(step->scalars),
        .reaches_memory = step->memory && step->memory->mask,
        .reaches_lds = step->memory && step->memory->lds_mask,
        .is_alone = check_group_of(wave)->waves == 1,
    };
    hazard_wave_step(waves[wave->slot], code_of(step->pc, step->inst), &executed, report_hazard,
                     (void *)(uintptr_t)wave);
}

const struct check check_hazards = {.begin = begin_hazards, .step = step_hazards};

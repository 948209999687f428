/* Instructions of AMD's wavefronts by number, and how reports name them (checks.h). An address
 * alone does not tell an instruction: code is loaded where other code was, and processes have
 * theirs at one address. */
#include "checks.h"

#include <string.h>

#include "base/hash.h"
#include "components/amd/isa/isa.h"
#include "components/checks/races/spins.h"
#include "components/memory/page_table/page_table.h"
#include "components/memory/page_table/program_table.h"
#include "runtime/engine/bug.h"
#include "check_code.h"
#include "slot_array.h"

enum { ROOM = 1 << 20 };

struct instruction {
    uint64_t name; /* program_name() of its address */
    struct isa_inst inst;
    bool spins;
};

static struct instruction *instructions; /* by number; the first stands for none */
static uint64_t instruction_room;
static uint32_t instruction_count, numbers[ROOM]; /* the numbers by hash of the address */

static bool is_spin(uint64_t name, const struct isa_inst *inst)
{
    struct spin_code code;
    code.bytes = check_code_bytes(name, &code.address, &code.size);
    return code.bytes && spins_at((enum isa_target)inst->target, &code, name);
}

static bool is_instruction(const struct instruction *i, uint64_t name, const struct isa_inst *inst)
{
    return i->name == name && memcmp(&i->inst, inst, sizeof i->inst) == 0;
}

uint32_t check_instruction(const struct check_wave *wave, uint64_t pc, const struct isa_inst *inst)
{
    uint64_t name = program_name(wave->what.program, wave->pid, pc);
    uint32_t slot = (uint32_t)(hash_multiply(pc) >> 40) % ROOM;
    while (numbers[slot] && !is_instruction(&instructions[numbers[slot]], name, inst))
        slot = (slot + 1) % ROOM;
    if (numbers[slot])
        return numbers[slot];
    if (++instruction_count > ROOM / 2)
        die("--check races: more than %d instructions access memory; check fewer kernels in one "
            "run",
            ROOM / 2);
    instructions =
        slot_array_grow(instructions, &instruction_room, instruction_count, sizeof *instructions);
    instructions[instruction_count] =
        (struct instruction){.name = name, .inst = *inst, .spins = is_spin(name, inst)};
    return numbers[slot] = instruction_count;
}

bool check_instruction_spins(uint32_t number)
{
    return instructions[number].spins;
}

static uint64_t pc_of(const struct check_identity *who, uint32_t number)
{
    (void)who;
    return page_table_address(instructions[number].name);
}

static void describe_instruction(const struct check_identity *who, uint32_t number,
                                 struct finding_place *place)
{
    const struct instruction *i = &instructions[number];
    (void)who;
    if (isa_format(&i->inst, UINT64_MAX, place->text, sizeof place->text) >= sizeof place->text)
        place->text[sizeof place->text - 1] = '\0';
    check_source(i->name, place->source, sizeof place->source);
}

const struct check_executor check_wavefronts = {.pc = pc_of, .describe = describe_instruction};

struct check_place check_wave_place(const struct check_wave *wave, uint32_t instruction,
                                    uint32_t lane)
{
    return (struct check_place){&check_group_of(wave)->who, wave->what.number, instruction, lane};
}

struct check_place check_step_place(const struct check_wave *wave,
                                    const struct observed_instruction *step, uint32_t lane)
{
    return check_wave_place(wave, check_step_instruction(wave, step), lane);
}

/* Instructions of AMD's wavefronts by number, and how reports name them (checks.h). An address
 * alone does not tell an instruction: code is loaded where other code was, and processes have
 * theirs at one address. */
#include <string.h>

#include "base/grow.h"
#include "base/hash_table.h"
#include "components/amd/isa/isa.h"
#include "components/checks/races/spins.h"
#include "components/memory/page_table/page_table.h"
#include "components/memory/page_table/program_table.h"
#include "runtime/engine/bug.h"

#include "check_code.h"
#include "checks.h"

enum { INSTRUCTIONS_MAX = 1 << 19 };

struct instruction {
    uint64_t name; /* program_name() of its address */
    struct isa_inst inst;
    bool spins;
};

static struct instruction *instructions; /* by number; the first stands for none */
static size_t instruction_capacity;
static uint32_t instruction_count;

/* Code that was loaded where other code was is a version of what is at the address. */
struct known {
    uint64_t name, version;
    uint32_t number;
};

static struct hash_table numbers;
static const struct hash_kind known_kind = HASH_KIND(struct known, version, "checks");

static bool is_spin(uint64_t name, const struct isa_inst *inst)
{
    struct spin_code code;
    code.bytes = check_code_bytes(name, &code.address, &code.size);
    return code.bytes && spins_at((enum isa_target)inst->target, &code, name);
}

/* The number of the instruction at the place that the key names; NULL: there is none. key[1]
 * becomes its version, or the next one. */
static const struct known *find_version(uint64_t key[2], const struct isa_inst *inst)
{
    const struct known *known;
    for (key[1] = 0; (known = hash_table_find(&numbers, &known_kind, key)); key[1]++)
        if (memcmp(&instructions[known->number].inst, inst, sizeof *inst) == 0)
            break;
    return known;
}

uint32_t check_instruction(const struct check_wave *wave, uint64_t pc, const struct isa_inst *inst)
{
    uint64_t name = program_name(wave->observed.program, wave->pid, pc);
    uint64_t key[2] = {name};
    const struct known *known = find_version(key, inst);
    if (known)
        return known->number;
    if (++instruction_count > INSTRUCTIONS_MAX)
        die("--check races: more than %d instructions access memory; check fewer kernels in one "
            "run",
            INSTRUCTIONS_MAX);
    grow_slots(instructions, instruction_count, instruction_capacity, "checks");
    instructions[instruction_count] =
        (struct instruction){.name = name, .inst = *inst, .spins = is_spin(name, inst)};
    struct known *added = hash_table_add(&numbers, &known_kind, key);
    return added->number = instruction_count;
}

bool check_instruction_spins(uint32_t number)
{
    return instructions[number].spins;
}

static uint64_t pc_of(const struct check_identity *identity, uint32_t number)
{
    (void)identity;
    return page_table_address(instructions[number].name);
}

static void describe_instruction(const struct check_identity *identity, uint32_t number,
                                 struct finding_place *place)
{
    const struct instruction *i = &instructions[number];
    (void)identity;
    if (isa_format(&i->inst, UINT64_MAX, place->text, sizeof place->text) >= sizeof place->text)
        place->text[sizeof place->text - 1] = '\0';
    check_source(i->name, place->source, sizeof place->source);
}

const struct check_executor check_wavefronts = {.pc = pc_of, .describe = describe_instruction};

struct check_place check_wave_place(const struct check_wave *wave, uint32_t instruction,
                                    uint32_t lane)
{
    return (struct check_place){&check_group_of(wave)->identity, wave->observed.number, instruction,
                                lane};
}

struct check_place check_step_place(const struct check_wave *wave,
                                    const struct observed_instruction *step, uint32_t lane)
{
    return check_wave_place(wave, check_step_instruction(wave, step), lane);
}

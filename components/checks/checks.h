/* Checks of the simulated program (`heddle run --check`): AMD's wavefronts, which they look at.
 *
 * One observer of execution (components/statistics/execution_observer.h) receives what wavefronts
 * execute and passes it on to the checks that were asked for: rows of checks.def. What they find
 * goes to finding_report(). With checks a platform runs on one thread. */
#ifndef HEDDLE_COMPONENTS_CHECKS_CHECKS_H
#define HEDDLE_COMPONENTS_CHECKS_CHECKS_H

#include "components/protocols/work/work_placement.h"
#include "components/statistics/execution_observer.h"
#include "components/statistics/program_observer.h"
#include "runtime/engine/extension.h"

#include "check_place.h"

enum { CHECK_SLOTS = 1 << 20 };

/* A wavefront that has begun and not ended. */
struct check_wave {
    struct observed_wavefront observed; /* its placement only while it begins */
    uint32_t slot;  /* below CHECK_SLOTS, different among those that live; small ones first */
    uint32_t group; /* number of its work-group among the live ones; low numbers are used first */
    uint32_t unit;  /* instance that executes it, or a number after those of all instances */
    uint32_t pid;   /* process of its launch */
    uint32_t instruction; /* number of the step's, by check_step_instruction(); 0: not looked up */
};

/* The work-group of a wavefront. Its wavefronts begin one after another. */
struct check_group {
    struct check_identity identity;
    uint32_t waves, ended;
    uint64_t scratch, scratch_end; /* its private memory; both 0: none */
    uint32_t scratch_bytes;        /* scratch memory of a wavefront */
    uint32_t lds_bytes;
    uint32_t wave[WORK_WAVEFRONTS_MAX]; /* slots, of those that have begun */
};
const struct check_group *check_group_of(const struct check_wave *wave);
/* The wavefront at a slot, which keeps it until all of its work-group have ended. */
const struct check_wave *check_wave_at(uint32_t slot);

struct check {
    void (*begin)(const struct check_wave *wave); /* or NULL */
    /* The instruction is about to be executed: registers are as before it. */
    void (*step)(const struct check_wave *wave, const struct observed_instruction *step);
    void (*end)(const struct check_wave *wave); /* or NULL */
};

#define CHECKED(id, wavefronts, warps) extern const struct check wavefronts;
#include "checks.def"
#undef CHECKED

/* Memory of a check for each slot; it is not cleared. */
void *check_slot_memory(void **memory, uint32_t slot, size_t bytes);

/* Before anything is executed, on a platform of so many instances. */
void checks_open(uint32_t instances, bool has_debugger);

/* Observes what the driver reports (program_checks.c). */
extern const struct program_observer check_program;
/* Registered by a constructor of its own; named here for the linker's -u only. */
extern const struct extension checks_extension __attribute__((visibility("hidden")));

/* Instructions of wavefronts as reports name them (wave_instructions.c): by number, from 1. */
extern const struct check_executor check_wavefronts;
uint32_t check_instruction(const struct check_wave *wave, uint64_t pc, const struct isa_inst *inst);
uint32_t check_step_instruction(const struct check_wave *wave,
                                const struct observed_instruction *step);
/* True for a load by which a wavefront waits (races/spins.h). */
bool check_instruction_spins(uint32_t number);
struct check_place check_wave_place(const struct check_wave *wave, uint32_t instruction,
                                    uint32_t lane);
/* That of the step. */
struct check_place check_step_place(const struct check_wave *wave,
                                    const struct observed_instruction *step, uint32_t lane);

#endif

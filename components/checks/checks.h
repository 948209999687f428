/* Checks of the simulated program (`heddle run --check`): the wavefronts that they look at, and the
 * table of checks.
 *
 * One observer of execution (components/statistics/execution_observer.h) hears what wavefronts
 * execute and passes it on to the checks that were asked for. A check is a row of checks.c; what it
 * finds goes to finding_report(). With checks a platform runs on one thread. */
#ifndef HEDDLE_CHECKS_CHECKS_H
#define HEDDLE_CHECKS_CHECKS_H

#include "components/checks/finding.h"
#include "components/protocols/work/work_placement.h"
#include "components/statistics/execution_observer.h"

enum { CHECK_SLOTS = 1 << 20 };

/* A wavefront that has begun and not ended. */
struct check_wave {
    struct observed_wavefront what; /* its placement only while it begins */
    uint32_t slot;   /* below CHECK_SLOTS, different among those that live; small ones first */
    uint32_t group;  /* number of its work-group among the live ones; low numbers are used first */
    uint64_t number; /* of all that have begun, from 1 */
    uint32_t unit;   /* that executes it: an instance, or its number is behind all of them */
    uint32_t pid;    /* process of its launch */
};

/* The work-group of a wavefront. Its wavefronts begin one behind the other. */
struct check_group {
    uint32_t waves, ended;
    uint32_t lds_bytes;
    uint32_t wave[WORK_MAX_WAVEFRONTS]; /* slots, of those that have begun */
};
const struct check_group *check_group_of(const struct check_wave *wave);
/* The wavefront at a slot, which keeps it until all of its work-group have ended. */
const struct check_wave *check_wave_at(uint32_t slot);

struct check {
    enum finding_check check;
    void (*open)(void); /* before the run; or NULL, as all members */
    void (*begin)(const struct check_wave *wave);
    /* The instruction is about to be executed: registers are as before it. */
    void (*step)(const struct check_wave *wave, const struct observed_instruction *step);
    void (*end)(const struct check_wave *wave);
    void (*finish)(void); /* the run is over: what is left is reported */
};

extern const struct check check_hazards, check_barriers, check_stack;

/* Memory of a check for each slot; it is not cleared. */
void *check_slot_memory(void **memory, uint32_t slot, size_t bytes);

struct page_table;

/* Before anything is executed, on a platform of so many instances. */
void checks_open(uint32_t instances, const struct page_table *pages);

/* By what the tables of the program know an address of the wavefront's process. */
uint64_t check_name(const struct check_wave *wave, uint64_t address);
/* Fills in what the wavefront does at `pc`. */
void check_place(const struct check_wave *wave, uint64_t pc, const struct isa_inst *inst,
                 uint32_t lane, struct finding_place *place);
/* Fills in the space, the address and the memory of a finding. */
void check_address(const struct check_wave *wave, enum finding_space space, uint64_t address,
                   struct finding *found);

#endif

/* Observes what wavefronts execute, for checks of the program (`heddle run --check`).
 *
 * Components that execute instructions report the beginning of a wavefront, each of its
 * instructions in their order, and its end. Only one thread reports for a unit at a time; several
 * units may report at once. An observer must change nothing that is simulated. While there is none,
 * `execution_observer` is NULL and costs those components one test for each instruction. */
#ifndef HEDDLE_COMPONENTS_STATISTICS_EXECUTION_OBSERVER_H
#define HEDDLE_COMPONENTS_STATISTICS_EXECUTION_OBSERVER_H

#include <stdbool.h>
#include <stdint.h>

struct isa_context;
struct isa_inst;
struct isa_memory;
struct isa_scalar;
struct isa_wave;
struct program_table;
struct work_placement;

struct observed_wavefront {
    uint32_t gpu;
    uint32_t dispatch; /* number of the launch on this GPU, from 0 */
    uint32_t group[3];
    uint32_t number; /* in its work-group */
    uint32_t target; /* enum isa_target */
    uint32_t kernel; /* number in `program` */
    const struct program_table *program;
    const struct work_placement *placement; /* valid during the call */
};

struct observed_instruction {
    uint64_t pc;
    uint64_t mask;           /* active lanes; for an access: the lanes that access */
    const uint64_t *address; /* addresses of an access, by lane; NULL: no access */
    uint32_t bytes;          /* size of a lane's access; 0: to be looked up by the instruction */
    uint32_t apart;      /* a lane's dwords are so many bytes apart; 0: they follow each other */
    uint32_t code_bytes; /* size of the instruction */
    /* AMD's, before the instruction is executed, within this process and during the call: */
    const struct isa_inst *inst;
    const struct isa_wave *scalars;
    const struct isa_context *context; /* vector registers and LDS */
    const struct isa_memory *memory;   /* access to vector memory, or NULL */
    const struct isa_scalar *scalar;   /* access to scalar memory, or NULL */
};

struct execution_observer {
    /* `wave` differs among the wavefronts of a unit that live at the same time. */
    void (*begin)(uint32_t unit, uint32_t wave, const struct observed_wavefront *what);
    void (*step)(uint32_t unit, uint32_t wave, const struct observed_instruction *step);
    void (*end)(uint32_t unit, uint32_t wave);
};

extern const struct execution_observer *execution_observer __attribute__((visibility("hidden")));

#endif

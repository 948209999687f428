/* Recording what wavefronts execute (`heddle run --record instructions`).
 *
 * Components that execute instructions tell of the beginning of a wavefront, of each of its
 * instructions in their order, and of its end. Of one unit only one thread tells at a time;
 * several units may be told of at once. It must change nothing that is simulated. While nothing
 * records, `instruction_recorder` is NULL and costs those components one test for each
 * instruction. */
#ifndef HEDDLE_STATISTICS_INSTRUCTION_RECORDER_H
#define HEDDLE_STATISTICS_INSTRUCTION_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

struct recorded_wavefront {
    uint32_t gpu;
    uint32_t dispatch; /* number of the launch on this GPU, from 0 */
    uint32_t group[3];
    uint32_t number; /* in its work-group */
};

struct recorded_instruction {
    uint64_t pc;
    uint64_t mask;           /* lanes that are active; of an access: those that make it */
    const uint64_t *address; /* of an access: by lane; NULL: this is none */
    uint32_t bytes; /* of a lane's access; 0: of the whole instruction's, to be looked up */
    uint32_t apart; /* a lane's dwords stand so many bytes apart; 0: they follow each other */
    uint32_t size;  /* of the instruction's code */
};

struct instruction_recorder {
    /* `wave` tells the wavefronts of a unit apart that live at the same time. */
    void (*begin)(uint32_t unit, uint32_t wave, const struct recorded_wavefront *what);
    void (*step)(uint32_t unit, uint32_t wave, const struct recorded_instruction *step);
    void (*end)(uint32_t unit, uint32_t wave);
};

/* Before anything is executed: opens a recorder of `units` units by `open`, which sets
 * `instruction_recorder`; at the other ranks of a run, one that sends what it hears to it. false:
 * what `open` has returned. */
bool instruction_recorder_open(uint32_t units, bool (*open)(uint32_t units));

extern const struct instruction_recorder *instruction_recorder
    __attribute__((visibility("hidden")));

#endif

/* An instruction by which lanes of a wavefront access memory, whatever its instruction set is. */
#ifndef HEDDLE_COMPONENTS_CHECKS_RACES_RACE_LANES_H
#define HEDDLE_COMPONENTS_CHECKS_RACES_RACE_LANES_H

#include "race_report.h"

/* Atomics at more places than these in one instruction order nothing: histograms, not locks. */
enum { RACE_FEW_PLACES = 8, RACE_DATA_STRIDE = 16 };

struct race_lanes {
    struct race_memory *memory;
    const struct race_wave *wave;
    const uint64_t *address; /* by lane, from `base` on */
    uint64_t mask, base;
    uint32_t bytes, instruction;
    enum race_use use;
    const uint8_t *data; /* that is stored, RACE_DATA_STRIDE bytes a lane; NULL: not known */
};

/* Touches the shadow. If the data are known, lanes may race with each other. */
void race_touch_lanes(const struct race_lanes *l);
/* The different addresses of the lanes; 0: there are more than `most`. */
unsigned race_places(const uint64_t *address, uint64_t mask, unsigned most, uint64_t *place);

#endif

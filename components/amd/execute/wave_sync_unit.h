/* The global wave sync (wave_sync.h) as a part of a simulated GPU. */
#ifndef HEDDLE_COMPONENTS_AMD_EXECUTE_WAVE_SYNC_UNIT_H
#define HEDDLE_COMPONENTS_AMD_EXECUTE_WAVE_SYNC_UNIT_H

#include "wave_sync.h"

struct hang_report;

/* The unit of a simulated GPU. A wavefront comes with a request and with the number by which the
 * owner knows it, and gets an answer when it may continue. Answers have the order in which
 * wavefronts became free to continue. */
struct wave_sync_unit {
    struct wave_sync sync;
    uint32_t entries_at; /* struct wave_sync_entry[capacity] */
    uint32_t answers_at; /* uint32_t[capacity], a ring of wavefronts */
    uint32_t capacity;
    uint32_t waiting_count, answer_head, answer_count;
};

/* Number of a wavefront for its owner: die, compute unit, and number there. */
enum { WAVE_SYNC_CU_SHIFT = 12, WAVE_SYNC_DIE_SHIFT = 24 };

/* For at most `capacity` wavefronts at a time. */
void wave_sync_unit_init(struct wave_sync_unit *u, uint32_t capacity);

void wave_sync_unit_accept(struct wave_sync_unit *u, const struct isa_sync *request,
                           uint32_t wavefront);

/* The next one that is to be answered; pop it when it has been. */
bool wave_sync_unit_next(const struct wave_sync_unit *u, uint32_t *wavefront);
void wave_sync_unit_pop(struct wave_sync_unit *u);

/* Reports the resources at which wavefronts wait, and for how many more. */
void wave_sync_unit_report(const struct wave_sync_unit *u, struct hang_report *report);

#endif

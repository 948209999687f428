/* The global wave sync of a GPU: 64 resources, each a counter at which wavefronts of all compute
 * units meet, as a barrier or a semaphore (AMD, GCN3 and Vega ISA manuals, DS_GWS_*).
 *
 * A barrier expects `counter` wavefronts and one more. The last wavefront to come releases all and
 * leaves its own value as the next count, so count + 1 wavefronts meet each time. A semaphore lets
 * `counter` wavefronts pass; further wavefronts wait, and pass in the order in which they came.
 *
 * HIP's grid sync is a barrier on resource 0 that one wavefront of each work-group comes to; the
 * runtime sets its counter to the work-groups of the launch less one before it begins
 * (ROCm-Device-Libs, __ockl_grid_sync and __ockl_gws_init). */
#ifndef HEDDLE_COMPONENTS_AMD_EXECUTE_WAVE_SYNC_H
#define HEDDLE_COMPONENTS_AMD_EXECUTE_WAVE_SYNC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "components/amd/isa/isa.h"

/* Zeroed: no wavefront has come, all counters are 0. */
struct wave_sync {
    struct wave_sync_resource {
        uint32_t counter;
        uint64_t releases;       /* releases of barriers */
        uint64_t queued, served; /* wavefronts that had to wait at a semaphore; waiting wavefronts
                                  * that have passed */
    } resource[ISA_SYNC_RESOURCES];
};

/* Event that a wavefront waits for. */
struct wave_sync_wait {
    uint64_t number;
    uint8_t resource;
    bool is_barrier;
};

/* True: the wavefront waits, until wave_sync_is_over(). */
bool wave_sync_do(struct wave_sync *s, const struct isa_sync *request, struct wave_sync_wait *wait);

bool wave_sync_is_over(const struct wave_sync *s, const struct wave_sync_wait *wait);

/* Describes the event that a wavefront waits for and that cannot come. */
void wave_sync_text(const struct wave_sync *s, const struct wave_sync_wait *wait, char *buf,
                    size_t n);

/* Prepares the resources for a launch of so many work-groups, which may meet. */
void wave_sync_begin_launch(struct wave_sync *s, uint64_t work_groups);

#endif

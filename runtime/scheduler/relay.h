/* Windows that are handed on from one to the next, without waiting for everybody in between; see
 * relay.c. For platforms whose partitions reach each other only by way of the main one
 * (lookahead_is_star()). */
#ifndef HEDDLE_RUNTIME_RELAY_H
#define HEDDLE_RUNTIME_RELAY_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/engine/shard.h"

#define RELAY_SHARDS 32u /* at most */

/* What is done in a relay. Both are called by whichever thread it is. */
struct relay_work {
    /* Runs a shard through the window. */
    void (*run)(uint32_t shard, const struct window_plan *plan);
    /* The main shard is through the window of `plan`, and everybody through the one before. false:
     * the relay ends with the window. Otherwise `next` is what is known of the next one. */
    bool (*follow)(const struct window_plan *plan, struct window_plan *next);
};

/* Begins with the window of `window_plan`, in which these shards have something to do (bit i: shard
 * i), for so many threads, of which each runs those that `dealt` says (likewise, by thread). By the
 * leader; no other thread is in a relay. The work stays the caller's. */
void relay_begin(const struct relay_work *work, uint64_t due, uint32_t threads,
                 const uint64_t *dealt);
/* Takes part until the relay has ended. `delays`: crew_delay(). By each thread that comes, the
 * leader being thread 0; late ones find nothing left. */
void relay_take_part(uint32_t thread, uint64_t *delays);
/* When it has ended: `window_plan` becomes that of its last window. Returns the shards that have
 * had something to do. By the leader. */
uint64_t relay_end(uint32_t *windows);

#endif

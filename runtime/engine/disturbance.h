/* The points at which a test makes threads and ranks late, or ends them: neither may change a
 * result. The function is no part of heddle. A test links it, or loads it before the program
 * (tests/runtime/disturbance.c); without it nothing happens. */
#ifndef HEDDLE_RUNTIME_ENGINE_DISTURBANCE_H
#define HEDDLE_RUNTIME_ENGINE_DISTURBANCE_H

#include <stdint.h>

#include "base/likely.h"

enum disturbance {
    DISTURB_SHARD,   /* thread `member` of the pool is about to claim a shard */
    DISTURB_EXCHANGE /* rank `member` is about to exchange for the `number`-th time */
};

__attribute__((weak, visibility("default"))) void heddle_disturb(enum disturbance point,
                                                                 uint32_t member, uint64_t number);

static inline void disturb(enum disturbance point, uint32_t member, uint64_t number)
{
    if (unlikely(heddle_disturb))
        heddle_disturb(point, member, number);
}

#endif

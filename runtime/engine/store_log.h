/* The log of writes to stores since ranks met last. Each rank has a copy of every store that it
 * reads. A component that writes a store says which bytes have changed, and the next exchange takes
 * them to the other ranks (rank.h). With one rank nothing is noted.
 *
 * Writers call store_offer() once, at start-up, and store_wrote() after every change later on. A
 * store that was not offered cannot be read at another rank. */
#ifndef HEDDLE_RUNTIME_ENGINE_STORE_LOG_H
#define HEDDLE_RUNTIME_ENGINE_STORE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/likely.h"

extern bool store_log_is_on __attribute__((visibility("hidden")));

void store_offer(const void *store);
void store_log_add(const void *start, size_t bytes);

/* `bytes` of the arena have been written. */
static inline void store_wrote(const void *start, size_t bytes)
{
    if (unlikely(store_log_is_on))
        store_log_add(start, bytes);
}

/* ---- for the runtime ---- */

/* Called when the platform is built: changes are noted from now on. Nothing is offered before. */
void store_log_begin(void);
void store_log_forget(void);
bool store_is_offered(const void *store);

#endif

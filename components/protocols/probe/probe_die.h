/* The dies that hold a line, as memory that keeps track of them knows them: see probe.heddle.
 *
 * Behind all translation the process of a request (`pid` of the protocol mem) means nothing more.
 * A cache that is probed sends the number of its die there: the element of the memory's port
 * `probe` that leads to the cache. Reads whose line the cache does not keep, and requests of
 * others, have a process there, or 0. */
#ifndef HEDDLE_COMPONENTS_PROTOCOLS_PROBE_PROBE_DIE_H
#define HEDDLE_COMPONENTS_PROTOCOLS_PROBE_PROBE_DIE_H

#include <stdbool.h>
#include <stdint.h>

enum { PROBE_DIES = 16, PROBE_FIRST = 0xfe00 }; /* no process has so high a number */

static inline uint32_t probe_pid(uint32_t die)
{
    return PROBE_FIRST + die;
}

static inline bool probe_is_die(uint32_t pid)
{
    return pid - PROBE_FIRST < PROBE_DIES;
}

#endif

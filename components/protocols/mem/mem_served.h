/* The place where a request was served, noted on its answer: for `--profile instructions` only, in
 * a build of its own (-DHEDDLE_PROFILE). In others MEM_SERVED_IS_NOTED is false, and no code is
 * left.
 *
 * Two bits for each cache on the way, that of the first level lowest: what it counted the request
 * as. This is not a field of the protocol: it is in byte 28 of an answer's header, which
 * interconnects copy. A component that never writes it, which is not a cache, leaves 0. */
#ifndef HEDDLE_COMPONENTS_PROTOCOLS_MEM_MEM_SERVED_H
#define HEDDLE_COMPONENTS_PROTOCOLS_MEM_MEM_SERVED_H

#include "runtime/link/ring.h"

enum mem_served { MEM_SERVED_ELSEWHERE, MEM_SERVED_HIT, MEM_SERVED_MERGED, MEM_SERVED_MISSED };

enum { MEM_SERVED_AT = 20, MEM_SERVED_BITS = 2, MEM_SERVED_MASK = 3 };
_Static_assert(MEM_SERVED_AT < RING_FIELD_BYTES, "it lies among the fields");

#ifdef HEDDLE_PROFILE
#define MEM_SERVED_IS_NOTED true
#else
#define MEM_SERVED_IS_NOTED false
#endif

/* On the answer that is sent next. */
static inline void mem_served_next(uint32_t place, unsigned served)
{
    if (MEM_SERVED_IS_NOTED)
        ring_next(place)->fields[MEM_SERVED_AT] = (uint8_t)served;
}

static inline unsigned mem_served(const void *m)
{
    return ((const struct message *)m)->fields[MEM_SERVED_AT];
}

/* The note that a cache passes on: its own bits lowest, those from below above them. */
static inline unsigned mem_served_below(unsigned here, unsigned below)
{
    return here | below << MEM_SERVED_BITS;
}

#endif

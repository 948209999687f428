/* Marks the accesses of memory instructions in a thread's footprint. Included by access.c only. */
#ifndef HEDDLE_COMPONENTS_AMD_FUNCTIONAL_ACCESS_MARKS_H
#define HEDDLE_COMPONENTS_AMD_FUNCTIONAL_ACCESS_MARKS_H

#include "base/likely.h"
#include "components/amd/isa/execute/isa_lanes.h"

#include "footprint.h"

/* Marks the bytes of lanes at host + shift + offset[lane]. `exec` names the first lane of each
 * step; a step's bytes end with those of its last lane. Bytes that follow each other are marked
 * together. */
static ALWAYS_INLINE void mark_steps(struct footprint *f, const char *host, uint64_t shift,
                                     const uint32_t *offset, unsigned step, unsigned bytes,
                                     uint64_t exec, enum footprint_kind kind)
{
    uint64_t begin = 0, end = 0; /* range that is not marked yet */
    for (uint64_t rest = exec; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest);
        uint64_t at = shift + offset[lane], lane_end = shift + offset[lane + step - 1] + bytes;
        if (at == end && end) {
            end = lane_end;
        } else if (at < begin || lane_end > end) {
            if (end)
                footprint_mark(f, host + begin, end - begin, kind);
            begin = at;
            end = lane_end;
        }
    }
    footprint_mark(f, host + begin, end - begin, kind);
}

/* Marks the dwords of all lanes, when each vector has either a single dword or neighbouring
 * ones. */
static OUT_OF_LINE void mark_rows(struct footprint *f, const char *host, uint64_t shift,
                                  const uint32_t *offset)
{
    const uint64_t firsts = LANES_AT_ONCE == 8 ? 0x0101010101010101 : 0x1111111111111111;
    mark_steps(f, host, shift, offset, LANES_AT_ONCE, 4, firsts, FOOTPRINT_READ);
}

static OUT_OF_LINE void mark_lanes(struct footprint *f, const char *host,
                                   const struct lanes_span *s, unsigned bytes, uint64_t exec,
                                   enum footprint_kind kind)
{
    mark_steps(f, host, 0 - (uint64_t)s->low, s->offset, 1, bytes, exec, kind);
}

/* Lanes in the shape of a prepared access. */
static ALWAYS_INLINE void mark_span(struct footprint *f, const char *host,
                                    const struct lanes_span *s, unsigned bytes, uint64_t exec,
                                    enum footprint_kind kind)
{
    bool dense = s->is_regular && s->step == bytes && exec == UINT64_MAX;
    if (dense || s->low == s->high)
        footprint_mark(f, host, (uint64_t)(s->high - s->low) + bytes, kind);
    else
        mark_lanes(f, host, s, bytes, exec, kind);
}

#endif

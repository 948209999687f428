/* The lines that the lanes of one access touch, in the order of the lowest lane of each, with the
 * bytes that are accessed there. Included by access.c only; the general case is the coalescer's.
 *
 * Neighbouring lanes mostly access the same line, so a line is looked up only where it differs from
 * the previous lane's. Lines of an access that lie within LINES_REACH of each other are found again
 * by a stamp. */
#ifndef HEDDLE_COMPONENTS_AMD_FUNCTIONAL_ACCESS_LINES_H
#define HEDDLE_COMPONENTS_AMD_FUNCTIONAL_ACCESS_LINES_H

#include "base/likely.h"
#include "components/amd/isa/execute/isa_lanes.h"

#include "touch.h"

enum { LINES_REACH = 1 << 13 };

/* Bit l: word l of the two vectors differs. */
static ALWAYS_INLINE uint64_t differing(lanes_vector a, lanes_vector b)
{
    lanes_vector differs = (lanes_vector)(a != b);
#if defined __AVX2__
    return (uint32_t)_mm256_movemask_ps((__m256)differs);
#else
    uint64_t bits = 0;
    for (unsigned i = 0; i < LANES_AT_ONCE; i++)
        bits |= (uint64_t)(differs[i] & 1) << i;
    return bits;
#endif
}

/* Lanes' places in bytes from the beginning of the lowest one's line. */
struct places {
    uint32_t byte[65];    /* byte[1 + lane] */
    uint64_t new_line;    /* bit l: lane l lies in another line than lane l - 1 */
    uint64_t no_follower; /* it does not begin where lane l - 1 ends */
};

/* False: a lane's access lies in two lines. Inactive lanes have the place of the first active
 * one. */
static ALWAYS_INLINE bool find_places(const struct lanes_span *s, uint32_t in_line, unsigned bytes,
                                      uint64_t exec, struct places *p)
{
    const lanes_vector first = (lanes_vector){0} + s->offset[s->first];
    const lanes_vector shift = (lanes_vector){0} + (in_line - s->low);
    lanes_vector crossing = {0};
    for (unsigned lane = 0; lane < 64; lane += LANES_AT_ONCE) {
        lanes_vector here = lanes_get(s->offset + lane);
        if (exec != UINT64_MAX) {
            lanes_vector active = lanes_active(exec, lane);
            here = (here & active) | (first & ~active);
        }
        here += shift;
        lanes_put(p->byte + 1 + lane, here);
        crossing |= ((here & 63) + (bytes - 1)) & 64;
    }
    p->byte[0] = p->byte[1];
    p->new_line = p->no_follower = 0;
    for (unsigned lane = 0; lane < 64; lane += LANES_AT_ONCE) {
        lanes_vector here = lanes_get(p->byte + 1 + lane), before = lanes_get(p->byte + lane);
        p->new_line |= differing(here >> 6, before >> 6) << lane;
        p->no_follower |= differing(here, before + bytes) << lane;
    }
    return lanes_are_zero(crossing);
}

/* False: too far apart, or a lane's access lies in two lines. */
static ALWAYS_INLINE bool find_lines(const struct lanes_span *s, uint64_t base, unsigned bytes,
                                     bool with_masks, uint64_t exec, struct touch_lines *out)
{
    static uint32_t stamp[LINES_REACH];
    static uint8_t number[LINES_REACH];
    static uint32_t current;
    struct places p;
    uint32_t in_line = (uint32_t)((base + s->low) & 63);
    if ((s->high - s->low) >> 6 >= LINES_REACH - 2 || !find_places(s, in_line, bytes, exec, &p))
        return false;
    if (!++current) { /* stamps of long ago would count again */
        memset(stamp, 0, sizeof stamp);
        current = 1;
    }
    out->base = base + s->low - in_line;
    out->count = 0;
    uint64_t starts = p.new_line | (uint64_t)1 << s->first;
    if (with_masks) /* stretches of active lanes without gaps in one line */
        starts |= p.no_follower | ~exec | ~exec << 1;
    starts &= exec;
    for (uint64_t rest = starts; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest);
        uint32_t at = p.byte[1 + lane], line = at >> 6;
        if (stamp[line] != current) {
            stamp[line] = current;
            number[line] = (uint8_t)out->count;
            out->line[out->count] = line;
            out->mask[out->count++] = with_masks ? 0 : UINT64_MAX;
        }
        if (!with_masks)
            continue;
        uint64_t later = (starts | ~exec) >> lane >> 1;
        unsigned lanes = later ? 1 + (unsigned)__builtin_ctzll(later) : 64 - lane;
        unsigned size = lanes * bytes;
        uint64_t accessed = size >= 64 ? UINT64_MAX : ((uint64_t)1 << size) - 1;
        out->mask[number[line]] |= accessed << (at & 63);
    }
    return true;
}

#endif

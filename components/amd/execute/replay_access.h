/* What a recorded memory instruction accesses, as struct isa_memory and struct isa_scalar, for the
 * units that walk through a work-group's steps: compute units, and functional warm-up.
 *
 * Two kinds of addresses depend on where the driver and the dispatcher put things, and are moved to
 * where they are now: those of the launch's packet and arguments, and those of private memory,
 * whose distance from the beginning of the wavefront's area stays. */
#ifndef HEDDLE_EXECUTE_REPLAY_ACCESS_H
#define HEDDLE_EXECUTE_REPLAY_ACCESS_H

#include "components/traces/replay/replay.h"
#include "components/amd/execute/wavefront_start.h"

/* What the recorded accesses of one wavefront need of this run. */
struct replay_here {
    uint64_t ring, ring_bytes; /* packets and arguments in the recorded run, ... */
    uint64_t ring_move;        /* ... and how far from there they are now */
    uint64_t pool, pool_bytes; /* private memory of the recorded launch */
    uint64_t area, area_bytes; /* the wavefront's private memory now */
};

static inline struct replay_here replay_here(uint32_t place, const struct work_placement *p,
                                             uint32_t wavefront)
{
    const struct replay_layout was = replay_layout(place);
    uint32_t area = p->scratch_wavefront + wavefront;
    return (struct replay_here){.ring = was.ring,
                                .ring_bytes = was.ring_bytes,
                                .ring_move = p->packet - was.packet,
                                .pool = was.pool,
                                .pool_bytes = was.pool_bytes,
                                .area =
                                    p->scratch + (uint64_t)area * p->scratch_bytes_per_wavefront,
                                .area_bytes = p->scratch_bytes_per_wavefront};
}

static inline uint64_t replay_moved(const struct replay_here *h, uint64_t address)
{
    return address - h->ring < h->ring_bytes ? address + h->ring_move : address;
}

/* isa_memory_addresses() out of the trace. */
static inline void replay_vector(uint32_t place, const struct replay_cursor *cursor,
                                 const struct replay_here *h, const struct isa_inst *inst,
                                 struct isa_memory *m)
{
    struct isa_context context;
    isa_memory_describe(inst, m);
    m->mask = replay_addresses(place, cursor, m->address);
    wavefront_set_apertures((enum isa_target)inst->target, 0, &context);
    for (uint64_t rest = m->mask; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest);
        uint64_t *address = &m->address[lane], bit = (uint64_t)1 << lane;
        if (*address - h->pool < h->pool_bytes && h->area_bytes) {
            *address = h->area + (*address - h->pool) % h->area_bytes;
            m->swizzle_mask |= bit;
        } else if (inst->format == ISA_FLAT && *address >> 32 == context.shared_aperture >> 32) {
            *address = (uint32_t)*address;
            m->lds_mask |= bit;
        } else if (h->ring_move) {
            *address = replay_moved(h, *address);
        }
    }
    m->mask &= ~m->lds_mask;
    isa_memory_find_straddling(m, m->swizzle_mask);
}

/* isa_scalar_address() out of the trace. */
static inline void replay_scalar_access(uint32_t place, const struct replay_cursor *cursor,
                                        const struct replay_here *h, const struct isa_inst *inst,
                                        struct isa_scalar *s)
{
    uint32_t bytes = 0;
    isa_scalar_describe(inst, s);
    s->valid = 0;
    if (!replay_scalar(place, cursor, &s->address, &bytes))
        return;
    s->valid = bytes / 4 < s->dwords ? (uint8_t)(bytes / 4) : s->dwords;
    s->address = replay_moved(h, s->address);
}

#endif

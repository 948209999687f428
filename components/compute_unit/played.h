/* Work-groups that play a recorded trace (components/replay): control flow, lanes and addresses are
 * those of the trace. No register is read or written and nothing is computed; everything else,
 * fetches of code included, is as in execution. What loads bring is dropped, and stores and atomics
 * send whatever bytes stand in the stage. Included by compute_unit.c.
 *
 * Two kinds of addresses depend on where the driver and the dispatcher put things, and are moved to
 * where they are now: those of the launch's packet and arguments, and those of private memory, whose
 * distance from the beginning of the wavefront's area stays. */
#ifndef HEDDLE_COMPUTE_UNIT_PLAYED_H
#define HEDDLE_COMPUTE_UNIT_PLAYED_H

#include "components/replay/replay.h"
#include "compute_unit_state.h"

_Static_assert((int)REPLAY_GROUPS >= (int)CU_MAX_GROUPS, "each work-group has a place");

static uint32_t played_place(const struct compute_unit *c, unsigned group)
{
    return c->io.base.leaf * REPLAY_GROUPS + group;
}

static struct cu_played *cu_played_at(const struct compute_unit *c, unsigned wave)
{
    return arena_at(struct cu_played, c->played) + wave;
}

/* Takes the recorded work-group. false: the run has failed. */
static bool played_group(struct compute_unit *c, const struct cu_group *g,
                         const struct work_placement *p)
{
    const struct replay_group wanted = {
        .launch = p->played, .id = {g->id[0], g->id[1], g->id[2]}, .wavefronts = p->wavefronts};
    char text[REPLAY_TEXT];
    if (replay_take(played_place(c, p->work_group_slot), &wanted, text))
        return true;
    engine_fail(&c->io.base, "kernel '%s': %s",
                program_kernel_name(compute_unit_program(c), g->kernel), text);
    return false;
}

/* In place of the initial registers. */
static void played_start(struct compute_unit *c, unsigned wave, const struct work_placement *p,
                         unsigned number)
{
    uint32_t place = played_place(c, p->work_group_slot);
    struct cu_played *at = cu_played_at(c, wave);
    const struct replay_layout was = replay_layout(place);
    at->ring = was.ring;
    at->ring_bytes = was.ring_bytes;
    at->ring_move = p->packet - was.packet;
    at->pool = was.pool;
    at->pool_bytes = was.pool_bytes;
    at->area_bytes = p->scratch_bytes_per_wavefront;
    at->area =
        p->scratch + (uint64_t)(p->scratch_wavefront + number) * p->scratch_bytes_per_wavefront;
    struct replay_cursor first = replay_first(place, number);
    at->at = first.at;
    at->left = first.left;
    cu_scalars(c, wave)->pc = replay_pc(place, &first);
}

/* In place of executing the instruction: on to the next step. */
static void played_step(struct compute_unit *c, const struct cu_wave *w, unsigned wave)
{
    struct cu_played *at = cu_played_at(c, wave);
    struct replay_cursor cursor = {at->at, at->left};
    uint32_t place = played_place(c, w->group);
    if (!replay_advance(place, &cursor))
        return; /* s_endpgm: the reader has seen to it */
    at->at = cursor.at;
    at->left = cursor.left;
    cu_scalars(c, wave)->pc = replay_pc(place, &cursor);
}

/* The machine code at `pc` that the trace brings along: `size` bytes, with zeros
 * where there is no more. They are put into `room`. */
static const uint8_t *played_code(const struct compute_unit *c, const struct cu_wave *w, uint64_t pc,
                                  unsigned size, uint8_t room[ISA_MAX_INST_BYTES])
{
    size_t known;
    const uint8_t *bytes = replay_code(played_place(c, w->group), pc, &known);
    memset(room, 0, ISA_MAX_INST_BYTES);
    memcpy(room, bytes, known < size ? known : size);
    return room;
}

/* An address of the packet or the arguments, where they are now. */
static uint64_t played_moved(const struct cu_played *at, uint64_t address)
{
    return address - at->ring < at->ring_bytes ? address + at->ring_move : address;
}

/* Lanes whose addresses are not in memory of the program. */
static void played_place_lanes(const struct compute_unit *c, const struct cu_wave *w,
                               const struct cu_played *at, const struct isa_inst *inst,
                               struct isa_memory *m)
{
    struct isa_context context;
    wavefront_set_apertures(cu_target(c), c->group[w->group].scratch, &context);
    for (uint64_t rest = m->mask; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest);
        uint64_t *address = &m->address[lane], bit = (uint64_t)1 << lane;
        if (*address - at->pool < at->pool_bytes && at->area_bytes) {
            *address = at->area + (*address - at->pool) % at->area_bytes;
            m->swizzle_mask |= bit;
        } else if (inst->format == ISA_FLAT && *address >> 32 == context.shared_aperture >> 32) {
            *address = (uint32_t)*address;
            m->lds_mask |= bit;
        } else if (at->ring_move) {
            *address = played_moved(at, *address);
        }
    }
    m->mask &= ~m->lds_mask;
}

/* isa_memory_addresses() out of the trace. */
static enum isa_status played_addresses(const struct compute_unit *c, const struct cu_wave *w,
                                        unsigned wave, const struct isa_inst *inst,
                                        struct isa_memory *m)
{
    const struct cu_played *at = cu_played_at(c, wave);
    const struct replay_cursor cursor = {at->at, at->left};
    isa_memory_describe(inst, m);
    m->mask = replay_addresses(played_place(c, w->group), &cursor, m->address);
    played_place_lanes(c, w, at, inst, m);
    return ISA_OK;
}

/* isa_scalar_address() out of the trace. */
static enum isa_status played_scalar(const struct compute_unit *c, const struct cu_wave *w,
                                     unsigned wave, const struct isa_inst *inst,
                                     struct isa_scalar *s)
{
    const struct cu_played *at = cu_played_at(c, wave);
    const struct replay_cursor cursor = {at->at, at->left};
    uint32_t bytes = 0;
    isa_scalar_describe(inst, s);
    if (!replay_scalar(played_place(c, w->group), &cursor, &s->address, &bytes)) {
        s->valid = 0;
        return ISA_OK;
    }
    s->valid = bytes / 4 < s->dwords ? (uint8_t)(bytes / 4) : s->dwords;
    s->address = played_moved(at, s->address);
    return ISA_OK;
}

/* The lanes of an LDS instruction and their addresses; false: it has none. */
static bool played_lds(const struct compute_unit *c, const struct cu_wave *w, unsigned wave,
                       uint32_t address[ISA_LANES], uint64_t *active)
{
    const struct cu_played *at = cu_played_at(c, wave);
    const struct replay_cursor cursor = {at->at, at->left};
    uint64_t wide[ISA_LANES];
    *active = replay_addresses(played_place(c, w->group), &cursor, wide);
    for (uint64_t rest = *active; rest; rest &= rest - 1)
        address[__builtin_ctzll(rest)] = (uint32_t)wide[__builtin_ctzll(rest)];
    return *active != 0;
}

#endif

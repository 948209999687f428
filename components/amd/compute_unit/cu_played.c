/* Work-groups that play a recorded trace (components/traces/replay): control flow, lanes and
 * addresses are those of the trace. No register is read or written and nothing is computed;
 * everything else, fetches of code included, is as in execution. What loads bring is dropped, and
 * stores and atomics send whatever bytes stand in the stage. */
#include "compute_unit.gen.h"

#include "components/amd/execute/replay_access.h"
#include "compute_unit_state.h"
#include "compute_unit_internal.h"

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
    at->here = replay_here(place, p, number);
    at->cursor = replay_first(place, number);
    cu_scalars(c, wave)->pc = replay_pc(place, &at->cursor);
}

/* In place of executing the instruction: on to the next step. */
static void played_step(struct compute_unit *c, const struct cu_wave *w, unsigned wave)
{
    struct cu_played *at = cu_played_at(c, wave);
    uint32_t place = played_place(c, w->group);
    if (replay_advance(place, &at->cursor)) /* else s_endpgm: the reader has seen to it */
        cu_scalars(c, wave)->pc = replay_pc(place, &at->cursor);
}

/* The machine code at `pc` that the trace brings along: `size` bytes, with zeros
 * where there is no more. They are put into `room`. */
static const uint8_t *played_code(const struct compute_unit *c, const struct cu_wave *w,
                                  uint64_t pc, unsigned size, uint8_t room[ISA_MAX_INST_BYTES])
{
    size_t known;
    const uint8_t *bytes = replay_code(played_place(c, w->group), pc, &known);
    memset(room, 0, ISA_MAX_INST_BYTES);
    memcpy(room, bytes, known < size ? known : size);
    return room;
}

/* isa_memory_addresses() and isa_scalar_address() out of the trace. */
static enum isa_status played_addresses(const struct compute_unit *c, const struct cu_wave *w,
                                        unsigned wave, const struct isa_inst *inst,
                                        struct isa_memory *m)
{
    const struct cu_played *at = cu_played_at(c, wave);
    replay_vector(played_place(c, w->group), &at->cursor, &at->here, inst, m);
    return ISA_OK;
}

static enum isa_status played_scalar(const struct compute_unit *c, const struct cu_wave *w,
                                     unsigned wave, const struct isa_inst *inst,
                                     struct isa_scalar *s)
{
    const struct cu_played *at = cu_played_at(c, wave);
    replay_scalar_access(played_place(c, w->group), &at->cursor, &at->here, inst, s);
    return ISA_OK;
}

/* The lanes of an LDS instruction and their addresses; false: it has none. */
static bool played_lds(const struct compute_unit *c, const struct cu_wave *w, unsigned wave,
                       uint32_t address[ISA_LANES], uint64_t *active)
{
    uint64_t wide[ISA_LANES];
    *active = replay_addresses(played_place(c, w->group), &cu_played_at(c, wave)->cursor, wide);
    for (uint64_t rest = *active; rest; rest &= rest - 1)
        address[__builtin_ctzll(rest)] = (uint32_t)wide[__builtin_ctzll(rest)];
    return *active != 0;
}

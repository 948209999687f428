/* Wavefronts that play a recorded trace; see cu_played.c. */
#ifndef HEDDLE_COMPUTE_UNIT_CU_PLAYED_H
#define HEDDLE_COMPUTE_UNIT_CU_PLAYED_H

#include "compute_unit_state.h"

/* Where a wavefront stands in its trace. */
struct cu_played {
    struct replay_cursor cursor;
    struct replay_here here;
};

static uint32_t played_place(const struct compute_unit *c, unsigned group);
static bool played_group(struct compute_unit *c, const struct cu_group *g,
                         const struct work_placement *p);
static void played_start(struct compute_unit *c, unsigned wave, const struct work_placement *p,
                         unsigned number);
static void played_step(struct compute_unit *c, const struct cu_wave *w, unsigned wave);
static const uint8_t *played_code(const struct compute_unit *c, const struct cu_wave *w,
                                  uint64_t pc, unsigned size, uint8_t room[ISA_MAX_INST_BYTES]);
static enum isa_status played_addresses(const struct compute_unit *c, const struct cu_wave *w,
                                        unsigned wave, const struct isa_inst *inst,
                                        struct isa_memory *m);
static enum isa_status played_scalar(const struct compute_unit *c, const struct cu_wave *w,
                                     unsigned wave, const struct isa_inst *inst,
                                     struct isa_scalar *s);
static bool played_lds(const struct compute_unit *c, const struct cu_wave *w, unsigned wave,
                       uint32_t address[ISA_LANES], uint64_t *active);

#endif

/* Scalar memory instructions in flight; see cu_scalar_memory.c. */
#ifndef HEDDLE_COMPONENTS_AMD_COMPUTE_UNIT_CU_SCALAR_MEMORY_H
#define HEDDLE_COMPONENTS_AMD_COMPUTE_UNIT_CU_SCALAR_MEMORY_H

#include "compute_unit_state.h"

/* A scalar memory instruction in flight. Data that few of them need lie apart: cu_smem_data(). */
struct cu_smem {
    struct isa_inst inst;
    struct isa_scalar access;
    uint16_t wave;
    uint8_t unsent; /* next part to send */
    uint8_t parts;  /* lines touched: 1 or 2; 1 for a fence */
    uint8_t remaining;
#ifdef HEDDLE_PROFILE
    uint64_t pc;
#endif
};

static inline struct cu_smem *cu_smem_at(const struct compute_unit *c, unsigned number)
{
    return arena_at(struct cu_smem, c->smem_at) + number;
}

static inline unsigned cu_smem_number(const struct compute_unit *c, const struct cu_smem *e)
{
    return (unsigned)(e - cu_smem_at(c, 0));
}

/* The dwords that a store or an atomic sends, or that a load of two lines has got so far. */
static inline uint32_t *cu_smem_data(const struct compute_unit *c, const struct cu_smem *e)
{
    return arena_at(uint32_t, c->smem_data_at) + cu_smem_number(c, e) * CU_SMEM_DATA;
}

static enum cu_issue smem_issue(struct compute_unit *c, struct cu_wave *w,
                                const struct isa_inst *inst, uint64_t now);
static bool smem_send(struct compute_unit *c);
static void smem_receive(struct compute_unit *c, uint64_t now);

#endif

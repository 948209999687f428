/* Vector memory instructions in flight, and their lines; see cu_vector_memory.c. */
#ifndef HEDDLE_COMPONENTS_AMD_COMPUTE_UNIT_CU_VECTOR_MEMORY_H
#define HEDDLE_COMPONENTS_AMD_COMPUTE_UNIT_CU_VECTOR_MEMORY_H

#include "compute_unit_state.h"

enum {
    CU_LINES = 1088,          /* lines of all instructions in flight */
    CU_LAST_LINE = 0x7ff,     /* no line follows */
    CU_STAGE = ISA_LANES * 4, /* bytes */
    CU_WIDE_STAGE = ISA_LANES * 16
};

/* Ways in which the bytes of an instruction come to its lanes. A linear instruction, and one whose
 * lanes stay in lines, need no more than the places of each line's bytes. */
enum cu_vmem_shape { VMEM_ANY, VMEM_LINEAR, VMEM_IN_LINES };

/* One vector memory instruction in flight: the fields that most need, in two cache lines of the
 * host, since a large machine has thousands. Its bytes lie in a stage, cu_stage(). */
struct cu_vmem {
    uint64_t pc;
    uint64_t first_send; /* cycle of the earliest next request */
    uint64_t issued;     /* cycle */
    uint64_t base;       /* linear: address of lane 0 */
    uint64_t mask;       /* lanes that move bytes */
    uint16_t wave;
    uint16_t next;      /* next instruction of the same wavefront */
    uint16_t unsent;    /* first line not sent */
    uint16_t remaining; /* lines not answered */
    uint16_t rest;      /* struct cu_vmem_rest, or CU_NONE */
    uint8_t shape;      /* enum cu_vmem_shape: how bytes come to lanes */
    uint8_t kind;       /* enum isa_memory_kind */
    uint8_t bytes;      /* in memory, a lane */
    bool returns;       /* loads, and atomics that return */
    bool raises_lgkm;   /* counts in lgkmcnt, too */
    bool is_fence;      /* a cache operation: a fence instead of lines */
    uint8_t pace;       /* cycles that its next line waits longer for its address */
    uint8_t scope;      /* scope of a store: enum scope */
    bool is_coherent;   /* a load past the L1 (glc) */
    struct isa_inst inst;
};

/* Further state of an instruction whose lanes are neither linear nor within lines. */
struct cu_vmem_rest {
    struct isa_memory access;
    uint8_t compare[ISA_LANES * 8];
};

/* A line of an instruction; its number is the tag of its request. A large machine has a hundred
 * thousand. */
struct cu_line {
    uint64_t lanes;
    /* address / CU_LINE, from bit 42 on the number of the struct cu_vmem, from bit 53 on the next
     * line or CU_LAST_LINE; virtual addresses have 48 bits. */
    uint64_t packed;
};
_Static_assert(CU_LINES < CU_LAST_LINE, "the number of a line has 11 bits");

static inline struct cu_line cu_line_of(struct coalesced_line line, unsigned owner, unsigned next)
{
    return (struct cu_line){line.lanes,
                            line.address / CU_LINE | (uint64_t)owner << 42 | (uint64_t)next << 53};
}

static inline unsigned cu_line_owner(const struct cu_line *l)
{
    return (unsigned)(l->packed >> 42) & CU_LAST_LINE;
}

static inline unsigned cu_line_next(const struct cu_line *l)
{
    return (unsigned)(l->packed >> 53);
}

static inline struct cu_line *cu_line_at(const struct compute_unit *c, unsigned number)
{
    return arena_at(struct cu_line, c->lines_at) + number;
}

/* The line as the coalescer describes it. */
static inline struct coalesced_line cu_coalesced(const struct compute_unit *c, unsigned number)
{
    const struct cu_line *l = cu_line_at(c, number);
    return (struct coalesced_line){l->packed << 22 >> 16, l->lanes};
}

/* Room for the lines of one more vector memory instruction. */
static inline bool cu_has_lines(const struct compute_unit *c)
{
    return index_pool_used(&c->free_lines) + COALESCER_LINES_MAX <= CU_LINES;
}

static inline struct cu_vmem *cu_vmem_at(const struct compute_unit *c, unsigned number)
{
    return arena_at(struct cu_vmem, c->vmem_table_at) + number;
}

static inline struct cu_vmem_rest *cu_vmem_rest_at(const struct compute_unit *c, unsigned number)
{
    return arena_at(struct cu_vmem_rest, c->vmem_rest_at) + number;
}

static inline uint8_t *cu_lane_offsets(const struct compute_unit *c, unsigned number)
{
    return arena_at(uint8_t, c->lane_offsets_at) + (size_t)number * ISA_LANES;
}

/* The bytes that the lanes of a vector memory instruction move: those of lane l at l * bytes. The
 * wide ones lie apart, since few programs use them. */
static inline uint8_t *cu_stage(const struct compute_unit *c, const struct cu_vmem *e)
{
    size_t number = (size_t)(e - cu_vmem_at(c, 0));
    return e->bytes > 4 ? arena_at(uint8_t, c->wide_stages_at) + number * CU_WIDE_STAGE
                        : arena_at(uint8_t, c->stages_at) + number * CU_STAGE;
}

static void vmem_unblock(struct compute_unit *c, uint64_t now);
static inline bool vmem_is_full(const struct compute_unit *c);
static enum cu_issue vmem_issue(struct compute_unit *c, struct cu_wave *w,
                                const struct isa_inst *inst, uint64_t now);
static bool vmem_send(struct compute_unit *c, uint64_t now);
static uint64_t vmem_next_send(const struct compute_unit *c);
static void vmem_receive(struct compute_unit *c, uint64_t now);

#endif

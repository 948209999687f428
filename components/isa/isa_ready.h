/*
 * isa_ready.h - instructions made ready for being executed many times, for a caller that executes
 * without timing.
 *
 * isa_execute() finds out anew, each time, which unit and kernel an instruction needs, where its
 * operands are, whether it has modifiers. isa_prepare() does so once; what is left for each
 * execution stands in a struct isa_ready, whose run() does what isa_execute() does, byte for byte.
 *
 * A struct isa_ready holds pointers (to functions, and to the instruction), so it is not state: it
 * belongs into a cache of the process. It holds for the variant that was current when it was made.
 */
#ifndef HEDDLE_ISA_READY_H
#define HEDDLE_ISA_READY_H

#include "isa.h"

struct isa_ready;
typedef enum isa_status isa_runner(struct isa_context *ctx, struct isa_wave *wave,
                                   const struct isa_ready *ready);

enum isa_ready_source {
    ISA_READY_NONE,
    ISA_READY_VGPR,     /* `source` is the place of its first lane in ctx->vgpr */
    ISA_READY_SGPR,     /* `source` is an operand code */
    ISA_READY_CONSTANT, /* `constant`, modifiers applied */
};

/* A vector load or store that moves registers as they are, by flat or global addresses; a scalar
 * load. These are for the caller to execute: run() answers ISA_IS_MEMORY. */
enum isa_ready_memory {
    ISA_READY_OTHER,
    ISA_READY_LOAD,        /* lanes' bytes, 1 and 2 extended by zeros */
    ISA_READY_LOAD_SIGNED, /* 1 or 2, extended by their sign */
    ISA_READY_STORE,       /* the low bytes of `data` */
    ISA_READY_SCALAR_LOAD, /* `dwords` SGPRs from `dst` on; address: the pair `base` + `offset` */
};

/* What run() needs; made by isa_prepare() and read by components/isa only, but for `run`,
 * `inst`, `size` and the fields of memory instructions. */
struct isa_ready {
    isa_runner *run;
    const struct isa_inst *inst;
    void (*kernel)(void); /* of the variant's own type */
    uint64_t constant[3];
    uint16_t source[3];
    uint16_t dst; /* place of its first lane in ctx->vgpr */
    uint8_t kind[3];
    uint8_t wide; /* bit i: source i has two dwords */
    uint8_t sources, dwords; /* dwords: of the destination */
    uint8_t size;            /* of the instruction */
    uint32_t clear[3], flip[3]; /* fp32 sources: abs and neg as masks of the sign; all ones, 0 */
    uint8_t memory;             /* enum isa_ready_memory */
    uint8_t bytes;              /* that a lane moves */
    uint16_t base;    /* SGPR pair that 32-bit addresses are relative to, or ISA_NO_OPERAND */
    uint16_t address; /* place of the address register's first lane in ctx->vgpr */
    uint16_t data;    /* of the register that is stored, or of the first that is loaded */
    int64_t offset;
};

/* *inst must live as long as *out. `vgprs`: what isa_context.vgpr_count will be. Never fails: what
 * cannot be executed says so in run(). */
void isa_prepare(const struct isa_inst *inst, uint32_t vgprs, struct isa_ready *out);

#endif

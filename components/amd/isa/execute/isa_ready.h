/* Instructions prepared to be executed many times by a caller without timing.
 *
 * isa_execute() looks up each time which unit and kernel an instruction needs, where its operands
 * are, and whether it has modifiers. isa_prepare() does so once and fills a struct isa_ready. Its
 * run() gives the results of isa_execute(), byte for byte.
 *
 * run() works in a struct isa_workspace of the caller's, for one wavefront at a time, between
 * isa_workspace_begin() and isa_workspace_end(). In between, the host's MXCSR may treat fp32
 * denormals as zeros (DAZ), by the wavefront's MODE; other code that computes with floating point
 * there first calls isa_workspace_plain().
 *
 * A struct isa_ready holds pointers (to functions, and to the instruction), so it is not state: it
 * belongs into a cache of the process. It holds for the variant that was current when it was made.
 */
#ifndef HEDDLE_COMPONENTS_AMD_ISA_EXECUTE_ISA_READY_H
#define HEDDLE_COMPONENTS_AMD_ISA_EXECUTE_ISA_READY_H

#include "base/likely.h"
#include "components/amd/isa/isa.h"

/* Operands of a vector instruction's kernel beside its sources. */
struct isa_environment {
    uint64_t mask_in; /* carries or conditions */
    uint64_t mask_out;
    uint32_t keep_in, keep_out; /* 0x80000000 flushes fp32 denormals, all ones keeps them */
    uint32_t mode; /* isa_wave.mode, with the denormals that hold for the row; see isa_flushes_in */
    /* For isa_rounding.c, which alone looks at them. */
    uint8_t round, round_half; /* fp32, fp16: 0 nearest even, 1 up, 2 down, 3 to zero */
};

/* Denormals of fp64 and fp16 are zeros, as sources and as results. */
static inline bool isa_flushes_in(const struct isa_environment *env)
{
    return !(env->mode & 0x40);
}
static inline bool isa_flushes_out(const struct isa_environment *env)
{
    return !(env->mode & 0x80);
}

/* Between the instructions of a wavefront; not state. */
struct isa_workspace {
    _Alignas(64) uint32_t result[128];
    uint32_t source[3][128];
    struct isa_environment env;
    uint32_t mode;       /* isa_wave.mode that this is for, if it is usual: see isa_valu_ready.c */
    bool flushes;        /* fp32 denormals are zeros in it, as sources and as results */
    bool is_uniform;     /* denormals are handled alike as sources and as results */
    bool daz;            /* the host's MXCSR treats denormals as zeros, now */
    float one;           /* 1, unknown to the compiler */
    uint64_t idle_lanes; /* idle lanes of vector ALU instructions, since a caller set it to 0 */
};

void isa_workspace_begin(struct isa_workspace *work);
void isa_workspace_set_daz(struct isa_workspace *work, bool daz);

static inline void isa_workspace_plain(struct isa_workspace *work)
{
    if (unlikely(work->daz))
        isa_workspace_set_daz(work, false);
}

static inline void isa_workspace_end(struct isa_workspace *work)
{
    isa_workspace_plain(work);
}

struct isa_ready;
typedef enum isa_status isa_runner(struct isa_context *ctx, struct isa_wave *wave,
                                   const struct isa_ready *ready, struct isa_workspace *work);

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

/* An instruction ready for run(); made by isa_prepare() and read by components/amd/isa only, but
 * for `run`, `inst`, `size` and the fields of memory instructions. */
struct isa_ready {
    isa_runner *run;
    const struct isa_inst *inst;
    void (*kernel)(void); /* has the variant's own type */
    union {
        uint64_t constant[3]; /* vector ALU; LDS loads of two elements: their offsets */
        int64_t offset;       /* memory and LDS: bytes */
    };
    uint32_t source[3];      /* memory: source[0] is the place of the address register */
    uint32_t dst;            /* place of its first lane in ctx->vgpr; SGPR number */
    uint8_t kind[3];         /* enum isa_ready_source */
    uint8_t abs, neg;        /* bit i: source i, of fp32 */
    uint8_t wide;            /* bit i: source i has two dwords */
    uint8_t sources, dwords; /* dwords: of the destination */
    uint8_t size;            /* bytes of the instruction */
    uint8_t mask_in;         /* operand code of the mask that may be read */
    uint16_t mask_out;       /* scalar of the mask that is written, or ISA_OPERAND_NONE */
    bool sets_exec;
    bool is_direct; /* no source is a register that is written */
    uint8_t memory; /* enum isa_ready_memory */
    uint8_t bytes;  /* bytes that a lane moves */
    uint16_t base;  /* SGPR pair that 32-bit addresses are relative to, or ISA_OPERAND_NONE */
    uint32_t data;  /* place of the first register that is stored or loaded */
};

/* *inst must live as long as *out. `vgprs`, `agprs`: what isa_context.vgpr_count and agpr_count
 * will be. Never fails: run() of an instruction that cannot be executed returns the error. */
void isa_prepare(const struct isa_inst *inst, uint32_t vgprs, uint32_t agprs,
                 struct isa_ready *out);

#endif

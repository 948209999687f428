/* The scalar ALU, branches and program control: a function for each row of gcn_sop.tab.
 * isa_execute() finds the function of a row, prepared instructions hold it.
 *
 * Each row expands to: load sources and the old destination, the semantics, store what its kind
 * stores. */
#include "components/amd/isa/tables/isa_table.h"

#include "isa_valu.h"

#define UNUSED __attribute__((unused))

/* ---- helpers that the table names ---- */

static uint64_t field_unsigned(uint64_t value, unsigned offset, unsigned width, unsigned bits)
{
    if (!width)
        return 0;
    value = (value & (bits == 32 ? 0xffffffff : ~UINT64_C(0))) >> offset;
    return width >= bits ? value : value & ((UINT64_C(1) << width) - 1);
}

static uint64_t field_signed(uint64_t value, unsigned offset, unsigned width, unsigned bits)
{
    if (!width)
        return 0;
    if (bits == 32)
        value = (uint64_t)(int64_t)(int32_t)value;
    if (width > bits - offset)
        width = bits - offset;
    unsigned up = 64 - width;
    return (uint64_t)((int64_t)(value >> offset << up) >> up);
}

static uint32_t lowest_one(uint64_t value)
{
    return value ? (uint32_t)__builtin_ctzll(value) : 0xffffffff;
}

static uint32_t leading_zeros(uint64_t value, unsigned bits)
{
    return value ? (uint32_t)__builtin_clzll(value) - (64 - bits) : 0xffffffff;
}

static uint64_t reverse_bits(uint64_t value)
{
    uint64_t out = 0;
    for (unsigned i = 0; i < 64; i++)
        out |= (value >> i & 1) << (63 - i);
    return out;
}

static uint64_t whole_quads(uint64_t value)
{
    uint64_t any = value | value >> 1;
    any = (any | any >> 2) & UINT64_C(0x1111111111111111);
    return any * 15;
}

static uint64_t quad_mask(uint64_t value)
{
    uint64_t out = 0;
    for (unsigned quad = 0; quad < 16; quad++)
        out |= (uint64_t)((value >> 4 * quad & 15) != 0) << quad;
    return out;
}

static uint64_t replicate_bits(uint32_t value)
{
    uint64_t out = 0;
    for (unsigned i = 0; i < 32; i++)
        out |= (uint64_t)(value >> i & 1) * 3 << 2 * i;
    return out;
}

/* Registers relative to M0. Beyond the plain ones a source is s0, and nothing is written (GCN3 ISA
 * manual, "Out-of-Range behavior"). */
static bool is_plain(uint64_t first, unsigned dwords)
{
    return first + dwords <= ISA_FLAT_SCRATCH;
}

static unsigned relative_source(const struct isa_wave *w, unsigned code, unsigned dwords)
{
    uint64_t first = (uint64_t)code + w->sgpr[ISA_M0];
    return is_plain(first, dwords) ? (unsigned)first : 0;
}

static void write_relative(struct isa_wave *w, unsigned code, uint64_t value, unsigned dwords)
{
    uint64_t first = (uint64_t)code + w->sgpr[ISA_M0];
    if (is_plain(first, dwords))
        memcpy(&w->sgpr[first], &value, (size_t)4 * dwords);
}

/* ---- MODE and M0 ---- */

enum { MODE_INDEXED = 27, MODE_SKIP = 28, MODE_STACK = 29 }; /* bits */

static void set_field(uint32_t *word, unsigned low, unsigned bits, uint32_t value)
{
    uint32_t mask = ((1u << bits) - 1) << low;
    *word = (*word & ~mask) | (value << low & mask);
}

/* ---- the branch stack ---- */

/* Where lanes part (s_cbranch_*_fork), the smaller party goes first, and the other's mask and
 * address wait in four SGPRs: s[4 * CSP] and up, CSP being MODE[31:29]. Where paths meet
 * (s_cbranch_join) with the CSP that was before, all have come; else the next party goes
 * (GCN3 ISA manual, "Arbitrary divergent control flow"). */

/* Returns the pc to continue at: `target` with the lanes of `condition`, or `next`. */
static uint64_t fork_paths(struct isa_wave *w, uint64_t condition, uint64_t target, uint64_t next)
{
    uint64_t exec = isa_wave_exec(w), pass = condition & exec, fail = ~condition & exec;
    unsigned stack = w->mode >> MODE_STACK;
    if (pass == exec || fail == exec)
        return pass == exec ? target : next;
    bool fail_first = __builtin_popcountll(fail) < __builtin_popcountll(pass);
    isa_wave_set_pair(w, stack * 4, fail_first ? pass : fail);
    isa_wave_set_pair(w, stack * 4 + 2, fail_first ? target : next);
    isa_wave_set_pair(w, ISA_EXEC, fail_first ? fail : pass);
    set_field(&w->mode, MODE_STACK, 3, stack + 1);
    return fail_first ? next : target;
}

static uint64_t join_paths(struct isa_wave *w, uint32_t before, uint64_t next)
{
    unsigned stack = w->mode >> MODE_STACK;
    if (stack == before)
        return next;
    stack = (stack - 1) & 7;
    set_field(&w->mode, MODE_STACK, 3, stack);
    isa_wave_set_pair(w, ISA_EXEC, isa_wave_pair(w, stack * 4));
    return isa_wave_pair(w, stack * 4 + 2);
}

/* ---- hardware registers (s_getreg, s_setreg) ---- */

enum {
    HW_MODE = 1,
    HW_STATUS,
    HW_TRAPSTS,
    HW_ID,
    HW_GPR_ALLOC,
    HW_LDS_ALLOC,
    HW_IB_STS,
    HW_SH_MEM_BASES = 15,
    HW_XCC_ID = 20
};

static uint32_t read_hardware(const struct isa_context *ctx, const struct isa_wave *w, unsigned id)
{
    switch (id) {
    case HW_MODE:
        return w->mode;
    case HW_STATUS:
        return (w->status & ~0x601u) | w->scc | (uint32_t)!isa_wave_exec(w) << 9
               | (uint32_t)!isa_wave_vcc(w) << 10;
    case HW_TRAPSTS:
        return w->trapsts;
    case HW_ID:
        return w->hw_id;
    case HW_GPR_ALLOC:
        return w->gpr_alloc;
    case HW_LDS_ALLOC:
        return w->lds_alloc;
    case HW_IB_STS:
        return w->ib_sts;
    case HW_SH_MEM_BASES: /* bits 63:48 of both apertures, private in the lower half */
        return (uint32_t)(ctx->private_aperture >> 48)
               | (uint32_t)(ctx->shared_aperture >> 48) << 16;
    case HW_XCC_ID:
        return w->xcc_id;
    default:
        return 0;
    }
}

static uint32_t getreg(const struct isa_context *ctx, const struct isa_wave *w,
                       const struct isa_inst *inst)
{
    unsigned imm = (uint16_t)inst->simm, offset = imm >> 6 & 31, width = (imm >> 11) + 1;
    return (uint32_t)field_unsigned(read_hardware(ctx, w, imm & 63), offset, width, 32);
}

/* Only MODE and TRAPSTS are writable by a program; other writes are dropped, as on hardware. */
static void setreg(struct isa_wave *w, const struct isa_inst *inst, uint32_t value)
{
    unsigned imm = (uint16_t)inst->simm, offset = imm >> 6 & 31, width = (imm >> 11) + 1;
    uint32_t mask = (uint32_t)((width >= 32 ? ~UINT64_C(0) : (UINT64_C(1) << width) - 1) << offset);
    uint32_t *target = (imm & 63) == HW_MODE      ? &w->mode
                       : (imm & 63) == HW_TRAPSTS ? &w->trapsts
                                                  : NULL;
    if (target)
        *target = (*target & ~mask) | (value << offset & mask);
}

/* ---- the rows ---- */

#define SOURCE(i, T) isa_scalar_value(ctx, w, inst, inst->src[i], TYPE_##T)
#define LOAD_NONE(x, i)
#define LOAD_U32(x, i) UNUSED uint32_t x = (uint32_t)SOURCE(i, U32);
#define LOAD_I32(x, i) UNUSED int32_t x = (int32_t)SOURCE(i, I32);
#define LOAD_U64(x, i) UNUSED uint64_t x = SOURCE(i, U64);
#define LOAD_I64(x, i) UNUSED int64_t x = (int64_t)SOURCE(i, I64);
#define LOAD_IMM(x, i) UNUSED int32_t imm = inst->simm;
#define LOAD_UIMM(x, i)
#define LOAD_HWREG(x, i)
#define LOAD_REL(x, i)
#define LOAD_REL64(x, i)
#define LOAD_WAIT(x, i)
#define LOAD_MSG(x, i)
#define LOAD_IDXIMM(x, i)
#define LOAD_REL16(x, i) UNUSED uint64_t target = next + (uint64_t)((int64_t)inst->simm * 4);

#define OLD_NONE
#define OLD_U32 UNUSED uint32_t d = w->sgpr[inst->dst];
#define OLD_I32 UNUSED int32_t d = (int32_t)w->sgpr[inst->dst];
#define OLD_U64 UNUSED uint64_t d = isa_wave_pair(w, inst->dst);
#define OLD_I64 UNUSED int64_t d = (int64_t)isa_wave_pair(w, inst->dst);

#define PUT_NONE
#define PUT_U32 w->sgpr[inst->dst] = d;
#define PUT_I32 w->sgpr[inst->dst] = (uint32_t)d;
#define PUT_U64 isa_wave_set_pair(w, inst->dst, d);
#define PUT_I64 isa_wave_set_pair(w, inst->dst, (uint64_t)d);

#define AFTER_S(D)  PUT_##D
#define AFTER_SC(D) PUT_##D w->scc = scc & 1;
#define AFTER_SX(D)                                                                                \
    PUT_##D w->scc = scc & 1;                                                                      \
    isa_wave_set_pair(w, ISA_EXEC, exec);
#define AFTER_SCD(D) w->scc = scc & 1;
#define AFTER_SRC(D)
#define AFTER_SRL(D)
#define AFTER_SRD(D)
#define AFTER_BR(D) PUT_##D
#define AFTER_P(D)
#define AFTER_UN(D)

/* One function a row, so that a caller that executes an instruction often needs no switch. */
#define INST(m, fmt, o8, o9, kind, D, A, B, C, timing, ...)                                        \
    static enum isa_status salu_##m(UNUSED struct isa_context *ctx, struct isa_wave *w,            \
                                    const struct isa_inst *inst)                                   \
    {                                                                                              \
        UNUSED uint64_t next = w->pc + inst->size, exec = isa_wave_exec(w);                        \
        UNUSED uint32_t scc = w->scc;                                                              \
        if (KIND_##kind >= KIND_UN)                                                                \
            return ISA_NOT_IMPLEMENTED;                                                            \
        OLD_##D LOAD_##A(a, 0) LOAD_##B(b, 1) __VA_ARGS__;                                         \
        AFTER_##kind(D) w->pc = next;                                                              \
        return ISA_OK;                                                                             \
    }
#include "components/amd/isa/tables/gcn_sop.tab"
#undef INST

#define INST(m, ...) [ISA_OP_##m] = salu_##m,
static isa_salu_row *const rows[ISA_OP_VALU_FIRST] = {
#include "components/amd/isa/tables/gcn_sop.tab"
};
#undef INST

isa_salu_row *isa_salu_find(const struct isa_inst *inst)
{
    bool own = inst->op < ISA_OP_VALU_FIRST && !(inst->flags & ISA_IS_TRAP);
    return own ? rows[inst->op] : isa_salu_execute;
}

enum isa_status isa_salu_execute(struct isa_context *ctx, struct isa_wave *w,
                                 const struct isa_inst *inst)
{
    if (inst->op >= ISA_OP_VALU_FIRST)
        return ISA_NOT_IMPLEMENTED;
    enum isa_status status = rows[inst->op](ctx, w, inst);
    if (status == ISA_OK && (inst->flags & ISA_IS_TRAP)) {
        w->trapped = (uint8_t)(inst->simm + 1);
        return ISA_TRAPPED;
    }
    return status;
}

/* Rules of wait states, from gcn_hazards.tab. A class is what rules distinguish, one bit each; an
 * instruction is in several. */
#include "isa_hazard.h"

#include "base/number.h"
#include "components/amd/isa/tables/isa_table.h"

enum class {
    VALU = 1 << 0,
    PLAIN = 1 << 1, /* VALU, but no matrix product */
    PLAIN_NOT_DOT = 1 << 2,
    DOT = 1 << 3,
    TRANS = 1 << 4,
    NOT_TRANS = 1 << 5,
    PARTIAL = 1 << 6, /* writes a part of a register */
    DPP = 1 << 7,
    DIV_FMAS = 1 << 8,
    FMA64 = 1 << 9,
    READ_LANE = 1 << 10,
    WRITE_LANE = 1 << 11,
    LANE = 1 << 12, /* takes the number of a lane */
    READS_VCCZ = 1 << 13,
    READS_EXECZ = 1 << 14,
    XDL = 1 << 15,    /* matrix products of few bits */
    SGEMM = 1 << 16,  /* CDNA3: matrix products of floats */
    DGEMM4 = 1 << 17, /* matrix products of doubles */
    DGEMM16 = 1 << 18,
    TWO_PASSES = 1 << 19,
    ACC_READ = 1 << 20,
    ACC_WRITE = 1 << 21,
    VMEM = 1 << 22,
    DS = 1 << 23,
    WIDE_STORE = 1 << 24,
    SALU = 1 << 25,
    SETREG = 1 << 26,
    GETREG = 1 << 27,
    SETS_SKIP = 1 << 28,
    MESSAGE = 1 << 29,  /* takes M0 along */
    RELATIVE = 1 << 30, /* by M0: registers, lanes' numbers, LDS from memory */
    DGEMM = DGEMM4 | DGEMM16,
    MFMA = XDL | SGEMM | DGEMM,
    PLAIN_OR_MEMORY = PLAIN | VMEM | DS
};

/* Registers of an instruction that a rule is about. */
enum uses {
    HAZARD_USE_NONE,
    HAZARD_WRITES_SCALAR,
    HAZARD_WRITES_VCC,
    HAZARD_WRITES_EXEC,
    HAZARD_WRITES_M0,
    HAZARD_WRITES_VECTOR,
    HAZARD_READS_SCALAR, /* EXEC and M0 only where the instruction names them */
    HAZARD_READS_LANE,   /* the number of a lane */
    HAZARD_READS_VECTOR,
    HAZARD_READS_AB, /* factors */
    HAZARD_READS_C,  /* the addend of a matrix product */
    HAZARD_STORE_DATA
};

/* Registers by which the two instructions of a rule meet. */
enum meet {
    HAZARD_NONE, /* each has its use, and that is enough */
    HAZARD_ANY,  /* a register is in both */
    HAZARD_PART, /* a register is in both, and they begin at different ones or differ in width */
    HAZARD_SAME,
    HAZARD_SAME_HWREG,
    HAZARD_SAME_DOT, /* ANY, and both are the same dot product; or not */
    HAZARD_OTHER_DOT,
    HAZARD_BEHIND_DGEMM /* ANY, and a matrix product of doubles lies between them */
};

enum generation {
    GCN3 = 1 << 0,
    VEGA = 1 << 1,
    CDNA1 = 1 << 2,
    CDNA2 = 1 << 3,
    CDNA3 = 1 << 4,
    FROM_CDNA2 = CDNA2 | CDNA3,
    FROM_VEGA = VEGA | CDNA1 | FROM_CDNA2,
    ALL = GCN3 | FROM_VEGA,
    BEFORE_CDNA3 = ALL & ~CDNA3
};

struct rule {
    uint32_t generations, first, second; /* masks: of generations, of classes */
    uint8_t first_uses, second_uses;     /* enum uses */
    uint8_t meet;                        /* enum meet */
    int8_t states, passes;
};

static const struct rule rules[] = {
#define RULE(generations, first, first_uses, second, second_uses, meet, states, passes)            \
    {generations,          first,         second, HAZARD_##first_uses,                             \
     HAZARD_##second_uses, HAZARD_##meet, states, passes},
#include "components/amd/isa/tables/gcn_hazards.tab"
#undef RULE
};
enum { RULE_COUNT = ARRAY_COUNT(rules) };
_Static_assert(RULE_COUNT <= 64, "struct isa_hazard_code has a bit for each rule");

/* ---- classes ---- */

static enum generation generation_of(const struct isa_inst *inst)
{
    static const uint8_t with_matrices[] = {
        [ISA_MATRIX_CDNA1] = CDNA1, [ISA_MATRIX_CDNA2] = CDNA2, [ISA_MATRIX_CDNA3] = CDNA3};
    unsigned matrix = isa_traits[inst->target].matrix;
    if (matrix != ISA_MATRIX_NONE)
        return with_matrices[matrix];
    return isa_is_gfx9(inst->target) ? VEGA : GCN3;
}

enum { HWREG_MODE = 1, MODE_SKIP_BIT = 28 };

static uint32_t setreg_classes(const struct isa_inst *inst)
{
    unsigned id = inst->simm & 63, offset = (unsigned)inst->simm >> 6 & 31,
             size = ((unsigned)inst->simm >> 11 & 31) + 1;
    bool skip = id == HWREG_MODE && offset <= MODE_SKIP_BIT && offset + size > MODE_SKIP_BIT;
    return SETREG | (skip ? SETS_SKIP : 0u);
}

static uint32_t matrix_classes(const struct isa_inst *inst)
{
    const struct isa_mai_row *row = isa_mai_row(inst->op);
    unsigned type = isa_table[inst->op].type[1];
    uint32_t two = isa_matrix_passes(inst) == 2 ? TWO_PASSES : 0;
    if (type == TYPE_F64)
        return row->m == 16 ? DGEMM16 : DGEMM4;
    return (generation_of(inst) == CDNA3 && type == TYPE_F32 ? SGEMM : XDL) | two;
}

static bool writes_part(const struct isa_inst *inst)
{
    if (inst->flags & ISA_IS_SDWA)
        return inst->sel_dst != 6;
    return (inst->flags & ISA_IS_VOP3_FORM) && inst->format != ISA_VOP3P && (inst->opsel & 8);
}

static uint32_t valu_classes(const struct isa_inst *inst)
{
    const struct isa_table_row *row = &isa_table[inst->op];
    bool trans = inst->timing == ISA_TIMING_TRANS || inst->timing == ISA_TIMING_F64_TRANS;
    bool dot = strncmp(row->mnemonic, "v_dot", 5) == 0;
    uint32_t c = VALU | (trans ? TRANS : NOT_TRANS) | (writes_part(inst) ? PARTIAL : 0u);
    if (isa_mai_row(inst->op))
        return c | matrix_classes(inst);
    c |= PLAIN | (dot ? DOT : PLAIN_NOT_DOT) | (inst->flags & ISA_IS_DPP ? DPP : 0u);
    for (unsigned i = 0; i < 3; i++)
        c |= inst->src[i] == ISA_VCCZ ? READS_VCCZ : inst->src[i] == ISA_EXECZ ? READS_EXECZ : 0u;
    switch (inst->op) {
    case ISA_OP_v_div_fmas_f32:
    case ISA_OP_v_div_fmas_f64:
        return c | DIV_FMAS;
    case ISA_OP_v_fma_f64:
    case ISA_OP_v_fmac_f64:
        return c | FMA64;
    case ISA_OP_v_readlane_b32:
        return c | READ_LANE | LANE;
    case ISA_OP_v_readfirstlane_b32:
        return c | READ_LANE;
    case ISA_OP_v_writelane_b32:
        return c | WRITE_LANE | LANE;
    case ISA_OP_v_accvgpr_read_b32:
        return c | ACC_READ;
    case ISA_OP_v_accvgpr_write_b32: /* alone writes accumulators of their own */
        return generation_of(inst) == CDNA1 ? VALU | ACC_WRITE : c;
    default:
        return c;
    }
}

/* A store of more than two registers reads the rest of them late, but not where a register holds
 * the offset into its buffer. */
static bool is_wide_store(const struct isa_hazard_code *code)
{
    const struct isa_inst *inst = &code->inst;
    bool buffer = inst->format == ISA_MUBUF || inst->format == ISA_MTBUF;
    if (!(inst->flags & (ISA_IS_STORE | ISA_IS_ATOMIC)) || (buffer && inst->soffset < 128))
        return false;
    for (unsigned i = 0; i < code->count; i++)
        if (code->uses[i].place == ISA_USE_SOURCE1 && code->uses[i].dwords > 2)
            return true;
    return false;
}

static uint32_t memory_classes(const struct isa_hazard_code *code)
{
    const struct isa_inst *inst = &code->inst;
    unsigned kind = isa_table[inst->op].kind;
    if (inst->flags & (ISA_IS_GDS | ISA_IS_SYNC))
        return MESSAGE | DS;
    if (inst->unit == ISA_UNIT_LDS)
        return kind == KIND_LOADTID || kind == KIND_STORETID ? DS | RELATIVE : DS;
    bool lds = (inst->memory & ISA_MEM_LDS) || kind == KIND_LOADLDS || kind == KIND_STORELDS;
    return VMEM | (lds ? RELATIVE : 0u) | (is_wide_store(code) ? WIDE_STORE : 0u);
}

static uint32_t scalar_classes(const struct isa_inst *inst)
{
    unsigned kind = isa_table[inst->op].kind;
    switch (inst->op) {
    case ISA_OP_s_setreg_b32:
    case ISA_OP_s_setreg_imm32_b32:
        return SALU | setreg_classes(inst);
    case ISA_OP_s_getreg_b32:
        return SALU | GETREG;
    case ISA_OP_s_sendmsg:
    case ISA_OP_s_sendmsghalt:
    case ISA_OP_s_ttracedata:
        return MESSAGE;
    default:
        break;
    }
    bool relative = kind == KIND_SRD || isa_table[inst->op].type[1] == TYPE_REL
                    || isa_table[inst->op].type[1] == TYPE_REL64;
    return inst->unit == ISA_UNIT_SALU ? SALU | (relative ? RELATIVE : 0u) : 0;
}

static uint32_t classes_of(const struct isa_hazard_code *code)
{
    switch (code->inst.unit) {
    case ISA_UNIT_VALU:
        return valu_classes(&code->inst);
    case ISA_UNIT_VMEM:
    case ISA_UNIT_LDS:
        return memory_classes(code);
    case ISA_UNIT_SMEM:
        return 0;
    default:
        return scalar_classes(&code->inst);
    }
}

/* ---- registers ---- */

static bool use_overlaps(const struct isa_use *u, unsigned code, unsigned dwords)
{
    return u->code < code + dwords && code < u->code + u->dwords;
}

static bool is_used_as(const struct isa_use *u, unsigned uses)
{
    bool vector = isa_use_is_vector(u);
    bool implied = u->place == ISA_USE_IMPLIED && u->code != ISA_VCC;
    switch (uses) {
    case HAZARD_WRITES_SCALAR:
        return u->written && !vector;
    case HAZARD_WRITES_VCC:
        return u->written && use_overlaps(u, ISA_VCC, 2);
    case HAZARD_WRITES_EXEC:
        return u->written && use_overlaps(u, ISA_EXEC, 2);
    case HAZARD_WRITES_M0:
        return u->written && use_overlaps(u, ISA_M0, 1);
    case HAZARD_WRITES_VECTOR:
        return u->written && vector;
    case HAZARD_READS_SCALAR:
        return !u->written && !vector && !implied;
    case HAZARD_READS_LANE:
        return !u->written && !vector && u->place == ISA_USE_SOURCE1;
    case HAZARD_READS_VECTOR:
        return !u->written && vector;
    case HAZARD_READS_AB:
        return !u->written && vector && u->place <= ISA_USE_SOURCE1;
    case HAZARD_READS_C:
        return !u->written && vector && u->place == ISA_USE_SOURCE2;
    case HAZARD_STORE_DATA:
        return !u->written && vector && u->place == ISA_USE_SOURCE1;
    default:
        return false;
    }
}

static bool has_use(const struct isa_hazard_code *code, unsigned uses)
{
    for (unsigned i = 0; i < code->count; i++)
        if (is_used_as(&code->uses[i], uses))
            return true;
    return uses == HAZARD_USE_NONE;
}

static bool uses_meet(const struct isa_use *a, const struct isa_use *b, unsigned meet)
{
    bool same = a->code == b->code && a->dwords == b->dwords;
    return use_overlaps(a, b->code, b->dwords)
           && (meet == HAZARD_PART   ? !same
               : meet == HAZARD_SAME ? same
                                     : true);
}

/* The first register that the two share as the rule has it, or ISA_OPERAND_NONE. */
static unsigned shared_register(const struct rule *r, const struct isa_hazard_code *first,
                                const struct isa_hazard_code *second)
{
    for (unsigned i = 0; i < first->count; i++) {
        const struct isa_use *a = &first->uses[i];
        if (!is_used_as(a, r->first_uses))
            continue;
        for (unsigned k = 0; k < second->count; k++) {
            const struct isa_use *b = &second->uses[k];
            if (is_used_as(b, r->second_uses) && uses_meet(a, b, r->meet))
                return max(a->code, b->code);
        }
    }
    return ISA_OPERAND_NONE;
}

static bool is_dgemm(const struct isa_hazard_code *code)
{
    return code->passes && isa_table[code->inst.op].type[1] == TYPE_F64;
}

static bool meets(const struct rule *r, const struct isa_hazard_code *first,
                  const struct isa_hazard_code *last, const struct isa_hazard_code *second,
                  unsigned *code)
{
    *code = ISA_OPERAND_NONE;
    if (r->meet == HAZARD_NONE)
        return true;
    if (r->meet == HAZARD_SAME_HWREG)
        return first->hwreg == second->hwreg;
    if ((r->meet == HAZARD_SAME_DOT && first->inst.op != second->inst.op)
        || (r->meet == HAZARD_OTHER_DOT && first->inst.op == second->inst.op)
        || (r->meet == HAZARD_BEHIND_DGEMM && (first == last || !is_dgemm(last))))
        return false;
    *code = shared_register(r, first, second);
    return *code != ISA_OPERAND_NONE;
}

/* ---- instructions ---- */

unsigned isa_hazard_states(const struct isa_hazard_code *first, const struct isa_hazard_code *last,
                           const struct isa_hazard_code *second, unsigned *code)
{
    int most = 0;
    for (uint64_t rest = first->as_first & second->as_second; rest; rest &= rest - 1) {
        const struct rule *r = &rules[__builtin_ctzll(rest)];
        int needed = r->states + r->passes * first->passes;
        unsigned shared;
        if (needed <= most || !meets(r, first, last, second, &shared))
            continue;
        most = needed;
        *code = shared;
    }
    return (unsigned)most;
}

void isa_hazard_make(const struct isa_inst *inst, struct isa_hazard_code *out)
{
    memset(out, 0, sizeof *out);
    out->inst = *inst;
    out->count = (uint8_t)isa_uses(inst, out->uses);
    out->states = 1;
    if (inst->op == ISA_OP_s_nop)
        out->states = (uint8_t)((inst->simm & (isa_is_gfx9(inst->target) ? 15 : 7)) + 1);
    out->hwreg = inst->simm & 63;
    out->passes = (uint8_t)(isa_mai_row(inst->op) ? isa_matrix_passes(inst) : 0);
    uint32_t classes = classes_of(out), generation = generation_of(inst);
    out->reads_all_lanes = out->passes || (classes & (DPP | READ_LANE | WRITE_LANE));
    for (unsigned i = 0; i < RULE_COUNT; i++) {
        if (!(rules[i].generations & generation))
            continue;
        if ((rules[i].first & classes) && has_use(out, rules[i].first_uses))
            out->as_first |= UINT64_C(1) << i;
        if ((rules[i].second & classes) && has_use(out, rules[i].second_uses))
            out->as_second |= UINT64_C(1) << i;
    }
}

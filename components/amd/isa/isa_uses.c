/* Registers that an instruction reads and writes. Widths are those of the tables, and of what the
 * decoder says of memory instructions. */
#include "isa_uses.h"

#include "base/number.h"
#include "components/amd/isa/tables/isa_table.h"

struct uses {
    struct isa_use *out;
    unsigned count;
};

static void add_use(struct uses *u, unsigned code, unsigned dwords, unsigned place, bool written)
{
    bool is_register = code < 128 || (code >= ISA_VGPR && code != ISA_OPERAND_NONE);
    if (!is_register || !dwords)
        return;
    u->out[u->count++] = (struct isa_use){.code = (uint16_t)code,
                                          .dwords = (uint8_t)dwords,
                                          .place = (uint8_t)place,
                                          .written = written};
}

static void add_read(struct uses *u, unsigned code, unsigned dwords, unsigned place)
{
    if (code == ISA_VCCZ || code == ISA_EXECZ)
        add_use(u, code == ISA_VCCZ ? ISA_VCC : ISA_EXEC, 2, place, false);
    else
        add_use(u, code, dwords, place, false);
}

/* Scalar instructions that keep a part of their destination, or whose destination is a source as
 * well. */
static bool reads_destination(const struct isa_inst *inst)
{
    switch (inst->op) {
    case ISA_OP_s_cmovk_i32:
    case ISA_OP_s_cmov_b32:
    case ISA_OP_s_cmov_b64:
    case ISA_OP_s_addk_i32:
    case ISA_OP_s_mulk_i32:
    case ISA_OP_s_bitset0_b32:
    case ISA_OP_s_bitset0_b64:
    case ISA_OP_s_bitset1_b32:
    case ISA_OP_s_bitset1_b64:
    case ISA_OP_s_cbranch_i_fork:
    case ISA_OP_v_swap_b32:
    case ISA_OP_v_writelane_b32:
        return true;
    default:
        return isa_table[inst->op].kind == KIND_SCD || isa_table[inst->op].kind == KIND_SRC;
    }
}

static bool reads_m0(const struct isa_inst *inst, const struct isa_table_row *row)
{
    switch (inst->op) {
    case ISA_OP_s_sendmsg:
    case ISA_OP_s_sendmsghalt:
    case ISA_OP_s_ttracedata:
    case ISA_OP_v_movrels_b32:
    case ISA_OP_v_movreld_b32:
    case ISA_OP_v_movrelsd_b32:
        return true;
    default:
        break;
    }
    return row->type[1] == TYPE_REL || row->type[1] == TYPE_REL64 || row->kind == KIND_SRD
           || row->kind == KIND_LOADTID || row->kind == KIND_STORETID || row->kind == KIND_APPEND
           || row->kind == KIND_CONSUME || (inst->flags & (ISA_IS_GDS | ISA_IS_SYNC))
           || row->kind == KIND_LOADLDS || row->kind == KIND_STORELDS
           || (inst->unit == ISA_UNIT_VMEM && (inst->memory & ISA_MEM_LDS));
}

static void add_implied(struct uses *u, const struct isa_inst *inst,
                        const struct isa_table_row *row)
{
    bool vector =
        inst->unit == ISA_UNIT_VALU || inst->unit == ISA_UNIT_VMEM || inst->unit == ISA_UNIT_LDS;
    if (row->kind == KIND_VI || inst->op == ISA_OP_s_cbranch_vccz
        || inst->op == ISA_OP_s_cbranch_vccnz)
        add_use(u, ISA_VCC, 2, ISA_USE_IMPLIED, false);
    if (reads_m0(inst, row))
        add_use(u, ISA_M0, 1, ISA_USE_IMPLIED, false);
    if (vector || row->kind == KIND_SX || inst->op == ISA_OP_s_cbranch_execz
        || inst->op == ISA_OP_s_cbranch_execnz)
        add_use(u, ISA_EXEC, 2, ISA_USE_IMPLIED, false);
    if (row->kind == KIND_SX || row->kind == KIND_CMPX)
        add_use(u, ISA_EXEC, 2, ISA_USE_IMPLIED, true);
    if (inst->op == ISA_OP_s_set_gpr_idx_on || inst->op == ISA_OP_s_set_gpr_idx_idx
        || inst->op == ISA_OP_s_set_gpr_idx_mode)
        add_use(u, ISA_M0, 1, ISA_USE_IMPLIED, true);
}

static unsigned operand_dwords(const struct isa_inst *inst, const struct isa_table_row *row,
                               unsigned operand)
{
    if (isa_mai_row(inst->op))
        return isa_mai_dwords(inst->op, operand);
    unsigned type = row->type[operand];
    if (operand == 3 && isa_kind_shape(row->kind) == KIND_MAC)
        type = row->type[0];
    if (operand == 3 && (row->kind == KIND_CI || row->kind == KIND_CIO))
        type = TYPE_MASK;
    return isa_type_dwords(type);
}

static void add_alu(struct uses *u, const struct isa_inst *inst, const struct isa_table_row *row)
{
    unsigned dwords = operand_dwords(inst, row, 0);
    bool sparse = row->kind == KIND_SMFMAC;
    for (unsigned i = 0; i < 3; i++)
        add_read(u, inst->src[i], operand_dwords(inst, row, i + 1),
                 sparse && i == 2 ? ISA_USE_SOURCE1 : ISA_USE_SOURCE0 + i);
    if (inst->op == ISA_OP_v_swap_b32)
        add_use(u, inst->src[0], 1, ISA_USE_SOURCE0, true);
    if (sparse)
        add_use(u, inst->dst, dwords, ISA_USE_SOURCE2, false);
    if (reads_destination(inst))
        add_use(u, inst->dst, dwords, ISA_USE_DESTINATION, false);
    if (row->kind != KIND_SCD && row->kind != KIND_SRC)
        add_use(u, inst->dst, dwords, ISA_USE_DESTINATION, true);
    add_use(u, inst->sdst, row->type[0] == TYPE_SREG ? 1 : 2, ISA_USE_SCALAR, true);
}

static void add_scalar_memory(struct uses *u, const struct isa_inst *inst,
                              const struct isa_table_row *row)
{
    bool buffer = row->kind == KIND_SBLOAD || row->kind == KIND_SBSTORE
                  || row->kind == KIND_SBATOMIC || row->kind == KIND_SBPROBE;
    bool atomic = row->kind == KIND_SATOMIC || row->kind == KIND_SBATOMIC;
    unsigned compares = row->operation == ISA_ATOMIC_CMPSWAP ? 2 : 1;
    add_use(u, inst->sdst, buffer ? 4 : 2, ISA_USE_SCALAR, false);
    if (inst->memory & ISA_MEM_OFFSET_IS_SGPR)
        add_use(u, inst->soffset, 1, ISA_USE_OFFSET, false);
    if (inst->flags & ISA_IS_CACHE_OP)
        return; /* the field is no register */
    if (atomic || (inst->flags & ISA_IS_STORE))
        add_use(u, inst->dst, inst->dwords * (atomic ? compares : 1), ISA_USE_SOURCE1, false);
    if (!(inst->flags & ISA_IS_STORE) && (!atomic || (inst->memory & ISA_MEM_GLC)))
        add_use(u, inst->dst, inst->dwords, ISA_USE_DESTINATION, true);
}

static void add_lds(struct uses *u, const struct isa_inst *inst, const struct isa_table_row *row)
{
    bool two = row->kind == KIND_LOAD2 || row->kind == KIND_LOAD2ST || row->kind == KIND_XCHG2
               || row->kind == KIND_XCHG2ST;
    add_use(u, inst->src[0], 1, ISA_USE_SOURCE0, false);
    add_use(u, inst->src[1], inst->dwords, ISA_USE_SOURCE1, false);
    add_use(u, inst->src[2], inst->dwords, ISA_USE_SOURCE2, false);
    add_use(u, inst->dst, inst->dwords * (two ? 2u : 1u), ISA_USE_DESTINATION, true);
}

static void add_vector_memory(struct uses *u, const struct isa_inst *inst,
                              const struct isa_table_row *row)
{
    bool buffer = inst->format == ISA_MUBUF || inst->format == ISA_MTBUF;
    bool both = buffer && (inst->memory & ISA_MEM_OFFEN) && (inst->memory & ISA_MEM_IDXEN);
    bool flat = inst->format == ISA_FLAT
                || (inst->format == ISA_GLOBAL && inst->soffset == ISA_OPERAND_NONE);
    bool compares = row->kind == KIND_ATOMIC && row->operation == ISA_ATOMIC_CMPSWAP;
    unsigned status = inst->memory & ISA_MEM_TFE ? 1 : 0;
    add_use(u, inst->src[0], flat || both ? 2 : 1, ISA_USE_SOURCE0, false);
    add_use(u, inst->src[1], inst->dwords * (compares ? 2u : 1u), ISA_USE_SOURCE1, false);
    if (buffer)
        add_use(u, inst->sdst, 4, ISA_USE_SCALAR, false);
    add_use(u, inst->soffset, inst->format == ISA_GLOBAL ? 2 : 1, ISA_USE_OFFSET, false);
    add_use(u, inst->dst, inst->dwords + status, ISA_USE_DESTINATION, true);
}

unsigned isa_uses(const struct isa_inst *inst, struct isa_use out[ISA_USES_MAX])
{
    const struct isa_table_row *row = &isa_table[inst->op];
    struct uses u = {.out = out};
    if (inst->format == ISA_SMEM)
        add_scalar_memory(&u, inst, row);
    else if (inst->format == ISA_DS)
        add_lds(&u, inst, row);
    else if (inst->unit == ISA_UNIT_VMEM)
        add_vector_memory(&u, inst, row);
    else
        add_alu(&u, inst, row);
    add_implied(&u, inst, row);
    return u.count;
}

enum isa_effect isa_effect(const struct isa_inst *inst)
{
    static const uint8_t effects[ISA_OP_COUNT] = {[ISA_OP_s_mov_b32] = ISA_MOVES,
                                                  [ISA_OP_s_mov_b64] = ISA_MOVES,
                                                  [ISA_OP_s_movk_i32] = ISA_MOVES,
                                                  [ISA_OP_v_mov_b32] = ISA_MOVES,
                                                  [ISA_OP_v_mov_b64] = ISA_MOVES,
                                                  [ISA_OP_v_accvgpr_mov_b32] = ISA_MOVES,
                                                  [ISA_OP_v_accvgpr_read_b32] = ISA_MOVES,
                                                  [ISA_OP_v_accvgpr_write_b32] = ISA_MOVES,
                                                  [ISA_OP_v_pk_mov_b32] = ISA_MOVES_PAIRS,
                                                  [ISA_OP_v_cndmask_b32] = ISA_SELECTS,
                                                  [ISA_OP_s_and_b32] = ISA_ANDS,
                                                  [ISA_OP_s_and_b64] = ISA_ANDS,
                                                  [ISA_OP_s_and_saveexec_b64] = ISA_ANDS,
                                                  [ISA_OP_s_or_b32] = ISA_ORS,
                                                  [ISA_OP_s_or_b64] = ISA_ORS,
                                                  [ISA_OP_s_or_saveexec_b64] = ISA_ORS,
                                                  [ISA_OP_s_andn2_b32] = ISA_ANDS_NOT,
                                                  [ISA_OP_s_andn2_b64] = ISA_ANDS_NOT,
                                                  [ISA_OP_s_andn2_saveexec_b64] = ISA_ANDS_NOT,
                                                  [ISA_OP_s_andn2_wrexec_b64] = ISA_ANDS_NOT,
                                                  [ISA_OP_s_orn2_b32] = ISA_ORS_NOT,
                                                  [ISA_OP_s_orn2_b64] = ISA_ORS_NOT,
                                                  [ISA_OP_s_orn2_saveexec_b64] = ISA_ORS_NOT,
                                                  [ISA_OP_s_not_b32] = ISA_XORS,
                                                  [ISA_OP_s_not_b64] = ISA_XORS,
                                                  [ISA_OP_s_xor_b32] = ISA_XORS,
                                                  [ISA_OP_s_xor_b64] = ISA_XORS,
                                                  [ISA_OP_s_xor_saveexec_b64] = ISA_XORS,
                                                  [ISA_OP_s_xnor_b32] = ISA_XORS,
                                                  [ISA_OP_s_xnor_b64] = ISA_XORS,
                                                  [ISA_OP_s_xnor_saveexec_b64] = ISA_XORS,
                                                  [ISA_OP_ds_bpermute_b32] = ISA_CROSSES_LANES,
                                                  [ISA_OP_ds_permute_b32] = ISA_CROSSES_LANES,
                                                  [ISA_OP_ds_swizzle_b32] = ISA_CROSSES_LANES,
                                                  [ISA_OP_v_readlane_b32] = ISA_READS_LANE,
                                                  [ISA_OP_v_readfirstlane_b32] =
                                                      ISA_READS_FIRST_LANE,
                                                  [ISA_OP_v_writelane_b32] = ISA_WRITES_LANE,
                                                  [ISA_OP_s_movrels_b32] = ISA_INDEXES,
                                                  [ISA_OP_s_movrels_b64] = ISA_INDEXES,
                                                  [ISA_OP_s_movreld_b32] = ISA_INDEXES,
                                                  [ISA_OP_s_movreld_b64] = ISA_INDEXES,
                                                  [ISA_OP_v_movrels_b32] = ISA_INDEXES,
                                                  [ISA_OP_v_movreld_b32] = ISA_INDEXES,
                                                  [ISA_OP_v_movrelsd_b32] = ISA_INDEXES};
    enum isa_kind kind = isa_table[inst->op].kind;
    return inst->flags & ISA_IS_DPP                   ? ISA_CROSSES_LANES
           : kind == KIND_MFMA || kind == KIND_SMFMAC ? ISA_MULTIPLIES_MATRICES
                                                      : (enum isa_effect)effects[inst->op];
}

bool isa_reads_scc(const struct isa_inst *inst)
{
    for (unsigned i = 0; i < ARRAY_COUNT(inst->src); i++)
        if (inst->src[i] == ISA_SCC)
            return true;
    switch (inst->op) {
    case ISA_OP_s_cselect_b32:
    case ISA_OP_s_cselect_b64:
    case ISA_OP_s_addc_u32:
    case ISA_OP_s_subb_u32:
    case ISA_OP_s_cmov_b32:
    case ISA_OP_s_cmov_b64:
    case ISA_OP_s_cmovk_i32:
    case ISA_OP_s_cbranch_scc0:
    case ISA_OP_s_cbranch_scc1:
        return true;
    default:
        return false;
    }
}

bool isa_saves_exec(const struct isa_inst *inst)
{
    return isa_table[inst->op].kind == KIND_SX && inst->op != ISA_OP_s_andn1_wrexec_b64
           && inst->op != ISA_OP_s_andn2_wrexec_b64;
}

/* Vector ALU instructions as text: operands, modifiers, SDWA, DPP, packed forms. */
#include "isa_text.h"

/* v_mov_b32 takes no neg and abs but in its SDWA form, where LLVM knows them as `sext`. */
static bool moves_word(const struct isa_text *t)
{
    return t->inst->op == ISA_OP_v_mov_b32;
}

/* In VOP3 and DPP forms with a float source, LLVM prints neg of an integer source as sext(). */
static bool extends_by_neg(const struct isa_text *t)
{
    const struct isa_inst *inst = t->inst;
    if (!(inst->flags & (ISA_IS_VOP3_FORM | ISA_IS_DPP)) || t->row->format == ISA_VOPC
        || isa_row_has_op_sel(t->row))
        return false;
    return isa_type_is_float(t->row->type[1]) && !moves_word(t);
}

/* Source i of a vector instruction with its modifiers. */
static void put_modified(struct isa_text *t, unsigned i)
{
    const struct isa_inst *inst = t->inst;
    unsigned type = t->row->type[i + 1], code = inst->src[i];
    bool packed = t->row->format == ISA_VOP3P && t->kind != KIND_MIX;
    bool takes = (isa_type_is_float(type) || type == TYPE_WF16) && !packed && !moves_word(t);
    bool neg = takes && (inst->neg >> i & 1), abs = takes && (inst->abs >> i & 1);
    bool sext =
        !takes && !packed && ((inst->sext >> i & 1) || (extends_by_neg(t) && (inst->neg >> i & 1)));
    isa_text_separate(t);
    bool in_brackets = neg && isa_text_is_constant(code) && !abs;
    const char *minus = in_brackets ? "neg(" : "-";
    isa_text_put(t, "%s%s%s", neg ? minus : "", abs ? "|" : "", sext ? "sext(" : "");
    /* LLVM's one operand that is an integer with floats as constants. */
    bool exponent = inst->op == ISA_OP_v_ldexp_f16;
    isa_text_source(t, code, exponent ? TYPE_F16 : type);
    isa_text_put(t, "%s%s%s", abs ? "|" : "", in_brackets ? ")" : "", sext ? ")" : "");
}

static void put_dpp(struct isa_text *t)
{
    static const char *const waves[] = {"shl", "rol", "shr", "ror"}; /* from 0x130 on, by 4 */
    static const char *const rows[] = {"mirror", "half_mirror", "bcast:15", "bcast:31"};
    const struct isa_inst *inst = t->inst;
    unsigned control = inst->dpp_ctrl;
    if (control <= 0xff)
        isa_text_put(t, " quad_perm:[%u,%u,%u,%u]", control & 3, control >> 2 & 3, control >> 4 & 3,
                     control >> 6 & 3);
    else if (control < 0x130)
        isa_text_put(t, " row_%s:%u",
                     control < 0x110   ? "shl"
                     : control < 0x120 ? "shr"
                                       : "ror",
                     control & 15);
    else if (control < 0x140)
        isa_text_put(t, " wave_%s:1", waves[(control - 0x130) / 4]);
    else if (control >= 0x150)
        isa_text_put(t, " row_newbcast:%u", control & 15);
    else
        isa_text_put(t, " row_%s", rows[control & 3]);
    isa_text_put(t, " row_mask:0x%x bank_mask:0x%x", inst->dpp_masks >> 4, inst->dpp_masks & 15);
    if (inst->dpp_bound)
        isa_text_put(t, " bound_ctrl:1");
}

static void put_sdwa(struct isa_text *t)
{
    static const char *const selects[] = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3",
                                          "WORD_0", "WORD_1", "DWORD"};
    static const char *const unused[] = {"UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"};
    const struct isa_inst *inst = t->inst;
    if (inst->format != ISA_VOPC && !isa_row_reads_fp8(t->row))
        isa_text_put(t, " dst_sel:%s dst_unused:%s", selects[inst->sel_dst],
                     unused[inst->unused_dst]);
    isa_text_put(t, " src0_sel:%s", selects[inst->sel_src[0]]);
    if (t->row->type[2] != TYPE_NONE)
        isa_text_put(t, " src1_sel:%s", selects[inst->sel_src[1]]);
}

static void put_op_sel(struct isa_text *t)
{
    const struct isa_inst *inst = t->inst;
    if (inst->format == ISA_VOP3P || !inst->opsel || !isa_row_has_op_sel(t->row))
        return;
    unsigned sources = 0;
    while (sources < 3 && t->row->type[sources + 1] != TYPE_NONE)
        sources++;
    if (inst->op == ISA_OP_v_cvt_sr_fp8_f32 || inst->op == ISA_OP_v_cvt_sr_bf8_f32)
        sources = 3; /* the third chooses the byte */
    if (!(inst->opsel & (8 | ((1u << sources) - 1))))
        return;
    isa_text_put(t, " op_sel:[");
    for (unsigned i = 0; i < sources; i++)
        isa_text_put(t, "%u,", inst->opsel >> i & 1);
    isa_text_put(t, "%u]", inst->opsel >> 3 & 1);
}

static void put_packed_bits(struct isa_text *t, const char *name, unsigned value, unsigned count)
{
    isa_text_put(t, " %s:[", name);
    for (unsigned i = 0; i < count; i++)
        isa_text_put(t, "%s%u", i ? "," : "", value >> i & 1);
    isa_text_put(t, "]");
}

static void put_packed_modifiers(struct isa_text *t)
{
    const struct isa_inst *inst = t->inst;
    if (t->row->type[2] == TYPE_NONE) /* moves from and to accumulators */
        return;
    unsigned sources = t->row->type[3] != TYPE_NONE ? 3 : 2, mask = (1u << sources) - 1;
    unsigned low = inst->opsel & mask, high = inst->opsel >> 4 & mask;
    bool mix = t->kind == KIND_MIX;
    if (low)
        put_packed_bits(t, "op_sel", low, sources);
    if (high != (mix ? 0 : mask))
        put_packed_bits(t, "op_sel_hi", high, sources);
    if (!mix && (inst->neg & mask))
        put_packed_bits(t, "neg_lo", inst->neg & mask, sources);
    if (!mix && (inst->abs & mask))
        put_packed_bits(t, "neg_hi", inst->abs & mask, sources);
}

static const char *form_suffix(const struct isa_text *t)
{
    const struct isa_inst *inst = t->inst;
    const struct isa_table_row *row = t->row;
    if (inst->op == ISA_OP_v_nop)
        return "";
    if (inst->flags & ISA_IS_SDWA)
        return row->format == ISA_VOPC && !isa_is_gfx9(inst->target)
                   ? ""
                   : "_sdwa"; /* llvm-mc leaves it out there */
    if (inst->flags & ISA_IS_DPP)
        return "_dpp";
    bool only_form = row->format == ISA_VOP3 || row->format == ISA_VOP3P || t->kind == KIND_MK
                     || t->kind == KIND_AK || row->type[0] == TYPE_NONE || row->type[0] == TYPE_SREG
                     || row->type[0] == TYPE_A32 || inst->op == ISA_OP_v_swap_b32;
    if (only_form)
        return "";
    return inst->flags & ISA_IS_VOP3_FORM ? "_e64" : "_e32";
}

static void put_vector_operands(struct isa_text *t)
{
    const struct isa_inst *inst = t->inst;
    const struct isa_table_row *row = t->row;
    if (row->type[0] == TYPE_SREG || row->type[0] == TYPE_MASK)
        isa_text_operand(t, inst->sdst, row->type[0]);
    else if (row->type[0] != TYPE_NONE)
        isa_text_operand(t, inst->dst, row->type[0]);
    if (t->kind == KIND_CO || t->kind == KIND_CIO || t->kind == KIND_SD)
        isa_text_operand(t, inst->sdst, TYPE_MASK);
    bool literal_in_middle = t->kind == KIND_MK;
    for (unsigned i = 0; i < 3; i++) {
        if (row->type[i + 1] == TYPE_NONE
            || (i == 2 && (t->kind == KIND_MAC || t->kind == KIND_MK)))
            continue;
        if (i == 1 && literal_in_middle)
            isa_text_operand(t, ISA_LITERAL, TYPE_B32);
        if (i == 2 && t->kind == KIND_AK)
            isa_text_operand(t, ISA_LITERAL, TYPE_B32);
        else
            put_modified(t, i);
    }
    if (t->kind == KIND_CIO || t->kind == KIND_CI)
        isa_text_operand(t, inst->src[2], TYPE_MASK);
}

static void put_vector(struct isa_text *t)
{
    static const char *const omods[] = {"", " mul:2", " mul:4", " div:2"};
    const struct isa_inst *inst = t->inst;
    isa_text_put(t, "%s", form_suffix(t));
    put_vector_operands(t);
    if (inst->format == ISA_VOP3P)
        put_packed_modifiers(t);
    put_op_sel(t);
    if (inst->clamp)
        isa_text_put(t, " clamp");
    isa_text_put(t, "%s", omods[inst->omod & 3]);
    if ((inst->flags & ISA_IS_SDWA) && t->row->type[1] != TYPE_NONE)
        put_sdwa(t);
    if (inst->flags & ISA_IS_DPP)
        put_dpp(t);
}

/* Matrix instructions: tuples whose sizes the row gives. */
static void put_matrix(struct isa_text *t)
{
    const struct isa_inst *inst = t->inst;
    unsigned cbsz = inst->broadcast & 7, abid = inst->broadcast >> 4;
    isa_text_separate(t);
    isa_text_register(t, inst->dst, isa_mai_dwords(inst->op, 0));
    for (unsigned i = 0; i < 3; i++) {
        isa_text_separate(t);
        if (inst->src[i] >= ISA_VGPR)
            isa_text_register(t, inst->src[i], isa_mai_dwords(inst->op, i + 1));
        else
            isa_text_source(t, inst->src[i], t->row->type[i + 1]);
    }
    if (cbsz)
        isa_text_put(t, " cbsz:%u", cbsz);
    if (abid)
        isa_text_put(t, " abid:%u", abid);
    bool negates = t->row->type[0] == TYPE_F64 && isa_traits[inst->target].has_scope_bits;
    if (inst->neg && negates)
        isa_text_put(t, " neg:[%u,%u,%u]", inst->neg & 1, inst->neg >> 1 & 1, inst->neg >> 2);
    else if (inst->neg && t->kind == KIND_MFMA)
        isa_text_put(t, " blgp:%u", inst->neg);
}

void isa_text_vector(struct isa_text *t)
{
    if (t->kind == KIND_MFMA || t->kind == KIND_SMFMAC) {
        put_matrix(t);
        return;
    }
    put_vector(t);
}

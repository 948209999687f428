/* Decodes the vector ALU formats, with their SDWA and DPP extensions. */
#include "isa_decode.h"

enum { SDWA_CODE = 249, DPP_CODE = 250 };

/* The word after an instruction whose src0 is 249: sub-dword addressing. */
static int decode_sdwa(struct isa_decoder *d, bool compare)
{
    if (!isa_decoder_fetch(d, 1))
        return ISA_ERROR_TRUNCATED;
    struct isa_inst *out = d->out;
    uint32_t w = d->word[1];
    bool gfx9 = isa_is_gfx9(d->target);
    out->flags |= ISA_IS_SDWA;
    out->sel_src[0] = (uint8_t)isa_field(w, 16, 3);
    out->sel_src[1] = (uint8_t)isa_field(w, 24, 3);
    out->sext = (uint8_t)(isa_field(w, 19, 1) | isa_field(w, 27, 1) << 1);
    out->neg = (uint8_t)(isa_field(w, 20, 1) | isa_field(w, 28, 1) << 1);
    out->abs = (uint8_t)(isa_field(w, 21, 1) | isa_field(w, 29, 1) << 1);
    if (compare && gfx9) {
        if (isa_field(w, 15, 1)
            && !isa_decoder_sgpr_destination(d, &out->sdst, isa_field(w, 8, 7), 2))
            return ISA_ERROR_INVALID;
        if (!isa_field(w, 15, 1))
            out->sdst = ISA_VCC;
    } else {
        out->sel_dst = (uint8_t)isa_field(w, 8, 3);
        out->unused_dst = (uint8_t)isa_field(w, 11, 2);
        out->clamp = (uint8_t)isa_field(w, 13, 1);
        out->omod = (uint8_t)(gfx9 ? isa_field(w, 14, 2) : 0);
    }
    if (out->sel_dst > 6 || out->unused_dst > 2 || out->sel_src[0] > 6 || out->sel_src[1] > 6)
        return ISA_ERROR_INVALID;
    unsigned scalar0 = gfx9 && isa_field(w, 23, 1), scalar1 = gfx9 && isa_field(w, 31, 1);
    if (scalar1 && out->src[1] != ISA_OPERAND_NONE) {
        bool has_vgpr = out->dst >= ISA_VGPR && out->dst != ISA_OPERAND_NONE;
        out->vgprs = (uint16_t)(has_vgpr ? out->dst - ISA_VGPR + 1 : 0); /* without src1 */
        if (out->src[1] - ISA_VGPR == ISA_LITERAL
            || !isa_decoder_source(d, 1, out->src[1] - ISA_VGPR, d->row->type[2]))
            return ISA_ERROR_INVALID;
    }
    unsigned code = isa_field(w, 0, 8) + (scalar0 ? 0 : ISA_VGPR);
    if (code == ISA_LITERAL || !isa_decoder_source(d, 0, code, d->row->type[1]))
        return ISA_ERROR_INVALID;
    return 0;
}

static bool has_64_bits(const struct isa_table_row *row)
{
    for (unsigned i = 0; i < 4; i++)
        if (row->type[i] != TYPE_MASK && isa_type_dwords(row->type[i]) > 1)
            return true;
    return false;
}

/* Broadcasts of a lane of each row came with gfx90a, and are all that 64-bit operations have. */
static bool dpp_control_exists(const struct isa_decoder *d, unsigned control)
{
    if (control >= 0x150 && control <= 0x15f)
        return isa_traits[d->target].accumulators == ISA_ACCUMULATORS_UNIFIED;
    if (has_64_bits(d->row))
        return false;
    return control <= 0xff || (control >= 0x101 && control <= 0x10f)
           || (control >= 0x111 && control <= 0x11f) || (control >= 0x121 && control <= 0x12f)
           || control == 0x130 || control == 0x134 || control == 0x138 || control == 0x13c
           || (control >= 0x140 && control <= 0x143);
}

/* The word after an instruction whose src0 is 250: data-parallel primitives. */
static int decode_dpp(struct isa_decoder *d)
{
    if (!isa_decoder_fetch(d, 1))
        return ISA_ERROR_TRUNCATED;
    struct isa_inst *out = d->out;
    uint32_t w = d->word[1];
    out->flags |= ISA_IS_DPP;
    out->dpp_ctrl = (uint16_t)isa_field(w, 8, 9);
    out->dpp_bound = (uint8_t)isa_field(w, 19, 1);
    out->neg = (uint8_t)(isa_field(w, 20, 1) | isa_field(w, 22, 1) << 1);
    out->abs = (uint8_t)(isa_field(w, 21, 1) | isa_field(w, 23, 1) << 1);
    out->dpp_masks = (uint8_t)(isa_field(w, 28, 4) << 4 | isa_field(w, 24, 4));
    if (!dpp_control_exists(d, out->dpp_ctrl)
        || !isa_decoder_source(d, 0, isa_field(w, 0, 8) + ISA_VGPR, d->row->type[1]))
        return ISA_ERROR_INVALID;
    return 0;
}

static bool extended_form_exists(const struct isa_decoder *d, unsigned code)
{
    const struct isa_table_row *row = d->row;
    bool is_dot =
        row >= &isa_table[ISA_OP_v_dot2c_f32_f16] && row <= &isa_table[ISA_OP_v_dot8c_i32_i4];
    if (code == SDWA_CODE && (is_dot || (has_64_bits(row) && !isa_row_reads_fp8(row))))
        return false;
    if (code == DPP_CODE && row->format == ISA_VOPC && has_64_bits(row))
        return false; /* no document has them, no assembler makes them */
    return d->kind != KIND_MK && d->kind != KIND_AK && row->type[0] != TYPE_A32
           && d->out->op != ISA_OP_v_pk_fmac_f16 && d->kind != KIND_X;
}

/* v_nop has a second word, too, if no field of it names a source. */
static int decode_bare(struct isa_decoder *d, unsigned code)
{
    bool gfx9 = isa_is_gfx9(d->target), sdwa = code == SDWA_CODE;
    uint32_t sources = sdwa ? (gfx9 ? 0xbfbfe0ffu : 0x3f3f20ffu) : 0x00f000ffu;
    if (d->out->op != ISA_OP_v_nop || (code != SDWA_CODE && code != DPP_CODE))
        return 0;
    if (!isa_decoder_fetch(d, 1))
        return ISA_ERROR_TRUNCATED;
    if (d->word[1] & sources) {
        d->out->size = 4;
        return 0;
    }
    int error = sdwa ? decode_sdwa(d, false) : decode_dpp(d);
    d->out->src[0] = ISA_OPERAND_NONE;
    d->out->vgprs = 0;
    return error;
}

static int vector_source0(struct isa_decoder *d, unsigned code, bool compare)
{
    if (d->row->type[1] == TYPE_NONE)
        return decode_bare(d, code);
    if (code == SDWA_CODE || code == DPP_CODE) {
        if (!extended_form_exists(d, code))
            return ISA_ERROR_INVALID;
        return code == SDWA_CODE ? decode_sdwa(d, compare) : decode_dpp(d);
    }
    if (!isa_decoder_source(d, 0, code, d->row->type[1]))
        return ISA_ERROR_INVALID;
    return isa_decoder_literal_if_named(d);
}

static int decode_vop1(struct isa_decoder *d)
{
    uint32_t w = d->word[0];
    int error = isa_decoder_find_row(d, ISA_VOP1, isa_field(w, 9, 8));
    if (error)
        return error;
    if (d->row->type[0] == TYPE_SREG) {
        if (!isa_decoder_sgpr_destination(d, &d->out->sdst, isa_field(w, 17, 8), 1))
            return ISA_ERROR_INVALID;
    } else if (d->row->type[0] != TYPE_NONE) {
        isa_decoder_vgpr_destination(d, isa_field(w, 17, 8), d->row->type[0]);
    }
    return vector_source0(d, isa_field(w, 0, 9), false);
}

static int decode_vopc(struct isa_decoder *d)
{
    uint32_t w = d->word[0];
    int error = isa_decoder_find_row(d, ISA_VOPC, isa_field(w, 17, 8));
    if (error)
        return error;
    d->out->sdst = ISA_VCC;
    isa_decoder_source(d, 1, isa_field(w, 9, 8) + ISA_VGPR, d->row->type[2]);
    return vector_source0(d, isa_field(w, 0, 9), true);
}

int isa_decode_vop2(struct isa_decoder *d)
{
    uint32_t w = d->word[0];
    if (isa_field(w, 25, 6) == 0x3f)
        return decode_vop1(d);
    if (isa_field(w, 25, 6) == 0x3e)
        return decode_vopc(d);
    int error = isa_decoder_find_row(d, ISA_VOP2, isa_field(w, 25, 6));
    if (error)
        return error;
    struct isa_inst *out = d->out;
    unsigned kind = d->kind;
    isa_decoder_vgpr_destination(d, isa_field(w, 17, 8), d->row->type[0]);
    isa_decoder_source(d, 1, isa_field(w, 9, 8) + ISA_VGPR, d->row->type[2]);
    if (kind == KIND_CO || kind == KIND_CIO)
        out->sdst = ISA_VCC;
    if (kind == KIND_CIO || kind == KIND_CI)
        out->src[2] = ISA_VCC;
    if (kind == KIND_MAC)
        out->src[2] = out->dst;
    if (kind == KIND_MK || kind == KIND_AK) {
        unsigned code = isa_field(w, 0, 9);
        out->src[2] = ISA_LITERAL;
        if (code == SDWA_CODE || code == DPP_CODE
            || !isa_decoder_source(d, 0, code, d->row->type[1]))
            return ISA_ERROR_INVALID;
        return isa_decoder_literal(d);
    }
    return vector_source0(d, isa_field(w, 0, 9), false);
}

/* The scalar side of VOP3: mask destination, mask source. */
static int vop3_masks(struct isa_decoder *d)
{
    struct isa_inst *out = d->out;
    unsigned kind = d->kind;
    uint32_t w = d->word[0], hi = d->word[1];
    if (kind == KIND_CMP || kind == KIND_CMPX)
        return isa_decoder_sgpr_destination(d, &out->sdst, isa_field(w, 0, 8), 2)
                   ? 0
                   : ISA_ERROR_INVALID;
    if (kind == KIND_CO || kind == KIND_CIO || kind == KIND_SD)
        if (!isa_decoder_sgpr_destination(d, &out->sdst, isa_field(w, 8, 7), 2))
            return ISA_ERROR_INVALID;
    if (kind == KIND_CIO || kind == KIND_CI) {
        unsigned code = isa_field(hi, 18, 9);
        if (code >= 128 || !isa_decoder_source(d, 2, code, TYPE_MASK))
            return ISA_ERROR_INVALID;
    }
    return 0;
}

/* Matrix instructions: VOP3P with bits of their own. Before gfx90a C and D are accumulators. */
static int decode_mai(struct isa_decoder *d)
{
    struct isa_inst *out = d->out;
    uint32_t w = d->word[0], hi = d->word[1];
    bool unified = isa_traits[d->target].accumulators == ISA_ACCUMULATORS_UNIFIED;
    unsigned bank = !unified || isa_field(w, 15, 1) ? ISA_AGPR : ISA_VGPR;
    out->dst = (uint16_t)(bank + isa_field(w, 0, 8));
    isa_decoder_note_vgprs(out, out->dst, isa_mai_dwords(out->op, 0));
    for (unsigned i = 0; i < 3; i++) {
        unsigned code = isa_field(hi, 9 * i, 9);
        bool index = i == 2 && d->kind == KIND_SMFMAC, constant = i == 2 && !index;
        if (code >= ISA_VGPR && !index)
            code = (i == 2 ? bank : isa_field(hi, 27 + i, 1) ? ISA_AGPR : ISA_VGPR) + (code & 255);
        if (code < ISA_VGPR
            && !(constant && (code <= 208 || code >= 240) && code >= 128 && code <= 248))
            return ISA_ERROR_INVALID;
        out->src[i] = (uint16_t)code;
        isa_decoder_note_vgprs(out, code, isa_mai_dwords(out->op, i + 1));
    }
    out->neg = (uint8_t)isa_field(hi, 29, 3);
    out->broadcast = (uint8_t)(isa_field(w, 8, 3) | isa_field(w, 11, 4) << 4);
    return 0;
}

static int vop3_modifiers(struct isa_decoder *d)
{
    struct isa_inst *out = d->out;
    uint32_t w = d->word[0], hi = d->word[1];
    bool has_sdst = d->kind == KIND_CO || d->kind == KIND_CIO || d->kind == KIND_SD;
    out->neg = (uint8_t)isa_field(hi, 29, 3);
    out->omod = (uint8_t)isa_field(hi, 27, 2);
    out->clamp = (uint8_t)isa_field(w, 15, 1);
    if (!has_sdst) {
        out->abs = (uint8_t)isa_field(w, 8, 3);
        out->opsel = (uint8_t)(isa_is_gfx9(d->target) ? isa_field(w, 11, 4) : 0);
    }
    return 0;
}

int isa_decode_vop3(struct isa_decoder *d)
{
    if (!isa_decoder_fetch(d, 1))
        return ISA_ERROR_TRUNCATED;
    uint32_t w = d->word[0], hi = d->word[1];
    struct isa_inst *out = d->out;
    bool packed = isa_is_gfx9(d->target) && isa_field(w, 23, 3) == 7;
    int error = packed ? isa_decoder_find_row(d, ISA_VOP3P, isa_field(w, 16, 7))
                       : isa_decoder_find_row(d, ISA_VOP3, isa_field(w, 16, 10));
    if (error)
        return error;
    const uint8_t *type = d->row->type;
    out->flags |= ISA_IS_VOP3_FORM;
    if (d->kind == KIND_MFMA || d->kind == KIND_SMFMAC)
        return decode_mai(d);
    if (type[0] == TYPE_SREG) {
        if (!isa_decoder_sgpr_destination(d, &out->sdst, isa_field(w, 0, 8), 1))
            return ISA_ERROR_INVALID;
    } else if (type[0] != TYPE_MASK && type[0] != TYPE_NONE) {
        isa_decoder_vgpr_destination(d, isa_field(w, 0, 8), type[0]);
    }
    for (unsigned i = 0; i < 3; i++) {
        unsigned code = isa_field(hi, 9 * i, 9);
        if (type[i + 1] == TYPE_NONE || (i == 2 && d->kind == KIND_MAC))
            continue;
        if (code == ISA_LITERAL || !isa_decoder_source(d, i, code, type[i + 1])
            || (type[i + 1] == TYPE_SREG && code >= ISA_VGPR))
            return ISA_ERROR_INVALID;
    }
    if (d->kind == KIND_MAC)
        out->src[2] = out->dst;
    error = vop3_masks(d);
    if (error)
        return error;
    if (packed) {
        out->abs = (uint8_t)isa_field(w, 8, 3); /* neg_hi */
        out->neg = (uint8_t)isa_field(hi, 29, 3);
        out->clamp =
            (uint8_t)(type[0] == TYPE_A32 || type[1] == TYPE_A32 ? 0 : isa_field(w, 15, 1));
        out->opsel =
            (uint8_t)(isa_field(w, 11, 3) | (isa_field(hi, 27, 2) | isa_field(w, 14, 1) << 2) << 4);
        return 0;
    }
    return vop3_modifiers(d);
}

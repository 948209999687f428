/*
 * isa_decode.c - machine words to struct isa_inst.
 *
 * One function a format, each of which fills operands and modifiers of a row found by isa_table_find; flags that follow from
 * kinds and operands are added at the end, in one place. Reserved source codes make an instruction invalid, as in llvm-mc;
 * unused fields are ignored, as on hardware. Called by isa_decode's users once per address.
 */
#include "isa_table.h"

enum { SDWA_CODE = 249, DPP_CODE = 250 };

struct decoder {
    enum isa_target target;
    const uint8_t *bytes;
    size_t readable;
    uint32_t word[3];
    struct isa_inst *out;
    const struct isa_table_row *row;
};

static unsigned bits(uint32_t word, unsigned low, unsigned count) { return (word >> low) & ((1u << count) - 1); }

/* Makes word[index] valid; false when the input ends before it. */
static bool fetch_word(struct decoder *d, unsigned index)
{
    if (d->readable < 4 * (index + 1))
        return false;
    memcpy(&d->word[index], d->bytes + 4 * index, 4);
    d->out->size = (uint8_t)(4 * (index + 1));
    return true;
}

static int find_row(struct decoder *d, enum isa_format format, unsigned opcode)
{
    int row = isa_table_find(d->target, format, opcode);
    if (row < 0)
        return ISA_ERROR_INVALID;
    d->row = &isa_table[row];
    d->out->op = (uint16_t)row;
    d->out->format = d->row->format;
    return 0;
}

/* ---- operands ------------------------------------------------------------------------------------------------------ */

static bool scalar_code_exists(enum isa_target target, unsigned code)
{
    if (code <= 101 || code == ISA_M0 || (code >= 102 && code <= 107) || code == 126 || code == 127)
        return true;
    return code >= 108 && code <= 123 && (target == ISA_GFX803 || target == ISA_GFX906);
}

static bool source_code_exists(enum isa_target target, unsigned code)
{
    if (code < 128)
        return scalar_code_exists(target, code);
    if (code <= 208 || (code >= 240 && code <= 248) || (code >= 251 && code <= 253) || code >= 255)
        return true;
    return target != ISA_GFX803 && code >= 235 && code <= 239;
}

static void note_vgprs(struct isa_inst *out, unsigned code, unsigned dwords)
{
    if (code >= ISA_VGPR && code != ISA_NO_OPERAND && code - ISA_VGPR + dwords > out->vgprs)
        out->vgprs = (uint16_t)(code - ISA_VGPR + dwords);
}

static void note_sgprs(struct isa_inst *out, unsigned code, unsigned dwords)
{
    if (code <= 101 && code + dwords > out->sgprs)
        out->sgprs = (uint8_t)(code + dwords);
}

/*
 * Scalar tuples start at an even register, of four and more at a multiple of four: low bits of the code are ignored for SGPRs
 * and trap registers, as in llvm-mc; the special pairs have none to ignore. False when the tuple does not exist.
 */
static bool align_tuple(enum isa_target target, unsigned *code, unsigned dwords)
{
    unsigned low = dwords >= 4 ? 3 : dwords - 1, ttmp = target == ISA_GFX803 ? ISA_TTMP0 : 108;
    if (dwords < 2 || *code >= 128)
        return true;
    if (*code <= 101) {
        *code &= ~low;
        return *code + dwords <= 104;
    }
    if (*code >= ttmp && *code <= 123) {
        *code &= ~low;
        return *code + dwords <= 124;
    }
    return dwords == 2 && !(*code & 1) && *code != ISA_M0;
}

static bool set_source(struct decoder *d, unsigned index, unsigned code, unsigned type)
{
    if (!source_code_exists(d->target, code) || !align_tuple(d->target, &code, isa_type_dwords(type)))
        return false;
    d->out->src[index] = (uint16_t)code;
    note_vgprs(d->out, code, isa_type_dwords(type));
    note_sgprs(d->out, code, isa_type_dwords(type));
    return true;
}

static void set_vector_destination(struct decoder *d, unsigned vgpr, unsigned type)
{
    d->out->dst = (uint16_t)(ISA_VGPR + vgpr);
    note_vgprs(d->out, d->out->dst, isa_type_dwords(type));
}

static bool set_scalar_destination(struct decoder *d, uint16_t *slot, unsigned code, unsigned dwords)
{
    if (!scalar_code_exists(d->target, code) || !align_tuple(d->target, &code, dwords))
        return false;
    *slot = (uint16_t)code;
    note_sgprs(d->out, code, dwords);
    return true;
}

static int read_literal(struct decoder *d)
{
    if (!fetch_word(d, d->out->size / 4))
        return ISA_ERROR_TRUNCATED;
    d->out->literal = d->word[d->out->size / 4 - 1];
    d->out->flags |= ISA_HAS_LITERAL;
    return 0;
}

static int literal_if_named(struct decoder *d)
{
    for (unsigned i = 0; i < 3; i++)
        if (d->out->src[i] == ISA_LITERAL)
            return read_literal(d);
    return 0;
}

/* ---- scalar formats ------------------------------------------------------------------------------------------------ */

static int scalar_operands(struct decoder *d, unsigned dst, unsigned src0, unsigned src1)
{
    const uint8_t *type = d->row->type;
    bool relative = type[1] == TYPE_REL || type[1] == TYPE_REL64;
    if (type[0] != TYPE_NONE && !set_scalar_destination(d, &d->out->dst, dst, isa_type_dwords(type[0])))
        return ISA_ERROR_INVALID;
    if (type[1] != TYPE_NONE && (!set_source(d, 0, src0, type[1]) || src0 >= ISA_VGPR || (relative && src0 > 127)))
        return ISA_ERROR_INVALID;
    if (type[2] == TYPE_IDXIMM)
        d->out->simm = (int32_t)src1;
    else if (type[2] != TYPE_NONE && (!set_source(d, 1, src1, type[2]) || src1 >= ISA_VGPR))
        return ISA_ERROR_INVALID;
    return literal_if_named(d);
}

static void decode_waitcnt(struct decoder *d)
{
    uint32_t imm = d->word[0];
    bool gfx9 = d->target != ISA_GFX803;
    unsigned vm = bits(imm, 0, 4) | (gfx9 ? bits(imm, 14, 2) << 4 : 0), exp = bits(imm, 4, 3), lgkm = bits(imm, 8, 4);
    d->out->wait_vm = (uint8_t)(vm == (gfx9 ? 63u : 15u) ? ISA_NO_WAIT : vm);
    d->out->wait_exp = (uint8_t)(exp == 7 ? ISA_NO_WAIT : exp);
    d->out->wait_lgkm = (uint8_t)(lgkm == 15 ? ISA_NO_WAIT : lgkm);
}

static int decode_sopp(struct decoder *d)
{
    int error = find_row(d, ISA_SOPP, bits(d->word[0], 16, 7));
    if (error)
        return error;
    d->out->simm = (int16_t)bits(d->word[0], 0, 16);
    if (d->out->op == ISA_OP_s_waitcnt)
        decode_waitcnt(d);
    return 0;
}

static int decode_sopk(struct decoder *d)
{
    int error = find_row(d, ISA_SOPK, bits(d->word[0], 23, 5));
    if (error)
        return error;
    d->out->simm = (int16_t)bits(d->word[0], 0, 16);
    unsigned type = d->row->type[0];
    if (type != TYPE_NONE && !set_scalar_destination(d, &d->out->dst, bits(d->word[0], 16, 7), isa_type_dwords(type)))
        return ISA_ERROR_INVALID;
    return d->row->kind == KIND_SRL ? read_literal(d) : 0;
}

static int decode_scalar(struct decoder *d)
{
    uint32_t w = d->word[0];
    int error;
    switch (bits(w, 23, 9)) {
    case 0x17d:
        error = find_row(d, ISA_SOP1, bits(w, 8, 8));
        return error ? error : scalar_operands(d, bits(w, 16, 7), bits(w, 0, 8), 0);
    case 0x17e:
        error = find_row(d, ISA_SOPC, bits(w, 16, 7));
        return error ? error : scalar_operands(d, 0, bits(w, 0, 8), bits(w, 8, 8));
    case 0x17f:
        return decode_sopp(d);
    default:
        if (bits(w, 28, 4) == 0xb)
            return decode_sopk(d);
        error = find_row(d, ISA_SOP2, bits(w, 23, 7));
        return error ? error : scalar_operands(d, bits(w, 16, 7), bits(w, 0, 8), bits(w, 8, 8));
    }
}

static int decode_smem(struct decoder *d)
{
    if (!fetch_word(d, 1))
        return ISA_ERROR_TRUNCATED;
    uint32_t w = d->word[0], hi = d->word[1];
    int error = find_row(d, ISA_SMEM, bits(w, 18, 8));
    if (error)
        return error;
    struct isa_inst *out = d->out;
    unsigned kind = d->row->kind;
    if (kind == KIND_SCACHE)
        return 0;
    out->dwords = (uint8_t)isa_type_dwords(d->row->type[0]);
    out->memory = (uint8_t)(bits(w, 16, 1) ? ISA_MEM_GLC : 0);
    unsigned data = bits(w, 6, 7);
    bool probe = kind == KIND_UNPROBE || kind == KIND_UNPROBEB;
    if (probe || kind == KIND_UNDISCARD)
        out->dst = (uint16_t)data;
    else if (!set_scalar_destination(d, &out->dst, data, out->dwords * (d->row->operation == ISA_ATOMIC_CMPSWAP ? 2u : 1u)))
        return ISA_ERROR_INVALID;
    if (kind == KIND_STIME)
        return 0;
    bool buffer = kind == KIND_SBLOAD || kind == KIND_SBSTORE || kind == KIND_UNSB || kind == KIND_UNPROBEB;
    if (!set_scalar_destination(d, &out->sdst, bits(w, 0, 6) * 2, buffer ? 4 : 2) || (buffer && out->sdst % 4))
        return ISA_ERROR_INVALID;
    bool gfx9 = d->target != ISA_GFX803, immediate = bits(w, 17, 1);
    if (gfx9 && bits(w, 14, 1)) {
        out->soffset = (uint16_t)bits(hi, 25, 7);
        out->simm = immediate ? (int32_t)(bits(hi, 0, 21) << 11) >> 11 : 0;
        out->memory |= ISA_MEM_OFFSET_IS_SGPR;
        if (immediate)
            out->memory |= ISA_MEM_OFFEN;
        return scalar_code_exists(d->target, out->soffset) ? 0 : ISA_ERROR_INVALID;
    }
    if (immediate) {
        out->simm = gfx9 ? (int32_t)(bits(hi, 0, 21) << 11) >> 11 : (int32_t)bits(hi, 0, 20);
    } else {
        out->memory |= ISA_MEM_OFFSET_IS_SGPR;
        out->soffset = (uint16_t)bits(hi, 0, 7);
        if (!scalar_code_exists(d->target, out->soffset))
            return ISA_ERROR_INVALID;
        note_sgprs(out, out->soffset, 1);
    }
    return 0;
}

/* ---- vector ALU formats -------------------------------------------------------------------------------------------- */

/* The word after an instruction whose src0 is 249: sub-dword addressing. */
static int decode_sdwa(struct decoder *d, bool compare)
{
    if (!fetch_word(d, 1))
        return ISA_ERROR_TRUNCATED;
    struct isa_inst *out = d->out;
    uint32_t w = d->word[1];
    bool gfx9 = d->target != ISA_GFX803;
    out->flags |= ISA_IS_SDWA;
    out->sel_src[0] = (uint8_t)bits(w, 16, 3);
    out->sel_src[1] = (uint8_t)bits(w, 24, 3);
    out->sext = (uint8_t)(bits(w, 19, 1) | bits(w, 27, 1) << 1);
    out->neg = (uint8_t)(bits(w, 20, 1) | bits(w, 28, 1) << 1);
    out->abs = (uint8_t)(bits(w, 21, 1) | bits(w, 29, 1) << 1);
    if (compare && gfx9) {
        if (bits(w, 15, 1) && !set_scalar_destination(d, &out->sdst, bits(w, 8, 7), 2))
            return ISA_ERROR_INVALID;
        if (!bits(w, 15, 1))
            out->sdst = ISA_VCC;
    } else {
        out->sel_dst = (uint8_t)bits(w, 8, 3);
        out->unused_dst = (uint8_t)bits(w, 11, 2);
        out->clamp = (uint8_t)bits(w, 13, 1);
        out->omod = (uint8_t)(gfx9 ? bits(w, 14, 2) : 0);
    }
    if (out->sel_dst > 6 || out->unused_dst > 2 || out->sel_src[0] > 6 || out->sel_src[1] > 6)
        return ISA_ERROR_INVALID;
    unsigned scalar0 = gfx9 && bits(w, 23, 1), scalar1 = gfx9 && bits(w, 31, 1);
    if (!set_source(d, 0, bits(w, 0, 8) + (scalar0 ? 0 : ISA_VGPR), d->row->type[1]))
        return ISA_ERROR_INVALID;
    if (scalar1 && out->src[1] != ISA_NO_OPERAND) {
        out->src[1] = (uint16_t)(out->src[1] - ISA_VGPR);
        if (!source_code_exists(d->target, out->src[1]))
            return ISA_ERROR_INVALID;
    }
    return 0;
}

static bool dpp_control_exists(unsigned control)
{
    return control <= 0xff || (control >= 0x101 && control <= 0x10f) || (control >= 0x111 && control <= 0x11f) ||
           (control >= 0x121 && control <= 0x12f) || control == 0x130 || control == 0x134 || control == 0x138 ||
           control == 0x13c || (control >= 0x140 && control <= 0x143);
}

/* The word after an instruction whose src0 is 250: data-parallel primitives. */
static int decode_dpp(struct decoder *d)
{
    if (!fetch_word(d, 1))
        return ISA_ERROR_TRUNCATED;
    struct isa_inst *out = d->out;
    uint32_t w = d->word[1];
    out->flags |= ISA_IS_DPP;
    out->dpp_ctrl = (uint16_t)bits(w, 8, 9);
    out->dpp_bound = (uint8_t)bits(w, 19, 1);
    out->neg = (uint8_t)(bits(w, 20, 1) | bits(w, 22, 1) << 1);
    out->abs = (uint8_t)(bits(w, 21, 1) | bits(w, 23, 1) << 1);
    out->dpp_masks = (uint8_t)(bits(w, 28, 4) << 4 | bits(w, 24, 4));
    if (!dpp_control_exists(out->dpp_ctrl) || !set_source(d, 0, bits(w, 0, 8) + ISA_VGPR, d->row->type[1]))
        return ISA_ERROR_INVALID;
    return 0;
}

static bool sub_dword_form_exists(const struct decoder *d)
{
    const struct isa_table_row *row = d->row;
    for (unsigned i = 0; i < 4; i++)
        if (row->type[i] != TYPE_MASK && isa_type_dwords(row->type[i]) > 1)
            return false;
    return row->kind != KIND_MK && row->kind != KIND_AK && (row->kind != KIND_X || row->type[0] == TYPE_NONE);
}

static int vector_source0(struct decoder *d, unsigned code, bool compare)
{
    if (code == SDWA_CODE || code == DPP_CODE) {
        if (d->row->type[1] == TYPE_NONE || !sub_dword_form_exists(d))
            return ISA_ERROR_INVALID;
        return code == SDWA_CODE ? decode_sdwa(d, compare) : decode_dpp(d);
    }
    if (d->row->type[1] == TYPE_NONE)
        return 0;
    if (!set_source(d, 0, code, d->row->type[1]))
        return ISA_ERROR_INVALID;
    return literal_if_named(d);
}

static int decode_vop1(struct decoder *d)
{
    uint32_t w = d->word[0];
    int error = find_row(d, ISA_VOP1, bits(w, 9, 8));
    if (error)
        return error;
    if (d->row->type[0] == TYPE_SREG) {
        if (!set_scalar_destination(d, &d->out->sdst, bits(w, 17, 8), 1))
            return ISA_ERROR_INVALID;
    } else if (d->row->type[0] != TYPE_NONE) {
        set_vector_destination(d, bits(w, 17, 8), d->row->type[0]);
    }
    return vector_source0(d, bits(w, 0, 9), false);
}

static int decode_vopc(struct decoder *d)
{
    uint32_t w = d->word[0];
    int error = find_row(d, ISA_VOPC, bits(w, 17, 8));
    if (error)
        return error;
    d->out->sdst = ISA_VCC;
    set_source(d, 1, bits(w, 9, 8) + ISA_VGPR, d->row->type[2]);
    return vector_source0(d, bits(w, 0, 9), true);
}

static int decode_vop2(struct decoder *d)
{
    uint32_t w = d->word[0];
    if (bits(w, 25, 6) == 0x3f)
        return decode_vop1(d);
    if (bits(w, 25, 6) == 0x3e)
        return decode_vopc(d);
    int error = find_row(d, ISA_VOP2, bits(w, 25, 6));
    if (error)
        return error;
    struct isa_inst *out = d->out;
    unsigned kind = d->row->kind;
    set_vector_destination(d, bits(w, 17, 8), d->row->type[0]);
    set_source(d, 1, bits(w, 9, 8) + ISA_VGPR, d->row->type[2]);
    if (kind == KIND_CO || kind == KIND_CIO)
        out->sdst = ISA_VCC;
    if (kind == KIND_CIO || kind == KIND_CI)
        out->src[2] = ISA_VCC;
    if (kind == KIND_MAC)
        out->src[2] = out->dst;
    if (kind == KIND_MK || kind == KIND_AK) {
        unsigned code = bits(w, 0, 9);
        out->src[2] = ISA_LITERAL;
        if (code == SDWA_CODE || code == DPP_CODE || !set_source(d, 0, code, d->row->type[1]))
            return ISA_ERROR_INVALID;
        return read_literal(d);
    }
    return vector_source0(d, bits(w, 0, 9), false);
}

/* The scalar side of VOP3: mask destination, mask source. */
static int vop3_masks(struct decoder *d)
{
    struct isa_inst *out = d->out;
    unsigned kind = d->row->kind;
    uint32_t w = d->word[0], hi = d->word[1];
    if (kind == KIND_CMP || kind == KIND_CMPX)
        return set_scalar_destination(d, &out->sdst, bits(w, 0, 8), 2) ? 0 : ISA_ERROR_INVALID;
    if (kind == KIND_CO || kind == KIND_CIO || kind == KIND_SD)
        if (!set_scalar_destination(d, &out->sdst, bits(w, 8, 7), 2))
            return ISA_ERROR_INVALID;
    if (kind == KIND_CIO || kind == KIND_CI) {
        unsigned code = bits(hi, 18, 9);
        if (code >= 128 || !set_source(d, 2, code, TYPE_MASK))
            return ISA_ERROR_INVALID;
    }
    return 0;
}

static int vop3_modifiers(struct decoder *d)
{
    struct isa_inst *out = d->out;
    uint32_t w = d->word[0], hi = d->word[1];
    bool has_sdst = d->row->kind == KIND_CO || d->row->kind == KIND_CIO || d->row->kind == KIND_SD;
    out->neg = (uint8_t)bits(hi, 29, 3);
    out->omod = (uint8_t)bits(hi, 27, 2);
    out->clamp = (uint8_t)bits(w, 15, 1);
    if (!has_sdst) {
        out->abs = (uint8_t)bits(w, 8, 3);
        out->opsel = (uint8_t)(d->target == ISA_GFX803 ? 0 : bits(w, 11, 4));
    }
    return 0;
}

static int decode_vop3(struct decoder *d)
{
    if (!fetch_word(d, 1))
        return ISA_ERROR_TRUNCATED;
    uint32_t w = d->word[0], hi = d->word[1];
    struct isa_inst *out = d->out;
    bool packed = d->target != ISA_GFX803 && bits(w, 23, 3) == 7;
    int error = packed ? find_row(d, ISA_VOP3P, bits(w, 16, 7)) : find_row(d, ISA_VOP3, bits(w, 16, 10));
    if (error)
        return error;
    const uint8_t *type = d->row->type;
    out->flags |= ISA_IS_VOP3_FORM;
    if (type[0] == TYPE_SREG) {
        if (!set_scalar_destination(d, &out->sdst, bits(w, 0, 8), 1))
            return ISA_ERROR_INVALID;
    } else if (type[0] != TYPE_MASK && type[0] != TYPE_NONE) {
        set_vector_destination(d, bits(w, 0, 8), type[0]);
    }
    for (unsigned i = 0; i < 3; i++) {
        unsigned code = bits(hi, 9 * i, 9);
        if (type[i + 1] == TYPE_NONE || (i == 2 && d->row->kind == KIND_MAC))
            continue;
        if (code == ISA_LITERAL || !set_source(d, i, code, type[i + 1]) || (type[i + 1] == TYPE_SREG && code >= ISA_VGPR))
            return ISA_ERROR_INVALID;
    }
    if (d->row->kind == KIND_MAC)
        out->src[2] = out->dst;
    error = vop3_masks(d);
    if (error)
        return error;
    if (packed) {
        out->abs = (uint8_t)bits(w, 8, 3);     /* neg_hi */
        out->neg = (uint8_t)bits(hi, 29, 3);
        out->clamp = (uint8_t)bits(w, 15, 1);
        out->opsel = (uint8_t)(bits(w, 11, 3) | (bits(hi, 27, 2) | bits(w, 14, 1) << 2) << 4);
        return 0;
    }
    return vop3_modifiers(d);
}

/* ---- vector memory formats ----------------------------------------------------------------------------------------- */

static void memory_register(struct decoder *d, unsigned index, unsigned vgpr, unsigned dwords)
{
    d->out->src[index] = (uint16_t)(ISA_VGPR + vgpr);
    note_vgprs(d->out, d->out->src[index], dwords);
}

struct ds_shape { bool address, data0, data1, result; unsigned result_scale; };

static struct ds_shape ds_shape_of(unsigned kind)
{
    switch (kind) {
    case KIND_LOAD: return (struct ds_shape){true, false, false, true, 1};
    case KIND_LOAD2: case KIND_LOAD2ST: return (struct ds_shape){true, false, false, true, 2};
    case KIND_STORE: case KIND_ATOMIC: return (struct ds_shape){true, true, false, false, 0};
    case KIND_STORE2: case KIND_STORE2ST: case KIND_CMPST: case KIND_MSKOR:
        return (struct ds_shape){true, true, true, false, 0};
    case KIND_RTN: case KIND_PERMUTE: case KIND_BPERMUTE: case KIND_UN_RTN:
        return (struct ds_shape){true, true, false, true, 1};
    case KIND_CMPST_RTN: case KIND_MSKOR_RTN: case KIND_WRAP: return (struct ds_shape){true, true, true, true, 1};
    case KIND_XCHG2: case KIND_XCHG2ST: return (struct ds_shape){true, true, true, true, 2};
    case KIND_SRC2: case KIND_WRSRC2: case KIND_UNGWSV: return (struct ds_shape){true, false, false, false, 0};
    case KIND_SWIZZLE: case KIND_UNORD: return (struct ds_shape){true, false, false, true, 1};
    case KIND_APPEND: case KIND_CONSUME: case KIND_LOADTID: return (struct ds_shape){false, false, false, true, 1};
    case KIND_STORETID: return (struct ds_shape){false, true, false, false, 0};
    default: return (struct ds_shape){false, false, false, false, 0};
    }
}

static int decode_ds(struct decoder *d)
{
    if (!fetch_word(d, 1))
        return ISA_ERROR_TRUNCATED;
    uint32_t w = d->word[0], hi = d->word[1];
    int error = find_row(d, ISA_DS, bits(w, 17, 8));
    if (error)
        return error;
    struct isa_inst *out = d->out;
    struct ds_shape shape = ds_shape_of(d->row->kind);
    unsigned dwords = isa_type_dwords(d->row->type[0]);
    out->simm = (int32_t)bits(w, 0, 16);
    out->dwords = (uint8_t)dwords;
    if (bits(w, 16, 1))
        out->flags |= ISA_IS_GDS;
    if (shape.address)
        memory_register(d, 0, bits(hi, 0, 8), 1);
    if (shape.data0)
        memory_register(d, 1, bits(hi, 8, 8), dwords);
    if (shape.data1)
        memory_register(d, 2, bits(hi, 16, 8), dwords);
    if (shape.result) {
        out->dst = (uint16_t)(ISA_VGPR + bits(hi, 24, 8));
        note_vgprs(out, out->dst, dwords * shape.result_scale);
    }
    return 0;
}

static unsigned data_dwords(const struct isa_table_row *row)
{
    unsigned dwords = isa_type_dwords(row->type[0]);
    return row->kind == KIND_ATOMIC && row->operation == ISA_ATOMIC_CMPSWAP ? 2 * dwords : dwords;
}

static void memory_data(struct decoder *d, unsigned load_vgpr, unsigned store_vgpr)
{
    struct isa_inst *out = d->out;
    unsigned kind = d->row->kind, dwords = isa_type_dwords(d->row->type[0]);
    bool load = kind == KIND_LOAD || kind == KIND_UNLOAD;
    out->dwords = (uint8_t)dwords;
    if (!load)
        memory_register(d, 1, store_vgpr, data_dwords(d->row));
    if (load || (kind == KIND_ATOMIC && (out->memory & ISA_MEM_GLC))) {
        out->dst = (uint16_t)(ISA_VGPR + load_vgpr);
        note_vgprs(out, out->dst, dwords + (out->memory & ISA_MEM_TFE ? 1 : 0));
    }
}

static int decode_flat(struct decoder *d)
{
    if (!fetch_word(d, 1))
        return ISA_ERROR_TRUNCATED;
    uint32_t w = d->word[0], hi = d->word[1];
    bool gfx9 = d->target != ISA_GFX803;
    unsigned segment = gfx9 ? bits(w, 14, 2) : 0;
    if (segment == 3)
        return ISA_ERROR_INVALID;
    static const enum isa_format formats[3] = {ISA_FLAT, ISA_SCRATCH, ISA_GLOBAL};
    int error = find_row(d, formats[segment], bits(w, 18, 7));
    if (error)
        return error;
    struct isa_inst *out = d->out;
    out->memory = (uint8_t)((bits(w, 16, 1) ? ISA_MEM_GLC : 0) | (bits(w, 17, 1) ? ISA_MEM_SLC : 0));
    if (gfx9) {
        out->simm = segment ? (int32_t)(bits(w, 0, 13) << 19) >> 19 : (int32_t)bits(w, 0, 12);
        out->memory |= (uint8_t)((bits(w, 13, 1) ? ISA_MEM_LDS : 0) | (bits(hi, 23, 1) ? ISA_MEM_NV : 0));
    }
    unsigned saddr = bits(hi, 16, 7);
    out->soffset = ISA_NO_OPERAND;
    if (segment && saddr != 0x7f && !set_scalar_destination(d, &out->soffset, saddr, segment == 2 ? 2 : 1))
        return ISA_ERROR_INVALID;
    bool scalar_base = out->soffset != ISA_NO_OPERAND;
    if (!(segment == 1 && scalar_base))
        memory_register(d, 0, bits(hi, 0, 8), segment == 1 || scalar_base ? 1 : 2);
    memory_data(d, bits(hi, 24, 8), bits(hi, 8, 8));
    return 0;
}

static int decode_buffer(struct decoder *d, enum isa_format format)
{
    if (!fetch_word(d, 1))
        return ISA_ERROR_TRUNCATED;
    uint32_t w = d->word[0], hi = d->word[1];
    int error = find_row(d, format, format == ISA_MUBUF ? bits(w, 18, 7) : bits(w, 15, 4));
    if (error)
        return error;
    struct isa_inst *out = d->out;
    if (d->row->kind == KIND_CACHE)
        return 0;
    out->simm = (int32_t)bits(w, 0, 12);
    unsigned slc = format == ISA_MUBUF ? bits(w, 17, 1) : bits(hi, 22, 1);
    unsigned lds = format == ISA_MUBUF ? bits(w, 16, 1) : 0;
    out->memory = (uint8_t)((bits(w, 12, 1) ? ISA_MEM_OFFEN : 0) | (bits(w, 13, 1) ? ISA_MEM_IDXEN : 0) |
                            (bits(w, 14, 1) ? ISA_MEM_GLC : 0) | (slc ? ISA_MEM_SLC : 0) | (lds ? ISA_MEM_LDS : 0) |
                            (bits(hi, 23, 1) ? ISA_MEM_TFE : 0));
    if (format == ISA_MTBUF)
        out->format_bits = (uint8_t)bits(w, 19, 7);
    if (out->memory & (ISA_MEM_OFFEN | ISA_MEM_IDXEN))
        memory_register(d, 0, bits(hi, 0, 8), (out->memory & ISA_MEM_OFFEN) && (out->memory & ISA_MEM_IDXEN) ? 2 : 1);
    if (!set_scalar_destination(d, &out->sdst, bits(hi, 16, 5) * 4, 4))
        return ISA_ERROR_INVALID;
    unsigned soffset = bits(hi, 24, 8);
    if (!source_code_exists(d->target, soffset) || soffset >= 255 || soffset == 252)
        return ISA_ERROR_INVALID;
    out->soffset = (uint16_t)soffset;
    note_sgprs(out, soffset, 1);
    memory_data(d, bits(hi, 8, 8), bits(hi, 8, 8));
    if (lds)
        out->dst = ISA_NO_OPERAND;
    return 0;
}

/* ---- flags --------------------------------------------------------------------------------------------------------- */

static uint32_t special_flags(unsigned op)
{
    switch (op) {
    case ISA_OP_s_waitcnt: return ISA_IS_WAITCNT;
    case ISA_OP_s_barrier: return ISA_IS_BARRIER;
    case ISA_OP_s_endpgm: case ISA_OP_s_endpgm_saved: case ISA_OP_s_endpgm_ordered_ps_done: return ISA_IS_ENDPGM;
    case ISA_OP_s_sleep: return ISA_IS_SLEEP;
    case ISA_OP_s_setprio: return ISA_IS_SETPRIO;
    case ISA_OP_s_sendmsg: case ISA_OP_s_sendmsghalt: return ISA_IS_SENDMSG | ISA_RAISES_LGKM;
    case ISA_OP_s_trap: return ISA_IS_TRAP;
    default: return 0;
    }
}

static uint32_t memory_flags(const struct isa_inst *inst, const struct isa_table_row *row)
{
    uint32_t flags = 0;
    switch (row->kind) {
    case KIND_LOAD: case KIND_SLOAD: case KIND_SBLOAD: case KIND_SSCRLOAD: case KIND_LOAD2: case KIND_LOAD2ST: case KIND_UNLOAD:
    case KIND_LOADTID:
        flags = ISA_IS_LOAD;
        break;
    case KIND_STORE: case KIND_SSTORE: case KIND_SBSTORE: case KIND_SSCRSTORE: case KIND_STORE2: case KIND_STORE2ST:
    case KIND_UNSTORE: case KIND_STORETID:
        flags = ISA_IS_STORE;
        break;
    case KIND_STIME:
        flags = ISA_IS_LOAD | ISA_IS_TIME;
        break;
    case KIND_CACHE: case KIND_SCACHE:
        return ISA_IS_CACHE_OP;
    case KIND_SWIZZLE: case KIND_PERMUTE: case KIND_BPERMUTE: case KIND_NOP:
        break;
    default:
        flags = ISA_IS_ATOMIC;
        break;
    }
    if ((flags & ISA_IS_ATOMIC) && inst->dst != ISA_NO_OPERAND)
        flags |= ISA_RETURNS;
    if (inst->format == ISA_SMEM || inst->format == ISA_DS)
        return flags | ISA_RAISES_LGKM;
    flags |= ISA_RAISES_VM;
    return inst->format == ISA_FLAT ? flags | ISA_IS_FLAT | ISA_RAISES_LGKM : flags;
}

static uint32_t alu_flags(const struct isa_inst *inst, const struct isa_table_row *row)
{
    uint32_t flags = 0;
    switch (row->kind) {
    case KIND_SC: case KIND_SCD: flags = ISA_WRITES_SCC; break;
    case KIND_SX: flags = ISA_WRITES_SCC | ISA_WRITES_EXEC; break;
    case KIND_CMPX: flags = ISA_WRITES_EXEC; break;
    case KIND_VI: flags = ISA_READS_VCC; break;
    case KIND_BR: flags = ISA_IS_BRANCH; break;
    default: break;
    }
    unsigned scalar = row->format <= ISA_SOPP ? inst->dst : inst->sdst;
    if (scalar == ISA_VCC || scalar == ISA_VCC + 1)
        flags |= ISA_WRITES_VCC;
    if (scalar == ISA_EXEC || scalar == ISA_EXEC + 1)
        flags |= ISA_WRITES_EXEC;
    for (unsigned i = 0; i < 3; i++)
        if (inst->src[i] == ISA_VCC || inst->src[i] == ISA_VCC + 1 || inst->src[i] == ISA_VCCZ)
            flags |= ISA_READS_VCC;
    if (inst->op == ISA_OP_s_cbranch_vccz || inst->op == ISA_OP_s_cbranch_vccnz)
        flags |= ISA_READS_VCC;
    return flags;
}

/* What decodes but cannot be executed in this form. */
static bool executable(const struct isa_inst *inst, const struct isa_table_row *row)
{
    if (!isa_row_executable(row) || (inst->flags & ISA_IS_GDS))
        return false;
    if ((inst->memory & (ISA_MEM_LDS | ISA_MEM_TFE)) && inst->format != ISA_SMEM)
        return false;
    bool integer = row->format >= ISA_VOP2 && row->format <= ISA_VOP3P && row->kind != KIND_CMP && row->kind != KIND_CMPX &&
                   row->type[0] != TYPE_F32 && row->type[0] != TYPE_F16 && row->type[0] != TYPE_F64 && row->type[0] != TYPE_PF16;
    if (integer && inst->clamp && row->kind != KIND_CO && row->kind != KIND_CIO)
        return false;
    return true;
}

static void finish(struct decoder *d)
{
    struct isa_inst *out = d->out;
    const struct isa_table_row *row = d->row;
    static const uint8_t units[ISA_FORMAT_COUNT] = {
        [ISA_SOP2] = ISA_UNIT_SALU, [ISA_SMEM] = ISA_UNIT_SMEM, [ISA_VOP2] = ISA_UNIT_VALU, [ISA_VOP1] = ISA_UNIT_VALU,
        [ISA_VOPC] = ISA_UNIT_VALU, [ISA_VOP3] = ISA_UNIT_VALU, [ISA_VOP3P] = ISA_UNIT_VALU, [ISA_DS] = ISA_UNIT_LDS,
        [ISA_MUBUF] = ISA_UNIT_VMEM, [ISA_MTBUF] = ISA_UNIT_VMEM, [ISA_FLAT] = ISA_UNIT_VMEM, [ISA_GLOBAL] = ISA_UNIT_VMEM,
        [ISA_SCRATCH] = ISA_UNIT_VMEM,
    };
    out->timing = row->timing;
    out->unit = row->timing == ISA_TIMING_BRANCH ? ISA_UNIT_BRANCH
              : row->timing == ISA_TIMING_SPECIAL ? ISA_UNIT_SPECIAL : units[row->format];
    bool memory = out->unit == ISA_UNIT_SMEM || out->unit == ISA_UNIT_VMEM || out->unit == ISA_UNIT_LDS;
    out->flags |= memory ? memory_flags(out, row) : alu_flags(out, row) | special_flags(out->op);
    if (row->kind == KIND_CACHE)
        out->cache_op = ISA_CACHE_INVALIDATE_VECTOR;
    if (row->kind == KIND_SCACHE)
        out->cache_op = row->operation == ISA_OPERATION_WB ? ISA_CACHE_WRITEBACK_SCALAR : ISA_CACHE_INVALIDATE_SCALAR;
    if (!executable(out, row))
        out->flags |= ISA_UNIMPLEMENTED_SEMANTICS;
}

/* A tuple that runs past v255 names no registers. */
static int check_ranges(const struct isa_inst *out) { return out->vgprs > 256 ? ISA_ERROR_INVALID : 0; }

static int dispatch(struct decoder *d)
{
    uint32_t w = d->word[0];
    if (!(w >> 31))
        return decode_vop2(d);
    if (w >> 30 == 2)
        return decode_scalar(d);
    switch (w >> 26) {
    case 0x30: return decode_smem(d);
    case 0x34: return decode_vop3(d);
    case 0x36: return decode_ds(d);
    case 0x37: return decode_flat(d);
    case 0x38: return decode_buffer(d, ISA_MUBUF);
    case 0x3a: return decode_buffer(d, ISA_MTBUF);
    default: return ISA_ERROR_INVALID;
    }
}

int isa_decode(enum isa_target target, const void *bytes, size_t n, struct isa_inst *out)
{
    struct decoder d = {.target = target, .bytes = bytes, .readable = n, .out = out};
    memset(out, 0, sizeof *out);
    out->target = (uint8_t)target;
    out->dst = out->sdst = out->src[0] = out->src[1] = out->src[2] = out->soffset = ISA_NO_OPERAND;
    out->wait_vm = out->wait_lgkm = out->wait_exp = ISA_NO_WAIT;
    out->sel_dst = out->sel_src[0] = out->sel_src[1] = 6;
    int error = fetch_word(&d, 0) ? dispatch(&d) : ISA_ERROR_TRUNCATED;
    if (!error)
        error = check_ranges(out);
    if (error) {
        memset(out, 0, sizeof *out);
        return error;
    }
    finish(&d);
    return out->flags & ISA_UNIMPLEMENTED_SEMANTICS ? ISA_ERROR_UNIMPLEMENTED : out->size;
}

/*
 * isa_text.c - struct isa_inst to assembler text, in llvm-mc's spelling (the oracle of tests/isa/test_isa_oracle.c).
 *
 * One printer a format, appending to a bounded buffer; operands print by the type that the table gives them.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "isa_table.h"

struct text {
    char *buf;
    size_t size, length;
    const struct isa_inst *inst;
    const struct isa_table_row *row;
    unsigned operands;      /* printed so far, for commas */
};

__attribute__((format(printf, 2, 3))) static void put(struct text *t, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    size_t room = t->length < t->size ? t->size - t->length : 0;
    int n = vsnprintf(room ? t->buf + t->length : NULL, room, format, list);
    va_end(list);
    t->length += n > 0 ? (size_t)n : 0;
}

static void separate(struct text *t) { put(t, t->operands++ ? ", " : " "); }

/* ---- operands ------------------------------------------------------------------------------------------------------ */

static void put_range(struct text *t, const char *bank, unsigned first, unsigned dwords)
{
    if (dwords <= 1)
        put(t, "%s%u", bank, first);
    else
        put(t, "%s[%u:%u]", bank, first, first + dwords - 1);
}

static bool put_special_register(struct text *t, unsigned code, unsigned dwords)
{
    static const struct { uint8_t code; const char *pair; } pairs[] = {
        {102, "flat_scratch"}, {104, "xnack_mask"}, {106, "vcc"}, {126, "exec"}, {108, "tba"}, {110, "tma"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if ((code & ~1u) != pairs[i].code || (pairs[i].code >= 108 && pairs[i].code < 112 && t->inst->target != ISA_GFX803))
            continue;
        if (dwords == 2)
            put(t, "%s", pairs[i].pair);
        else
            put(t, "%s_%s", pairs[i].pair, code & 1 ? "hi" : "lo");
        return true;
    }
    return false;
}

static void put_register(struct text *t, unsigned code, unsigned dwords)
{
    unsigned ttmp = t->inst->target == ISA_GFX803 ? 112 : 108;
    if (code >= ISA_VGPR)
        put_range(t, "v", code - ISA_VGPR, dwords);
    else if (code <= 101)
        put_range(t, "s", code, dwords);
    else if (code == ISA_M0)
        put(t, "m0");
    else if (code >= ttmp && code <= 123)
        put_range(t, "ttmp", code - ttmp, dwords);
    else if (!put_special_register(t, code, dwords))
        put(t, "invalid%u", code);
}

static void put_inline_float(struct text *t, unsigned code, unsigned type)
{
    static const char *const values[] = {"0.5", "-0.5", "1.0", "-1.0", "2.0", "-2.0", "4.0", "-4.0"};
    if (code < 248)
        put(t, "%s", values[code - 240]);
    else
        put(t, isa_type_dwords(type) == 2 ? "0.15915494309189532" : "0.15915494");
}

/* Inline floats in 16-bit integer operands print as their bits. */
static const char *const inline_half_bits[] = {"0x3800", "0xb800", "0x3c00", "0xbc00", "0x4000", "0xc000", "0x4400", "0xc400",
                                               "0x3118"};

/* A literal that equals an inline constant prints as that constant. TYPE_B32 asks for the bits. */
static void put_literal(struct text *t, unsigned type)
{
    static const uint32_t singles[9] = {0x3f000000, 0xbf000000, 0x3f800000, 0xbf800000, 0x40000000,
                                        0xc0000000, 0x40800000, 0xc0800000, 0x3e22f983};
    static const uint16_t halves[9] = {0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4400, 0xc400, 0x3118};
    bool half = type == TYPE_F16 || type == TYPE_U16 || type == TYPE_I16 || type == TYPE_M16;
    bool wide = isa_type_dwords(type) == 2;
    uint32_t value = half ? t->inst->literal & 0xffff : t->inst->literal;
    int64_t number = wide ? (int64_t)value : half ? (int16_t)value : (int32_t)value;
    if (type != TYPE_B32 && type != TYPE_F64 && number >= -16 && number <= 64) {
        put(t, "%d", (int)number);
        return;
    }
    for (unsigned i = 0; i < 9 && !wide && type != TYPE_B32 && type != TYPE_U16 && type != TYPE_I16; i++) {
        if (value == (half ? halves[i] : singles[i])) {
            put_inline_float(t, 240 + i, type);
            return;
        }
    }
    put(t, "0x%" PRIx32, value);
}

static void put_source(struct text *t, unsigned code, unsigned type)
{
    static const char *const states[] = {"src_vccz", "src_execz", "src_scc"};
    static const char *const apertures[] = {"src_shared_base", "src_shared_limit", "src_private_base", "src_private_limit",
                                            "src_pops_exiting_wave_id"};
    if (code < 128 || code >= ISA_VGPR)
        put_register(t, code, isa_type_dwords(type));
    else if (code <= 192)
        put(t, "%u", code - 128);
    else if (code <= 208)
        put(t, "-%u", code - 192);
    else if (code >= 235 && code <= 239)
        put(t, "%s", apertures[code - 235]);
    else if (code >= 240 && code <= 248 && (type == TYPE_U16 || type == TYPE_I16))
        put(t, "%s", inline_half_bits[code - 240]);
    else if (code >= 240 && code <= 248)
        put_inline_float(t, code, type);
    else if (code >= ISA_VCCZ && code <= ISA_SCC)
        put(t, "%s", states[code - ISA_VCCZ]);
    else
        put_literal(t, type);
}

static void put_operand(struct text *t, unsigned code, unsigned type)
{
    separate(t);
    put_source(t, code, type);
}

static bool is_constant(unsigned code) { return (code >= 128 && code < 251 && !(code >= 235 && code <= 239)) || code == ISA_LITERAL; }

/* Source i of a vector instruction with its modifiers. */
static void put_modified(struct text *t, unsigned i)
{
    const struct isa_inst *inst = t->inst;
    unsigned type = t->row->type[i + 1], code = inst->src[i];
    bool takes = isa_type_is_float(type);
    bool neg = takes && (inst->neg >> i & 1), abs = takes && (inst->abs >> i & 1);
    bool sext = !takes && (inst->sext >> i & 1);
    separate(t);
    put(t, "%s%s%s", neg ? (is_constant(code) && !abs ? "neg(" : "-") : "", abs ? "|" : "", sext ? "sext(" : "");
    put_source(t, code, type);
    put(t, "%s%s%s", abs ? "|" : "", neg && is_constant(code) && !abs ? ")" : "", sext ? ")" : "");
}

/* ---- scalar formats ------------------------------------------------------------------------------------------------ */

static void put_hwreg(struct text *t)
{
    static const char *const names[] = {NULL, "MODE", "STATUS", "TRAPSTS", "HW_ID", "GPR_ALLOC", "LDS_ALLOC", "IB_STS", NULL, NULL,
                                        NULL, NULL, NULL, NULL, NULL, "SH_MEM_BASES", "TBA_LO", "TBA_HI", "TMA_LO", "TMA_HI"};
    unsigned imm = (uint16_t)t->inst->simm, id = imm & 63, offset = imm >> 6 & 31, width = (imm >> 11) + 1;
    unsigned known = t->inst->target == ISA_GFX803 ? 8 : 20;
    separate(t);
    if (id < known && names[id])
        put(t, "hwreg(HW_REG_%s", names[id]);
    else
        put(t, "hwreg(%u", id);
    if (offset || width != 32)
        put(t, ", %u, %u", offset, width);
    put(t, ")");
}

static void put_waitcnt(struct text *t)
{
    const struct isa_inst *inst = t->inst;
    bool all = inst->wait_vm == ISA_NO_WAIT && inst->wait_exp == ISA_NO_WAIT && inst->wait_lgkm == ISA_NO_WAIT;
    const char *space = " ";
    if (all || inst->wait_vm != ISA_NO_WAIT)
        put(t, "%svmcnt(%u)", space, inst->wait_vm == ISA_NO_WAIT ? (inst->target == ISA_GFX803 ? 15 : 63) : inst->wait_vm);
    if (all || inst->wait_exp != ISA_NO_WAIT)
        put(t, "%sexpcnt(%u)", space, inst->wait_exp == ISA_NO_WAIT ? 7 : inst->wait_exp);
    if (all || inst->wait_lgkm != ISA_NO_WAIT)
        put(t, "%slgkmcnt(%u)", space, inst->wait_lgkm == ISA_NO_WAIT ? 15 : inst->wait_lgkm);
}

static const char *message_name(const struct isa_inst *inst, unsigned id)
{
    static const char *const names[16] = {[1] = "INTERRUPT", [2] = "GS", [3] = "GS_DONE", [4] = "SAVEWAVE",
                                          [5] = "STALL_WAVE_GEN", [6] = "HALT_WAVES", [7] = "ORDERED_PS_DONE",
                                          [8] = "EARLY_PRIM_DEALLOC", [9] = "GS_ALLOC_REQ", [10] = "GET_DOORBELL",
                                          [15] = "SYSMSG"};
    return inst->target == ISA_GFX803 && id >= 5 && id != 15 ? NULL : names[id];
}

static void put_message(struct text *t)
{
    static const char *const gs[4] = {"GS_OP_NOP", "GS_OP_CUT", "GS_OP_EMIT", "GS_OP_EMIT_CUT"};
    static const char *const sys[5] = {NULL, "SYSMSG_OP_ECC_ERR_INTERRUPT", "SYSMSG_OP_REG_RD", "SYSMSG_OP_HOST_TRAP_ACK",
                                       "SYSMSG_OP_TTRACE_PC"};
    unsigned imm = (uint16_t)t->inst->simm, id = imm & 15, op = imm >> 4 & 7, stream = imm >> 8 & 3;
    const char *name = message_name(t->inst, id);
    put(t, " ");
    if ((id == 2 || id == 3) && op < 4 && (op || id == 3) && (op || !stream))
        put(t, stream || op ? "sendmsg(MSG_%s, %s, %u)" : "sendmsg(MSG_%s, %s)", name, gs[op], stream);
    else if (id == 15 && op >= 1 && op <= 4 && !stream && (op != 3 || t->inst->target == ISA_GFX803))
        put(t, "sendmsg(MSG_SYSMSG, %s)", sys[op]);
    else if (name && id != 2 && id != 3 && id != 15 && !op && !stream)
        put(t, "sendmsg(MSG_%s)", name);
    else if (imm == (id | op << 4 | stream << 8))
        put(t, "sendmsg(%u, %u, %u)", id, op, stream);
    else
        put(t, "%u", imm);
}

static void put_gpr_index(struct text *t, unsigned imm)
{
    static const char *const names[4] = {"SRC0", "SRC1", "SRC2", "DST"};
    const char *comma = "";
    separate(t);
    if (imm > 15) {
        put(t, "0x%x", imm);
        return;
    }
    put(t, "gpr_idx(");
    for (unsigned i = 0; i < 4; i++) {
        if (imm >> i & 1) {
            put(t, "%s%s", comma, names[i]);
            comma = ",";
        }
    }
    put(t, ")");
}

static void put_scalar(struct text *t)
{
    const struct isa_inst *inst = t->inst;
    const uint8_t *type = t->row->type;
    if (type[0] != TYPE_NONE)
        put_operand(t, inst->dst, type[0]);
    if (type[1] != TYPE_NONE)
        put_operand(t, inst->src[0], type[1]);
    if (type[2] == TYPE_IDXIMM)
        put_gpr_index(t, (unsigned)inst->simm);
    else if (type[2] != TYPE_NONE)
        put_operand(t, inst->src[1], type[2]);
}

static void put_sopk(struct text *t)
{
    const struct isa_inst *inst = t->inst;
    const uint8_t *type = t->row->type;
    bool set = t->row->kind == KIND_SRC || t->row->kind == KIND_SRL;
    if (set)
        put_hwreg(t);
    if (type[0] != TYPE_NONE)
        put_operand(t, inst->dst, type[0]);
    if (t->row->kind == KIND_SRL)
        put_operand(t, ISA_LITERAL, TYPE_U32);
    if (set)
        return;
    if (type[1] == TYPE_HWREG) {
        put_hwreg(t);
        return;
    }
    separate(t);
    if (inst->op == ISA_OP_s_cbranch_i_fork || inst->op == ISA_OP_s_call_b64)
        put(t, "%u", (uint16_t)inst->simm);
    else
        put(t, "0x%x", (uint16_t)inst->simm);
}

static void put_sopp(struct text *t, uint64_t pc)
{
    const struct isa_inst *inst = t->inst;
    unsigned imm = (uint16_t)inst->simm;
    switch (t->row->type[1]) {
    case TYPE_UIMM:
        put(t, imm <= 64 ? " %u" : " 0x%x", imm);
        break;
    case TYPE_REL16:
        put(t, " %u", imm);
        if (pc != UINT64_MAX)
            put(t, " // 0x%" PRIx64, pc + 4 + (uint64_t)((int64_t)inst->simm * 4));
        break;
    case TYPE_WAIT:
        put_waitcnt(t);
        break;
    case TYPE_MSG:
        put_message(t);
        break;
    case TYPE_IDXIMM:
        put_gpr_index(t, imm);
        break;
    default:
        if (inst->op == ISA_OP_s_endpgm && imm)
            put(t, " %u", imm);
        break;
    }
    if (inst->op == ISA_OP_s_set_gpr_idx_mode && t->row->type[1] == TYPE_NONE)
        put_gpr_index(t, imm);
}

static void put_smem(struct text *t)
{
    const struct isa_inst *inst = t->inst;
    unsigned kind = t->row->kind;
    if (kind == KIND_SCACHE)
        return;
    bool buffer = kind == KIND_SBLOAD || kind == KIND_SBSTORE || kind == KIND_UNSB || kind == KIND_UNPROBEB;
    separate(t);
    if (kind == KIND_UNPROBE || kind == KIND_UNPROBEB)
        put(t, inst->dst <= 64 ? "%u" : "0x%x", inst->dst);
    else if (kind != KIND_UNDISCARD)
        put_register(t, inst->dst, inst->dwords * (t->row->operation == ISA_ATOMIC_CMPSWAP ? 2u : 1u));
    if (kind == KIND_STIME)
        return;
    if (kind == KIND_UNDISCARD)
        t->operands = 0;
    else
        separate(t);
    put_register(t, inst->sdst, buffer ? 4 : 2);
    t->operands = 1;
    if (inst->memory & ISA_MEM_OFFSET_IS_SGPR) {
        separate(t);
        put_register(t, inst->soffset, 1);
        if (inst->memory & ISA_MEM_OFFEN)
            put(t, " offset:0x%x", inst->simm);
    } else if (inst->simm < 0) {
        put(t, ", -0x%x", -inst->simm);
    } else {
        put(t, ", 0x%x", inst->simm);
    }
    if ((inst->memory & ISA_MEM_GLC) && kind != KIND_UNPROBE && kind != KIND_UNPROBEB && kind != KIND_UNDISCARD)
        put(t, " glc");
}

/* ---- vector ALU ---------------------------------------------------------------------------------------------------- */

static void put_dpp(struct text *t)
{
    const struct isa_inst *inst = t->inst;
    unsigned control = inst->dpp_ctrl;
    if (control <= 0xff)
        put(t, " quad_perm:[%u,%u,%u,%u]", control & 3, control >> 2 & 3, control >> 4 & 3, control >> 6 & 3);
    else if (control < 0x130)
        put(t, " row_%s:%u", control < 0x110 ? "shl" : control < 0x120 ? "shr" : "ror", control & 15);
    else if (control < 0x140)
        put(t, " wave_%s:1", control == 0x130 ? "shl" : control == 0x134 ? "rol" : control == 0x138 ? "shr" : "ror");
    else
        put(t, "%s", control == 0x140 ? " row_mirror" : control == 0x141 ? " row_half_mirror"
                   : control == 0x142 ? " row_bcast:15" : " row_bcast:31");
    put(t, " row_mask:0x%x bank_mask:0x%x", inst->dpp_masks >> 4, inst->dpp_masks & 15);
    if (inst->dpp_bound)
        put(t, " bound_ctrl:1");
}

static void put_sdwa(struct text *t)
{
    static const char *const selects[] = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD"};
    static const char *const unused[] = {"UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"};
    const struct isa_inst *inst = t->inst;
    if (inst->format != ISA_VOPC)
        put(t, " dst_sel:%s dst_unused:%s", selects[inst->sel_dst], unused[inst->unused_dst]);
    put(t, " src0_sel:%s", selects[inst->sel_src[0]]);
    if (t->row->type[2] != TYPE_NONE)
        put(t, " src1_sel:%s", selects[inst->sel_src[1]]);
}

static void put_op_sel(struct text *t)
{
    const struct isa_inst *inst = t->inst;
    if (inst->format == ISA_VOP3P || !inst->opsel || !isa_row_has_op_sel(t->row))
        return;
    unsigned sources = 0;
    while (sources < 3 && t->row->type[sources + 1] != TYPE_NONE)
        sources++;
    if (!(inst->opsel & (8 | ((1u << sources) - 1))))
        return;
    put(t, " op_sel:[");
    for (unsigned i = 0; i < sources; i++)
        put(t, "%u,", inst->opsel >> i & 1);
    put(t, "%u]", inst->opsel >> 3 & 1);
}

static void put_packed_bits(struct text *t, const char *name, unsigned value, unsigned count)
{
    put(t, " %s:[", name);
    for (unsigned i = 0; i < count; i++)
        put(t, "%s%u", i ? "," : "", value >> i & 1);
    put(t, "]");
}

static void put_packed_modifiers(struct text *t)
{
    const struct isa_inst *inst = t->inst;
    unsigned sources = t->row->type[3] != TYPE_NONE ? 3 : 2, mask = (1u << sources) - 1;
    unsigned low = inst->opsel & mask, high = inst->opsel >> 4 & mask;
    bool mix = inst->op >= ISA_OP_v_fma_mix_f32 && inst->op <= ISA_OP_v_fma_mixhi_f16;
    if (low)
        put_packed_bits(t, "op_sel", low, sources);
    if (high != (mix ? 0 : mask))
        put_packed_bits(t, "op_sel_hi", high, sources);
    if (!mix && (inst->neg & mask) && t->row->type[1] != TYPE_U32)
        put_packed_bits(t, "neg_lo", inst->neg & mask, sources);
    if (!mix && (inst->abs & mask) && t->row->type[1] != TYPE_U32)
        put_packed_bits(t, "neg_hi", inst->abs & mask, sources);
}

static const char *form_suffix(const struct isa_inst *inst, const struct isa_table_row *row)
{
    if (inst->flags & ISA_IS_SDWA)
        return row->format == ISA_VOPC && inst->target == ISA_GFX803 ? "" : "_sdwa";   /* llvm-mc leaves it out there */
    if (inst->flags & ISA_IS_DPP)
        return "_dpp";
    bool only_form = row->format == ISA_VOP3 || row->format == ISA_VOP3P || row->kind == KIND_MK || row->kind == KIND_AK ||
                     row->type[0] == TYPE_NONE || row->type[0] == TYPE_SREG || inst->op == ISA_OP_v_swap_b32;
    if (only_form)
        return "";
    return inst->flags & ISA_IS_VOP3_FORM ? "_e64" : "_e32";
}

static void put_vector_operands(struct text *t)
{
    const struct isa_inst *inst = t->inst;
    const struct isa_table_row *row = t->row;
    if (row->type[0] == TYPE_SREG || row->type[0] == TYPE_MASK)
        put_operand(t, inst->sdst, row->type[0]);
    else if (row->type[0] != TYPE_NONE)
        put_operand(t, inst->dst, row->type[0]);
    if (row->kind == KIND_CO || row->kind == KIND_CIO || row->kind == KIND_SD)
        put_operand(t, inst->sdst, TYPE_MASK);
    bool literal_in_middle = row->kind == KIND_MK;
    for (unsigned i = 0; i < 3; i++) {
        if (row->type[i + 1] == TYPE_NONE || (i == 2 && (row->kind == KIND_MAC || row->kind == KIND_MK)))
            continue;
        if (i == 1 && literal_in_middle)
            put_operand(t, ISA_LITERAL, TYPE_B32);
        if (i == 2 && row->kind == KIND_AK)
            put_operand(t, ISA_LITERAL, TYPE_B32);
        else
            put_modified(t, i);
    }
    if (row->kind == KIND_CIO || row->kind == KIND_CI)
        put_operand(t, inst->src[2], TYPE_MASK);
}

static void put_vector(struct text *t)
{
    static const char *const omods[] = {"", " mul:2", " mul:4", " div:2"};
    const struct isa_inst *inst = t->inst;
    put(t, "%s", form_suffix(inst, t->row));
    put_vector_operands(t);
    if (inst->format == ISA_VOP3P)
        put_packed_modifiers(t);
    put_op_sel(t);
    if (inst->clamp)
        put(t, " clamp");
    put(t, "%s", omods[inst->omod & 3]);
    if (inst->flags & ISA_IS_SDWA)
        put_sdwa(t);
    if (inst->flags & ISA_IS_DPP)
        put_dpp(t);
}

/* ---- memory -------------------------------------------------------------------------------------------------------- */

static void put_bitmask_swizzle(struct text *t, unsigned and_mask, unsigned or_mask, unsigned xor_mask)
{
    put(t, "swizzle(BITMASK_PERM,\"");
    for (unsigned bit = 5; bit-- > 0;) {
        unsigned a = and_mask >> bit & 1, o = or_mask >> bit & 1, x = xor_mask >> bit & 1;
        unsigned zero = ((0 & a) | o) ^ x, one = ((1 & a) | o) ^ x;
        put(t, "%c", zero == one ? (zero ? '1' : '0') : zero == 0 ? 'p' : 'i');
    }
    put(t, "\")");
}

static void put_swizzle(struct text *t)
{
    unsigned imm = (unsigned)t->inst->simm;
    unsigned and_mask = imm & 31, or_mask = imm >> 5 & 31, xor_mask = imm >> 10 & 31;
    if (!imm)
        return;
    put(t, " offset:");
    if ((imm & 0xff00) == 0x8000) {
        put(t, "swizzle(QUAD_PERM,%u,%u,%u,%u)", imm & 3, imm >> 2 & 3, imm >> 4 & 3, imm >> 6 & 3);
        return;
    }
    if (imm & 0x8000) {
        put(t, "%u", imm);
        return;
    }
    bool xor_power = xor_mask && !(xor_mask & (xor_mask - 1)), xor_ones = xor_mask && !(xor_mask & (xor_mask + 1));
    unsigned group = 32 - and_mask;
    if (xor_power && and_mask == 31 && !or_mask)
        put(t, "swizzle(SWAP,%u)", xor_mask);
    else if (xor_ones && and_mask == 31 && !or_mask)
        put(t, "swizzle(REVERSE,%u)", xor_mask + 1);
    else if (group > 1 && !(group & (group - 1)) && or_mask < group && !xor_mask)
        put(t, "swizzle(BROADCAST,%u,%u)", group, or_mask);
    else
        put_bitmask_swizzle(t, and_mask, or_mask, xor_mask);
}

static void put_ds_offset(struct text *t)
{
    const struct isa_inst *inst = t->inst;
    unsigned imm = (unsigned)inst->simm;
    switch (t->row->kind) {
    case KIND_SWIZZLE:
        put_swizzle(t);
        break;
    case KIND_LOAD2: case KIND_LOAD2ST: case KIND_STORE2: case KIND_STORE2ST: case KIND_XCHG2: case KIND_XCHG2ST:
        if (imm & 255)
            put(t, " offset0:%u", imm & 255);
        if (imm >> 8)
            put(t, " offset1:%u", imm >> 8);
        break;
    case KIND_NOP:
        break;
    default:
        if (imm)
            put(t, " offset:%u", imm);
    }
}

static void put_ds(struct text *t)
{
    const struct isa_inst *inst = t->inst;
    unsigned kind = t->row->kind;
    bool twice = kind == KIND_LOAD2 || kind == KIND_LOAD2ST || kind == KIND_XCHG2 || kind == KIND_XCHG2ST;
    if (inst->dst != ISA_NO_OPERAND) {
        separate(t);
        put_register(t, inst->dst, inst->dwords * (twice ? 2u : 1u));
    }
    for (unsigned i = 0; i < 3; i++) {
        if (inst->src[i] == ISA_NO_OPERAND)
            continue;
        separate(t);
        put_register(t, inst->src[i], i ? inst->dwords : 1);
    }
    put_ds_offset(t);
    if (inst->flags & ISA_IS_GDS)
        put(t, " gds");
}

static unsigned data_registers(const struct text *t)
{
    return t->inst->dwords * (t->row->kind == KIND_ATOMIC && t->row->operation == ISA_ATOMIC_CMPSWAP ? 2u : 1u);
}

static void put_flat(struct text *t)
{
    const struct isa_inst *inst = t->inst;
    bool scalar = inst->soffset != ISA_NO_OPERAND, scratch = inst->format == ISA_SCRATCH;
    if (inst->dst != ISA_NO_OPERAND && !(inst->memory & ISA_MEM_LDS)) {
        separate(t);
        put_register(t, inst->dst, inst->dwords);
    }
    separate(t);
    if (inst->src[0] == ISA_NO_OPERAND)
        put(t, "off");
    else
        put_register(t, inst->src[0], scratch || scalar ? 1 : 2);
    if (inst->src[1] != ISA_NO_OPERAND) {
        separate(t);
        put_register(t, inst->src[1], data_registers(t));
    }
    if (inst->format != ISA_FLAT) {
        separate(t);
        if (scalar)
            put_register(t, inst->soffset, scratch ? 1 : 2);
        else
            put(t, "off");
    }
    if (inst->simm)
        put(t, " offset:%d", inst->simm);
    put(t, "%s%s%s%s", inst->memory & ISA_MEM_GLC ? " glc" : "", inst->memory & ISA_MEM_SLC ? " slc" : "",
        inst->memory & ISA_MEM_LDS ? " lds" : "", inst->memory & ISA_MEM_TFE ? " tfe" : "");
}

static void put_buffer_format(struct text *t)
{
    static const char *const data[16] = {"INVALID", "8", "16", "8_8", "32", "16_16", "10_11_11", "11_11_10", "10_10_10_2",
                                         "2_10_10_10", "8_8_8_8", "32_32", "16_16_16_16", "32_32_32", "32_32_32_32", "RESERVED_15"};
    static const char *const number[8] = {"UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT", "RESERVED_6", "FLOAT"};
    unsigned dfmt = t->inst->format_bits & 15, nfmt = t->inst->format_bits >> 4;
    if (dfmt == 1 && nfmt == 0)
        return;
    put(t, " format:[");
    if (dfmt != 1)
        put(t, "BUF_DATA_FORMAT_%s%s", data[dfmt], nfmt ? "," : "");
    if (nfmt)
        put(t, "BUF_NUM_FORMAT_%s", number[nfmt]);
    put(t, "]");
}

static void put_buffer(struct text *t)
{
    const struct isa_inst *inst = t->inst;
    if (t->row->kind == KIND_CACHE)
        return;
    unsigned registers = data_registers(t);
    /* d16 data is packed from gfx9 on, not on gfx8 */
    if (t->inst->target == ISA_GFX803 && t->row->type[0] >= TYPE_DFX && t->row->type[0] <= TYPE_DFXYZW)
        registers = t->row->type[0] - TYPE_DFX + 1u;
    if (!(inst->memory & ISA_MEM_LDS)) {
        separate(t);
        put_register(t, inst->dst != ISA_NO_OPERAND && inst->src[1] == ISA_NO_OPERAND ? inst->dst : inst->src[1],
                     registers + (inst->memory & ISA_MEM_TFE ? 1 : 0));
    }
    separate(t);
    if (inst->src[0] == ISA_NO_OPERAND)
        put(t, "off");
    else
        put_register(t, inst->src[0], (inst->memory & ISA_MEM_OFFEN) && (inst->memory & ISA_MEM_IDXEN) ? 2 : 1);
    separate(t);
    put_register(t, inst->sdst, 4);
    put_operand(t, inst->soffset, TYPE_U32);
    if (inst->format == ISA_MTBUF)
        put_buffer_format(t);
    put(t, "%s%s", inst->memory & ISA_MEM_IDXEN ? " idxen" : "", inst->memory & ISA_MEM_OFFEN ? " offen" : "");
    if (inst->simm)
        put(t, " offset:%d", inst->simm);
    put(t, "%s%s%s%s", inst->memory & ISA_MEM_GLC ? " glc" : "", inst->memory & ISA_MEM_SLC ? " slc" : "",
        inst->memory & ISA_MEM_LDS ? " lds" : "", inst->memory & ISA_MEM_TFE ? " tfe" : "");
}

size_t isa_format(const struct isa_inst *inst, uint64_t pc, char *buf, size_t n)
{
    struct text t = {.buf = buf, .size = n, .inst = inst};
    if (n)
        buf[0] = 0;
    if (!inst->size || inst->op >= ISA_OP_COUNT) {
        put(&t, "<invalid>");
        return t.length;
    }
    t.row = &isa_table[inst->op];
    put(&t, "%s", t.row->mnemonic);
    switch (t.row->format) {
    case ISA_SOP1: case ISA_SOP2: case ISA_SOPC: put_scalar(&t); break;
    case ISA_SOPK: put_sopk(&t); break;
    case ISA_SOPP: put_sopp(&t, pc); break;
    case ISA_SMEM: put_smem(&t); break;
    case ISA_DS: put_ds(&t); break;
    case ISA_FLAT: case ISA_GLOBAL: case ISA_SCRATCH: put_flat(&t); break;
    case ISA_MUBUF: case ISA_MTBUF: put_buffer(&t); break;
    default: put_vector(&t); break;
    }
    return t.length;
}

/*
 * isa_decode_strict.c - fields that must be zero for LLVM 19 to call a word an instruction.
 *
 * Hardware ignores a field that no operand uses; so does isa_decode. LLVM's disassembler refuses
 * most of them: sources, modifiers and bits that the instruction does not take. Each function here
 * gives, for one format, the bits of both words that LLVM wants to be zero, or says that a
 * combination of fields has no instruction. Called by isa_decode.c at the end of a strict decoding.
 */
#include "isa_decode.h"

struct zeros {
    uint32_t first, second;
    bool invalid;
};

enum { NOTHING = 0 };

static unsigned source_count(const struct isa_decoder *d)
{
    unsigned count = 0;
    while (count < 3 && d->row->type[count + 1] != TYPE_NONE)
        count++;
    return count;
}

static bool takes_vop3_modifiers(const struct isa_decoder *d)
{
    unsigned op = d->out->op;
    if (op == ISA_OP_v_mov_b32 || op == ISA_OP_v_mov_b64)
        return false;
    for (unsigned i = 1; i < 4; i++)
        if (isa_type_is_float(d->row->type[i]))
            return true;
    bool dot_accumulates = d->row->format == ISA_VOP2 && d->kind == KIND_MAC;
    return dot_accumulates || (isa_is_gfx9(d->target) && isa_row_has_op_sel(d->row));
}

static bool is_class(unsigned op)
{
    return op >= ISA_OP_v_cmp_class_f32 && op <= ISA_OP_v_cmpx_class_f16;
}

static bool has_float_result(const struct isa_decoder *d)
{
    unsigned type = d->row->type[0];
    return type == TYPE_F32 || type == TYPE_F64 || type == TYPE_F16 || type == TYPE_PF32
           || isa_row_reads_fp8(d->row);
}

/* Integer instructions whose clamp bit LLVM takes. */
static bool takes_integer_clamp(const struct isa_decoder *d)
{
    switch (d->out->op) {
    case ISA_OP_v_mul_i32_i24:
    case ISA_OP_v_mul_u32_u24:
    case ISA_OP_v_mad_i32_i24:
    case ISA_OP_v_mad_u32_u24:
    case ISA_OP_v_sad_u8:
    case ISA_OP_v_sad_hi_u8:
    case ISA_OP_v_sad_u16:
    case ISA_OP_v_sad_u32:
    case ISA_OP_v_msad_u8:
    case ISA_OP_v_qsad_pk_u16_u8:
    case ISA_OP_v_mqsad_pk_u16_u8:
    case ISA_OP_v_mqsad_u32_u8:
    case ISA_OP_v_mad_legacy_u16:
    case ISA_OP_v_mad_legacy_i16:
        return true;
    case ISA_OP_v_mad_u16:
    case ISA_OP_v_mad_i16:
        return true;
    default:
        return isa_op_saturates(d->out->op) || d->kind == KIND_SD;
    }
}

static bool takes_clamp(const struct isa_decoder *d)
{
    unsigned op = d->out->op;
    if (is_class(op) || op == ISA_OP_v_cndmask_b32 || op == ISA_OP_v_cvt_pk_fp8_f32
        || op == ISA_OP_v_cvt_pk_bf8_f32 || op == ISA_OP_v_cvt_sr_fp8_f32
        || op == ISA_OP_v_cvt_sr_bf8_f32)
        return false;
    return takes_vop3_modifiers(d) || has_float_result(d) || takes_integer_clamp(d);
}

static bool takes_omod(const struct isa_decoder *d)
{
    switch (d->out->op) {
    case ISA_OP_v_cvt_rpi_i32_f32:
    case ISA_OP_v_cvt_flr_i32_f32:
    case ISA_OP_v_frexp_exp_i32_f32:
    case ISA_OP_v_mov_b32:
    case ISA_OP_v_mov_b64:
        return false;
    case ISA_OP_v_cvt_pkrtz_f16_f32:
        return true;
    default:
        break;
    }
    return has_float_result(d)
           || (d->row->format == ISA_VOP1 && isa_type_is_float(d->row->type[1]));
}

static struct zeros vop3_interpolation(const struct isa_decoder *d)
{
    switch (d->kind) {
    case KIND_INTERPMOV:
        return (struct zeros){.first = 0x0700, .second = 0xe7fc0100};
    case KIND_INTERP16:
        return (struct zeros){.first = 0x0500, .second = 0xa7fc0000};
    case KIND_INTERP16C:
        return (struct zeros){.first = 0x0100,
                              .second =
                                  d->out->op == ISA_OP_v_interp_p1lv_f16 ? 0x20000000 : 0x38000000};
    default:
        return (struct zeros){.first = 0x0500, .second = 0xa7fc0100};
    }
}

static struct zeros vop3p(const struct isa_decoder *d)
{
    unsigned op = d->out->op;
    if (d->kind == KIND_MFMA || d->kind == KIND_SMFMAC)
        return (struct zeros){.second = d->kind == KIND_SMFMAC ? 0xe0000000 : NOTHING};
    if (op == ISA_OP_v_accvgpr_read_b32 || op == ISA_OP_v_accvgpr_write_b32)
        return (struct zeros){.first = 0x3f00, .second = 0xe7fffe00};
    if (source_count(d) == 2)
        return (struct zeros){.first = 0x2400, .second = 0x87fc0000};
    return (struct zeros){0};
}

static struct zeros vop3(const struct isa_decoder *d)
{
    const uint8_t *type = d->row->type;
    if (d->row->format == ISA_VOP3P)
        return vop3p(d);
    if (d->kind >= KIND_INTERP && d->kind <= KIND_INTERP16C)
        return vop3_interpolation(d);
    bool pair = d->kind == KIND_CO || d->kind == KIND_CIO || d->kind == KIND_SD;
    unsigned sources = d->kind == KIND_MAC ? 2 : source_count(d), taken = 0;
    if (takes_vop3_modifiers(d))
        taken = is_class(d->out->op) ? 1 : (1u << sources) - 1;
    bool stochastic =
        d->out->op == ISA_OP_v_cvt_sr_fp8_f32 || d->out->op == ISA_OP_v_cvt_sr_bf8_f32;
    if (stochastic)
        taken = 7;
    struct zeros z = {.first = 0x87ff, .second = 0xffffffff};
    if (type[0] == TYPE_SREG || type[0] == TYPE_MASK)
        z.first &= ~0x7fu;
    else if (type[0] != TYPE_NONE)
        z.first &= ~0xffu;
    z.first &= pair ? ~0x7f00u : ~(taken << 8);
    if (isa_is_gfx9(d->target) && isa_row_has_op_sel(d->row) && sources == 2 && !stochastic)
        z.first |= 0x2000;
    if (takes_clamp(d) || d->kind == KIND_CO || d->kind == KIND_CIO)
        z.first &= ~0x8000u;
    z.second &= ~((1u << 9 * sources) - 1) & ~(taken << 29);
    if (d->kind == KIND_CIO || d->kind == KIND_CI)
        z.second &= ~(0x1ffu << 18);
    if (takes_omod(d))
        z.second &= ~0x18000000u;
    return z;
}

static struct zeros sdwa(const struct isa_decoder *d)
{
    const uint8_t *type = d->row->type;
    bool gfx9 = isa_is_gfx9(d->target), moves = d->out->op == ISA_OP_v_mov_b32;
    /* gfx9 has no SDWA form of instructions that accumulate. */
    if (gfx9 && d->kind == KIND_MAC)
        return (struct zeros){.invalid = true};
    if (isa_row_reads_fp8(d->row) && d->out->sel_dst != 6)
        return (struct zeros){.invalid = true};
    struct zeros z = {.second = isa_type_is_float(type[1]) && !moves ? 0x00080000 : 0x00300000};
    if (type[2] == TYPE_NONE)
        z.second |= gfx9 ? 0xbf000000 : 0x3f000000;
    else
        z.second |= isa_type_is_float(type[2]) ? 0x08000000 : 0x30000000;
    if (gfx9 && d->row->format != ISA_VOPC && !has_float_result(d))
        z.second |= 0xc000;
    return z;
}

static struct zeros dpp(const struct isa_decoder *d)
{
    const uint8_t *type = d->row->type;
    if (d->row->format == ISA_VOPC)
        return (struct zeros){.invalid = true};
    bool taken = takes_vop3_modifiers(d);
    return (struct zeros){.second = !taken                 ? 0x00f00000
                                    : type[2] == TYPE_NONE ? 0x00c00000
                                                           : NOTHING};
}

static struct zeros vector(const struct isa_decoder *d)
{
    const struct isa_inst *out = d->out;
    if (out->flags & ISA_IS_VOP3_FORM)
        return vop3(d);
    struct zeros z = out->flags & ISA_IS_SDWA  ? sdwa(d)
                     : out->flags & ISA_IS_DPP ? dpp(d)
                                               : (struct zeros){0};
    if (d->row->format == ISA_VOP1 && d->row->type[0] == TYPE_NONE)
        z.first |= 0xff << 17;
    if (d->row->format == ISA_VOP1 && d->row->type[0] == TYPE_SREG)
        z.first |= 1 << 24;
    return z;
}

static struct zeros ds(const struct isa_decoder *d)
{
    const struct isa_inst *out = d->out;
    struct zeros z = {0};
    if (d->kind == KIND_NOP)
        return (struct zeros){.first = 0x0201ffff, .second = 0xffffffff};
    for (unsigned i = 0; i < 3; i++)
        z.second |= out->src[i] == ISA_NO_OPERAND ? 0xffu << 8 * i : 0;
    z.second |= out->dst == ISA_NO_OPERAND ? 0xff000000 : 0;
    if (d->kind == KIND_GWS || d->kind == KIND_GWSV || d->kind == KIND_UNORD)
        z.invalid = !(d->word[0] >> 16 & 1);
    if (d->kind == KIND_GWS)
        z.first |= 1 << 25;
    if (d->kind == KIND_PERMUTE || d->kind == KIND_BPERMUTE)
        z.first = 1 << 16;
    if (d->kind == KIND_SRC2 || d->kind == KIND_WRSRC2)
        z.first = 1 << 25;
    return z;
}

/* Loads that may go to LDS. */
static bool may_load_lds(const struct isa_decoder *d)
{
    static const uint8_t types[] = {TYPE_U8, TYPE_I8, TYPE_U16, TYPE_I16, TYPE_B32, TYPE_FX};
    bool loads = d->kind == KIND_LOAD || d->kind == KIND_FLOAD;
    for (size_t i = 0; loads && i < sizeof types; i++)
        if (d->row->type[0] == types[i])
            return d->out->op != ISA_OP_buffer_load_format_d16_hi_x;
    return false;
}

/* Floating-point and packed atomics, which came after the others. */
static bool is_float_atomic(unsigned op)
{
    return (op >= ISA_OP_buffer_atomic_add_f32 && op <= ISA_OP_buffer_atomic_max_f64)
           || (op >= ISA_OP_flat_atomic_add_f32 && op <= ISA_OP_flat_atomic_pk_add_bf16)
           || (op >= ISA_OP_global_atomic_add_f32 && op <= ISA_OP_global_atomic_pk_add_bf16);
}

/* The memory bits that must not be set: gfx908 has atomics on floats without a return, gfx90a
 * without scc. */
static unsigned refused_policy(const struct isa_decoder *d)
{
    const struct isa_traits *traits = &isa_traits[d->target];
    if (!is_float_atomic(d->out->op) || traits->scope_bits)
        return 0;
    return traits->accumulators == ISA_ACCUMULATORS_UNIFIED ? ISA_MEM_SCC : ISA_MEM_GLC;
}

static struct zeros flat(const struct isa_decoder *d)
{
    bool architected = isa_traits[d->target].scratch == ISA_SCRATCH_ARCHITECTED;
    struct zeros z = {0};
    z.invalid = d->out->memory & refused_policy(d);
    if (is_float_atomic(d->out->op) && !isa_traits[d->target].scope_bits)
        z.first = 1 << 25;
    if (d->row->format == ISA_FLAT) {
        z.first |= isa_is_gfx9(d->target) ? 1 << 13 : 7 << 13;
        z.second = 0x7f << 16;
        return z;
    }
    bool lds = (d->out->memory & ISA_MEM_LDS) || d->kind == KIND_LOADLDS;
    if (!(architected && d->row->format == ISA_SCRATCH) && (architected || !may_load_lds(d)))
        z.first |= 1 << 13;
    if (lds)
        z.second |= 1 << 23;
    return z;
}

static struct zeros buffer(const struct isa_decoder *d)
{
    bool unified = isa_traits[d->target].accumulators == ISA_ACCUMULATORS_UNIFIED;
    uint32_t tfe = unified ? 0 : 1u << 23;
    if (d->row->format == ISA_MTBUF)
        return (struct zeros){.second = tfe};
    if (d->kind == KIND_CACHE) {
        bool policy = d->out->op == ISA_OP_buffer_wbl2 || d->out->op == ISA_OP_buffer_inv;
        return (struct zeros){.first = policy ? 0x13000 : 0x1f000, .second = 1u << 23};
    }
    if (d->kind == KIND_STORELDS)
        return (struct zeros){
            .first = 0x3000, .second = 1u << 23, .invalid = !(d->out->memory & ISA_MEM_LDS)};
    return (struct zeros){.invalid = d->out->memory & refused_policy(d),
                          .first = may_load_lds(d) ? 0 : 1 << 16,
                          .second = d->out->memory & ISA_MEM_LDS ? 1u << 23
                                    : d->kind == KIND_ATOMIC     ? tfe
                                                                 : 0};
}

static struct zeros image(const struct isa_decoder *d)
{
    unsigned op = d->out->op;
    bool sampled = d->kind == KIND_SAMPLE || d->kind == KIND_GATHER;
    bool halves = (sampled && op != ISA_OP_image_get_lod) || op == ISA_OP_image_load
                  || op == ISA_OP_image_load_mip || op == ISA_OP_image_store
                  || op == ISA_OP_image_store_mip;
    return (struct zeros){.first = 1,
                          .second = (sampled ? 0 : 0x03e00000) | (halves ? 0 : 1u << 31)};
}

static struct zeros zeros_of(const struct isa_decoder *d)
{
    switch (d->row->format) {
    case ISA_SOP1: /* no constant as an address */
        return (struct zeros){.invalid = d->row->type[0] == TYPE_NONE
                                         && d->row->timing == ISA_TIMING_BRANCH
                                         && d->out->src[0] >= 128
                                         && (d->out->src[0] <= 208
                                             || (d->out->src[0] >= 240 && d->out->src[0] <= 248))};
    case ISA_SOPP:
        return (struct zeros){
            .first = d->row->type[1] == TYPE_NONE && d->out->op != ISA_OP_s_endpgm ? 0xffff : 0};
    case ISA_SMEM:
        return (struct zeros){.first =
                                  d->kind == KIND_SCACHE || d->kind == KIND_STIME ? 1 << 17 : 0};
    case ISA_VOP1:
    case ISA_VOP2:
    case ISA_VOPC:
    case ISA_VOP3:
    case ISA_VOP3P:
        return vector(d);
    case ISA_DS:
        return ds(d);
    case ISA_FLAT:
    case ISA_GLOBAL:
    case ISA_SCRATCH:
        return flat(d);
    case ISA_MUBUF:
    case ISA_MTBUF:
        return buffer(d);
    case ISA_MIMG:
        return image(d);
    default:
        return (struct zeros){0};
    }
}

bool isa_decoder_is_strict(const struct isa_decoder *d)
{
    struct zeros z = zeros_of(d);
    return !z.invalid && !(d->word[0] & z.first) && !(d->word[1] & z.second);
}

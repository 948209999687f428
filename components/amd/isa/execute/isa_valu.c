/* The vector ALU. Compiled once for each x86-64 level (ISA_VARIANT is the suffix);
 * isa_execute.c chooses.
 *
 * A row of gcn_vop*.tab becomes a kernel: a loop over all 64 lanes without regard to exec, on
 * lane-contiguous sources. Sources are VGPRs in place, or a scalar broadcast into a buffer;
 * modifiers, SDWA and DPP are applied to a copy beforehand. With exec all ones and no destination
 * modifiers the kernel writes the VGPRs directly; otherwise to a buffer that is then blended in. In
 * each lane all sources are read before the destination is written, and lanes never touch each
 * other, so overlapping source and destination registers are fine and the loops may be vectorised
 * (GCC ivdep).
 *
 * Results are the same bytes in all variants: no contraction (-ffp-contract=off), and NaN results,
 * whose payload on x86 depends on the operand order that the compiler chose, are replaced by a
 * defined one: the first NaN source quietened, else 0x7fc00000. */
#include "isa_valu.h"

#include "base/likely.h"
#include "base/number.h"
#include "components/amd/isa/tables/isa_table.h"

#include "isa_kernels.h"
#include "isa_math.h"
#include "isa_rounding.h"

#define PASTE2(a, b) a##b
#define PASTE(a, b)  PASTE2(a, b)

#define FAST_V(m)      fast_##m
#define FAST_MAC       FAST_V
#define FAST_MK        FAST_V
#define FAST_AK        FAST_V
#define FAST_PK(m)     NULL
#define FAST_MIX(m)    NULL
#define FAST_PKMAC(m)  NULL
#define FAST_FP8(m)    NULL
#define FAST_ACC(m)    NULL
#define FAST_CO(m)     NULL
#define FAST_CIO(m)    NULL
#define FAST_SD(m)     NULL
#define FAST_CI(m)     NULL
#define FAST_VI(m)     NULL
#define FAST_CMP(m)    NULL
#define FAST_CMPX(m)   NULL
#define FAST_X(m)      NULL
#define FAST_UN(m)     NULL
#define F32_OR_NONE(T) (TYPE_##T == TYPE_F32 || TYPE_##T == TYPE_NONE)

typedef void valu_kernel(KERNEL_ARGUMENTS);
typedef uint32_t valu_fast(uint32_t *d, const uint32_t *s0, const uint32_t *s1, const uint32_t *s2,
                           float one);

/* Properties of a row that the dispatcher needs. */
struct entry {
    valu_kernel *kernel;
    valu_fast *fast;                             /* or NULL */
    uint8_t kind, dst, src[3], dst_dwords, wide; /* wide: bit i, source i is 64 bits */
};

#define WIDE(T)                                                                                    \
    (TYPE_##T == TYPE_U64 || TYPE_##T == TYPE_I64 || TYPE_##T == TYPE_F64 || TYPE_##T == TYPE_M64  \
     || TYPE_##T == TYPE_P32 || TYPE_##T == TYPE_PF32 || TYPE_##T == TYPE_F32X2)
#define INSTN(m, text, fmt, o8, o9, kind, D, A, B, C, timing, ...)                                 \
    [ISA_OP_##m - ISA_OP_VALU_FIRST] = {                                                           \
        NAME_##kind(m, __VA_ARGS__),                                                               \
        TYPE_##D == TYPE_F32 && F32_OR_NONE(A) && F32_OR_NONE(B) && F32_OR_NONE(C)                 \
            ? FAST_##kind(m)                                                                       \
            : NULL,                                                                                \
        KIND_##kind,                                                                               \
        TYPE_##D,                                                                                  \
        {TYPE_##A, TYPE_##B, TYPE_##C},                                                            \
        TYPE_##D == TYPE_MASK || TYPE_##D == TYPE_NONE ? 0 : 1 + WIDE(D),                          \
        (uint8_t)(WIDE(A) | WIDE(B) << 1 | WIDE(C) << 2)},
#define INST(m, ...) INSTN(m, #m, __VA_ARGS__)
static const struct entry entries[] = {
#include "components/amd/isa/tables/gcn_vop.tab"
#include "components/amd/isa/tables/gcn_vop3p.tab"
#include "components/amd/isa/tables/gcn_vopc.tab"
};
#undef INST
#undef INSTN

/* ---- modes ---- */

enum {
    FLUSHES = 1,         /* fp32 and fp16 denormals, whatever MODE says */
    IS_MINIMUM = 2,      /* or maximum or median */
    KEEPS_SOURCES = 3,   /* keeps denormal sources */
    FLUSHES_SINGLES = 4, /* fp32 denormals, whatever MODE says */
};

/*
 * What MODE does not decide alone. Multiply-adds that round twice have no denormals (LLVM,
 * SIISelLowering: "v_mad_f32 does not support denormals ever"; it treats those of fp16 alike), nor
 * has v_dot2_f32_f16 any of fp32 ("fdot2_f32_f16 always flushes fp32 denormal operand and output").
 * Halves that v_mad_mix widens or gives follow MODE: LLVM makes it of conversions that do, where
 * fp32 denormals are flushed (isFPExtFoldable).
 * Minima and maxima take denormals for what they are on gfx8, and follow MODE since (LLVM,
 * GCNSubtarget: supportsMinMaxDenormModes).
 * v_div_fmas flushes results only (RDNA manuals: "input denormals are not flushed"); remainders are
 * denormal where quotients are not.
 */
#define NATURE(op, what) [ISA_OP_##op - ISA_OP_VALU_FIRST] = what

static const uint8_t natures[ISA_OP_MEM_FIRST - ISA_OP_VALU_FIRST] = {
    NATURE(v_mac_f32, FLUSHES),
    NATURE(v_mad_f32, FLUSHES),
    NATURE(v_mad_legacy_f32, FLUSHES),
    NATURE(v_madmk_f32, FLUSHES),
    NATURE(v_madak_f32, FLUSHES),
    NATURE(v_mad_mix_f32, FLUSHES_SINGLES),
    NATURE(v_mad_mixlo_f16, FLUSHES_SINGLES),
    NATURE(v_mad_mixhi_f16, FLUSHES_SINGLES),
    NATURE(v_mac_f16, FLUSHES),
    NATURE(v_mad_f16, FLUSHES),
    NATURE(v_mad_legacy_f16, FLUSHES),
    NATURE(v_madmk_f16, FLUSHES),
    NATURE(v_madak_f16, FLUSHES),
    NATURE(v_dot2_f32_f16, FLUSHES),
    NATURE(v_dot2c_f32_f16, FLUSHES),
    NATURE(v_min_f32, IS_MINIMUM),
    NATURE(v_max_f32, IS_MINIMUM),
    NATURE(v_min3_f32, IS_MINIMUM),
    NATURE(v_max3_f32, IS_MINIMUM),
    NATURE(v_med3_f32, IS_MINIMUM),
    NATURE(v_min_f16, IS_MINIMUM),
    NATURE(v_max_f16, IS_MINIMUM),
    NATURE(v_min_f64, IS_MINIMUM),
    NATURE(v_max_f64, IS_MINIMUM),
    NATURE(v_div_fmas_f32, KEEPS_SOURCES),
    NATURE(v_div_fmas_f64, KEEPS_SOURCES),
};

#undef NATURE

static unsigned nature_of(unsigned op)
{
    return natures[op - ISA_OP_VALU_FIRST];
}

static bool is_half_or_double(unsigned type)
{
    return type == TYPE_F16 || type == TYPE_PF16 || type == TYPE_F64;
}

/* MODE as an instruction with `nature` uses it. */
static uint32_t find_mode(const struct isa_wave *wave, const struct isa_inst *inst, unsigned nature)
{
    switch (nature) {
    case FLUSHES:
        return wave->mode & ~0xf0u;
    case FLUSHES_SINGLES:
        return wave->mode & ~0x30u;
    case IS_MINIMUM:
        return isa_traits[inst->target].minimum_keeps_denormals ? wave->mode | 0xf0 : wave->mode;
    case KEEPS_SOURCES:
        return wave->mode | 0x50;
    default:
        return wave->mode;
    }
}

static void set_environment(struct isa_environment *env, const struct isa_wave *wave,
                            const struct isa_inst *inst, const struct entry *entry)
{
    const uint32_t flush = 0x80000000, keep = 0xffffffff;
    unsigned nature = nature_of(inst->op);
    env->mode = likely(!nature) ? wave->mode : find_mode(wave, inst, nature);
    env->keep_in = env->mode & 0x10 ? keep : flush;
    env->keep_out = env->mode & 0x20 ? keep : flush;
    if (entry->kind == KIND_CIO || entry->kind == KIND_CI)
        env->mask_in = isa_wave_pair(wave, inst->src[2]);
    else if (entry->kind == KIND_VI)
        env->mask_in = isa_wave_vcc(wave);
}

/* The usual mode rounds to nearest and keeps denormals of fp64 and fp16, and vector instructions
 * are what they look like. */
static bool is_usual_mode(uint32_t mode)
{
    return (mode & (0xcf | ISA_MODE_INDEXED | ISA_MODE_SKIP)) == 0xc0;
}

/* The row's kernel, or its exact form where that is needed. */
static void run_kernel(const struct isa_wave *wave, const struct isa_inst *inst,
                       const struct entry *entry, uint32_t *to, const uint32_t *const source[3],
                       struct isa_environment *env)
{
    unsigned row = inst->op - ISA_OP_VALU_FIRST;
    bool scales = entry->kind == KIND_VI && (env->mask_in & isa_wave_exec(wave));
    bool flushes = isa_flushes_out(env) && is_half_or_double(entry->dst);
    if (unlikely(!is_usual_mode(wave->mode) | scales | flushes) && isa_rounding_covers(row))
        isa_rounding_run(row, is_half_or_double(entry->dst), wave->mode, to, source, env);
    else
        entry->kernel(to, source[0], source[1], source[2], env);
}

/* ---- sources ---- */

struct lanes {
    _Alignas(64) uint32_t word[128];
}; /* low words, then the high words of 64-bit values */

static void broadcast(uint32_t *out, uint64_t value, unsigned dwords)
{
    uint32_t low = (uint32_t)value, high = (uint32_t)(value >> 32);
    for (unsigned i = 0; i < 64; i++)
        out[i] = low;
    if (dwords > 1)
        for (unsigned i = 0; i < 64; i++)
            out[64 + i] = high;
}

static const uint32_t *fetch(const struct isa_context *ctx, const struct isa_wave *wave,
                             const struct isa_inst *inst, unsigned code, unsigned type, bool wide,
                             struct lanes *buffer)
{
    if (code >= ISA_VGPR)
        return ctx->vgpr + (size_t)(code - ISA_VGPR) * 64;
    broadcast(buffer->word, isa_scalar_value(ctx, wave, inst, code, type), 1u + wide);
    return buffer->word;
}

/* Sign bits of floats by type; abs clears, then neg flips. In 64-bit values they are in the high
 * words. In a word of two halves (v_dot2c_f32_f16) it is bit 31, that of the upper half: LLVM's
 * assembler takes the modifiers of a register of 32 bits there, not neg_lo and neg_hi, and no
 * compiler emits them. */
static void apply_sign(struct lanes *value, unsigned type, bool abs, bool neg)
{
    bool high = type == TYPE_F64 || type == TYPE_M64;
    uint32_t sign = type == TYPE_F16 || type == TYPE_M16 ? 0x8000 : 0x80000000;
    uint32_t *word = value->word + (high ? 64 : 0);
    uint32_t clear = abs ? ~sign : ~0u, flip = neg ? sign : 0;
    for (unsigned i = 0; i < 64; i++)
        word[i] = (word[i] & clear) ^ flip;
}

/* SDWA selects a byte (0 to 3), a half (4, 5) or the word (6) of a register. */
static unsigned selected_shift(unsigned select)
{
    static const uint8_t shifts[8] = {0, 8, 16, 24, 0, 16};
    return shifts[select];
}

static unsigned selected_bits(unsigned select)
{
    static const uint8_t bits[8] = {8, 8, 8, 8, 16, 16, 32, 32};
    return bits[select];
}

static void select_part(uint32_t *to, const uint32_t *from, unsigned select, bool sext)
{
    unsigned shift = selected_shift(select), up = 32 - selected_bits(select);
    for (unsigned i = 0; i < 64; i++) {
        uint32_t part = from[i] >> shift << up;
        to[i] = sext ? (uint32_t)((int32_t)part >> up) : part >> up;
    }
}

/* The lane that lane reads under a DPP control, or -1. */
static int dpp_source(unsigned control, int lane)
{
    int row = lane & ~15, in_row = lane & 15, n = (int)(control & 15);
    if (control <= 0xff)
        return (lane & ~3) | (int)(control >> 2 * (lane & 3) & 3);
    if (control < 0x110)
        return in_row + n < 16 ? lane + n : -1;
    if (control < 0x120)
        return in_row - n >= 0 ? lane - n : -1;
    if (control < 0x130)
        return row | ((in_row - n) & 15);
    if (control >= 0x150)
        return row | n;
    switch (control) {
    case 0x130:
        return lane < 63 ? lane + 1 : -1;
    case 0x134:
        return (lane + 1) & 63;
    case 0x138:
        return lane > 0 ? lane - 1 : -1;
    case 0x13c:
        return (lane - 1) & 63;
    case 0x140:
        return row | (15 - in_row);
    case 0x141:
        return (lane & ~7) | (7 - (lane & 7));
    case 0x142:
        return row ? row - 1 : -1;
    default:
        return lane >= 32 ? 31 : -1;
    }
}

/* Moves source 0 between lanes; returns the lanes that may be written. */
static uint64_t apply_dpp(const struct isa_inst *inst, uint64_t exec, const uint32_t *from,
                          bool is_wide, struct lanes *to)
{
    uint64_t writable = 0;
    for (int lane = 0; lane < 64; lane++) {
        int source = dpp_source(inst->dpp_ctrl, lane);
        bool valid = source >= 0 && (exec >> source & 1);
        to->word[lane] = valid ? from[source] : 0;
        if (is_wide)
            to->word[64 + lane] = valid ? from[64 + source] : 0;
        bool selected =
            (inst->dpp_masks >> (4 + lane / 16) & 1) && (inst->dpp_masks >> (lane % 16 / 4) & 1);
        writable |= (uint64_t)(selected && (valid || inst->dpp_bound)) << lane;
    }
    return writable;
}

/* A copy of source i with everything that its encoding asks for. */
static const uint32_t *modify(const struct isa_inst *inst, const struct entry *entry, unsigned i,
                              const uint32_t *from, struct lanes *to, uint64_t exec,
                              uint64_t *writable)
{
    bool dpp = i == 0 && (inst->flags & ISA_IS_DPP);
    bool sdwa = i < 2 && (inst->flags & ISA_IS_SDWA) && (inst->sel_src[i] != 6);
    bool upper = (inst->opsel >> i & 1) && entry->kind != KIND_FP8
                 && isa_row_has_op_sel(&isa_table[inst->op]);
    bool sign = ((inst->abs | inst->neg) >> i & 1) && isa_type_is_float(entry->src[i]);
    if (!dpp && !sdwa && !upper && !sign)
        return from;
    if (dpp)
        *writable = apply_dpp(inst, exec, from, entry->wide & 1, to);
    else if (from != to->word)
        memcpy(to->word, from, entry->wide >> i & 1 ? 512 : 256);
    if (sdwa)
        select_part(to->word, to->word, inst->sel_src[i], inst->sext >> i & 1);
    if (upper)
        for (unsigned lane = 0; lane < 64; lane++)
            to->word[lane] >>= 16;
    if (sign)
        apply_sign(to, entry->src[i], inst->abs >> i & 1, inst->neg >> i & 1);
    return to->word;
}

/* ---- destinations ---- */

static void blend(uint32_t *to, const uint32_t *from, uint64_t mask)
{
    for (unsigned half = 0; half < 64; half += 32) {
        uint32_t bits = (uint32_t)(mask >> half);
        _Pragma("GCC ivdep") for (unsigned j = 0; j < 32; j++)
        {
            uint32_t fresh = from[half + j], stale = to[half + j], own = lane_bits[j];
            to[half + j] = bits & own ? fresh : stale;
        }
    }
}

/*
 * omod and clamp of a float result (Vega manual, "Output Modifiers"; LLVM, SIFoldOperands). omod is
 * ignored with MODE's IEEE bit, or where MODE keeps denormal results; else the result, denormals
 * flushed, is scaled, flushed again, and -0 becomes +0. (Whether hardware flushes before it scales
 * is not documented.) DX10_CLAMP clamps a NaN to 0, which passes otherwise.
 */
struct output {
    float scale;
    bool clamp, dx10;
};

static struct output output_of(const struct isa_wave *wave, const struct isa_inst *inst,
                               unsigned type)
{
    static const float scales[4] = {1.0f, 2.0f, 4.0f, 0.5f};
    uint32_t denormals = is_half_or_double(type) ? 0x80 : 0x20;
    bool ignored = wave->mode & (ISA_MODE_IEEE | denormals);
    return (struct output){.scale = ignored ? 1.0f : scales[inst->omod & 3],
                           .clamp = inst->clamp,
                           .dx10 = wave->mode >> 8 & 1};
}

static uint32_t output_of_f32(uint32_t u, struct output o)
{
    float x = f32_bits(u), scaled = flushed_f32(flushed_f32(x) * o.scale);
    if (x != x)
        return o.clamp && o.dx10 ? 0 : u;
    x = o.scale == 1.0f ? x : scaled + 0.0f;
    return !o.clamp ? bits_f32(x) : x > 0.0f ? bits_f32(min(1.0f, x)) : 0;
}

static uint32_t output_of_f16(uint32_t u, struct output o)
{
    uint32_t flushed = u & 0x7c00 ? u : 0, scaled = f16_f32(f32_f16(flushed) * o.scale);
    bool negative = u >> 15 & 1;
    if ((u & 0x7fff) > 0x7c00)
        return o.clamp && o.dx10 ? 0 : u;
    u = o.scale == 1.0f ? u : scaled & 0x7c00 ? scaled : 0;
    return !o.clamp ? u : negative ? 0 : min(0x3c00, u);
}

static uint64_t output_of_f64(uint64_t u, struct output o)
{
    double x = f64_bits(u), scaled = (denormal_f64(x) ? 0.0 : x) * (double)o.scale;
    if (x != x)
        return o.clamp && o.dx10 ? 0 : u;
    x = o.scale == 1.0f ? x : (denormal_f64(scaled) ? 0.0 : scaled) + 0.0;
    return !o.clamp ? bits_f64(x) : x > 0.0 ? bits_f64(min(1.0, x)) : 0;
}

static void apply_output(uint32_t *word, unsigned type, struct output o)
{
    if (type == TYPE_F32 || type == TYPE_F32X2)
        for (unsigned i = 0; i < (type == TYPE_F32 ? 64 : 128); i++)
            word[i] = output_of_f32(word[i], o);
    else if (type == TYPE_F16 || type == TYPE_PF16)
        for (unsigned i = 0; i < 64; i++)
            word[i] = output_of_f16(word[i], o);
    else if (type == TYPE_F64)
        for (unsigned i = 0; i < 64; i++) {
            uint64_t u = output_of_f64(word[i] | (uint64_t)word[64 + i] << 32, o);
            word[i] = (uint32_t)u;
            word[64 + i] = (uint32_t)(u >> 32);
        }
}

/* Carry-producing integer operations saturate: additions to all ones, subtractions to zero. */
static void output_saturated(uint32_t *word, uint64_t carry, bool subtracts)
{
    for (unsigned i = 0; i < 64; i++)
        if (carry >> i & 1)
            word[i] = subtracts ? 0 : 0xffffffff;
}

static bool subtracts(unsigned op)
{
    return op != ISA_OP_v_add_u32 && op != ISA_OP_v_addc_u32 && op != ISA_OP_v_add_co_u32
           && op != ISA_OP_v_addc_co_u32;
}

static void place_part(uint32_t *result, const uint32_t *old, unsigned select, unsigned unused)
{
    unsigned shift = selected_shift(select), width = selected_bits(select);
    if (width == 32)
        return;
    uint32_t field = ((1u << width) - 1) << shift;
    unsigned up = 32 - width;
    for (unsigned i = 0; i < 64; i++) {
        uint32_t part = result[i] << shift & field;
        uint32_t extended = (uint32_t)((int32_t)(result[i] << up) >> up) << shift;
        result[i] = unused == 2 ? part | (old[i] & ~field) : unused == 1 ? extended : part;
    }
}

/* gfx9's own 16-bit instructions leave the other half of the destination alone; inherited 16-bit
 * instructions zero the upper half (LLVM, GCNSubtarget: zeroesHigh16BitsOfDest). */
static bool keeps_upper_half(const struct isa_inst *inst, const struct entry *entry)
{
    if (entry->dst != TYPE_F16 && entry->dst != TYPE_U16 && entry->dst != TYPE_I16)
        return false;
    bool own = isa_row_has_op_sel(&isa_table[inst->op]) || inst->op == ISA_OP_v_mac_f16
               || inst->op == ISA_OP_v_madmk_f16 || inst->op == ISA_OP_v_madak_f16;
    return own && isa_is_gfx9(inst->target) && !(inst->flags & ISA_IS_SDWA);
}

static void finish_result(const struct isa_wave *wave, const struct isa_inst *inst,
                          const struct entry *entry, const struct isa_environment *env,
                          struct lanes *result, const uint32_t *old)
{
    if (inst->omod || inst->clamp) {
        apply_output(result->word, entry->dst, output_of(wave, inst, entry->dst));
        if (entry->kind == KIND_CO || entry->kind == KIND_CIO)
            output_saturated(result->word, env->mask_out, subtracts(inst->op));
    }
    if (inst->flags & ISA_IS_SDWA)
        place_part(result->word, old, inst->sel_dst, inst->unused_dst);
    if ((inst->opsel & 8) && isa_row_has_op_sel(&isa_table[inst->op]))
        for (unsigned i = 0; i < 64; i++)
            result->word[i] = result->word[i] << 16 | (old[i] & 0xffff);
    else if (keeps_upper_half(inst, entry))
        for (unsigned i = 0; i < 64; i++)
            result->word[i] |= old[i] & 0xffff0000;
}

/* ---- packed ---- */

/* Runs a packed row's kernel on the low and then on the high halves that op_sel chooses. */
static void run_packed(const struct isa_wave *wave, const struct entry *entry,
                       const struct isa_inst *inst, const uint32_t *const source[3],
                       struct lanes *result, struct isa_environment *env)
{
    struct lanes half[3], out[2];
    const uint32_t *halves[3] = {half[0].word, half[1].word, half[2].word};
    unsigned opsel = entry->kind == KIND_PKMAC ? 0x70 : inst->opsel;
    for (unsigned part = 0; part < 2; part++) {
        unsigned select = part ? opsel >> 4 : opsel, neg = part ? inst->abs : inst->neg;
        for (unsigned i = 0; i < 3 && entry->src[i] != TYPE_NONE; i++) {
            unsigned shift = select >> i & 1 ? 16 : 0;
            uint32_t flip = (neg >> i & 1) && entry->src[i] == TYPE_PF16 ? 0x8000 : 0;
            for (unsigned lane = 0; lane < 64; lane++)
                half[i].word[lane] = (source[i][lane] >> shift & 0xffff) ^ flip;
        }
        run_kernel(wave, inst, entry, out[part].word, halves, env);
        if (inst->clamp && entry->dst == TYPE_PF16)
            apply_output(out[part].word, entry->dst, output_of(wave, inst, entry->dst));
        else if (inst->clamp && isa_op_saturates(inst->op))
            isa_clamp_result(inst->op, out[part].word, half[0].word, half[1].word, half[2].word);
    }
    for (unsigned lane = 0; lane < 64; lane++)
        result->word[lane] = out[0].word[lane] | out[1].word[lane] << 16;
}

/* Runs on pairs of registers: each result comes from the words that op_sel and op_sel_hi choose. */
static void run_pairs(const struct isa_wave *wave, const struct entry *entry,
                      const struct isa_inst *inst, const uint32_t *const source[3],
                      struct lanes *result, struct isa_environment *env)
{
    struct lanes word[3], out;
    const uint32_t *words[3] = {word[0].word, word[1].word, word[2].word};
    for (unsigned part = 0; part < 2; part++) {
        unsigned select = part ? inst->opsel >> 4 : inst->opsel, neg = part ? inst->abs : inst->neg;
        for (unsigned i = 0; i < 3 && entry->src[i] != TYPE_NONE; i++) {
            const uint32_t *from = source[i] + (select >> i & 1 ? 64 : 0);
            uint32_t flip = neg >> i & 1 ? 0x80000000 : 0;
            for (unsigned lane = 0; lane < 64; lane++)
                word[i].word[lane] = from[lane] ^ flip;
        }
        run_kernel(wave, inst, entry, out.word, words, env);
        if (inst->clamp)
            apply_output(out.word, TYPE_F32, output_of(wave, inst, TYPE_F32));
        memcpy(result->word + 64 * part, out.word, 256);
    }
}

/* v_pk_mov_b32: the first result from source 0, the second from source 1, as op_sel chooses. */
static void move_pairs(const struct isa_inst *inst, const uint32_t *const source[3],
                       struct lanes *result)
{
    for (unsigned i = 0; i < 2; i++)
        memcpy(result->word + 64 * i, source[i] + (inst->opsel >> i & 1 ? 64 : 0), 256);
}

/* Two values converted to fp8 take a half of the destination, one value takes a byte. */
static void place_fp8(const struct isa_inst *inst, const uint32_t *old, struct lanes *result)
{
    bool one = inst->op == ISA_OP_v_cvt_sr_fp8_f32 || inst->op == ISA_OP_v_cvt_sr_bf8_f32;
    unsigned shift = one ? (inst->opsel >> 2 & 3) * 8 : inst->opsel >> 3 & 1 ? 16 : 0;
    uint32_t field = (one ? 0xffu : 0xffffu) << shift;
    for (unsigned lane = 0; lane < 64; lane++)
        result->word[lane] = (old[lane] & ~field) | (result->word[lane] << shift & field);
}

/* A source of the mixed-precision instructions as floats. */
static void widen_source(const struct isa_inst *inst, unsigned i, const uint32_t *from, bool flush,
                         struct lanes *to)
{
    unsigned shift = inst->opsel >> i & 1 ? 16 : 0;
    bool half = inst->opsel >> (4 + i) & 1;
    for (unsigned lane = 0; lane < 64; lane++) {
        uint32_t u = from[lane] >> shift & 0xffff;
        u = flush && !(u & 0x7c00) ? u & 0x8000 : u;
        to->word[lane] = half ? bits_f32(f32_f16(u)) : from[lane];
    }
    apply_sign(to, TYPE_F32, inst->abs >> i & 1, inst->neg >> i & 1);
}

/* fp16 sources and results follow MODE's bits for fp16, the sum in between those for fp32. clamp is
 * applied to the half (LLVM, VOP3PInstructions.td). */
static void run_mixed(const struct isa_wave *wave, const struct entry *entry,
                      const struct isa_inst *inst, const uint32_t *const source[3],
                      struct lanes *result, const uint32_t *old, struct isa_environment *env)
{
    struct lanes wide[3];
    const uint32_t *widened[3] = {wide[0].word, wide[1].word, wide[2].word};
    bool half = inst->op != ISA_OP_v_fma_mix_f32 && inst->op != ISA_OP_v_mad_mix_f32;
    bool high = inst->op == ISA_OP_v_fma_mixhi_f16 || inst->op == ISA_OP_v_mad_mixhi_f16;
    struct output output = output_of(wave, inst, half ? TYPE_F16 : TYPE_F32);
    for (unsigned i = 0; i < 3; i++)
        widen_source(inst, i, source[i], isa_flushes_in(env), &wide[i]);
    run_kernel(wave, inst, entry, result->word, widened, env);
    if (!half) {
        if (inst->clamp)
            apply_output(result->word, TYPE_F32, output);
        return;
    }
    for (unsigned lane = 0; lane < 64; lane++) {
        float x = f32_bits(result->word[lane]);
        uint32_t u = x != x ? f16_nan(x) : isa_rounding_half(x, wave->mode);
        result->word[lane] = isa_flushes_out(env) && !(u & 0x7c00) ? u & 0x8000 : u;
    }
    if (inst->clamp)
        apply_output(result->word, TYPE_F16, output);
    for (unsigned lane = 0; lane < 64; lane++) {
        uint32_t u = result->word[lane];
        result->word[lane] = high ? (old[lane] & 0xffff) | u << 16 : (old[lane] & 0xffff0000) | u;
    }
}

/* A source of a dot product: its halves as op_sel and op_sel_hi choose them, and, of floats,
 * negated by neg_lo and neg_hi. The third source is a whole register, negated by neg_lo. */
static const uint32_t *dot_source(const struct isa_inst *inst, const struct entry *entry,
                                  unsigned i, const uint32_t *from, struct lanes *to)
{
    bool is_float = entry->dst == TYPE_F32, low = inst->neg >> i & 1, high = inst->abs >> i & 1;
    unsigned first = i < 2 && (inst->opsel >> i & 1) ? 16 : 0;
    unsigned second = i < 2 && !(inst->opsel >> (4 + i) & 1) ? 0 : 16;
    uint32_t flip = !is_float ? 0 : i == 2 ? (uint32_t)low << 31 : low << 15 | (uint32_t)high << 31;
    for (unsigned lane = 0; lane < 64; lane++)
        to->word[lane] =
            ((from[lane] >> first & 0xffff) | (from[lane] >> second & 0xffff) << 16) ^ flip;
    return to->word;
}

/* ---- instructions without a kernel ---- */

static void move_relative(struct isa_context *ctx, struct isa_wave *wave,
                          const struct isa_inst *inst)
{
    struct lanes buffer;
    uint32_t index = wave->sgpr[ISA_M0];
    unsigned from = inst->src[0], to = inst->dst;
    if (inst->op != ISA_OP_v_movrels_b32
        && !isa_gpr_index_destination(ctx, inst->dst, index, 1, &to))
        return;
    if (inst->op != ISA_OP_v_movreld_b32 && from >= ISA_VGPR)
        from = isa_gpr_index_source(ctx, from, index, 1);
    blend(ctx->vgpr + (size_t)(to - ISA_VGPR) * 64,
          fetch(ctx, wave, inst, from, TYPE_U32, false, &buffer), isa_wave_exec(wave));
}

static void swap_registers(struct isa_context *ctx, uint64_t exec, const struct isa_inst *inst)
{
    struct lanes old;
    uint32_t *a = ctx->vgpr + (size_t)(inst->dst - ISA_VGPR) * 64,
             *b = ctx->vgpr + (size_t)(inst->src[0] - ISA_VGPR) * 64;
    memcpy(old.word, a, 256);
    blend(a, b, exec);
    blend(b, old.word, exec);
}

/* v_mqsad_u32_u8: four sums, each at one byte further in source 0, added to four registers. */
static void sum_masked_differences(struct isa_context *ctx, const struct isa_wave *wave,
                                   const struct isa_inst *inst)
{
    struct lanes buffer[3], sum[4];
    const uint32_t *pixels = fetch(ctx, wave, inst, inst->src[0], TYPE_U64, true, &buffer[0]);
    const uint32_t *reference = fetch(ctx, wave, inst, inst->src[1], TYPE_U32, false, &buffer[1]);
    const uint32_t *added = fetch(ctx, wave, inst, inst->src[2], TYPE_U64, true, &buffer[2]);
    for (unsigned i = 0; i < 4; i++)
        for (unsigned lane = 0; lane < 64; lane++) {
            bool is_vgpr = inst->src[2] >= ISA_VGPR;
            uint32_t term = is_vgpr || i < 2 ? added[64 * i + lane] : 0;
            uint64_t both = (uint64_t)pixels[lane] | (uint64_t)pixels[64 + lane] << 32;
            uint32_t value = msad_u8((uint32_t)(both >> 8 * i), reference[lane]) + term;
            sum[i].word[lane] = inst->clamp && value < term ? 0xffffffff : value;
        }
    for (unsigned i = 0; i < 4; i++)
        blend(ctx->vgpr + (size_t)(inst->dst - ISA_VGPR + i) * 64, sum[i].word,
              isa_wave_exec(wave));
}

static uint32_t lane_value(const struct isa_context *ctx, const struct isa_wave *wave,
                           const struct isa_inst *inst, unsigned lane)
{
    unsigned code = inst->src[0];
    return code >= ISA_VGPR ? ctx->vgpr[(size_t)(code - ISA_VGPR) * 64 + lane]
                            : (uint32_t)isa_scalar_value(ctx, wave, inst, code, TYPE_U32);
}

static void move_accumulator(struct isa_context *ctx, const struct isa_wave *wave,
                             const struct isa_inst *inst)
{
    struct lanes buffer;
    const uint32_t *from = ctx->vgpr + (size_t)isa_register(ctx, inst->src[0]) * 64;
    if (inst->src[0] < ISA_VGPR)
        from = fetch(ctx, wave, inst, inst->src[0], TYPE_U32, false, &buffer);
    blend(ctx->vgpr + (size_t)isa_register(ctx, inst->dst) * 64, from, isa_wave_exec(wave));
}

static enum isa_status execute_special(struct isa_context *ctx, struct isa_wave *wave,
                                       const struct isa_inst *inst)
{
    uint64_t exec = isa_wave_exec(wave);
    unsigned lane;
    switch (inst->op) {
    case ISA_OP_v_nop:
    case ISA_OP_v_clrexcp:
        return ISA_OK;
    case ISA_OP_v_accvgpr_read_b32:
    case ISA_OP_v_accvgpr_write_b32:
    case ISA_OP_v_accvgpr_mov_b32:
        move_accumulator(ctx, wave, inst);
        return ISA_OK;
    case ISA_OP_v_readfirstlane_b32:
        wave->sgpr[inst->sdst] =
            lane_value(ctx, wave, inst, exec ? (unsigned)__builtin_ctzll(exec) : 0);
        return ISA_OK;
    case ISA_OP_v_readlane_b32:
        lane = (unsigned)isa_scalar_value(ctx, wave, inst, inst->src[1], TYPE_U32) & 63;
        wave->sgpr[inst->sdst] = lane_value(ctx, wave, inst, lane);
        return ISA_OK;
    case ISA_OP_v_writelane_b32:
        lane = (unsigned)isa_scalar_value(ctx, wave, inst, inst->src[1], TYPE_U32) & 63;
        ctx->vgpr[(size_t)(inst->dst - ISA_VGPR) * 64 + lane] = lane_value(ctx, wave, inst, 0);
        return ISA_OK;
    case ISA_OP_v_movreld_b32:
    case ISA_OP_v_movrels_b32:
    case ISA_OP_v_movrelsd_b32:
        move_relative(ctx, wave, inst);
        return ISA_OK;
    case ISA_OP_v_mqsad_u32_u8:
        sum_masked_differences(ctx, wave, inst);
        return ISA_OK;
    case ISA_OP_v_swap_b32:
        if (inst->src[0] < ISA_VGPR)
            return ISA_BAD_REGISTER;
        swap_registers(ctx, exec, inst);
        return ISA_OK;
    default:
        return ISA_NOT_IMPLEMENTED;
    }
}

/* ---- execution ---- */

/* Lanes outside exec have 0 in a mask that a vector instruction writes. */
static void write_mask(struct isa_wave *wave, const struct isa_inst *inst,
                       const struct entry *entry, uint64_t mask)
{
    isa_wave_set_pair(wave, inst->sdst, mask);
    if (entry->kind == KIND_CMPX)
        isa_wave_set_pair(wave, ISA_EXEC, mask);
}

/* Everything but the plain case: modifiers, SDWA, DPP, packed. */
static void execute_modified(struct isa_context *ctx, struct isa_wave *wave,
                             const struct isa_inst *inst, const struct entry *entry,
                             const uint32_t *source[3], struct lanes buffer[3],
                             struct isa_environment *env)
{
    uint64_t exec = isa_wave_exec(wave), writable = ~UINT64_C(0);
    struct lanes result;
    uint32_t *to = entry->dst_dwords ? ctx->vgpr + (size_t)(inst->dst - ISA_VGPR) * 64 : NULL;
    if (inst->op == ISA_OP_v_pk_mov_b32) {
        move_pairs(inst, source, &result);
    } else if (entry->kind == KIND_PK && entry->dst == TYPE_PF32) {
        run_pairs(wave, entry, inst, source, &result, env);
    } else if (entry->kind == KIND_PK || entry->kind == KIND_PKMAC) {
        run_packed(wave, entry, inst, source, &result, env);
    } else if (entry->kind == KIND_MIX) {
        run_mixed(wave, entry, inst, source, &result, to, env);
    } else {
        bool is_dot = isa_table[inst->op].format == ISA_VOP3P;
        for (unsigned i = 0; i < 3 && entry->src[i] != TYPE_NONE; i++)
            source[i] = is_dot ? dot_source(inst, entry, i, source[i], &buffer[i])
                               : modify(inst, entry, i, source[i], &buffer[i], exec, &writable);
        run_kernel(wave, inst, entry, result.word, source, env);
        if (inst->clamp && isa_op_saturates(inst->op))
            isa_clamp_result(inst->op, result.word, source[0], source[1], source[2]);
        if (entry->kind == KIND_FP8)
            place_fp8(inst, to, &result);
        else if (to)
            finish_result(wave, inst, entry, env, &result, to);
    }
    for (unsigned i = 0; i < entry->dst_dwords; i++)
        blend(to + 64 * i, result.word + 64 * i, exec & writable);
    if (inst->sdst != ISA_OPERAND_NONE)
        write_mask(wave, inst, entry, env->mask_out & exec & writable);
}

/* Under a MODE that lets vector instructions do something else, or nothing. */
static OUT_OF_LINE enum isa_status execute_otherwise(struct isa_context *ctx, struct isa_wave *wave,
                                                     const struct isa_inst *inst)
{
    struct isa_inst moved;
    uint32_t mode = wave->mode;
    if ((mode & ISA_MODE_SKIP) || !isa_move_registers(ctx, wave, inst, &moved))
        return ISA_OK;
    wave->mode &= ~(uint32_t)ISA_MODE_INDEXED;
    enum isa_status status = PASTE(isa_valu_execute_, ISA_VARIANT)(ctx, wave, &moved);
    wave->mode = mode;
    return status;
}

enum isa_status PASTE(isa_valu_execute_, ISA_VARIANT)(struct isa_context *ctx,
                                                      struct isa_wave *wave,
                                                      const struct isa_inst *inst)
{
    if (unlikely(wave->mode & (ISA_MODE_INDEXED | ISA_MODE_SKIP)))
        return execute_otherwise(ctx, wave, inst);
    const struct entry *entry = &entries[inst->op - ISA_OP_VALU_FIRST];
    if (!entry->kernel)
        return execute_special(ctx, wave, inst);
    const uint64_t odd_kinds = (uint64_t)1 << KIND_PK | (uint64_t)1 << KIND_MIX
                               | (uint64_t)1 << KIND_PKMAC | (uint64_t)1 << KIND_FP8;
    struct lanes buffer[3];
    const uint32_t *source[3] = {buffer[0].word, buffer[1].word,
                                 buffer[2].word}; /* unused ones are never read */
    struct isa_environment env = {0};
    set_environment(&env, wave, inst, entry);
    for (unsigned i = 0; i < 3 && entry->src[i] != TYPE_NONE; i++)
        source[i] =
            fetch(ctx, wave, inst, inst->src[i], entry->src[i], entry->wide >> i & 1, &buffer[i]);
    bool modified = (inst->flags & (ISA_IS_SDWA | ISA_IS_DPP))
                    || inst->abs | inst->neg | inst->omod | inst->clamp | inst->opsel
                    || odd_kinds >> entry->kind & 1 || keeps_upper_half(inst, entry);
    if (modified) {
        execute_modified(ctx, wave, inst, entry, source, buffer, &env);
        return ISA_OK;
    }
    uint64_t exec = isa_wave_exec(wave);
    uint32_t *to =
        entry->dst_dwords ? ctx->vgpr + (size_t)(inst->dst - ISA_VGPR) * 64 : buffer[0].word;
    if (!entry->dst_dwords || exec == ~UINT64_C(0)) {
        run_kernel(wave, inst, entry, to, source, &env);
    } else {
        struct lanes result;
        run_kernel(wave, inst, entry, result.word, source, &env);
        for (unsigned i = 0; i < entry->dst_dwords; i++)
            blend(to + 64 * i, result.word + 64 * i, exec);
    }
    if (inst->sdst != ISA_OPERAND_NONE)
        write_mask(wave, inst, entry, env.mask_out & exec);
    return ISA_OK;
}

#include "isa_valu_ready.c"

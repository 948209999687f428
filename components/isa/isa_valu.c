/*
 * isa_valu.c - the vector ALU. Compiled once for each x86-64 level (ISA_VARIANT is the suffix);
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
 * defined one: the first NaN source quietened, else 0x7fc00000.
 */
#include "isa_valu.h"

#include "isa_math.h"
#include "isa_table.h"

#define PASTE2(a, b) a##b
#define PASTE(a, b)  PASTE2(a, b)

struct kernel_env {
    uint64_t mask_in; /* carries or conditions */
    uint64_t mask_out;
    uint32_t keep_in, keep_out;
};

#define KERNEL_ARGUMENTS                                                                           \
    uint32_t *d, const uint32_t *s0, const uint32_t *s1, const uint32_t *s2, struct kernel_env *env
#define UNUSED __attribute__((unused))

/* ---- sources: READ_type(name, array) declares and loads -------------------------------------- */

#define PAIR(p) ((uint64_t)(p)[lane] | (uint64_t)(p)[64 + lane] << 32)
#define READ_NONE(x, p)
#define READ_U32(x, p)  UNUSED uint32_t x = (p)[lane];
#define READ_M32(x, p)  UNUSED uint32_t x = (p)[lane];
#define READ_I32(x, p)  UNUSED int32_t x = (int32_t)(p)[lane];
#define READ_U16(x, p)  UNUSED uint32_t x = (p)[lane] & 0xffff;
#define READ_M16(x, p)  UNUSED uint32_t x = (p)[lane] & 0xffff;
#define READ_P16(x, p)  UNUSED uint32_t x = (p)[lane] & 0xffff;
#define READ_I16(x, p)  UNUSED int32_t x = (int16_t)(p)[lane];
#define READ_U64(x, p)  UNUSED uint64_t x = PAIR(p);
#define READ_M64(x, p)  UNUSED uint64_t x = PAIR(p);
#define READ_I64(x, p)  UNUSED int64_t x = (int64_t)PAIR(p);
#define READ_F32(x, p)  UNUSED float x = f32_bits(flush_bits((p)[lane], keep_in));
#define READ_F16(x, p)  UNUSED float x = f32_f16((p)[lane]);
#define READ_PF16(x, p) UNUSED float x = f32_f16((p)[lane]);
#define READ_F64(x, p)  UNUSED double x = f64_bits(PAIR(p));

/* ---- NaN results: the chain c, b, a leaves the first NaN source ------------------------------ */

#define NAN32_NONE(x, n) n
#define NAN32_U32(x, n)  n
#define NAN32_I32(x, n)  n
#define NAN32_F32(x, n)  ((x) != (x) ? bits_f32(x) | 0x400000 : (n))
#define NAN32_F16(x, n)  NAN32_F32(x, n)
#define NAN32_F64(x, n)  ((x) != (x) ? bits_f32((float)(x)) | 0x400000 : (n))
#define NAN16_NONE(x, n) n
#define NAN16_U16(x, n)  n
#define NAN16_I16(x, n)  n
#define NAN16_F16(x, n)  ((x) != (x) ? f16_nan(x) : (n))
#define NAN16_PF16(x, n) NAN16_F16(x, n)
#define NAN16_F32(x, n)  NAN16_F16(x, n)
#define NAN64_NONE(x, n) n
#define NAN64_U32(x, n)  n
#define NAN64_I32(x, n)  n
#define NAN64_F64(x, n)  ((x) != (x) ? bits_f64(x) | UINT64_C(0x8000000000000) : (n))
#define NAN64_F32(x, n)  ((x) != (x) ? bits_f64((double)(x)) | UINT64_C(0x8000000000000) : (n))

/* ---- results --------------------------------------------------------------------------------- */

#define RESULT_U32  uint32_t
#define RESULT_I32  int32_t
#define RESULT_U16  uint32_t
#define RESULT_P16  uint32_t
#define RESULT_I16  int32_t
#define RESULT_U64  uint64_t
#define RESULT_I64  int64_t
#define RESULT_F32  float
#define RESULT_F16  float
#define RESULT_PF16 float
#define RESULT_F64  double

#define WRITE_U32(A, B, C) d[lane] = r;
#define WRITE_I32(A, B, C) d[lane] = (uint32_t)r;
#define WRITE_U16(A, B, C) d[lane] = r & 0xffff;
#define WRITE_P16(A, B, C) d[lane] = r & 0xffff;
#define WRITE_I16(A, B, C) d[lane] = (uint32_t)r & 0xffff;
#define WRITE_U64(A, B, C) d[lane] = (uint32_t)r, d[64 + lane] = (uint32_t)(r >> 32);
#define WRITE_I64(A, B, C) d[lane] = (uint32_t)r, d[64 + lane] = (uint32_t)((uint64_t)r >> 32);
#define WRITE_F32(A, B, C)                                                                         \
    uint32_t nan = NAN32_##A(a, NAN32_##B(b, NAN32_##C(c, 0x7fc00000u)));                          \
    d[lane] = r != r ? nan : flush_bits(bits_f32(r), keep_out);
#define WRITE_F16(A, B, C)                                                                         \
    uint32_t nan = NAN16_##A(a, NAN16_##B(b, NAN16_##C(c, 0x7e00u)));                              \
    d[lane] = r != r ? nan : f16_f32(r);
#define WRITE_PF16(A, B, C) WRITE_F16(A, B, C)
#define WRITE_F64(A, B, C)                                                                         \
    uint64_t nan = NAN64_##A(a, NAN64_##B(b, NAN64_##C(c, UINT64_C(0x7ff8000000000000))));         \
    uint64_t value = r != r ? nan : bits_f64(r);                                                   \
    d[lane] = (uint32_t)value, d[64 + lane] = (uint32_t)(value >> 32);

/* ---- kernels by kind ------------------------------------------------------------------------- */

#define BEGIN_KERNEL(m)                                                                            \
    static void kernel_##m(KERNEL_ARGUMENTS)                                                       \
    {                                                                                              \
        UNUSED const uint32_t keep_in = env->keep_in, keep_out = env->keep_out, keep = keep_out;   \
        (void)d, (void)s0, (void)s1, (void)s2;

/* Plain: no masks. */
#define KERNEL_V(m, D, A, B, C, ...)                                                               \
    BEGIN_KERNEL(m)                                                                                \
    _Pragma("GCC ivdep") for (uint32_t lane = 0; lane < 64; lane++)                                \
    {                                                                                              \
        READ_##A(a, s0) READ_##B(b, s1) READ_##C(c, s2) RESULT_##D r = (RESULT_##D)(__VA_ARGS__);  \
        WRITE_##D(A, B, C)                                                                         \
    }                                                                                              \
    }
#define KERNEL_MAC KERNEL_V
#define KERNEL_MK  KERNEL_V
#define KERNEL_AK  KERNEL_V
#define KERNEL_PK  KERNEL_V
#define KERNEL_MIX KERNEL_V

static const uint32_t lane_bits[32] __attribute__((aligned(64))) = {
    1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,
    1u << 8,  1u << 9,  1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15,
    1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21, 1u << 22, 1u << 23,
    1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31};

/* With masks: two halves of 32 lanes, so that a lane's bit is a 32-bit value as its data is; lane
 * counts within the half. */
#define MASKED_KERNEL(m, D, A, B, C, WRITE, statement)                                             \
    BEGIN_KERNEL(m)                                                                                \
    uint64_t gathered = 0;                                                                         \
    for (uint32_t half = 0; half < 64; half += 32, d += 32, s0 += 32, s1 += 32, s2 += 32) {        \
        UNUSED const uint32_t in = (uint32_t)(env->mask_in >> half);                               \
        uint32_t out = 0;                                                                          \
        _Pragma("GCC ivdep") for (uint32_t lane = 0; lane < 32; lane++)                            \
        {                                                                                          \
            const uint32_t own = lane_bits[lane];                                                  \
            UNUSED const uint32_t bit = (in & own) ? 1 : 0;                                        \
            UNUSED uint32_t carry = 0;                                                             \
            READ_##A(a, s0) READ_##B(b, s1) READ_##C(c, s2) statement;                             \
            out |= own & (0u - carry);                                                             \
            WRITE                                                                                  \
        }                                                                                          \
        gathered |= (uint64_t)out << half;                                                         \
    }                                                                                              \
    env->mask_out = gathered;                                                                      \
    }

#define KERNEL_CO(m, D, A, B, C, ...)                                                              \
    MASKED_KERNEL(m, D, A, B, C, WRITE_##D(A, B, C), RESULT_##D r = __VA_ARGS__)
#define KERNEL_CIO KERNEL_CO
#define KERNEL_SD  KERNEL_CO
#define KERNEL_CI  KERNEL_CO
#define KERNEL_VI  KERNEL_CO
#define KERNEL_CMP(m, D, A, B, C, ...)                                                             \
    MASKED_KERNEL(m, D, A, B, C, , carry = (uint32_t)((__VA_ARGS__) != 0))
#define KERNEL_CMPX KERNEL_CMP
#define KERNEL_X(...)
#define KERNEL_UN(...)

#define INST(m, fmt, o8, o9, kind, D, A, B, C, timing, ...)                                        \
    KERNEL_##kind(m, D, A, B, C, __VA_ARGS__)
#define INSTN(m, text, fmt, o8, o9, kind, D, A, B, C, timing, ...)                                 \
    KERNEL_##kind(m, D, A, B, C, __VA_ARGS__)
#include "gcn_vop.tab"
#include "gcn_vopc.tab"
#include "gcn_vop3p.tab"
#undef INST
#undef INSTN

#define NAME_V(m)  kernel_##m
#define NAME_MAC   NAME_V
#define NAME_MK    NAME_V
#define NAME_AK    NAME_V
#define NAME_PK    NAME_V
#define NAME_MIX   NAME_V
#define NAME_CO    NAME_V
#define NAME_CIO   NAME_V
#define NAME_SD    NAME_V
#define NAME_CI    NAME_V
#define NAME_VI    NAME_V
#define NAME_CMP   NAME_V
#define NAME_CMPX  NAME_V
#define NAME_X(m)  NULL
#define NAME_UN(m) NULL

/* What the dispatcher needs of a row, beside its kernel: eight bytes, so that an entry is sixteen.
 */
struct entry {
    void (*kernel)(KERNEL_ARGUMENTS);
    uint8_t kind, dst, src[3], dst_dwords, wide; /* wide: bit i, source i is 64 bits */
};

#define WIDE(T)                                                                                    \
    (TYPE_##T == TYPE_U64 || TYPE_##T == TYPE_I64 || TYPE_##T == TYPE_F64 || TYPE_##T == TYPE_M64)
#define INSTN(m, text, fmt, o8, o9, kind, D, A, B, C, timing, ...)                                 \
    [ISA_OP_##m -                                                                                  \
        ISA_OP_VALU_FIRST] = {NAME_##kind(m),                                                      \
                              KIND_##kind,                                                         \
                              TYPE_##D,                                                            \
                              {TYPE_##A, TYPE_##B, TYPE_##C},                                      \
                              TYPE_##D == TYPE_MASK || TYPE_##D == TYPE_NONE ? 0 : 1 + WIDE(D),    \
                              (uint8_t)(WIDE(A) | WIDE(B) << 1 | WIDE(C) << 2)},
#define INST(m, ...) INSTN(m, #m, __VA_ARGS__)
static const struct entry entries[] = {
#include "gcn_vop.tab"
#include "gcn_vopc.tab"
#include "gcn_vop3p.tab"
};
#undef INST
#undef INSTN

/* ---- sources --------------------------------------------------------------------------------- */

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
 * words. */
static void apply_sign(struct lanes *value, unsigned type, bool abs, bool neg)
{
    bool high = type == TYPE_F64 || type == TYPE_M64;
    uint32_t sign = type == TYPE_F16 || type == TYPE_M16 ? 0x8000 : 0x80000000;
    uint32_t *word = value->word + (high ? 64 : 0), clear = abs ? ~sign : ~0u,
             flip = neg ? sign : 0;
    for (unsigned i = 0; i < 64; i++)
        word[i] = (word[i] & clear) ^ flip;
}

static void select_part(struct lanes *value, unsigned select, bool sext)
{
    unsigned shift = select < 4 ? select * 8 : select == 5 ? 16 : 0;
    unsigned up = select < 4 ? 24 : select < 6 ? 16 : 0;
    for (unsigned i = 0; i < 64; i++) {
        uint32_t part = value->word[i] >> shift << up;
        value->word[i] = sext ? (uint32_t)((int32_t)part >> up) : part >> up;
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
                          struct lanes *to)
{
    uint64_t writable = 0;
    for (int lane = 0; lane < 64; lane++) {
        int source = dpp_source(inst->dpp_ctrl, lane);
        bool valid = source >= 0 && (exec >> source & 1);
        to->word[lane] = valid ? from[source] : 0;
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
    bool upper = (inst->opsel >> i & 1) && isa_row_has_op_sel(&isa_table[inst->op]);
    bool sign = ((inst->abs | inst->neg) >> i & 1) && isa_type_is_float(entry->src[i]);
    if (!dpp && !sdwa && !upper && !sign)
        return from;
    if (dpp)
        *writable = apply_dpp(inst, exec, from, to);
    else if (from != to->word)
        memcpy(to->word, from, entry->wide >> i & 1 ? 512 : 256);
    if (sdwa)
        select_part(to, inst->sel_src[i], inst->sext >> i & 1);
    if (upper)
        for (unsigned lane = 0; lane < 64; lane++)
            to->word[lane] >>= 16;
    if (sign)
        apply_sign(to, entry->src[i], inst->abs >> i & 1, inst->neg >> i & 1);
    return to->word;
}

/* ---- destinations ---------------------------------------------------------------------------- */

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

static void output_f32(uint32_t *word, float scale, bool clamp, bool dx10, uint32_t keep)
{
    for (unsigned i = 0; i < 64; i++) {
        float x = f32_bits(word[i]);
        uint32_t scaled = x != x ? word[i] : flush_bits(bits_f32(x * scale), keep);
        float limited = f32_bits(scaled);
        limited = limited > 0.0f ? (limited > 1.0f ? 1.0f : limited) : 0.0f;
        word[i] = clamp && (x == x || dx10) ? bits_f32(limited) : scaled;
    }
}

static void output_f16(uint32_t *word, float scale, bool clamp, bool dx10)
{
    for (unsigned i = 0; i < 64; i++) {
        float x = f32_f16(word[i]), scaled = x * scale;
        float limited = scaled > 0.0f ? (scaled > 1.0f ? 1.0f : scaled) : 0.0f;
        uint32_t value = x != x ? word[i] : f16_f32(scaled);
        word[i] = clamp && (x == x || dx10) ? f16_f32(limited) : value;
    }
}

static void output_f64(uint32_t *word, double scale, bool clamp, bool dx10)
{
    for (unsigned i = 0; i < 64; i++) {
        uint64_t raw = (uint64_t)word[i] | (uint64_t)word[64 + i] << 32;
        double x = f64_bits(raw), scaled = x * scale;
        double limited = scaled > 0.0 ? (scaled > 1.0 ? 1.0 : scaled) : 0.0;
        uint64_t value = x != x ? raw : bits_f64(scaled);
        value = clamp && (x == x || dx10) ? bits_f64(limited) : value;
        word[i] = (uint32_t)value;
        word[64 + i] = (uint32_t)(value >> 32);
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

static void place_part(struct lanes *result, const uint32_t *old, unsigned select, unsigned unused)
{
    unsigned shift = select < 4    ? select * 8
                     : select == 5 ? 16
                                   : 0,
             width = select < 4   ? 8
                     : select < 6 ? 16
                                  : 32;
    if (width == 32)
        return;
    uint32_t field = ((1u << width) - 1) << shift;
    unsigned up = 32 - width;
    for (unsigned i = 0; i < 64; i++) {
        uint32_t part = result->word[i] << shift & field;
        uint32_t extended = (uint32_t)((int32_t)(result->word[i] << up) >> up) << shift;
        result->word[i] = unused == 2 ? part | (old[i] & ~field) : unused == 1 ? extended : part;
    }
}

static void finish_result(const struct isa_wave *wave, const struct isa_inst *inst,
                          const struct entry *entry, const struct kernel_env *env,
                          struct lanes *result, const uint32_t *old)
{
    static const float scales[4] = {1.0f, 2.0f, 4.0f, 0.5f};
    float scale = scales[inst->omod & 3];
    bool dx10 = wave->mode >> 8 & 1;
    if (inst->omod || inst->clamp) {
        if (entry->dst == TYPE_F32)
            output_f32(result->word, scale, inst->clamp, dx10, env->keep_out);
        else if (entry->dst == TYPE_F16 || entry->dst == TYPE_PF16)
            output_f16(result->word, scale, inst->clamp, dx10);
        else if (entry->dst == TYPE_F64)
            output_f64(result->word, (double)scale, inst->clamp, dx10);
        else if (entry->kind == KIND_CO || entry->kind == KIND_CIO)
            output_saturated(result->word, env->mask_out, subtracts(inst->op));
    }
    if (inst->flags & ISA_IS_SDWA)
        place_part(result, old, inst->sel_dst, inst->unused_dst);
    if ((inst->opsel & 8) && isa_row_has_op_sel(&isa_table[inst->op]))
        for (unsigned i = 0; i < 64; i++)
            result->word[i] = result->word[i] << 16 | (old[i] & 0xffff);
}

/* ---- packed ---------------------------------------------------------------------------------- */

/* Runs a packed row's kernel on the low and then on the high halves that op_sel chooses. */
static void run_packed(const struct entry *entry, const struct isa_inst *inst,
                       const uint32_t *const source[3], struct lanes *result,
                       struct kernel_env *env)
{
    struct lanes half[3], out[2];
    for (unsigned part = 0; part < 2; part++) {
        unsigned select = part ? inst->opsel >> 4 : inst->opsel, neg = part ? inst->abs : inst->neg;
        for (unsigned i = 0; i < 3 && entry->src[i] != TYPE_NONE; i++) {
            unsigned shift = select >> i & 1 ? 16 : 0;
            uint32_t flip = (neg >> i & 1) && entry->src[i] == TYPE_PF16 ? 0x8000 : 0;
            for (unsigned lane = 0; lane < 64; lane++)
                half[i].word[lane] = (source[i][lane] >> shift & 0xffff) ^ flip;
        }
        entry->kernel(out[part].word, half[0].word, half[1].word, half[2].word, env);
        if (inst->clamp && entry->dst == TYPE_PF16)
            output_f16(out[part].word, 1.0f, true, true);
    }
    for (unsigned lane = 0; lane < 64; lane++)
        result->word[lane] = out[0].word[lane] | out[1].word[lane] << 16;
}

/* A source of the mixed-precision instructions as floats. */
static void widen_source(const struct isa_inst *inst, unsigned i, const uint32_t *from,
                         struct lanes *to)
{
    unsigned shift = inst->opsel >> i & 1 ? 16 : 0;
    bool half = inst->opsel >> (4 + i) & 1;
    for (unsigned lane = 0; lane < 64; lane++)
        to->word[lane] = half ? bits_f32(f32_f16(from[lane] >> shift & 0xffff)) : from[lane];
    apply_sign(to, TYPE_F32, inst->abs >> i & 1, inst->neg >> i & 1);
}

static void run_mixed(const struct isa_wave *wave, const struct entry *entry,
                      const struct isa_inst *inst, const uint32_t *const source[3],
                      struct lanes *result, const uint32_t *old, struct kernel_env *env)
{
    struct lanes wide[3];
    for (unsigned i = 0; i < 3; i++)
        widen_source(inst, i, source[i], &wide[i]);
    entry->kernel(result->word, wide[0].word, wide[1].word, wide[2].word, env);
    if (inst->clamp)
        output_f32(result->word, 1.0f, true, wave->mode >> 8 & 1, env->keep_out);
    if (inst->op == ISA_OP_v_fma_mix_f32)
        return;
    bool high = inst->op == ISA_OP_v_fma_mixhi_f16;
    for (unsigned lane = 0; lane < 64; lane++) {
        float x = f32_bits(result->word[lane]);
        uint32_t half = x != x ? f16_nan(x) : f16_f32(x);
        result->word[lane] =
            high ? (old[lane] & 0xffff) | half << 16 : (old[lane] & 0xffff0000) | half;
    }
}

/* ---- instructions without a kernel ----------------------------------------------------------- */

static bool relative_register(const struct isa_context *ctx, const struct isa_wave *wave,
                              unsigned code, const uint32_t **out)
{
    uint32_t index = code - ISA_VGPR + wave->sgpr[ISA_M0];
    *out = ctx->vgpr + (size_t)(index % 512) * 64;
    return index < ctx->vgpr_count;
}

static enum isa_status move_relative(struct isa_context *ctx, struct isa_wave *wave,
                                     const struct isa_inst *inst)
{
    struct lanes buffer;
    const uint32_t *from = NULL, *to = ctx->vgpr + (size_t)(inst->dst - ISA_VGPR) * 64;
    bool relative_to = inst->op != ISA_OP_v_movrels_b32,
         relative_from = inst->op != ISA_OP_v_movreld_b32;
    if (relative_to && !relative_register(ctx, wave, inst->dst, &to))
        return ISA_BAD_REGISTER;
    if (!relative_from)
        from = fetch(ctx, wave, inst, inst->src[0], TYPE_U32, false, &buffer);
    else if (inst->src[0] < ISA_VGPR || !relative_register(ctx, wave, inst->src[0], &from))
        return ISA_BAD_REGISTER;
    blend(ctx->vgpr + (to - ctx->vgpr), from, isa_wave_exec(wave));
    return ISA_OK;
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

static uint32_t lane_value(const struct isa_context *ctx, const struct isa_wave *wave,
                           const struct isa_inst *inst, unsigned lane)
{
    unsigned code = inst->src[0];
    return code >= ISA_VGPR ? ctx->vgpr[(size_t)(code - ISA_VGPR) * 64 + lane]
                            : (uint32_t)isa_scalar_value(ctx, wave, inst, code, TYPE_U32);
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
        return move_relative(ctx, wave, inst);
    case ISA_OP_v_swap_b32:
        if (inst->src[0] < ISA_VGPR)
            return ISA_BAD_REGISTER;
        swap_registers(ctx, exec, inst);
        return ISA_OK;
    default:
        return ISA_NOT_IMPLEMENTED;
    }
}

/* ---- execution ------------------------------------------------------------------------------- */

/* Lanes outside exec have 0 in a mask that a vector instruction writes. */
static void write_mask(struct isa_wave *wave, const struct isa_inst *inst,
                       const struct entry *entry, uint64_t mask)
{
    isa_wave_set_pair(wave, inst->sdst, mask);
    if (entry->kind == KIND_CMPX)
        isa_wave_set_pair(wave, ISA_EXEC, mask);
}

static void set_environment(struct kernel_env *env, const struct isa_wave *wave,
                            const struct isa_inst *inst, const struct entry *entry)
{
    env->keep_in = wave->mode & 0x10 ? 0xffffffff : 0x80000000;
    env->keep_out = wave->mode & 0x20 ? 0xffffffff : 0x80000000;
    if (entry->kind == KIND_CIO || entry->kind == KIND_CI)
        env->mask_in = isa_wave_pair(wave, inst->src[2]);
    else if (entry->kind == KIND_VI)
        env->mask_in = isa_wave_vcc(wave);
}

/* Everything but the plain case: modifiers, SDWA, DPP, packed. */
static void execute_modified(struct isa_context *ctx, struct isa_wave *wave,
                             const struct isa_inst *inst, const struct entry *entry,
                             const uint32_t *source[3], struct lanes buffer[3],
                             struct kernel_env *env)
{
    uint64_t exec = isa_wave_exec(wave), writable = ~UINT64_C(0);
    struct lanes result;
    uint32_t *to = entry->dst_dwords ? ctx->vgpr + (size_t)(inst->dst - ISA_VGPR) * 64 : NULL;
    if (entry->kind == KIND_PK) {
        run_packed(entry, inst, source, &result, env);
    } else if (entry->kind == KIND_MIX) {
        run_mixed(wave, entry, inst, source, &result, to, env);
    } else {
        for (unsigned i = 0; i < 3 && entry->src[i] != TYPE_NONE; i++)
            source[i] = modify(inst, entry, i, source[i], &buffer[i], exec, &writable);
        entry->kernel(result.word, source[0], source[1], source[2], env);
        if (to)
            finish_result(wave, inst, entry, env, &result, to);
    }
    for (unsigned i = 0; i < entry->dst_dwords; i++)
        blend(to + 64 * i, result.word + 64 * i, exec & writable);
    if (inst->sdst != ISA_NO_OPERAND)
        write_mask(wave, inst, entry, env->mask_out & exec & writable);
}

enum isa_status PASTE(isa_valu_execute_, ISA_VARIANT)(struct isa_context *ctx,
                                                      struct isa_wave *wave,
                                                      const struct isa_inst *inst)
{
    const struct entry *entry = &entries[inst->op - ISA_OP_VALU_FIRST];
    if (!entry->kernel)
        return execute_special(ctx, wave, inst);
    struct lanes buffer[3];
    const uint32_t *source[3] = {buffer[0].word, buffer[1].word,
                                 buffer[2].word}; /* unused ones are never read */
    struct kernel_env env = {0};
    set_environment(&env, wave, inst, entry);
    for (unsigned i = 0; i < 3 && entry->src[i] != TYPE_NONE; i++)
        source[i] =
            fetch(ctx, wave, inst, inst->src[i], entry->src[i], entry->wide >> i & 1, &buffer[i]);
    bool modified = (inst->flags & (ISA_IS_SDWA | ISA_IS_DPP))
                    || inst->abs | inst->neg | inst->omod | inst->clamp | inst->opsel
                    || entry->kind == KIND_PK || entry->kind == KIND_MIX;
    if (modified) {
        execute_modified(ctx, wave, inst, entry, source, buffer, &env);
        return ISA_OK;
    }
    uint64_t exec = isa_wave_exec(wave);
    uint32_t *to =
        entry->dst_dwords ? ctx->vgpr + (size_t)(inst->dst - ISA_VGPR) * 64 : buffer[0].word;
    if (!entry->dst_dwords || exec == ~UINT64_C(0)) {
        entry->kernel(to, source[0], source[1], source[2], &env);
    } else {
        struct lanes result;
        entry->kernel(result.word, source[0], source[1], source[2], &env);
        for (unsigned i = 0; i < entry->dst_dwords; i++)
            blend(to + 64 * i, result.word + 64 * i, exec);
    }
    if (inst->sdst != ISA_NO_OPERAND)
        write_mask(wave, inst, entry, env.mask_out & exec);
    return ISA_OK;
}

/* Entry to execution: checks registers, chooses the unit and the variant of the vector code, moves
 * the pc. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xmmintrin.h>

#include "base/number.h"
#include "components/amd/isa/tables/isa_table.h"

#include "isa_lds_conflicts.h"
#include "isa_valu.h"

/* ---- variants ---- */

struct variant {
    const char *name;
    isa_execute_function *valu, *lds;
    isa_prepare_function *prepare_valu, *prepare_lds;
    isa_matrix_function *multiply;
    isa_reach_function *reach;
    isa_flat_function *flat;
    isa_spans_function *spans;
    isa_conflicts_function *conflicts;
    isa_breaks_function *breaks;
    isa_pick_function *pick;
    isa_offsets_function *offsets;
    isa_words_function *words;
};

#define VARIANT(level)                                                                             \
    {                                                                                              \
        "x86-64-" #level, isa_valu_execute_##level, isa_lds_execute_##level,                       \
            isa_valu_prepare_##level, isa_lds_prepare_##level, isa_matrix_multiply_##level,        \
            isa_memory_reach_##level, isa_memory_flat_##level, isa_lds_spans_##level,              \
            isa_lds_conflicts_##level, isa_memory_breaks_##level, isa_memory_pick_##level,         \
            isa_memory_offsets_##level, isa_memory_words_##level                                   \
    }

/* The build chooses the levels (components/amd/isa/meson.build); the last one is the fastest. */
static const struct variant variants[] = {
#ifdef ISA_V2
    VARIANT(v2),
#endif
#ifdef ISA_V3
    VARIANT(v3),
#endif
};

static unsigned current_variant;
static isa_execute_function *execute_valu, *execute_lds;

static bool host_runs(unsigned variant)
{
    __builtin_cpu_init();
    return strcmp(variants[variant].name, "x86-64-v3") != 0
           || (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")
               && __builtin_cpu_supports("bmi2"));
}

unsigned isa_variant_count(void)
{
    return ARRAY_COUNT(variants);
}

const char *isa_variant_name(unsigned variant)
{
    return variant < isa_variant_count() ? variants[variant].name : "unknown";
}

unsigned isa_variant_current(void)
{
    return current_variant;
}

bool isa_variant_select(unsigned variant)
{
    if (variant >= isa_variant_count() || !host_runs(variant))
        return false;
    current_variant = variant;
    execute_valu = variants[variant].valu;
    execute_lds = variants[variant].lds;
    return true;
}

__attribute__((constructor)) static void choose_variant(void)
{
    for (unsigned variant = isa_variant_count(); variant-- > 0;)
        if (isa_variant_select(variant))
            return;
    fputs("heddle: this build is for processors with AVX2, FMA and BMI2; "
          "build it here, or with -Dportable=true\n",
          stderr);
    _Exit(1);
}

void isa_memory_reach(const struct isa_memory *m, struct isa_reach *out)
{
    variants[current_variant].reach(m, out);
}

void isa_memory_flat(const uint32_t *low, const uint32_t *high, uint64_t base, uint64_t *address)
{
    variants[current_variant].flat(low, high, base, address);
}

void isa_lds_spans(const uint32_t *address, unsigned lanes, uint32_t *dwords)
{
    variants[current_variant].spans(address, lanes, dwords);
}

uint64_t isa_memory_breaks(const uint64_t address[ISA_LANES])
{
    return variants[current_variant].breaks(address);
}

void isa_memory_pick(const uint8_t offset[ISA_LANES], uint64_t lanes, const uint8_t *line,
                     uint8_t *to)
{
    variants[current_variant].pick(offset, lanes, line, to);
}

void isa_memory_offsets(const uint64_t address[ISA_LANES], uint8_t offset[ISA_LANES])
{
    variants[current_variant].offsets(address, offset);
}

bool isa_memory_words(const uint32_t *words, uint32_t one, uint32_t other)
{
    return variants[current_variant].words(words, one, other);
}

unsigned isa_lds_conflicts(const uint32_t *address, uint32_t active)
{
    return variants[current_variant].conflicts(address, active);
}

/* ---- scalar sources ---- */

static uint64_t inline_float(unsigned code, unsigned type)
{
    static const uint16_t half[9] = {0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000,
                                     0xc000, 0x4400, 0xc400, 0x3118};
    static const uint32_t single[9] = {0x3f000000, 0xbf000000, 0x3f800000, 0xbf800000, 0x40000000,
                                       0xc0000000, 0x40800000, 0xc0800000, 0x3e22f983};
    static const uint64_t wide[9] = {
        UINT64_C(0x3fe0000000000000), UINT64_C(0xbfe0000000000000), UINT64_C(0x3ff0000000000000),
        UINT64_C(0xbff0000000000000), UINT64_C(0x4000000000000000), UINT64_C(0xc000000000000000),
        UINT64_C(0x4010000000000000), UINT64_C(0xc010000000000000), UINT64_C(0x3fc45f306dc9c882)};
    switch (type) {
    case TYPE_F16:
    case TYPE_M16:
    case TYPE_U16:
    case TYPE_I16:
    case TYPE_P16:
    case TYPE_PF16:
    case TYPE_WF16:
    case TYPE_W16:
        return half[code - 240];
    case TYPE_F64:
    case TYPE_M64:
    case TYPE_U64:
    case TYPE_I64:
    case TYPE_MASK:
        return wide[code - 240];
    default:
        return single[code - 240];
    }
}

static uint64_t literal_value(const struct isa_inst *inst, unsigned type)
{
    if (type == TYPE_F64 || type == TYPE_M64)
        return (uint64_t)inst->literal << 32;
    return type == TYPE_I64 ? (uint64_t)(int64_t)(int32_t)inst->literal : inst->literal;
}

static uint64_t aperture_value(const struct isa_context *ctx, unsigned code)
{
    switch (code) {
    case 235:
        return ctx->shared_aperture;
    case 236:
        return ctx->shared_aperture | 0xffffffff;
    case 237:
        return ctx->private_aperture;
    case 238:
        return ctx->private_aperture | 0xffffffff;
    default:
        return 0;
    }
}

uint64_t isa_scalar_constant(const struct isa_context *ctx, const struct isa_wave *wave,
                             const struct isa_inst *inst, unsigned code, unsigned type)
{
    if (code <= 208 || (code >= 240 && code <= 248)) {
        uint64_t value = code <= 192   ? code - 128
                         : code <= 208 ? (uint64_t)((int64_t)192 - code)
                                       : inline_float(code, type);
        bool is_pair = type == TYPE_PF32 || type == TYPE_P32;
        return is_pair ? (uint32_t)value | value << 32 : value;
    }
    switch (code) {
    case ISA_VCCZ:
        return !isa_wave_vcc(wave);
    case ISA_EXECZ:
        return !isa_wave_exec(wave);
    case ISA_SCC:
        return wave->scc;
    case ISA_LITERAL:
        return literal_value(inst, type);
    default: /* gfx9's aperture registers: 32-bit reads give the upper half */
        return isa_type_dwords(type) == 2 ? aperture_value(ctx, code)
                                          : aperture_value(ctx, code) >> 32;
    }
}

/* ---- execution ---- */

enum isa_status isa_execute(struct isa_context *ctx, struct isa_wave *wave,
                            const struct isa_inst *inst)
{
    if (inst->flags & ISA_UNIMPLEMENTED_SEMANTICS)
        return ISA_NOT_IMPLEMENTED;
    if (inst->vgprs > ctx->vgpr_count || inst->agprs > ctx->agpr_count)
        return ISA_BAD_REGISTER;
    enum isa_status status = ISA_OK;
    switch (inst->unit) {
    case ISA_UNIT_VALU:
        if (inst->timing == ISA_TIMING_MATRIX)
            isa_mfma_execute(variants[current_variant].multiply, ctx, wave, inst);
        else
            status = execute_valu(ctx, wave, inst);
        break;
    case ISA_UNIT_LDS:
        status = execute_lds(ctx, wave, inst);
        break;
    case ISA_UNIT_SALU:
    case ISA_UNIT_BRANCH:
    case ISA_UNIT_SPECIAL:
        return isa_salu_execute(ctx, wave, inst);
    default:
        return ISA_IS_MEMORY;
    }
    if (status == ISA_OK)
        wave->pc += inst->size;
    return status;
}

/* ---- global wave sync ---- */

bool isa_sync(const struct isa_context *ctx, const struct isa_wave *wave,
              const struct isa_inst *inst, struct isa_sync *out)
{
    static const uint8_t operations[] = {ISA_SYNC_RELEASE_ALL, ISA_SYNC_INIT, ISA_SYNC_SIGNAL,
                                         ISA_SYNC_SIGNAL_MANY, ISA_SYNC_WAIT, ISA_SYNC_BARRIER};
    uint64_t exec = isa_wave_exec(wave);
    unsigned lane = exec ? (unsigned)__builtin_ctzll(exec) : 0;
    *out = (struct isa_sync){.operation = operations[inst->op - ISA_OP_ds_gws_sema_release_all]};
    out->resource =
        (uint8_t)(((wave->sgpr[ISA_M0] >> 16) + (uint32_t)inst->simm) % ISA_SYNC_RESOURCES);
    if (isa_table[inst->op].kind == KIND_GWSV)
        out->value = ctx->vgpr[isa_register(ctx, inst->src[0]) * (size_t)ISA_LANES + lane];
    return !(wave->mode & ISA_MODE_SKIP);
}

/* ---- prepared instructions ---- */

void isa_workspace_begin(struct isa_workspace *work)
{
    work->mode = UINT32_MAX; /* the mode of no wavefront */
    work->daz = false;
    work->one = 1.0f;
    work->idle_lanes = 0;
}

void isa_workspace_set_daz(struct isa_workspace *work, bool daz)
{
    enum { DAZ = 1 << 6 };
    _mm_setcsr(daz ? _mm_getcsr() | DAZ : _mm_getcsr() & ~(unsigned)DAZ);
    work->daz = daz;
}

static enum isa_status run_any(struct isa_context *ctx, struct isa_wave *wave,
                               const struct isa_ready *ready, struct isa_workspace *work)
{
    isa_workspace_plain(work);
    return isa_execute(ctx, wave, ready->inst);
}

static enum isa_status run_scalar(struct isa_context *ctx, struct isa_wave *wave,
                                  const struct isa_ready *ready, struct isa_workspace *work)
{
    (void)work;
    isa_salu_row *row = (isa_salu_row *)ready->kernel;
    return row(ctx, wave, ready->inst);
}

void isa_prepare(const struct isa_inst *inst, uint32_t vgprs, uint32_t agprs, struct isa_ready *out)
{
    (void)agprs;
    *out = (struct isa_ready){.run = run_any, .inst = inst, .size = inst->size};
    if ((inst->flags & ISA_UNIMPLEMENTED_SEMANTICS) || inst->vgprs > vgprs || inst->agprs
        || isa_mai_row(inst->op))
        return;
    switch (inst->unit) {
    case ISA_UNIT_VALU:
        variants[current_variant].prepare_valu(inst, out);
        break;
    case ISA_UNIT_LDS:
        variants[current_variant].prepare_lds(inst, out);
        break;
    case ISA_UNIT_SALU:
    case ISA_UNIT_BRANCH:
    case ISA_UNIT_SPECIAL:
        out->run = run_scalar;
        out->kernel = (void (*)(void))isa_salu_find(inst);
        break;
    default:
        isa_memory_prepare(inst, out);
        break;
    }
}

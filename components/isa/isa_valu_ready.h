/*
 * isa_valu_ready.h - vector instructions made ready (isa_ready.h). Included by isa_valu.c only.
 *
 * Prepared are instructions whose sources are VGPRs, SGPRs or constants, with abs and neg on fp32
 * sources, without other modifiers. All else, and rounding modes other than to nearest, go through
 * isa_valu_execute.
 */
#ifndef HEDDLE_ISA_VALU_READY_H
#define HEDDLE_ISA_VALU_READY_H

typedef void valu_kernel(KERNEL_ARGUMENTS);

static enum isa_status ready_general(struct isa_context *ctx, struct isa_wave *wave,
                                     const struct isa_ready *ready)
{
    enum isa_status status = PASTE(isa_valu_execute_, ISA_VARIANT)(ctx, wave, ready->inst);
    if (status == ISA_OK)
        wave->pc += ready->size;
    return status;
}

/* Source i, in place or in the buffer. */
INLINE const uint32_t *ready_source(const struct isa_context *ctx, const struct isa_wave *wave,
                                    const struct isa_ready *ready, unsigned i, struct lanes *buffer)
{
    uint32_t clear = ready->clear[i], flip = ready->flip[i];
    bool is_signed = ~clear | flip;
    if (__builtin_expect(ready->kind[i] == ISA_READY_VGPR, 1)) {
        const uint32_t *from = ctx->vgpr + ready->source[i];
        if (__builtin_expect(!is_signed, 1))
            return from;
        for (unsigned lane = 0; lane < 64; lane++)
            buffer->word[lane] = (from[lane] & clear) ^ flip;
        return buffer->word;
    }
    uint64_t value = ready->constant[i];
    if (ready->kind[i] == ISA_READY_SGPR) {
        value = isa_wave_pair(wave, ready->source[i]);
        if (is_signed)
            value = ((uint32_t)value & clear) ^ flip;
    }
    broadcast(buffer->word, value, 1);
    if (ready->wide >> i & 1)
        broadcast(buffer->word + 64, value >> 32, 1);
    return buffer->word;
}

INLINE void ready_environment(struct kernel_env *env, const struct isa_wave *wave)
{
    env->keep_in = wave->mode & 0x10 ? 0xffffffff : 0x80000000;
    env->keep_out = wave->mode & 0x20 ? 0xffffffff : 0x80000000;
}

INLINE void ready_write(uint32_t *to, const uint32_t *from, unsigned dwords, uint64_t exec)
{
    blend(to, from, exec);
    if (dwords > 1)
        blend(to + 64, from + 64, exec);
}

/* Kinds without masks. */
INLINE enum isa_status ready_plain(struct isa_context *ctx, struct isa_wave *wave,
                                   const struct isa_ready *ready, unsigned sources)
{
    struct lanes buffer[3], result;
    const uint32_t *source[3] = {buffer[0].word, buffer[1].word, buffer[2].word};
    struct kernel_env env;
    if (__builtin_expect(wave->mode & 15, 0))
        return ready_general(ctx, wave, ready);
    ready_environment(&env, wave);
    for (unsigned i = 0; i < sources; i++)
        source[i] = ready_source(ctx, wave, ready, i, &buffer[i]);
    valu_kernel *kernel = (valu_kernel *)ready->kernel;
    uint64_t exec = isa_wave_exec(wave);
    uint32_t *to = ctx->vgpr + ready->dst;
    bool all = exec == ~UINT64_C(0);
    wave->pc += ready->size;
    kernel(all ? to : result.word, source[0], source[1], source[2], &env);
    if (!all)
        ready_write(to, result.word, ready->dwords, exec);
    return ISA_OK;
}

static enum isa_status ready_plain_1(struct isa_context *ctx, struct isa_wave *wave,
                                     const struct isa_ready *ready)
{
    return ready_plain(ctx, wave, ready, 1);
}

static enum isa_status ready_plain_2(struct isa_context *ctx, struct isa_wave *wave,
                                     const struct isa_ready *ready)
{
    return ready_plain(ctx, wave, ready, 2);
}

static enum isa_status ready_plain_3(struct isa_context *ctx, struct isa_wave *wave,
                                     const struct isa_ready *ready)
{
    return ready_plain(ctx, wave, ready, 3);
}

/* Kinds that read a mask (in vcc or src2) or write one. */
static enum isa_status ready_masked(struct isa_context *ctx, struct isa_wave *wave,
                                    const struct isa_ready *ready)
{
    struct lanes buffer[3], result;
    const uint32_t *source[3] = {buffer[0].word, buffer[1].word, buffer[2].word};
    const struct isa_inst *inst = ready->inst;
    const struct entry *entry = &entries[inst->op - ISA_OP_VALU_FIRST];
    struct kernel_env env = {0};
    if (__builtin_expect(wave->mode & 15, 0))
        return ready_general(ctx, wave, ready);
    set_environment(&env, wave, inst, entry);
    for (unsigned i = 0; i < ready->sources; i++)
        source[i] = ready_source(ctx, wave, ready, i, &buffer[i]);
    valu_kernel *kernel = (valu_kernel *)ready->kernel;
    uint64_t exec = isa_wave_exec(wave);
    uint32_t *to = ready->dwords ? ctx->vgpr + ready->dst : result.word;
    bool direct = !ready->dwords || exec == ~UINT64_C(0);
    kernel(direct ? to : result.word, source[0], source[1], source[2], &env);
    if (!direct)
        ready_write(to, result.word, ready->dwords, exec);
    if (inst->sdst != ISA_NO_OPERAND)
        write_mask(wave, inst, entry, env.mask_out & exec);
    wave->pc += ready->size;
    return ISA_OK;
}

/* ---- preparing ------------------------------------------------------------------------------- */

/* False: a source that only fetch() knows. */
static bool prepare_source(const struct isa_inst *inst, const struct entry *entry, unsigned i,
                           struct isa_ready *out)
{
    static const struct isa_wave no_wave;
    static const struct isa_context no_context;
    unsigned code = inst->src[i], type = entry->src[i];
    bool abs = inst->abs >> i & 1, neg = inst->neg >> i & 1;
    out->clear[i] = ~0u;
    if ((abs || neg) && type != TYPE_F32)
        return false;
    if (abs)
        out->clear[i] = 0x7fffffff;
    if (neg)
        out->flip[i] = 0x80000000;
    out->wide |= (uint8_t)((entry->wide >> i & 1) << i);
    if (code >= ISA_VGPR) {
        out->kind[i] = ISA_READY_VGPR;
        out->source[i] = (uint16_t)((code - ISA_VGPR) * 64);
        return true;
    }
    if (code < 127) {
        out->kind[i] = ISA_READY_SGPR;
        out->source[i] = (uint16_t)code;
        return true;
    }
    if (code <= 127 || (code > 208 && code < 240) || (code > 248 && code != ISA_LITERAL))
        return false;
    out->kind[i] = ISA_READY_CONSTANT;
    out->constant[i] = isa_scalar_constant(&no_context, &no_wave, inst, code, type);
    if (abs || neg)
        out->constant[i] = ((uint32_t)out->constant[i] & out->clear[i]) ^ out->flip[i];
    return true;
}

static isa_runner *runner_of(const struct entry *entry, unsigned sources)
{
    static isa_runner *const plain[] = {NULL, ready_plain_1, ready_plain_2, ready_plain_3};
    switch (entry->kind) {
    case KIND_V:
    case KIND_MAC:
    case KIND_MK:
    case KIND_AK:
        return plain[sources];
    case KIND_CO:
    case KIND_CIO:
    case KIND_CI:
    case KIND_VI:
    case KIND_SD:
    case KIND_CMP:
    case KIND_CMPX:
        return ready_masked;
    default:
        return NULL;
    }
}

void PASTE(isa_valu_prepare_, ISA_VARIANT)(const struct isa_inst *inst, struct isa_ready *out)
{
    const struct entry *entry = &entries[inst->op - ISA_OP_VALU_FIRST];
    out->run = ready_general;
    if (!entry->kernel || (inst->flags & (ISA_IS_SDWA | ISA_IS_DPP)) || inst->omod || inst->clamp
        || inst->opsel)
        return;
    unsigned sources = 0;
    while (sources < 3 && entry->src[sources] != TYPE_NONE) {
        if (!prepare_source(inst, entry, sources, out))
            return;
        sources++;
    }
    isa_runner *run = runner_of(entry, sources);
    if (!run)
        return;
    out->run = run;
    out->kernel = (void (*)(void))entry->kernel;
    out->sources = (uint8_t)sources;
    out->dwords = entry->dst_dwords;
    out->dst = entry->dst_dwords ? (uint16_t)((inst->dst - ISA_VGPR) * 64) : 0;
}

#endif

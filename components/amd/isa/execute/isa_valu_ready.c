/* Vector instructions made ready (isa_ready.h). Part of the unit of isa_valu.c, which is compiled
 * once for each x86-64 level and includes this file at its end.
 *
 * Prepared are instructions whose sources are VGPRs, SGPRs or constants, with abs and neg on fp32
 * sources, without other modifiers. All else, and unusual modes, go through isa_valu_execute.
 *
 * fp32 arithmetic has kernels of its own that leave denormals to the host: where MODE flushes them
 * as sources and as results, MXCSR's DAZ does the first, and a multiplication by one the second.
 * (MXCSR's FTZ would not do: it flushes what would round up to the smallest normal number, too.)
 * These kernels do not know which NaN results; when there is one, the plain kernel computes all
 * lanes again. */
#define RUNNER(name)                                                                               \
    static enum isa_status name(struct isa_context *ctx, struct isa_wave *wave,                    \
                                const struct isa_ready *ready, struct isa_workspace *work)

static ALWAYS_INLINE void count_idle(struct isa_workspace *work, uint64_t exec)
{
    work->idle_lanes += 64 - (unsigned)__builtin_popcountll(exec);
}

RUNNER(ready_general)
{
    isa_workspace_plain(work);
    count_idle(work, isa_wave_exec(wave));
    enum isa_status status = PASTE(isa_valu_execute_, ISA_VARIANT)(ctx, wave, ready->inst);
    if (status == ISA_OK)
        wave->pc += ready->size;
    return status;
}

/* Derives from MODE, when it has changed, how vector instructions are executed. False if MODE is
 * not a usual one, or changes the meaning of vector instructions. */
static OUT_OF_LINE bool new_mode(const struct isa_wave *wave, struct isa_workspace *work)
{
    bool in = wave->mode & 0x10, out = wave->mode & 0x20;
    isa_workspace_plain(work);
    if (!is_usual_mode(wave->mode))
        return false;
    work->mode = wave->mode;
    work->env.keep_in = in ? 0xffffffff : 0x80000000;
    work->env.keep_out = out ? 0xffffffff : 0x80000000;
    work->env.mode = wave->mode;
    work->flushes = !in && !out;
    work->is_uniform = in == out;
    return true;
}

static ALWAYS_INLINE bool is_plain(const struct isa_wave *wave, struct isa_workspace *work)
{
    return likely(work->mode == wave->mode) || new_mode(wave, work);
}

/* ---- sources and results ---- */

/* Source i, in place or in the workspace. */
static ALWAYS_INLINE const uint32_t *ready_source(const struct isa_context *ctx,
                                                  const struct isa_wave *wave,
                                                  const struct isa_ready *ready, unsigned i,
                                                  struct isa_workspace *work, bool may_be_signed)
{
    uint32_t *buffer = work->source[i];
    bool abs = may_be_signed && (ready->abs >> i & 1), neg = may_be_signed && (ready->neg >> i & 1);
    uint32_t clear = abs ? 0x7fffffff : 0xffffffff, flip = neg ? 0x80000000 : 0;
    if (likely(ready->kind[i] == ISA_READY_VGPR)) {
        const uint32_t *from = ctx->vgpr + ready->source[i];
        if (!abs && !neg)
            return from;
        for (unsigned lane = 0; lane < 64; lane++)
            buffer[lane] = (from[lane] & clear) ^ flip;
        return buffer;
    }
    uint64_t value = ready->constant[i];
    if (ready->kind[i] == ISA_READY_SGPR)
        value = isa_wave_pair(wave, ready->source[i]);
    broadcast(buffer, ((uint32_t)value & clear) ^ flip, 1);
    if (ready->wide >> i & 1)
        broadcast(buffer + 64, value >> 32, 1);
    return buffer;
}

static OUT_OF_LINE void write_some(uint32_t *to, const uint32_t *from, unsigned dwords,
                                   uint64_t exec)
{
    blend(to, from, exec);
    if (dwords > 1)
        blend(to + 64, from + 64, exec);
}

/* ---- kinds without masks ---- */

static ALWAYS_INLINE enum isa_status ready_plain(struct isa_context *ctx, struct isa_wave *wave,
                                                 const struct isa_ready *ready,
                                                 struct isa_workspace *work, unsigned sources,
                                                 bool may_be_signed)
{
    const uint32_t *source[3] = {work->source[0], work->source[1], work->source[2]};
    if (unlikely(!is_plain(wave, work)))
        return ready_general(ctx, wave, ready, work);
    for (unsigned i = 0; i < sources; i++)
        source[i] = ready_source(ctx, wave, ready, i, work, may_be_signed);
    valu_kernel *kernel = (valu_kernel *)ready->kernel;
    uint64_t exec = isa_wave_exec(wave);
    uint32_t *to = ctx->vgpr + ready->dst;
    bool all = exec == ~UINT64_C(0);
    wave->pc += ready->size;
    kernel(all ? to : work->result, source[0], source[1], source[2], &work->env);
    if (!all) {
        count_idle(work, exec);
        write_some(to, work->result, ready->dwords, exec);
    }
    return ISA_OK;
}

RUNNER(ready_plain_1)
{
    return ready_plain(ctx, wave, ready, work, 1, false);
}
RUNNER(ready_plain_2)
{
    return ready_plain(ctx, wave, ready, work, 2, false);
}
RUNNER(ready_plain_3)
{
    return ready_plain(ctx, wave, ready, work, 3, false);
}
/* Minima and maxima that do not flush denormals. */
RUNNER(ready_keeping)
{
    if (unlikely(!is_plain(wave, work)))
        return ready_general(ctx, wave, ready, work);
    uint32_t keep_in = work->env.keep_in, keep_out = work->env.keep_out;
    work->env.keep_in = work->env.keep_out = 0xffffffff;
    enum isa_status status = ready_plain(ctx, wave, ready, work, ready->sources, true);
    work->env.keep_in = keep_in;
    work->env.keep_out = keep_out;
    return status;
}
/* Halves are widened by floats. */
RUNNER(ready_keeping_halves)
{
    isa_workspace_plain(work);
    return ready_keeping(ctx, wave, ready, work);
}
/* Any that may not meet DAZ, or have abs or neg. */
RUNNER(ready_plain_any)
{
    isa_workspace_plain(work);
    return ready_plain(ctx, wave, ready, work, ready->sources, true);
}

static OUT_OF_LINE bool any_nan(const uint32_t *word, uint64_t exec)
{
    uint32_t nans = 0;
    for (unsigned half = 0; half < 64; half += 32) {
        uint32_t bits = (uint32_t)(exec >> half);
        for (unsigned i = 0; i < 32; i++) {
            uint32_t own = bits & lane_bits[i], magnitude = word[half + i] & 0x7fffffff;
            nans |= magnitude > 0x7f800000 ? own : 0;
        }
    }
    return nans;
}

/* fp32, as above. must_flush: denormals are flushed whatever MODE says. */
static ALWAYS_INLINE enum isa_status ready_fast(struct isa_context *ctx, struct isa_wave *wave,
                                                const struct isa_ready *ready,
                                                struct isa_workspace *work, unsigned sources,
                                                bool may_be_signed, bool must_flush)
{
    const uint32_t *source[3] = {NULL, NULL, NULL};
    if (unlikely(!is_plain(wave, work))
        || unlikely(!(must_flush ? work->flushes : work->is_uniform)))
        return ready_general(ctx, wave, ready, work);
    if (unlikely(work->daz != work->flushes))
        isa_workspace_set_daz(work, work->flushes);
    for (unsigned i = 0; i < sources; i++)
        source[i] = ready_source(ctx, wave, ready, i, work, may_be_signed);
    valu_fast *kernel = (valu_fast *)ready->kernel;
    uint64_t exec = isa_wave_exec(wave);
    uint32_t *to = ctx->vgpr + ready->dst;
    bool direct = ready->is_direct && exec == ~UINT64_C(0);
    uint32_t *result = direct ? to : work->result;
    if (unlikely(kernel(result, source[0], source[1], source[2], work->one))
        && (direct || any_nan(result, exec)))
        return ready_general(ctx, wave, ready, work);
    wave->pc += ready->size;
    if (exec != ~UINT64_C(0)) {
        count_idle(work, exec);
        write_some(to, result, 1, exec);
    } else if (!direct) {
        memcpy(to, result, 256);
    }
    return ISA_OK;
}

RUNNER(ready_fast_1)
{
    return ready_fast(ctx, wave, ready, work, 1, false, false);
}
RUNNER(ready_fast_2)
{
    return ready_fast(ctx, wave, ready, work, 2, false, false);
}
RUNNER(ready_fast_3)
{
    return ready_fast(ctx, wave, ready, work, 3, false, false);
}
RUNNER(ready_fast_signed)
{
    return ready_fast(ctx, wave, ready, work, ready->sources, true, false);
}
RUNNER(ready_flushing_3)
{
    return ready_fast(ctx, wave, ready, work, 3, false, true);
}
RUNNER(ready_flushing_signed)
{
    return ready_fast(ctx, wave, ready, work, 3, true, true);
}

/* v_lshlrev_b64 by a constant of less than 32, which addresses are made with. */
RUNNER(ready_shift)
{
    if (unlikely(wave->mode & (ISA_MODE_INDEXED | ISA_MODE_SKIP)))
        return ready_general(ctx, wave, ready, work);
    uint64_t exec = isa_wave_exec(wave);
    unsigned shift = (unsigned)ready->constant[0];
    const uint32_t *from = ctx->vgpr + ready->source[1];
    uint32_t *to = ctx->vgpr + ready->dst;
    uint32_t *result = exec == ~UINT64_C(0) ? to : work->result;
    wave->pc += ready->size;
    _Pragma("GCC ivdep") for (unsigned lane = 0; lane < 64; lane++)
    {
        uint32_t low = from[lane], high = from[64 + lane];
        result[lane] = low << shift;
        result[64 + lane] = high << shift | low >> 1 >> (31 - shift);
    }
    if (exec != ~UINT64_C(0)) {
        count_idle(work, exec);
        write_some(to, result, 2, exec);
    }
    return ISA_OK;
}

/* SDWA of integers: parts of sources, and of the destination. */
RUNNER(ready_parts)
{
    if (unlikely(wave->mode & (ISA_MODE_INDEXED | ISA_MODE_SKIP)))
        return ready_general(ctx, wave, ready, work);
    const struct isa_inst *inst = ready->inst;
    const uint32_t *source[3] = {work->source[0], work->source[1], work->source[2]};
    for (unsigned i = 0; i < ready->sources; i++) {
        source[i] = ready_source(ctx, wave, ready, i, work, false);
        if (i < 2 && inst->sel_src[i] != 6) {
            select_part(work->source[i], source[i], inst->sel_src[i], inst->sext >> i & 1);
            source[i] = work->source[i];
        }
    }
    valu_kernel *kernel = (valu_kernel *)ready->kernel;
    uint32_t *to = ctx->vgpr + ready->dst;
    kernel(work->result, source[0], source[1], source[2], &work->env);
    place_part(work->result, to, inst->sel_dst, inst->unused_dst);
    uint64_t exec = isa_wave_exec(wave);
    count_idle(work, exec);
    blend(to, work->result, exec);
    wave->pc += ready->size;
    return ISA_OK;
}

/* ---- kinds that read a mask (in vcc or src2) or write one ---- */

static ALWAYS_INLINE enum isa_status ready_masked(struct isa_context *ctx, struct isa_wave *wave,
                                                  const struct isa_ready *ready,
                                                  struct isa_workspace *work, unsigned sources,
                                                  bool may_be_signed)
{
    const uint32_t *source[3] = {work->source[0], work->source[1], work->source[2]};
    if (unlikely(!is_plain(wave, work)))
        return ready_general(ctx, wave, ready, work);
    work->env.mask_in = isa_wave_pair(wave, ready->mask_in);
    for (unsigned i = 0; i < sources; i++)
        source[i] = ready_source(ctx, wave, ready, i, work, may_be_signed);
    valu_kernel *kernel = (valu_kernel *)ready->kernel;
    uint64_t exec = isa_wave_exec(wave);
    uint32_t *to = ctx->vgpr + ready->dst;
    bool direct = ready->dwords && exec == ~UINT64_C(0);
    wave->pc += ready->size;
    kernel(direct ? to : work->result, source[0], source[1], source[2], &work->env);
    if (exec != ~UINT64_C(0)) {
        count_idle(work, exec);
        if (ready->dwords)
            write_some(to, work->result, ready->dwords, exec);
    }
    uint64_t mask = work->env.mask_out & exec;
    if (ready->mask_out != ISA_OPERAND_NONE)
        isa_wave_set_pair(wave, ready->mask_out, mask);
    if (ready->sets_exec)
        isa_wave_set_pair(wave, ISA_EXEC, mask);
    return ISA_OK;
}

RUNNER(ready_masked_2)
{
    return ready_masked(ctx, wave, ready, work, 2, false);
}
RUNNER(ready_masked_any)
{
    isa_workspace_plain(work);
    return ready_masked(ctx, wave, ready, work, ready->sources, true);
}

/* v_div_fmas where it does not scale. */
RUNNER(ready_unscaled)
{
    isa_workspace_plain(work);
    bool scales = isa_wave_vcc(wave) & isa_wave_exec(wave);
    if (unlikely(scales || !is_plain(wave, work)))
        return ready_general(ctx, wave, ready, work);
    uint32_t keep_in = work->env.keep_in;
    work->env.keep_in = 0xffffffff;
    enum isa_status status = ready_masked(ctx, wave, ready, work, 3, true);
    work->env.keep_in = keep_in;
    return status;
}

/* ---- preparing ---- */

/* False: a source that only fetch() knows. */
static bool prepare_source(const struct isa_inst *inst, const struct entry *entry, unsigned i,
                           struct isa_ready *out)
{
    static const struct isa_wave no_wave;
    static const struct isa_context no_context;
    unsigned code = inst->src[i], type = entry->src[i];
    bool abs = inst->abs >> i & 1, neg = inst->neg >> i & 1;
    if ((abs || neg) && type != TYPE_F32)
        return false;
    out->abs |= (uint8_t)(abs << i);
    out->neg |= (uint8_t)(neg << i);
    out->wide |= (uint8_t)((entry->wide >> i & 1) << i);
    if (code >= ISA_VGPR) {
        out->kind[i] = ISA_READY_VGPR;
        out->source[i] = (code - ISA_VGPR) * 64;
        return true;
    }
    if (code < 127) {
        out->kind[i] = ISA_READY_SGPR;
        out->source[i] = code;
        return true;
    }
    if (code <= 127 || (code > 208 && code < 240) || (code > 248 && code != ISA_LITERAL))
        return false;
    out->kind[i] = ISA_READY_CONSTANT;
    out->constant[i] = isa_scalar_constant(&no_context, &no_wave, inst, code, type);
    return true;
}

/* fp32 rows whose kernels compute the same on a host with DAZ as on one without and sources flushed
 * before. Denormal intermediate results are flushed in all of them. */
static bool has_fast_form(unsigned op)
{
    switch (op) {
    case ISA_OP_v_add_f32:
    case ISA_OP_v_sub_f32:
    case ISA_OP_v_subrev_f32:
    case ISA_OP_v_mul_f32:
    case ISA_OP_v_mac_f32:
    case ISA_OP_v_mad_f32:
    case ISA_OP_v_madmk_f32:
    case ISA_OP_v_madak_f32:
    case ISA_OP_v_fma_f32:
    case ISA_OP_v_fmac_f32:
    case ISA_OP_v_rcp_f32:
    case ISA_OP_v_rcp_iflag_f32:
    case ISA_OP_v_rsq_f32:
    case ISA_OP_v_sqrt_f32:
        return true;
    default:
        return false;
    }
}

static bool is_float(unsigned type)
{
    return type == TYPE_F32 || type == TYPE_F64 || type == TYPE_F16 || type == TYPE_PF16;
}

static bool is_integer(const struct entry *entry)
{
    return !is_float(entry->dst) && !is_float(entry->src[0]) && !is_float(entry->src[1])
           && !is_float(entry->src[2]);
}

/* Rows that compute with integers, or flush their fp32 sources and then have no denormals. */
static bool is_any_daz(unsigned op, const struct entry *entry)
{
    bool only_f32 = true;
    for (unsigned i = 0; i < 3; i++)
        only_f32 &= !is_float(entry->src[i]) || entry->src[i] == TYPE_F32;
    return is_integer(entry) || (only_f32 && nature_of(op) == IS_MINIMUM)
           || op == ISA_OP_v_cvt_i32_f32 || op == ISA_OP_v_cvt_u32_f32 || op == ISA_OP_v_cvt_f32_i32
           || op == ISA_OP_v_cvt_f32_u32
           || (only_f32 && (entry->kind == KIND_CMP || entry->kind == KIND_CMPX));
}

static bool keeps_denormals(const struct isa_inst *inst)
{
    return nature_of(inst->op) == IS_MINIMUM && isa_traits[inst->target].minimum_keeps_denormals;
}

static isa_runner *runner_of(const struct isa_inst *inst, const struct entry *entry,
                             struct isa_ready *ready)
{
    static isa_runner *const plain[] = {NULL, ready_plain_1, ready_plain_2, ready_plain_3};
    static isa_runner *const fast[] = {NULL, ready_fast_1, ready_fast_2, ready_fast_3};
    bool is_signed = ready->abs | ready->neg;
    bool simple = !is_signed && is_any_daz(inst->op, entry);
    bool flushes = nature_of(inst->op) == FLUSHES;
    if (inst->flags & ISA_IS_SDWA)
        return entry->kind == KIND_V && is_integer(entry) ? ready_parts : NULL;
    switch (entry->kind) {
    case KIND_V:
    case KIND_MAC:
    case KIND_MK:
    case KIND_AK:
        if (inst->op == ISA_OP_v_lshlrev_b64 && ready->kind[0] == ISA_READY_CONSTANT
            && ready->constant[0] < 32 && ready->kind[1] == ISA_READY_VGPR)
            return ready_shift;
        if (has_fast_form(inst->op)) {
            ready->kernel = (void (*)(void))entry->fast;
            if (flushes)
                return is_signed ? ready_flushing_signed : ready_flushing_3;
            return is_signed ? ready_fast_signed : fast[ready->sources];
        }
        if (flushes || keeps_upper_half(inst, entry))
            return NULL;
        if (keeps_denormals(inst))
            return entry->dst == TYPE_F16 ? ready_keeping_halves : ready_keeping;
        return simple ? plain[ready->sources] : ready_plain_any;
    case KIND_CO:
    case KIND_CIO:
    case KIND_CI:
    case KIND_SD:
    case KIND_CMP:
    case KIND_CMPX:
        return ready->sources == 2 && simple ? ready_masked_2 : ready_masked_any;
    case KIND_VI:
        return ready_unscaled;
    default:
        return NULL;
    }
}

static bool is_direct(const struct isa_ready *ready)
{
    for (unsigned i = 0; i < ready->sources; i++)
        if (ready->kind[i] == ISA_READY_VGPR && ready->source[i] == ready->dst)
            return false;
    return true;
}

void PASTE(isa_valu_prepare_, ISA_VARIANT)(const struct isa_inst *inst, struct isa_ready *out)
{
    const struct entry *entry = &entries[inst->op - ISA_OP_VALU_FIRST];
    out->run = ready_general;
    if (!entry->kernel || (inst->flags & ISA_IS_DPP) || inst->omod || inst->clamp || inst->opsel)
        return;
    for (out->sources = 0; out->sources < 3; out->sources++) {
        if (entry->src[out->sources] == TYPE_NONE)
            break;
        if (!prepare_source(inst, entry, out->sources, out))
            return;
    }
    out->kernel = (void (*)(void))entry->kernel;
    out->dwords = entry->dst_dwords;
    out->dst = entry->dst_dwords ? (inst->dst - ISA_VGPR) * 64u : 0;
    out->is_direct = is_direct(out);
    bool from_src2 = entry->kind == KIND_CIO || entry->kind == KIND_CI;
    out->mask_in = (uint8_t)(from_src2 ? inst->src[2] : ISA_VCC);
    out->mask_out = inst->sdst;
    out->sets_exec = entry->kind == KIND_CMPX;
    isa_runner *run = runner_of(inst, entry, out);
    if (run && !(from_src2 && inst->src[2] >= 127))
        out->run = run;
}

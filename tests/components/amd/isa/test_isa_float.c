/* Every row of float_rows.tab, in each form that a target has of it, in random modes, with random
 * modifiers and operands at edges and elsewhere, against float_oracle.c. Each instruction runs by
 * isa_execute and, prepared, by isa_ready; in a different variant each time.
 *
 * HEDDLE_FULL in the environment: more than a hundred times as much. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "components/amd/isa/execute/isa_ready.h"

#include "covered.h"
#include "float_operands.h"
#include "float_oracle.h"

enum { FORM_PLAIN, FORM_VOP3, FORM_SDWA, FORM_DPP, FORMS };
enum { V0 = 256, DST = 6, MASK = 20, VGPRS = 8, FAILURES_SHOWN = 3 };

struct machine {
    _Alignas(64) uint32_t vgpr[VGPRS * 64];
    struct isa_context ctx;
    struct isa_wave wave;
};

struct form {
    const struct float_row *row;
    struct isa_row known;
    enum isa_target target;
    unsigned kind, sources;
    unsigned neg, abs, omod, clamp, op_sel, op_sel_hi;
    unsigned select[2], dst_select, keep_unused;
    unsigned control; /* DPP */
    uint32_t literal, mode;
};

/* ---- what a row is ---- */

static bool named(const struct form *f, const char *part)
{
    return strstr(f->row->mnemonic, part);
}

static bool accumulates(const struct form *f)
{
    return named(f, "v_mac_") || named(f, "v_fmac_");
}

static bool has_literal(const struct form *f)
{
    return named(f, "v_madmk_") || named(f, "v_madak_");
}

static bool is_compare(const struct form *f)
{
    return f->row->signature[0] == 'b' || f->row->signature[0] == 'B';
}

static bool is_vop3p(const struct form *f)
{
    return f->row->flags & (ROW_PACKED | ROW_MIXED);
}

static bool is_dot(const struct form *f)
{
    return named(f, "v_dot2_");
}

static unsigned type_bits(char type)
{
    return strchr("hnuH", type) ? 16 : strchr("do", type) ? 64 : 32;
}

static bool is_wide(const struct form *f)
{
    return strchr(f->row->signature, 'd') || strchr(f->row->signature, 'o');
}

static bool has_form(const struct form *f, unsigned kind)
{
    bool short_form =
        f->known.format == ISA_VOP1 || f->known.format == ISA_VOP2 || f->known.format == ISA_VOPC;
    switch (kind) {
    case FORM_PLAIN:
        return short_form || is_vop3p(f);
    case FORM_VOP3:
        return !has_literal(f) && !is_vop3p(f);
    case FORM_DPP: /* of 64 bits only where vector registers and accumulators are one file */
        if (is_wide(f) && isa_traits[f->target].accumulators == ISA_ACCUMULATORS_UNIFIED)
            return short_form && !is_compare(f);
        /* fall through */
    default:
        return short_form && !has_literal(f) && !is_wide(f);
    }
}

/* ---- encoding ---- */

static unsigned opcode_of(const struct form *f)
{
    return (unsigned)f->known.opcode[f->target];
}

static uint32_t second_word(const struct form *f)
{
    uint32_t signs = f->abs & 1 ? 1u << 21 : 0;
    signs |= f->abs & 2 ? 1u << (f->kind == FORM_DPP ? 23 : 29) : 0;
    signs |= f->neg & 1 ? 1u << 20 : 0;
    signs |= f->neg & 2 ? 1u << (f->kind == FORM_DPP ? 22 : 28) : 0;
    if (f->kind == FORM_DPP)
        return f->control << 8 | signs | 0xffu << 24;
    uint32_t selects = f->select[0] << 16 | f->select[1] << 24;
    if (is_compare(f))
        return selects | signs;
    return selects | signs | f->dst_select << 8 | f->keep_unused * 2 << 11 | f->clamp << 13
           | f->omod << 14;
}

static void encode_short(const struct form *f, uint32_t *word)
{
    uint32_t source = f->kind == FORM_SDWA ? 0xf9 : f->kind == FORM_DPP ? 0xfa : V0;
    uint32_t extra = f->kind == FORM_PLAIN ? f->literal : second_word(f);
    if (f->known.format == ISA_VOP1)
        word[0] = 0x7e000000u | DST << 17 | opcode_of(f) << 9 | source;
    else if (f->known.format == ISA_VOPC)
        word[0] = 0x7c000000u | opcode_of(f) << 17 | 2 << 9 | source;
    else
        word[0] = opcode_of(f) << 25 | DST << 17 | 2 << 9 | source;
    word[1] = f->kind == FORM_PLAIN ? extra : extra & ~0xffu; /* source 0 is v0 */
}

static void encode_long(const struct form *f, uint32_t *word)
{
    unsigned opcode = opcode_of(f)
                      + (f->known.format == ISA_VOP2   ? 0x100
                         : f->known.format == ISA_VOP1 ? 0x140
                                                       : 0);
    word[0] = 0xd0000000u | opcode << 16 | (is_compare(f) ? MASK : DST);
    word[0] |=
        f->row->flags & ROW_FLAG ? MASK << 8 : f->abs << 8 | f->op_sel << 11 | f->clamp << 15;
    word[1] = f->omod << 27 | f->neg << 29;
    for (unsigned i = 0; i < f->sources && !(i == 2 && accumulates(f)); i++)
        word[1] |= (V0 + 2 * i) << 9 * i;
}

static void encode_packed(const struct form *f, uint32_t *word)
{
    word[0] = 0xd3800000u | opcode_of(f) << 16 | f->clamp << 15 | (f->op_sel_hi & 4) << 12
              | f->op_sel << 11 | f->abs << 8 | DST;
    word[1] = f->neg << 29 | (f->op_sel_hi & 3) << 27;
    for (unsigned i = 0; i < f->sources; i++)
        word[1] |= (V0 + 2 * i) << 9 * i;
}

static void encode(const struct form *f, uint32_t *word)
{
    memset(word, 0, 12);
    if (is_vop3p(f))
        encode_packed(f, word);
    else if (f->kind == FORM_VOP3)
        encode_long(f, word);
    else
        encode_short(f, word);
}

/* ---- random forms ---- */

static bool takes_output(const struct form *f)
{
    return float_format_of(f->row->signature[0]) >= 0 && !(f->row->flags & (ROW_APPROX | ROW_FLAG));
}

static void random_modifiers(struct form *f)
{
    unsigned floats = 0;
    for (unsigned i = 0; i < f->sources; i++)
        floats |= (unsigned)(strchr("hfdmno", f->row->signature[2 + i]) != NULL) << i;
    if (f->kind != FORM_VOP3)
        floats &= 3;
    if (is_dot(f)) {
        f->op_sel_hi = 7;
        return;
    }
    f->neg = random_below(3) ? 0 : random_below(8) & floats;
    f->abs = random_below(3) ? 0 : random_below(8) & floats;
    f->omod = random_below(2) && takes_output(f) ? random_below(4) : 0;
    f->clamp = !random_below(4) && takes_output(f);
    if (f->row->flags & ROW_FLAG)
        f->neg = f->abs = 0;
    if (f->kind == FORM_DPP || (f->kind == FORM_SDWA && !isa_is_gfx9(f->target)))
        f->omod = 0;
    if (f->kind == FORM_DPP)
        f->clamp = 0;
    if ((f->row->flags & ROW_OP_SEL) && isa_is_gfx9(f->target))
        f->op_sel = random_below(type_bits(f->row->signature[0]) == 16 ? 16 : 8);
}

static void random_packed(struct form *f)
{
    unsigned all = (1u << f->sources) - 1;
    f->omod = 0;
    if (is_dot(f))
        return;
    f->neg = random_below(8) & all;
    f->abs = random_below(8) & all;
    f->op_sel = random_below(8) & all;
    f->op_sel_hi = random_below(8) & all;
}

/* The forms in turn. */
static void random_form(struct form *f, unsigned turn)
{
    static const unsigned controls[] = {0x1b, 0xe4, 0x4e, 0x121, 0x127, 0x12f, 0x140, 0x141};
    for (f->kind = turn % FORMS; !has_form(f, f->kind);)
        f->kind = random_below(FORMS);
    f->neg = f->abs = f->omod = f->clamp = f->op_sel = f->op_sel_hi = 0;
    if (f->kind != FORM_PLAIN || is_vop3p(f))
        random_modifiers(f);
    if (is_vop3p(f))
        random_packed(f);
    for (unsigned i = 0; i < 2; i++)
        f->select[i] = type_bits(f->row->signature[2 + i]) == 16 ? 4 + random_below(3) : 6;
    bool half = type_bits(f->row->signature[0]) == 16;
    f->dst_select = half && !accumulates(f) ? 4 + random_below(3) : 6;
    f->keep_unused = random_below(2);
    f->control = is_wide(f) ? 0x150 + random_below(16)
                            : controls[random_below(sizeof controls / sizeof *controls)];
    f->literal = (uint32_t)random_float(half ? FP16 : FP32);
    f->mode = random_below(4) ? random_below(1024) : ISA_MODE_DEFAULT | random_below(4) << 4;
    f->mode = random_below(32) ? f->mode : random_below(16); /* as little as can be */
}

/* ---- operands ---- */

static void set_register(struct machine *m, unsigned reg, unsigned lane, char type, uint64_t u)
{
    uint32_t other = (uint32_t)random_float(FP16) << 16;
    m->vgpr[reg * 64 + lane] = type_bits(type) == 16 ? (uint32_t)(u & 0xffff) | other : (uint32_t)u;
    if (type_bits(type) == 64)
        m->vgpr[(reg + 1) * 64 + lane] = (uint32_t)(u >> 32);
}

static uint64_t random_operand(char type)
{
    switch (type) {
    case 'h':
    case 'n':
        return random_float(FP16);
    case 'f':
    case 'm':
        return random_float(FP32);
    case 'd':
    case 'o':
        return random_float(FP64);
    default:
        return random_integer();
    }
}

static void random_registers(const struct form *f, struct machine *m)
{
    for (unsigned i = 0; i < VGPRS * 64; i++)
        m->vgpr[i] = (uint32_t)random_float(FP16) | (uint32_t)random_float(FP16) << 16;
    for (unsigned lane = 0; lane < 64; lane++) {
        uint64_t u[3] = {0};
        for (unsigned i = 0; i < f->sources; i++)
            u[i] = random_operand(f->row->signature[2 + i]);
        int format = float_format_of(f->row->signature[0]);
        if (format >= 0 && f->sources > 1 && !strpbrk(f->row->signature + 2, "wWuH"))
            relate_floats((enum float_format)format, u, f->sources);
        if (f->row->flags & ROW_FLAG)
            u[0] = random_below(4) ? u[1 + random_below(2)] : u[0];
        for (unsigned i = 0; i < f->sources; i++) {
            unsigned reg = i == 2 && accumulates(f) ? DST : 2 * i;
            bool words = (f->row->flags & ROW_MIXED) && random_below(2);
            if (!words)
                set_register(m, reg, lane, f->row->signature[2 + i], u[i]);
        }
    }
    m->wave.mode = f->mode;
    isa_wave_set_pair(&m->wave, ISA_VCC, random_bits());
    bool all = f->kind == FORM_DPP || random_below(3); /* lanes that do not run have no sources */
    isa_wave_set_pair(&m->wave, ISA_EXEC, all ? ~UINT64_C(0) : random_bits() | 1);
}

static uint64_t register_value(const struct machine *m, unsigned reg, unsigned lane, char type)
{
    uint64_t high = type_bits(type) == 64 ? m->vgpr[(reg + 1) * 64 + lane] : 0;
    return high << 32 | m->vgpr[reg * 64 + lane];
}

/* Where a lane's first source comes from: controls that leave no lane without. */
static unsigned dpp_lane(unsigned control, unsigned lane)
{
    if (control < 0x100)
        return (lane & ~3u) + (control >> 2 * (lane % 4) & 3);
    if (control >= 0x150)
        return (lane & ~15u) + control % 16;
    if (control == 0x140)
        return lane ^ 15;
    if (control == 0x141)
        return lane ^ 7;
    return (lane & ~15u) + (lane + 16 - control % 16) % 16;
}

static uint64_t signed_value(char type, uint64_t u, bool abs, bool neg)
{
    uint64_t sign = UINT64_C(1) << (type_bits(type) - 1);
    u = abs ? u & ~sign : u;
    return neg ? u ^ sign : u;
}

/* Source i of a lane, as the row gets it. */
static uint64_t source_value(const struct form *f, const struct machine *m, unsigned i,
                             unsigned lane)
{
    char type = f->row->signature[2 + i];
    if (i == 2 && has_literal(f))
        return f->literal;
    unsigned from = i == 0 && f->kind == FORM_DPP ? dpp_lane(f->control, lane) : lane;
    uint64_t u = register_value(m, i == 2 && accumulates(f) ? DST : 2 * i, from, type);
    if (f->kind == FORM_SDWA && i < 2 && f->select[i] == 5)
        u >>= 16;
    if (f->op_sel >> i & 1)
        u >>= 16;
    if (type_bits(type) == 16)
        u &= 0xffff;
    return signed_value(type, u, f->abs >> i & 1, f->neg >> i & 1);
}

/* ---- expectations ---- */

struct expected {
    uint64_t value; /* of the destination registers */
    bool mask;
    struct float_call call; /* of an approximate row */
};

static uint64_t finished(const struct form *f, struct float_call *c, uint64_t u)
{
    return c->to < 0 ? u : float_output((enum float_format)c->to, u, &c->mode, f->omod, f->clamp);
}

static uint64_t expect_halves(const struct form *f, struct float_call c, const struct machine *m,
                              unsigned lane)
{
    uint64_t out = 0;
    for (unsigned half = 0; half < 2; half++) {
        unsigned select = half ? f->op_sel_hi : f->op_sel, neg = half ? f->abs : f->neg;
        for (unsigned i = 0; i < f->sources; i++) {
            uint64_t u = m->vgpr[2 * i * 64 + lane] >> (select >> i & 1 ? 16 : 0) & 0xffff;
            c.source[i] = signed_value('h', u, false, neg >> i & 1);
        }
        uint64_t u = float_row_result(&c, NULL);
        out |= finished(f, &c, u) << 16 * half;
    }
    return out;
}

/* fp16 in and out by MODE's bits for it. */
static uint64_t expect_mixed(const struct form *f, struct float_call c, const struct machine *m,
                             unsigned lane, uint32_t old)
{
    for (unsigned i = 0; i < 3; i++) {
        uint64_t u = m->vgpr[2 * i * 64 + lane];
        if (f->op_sel_hi >> i & 1) {
            u = u >> (f->op_sel >> i & 1 ? 16 : 0) & 0xffff;
            u = c.mode.keep64_in ? u : float_flush(FP16, u);
            bool quiet = !float_is_nan(FP16, u);
            u = quiet ? float_round(FP16, FP32, u, 0) : float_convert_nan(FP16, FP32, u);
        }
        c.source[i] = signed_value('f', u, f->abs >> i & 1, f->neg >> i & 1);
    }
    uint64_t u = float_row_result(&c, NULL);
    if (named(f, "_f32"))
        return finished(f, &c, u);
    u = float_round(FP32, FP16, u, c.mode.round64);
    u = c.mode.keep64_out ? u : float_flush(FP16, u);
    u = float_output(FP16, u, &c.mode, 0, f->clamp);
    return named(f, "mixhi") ? u << 16 | (old & 0xffff) : u | (old & 0xffff0000);
}

static uint64_t placed(const struct form *f, uint64_t u, uint32_t old)
{
    if (type_bits(f->row->signature[0]) != 16)
        return u;
    bool own = f->row->flags & (f->kind == FORM_VOP3 ? ROW_OP_SEL | ROW_KEEPS : ROW_KEEPS);
    if (f->kind == FORM_SDWA && f->dst_select != 6) {
        uint64_t rest = f->keep_unused ? old : 0;
        return f->dst_select == 5 ? u << 16 | (rest & 0xffff) : u | (rest & 0xffff0000);
    }
    if (f->op_sel & 8)
        return u << 16 | (old & 0xffff);
    return own && isa_is_gfx9(f->target) && f->kind != FORM_SDWA ? u | (old & 0xffff0000) : u;
}

static struct expected expect(const struct form *f, const struct machine *m, unsigned lane)
{
    struct expected out = {0};
    uint32_t old = m->vgpr[DST * 64 + lane];
    struct float_call c = {.row = f->row,
                           .mode = float_mode_of(f->mode),
                           .gfx8 = !isa_is_gfx9(f->target),
                           .bit = isa_wave_vcc(&m->wave) >> lane & 1};
    if ((f->row->flags & ROW_PACKED) && !is_dot(f)) {
        out.value = expect_halves(f, c, m, lane);
        return out;
    }
    if (f->row->flags & ROW_MIXED) {
        out.value = expect_mixed(f, c, m, lane, old);
        return out;
    }
    for (unsigned i = 0; i < f->sources; i++)
        c.source[i] = source_value(f, m, i, lane);
    out.call = c;
    uint64_t u = float_row_result(&c, &out.mask);
    if (is_compare(f))
        out.mask = u;
    else
        out.value = placed(f, finished(f, &c, u), old);
    return out;
}

/* ---- running ---- */

static unsigned long checked;

static void show(const struct form *f, const struct isa_inst *inst, const struct machine *m,
                 unsigned lane, const char *what, uint64_t got, uint64_t expected)
{
    char text[ISA_TEXT_MAX];
    isa_format(inst, UINT64_MAX, text, sizeof text);
    cr_log_error("%s: %s, mode %x, lane %u: %s %llx, expected %llx", isa_target_name(f->target),
                 text, f->mode, lane, what, (unsigned long long)got, (unsigned long long)expected);
    for (unsigned i = 0; i < f->sources; i++)
        cr_log_error("  source %u: %016llx", i,
                     (unsigned long long)(is_vop3p(f) ? m->vgpr[2 * i * 64 + lane]
                                                      : source_value(f, m, i, lane)));
}

static bool lane_is_right(const struct form *f, const struct isa_inst *inst,
                          const struct machine *before, const struct machine *after, unsigned lane)
{
    bool active = isa_wave_exec(&before->wave) >> lane & 1,
         wide = type_bits(f->row->signature[0]) == 64;
    uint64_t old = register_value(before, DST, lane, f->row->signature[0]);
    uint64_t got = register_value(after, DST, lane, f->row->signature[0]);
    unsigned mask = is_compare(f) && f->kind != FORM_VOP3 ? ISA_VCC : MASK;
    bool flag = isa_wave_pair(&after->wave, mask) >> lane & 1;
    struct expected e = {.value = old};
    if (active)
        e = expect(f, before, lane);
    checked += active;
    if (is_compare(f) || (f->row->flags & ROW_FLAG)) {
        if (flag != e.mask)
            show(f, inst, before, lane, "mask", flag, e.mask);
        if (flag != e.mask || is_compare(f))
            return flag == e.mask;
    }
    if (active && (f->row->flags & ROW_APPROX)) {
        uint64_t value = wide                                         ? got
                         : f->kind == FORM_SDWA && f->dst_select == 5 ? got >> 16
                         : type_bits(f->row->signature[0]) == 16      ? got & 0xffff
                                                                      : got;
        if (float_row_accepts(&e.call, value)
            && (type_bits(f->row->signature[0]) != 16 || got == placed(f, value, (uint32_t)old)))
            return true;
    }
    if (got != e.value)
        show(f, inst, before, lane, "result", got, e.value);
    return got == e.value;
}

/* Both ways of executing give the same. */
static void run_both(const struct isa_inst *inst, struct machine *m, struct machine *other)
{
    struct isa_ready ready;
    struct isa_workspace work = {0};
    *other = *m;
    other->ctx.vgpr = other->vgpr;
    m->ctx.vgpr = m->vgpr;
    cr_assert_eq(isa_execute(&m->ctx, &m->wave, inst), ISA_OK);
    isa_prepare(inst, VGPRS, 0, &ready);
    isa_workspace_begin(&work);
    cr_assert_eq(ready.run(&other->ctx, &other->wave, &ready, &work), ISA_OK);
    isa_workspace_end(&work);
    char text[ISA_TEXT_MAX];
    isa_format(inst, UINT64_MAX, text, sizeof text);
    cr_assert(!memcmp(m->vgpr, other->vgpr, sizeof m->vgpr)
                  && !memcmp(&m->wave, &other->wave, sizeof m->wave),
              "%s differs when prepared, mode %x", text, m->wave.mode);
}

static void next_variant(void)
{
    static unsigned next;
    do
        next = (next + 1) % isa_variant_count();
    while (!isa_variant_select(next));
}

/* False after a wrong result. */
static bool run_batch(struct form *f, unsigned turn)
{
    static struct machine before, after, prepared;
    struct isa_inst inst;
    uint32_t word[3];
    random_form(f, turn);
    encode(f, word);
    int size = isa_decode(f->target, word, sizeof word, &inst);
    cr_assert(size > 0 || size == ISA_ERROR_INVALID, "%s: %d", f->row->mnemonic, size);
    if (size < 0) /* no such form */
        return true;
    cr_assert_str_eq(isa_mnemonic(&inst), f->row->mnemonic);
    next_variant();
    before.ctx = (struct isa_context){.vgpr = before.vgpr, .vgpr_count = VGPRS};
    random_registers(f, &before);
    after = before;
    run_both(&inst, &after, &prepared);
    bool right = true;
    for (unsigned lane = 0, wrong = 0; lane < 64 && wrong < FAILURES_SHOWN; lane++)
        if (!lane_is_right(f, &inst, &before, &after, lane)) {
            right = false;
            wrong++;
        }
    if (right)
        covered_mark(&inst);
    return right;
}

static bool find_row(struct form *f)
{
    for (size_t i = 0; i < isa_row_count(); i++) {
        f->known = isa_row(i);
        if (!strcmp(f->known.mnemonic, f->row->mnemonic) && f->known.opcode[f->target] >= 0)
            return f->known.is_implemented;
    }
    return false;
}

static void run_rows(size_t first, size_t step)
{
    const char *full = getenv("HEDDLE_FULL");
    unsigned batches = full && *full ? 500 : 4, wrong = 0;
    for (size_t i = first; i < float_row_count; i += step) {
        unsigned targets = 0;
        for (unsigned target = 0; target < ISA_TARGET_COUNT; target++) {
            struct form f = {.row = &float_rows[i], .target = (enum isa_target)target};
            f.sources = (unsigned)strlen(f.row->signature) - 2;
            if (!find_row(&f))
                continue;
            targets++;
            bool right = true;
            for (unsigned batch = 0; batch < batches && right; batch++)
                right = run_batch(&f, batch);
            wrong += !right;
        }
        cr_expect_gt(targets, 0, "no target has %s", float_rows[i].mnemonic);
    }
    cr_assert_eq(wrong, 0, "%u rows are wrong", wrong);
    cr_assert_gt(checked, 20000);
}

Test(isa_float, rows_give_what_exact_arithmetic_does_1)
{
    run_rows(0, 2);
}

Test(isa_float, rows_give_what_exact_arithmetic_does_2)
{
    run_rows(1, 2);
}

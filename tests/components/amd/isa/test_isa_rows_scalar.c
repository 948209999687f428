/* Every scalar instruction and branch, on every target, with random operands, against exact
 * integers (scalar_rows.tab), and those that move the pc, index registers or read hardware
 * registers, one by one. */
#include "exact.h"

enum { TRIES = 40 };

/* ---- exact results ---- */

static unsigned least(uint64_t a, unsigned b)
{
    return a < b ? (unsigned)a : b;
}

static wide magnitude(wide x)
{
    return x < 0 ? -x : x;
}

/* Four bits with a one in them become four ones, or one bit. */
static wide quads(uint64_t x, unsigned width, bool whole)
{
    wide out = 0;
    for (unsigned quad = 0; quad < width / 4; quad++)
        if (part(x, 4 * quad, 4))
            out += whole ? 15 * power(4 * quad) : power(quad);
    return out;
}

static wide doubled(uint64_t x)
{
    wide out = 0;
    for (unsigned i = 0; i < 32; i++)
        out += 3 * bit_of(x, i) * power(2 * i);
    return out;
}

/* ---- rows ---- */

struct values {
    uint64_t a, b, d, exec, vcc;
    wide A, B, D, imm, value;
    unsigned scc;
    bool nonzero, beyond;
};

struct row {
    const char *name, *signature;
    int encodings;
    wide (*value)(const struct values *);
    unsigned (*condition)(const struct values *); /* scc, or whether the branch is taken */
    int which;                                    /* masks: OLD or NEW */
};

enum { ANY, GFX8, GFX9 };
enum { NONE, OLD, NEW };

#define UNUSED __attribute__((unused))
#define DECLARE                                                                                    \
    UNUSED uint64_t a = v->a, b = v->b, d = v->d, exec = v->exec, vcc = v->vcc;                    \
    UNUSED wide A = v->A, B = v->B, D = v->D, imm = v->imm;                                        \
    UNUSED unsigned scc = v->scc;
#define KEPT    v->scc
#define NONZERO v->nonzero
#define BEYOND  v->beyond
#define ROW(name, encodings, signature, condition, expression)                                     \
    static wide value_##name(UNUSED const struct values *v)                                        \
    {                                                                                              \
        DECLARE return expression;                                                                 \
    }                                                                                              \
    static unsigned condition_##name(UNUSED const struct values *v)                                \
    {                                                                                              \
        DECLARE return condition;                                                                  \
    }
#define MASK(name, encodings, which, table)                                                        \
    static wide value_##name(const struct values *v)                                               \
    {                                                                                              \
        return bitwise(v->a, v->exec, 0, table);                                                   \
    }
#define BRANCH(name, encodings, taken)                                                             \
    static unsigned condition_##name(UNUSED const struct values *v)                                \
    {                                                                                              \
        DECLARE return (taken) != 0;                                                               \
    }
#define NOTHING(name, encodings)
#include "scalar_rows.tab"
#undef ROW
#undef MASK
#undef BRANCH
#undef NOTHING

static const struct row rows[] = {
#define ROW(name, encodings, signature, condition, expression)                                     \
    {#name, signature, encodings, value_##name, condition_##name, NONE},
#define MASK(name, encodings, which, table) {#name, "q=q", encodings, value_##name, NULL, which},
#define BRANCH(name, encodings, taken)      {#name, "-=k", encodings, NULL, condition_##name, NONE},
#define NOTHING(name, encodings)            {#name, "-=k", encodings, NULL, NULL, NONE},
#include "scalar_rows.tab"
#undef ROW
#undef MASK
#undef BRANCH
#undef NOTHING
};

/* ---- one instruction ---- */

struct scalar_form {
    const struct row *row;
    enum isa_target target;
    enum isa_format format;
    unsigned opcode, dst, src[2];
    int imm;
    uint32_t literal;
};

static unsigned encode(const struct scalar_form *f, uint32_t word[3])
{
    uint32_t imm = (uint32_t)f->imm & 0xffff;
    word[1] = f->literal;
    switch (f->format) {
    case ISA_SOP1:
        word[0] = 0xbe800000u | f->dst << 16 | f->opcode << 8 | f->src[0];
        break;
    case ISA_SOPC:
        word[0] = 0xbf000000u | f->opcode << 16 | f->src[1] << 8 | f->src[0];
        break;
    case ISA_SOPK:
        word[0] = 0xb0000000u | f->opcode << 23 | f->dst << 16 | imm;
        return 1;
    case ISA_SOPP:
        word[0] = 0xbf800000u | f->opcode << 16 | imm;
        return 1;
    default:
        word[0] = 0x80000000u | f->opcode << 23 | f->dst << 16 | f->src[1] << 8 | f->src[0];
        break;
    }
    return 1 + (f->src[0] == 255 || f->src[1] == 255);
}

static unsigned random_source(enum isa_target target, char type)
{
    static const unsigned pairs[] = {0, 2, 30, 98, 100, ISA_VCC, ISA_EXEC};
    bool is_pair = exact_is_wide(type);
    switch (random_below(8)) {
    case 0:
        return 128 + random_below(81);
    case 1:
        return 240 + random_below(9);
    case 2:
        return is_pair ? 129 : 251 + random_below(3);
    case 3:
        return 255;
    case 4:
        return isa_is_gfx9(target) ? 235 + random_below(4) : 0;
    case 5:
        return is_pair ? 40 : ISA_M0;
    default:
        return pairs[random_below(sizeof pairs / sizeof *pairs)] + (is_pair ? 0 : random_below(2));
    }
}

static void random_form(struct scalar_form *f)
{
    static const unsigned to[] = {0, 2, 16, 98, 100, ISA_VCC, 30};
    const char *signature = f->row->signature;
    f->dst = to[random_below(sizeof to / sizeof *to)];
    if (strchr("wWrR", signature[0]) && random_below(2))
        f->dst = random_below(4) ? random_below(102) : ISA_M0;
    for (unsigned i = 0; signature[2 + i] && signature[2] != 'k'; i++)
        f->src[i] = random_source(f->target, signature[2 + i]);
    f->imm = (int16_t)rows_word();
    f->literal = rows_word();
}

static uint64_t destination(const struct rows_machine *m, unsigned dst, char type)
{
    return m->wave.sgpr[dst]
           + (exact_is_wide(type) ? (uint64_t)(m->wave.sgpr[dst + 1] * power(32)) : 0);
}

static uint64_t source(const struct rows_machine *m, const struct scalar_form *f, unsigned i)
{
    char type = f->row->signature[2 + i];
    uint64_t value = exact_scalar(m, f->src[i], type, f->literal);
    return exact_is_wide(type) ? value : (uint64_t)part(value, 0, 32);
}

static void put(struct rows_machine *m, unsigned dst, char type, uint64_t value)
{
    m->wave.sgpr[dst] = (uint32_t)value;
    if (exact_is_wide(type))
        m->wave.sgpr[dst + 1] = (uint32_t)(value >> 32);
}

static void expect(const struct scalar_form *f, unsigned words, struct rows_machine *m)
{
    const char *signature = f->row->signature;
    char type = signature[0] == 'r' ? 'w' : signature[0] == 'R' ? 'W' : signature[0];
    struct values v = {.exec = isa_wave_exec(&m->wave), .vcc = isa_wave_vcc(&m->wave)};
    v.scc = m->wave.scc;
    v.imm = f->imm;
    v.a = source(m, f, 0);
    v.b = signature[3] ? source(m, f, 1) : 0;
    v.A = exact_typed(v.a, signature[2]);
    v.B = exact_typed(v.b, signature[3]);
    v.d = type == '-' ? 0 : destination(m, f->dst, type);
    v.D = exact_typed(v.d, type);
    v.value = f->row->value ? f->row->value(&v) : 0;
    uint64_t low = (uint64_t)part((uint64_t)v.value, 0, exact_width(type));
    v.nonzero = low != 0;
    v.beyond = exact_limit(v.value, type) != v.value;
    m->wave.pc += 4 * words;
    if (f->format == ISA_SOPP) {
        if (f->row->condition && f->row->condition(&v))
            m->wave.pc += (uint64_t)((int64_t)f->imm * 4);
        return;
    }
    if (f->row->which != NONE) {
        isa_wave_set_pair(&m->wave, ISA_EXEC, low);
        m->wave.scc = low != 0;
        low = f->row->which == OLD ? v.exec : low;
    } else {
        m->wave.scc = (uint8_t)f->row->condition(&v);
    }
    if (type != '-')
        put(m, f->dst, type, low);
}

static bool compare(const struct rows_machine *before, const struct rows_machine *expected,
                    const uint32_t *word, enum isa_target target, int size)
{
    static struct rows_machine actual;
    struct isa_inst inst;
    cr_assert_eq(isa_decode(target, word, 12, &inst), size, "%08x %08x", word[0], word[1]);
    rows_machine_copy(&actual, before);
    cr_assert_eq(isa_execute(&actual.ctx, &actual.wave, &inst), ISA_OK, "%08x", word[0]);
    if (!rows_equal(expected, &actual)) {
        rows_fail(before, expected, &actual, &inst);
        return false;
    }
    covered_mark(&inst);
    return true;
}

static bool check(const struct scalar_form *f)
{
    static struct rows_machine before, expected;
    uint32_t word[3] = {0};
    unsigned words = encode(f, word);
    rows_machine_init(&before);
    rows_machine_copy(&expected, &before);
    expect(f, words, &expected);
    return compare(&before, &expected, word, f->target, (int)(4 * words));
}

static const struct row *find(const char *mnemonic, enum isa_target target)
{
    int other = isa_is_gfx9(target) ? GFX8 : GFX9;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(rows[i].name, mnemonic) && rows[i].encodings != other)
            return &rows[i];
    return NULL;
}

Test(isa_rows_scalar, arithmetic_masks_and_branches)
{
    unsigned failed = 0;
    for (unsigned target = 0; target < ISA_TARGET_COUNT; target++) {
        for (size_t i = 0; i < isa_row_count(); i++) {
            struct isa_row row = isa_row(i);
            const struct row *model = find(row.mnemonic, (enum isa_target)target);
            if (!row.is_implemented || row.opcode[target] < 0 || row.format > ISA_SOPP || !model)
                continue;
            bool good = true;
            for (unsigned k = 0; k < TRIES && good; k++) {
                struct scalar_form f = {.row = model,
                                        .target = (enum isa_target)target,
                                        .format = row.format,
                                        .opcode = (unsigned)row.opcode[target]};
                random_form(&f);
                good = check(&f);
            }
            failed += !good;
        }
    }
    cr_assert_eq(failed, 0, "%u rows", failed);
}

/* ---- one by one ---- */

static struct rows_machine start, end;
static struct scalar_form form;

/* False where the target does not have it; else the words of a form whose result goes into `end`.
 */
static bool begin(const char *mnemonic, enum isa_target target)
{
    for (size_t i = 0; i < isa_row_count(); i++) {
        struct isa_row row = isa_row(i);
        if (strcmp(row.mnemonic, mnemonic) != 0 || row.opcode[target] < 0)
            continue;
        form = (struct scalar_form){.target = target,
                                    .format = row.format,
                                    .opcode = (unsigned)row.opcode[target],
                                    .src = {0, 0}};
        rows_machine_init(&start);
        rows_machine_copy(&end, &start);
        return true;
    }
    return false;
}

static void finish(unsigned extra_words)
{
    uint32_t word[3] = {0};
    unsigned words = encode(&form, word) + extra_words;
    cr_assert(compare(&start, &end, word, form.target, (int)(4 * words)));
}

static uint64_t random_pc(void)
{
    return UINT64_C(0x7f0000000000) + random_below(100000) * 4;
}

static void check_jumps(enum isa_target target)
{
    uint64_t to = random_pc();
    if (begin("s_getpc_b64", target)) {
        form.dst = 16;
        put(&end, 16, 'q', start.wave.pc + 4);
        end.wave.pc += 4;
        finish(0);
    }
    if (begin("s_setpc_b64", target)) {
        form.src[0] = 20;
        put(&start, 20, 'q', to);
        put(&end, 20, 'q', to);
        end.wave.pc = to;
        finish(0);
    }
    if (begin("s_swappc_b64", target)) {
        form.src[0] = 20;
        form.dst = random_below(2) ? 20 : 30;
        put(&start, 20, 'q', to);
        put(&end, 20, 'q', to);
        put(&end, form.dst, 'q', start.wave.pc + 4);
        end.wave.pc = to;
        finish(0);
    }
    if (begin("s_call_b64", target)) {
        form.dst = 30;
        form.imm = (int16_t)rows_word();
        put(&end, 30, 'q', start.wave.pc + 4);
        end.wave.pc += 4 + (uint64_t)((int64_t)form.imm * 4);
        finish(0);
    }
}

static void check_relative(enum isa_target target, const char *name, bool to, char type)
{
    if (!begin(name, target))
        return;
    unsigned step = exact_is_wide(type) ? 2 : 1, base = 8, index = base + step * random_below(40);
    uint32_t m0 = index - base;
    form.dst = to ? base : 60;
    form.src[0] = to ? 60 : base;
    start.wave.sgpr[ISA_M0] = end.wave.sgpr[ISA_M0] = m0;
    put(&end, to ? index : 60, type, destination(&start, to ? 60 : index, type));
    end.wave.pc += 4;
    finish(0);
}

/* Fields of MODE, TRAPSTS, GPR_ALLOC and others; size and offset in the immediate. */
static void check_hardware_registers(enum isa_target target)
{
    unsigned offset = random_below(32), size = 1 + random_below(32 - offset);
    unsigned id = 1 + random_below(7);
    uint32_t field = (uint32_t)((power(size) - 1) * power(offset)), value = rows_word();
    if (begin("s_getreg_b32", target)) {
        form.dst = 33;
        form.imm = (int)(id | offset << 6 | (size - 1) << 11);
        start.wave.trapsts = rows_word();
        start.wave.hw_id = rows_word();
        start.wave.gpr_alloc = rows_word();
        start.wave.lds_alloc = rows_word();
        start.wave.ib_sts = rows_word();
        rows_machine_copy(&end, &start);
        uint32_t status = start.wave.scc | (isa_wave_exec(&start.wave) ? 0 : 1u << 9)
                          | (isa_wave_vcc(&start.wave) ? 0 : 1u << 10);
        const uint32_t values[8] = {0,
                                    start.wave.mode,
                                    status,
                                    start.wave.trapsts,
                                    start.wave.hw_id,
                                    start.wave.gpr_alloc,
                                    start.wave.lds_alloc,
                                    start.wave.ib_sts};
        end.wave.sgpr[33] = (uint32_t)part(values[id], offset, size);
        end.wave.pc += 4;
        finish(0);
    }
    const char *const writers[2] = {"s_setreg_b32", "s_setreg_imm32_b32"};
    for (unsigned i = 0; i < 2; i++) {
        if (!begin(writers[i], target))
            continue;
        form.dst = i ? 0 : 33;
        form.literal = value;
        form.imm = (int)(1 | offset << 6 | (size - 1) << 11);
        start.wave.sgpr[33] = end.wave.sgpr[33] = value;
        end.wave.mode =
            (start.wave.mode & ~field) | (uint32_t)(part(value, 0, size) * power(offset));
        end.wave.pc += i ? 8 : 4;
        finish(i);
    }
}

static void check_trap(enum isa_target target)
{
    uint32_t word[3] = {0};
    struct isa_inst inst;
    cr_assert(begin("s_trap", target));
    form.imm = 2;
    encode(&form, word);
    cr_assert_eq(isa_decode(target, word, 12, &inst), 4);
    cr_expect_eq(isa_execute(&start.ctx, &start.wave, &inst), ISA_TRAPPED);
    end.wave.pc += 4;
    end.wave.trapped = 3;
    cr_assert(rows_equal(&start, &end));
    covered_mark(&inst);
}

Test(isa_rows_scalar, jumps_relative_moves_and_hardware_registers)
{
    for (unsigned target = 0; target < ISA_TARGET_COUNT; target++) {
        for (unsigned i = 0; i < TRIES; i++) {
            check_jumps((enum isa_target)target);
            check_relative((enum isa_target)target, "s_movrels_b32", false, 'w');
            check_relative((enum isa_target)target, "s_movrels_b64", false, 'q');
            check_relative((enum isa_target)target, "s_movreld_b32", true, 'w');
            check_relative((enum isa_target)target, "s_movreld_b64", true, 'q');
            check_hardware_registers((enum isa_target)target);
        }
        check_trap((enum isa_target)target);
    }
}

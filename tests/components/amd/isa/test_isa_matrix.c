/* Every matrix instruction of gfx908, gfx90a and gfx942, against matrices.
 *
 * The oracle shares nothing with isa_matrix.c: where an element stands comes from the formulae of
 * AMD's calculator (mfma.tab), and an element of D from exact sums in fixed point (fixed_point.h),
 * cut and rounded as isa_matrix.h says. Operands are vector and accumulation registers that may
 * overlap the destination, and constants; their values are of several kinds, among them NaNs,
 * infinities, denormals and zeros of both signs.
 *
 * Each instruction is executed 20 times with new operands, with HEDDLE_FULL in the environment
 * 100,000 times. In one of 64 all of D and all other registers are looked at, in the others a few
 * elements. */
#include <stdlib.h>

#include "base/splitmix64.h"

#include "covered.h"
#include "fixed_float.h"
#include "machine.h"

struct place {
    unsigned reg, bit, lane;
};

typedef struct place place_of(unsigned row, unsigned column, unsigned block);

struct form {
    const char *name;
    enum isa_target target;
    unsigned m, k, blocks;
    enum type a, b;
    bool sparse, broadcasts, patterns;
    unsigned cycles;
    place_of *place_a, *place_b, *place_d;
};

#define MFMA(target, name, m, k_, blocks, a, b, sparse, cbsz, blgp, cycles, ar, al, ai, br, bl,    \
             bi, dr, di)                                                                           \
    static struct place a_of_##target##_##name(unsigned i, unsigned k, unsigned block)             \
    {                                                                                              \
        (void)k, (void)block;                                                                      \
        return (struct place){ar, al, ai};                                                         \
    }                                                                                              \
    static struct place b_of_##target##_##name(unsigned k, unsigned j, unsigned block)             \
    {                                                                                              \
        (void)k, (void)block;                                                                      \
        return (struct place){br, bl, bi};                                                         \
    }                                                                                              \
    static struct place d_of_##target##_##name(unsigned i, unsigned j, unsigned block)             \
    {                                                                                              \
        (void)block;                                                                               \
        return (struct place){dr, 0, di};                                                          \
    }
#include "mfma.tab"
#undef MFMA

static const struct form forms[] = {
#define MFMA(target, name, m, k, blocks, a, b, sparse, cbsz, blgp, cycles, ...)                    \
    {#name,                                                                                        \
     ISA_##target,                                                                                 \
     m,                                                                                            \
     k,                                                                                            \
     blocks,                                                                                       \
     a,                                                                                            \
     b,                                                                                            \
     sparse,                                                                                       \
     cbsz,                                                                                         \
     blgp,                                                                                         \
     cycles,                                                                                       \
     a_of_##target##_##name,                                                                       \
     b_of_##target##_##name,                                                                       \
     d_of_##target##_##name},
#include "mfma.tab"

#undef MFMA
};

enum { FORMS = sizeof forms / sizeof *forms, REGISTERS = 512, ACCUMULATORS = 256, TERMS_MAX = 32 };

static uint64_t state = 1;

static uint32_t random32(void)
{
    return (uint32_t)(splitmix64(&state) >> 32);
}

/* ---- an element of D ---- */

struct terms {
    const struct form *form;
    unsigned count;
    uint64_t a[TERMS_MAX], b[TERMS_MAX], c;
};

static bool is_fp8(const struct form *f)
{
    return f->a == FP8 || f->a == BF8;
}

/* One f32 operation, a * b or a + b, as fused multiply-adds of the same value. */
static uint64_t flushed(uint64_t bits, bool flush)
{
    return flush && is_denormal(F32, bits) ? bits & 0x80000000 : bits;
}

static uint64_t product32(enum type type, uint64_t a, uint64_t b)
{
    struct number x = number_of(type, a), y = number_of(type, b);
    return fused(type, a, b, x.sign ^ y.sign ? 0x80000000 : 0);
}

static uint64_t sum32(uint64_t a, uint64_t b)
{
    return fused(F32, a, 0x3f800000, b);
}

/* Groups of 2 or 4, by halves, each operation rounded to f32. */
static uint64_t element_tree(const struct terms *t, unsigned group, bool flush)
{
    enum type type = t->form->a;
    uint64_t sum = flush && is_denormal(F32, t->c) ? 0 : t->c;
    for (unsigned q = 0; q < t->count; q += group) {
        uint64_t level[4];
        for (unsigned i = 0; i < group; i++) {
            uint64_t a = t->a[q + i], b = t->b[q + i];
            a = flush && is_denormal(type, a) ? 0 : a;
            b = flush && is_denormal(type, b) ? 0 : b;
            level[i] = flushed(product32(type, a, b), flush);
        }
        for (unsigned n = group; n > 1; n /= 2)
            for (unsigned i = 0; i < n / 2; i++)
                level[i] = flushed(sum32(level[2 * i], level[2 * i + 1]), flush);
        sum = flushed(sum32(sum, level[0]), flush);
    }
    return sum;
}

/* Are there infinities or NaNs among products and C? Then *result is what they give. */
static bool decided_by_infinities(const struct terms *t, unsigned first, unsigned end, uint64_t c,
                                  uint64_t *result)
{
    struct number n = number_of(F32, c);
    bool nan = n.is_nan, plus = n.is_infinite && !n.sign, minus = n.is_infinite && n.sign;
    for (unsigned q = first; q < end; q++) {
        struct number a = number_of(t->form->a, t->a[q]), b = number_of(t->form->b, t->b[q]);
        bool zero = (!a.significand && !a.is_infinite) || (!b.significand && !b.is_infinite);
        bool infinite = a.is_infinite || b.is_infinite;
        nan |= a.is_nan || b.is_nan || (infinite && zero);
        if (a.is_nan || b.is_nan || zero)
            continue;
        /* 2^128 and more: the significands' product decides on the last exponent */
        int e = infinite ? 999 : leading_exponent(&a) + leading_exponent(&b);
        unsigned __int128 product = (unsigned __int128)a.significand * b.significand;
        bool carries = !infinite && product >> (e - a.exponent - b.exponent + 1) != 0;
        if (e + carries >= 128) {
            plus |= a.sign == b.sign;
            minus |= a.sign != b.sign;
        }
    }
    *result = nan || (plus && minus) ? 0x7fc00000 : plus ? 0x7f800000 : 0xff800000;
    return nan || plus || minus;
}

/* The sum of terms first, first + step ...: each cut to 24 fractional bits of the largest exponent,
 * which is returned. */
static int cut_sum(const struct terms *t, unsigned first, unsigned end, unsigned step,
                   struct fixed *sum)
{
    int most = INT32_MIN;
    *sum = fixed_make(false, 0, 0);
    for (int pass = 0; pass < 2; pass++)
        for (unsigned q = first; q < end; q += step) {
            struct number a = number_of(t->form->a, t->a[q]), b = number_of(t->form->b, t->b[q]);
            unsigned __int128 product = (unsigned __int128)a.significand * b.significand;
            int exponent = product ? leading_exponent(&a) + leading_exponent(&b) : -126;
            int low = a.exponent + b.exponent, cut = most - 24 - low;
            if (pass == 0) {
                most = exponent > most ? exponent : most;
                continue;
            }
            if (cut > 0)
                product = cut > 127 ? 0 : product >> cut << cut;
            struct fixed term = fixed_make(a.sign ^ b.sign, product, low);
            fixed_add(sum, &term);
        }
    return most;
}

static uint64_t element_dot(const struct terms *t, unsigned group)
{
    bool fp8 = is_fp8(t->form);
    uint64_t c = t->c, decided;
    for (unsigned q = 0; q < t->count; q += group) {
        struct fixed sum, odd;
        if (decided_by_infinities(t, q, q + group, c, &decided)) {
            c = decided;
            continue;
        }
        int e = cut_sum(t, q, q + group, fp8 ? 2 : 1, &sum);
        if (fp8) {
            int other = cut_sum(t, q + 1, q + group, 2, &odd);
            e = other > e ? other : e;
            fixed_floor(&sum, e - 24);
            fixed_floor(&odd, e - 24);
            fixed_add(&sum, &odd);
        }
        struct number n = number_of(F32, c);
        int own = n.significand ? leading_exponent(&n) : -126, m = own > e ? own : e;
        struct fixed addend =
            fixed_make(n.sign, fp8 && own < m - 25 ? 0 : n.significand, n.exponent);
        fixed_floor(&sum, m - 31);
        fixed_floor(&addend, m - 24);
        fixed_add(&sum, &addend);
        c = rounded(&sum, false);
    }
    return c;
}

static uint64_t element_integer(const struct terms *t)
{
    int64_t sum = (int32_t)t->c;
    for (unsigned q = 0; q < t->count; q++)
        sum += (int64_t)(int8_t)t->a[q] * (int8_t)t->b[q];
    return (uint32_t)sum;
}

static uint64_t element_of(const struct terms *t)
{
    const struct form *f = t->form;
    enum isa_matrix rules = isa_traits[f->target].matrix;
    bool wide = f->a == F64;
    uint64_t c = t->c;
    fixed_words = wide ? FIXED_WORDS : FIXED_NARROW;
    if (f->a == I8)
        return element_integer(t);
    if (f->a == F64 || f->a == F32)
        for (unsigned q = 0; q < t->count; q++)
            c = fused(f->a, t->a[q], t->b[q], c);
    else if (rules == ISA_MATRIX_CDNA3)
        c = element_dot(t, is_fp8(f) ? 16 : f->a == XF32 ? 4 : t->count < 8 ? t->count : 8);
    else
        c = element_tree(t, f->a == F16 || strstr(f->name, "_1k") ? 4 : 2,
                         rules == ISA_MATRIX_CDNA2);
    return number_of(wide ? F64 : F32, c).is_nan ? quiet(wide) : c;
}

/* ---- instructions ---- */

struct operands {
    unsigned a, b, c, d; /* registers of the file; c: a constant's code, if it is one */
    bool is_constant, accumulates;
    unsigned cbsz, abid, blgp;
    uint64_t constant;
};

struct bench {
    _Alignas(64) uint32_t before[REGISTERS * 64];
    _Alignas(64) uint32_t after[REGISTERS * 64];
    const struct form *form;
    int opcode;
    struct isa_inst inst;
    struct operands o;
};

static struct bench bench;

static uint64_t bits_at(unsigned base, struct place p, int bits)
{
    const uint32_t *at = &bench.before[(base + p.reg) * 64 + p.lane];
    if (bits == 64)
        return (uint64_t)at[64] << 32 | at[0];
    return bits == 32 ? at[0] : at[0] >> p.bit & ((1u << bits) - 1);
}

static unsigned patterned(unsigned lane)
{
    const struct form *f = bench.form;
    static const unsigned first[8] = {0, 0, 32, 16, 0, 16, 32, 48};
    static const unsigned width[8] = {64, 32, 32, 64, 16, 16, 16, 16};
    unsigned p = f->patterns && f->a != F64 ? bench.o.blgp : 0;
    return p == 3 ? (lane + 16) % 64 : first[p] + lane % width[p];
}

static uint64_t negated(uint64_t bits, unsigned which)
{
    bool flip = bench.form->a == F64 && bench.form->patterns && (bench.o.blgp >> which & 1);
    return bits ^ (flip ? UINT64_C(1) << 63 : 0);
}

static uint64_t element_b(unsigned k, unsigned j, unsigned block)
{
    struct place p = bench.form->place_b(k, j, block);
    p.lane = patterned(p.lane);
    return negated(bits_at(bench.o.b, p, layouts[bench.form->b].bits), 1);
}

static uint64_t element_c(unsigned i, unsigned j, unsigned block)
{
    uint64_t c = bench.o.constant;
    if (!bench.o.is_constant)
        c = bits_at(bench.o.c, bench.form->place_d(i, j, block), bench.form->a == F64 ? 64 : 32);
    return negated(c, 2);
}

/* Of each four k, the two that the index register names. */
static void gather_sparse(unsigned i, unsigned j, unsigned index, struct terms *t)
{
    const struct form *f = bench.form;
    int bits = layouts[f->a].bits;
    unsigned lane_groups = 32 / (unsigned)bits, set_bits = 4 * lane_groups;
    unsigned set = bench.o.cbsz ? 0 : bench.o.abid % (32 / set_bits);
    t->count = 0;
    for (unsigned k = 0; k < f->k; k += 4)
        for (unsigned e = 0; e < 2; e++) {
            struct place p = f->place_a(i, k, 0);
            unsigned at = set * set_bits + 4 * (k / 4 % lane_groups) + 2 * e;
            unsigned which = bench.before[index * 64 + p.lane] >> at & 3;
            p.bit += e * (unsigned)bits;
            t->a[t->count] = bits_at(bench.o.a, p, bits);
            t->b[t->count++] = element_b(k + which, j, 0);
        }
}

static void gather(unsigned i, unsigned j, unsigned block, struct terms *t)
{
    const struct form *f = bench.form;
    unsigned size = 1u << bench.o.cbsz;
    t->form = f;
    t->count = f->k;
    t->c = element_c(i, j, block);
    if (f->sparse) {
        t->c = bits_at(bench.o.d, f->place_d(i, j, 0), 32);
        gather_sparse(i, j, bench.o.c, t);
        return;
    }
    if (size > f->blocks)
        size = f->blocks;
    if (!f->broadcasts)
        size = 1;
    for (unsigned k = 0; k < f->k; k++) {
        struct place p = f->place_a(i, k, block / size * size + bench.o.abid % size);
        t->a[k] = negated(bits_at(bench.o.a, p, layouts[f->a].bits), 0);
        t->b[k] = element_b(k, j, block);
    }
}

static unsigned operand_code(unsigned reg)
{
    return ISA_VGPR + reg % ACCUMULATORS;
}

static void execute(void)
{
    const struct operands *o = &bench.o;
    uint32_t a_acc = o->a >= ACCUMULATORS, b_acc = o->b >= ACCUMULATORS;
    uint32_t c = o->is_constant ? o->c : operand_code(o->c);
    uint32_t word[3] = {0xd3800000u | (uint32_t)bench.opcode << 16 | (uint32_t)o->accumulates << 15
                            | o->abid << 11 | o->cbsz << 8 | o->d % ACCUMULATORS,
                        o->blgp << 29 | b_acc << 28 | a_acc << 27 | c << 18
                            | operand_code(o->b) << 9 | operand_code(o->a)};
    struct isa_inst inst;
    int size = isa_decode(bench.form->target, word, 8, &inst);
    cr_assert_eq(size, 8, "%s: %08x %08x does not decode", bench.form->name, word[0], word[1]);
    cr_assert_str_eq(isa_mnemonic(&inst), bench.form->name);
    cr_assert_eq(4 * isa_matrix_passes(&inst), bench.form->cycles, "%s", bench.form->name);
    struct isa_context ctx = {
        .vgpr = bench.after, .vgpr_count = ACCUMULATORS, .agpr_count = ACCUMULATORS};
    struct isa_wave wave = {.mode = random32() & 0xff};
    isa_wave_set_pair(&wave, ISA_EXEC, (uint64_t)random32() << 32);
    memcpy(bench.after, bench.before, sizeof bench.after);
    cr_assert_eq(isa_execute(&ctx, &wave, &inst), ISA_OK, "%s", bench.form->name);
    bench.inst = inst;
}

/* ---- operands ---- */

static unsigned registers_of(const struct form *f, char operand)
{
    unsigned m = f->m, k = f->k / (operand == 'a' && f->sparse ? 2 : 1);
    if (operand == 'd')
        return m * m * f->blocks / 64 * (f->a == F64 ? 2 : 1);
    return m * k * f->blocks * (unsigned)layouts[f->a].bits / 2048;
}

static unsigned random_register(unsigned registers, bool accumulator)
{
    /* few, so that operands overlap */
    unsigned reg = random32() % (1 + (random32() % 2 ? 16 : 220 - registers));
    return (reg & ~1u) + (accumulator ? ACCUMULATORS : 0);
}

static void choose_operands(void)
{
    const struct form *f = bench.form;
    bool unified = isa_traits[f->target].accumulators == ISA_ACCUMULATORS_UNIFIED;
    unsigned d = registers_of(f, 'd'), kind = random32() % 8;
    struct operands o = {.accumulates = !unified || (random32() & 1)};
    o.a = random_register(registers_of(f, 'a'), random32() & 1);
    o.b = random_register(registers_of(f, 'b'), random32() & 1);
    o.d = random_register(d, o.accumulates);
    o.c = kind < 4 ? o.d : random_register(d, o.accumulates);
    if (f->sparse)
        o.c = random_register(1, false);
    if (kind == 7 && !f->sparse) { /* 0.5, or 3 */
        bool real = random32() & 1;
        o.is_constant = true;
        o.c = real ? 240 : 131;
        o.constant = !real ? 3 : f->a == F64 ? UINT64_C(0x3fe0000000000000) : 0x3f000000;
    }
    if (random32() & 1) {
        o.cbsz = random32() % 8;
        o.abid = random32() % 16;
    }
    o.blgp = random32() & 1 ? random32() % 8 : 0;
    bench.o = o;
}

/* One element of a type. */
static uint64_t random_element(enum type type, unsigned kind)
{
    const struct layout *l = &layouts[type];
    uint64_t bits = (uint64_t)random32() << 32 | random32(), sign = UINT64_C(1) << (l->bits - 1);
    uint64_t fraction = (UINT64_C(1) << l->fraction) - 1, one = (uint64_t)l->bias << l->fraction;
    if (type == I8 || kind == 0)
        return bits;
    if (kind == 1) /* near one */
        return (bits & (sign | fraction))
               | (one + ((uint64_t)(random32() % 5) << l->fraction) - ((uint64_t)2 << l->fraction));
    if (kind == 2 && random32() % 4) /* many zeros */
        return bits & sign & -(uint64_t)!l->fnuz;
    if (kind == 3 && random32() % 2) /* denormals */
        return bits & (sign | fraction);
    if (kind == 4 && random32() % 8 == 0) { /* infinities, NaNs, extremes, zeros */
        const uint64_t special[] = {0,
                                    sign,
                                    1,
                                    fraction,
                                    sign - 1 - fraction,
                                    sign - 1,
                                    sign - 2 - fraction,
                                    sign | (sign - 1 - fraction),
                                    sign | 1,
                                    (sign - 1 - fraction) | 1,
                                    fraction + 1,
                                    one};
        return special[random32() % (sizeof special / sizeof *special)];
    }
    if (kind == 5) /* all the same, but for the sign: sums cancel */
        return one | (bits & sign);
    return (bits & (sign | fraction)) | (one + ((bits >> 8 & 15) << l->fraction) / 2 * 2);
}

static void fill(unsigned first, unsigned registers, enum type type, unsigned kind)
{
    unsigned bits = (unsigned)layouts[type].bits;
    for (unsigned r = 0; r < registers; r++)
        for (unsigned lane = 0; lane < 64; lane++) {
            uint32_t *at = &bench.before[(first + r) * 64 + lane], word = 0;
            for (unsigned shift = 0; shift < 32 && bits < 32; shift += bits)
                word |= (uint32_t)(random_element(type, kind) & ((1u << bits) - 1)) << shift;
            if (bits >= 32) {
                uint64_t value = random_element(type, kind);
                word = (uint32_t)(bits == 64 && (r & 1) ? value >> 32 : value);
            }
            *at = word;
        }
}

static void fill_operands(void)
{
    const struct form *f = bench.form;
    unsigned kind = random32() % 7, other = random32() % 3 ? kind : random32() % 7;
    enum type sum = f->a == F64 ? F64 : f->a == I8 ? I8 : F32;
    if (!bench.o.is_constant)
        fill(bench.o.c, f->sparse ? 1 : registers_of(f, 'd'), sum, random32() % 2 ? kind : 0);
    if (f->sparse)
        fill(bench.o.d, registers_of(f, 'd'), sum, random32() % 2 ? kind : 0);
    fill(bench.o.a, registers_of(f, 'a'), f->a, kind);
    fill(bench.o.b, registers_of(f, 'b'), f->b, other);
    if (f->sparse)
        fill(bench.o.c, 1, I8, 0);
}

/* ---- comparison ---- */

static uint64_t found_at(struct place p)
{
    const uint32_t *at = &bench.after[(bench.o.d + p.reg) * 64 + p.lane];
    return bench.form->a == F64 ? (uint64_t)at[64] << 32 | at[0] : at[0];
}

static void check_element(unsigned i, unsigned j, unsigned block)
{
    struct terms t;
    gather(i, j, block, &t);
    uint64_t expected = element_of(&t), found = found_at(bench.form->place_d(i, j, block));
    cr_assert_eq(expected, found, "%s %s: D[%u][%u] of block %u: %llx, not %llx (c %llx)",
                 isa_target_name(bench.form->target), bench.form->name, i, j, block,
                 (unsigned long long)found, (unsigned long long)expected, (unsigned long long)t.c);
}

static void check_all(void)
{
    const struct form *f = bench.form;
    unsigned registers = registers_of(f, 'd');
    for (unsigned block = 0; block < f->blocks; block++)
        for (unsigned i = 0; i < f->m; i++)
            for (unsigned j = 0; j < f->m; j++)
                check_element(i, j, block);
    memcpy(bench.after + bench.o.d * 64, bench.before + bench.o.d * 64, 256 * registers);
    cr_assert_arr_eq(bench.after, bench.before, sizeof bench.after, "%s writes outside D", f->name);
}

static void check_form(const struct form *f, unsigned vectors)
{
    bench.form = f;
    bench.opcode = -1;
    for (size_t row = 0; row < isa_row_count(); row++) {
        struct isa_row r = isa_row(row);
        if (!strcmp(r.mnemonic, f->name) && r.opcode[f->target] >= 0)
            bench.opcode = r.opcode[f->target];
    }
    cr_assert_geq(bench.opcode, 0, "%s is no instruction", f->name);
    for (unsigned vector = 0; vector < vectors; vector++) {
        choose_operands();
        fill_operands();
        execute();
        if (vector % 64 == 0)
            check_all();
        else
            for (unsigned n = 0; n < 4; n++)
                check_element(random32() % f->m, random32() % f->m, random32() % f->blocks);
    }
    covered_mark(&bench.inst);
}

static unsigned vectors_asked_for(void)
{
    const char *full = getenv("HEDDLE_FULL");
    return full && *full ? 100000 : 20;
}

static void check_target(enum isa_target target, unsigned expected)
{
    unsigned checked = 0, vectors = vectors_asked_for();
    for (unsigned i = 0; i < FORMS; i++)
        if (forms[i].target == target) {
            check_form(&forms[i], vectors);
            checked++;
        }
    cr_assert_eq(checked, expected);
}

Test(isa_matrix, all_of_gfx908)
{
    check_target(ISA_GFX908, 20);
}

Test(isa_matrix, all_of_gfx90a)
{
    check_target(ISA_GFX90A, 27);
}

Test(isa_matrix, all_of_gfx942)
{
    check_target(ISA_GFX942, 46);
}

/* Matrix products (isa_matrix.h): unpacks the registers of A and B term by term, and has each row
 * of results computed in place. Compiled once for each x86-64 level.
 *
 * Results of a row lie side by side in a register of D, and so do the values of B that a term
 * needs. A row is therefore one vector loop, a term one value of A against a row of B. Products of
 * 4 x 4 matrices have rows of four only; there a register of D, with the rows of all blocks, is one
 * loop, and A is spread to its lanes beforehand. */
#include "isa_matrix.h"

#include "base/number.h"

#include "isa_matrix_rows.h"

#define PASTE2(a, b) a##b
#define PASTE(a, b)  PASTE2(a, b)
#define VARIANT(f)   PASTE(f, ISA_VARIANT)

enum { B_MAX = 4, D_MAX = 32 };

/* The function of isa_matrix_rows.h that executes an instruction. */
enum rule {
    RULE_INTEGER,
    RULE_CHAIN,
    RULE_TREE_4,
    RULE_TREE_2,
    RULE_FLUSHED_TREE_4,
    RULE_FLUSHED_TREE_2,
    RULE_DOT_8,
    RULE_DOT_4,
    RULE_PAIR,
    RULE_ANY_DOT,
    RULE_ANY_PAIR
};

struct product {
    const struct isa_matrix_form *form;
    const struct isa_matrix_operands *operands;
    unsigned each_a, each_b; /* values of a lane */
    unsigned terms;
    unsigned broadcast; /* block's bits that abid replaces */
    unsigned group;     /* terms that CDNA3 adds at a time */
    enum rule rule;
    struct unpacked a, b;
    _Alignas(64) uint32_t c_row[128];
    uint32_t b_copy[B_MAX * 64], c_copy[D_MAX * 64], index[64];
    const uint32_t *c;
    unsigned c_step; /* from register to register */
};

/* ---- sources ---- */

static unsigned bits_of(unsigned type)
{
    switch (type) {
    case MATRIX_F64:
        return 64;
    case MATRIX_F32:
    case MATRIX_XF32:
        return 32;
    case MATRIX_F16:
    case MATRIX_BF16:
        return 16;
    default:
        return 8;
    }
}

#define UNPACK(expression)                                                                         \
    for (unsigned l = 0; l < 64; l++) {                                                            \
        uint32_t w = from[l] >> shift;                                                             \
        to[l] = (expression);                                                                      \
    }                                                                                              \
    break

/* A value of all lanes. `normal`: denormals of 16 bits become 0. */
static void unpack_value(unsigned type, bool normal, const uint32_t *from, unsigned shift,
                         float *to)
{
    switch (type) {
    case MATRIX_F32:
        UNPACK(f32_bits(w));
    case MATRIX_XF32:
        UNPACK((w & 0x7fffffff) > 0x7f800000 ? f32_bits(0x7fc00000) : f32_bits(w & 0xffffe000));
    case MATRIX_F16:
        UNPACK(normal && !(w & 0x7c00) && (w & 0x3ff) ? 0.0f : f32_f16(w & 0xffff));
    case MATRIX_BF16:
        UNPACK(normal && !(w & 0x7f80) && (w & 0x7f) ? 0.0f : f32_bits(w << 16));
    case MATRIX_FP8:
        UNPACK(f32_fp8(w & 0xff));
    case MATRIX_BF8:
        UNPACK(f32_bf8(w & 0xff));
    default:
        UNPACK((float)(int32_t)(int8_t)w);
    }
}

/* Exponents, and whether all values are 0 or neither large nor small. */
static bool unpack_exponents(const float *value, int32_t *exponent)
{
    uint32_t wrong = 0;
    for (unsigned l = 0; l < 64; l++) {
        uint32_t u = bits_f32(value[l]);
        int32_t e = (int32_t)(u >> 23 & 255) - 127;
        bool zero = !(u << 1);
        wrong |= !zero & ((uint32_t)(e + 48) > 96);
        exponent[l] = zero ? MATRIX_EXPONENT_NONE : e;
    }
    return !wrong;
}

/* Each value of a lane is that of a term, and of as many more as there are groups of lanes. True if
 * row_add() may be used. */
static bool unpack(const struct isa_matrix_form *f, unsigned type, const uint32_t *from,
                   unsigned values, struct unpacked *to)
{
    enum { LANES = 16 }; /* divisor of a group's lanes */
    unsigned bits = bits_of(type), in_register = 32 / bits, group = f->m * f->blocks;
    bool small = true;
    for (unsigned v = 0; v < values; v++) {
        _Alignas(64) float value[64];
        _Alignas(64) int32_t exponent[64];
        unpack_value(type, f->rules == ISA_MATRIX_CDNA2, from + v / in_register * 64,
                     v % in_register * bits, value);
        if (f->rules == ISA_MATRIX_CDNA3)
            small &= unpack_exponents(value, exponent);
        for (unsigned lane = 0; lane < 64; lane += LANES) {
            unsigned at = 64 * (lane / group * values + v) + lane % group;
            memcpy(to->value + at, value + lane, LANES * sizeof *value);
            memcpy(to->exponent + at, exponent + lane, LANES * sizeof *exponent);
        }
    }
    return small;
}

/* The lane of B that lane reads. */
static unsigned pattern_source(unsigned blgp, unsigned lane)
{
    switch (blgp) {
    case 0:
        return lane;
    case 1:
        return lane & 31;
    case 2:
        return lane | 32;
    case 3:
        return (lane + 16) & 63;
    default:
        return (blgp - 4) * 16 + (lane & 15);
    }
}

static void apply_pattern(unsigned blgp, unsigned registers, const uint32_t *b, uint32_t *to)
{
    for (unsigned i = 0; i < 64 * registers; i++)
        to[i] = b[i / 64 * 64 + pattern_source(blgp, i % 64)];
}

static unsigned block_of_a(const struct product *p, unsigned block)
{
    return (block & ~p->broadcast) | (p->operands->abid & p->broadcast);
}

/* ---- C and D ---- */

static bool overlap(const uint32_t *a, const uint32_t *b, unsigned registers)
{
    return a < b + 64 * registers && b < a + 64 * registers;
}

/* C stays where it is unless rows of D would be written over rows of it that are still needed. */
static void find_c(struct product *p, unsigned registers)
{
    const struct isa_matrix_operands *o = p->operands;
    p->c = o->c;
    p->c_step = 64;
    if (!o->c) {
        for (unsigned lane = 0; lane < 64; lane++)
            p->c_row[lane] = (uint32_t)o->value, p->c_row[64 + lane] = (uint32_t)(o->value >> 32);
        p->c = p->c_row;
        p->c_step = 0;
    } else if (o->c != o->d && overlap(o->c, o->d, registers)) {
        memcpy(p->c_copy, o->c, 256 * registers);
        p->c = p->c_copy;
    }
}

/* ---- rows ---- */

/* `small`: exponents are such that row_add() may be used. */
static enum rule rule_of(const struct product *p, bool small)
{
    const struct isa_matrix_form *f = p->form;
    bool fp8 = f->a == MATRIX_FP8 || f->a == MATRIX_BF8;
    if (f->a == MATRIX_I8)
        return RULE_INTEGER;
    if (f->a == MATRIX_F32)
        return RULE_CHAIN;
    if (f->rules == ISA_MATRIX_CDNA3 && !small)
        return fp8 ? RULE_ANY_PAIR : RULE_ANY_DOT;
    if (f->rules == ISA_MATRIX_CDNA3 && fp8)
        return RULE_PAIR;
    if (f->rules == ISA_MATRIX_CDNA3)
        return p->group == 8 ? RULE_DOT_8 : RULE_DOT_4;
    if (f->rules == ISA_MATRIX_CDNA2)
        return p->each_a == 4 ? RULE_FLUSHED_TREE_4 : RULE_FLUSHED_TREE_2;
    return p->each_a == 4 ? RULE_TREE_4 : RULE_TREE_2;
}

/* Makes the call for each row of `width` results. The choices of row functions and `wide` are
 * constants in each call, so the loops over terms are compiled for them. */
#define EACH_PIECE(call)                                                                           \
    for (const size_t end = row->j + width; row->j < end; row->j += MATRIX_ROW, c += MATRIX_ROW,   \
                      d += MATRIX_ROW, cf += MATRIX_ROW, df += MATRIX_ROW)                         \
    call

static ALWAYS_INLINE void multiply_row(const struct product *p, struct matrix_row *row,
                                       const uint32_t *c, uint32_t *d, unsigned width, bool wide)
{
    const float *cf = (const float *)(const void *)c;
    float *df = (float *)(void *)d;
    switch (p->rule) {
    case RULE_INTEGER:
        EACH_PIECE(row_integer(row, c, d, wide));
        break;
    case RULE_CHAIN:
        EACH_PIECE(row_chain(row, cf, df, wide));
        break;
    case RULE_TREE_4:
        EACH_PIECE(row_tree(row, cf, df, 4, false, wide));
        break;
    case RULE_TREE_2:
        EACH_PIECE(row_tree(row, cf, df, 2, false, wide));
        break;
    case RULE_FLUSHED_TREE_4:
        EACH_PIECE(row_tree(row, cf, df, 4, true, wide));
        break;
    case RULE_FLUSHED_TREE_2:
        EACH_PIECE(row_tree(row, cf, df, 2, true, wide));
        break;
    case RULE_DOT_8:
        EACH_PIECE(row_dot(row, cf, df, 8, wide));
        break;
    case RULE_DOT_4:
        EACH_PIECE(row_dot(row, cf, df, 4, wide));
        break;
    case RULE_PAIR:
        EACH_PIECE(row_pair(row, cf, df, wide));
        break;
    case RULE_ANY_DOT:
        EACH_PIECE(row_any(row, cf, df, p->group, false, wide));
        break;
    case RULE_ANY_PAIR:
        EACH_PIECE(row_any(row, cf, df, 16, true, wide));
        break;
    }
}

/* The values of B for row i of a sparse A: as many as the largest form has. */
static void find_indexed(const struct product *p, unsigned i, struct unpacked *b)
{
    const struct isa_matrix_operands *o = p->operands;
    unsigned m = p->form->m, set_bits = 2 * p->each_a;
    unsigned shift = o->cbsz ? 0 : o->abid % (32 / set_bits) * set_bits;
    for (unsigned q = 0; q < p->terms; q++) {
        unsigned group = q / p->each_a, value = q % p->each_a;
        unsigned index = p->index[i + m * group] >> shift >> 2 * value & 3;
        unsigned from = 64 * (group * p->each_b + value / 2 * 4 + index);
        for (unsigned j = 0; j < 32; j += MATRIX_ROW) { /* whole vectors, as they are read */
            row_f32 values = row_read(p->b.value + from + j);
            row_i32 exponents = row_read_i32(p->b.exponent + from + j);
            memcpy(b->value + 64 * q + j, &values, sizeof values);
            memcpy(b->exponent + 64 * q + j, &exponents, sizeof exponents);
        }
    }
}

static void multiply_rows(const struct product *p)
{
    const struct isa_matrix_form *f = p->form;
    unsigned lane_groups = 64 / f->m;
    struct unpacked indexed;
    struct matrix_row row = {.a = &p->a, .b = f->sparse ? &indexed : &p->b, .terms = p->terms};
    for (unsigned block = 0; block < f->blocks; block++) {
        for (unsigned i = 0; i < f->m; i++) {
            unsigned t = block * (f->m / 4) + i / 4, lane = f->m * (t % lane_groups);
            unsigned reg = 4 * (t / lane_groups) + i % 4;
            const uint32_t *c = p->c + reg * p->c_step + lane;
            uint32_t *d = p->operands->d + 64 * reg + lane;
            row.i = f->m * block_of_a(p, block) + i;
            row.j = f->m * block;
            if (f->sparse)
                find_indexed(p, i, &indexed);
            multiply_row(p, &row, c, d, f->m, false);
        }
    }
}

/* 4 x 4: all K of a block's row are in one lane. */
static void multiply_registers(const struct product *p)
{
    struct unpacked a;
    struct matrix_row row = {.a = &a, .b = &p->b, .terms = p->terms};
    for (unsigned i = 0; i < 4; i++) {
        for (unsigned q = 0; q < p->terms; q++) {
            for (unsigned block = 0; block < 16; block++) {
                unsigned from = 64 * q + 4 * block_of_a(p, block) + i, at = 64 * q + 4 * block;
                for (unsigned j = at; j < at + 4; j++) {
                    a.value[j] = p->a.value[from];
                    a.exponent[j] = p->a.exponent[from];
                }
            }
        }
        row.j = 0;
        multiply_row(p, &row, p->c + i * p->c_step, p->operands->d + 64 * i, 64, true);
    }
}

/* ---- f64: one value of K a lane ---- */

static void read_doubles(const uint32_t *from, bool negative, double *to)
{
    for (unsigned lane = 0; lane < 64; lane++)
        to[lane] =
            f64_bits((uint64_t)(from[64 + lane] ^ (negative ? 0x80000000 : 0)) << 32 | from[lane]);
}

static ALWAYS_INLINE void double_row(const struct product *p, const double *a, const double *b,
                                     unsigned i, unsigned block, unsigned n)
{
    const struct isa_matrix_form *f = p->form;
    unsigned t = i * f->blocks + block, lane_groups = 64 / n;
    unsigned reg = 2 * (t / lane_groups), lane = n * (t % lane_groups);
    const uint32_t *c = p->c + reg * p->c_step + lane;
    const uint32_t *c_high = c + (p->c_step ? p->c_step : 64);
    uint32_t *d = p->operands->d + 64 * reg + lane, flip = (p->operands->negative & 4u) << 29;
    double sum[16];
    for (unsigned j = 0; j < n; j++)
        sum[j] = f64_bits((uint64_t)(c_high[j] ^ flip) << 32 | c[j]);
    for (unsigned k = 0; k < f->k; k++) {
        unsigned first = n * (block + f->blocks * k);
        double left = a[first + i];
        for (unsigned j = 0; j < n; j++)
            sum[j] = fma_f64(left, b[first + j], sum[j]);
    }
    for (unsigned j = 0; j < n; j++) {
        uint64_t u = sum[j] != sum[j] ? UINT64_C(0x7ff8000000000000) : bits_f64(sum[j]);
        d[j] = (uint32_t)u, d[64 + j] = (uint32_t)(u >> 32);
    }
}

static void multiply_doubles(const struct product *p)
{
    _Alignas(64) double a[64], b[64];
    read_doubles(p->operands->a, p->operands->negative & 1, a);
    read_doubles(p->operands->b, p->operands->negative & 2, b);
    for (unsigned block = 0; block < p->form->blocks; block++)
        for (unsigned i = 0; i < p->form->m; i++)
            if (p->form->m == 16)
                double_row(p, a, b, i, block, 16);
            else
                double_row(p, a, b, i, block, 4);
}

/* ---- public ---- */

void VARIANT(isa_matrix_multiply_)(const struct isa_matrix_form *form,
                                   const struct isa_matrix_operands *o)
{
    struct product p;
    unsigned mask = (1u << (o->cbsz & 7)) - 1, most = form->a == MATRIX_XF32 ? 4 : 8;
    p.form = form;
    p.operands = o;
    p.each_b = form->m * form->k * form->blocks / 64u;
    p.each_a = form->sparse ? p.each_b / 2 : p.each_b;
    p.terms = form->sparse ? form->k / 2u : form->k;
    p.group = min(p.terms, most);
    p.broadcast = form->sparse ? 0 : mask & (form->blocks - 1u);
    if (form->sparse)
        memcpy(p.index, o->index, sizeof p.index);
    find_c(&p, form->m * form->m * form->blocks / 64u * (form->a == MATRIX_F64 ? 2 : 1));
    if (form->a == MATRIX_F64) {
        multiply_doubles(&p);
        return;
    }
    if (o->blgp)
        apply_pattern(o->blgp & 7, p.each_b * bits_of(form->b) / 32, o->b, p.b_copy);
    bool small = unpack(form, form->a, o->a, p.each_a, &p.a);
    small &= unpack(form, form->b, o->blgp ? p.b_copy : o->b, p.each_b, &p.b);
    p.rule = rule_of(&p, small);
    if (form->m == 4)
        multiply_registers(&p);
    else
        multiply_rows(&p);
}

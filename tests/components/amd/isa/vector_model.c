/* See vector_model.h. The rows are those of vector_rows.tab, and all compares. */
#include "vector_model.h"

/* ---- bytes and fields ---- */

static wide bytes_of(unsigned (*byte)(uint64_t, uint64_t, uint64_t, unsigned), uint64_t a,
                     uint64_t b, uint64_t c)
{
    return byte(a, b, c, 0) + byte(a, b, c, 1) * power(8) + byte(a, b, c, 2) * power(16)
           + byte(a, b, c, 3) * power(24);
}

static unsigned lerp_byte(uint64_t a, uint64_t b, uint64_t c, unsigned i)
{
    return (unsigned)quotient(part(a, 8 * i, 8) + part(b, 8 * i, 8) + bit_of(c, 8 * i), 1);
}

/* 0 to 7 choose a byte of a and b (b below), 8 to 11 a sign of their halves, 12 is 0, else 255. */
static unsigned perm_byte(uint64_t a, uint64_t b, uint64_t c, unsigned i)
{
    unsigned select = (unsigned)part(c, 8 * i, 8);
    if (select < 8)
        return (unsigned)part(select < 4 ? b : a, 8 * (select % 4), 8);
    if (select < 12)
        return bit_of(select < 10 ? b : a, select % 2 ? 31 : 15) ? 255 : 0;
    return select == 12 ? 0 : 255;
}

/* Sum of absolute differences of fields; `masked`: not of those where b's is 0. */
static wide distance(uint64_t a, uint64_t b, unsigned width, bool masked)
{
    wide out = 0;
    for (unsigned at = 0; at < 32; at += width) {
        wide x = part(a, at, width), y = part(b, at, width);
        out += masked && !y ? 0 : x < y ? y - x : x - y;
    }
    return out;
}

static wide four_distances(uint64_t a, uint64_t b, uint64_t c, bool masked)
{
    wide out = 0;
    for (unsigned i = 0; i < 4; i++) {
        uint64_t window = (uint64_t)part(a, 8 * i, 32);
        out += part((uint64_t)(distance(window, b, 8, masked) + part(c, 16 * i, 16)), 0, 16)
               * power(16 * i);
    }
    return out;
}

static wide signed_dot(uint64_t a, uint64_t b, unsigned width)
{
    wide out = 0;
    for (unsigned at = 0; at < 32; at += width)
        out += signed_part(a, at, width) * signed_part(b, at, width);
    return out;
}

static wide unsigned_dot(uint64_t a, uint64_t b, unsigned width)
{
    wide out = 0;
    for (unsigned at = 0; at < 32; at += width)
        out += part(a, at, width) * part(b, at, width);
    return out;
}

/* ---- rows ---- */

#define UNUSED                 __attribute__((unused))
#define NAMED(name, encodings) value_##name##_##encodings
#define ROW(name, encodings, signature, flags, expression)                                         \
    static wide NAMED(name, encodings)(const struct vector_operands *v)                            \
    {                                                                                              \
        UNUSED uint64_t a = v->a, b = v->b, c = v->c;                                              \
        UNUSED wide A = v->A, B = v->B, C = v->C;                                                  \
        UNUSED unsigned lane = v->lane, bit = v->bit;                                              \
        return expression;                                                                         \
    }
#include "vector_rows.tab"
#undef ROW

enum { ANY, GFX8, GFX9 };

static const struct {
    int encodings;
    struct vector_row row;
} rows[] = {
#define ROW(name, encodings, signature, flags, expression)                                         \
    {encodings, {#name, signature, flags, NAMED(name, encodings), "", ""}},
#include "vector_rows.tab"
#undef ROW
};

static bool compare_row_find(const char *mnemonic, struct vector_row *out)
{
    static const char *const types[][2] = {{"i16", "m=HH"}, {"u16", "m=hh"}, {"i32", "m=WW"},
                                           {"u32", "m=ww"}, {"i64", "m=QQ"}, {"u64", "m=qq"},
                                           {"f16", "m=nn"}, {"f32", "m=mm"}, {"f64", "m=oo"}};
    char prefix[8] = "", extra[2];
    *out = (struct vector_row){.name = mnemonic, .flags = COMPARES};
    if (sscanf(mnemonic, "v_%4[cmpx]_%7[a-z]_%3[iuf0-9]%1s", prefix, out->condition, out->type,
               extra)
            != 3
        || (strcmp(prefix, "cmp") != 0 && strcmp(prefix, "cmpx") != 0))
        return false;
    if (prefix[3])
        out->flags |= SETS_EXEC;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!strcmp(out->type, types[i][0]))
            out->signature = types[i][1];
    if (!strcmp(out->condition, "class") && out->signature)
        out->signature = out->type[1] == '1' ? "m=nw" : out->type[1] == '3' ? "m=mw" : "m=ow";
    return out->signature != NULL;
}

bool vector_row_find(const char *mnemonic, enum isa_target target, struct vector_row *out)
{
    int other = isa_is_gfx9(target) ? GFX8 : GFX9;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(rows[i].row.name, mnemonic) != 0 || rows[i].encodings == other)
            continue;
        *out = rows[i].row;
        return true;
    }
    return compare_row_find(mnemonic, out);
}

unsigned vector_sources(const struct vector_row *row)
{
    return (unsigned)strlen(row->signature) - 2;
}

bool vector_takes_signs(char type)
{
    return type == 'm' || type == 'n' || type == 'o';
}

/* ---- conditions ---- */

struct float_class {
    bool nan, quiet, infinite, zero, denormal, negative;
    wide rank; /* orders what is no NaN; both zeros are one */
};

static struct float_class classify(uint64_t bits, unsigned width, bool flushes)
{
    unsigned mantissa = width == 16 ? 10 : width == 32 ? 23 : 52;
    wide fraction = part(bits, 0, mantissa), exponent = part(bits, mantissa, width - 1 - mantissa);
    wide top = power(width - 1 - mantissa) - 1;
    struct float_class out = {.negative = bit_of(bits, width - 1)};
    out.nan = exponent == top && fraction;
    out.quiet = bit_of(bits, mantissa - 1);
    out.infinite = exponent == top && !fraction;
    out.denormal = exponent == 0 && fraction;
    if (out.denormal && flushes)
        fraction = 0;
    out.zero = exponent == 0 && !fraction;
    out.rank = exponent * power(mantissa) + fraction;
    out.rank = out.negative ? -out.rank : out.rank;
    return out;
}

/* Bits of the mask, from the manual: signalling NaN, quiet NaN, then from minus to plus infinity.
 */
static bool is_class(uint64_t bits, unsigned width, uint64_t mask)
{
    struct float_class x = classify(bits, width, false);
    unsigned magnitude = x.infinite ? 3 : x.zero ? 0 : x.denormal ? 1 : 2;
    unsigned class = x.nan ? x.quiet : x.negative ? 5 - magnitude : 6 + magnitude;
    return bit_of(mask, class);
}

/* One of the names of integer or float conditions, for how a and b are ordered. */
static bool holds(const char *condition, bool less, bool equal, bool greater)
{
    bool unordered = !less && !equal && !greater;
    bool negated = condition[0] == 'n' && condition[1] && strcmp(condition, "ne") != 0;
    if (!strcmp(condition, "f"))
        return false;
    if (condition[0] == 't')
        return true;
    if (!strcmp(condition, "o") || !strcmp(condition, "u"))
        return unordered == (condition[0] == 'u');
    const char *base = negated ? condition + 1 : condition;
    bool result = !strcmp(base, "lt")   ? less
                  : !strcmp(base, "eq") ? equal
                  : !strcmp(base, "le") ? less || equal
                  : !strcmp(base, "gt") ? greater
                  : !strcmp(base, "ge") ? greater || equal
                  : !strcmp(base, "lg") ? less || greater
                                        : !equal;
    return result != negated;
}

static bool condition_holds(const struct vector_row *row, const struct vector_operands *v,
                            uint32_t mode)
{
    unsigned width = exact_width(row->signature[2]);
    if (!strcmp(row->condition, "class"))
        return is_class(v->a, width, v->b);
    if (row->type[0] != 'f')
        return holds(row->condition, v->A<v->B, v->A == v->B, v->A> v->B);
    bool flushes = !(mode >> (width == 32 ? 4 : 6) & 1);
    struct float_class a = classify(v->a, width, flushes), b = classify(v->b, width, flushes);
    bool ordered_pair = !a.nan && !b.nan;
    return holds(row->condition, ordered_pair && a.rank < b.rank, ordered_pair && a.rank == b.rank,
                 ordered_pair && a.rank > b.rank);
}

/* ---- operands ---- */

/* The lane of its wavefront that a DPP control names, or -1 (Vega ISA manual, "DPP"). */
static int partner(unsigned control, int lane)
{
    int column = lane % 16, row = lane / 16, by = (int)(control % 16), to;
    if (control < 256)
        return lane - lane % 4 + (int)(control / (1u << 2 * (lane % 4)) % 4);
    switch (control / 16) {
    case 0x10: /* row_shl */
        to = column + by;
        return to > 15 ? -1 : row * 16 + to;
    case 0x11: /* row_shr */
        to = column - by;
        return to < 0 ? -1 : row * 16 + to;
    case 0x12: /* row_ror */
        return row * 16 + (column + 16 - by) % 16;
    default:
        break;
    }
    switch (control) {
    case 0x130: /* wave_shl */
        return lane == 63 ? -1 : lane + 1;
    case 0x134: /* wave_rol */
        return (lane + 1) % 64;
    case 0x138: /* wave_shr */
        return lane - 1;
    case 0x13c: /* wave_ror */
        return (lane + 63) % 64;
    case 0x140: /* row_mirror */
        return row * 16 + 15 - column;
    case 0x141: /* row_half_mirror */
        return lane / 8 * 8 + 7 - lane % 8;
    case 0x142: /* row_bcast:15 */
        return row * 16 - 1;
    default: /* row_bcast:31 */
        return lane < 32 ? -1 : 31;
    }
}

static uint64_t selected(uint64_t value, unsigned select, bool sext)
{
    unsigned from = select < 4 ? 8 * select : select == 5 ? 16 : 0;
    unsigned width = select < 4 ? 8 : select < 6 ? 16 : 32;
    wide out = sext ? signed_part(value, from, width) : part(value, from, width);
    return (uint64_t)part((uint64_t)out, 0, 32);
}

/* Source i of a lane, before its type looks at it. `valid`: false where DPP finds no lane. */
static uint64_t raw_operand(const struct rows_machine *m, const struct vector_form *f, unsigned i,
                            unsigned lane, bool *valid)
{
    char type = f->row->signature[2 + i];
    unsigned code = f->src[i];
    if (code < 256)
        return exact_scalar(m, code, type, f->literal);
    int from = (int)lane;
    if (f->form == COVERED_DPP && i == 0) {
        from = partner(f->control, from);
        if (from < 0 || !bit_of(isa_wave_exec(&m->wave), (unsigned)from)) {
            *valid = false;
            return 0;
        }
    }
    const uint32_t *at = m->vgpr + (code - 256) * 64 + from;
    return exact_is_wide(type) ? at[0] + (uint64_t)(at[64] * power(32)) : at[0];
}

static uint64_t operand(const struct rows_machine *m, const struct vector_form *f, unsigned i,
                        unsigned lane, bool high, bool *valid)
{
    char type = f->row->signature[2 + i];
    unsigned width = exact_width(type);
    uint64_t value = raw_operand(m, f, i, lane, valid);
    if (f->form == COVERED_SDWA && i < 2)
        value = selected(value, f->select[i], bit_of(f->sext, i));
    if (high && width == 16)
        value = (uint64_t)part(value, 16, 16);
    value = width == 64 ? value : (uint64_t)part(value, 0, width);
    if (vector_takes_signs(type)) {
        uint64_t sign = (uint64_t)power(width - 1);
        value = bit_of(f->abs, i) ? value & ~sign : value;
        value = bit_of(f->neg, i) ? value ^ sign : value;
    }
    return value;
}

static void gather(const struct rows_machine *m, const struct vector_form *f, unsigned lane,
                   unsigned halves, struct vector_operands *v, bool *valid)
{
    const char *signature = f->row->signature;
    unsigned count = vector_sources(f->row);
    uint64_t x[3] = {0};
    wide X[3] = {0};
    for (unsigned i = 0; i < count; i++) {
        x[i] = operand(m, f, i, lane, bit_of(halves, i), valid);
        X[i] = exact_typed(x[i], signature[2 + i]);
    }
    *v = (struct vector_operands){x[0], x[1], x[2], X[0], X[1], X[2], lane, false};
    if (f->row->flags & (CARRIES | SELECTS))
        v->bit = bit_of(isa_wave_pair(&m->wave, f->mask_from), lane);
}

/* ---- results ---- */

static uint64_t value_of(const struct vector_form *f, const struct vector_operands *v, bool *beyond)
{
    char type = f->row->signature[0];
    wide value = f->row->value(v);
    *beyond = exact_limit(value, type) != value;
    if (f->clamp && (f->row->flags & SATURATES))
        value = exact_limit(value, type);
    return exact_width(type) == 64 ? (uint64_t)value
                                   : (uint64_t)part((uint64_t)value, 0, exact_width(type));
}

/* The 32 bits that SDWA, or op_sel, makes of a result and what was there. */
static uint32_t placed(const struct vector_form *f, uint64_t value, uint32_t old)
{
    /* gfx9's own 16-bit instructions leave the other half alone */
    if ((f->row->flags & HALVES) && exact_width(f->row->signature[0]) == 16)
        return f->opsel & 8 ? (uint32_t)(part(old, 0, 16) + part(value, 0, 16) * power(16))
                            : (uint32_t)(part(value, 0, 16) + part(old, 16, 16) * power(16));
    if (f->form != COVERED_SDWA || f->dst_select == 6)
        return (uint32_t)value;
    unsigned from = f->dst_select < 4 ? 8 * f->dst_select : 16 * (f->dst_select - 4);
    unsigned width = f->dst_select < 4 ? 8 : 16;
    uint32_t out = 0;
    for (unsigned i = 0; i < 32; i++) {
        bool inside = i >= from && i < from + width;
        unsigned outside = f->unused == 0   ? 0
                           : f->unused == 2 ? bit_of(old, i)
                           : i < from       ? 0
                                            : bit_of(value, width - 1);
        out |= (inside ? bit_of(value, i - from) : outside) << i;
    }
    return out;
}

static bool lane_is_written(const struct vector_form *f, const struct rows_machine *m,
                            unsigned lane, bool valid)
{
    if (!bit_of(isa_wave_exec(&m->wave), lane))
        return false;
    if (f->form != COVERED_DPP)
        return true;
    return bit_of(f->row_mask, lane / 16) && bit_of(f->bank_mask, lane % 16 / 4)
           && (valid || f->bound);
}

static void expect_lane(const struct vector_form *f, const struct rows_machine *before,
                        struct rows_machine *m, unsigned lane, uint64_t *mask)
{
    struct vector_operands v;
    bool valid = true, beyond = false, wide_result = exact_is_wide(f->row->signature[0]);
    gather(before, f, lane, f->opsel, &v, &valid);
    if (!lane_is_written(f, before, lane, valid))
        return;
    if (f->row->flags & COMPARES) {
        *mask |= (uint64_t)condition_holds(f->row, &v, before->wave.mode) << lane;
        return;
    }
    uint64_t value = value_of(f, &v, &beyond);
    *mask |= (uint64_t)beyond << lane;
    uint32_t *to = m->vgpr + f->dst * 64 + lane;
    if (f->row->flags & PACKED) {
        gather(before, f, lane, f->opsel_hi, &v, &valid);
        value += value_of(f, &v, &beyond) << 16;
    }
    to[0] = placed(f, value, before->vgpr[f->dst * 64 + lane]);
    if (wide_result)
        to[64] = (uint32_t)(value >> 32);
}

void vector_expect(const struct vector_form *f, struct rows_machine *m)
{
    static struct rows_machine before;
    uint64_t mask = 0;
    rows_machine_copy(&before, m);
    for (unsigned lane = 0; lane < 64; lane++)
        expect_lane(f, &before, m, lane, &mask);
    if (f->row->flags & (BORROWS | COMPARES))
        isa_wave_set_pair(&m->wave, f->mask_to, mask);
    if (f->row->flags & SETS_EXEC)
        isa_wave_set_pair(&m->wave, ISA_EXEC, mask);
}

/* ---- encoding ---- */

static unsigned encode_vop3(const struct vector_form *f, uint32_t word[3])
{
    unsigned base = f->format == ISA_VOP2 ? 0x100 : f->format == ISA_VOP1 ? 0x140 : 0;
    unsigned third = f->row->flags & (CARRIES | SELECTS) ? f->mask_from : f->src[2];
    unsigned dst = f->row->flags & COMPARES ? f->mask_to : f->dst;
    word[1] = f->src[0] | f->src[1] << 9 | third << 18 | f->neg << 29;
    if (f->format == ISA_VOP3P) {
        word[0] = 0xd3800000u | f->opcode << 16 | dst | f->opsel << 11 | (f->opsel_hi >> 2) << 14
                  | f->clamp << 15;
        word[1] |= (f->opsel_hi & 3) << 27;
        return 2;
    }
    word[0] = 0xd0000000u | (base + f->opcode) << 16 | f->clamp << 15 | dst;
    word[0] |= f->row->flags & BORROWS ? f->mask_to << 8 : f->abs << 8 | f->opsel << 11;
    return 2;
}

static uint32_t sdwa_word(const struct vector_form *f)
{
    bool scalar[2] = {f->src[0]<256, vector_sources(f->row)> 1 && f->src[1] < 256};
    uint32_t word = (f->src[0] & 255) | f->select[0] << 16 | (f->sext & 1) << 19
                    | (f->neg & 1) << 20 | (f->abs & 1) << 21 | (uint32_t)scalar[0] << 23
                    | f->select[1] << 24 | (f->sext >> 1 & 1) << 27 | (f->neg >> 1 & 1) << 28
                    | (f->abs >> 1 & 1) << 29 | (uint32_t)scalar[1] << 31;
    if (!(f->row->flags & COMPARES))
        return word | f->dst_select << 8 | f->unused << 11 | f->clamp << 13;
    if (isa_is_gfx9(f->target) && f->mask_to != ISA_VCC)
        word |= f->mask_to << 8 | 1u << 15;
    return word;
}

unsigned vector_encode(const struct vector_form *f, uint32_t word[3])
{
    if (f->form == COVERED_VOP3 || f->format == ISA_VOP3 || f->format == ISA_VOP3P)
        return encode_vop3(f, word);
    unsigned src0 = f->form == COVERED_SDWA ? 249 : f->form == COVERED_DPP ? 250 : f->src[0];
    if (f->format == ISA_VOP1)
        word[0] = 0x7e000000u | f->dst << 17 | f->opcode << 9 | src0;
    else if (f->format == ISA_VOPC)
        word[0] = 0x7c000000u | f->opcode << 17 | (f->src[1] & 255) << 9 | src0;
    else
        word[0] = f->opcode << 25 | f->dst << 17 | (f->src[1] & 255) << 9 | src0;
    if (f->form == COVERED_SDWA)
        word[1] = sdwa_word(f);
    else if (f->form == COVERED_DPP)
        word[1] = (f->src[0] & 255) | f->control << 8 | f->bound << 19 | (f->neg & 1) << 20
                  | (f->abs & 1) << 21 | (f->neg >> 1 & 1) << 22 | (f->abs >> 1 & 1) << 23
                  | f->bank_mask << 24 | f->row_mask << 28;
    else
        word[1] = f->literal;
    return 1 + (f->form != COVERED_PLAIN || src0 == 255);
}

/* Integers, comparisons and selections, every operation with all its types, in the manual's words
 * (9.7.1, 9.7.2, 9.7.6 to 9.7.9). */
#include "rows_typed.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const struct row_type row_types[] = {
    {"u16", "b16", 16, false, 0, 0},  {"s16", "b16", 16, true, 0, 0},
    {"u32", "b32", 32, false, 0, 0},  {"s32", "b32", 32, true, 0, 0},
    {"u64", "b64", 64, false, 0, 0},  {"s64", "b64", 64, true, 0, 0},
    {"u8", "b32", 8, false, 0, 0},    {"s8", "b32", 8, true, 0, 0},
    {"b16", "b16", 16, false, 0, 0},  {"b32", "b32", 32, false, 0, 0},
    {"b64", "b64", 64, false, 0, 0},  {"f16", "b16", 16, true, 10, 5},
    {"bf16", "b16", 16, true, 7, 8},  {"f32", "f32", 32, true, 23, 8},
    {"f64", "f64", 64, true, 52, 11}, {"f16x2", "b32", 16, true, 10, 5},
    {"bf16x2", "b32", 16, true, 7, 8}};

static wide clamped(const struct row_type *type, wide x)
{
    wide most = ((wide)1 << (type->bits - type->is_signed)) - 1,
         least = type->is_signed ? -most - 1 : 0;
    return x < least ? least : x > most ? most : x;
}

/* ---- arithmetic: x the operation, y the type ---- */

enum operation {
    ADD,
    SUB,
    MUL_LO,
    MUL_HI,
    MUL_WIDE,
    MAD_LO,
    MAD_HI,
    MAD_WIDE,
    SAD,
    DIV,
    REM,
    MIN,
    MAX,
    ABS,
    NEG,
    ADD_SAT,
    SUB_SAT,
    MAD_HI_SAT,
    MIN_RELU,
    MAX_RELU,
    OPERATIONS
};
static const struct {
    const char *name;
    int sources;
} operations[] = {{"add", 2},      {"sub", 2},        {"mul.lo", 2},   {"mul.hi", 2},
                  {"mul.wide", 2}, {"mad.lo", 3},     {"mad.hi", 3},   {"mad.wide", 3},
                  {"sad", 3},      {"div", 2},        {"rem", 2},      {"min", 2},
                  {"max", 2},      {"abs", 1},        {"neg", 1},      {"add.sat", 2},
                  {"sub.sat", 2},  {"mad.hi.sat", 3}, {"min.relu", 2}, {"max.relu", 2}};

static uint64_t high_part(const struct row_type *type, uint64_t a, uint64_t b)
{
    if (type->is_signed)
        return (uint64_t)(value_of(type, a) * value_of(type, b) >> type->bits);
    return (uint64_t)((unsigned __int128)(a & mask_of(type->bits)) * (b & mask_of(type->bits))
                      >> type->bits);
}

/* Of division by zero the manual says that any value may come. */
static uint64_t arithmetic(enum operation op, const struct row_type *type, uint64_t x, uint64_t y,
                           uint64_t z)
{
    wide a = value_of(type, x), b = value_of(type, y), c = value_of(type, z);
    switch (op) {
    case ADD:
        return (uint64_t)(a + b);
    case SUB:
        return (uint64_t)(a - b);
    case MUL_LO:
    case MAD_LO:
        return x * y + (op == MAD_LO ? z : 0);
    case MUL_WIDE:
    case MAD_WIDE:
        return (uint64_t)(a * b) + (op == MAD_WIDE ? z : 0);
    case MUL_HI:
    case MAD_HI:
        return high_part(type, x, y) + (op == MAD_HI ? z : 0);
    case MAD_HI_SAT:
        return (uint64_t)clamped(type, (wide)(int64_t)high_part(type, x, y) + c);
    case SAD:
        return z + (uint64_t)(a < b ? b - a : a - b);
    case DIV:
        return b ? (uint64_t)(a / b) : ~(uint64_t)0;
    case REM:
        return b ? (uint64_t)(a % b) : x;
    case MIN_RELU:
        return (uint64_t)(a < b ? a < 0 ? 0 : a : b < 0 ? 0 : b);
    case MAX_RELU:
        return (uint64_t)(a > b ? a < 0 ? 0 : a : b < 0 ? 0 : b);
    case MIN:
        return (uint64_t)(a < b ? a : b);
    case MAX:
        return (uint64_t)(a > b ? a : b);
    case ABS:
        return (uint64_t)(a < 0 ? -a : a);
    case NEG:
        return (uint64_t)-a;
    default:
        return (uint64_t)clamped(type, op == ADD_SAT ? a + b : a - b);
    }
}

/* z: packed in pairs. */
static void computed(struct group *g, const struct group_row *row)
{
    const struct row_type *type = &row_types[row->y];
    enum operation op = (enum operation)row->x;
    for (unsigned t = 0; t < GROUP; t++) {
        g->d[t] = arithmetic(op, type, g->a[t], g->b[t], g->c[t]);
        if (row->z)
            g->d[t] = (g->d[t] & 0xffff)
                      | (arithmetic(op, type, g->a[t] >> 16, g->b[t] >> 16, 0) & 0xffff) << 16;
    }
}

static void add_arithmetic(enum operation op, unsigned y, bool pairs)
{
    static const char *const sources[] = {"", "", ", %b", ", %b, %c"};
    const struct row_type *type = &row_types[y];
    const char *reg = pairs ? "b32" : type->reg, *d = reg;
    char all[40];
    if (op == MUL_WIDE || op == MAD_WIDE)
        d = type->bits == 16 ? "b32" : "b64";
    snprintf(all, sizeof all, "%s %s %s %s", d, reg, operations[op].sources > 1 ? reg : "-",
             op == MAD_WIDE               ? d
             : operations[op].sources > 2 ? reg
                                          : "-");
    struct group_row *row =
        group_add(IN_GLOBAL, all, "%s.%s%s %%d, %%a%s;", operations[op].name, type->name,
                  pairs ? "x2" : "", sources[operations[op].sources]);
    row->expected = computed, row->x = op, row->y = (int)y, row->z = pairs;
}

static void add_integers(void)
{
    for (unsigned y = 0; y < INTEGERS; y++)
        for (enum operation op = ADD; op <= NEG; op++)
            if ((row_types[y].bits < 64 || (op != MUL_WIDE && op != MAD_WIDE))
                && (row_types[y].is_signed || op < ABS))
                add_arithmetic(op, y, false);
    for (enum operation op = ADD_SAT; op < OPERATIONS; op++)
        add_arithmetic(op, 3, false);
    for (unsigned y = 0; y < 2; y++) {
        add_arithmetic(ADD, y, true);
        add_arithmetic(SUB, y, true);
        add_arithmetic(MIN, y, true);
        add_arithmetic(MAX, y, true);
    }
    add_arithmetic(MIN_RELU, 1, true);
    add_arithmetic(MAX_RELU, 1, true);
}

/* ---- carries: x the chain, y the width ---- */

static void carried(struct group *g, const struct group_row *row)
{
    for (unsigned t = 0; t < GROUP; t++) {
        const struct row_type *type = &row_types[row->y];
        uint64_t mask = mask_of(type->bits), a = g->a[t] & mask, b = g->b[t] & mask,
                 c = g->c[t] & mask, first, second, carry, again;
        typedef unsigned __int128 sum;
        sum s;
        if (row->x == 1) { /* sub.cc, subc.cc: the carry is a borrow */
            first = a - b, carry = a < b;
            second = b - c - carry, again = (sum)c + carry > b;
            g->d[t] = 3 * (3 * (first & mask) + (second & mask)) + (mask & (0 - again));
            continue;
        }
        s = row->x == 0   ? (sum)a + b
            : row->x == 2 ? (sum)((a * b) & mask) + c
                          : (sum)(high_part(type, a, b) & mask) + c;
        first = (uint64_t)s & mask, carry = (uint64_t)(s >> type->bits);
        s = row->x == 0   ? (sum)b + c + carry
            : row->x == 2 ? (sum)(high_part(type, b, c) & mask) + a + carry
                          : (sum)((b * c) & mask) + a + carry;
        second = (uint64_t)s & mask, again = (uint64_t)(s >> type->bits);
        g->d[t] = 3 * (3 * first + second) + again;
    }
}

static void add_carries(void)
{
    static const char *const chains[] = {
        "add.cc.%s x, %%a, %%b; addc.cc.%s y, %%b, %%c; addc.%s z, 0, 0;",
        "sub.cc.%s x, %%a, %%b; subc.cc.%s y, %%b, %%c; subc.%s z, 0, 0;",
        "mad.lo.cc.%s x, %%a, %%b, %%c; madc.hi.cc.%s y, %%b, %%c, %%a; addc.%s z, 0, 0;",
        "mad.hi.cc.%s x, %%a, %%b, %%c; madc.lo.cc.%s y, %%b, %%c, %%a; madc.lo.%s z, 0, 0, 0;"};
    static const unsigned allowed[] = {2, 3, 4, 5, 9, 10};
    for (int chain = 0; chain < 4; chain++)
        for (unsigned i = 0; i < (chain < 2 ? 6u : 4u); i++) {
            const struct row_type *type = &row_types[allowed[i]];
            char text[300], all[40];
            snprintf(all, sizeof all, "b64 %s %s %s", type->reg, type->reg, type->reg);
            snprintf(text, sizeof text, chains[chain], type->name, type->name, type->name);
            struct group_row *row = group_add(
                IN_GLOBAL, all,
                "{.reg .%s x, y, z; .reg .b64 s, r; %s cvt.u64.u%u s, x; mul.lo.u64 s, s, 3;"
                " cvt.u64.u%u r, y; add.u64 s, s, r; mul.lo.u64 s, s, 3; cvt.u64.u%u r, z;"
                " add.u64 %%d, s, r;}",
                type->reg, text, type->bits, type->bits, type->bits);
            row->expected = carried, row->x = chain, row->y = (int)allowed[i];
        }
}

/* ---- cvt between integers: all destinations of a source, y; z: saturated ---- */

static void converted(struct group *g, const struct group_row *row)
{
    for (unsigned t = 0; t < GROUP; t++)
        for (unsigned i = 0; i < WITH_BYTES; i++) {
            wide x = value_of(&row_types[row->y], g->a[t]);
            x = row->z ? clamped(&row_types[i], x) : x;
            g->d[t] = 3 * g->d[t] + (uint64_t)value_of(&row_types[i], (uint64_t)x);
        }
}

static void add_conversions(void)
{
    for (unsigned y = 0; y < WITH_BYTES; y++)
        for (int z = 0; z < 2; z++) {
            char text[1200], all[20];
            size_t at = 0;
            for (unsigned i = 0; i < WITH_BYTES; i++)
                at += (size_t)sprintf(text + at, " cvt%s.%s.%s x, %%a; mad.lo.u64 %%d, %%d, 3, x;",
                                      z ? ".sat" : "", row_types[i].name, row_types[y].name);
            snprintf(all, sizeof all, "b64 %s - -", row_types[y].reg);
            struct group_row *row =
                group_add(IN_GLOBAL, all, "{.reg .b64 x; mov.b64 %%d, 0;%s}", text);
            row->expected = converted, row->y = (int)y, row->z = z;
        }
}

/* ---- selp, slct, mov, logic ---- */

/* x: 0 selp by c, 1 slct by s32, 2 by f32, 3 with .ftz. */
static void selected(struct group *g, const struct group_row *row)
{
    for (unsigned t = 0; t < GROUP; t++) {
        double c = decode(g->c[t], 23, 8);
        bool first = row->x == 0   ? (g->c[t] & 1) != 0
                     : row->x == 1 ? (int32_t)g->c[t] >= 0
                     : row->x == 2 ? c >= 0
                                   : c >= 0 || fabs(c) < 0x1p-126;
        g->d[t] = first ? g->a[t] : g->b[t];
    }
}

enum logic { AND, OR, XOR, NOT, CNOT, MOV };
static const char *const logics[] = {"and", "or", "xor", "not", "cnot", "mov"};
static void by_bits(struct group *g, const struct group_row *row)
{
    for (unsigned t = 0; t < GROUP; t++) {
        uint64_t a = g->a[t], b = g->b[t];
        const uint64_t results[] = {a & b, a | b, a ^ b, ~a, !a, a};
        g->d[t] = results[row->x];
    }
}
static void of_predicates(struct group *g, const struct group_row *row)
{
    for (unsigned t = 0; t < GROUP; t++) {
        bool a = g->a[t] & 1, b = g->b[t] & 1;
        const bool results[] = {a && b, a || !b, a != b, !a, 0, a};
        g->d[t] = results[row->x];
    }
}
/* x: to the right; y: type. */
static void shifted(struct group *g, const struct group_row *row)
{
    const struct row_type *type = &row_types[row->y];
    for (unsigned t = 0; t < GROUP; t++) {
        uint64_t n = g->b[t] > type->bits ? type->bits : g->b[t];
        wide a = value_of(type, g->a[t]);
        g->d[t] = (uint64_t)(row->x ? a >> n : a << n);
    }
}

static void add_selections(void)
{
    static const char *const selections[] = {
        "selp.%s %%d, %%a, %%b, r;", "slct.%s.s32 %%d, %%a, %%b, %%c;",
        "slct.%s.f32 %%d, %%a, %%b, f;", "slct.ftz.%s.f32 %%d, %%a, %%b, f;"};
    for (unsigned y = 0; y < PAIRS; y++) {
        const struct row_type *type = &row_types[y];
        char all[40], text[80];
        if (type->bits == 8)
            continue;
        snprintf(all, sizeof all, "%s %s %s b32", type->reg, type->reg, type->reg);
        for (int x = 0; x < 4 && y != 11 && y != 12; x++) {
            snprintf(text, sizeof text, selections[x], type->name);
            struct group_row *row = group_add(
                IN_GLOBAL, all,
                "{.reg .pred r; .reg .b32 k; .reg .f32 f; mov.b32 f, %%c; and.b32 k, %%c, 1;"
                " setp.ne.u32 r, k, 0; %s}",
                text);
            row->expected = selected, row->x = x;
        }
        for (enum logic x = AND; x <= MOV; x++)
            if (x == MOV || (y >= BITS && y < FLOATS)) {
                struct group_row *row = group_add(IN_GLOBAL, all, "%s.%s %%d, %%a%s;", logics[x],
                                                  type->name, x < NOT ? ", %b" : "");
                row->expected = by_bits, row->x = x;
            }
        snprintf(all, sizeof all, "%s %s b32 -", type->reg, type->reg);
        for (int x = y >= BITS ? 0 : 1; x < 2 && y < FLOATS; x++) {
            struct group_row *row =
                group_add(IN_GLOBAL, all, "%s.%s %%d, %%a, %%b;", x ? "shr" : "shl", type->name);
            row->expected = shifted, row->x = x, row->y = (int)y;
        }
    }
    for (enum logic x = AND; x <= MOV; x++) {
        if (x == CNOT)
            continue;
        struct group_row *row = group_add(
            IN_GLOBAL, "b32 b32 b32 -",
            "{.reg .pred p, q, r; .reg .b32 k; and.b32 k, %%a, 1; setp.ne.u32 p, k, 0;"
            " and.b32 k, %%b, 1; setp.ne.u32 q, k, 0; %s.pred r, p%s; selp.u32 %%d, 1, 0, r;}",
            logics[x],
            x == OR   ? ", !q"
            : x < NOT ? ", q"
                      : "");
        row->expected = of_predicates, row->x = x;
    }
}

void group_add_types(void)
{
    add_integers();
    add_carries();
    add_conversions();
    add_selections();
}

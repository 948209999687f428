/* Atomics and reductions with all their types, in the manual's words (9.7.13.6, 9.7.13.7). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "rows_group.h"

static uint8_t *half_of(struct group *g, unsigned t)
{
    return g->memory + t / 32 * (GROUP_BYTES / 2);
}

enum operation { AND, OR, XOR, EXCH, CAS, SUM, MIN, MAX, INC, DEC };
static const char *const operations[] = {"and", "or",  "xor", "exch", "cas",
                                         "add", "min", "max", "inc",  "dec"};
enum kind { BITS, SIGNED, F16_KIND, BF16_KIND, F32_KIND, F64_KIND };
static const struct atomic_type {
    const char *name, *reg;
    unsigned bytes;
    enum kind kind;
    int fraction, exponent;
    unsigned parts; /* packed numbers */
} atomic_types[] = {
    {"b32", "b32", 4, BITS, 0, 0, 1},        {"b64", "b64", 8, BITS, 0, 0, 1},
    {"u32", "b32", 4, BITS, 0, 0, 1},        {"u64", "b64", 8, BITS, 0, 0, 1},
    {"s32", "b32", 4, SIGNED, 0, 0, 1},      {"s64", "b64", 8, SIGNED, 0, 0, 1},
    {"b16", "b16", 2, BITS, 0, 0, 1},        {"f32", "f32", 4, F32_KIND, 23, 8, 1},
    {"f64", "f64", 8, F64_KIND, 0, 0, 1},    {"f16", "b16", 2, F16_KIND, 10, 5, 1},
    {"bf16", "b16", 2, BF16_KIND, 7, 8, 1},  {"f16x2", "b32", 4, F16_KIND, 10, 5, 2},
    {"bf16x2", "b32", 4, BF16_KIND, 7, 8, 2}};
enum { ATOMIC_TYPES = sizeof atomic_types / sizeof *atomic_types };

static uint64_t float_step(const struct atomic_type *t, enum operation op, uint64_t old, uint64_t b)
{
    double x, y;
    if (t->kind == F64_KIND) {
        memcpy(&x, &old, 8), memcpy(&y, &b, 8);
        x += y;
        memcpy(&old, &x, 8);
        return old;
    }
    if (t->parts == 2) {
        struct atomic_type one = *t;
        one.parts = 1;
        return float_step(&one, op, old & 0xffff, b & 0xffff)
               | float_step(&one, op, old >> 16 & 0xffff, b >> 16 & 0xffff) << 16;
    }
    x = decode(old, t->fraction, t->exponent), y = decode(b, t->fraction, t->exponent);
    if (op == SUM && t->kind == F32_KIND)
        return encode((double)((float)x + (float)y), t->fraction, t->exponent);
    if (op == SUM)
        return encode(x + y, t->fraction, t->exponent);
    bool first = isnan(y) || (!isnan(x) && (x < y || (x == y && signbit(x) >= signbit(y))));
    return encode(op == MAX && !isnan(x) && !isnan(y) ? (first ? y : x)
                  : first                             ? x
                                                      : y,
                  t->fraction, t->exponent);
}

static uint64_t step(const struct atomic_type *t, enum operation op, uint64_t old, uint64_t b,
                     uint64_t c)
{
    if (t->kind >= F16_KIND)
        return float_step(t, op, old, b);
    uint64_t sign = t->kind == SIGNED ? (uint64_t)1 << (8 * t->bytes - 1) : 0;
    bool less = (old ^ sign) < (b ^ sign);
    const uint64_t results[] = {[AND] = old & b,
                                [OR] = old | b,
                                [XOR] = old ^ b,
                                [EXCH] = b,
                                [CAS] = old == b ? c : old,
                                [SUM] = old + b,
                                [MIN] = less ? old : b,
                                [MAX] = less ? b : old,
                                [INC] = old >= b ? 0 : old + 1,
                                [DEC] = old == 0 || old > b ? b : old - 1};
    return results[op];
}

/* `z`: elements of a vector, and 16 where nothing is returned. */
static void atomics_done(struct group *g, const struct group_row *row)
{
    const struct atomic_type *t = &atomic_types[row->x];
    unsigned count = row->z & 15;
    for (unsigned i = 0; i < GROUP; i++)
        for (unsigned k = 0; k < count; k++) {
            uint8_t *at = half_of(g, i) + (g->c[i] & 7) * t->bytes * count + k * t->bytes;
            uint64_t old = bytes_at(at, t->bytes), b = k ? g->b[i] : g->a[i],
                     mask = ~(uint64_t)0 >> (64 - 8 * t->bytes);
            put_bytes(at, step(t, (enum operation)row->y, old, b & mask, g->b[i] & mask), t->bytes);
            g->d[i] = row->z & 16 ? 0 : g->d[i] * 3 + old;
        }
}

static void few_numbers(struct group *g, const struct group_row *row)
{
    unsigned bytes = atomic_types[row->x].bytes;
    for (unsigned i = 0; i < GROUP_BYTES; i++)
        g->memory[i] = i % bytes ? 0 : g->memory[i] & 3;
    for (unsigned i = 0; i < GROUP; i++)
        g->a[i] &= 3, g->b[i] &= 3;
}

/* f64 keeps the bits of a NaN, of which the manual says nothing. */
static void no_nans(struct group *g, const struct group_row *row)
{
    (void)row;
    for (unsigned i = 7; i < GROUP_BYTES; i += 8)
        g->memory[i] &= 0xbf;
    for (unsigned i = 0; i < GROUP; i++)
        g->a[i] &= ~((uint64_t)1 << 62);
}

static void add_atomic(enum group_place place, const char *before, const char *behind, unsigned x,
                       enum operation op, bool few)
{
    const struct atomic_type *t = &atomic_types[x];
    bool returns = before[0] == 'a', noftz = t->kind == F16_KIND || t->kind == BF16_KIND;
    char types_of[40];
    snprintf(types_of, sizeof types_of, "%s %s %s b32", returns ? t->reg : "b32", t->reg, t->reg);
    struct group_row *row =
        group_add(place, types_of,
                  "{.reg .b64 o; cvt.u64.u32 o, %%c; and.b64 o, o, 7; mad.lo.u64 o, o, %u, %%m;"
                  " %s#%s.%s%s.%s %s[o], %%a%s;%s}",
                  t->bytes, before, behind, operations[op], noftz ? ".noftz" : "", t->name,
                  returns ? "%d, " : "", op == CAS ? ", %b" : "", returns ? "" : " mov.b32 %d, 0;");
    row->expected = atomics_done;
    row->prepare = few ? few_numbers : t->kind == F64_KIND ? no_nans : NULL;
    row->x = (int)x, row->y = op, row->z = returns ? 1 : 17;
}

static bool takes(enum operation op, const struct atomic_type *t)
{
    switch (op) {
    case AND:
    case OR:
    case XOR:
    case EXCH:
        return t->name[0] == 'b' && t->kind == BITS && t->bytes >= 4;
    case CAS:
        return t->name[0] == 'b' && t->kind == BITS;
    case SUM:
        return t->name[0] != 'b' || t->kind == BF16_KIND;
    case MIN:
    case MAX:
        return t->name[0] == 'u' || t->kind == SIGNED;
    default:
        return !strcmp(t->name, "u32");
    }
}

/* Elements of a vector; the destination's registers are those of the source, crossed. */
static void add_vector_atomics(void)
{
    for (unsigned x = 7; x < ATOMIC_TYPES; x++)
        for (enum operation op = SUM; op <= MAX; op++)
            for (unsigned count = 2; count <= 4; count *= 2) {
                const struct atomic_type *t = &atomic_types[x];
                bool halves = t->kind != F32_KIND;
                if (t->kind == F64_KIND || count * t->bytes > 16 || (!halves && op != SUM))
                    continue;
                char fold[300];
                size_t at = 0;
                for (unsigned k = 0; k < count; k++)
                    at += (size_t)sprintf(fold + at, " cvt.u64.%s t, %c%u; mad.lo.u64 s, s, 3, t;",
                                          t->bytes == 2 ? "u16" : "u32", 'e', (k + 1) % count);
                struct group_row *row = group_add(
                    IN_GLOBAL, t->bytes == 2 ? "b64 b16 b16 b32" : "b64 b32 b32 b32",
                    "{.reg .b64 o, s, t; .reg .b%u e<4>; cvt.u64.u32 o, %%c; and.b64 o, o, 7;"
                    " mad.lo.u64 o, o, %u, %%m; mov.b64 s, 0; mov.b%u e0, %%a; mov.b%u e1, %%b;"
                    " mov.b%u e2, %%b; mov.b%u e3, %%b;"
                    " atom.global.%s%s.%s.%s %s, [o], %s;%s mov.b64 %%d, s;}",
                    8 * t->bytes, t->bytes * count, 8 * t->bytes, 8 * t->bytes, 8 * t->bytes,
                    8 * t->bytes, operations[op], halves ? ".noftz" : "", count == 2 ? "v2" : "v4",
                    t->name, count == 2 ? "{e1, e0}" : "{e1, e2, e3, e0}",
                    count == 2 ? "{e0, e1}" : "{e0, e1, e2, e3}", fold);
                row->expected = atomics_done;
                row->x = (int)x, row->y = op, row->z = (int)count;
            }
}

static void wide_exchanged(struct group *g, const struct group_row *row)
{
    for (unsigned i = 0; i < GROUP; i++) {
        uint8_t *at = half_of(g, i) + (g->c[i] & 7) * 16;
        uint64_t low = bytes_at(at, 8), high = bytes_at(at + 8, 8);
        if (row->y == EXCH || (low == g->a[i] && high == 0)) {
            put_bytes(at, g->b[i], 8);
            put_bytes(at + 8, 5, 8);
        }
        g->d[i] = low + 3 * high;
    }
}
static void few_wide_numbers(struct group *g, const struct group_row *row)
{
    (void)row;
    for (unsigned i = 0; i < GROUP_BYTES; i++)
        g->memory[i] = i % 16 ? 0 : g->memory[i] & 1;
    for (unsigned i = 0; i < GROUP; i++)
        g->a[i] &= 1, g->b[i] &= 1;
}

static void add_wide_atomics(void)
{
    for (enum group_place place = IN_GLOBAL; place < PLACES; place++)
        for (enum operation op = EXCH; op <= CAS; op++) {
            struct group_row *row = group_add(
                place, "b64 b64 b64 b32",
                "{.reg .b64 o, t, u; .reg .b128 x, y, z; cvt.u64.u32 o, %%c; and.b64 o, o, 7;"
                " mad.lo.u64 o, o, 16, %%m; mov.b64 t, 0; mov.b128 x, {%%a, t}; mov.b64 t, 5;"
                " mov.b128 y, {%%b, t}; atom#.%s.b128 z, [o], %s; mov.b128 {t, u}, z;"
                " mad.lo.u64 %%d, u, 3, t;}",
                operations[op], op == CAS ? "x, y" : "y");
            row->expected = wide_exchanged, row->y = op;
            row->prepare = op == CAS ? few_wide_numbers : NULL;
        }
}

void group_add_atomics(void)
{
    static const char *const orders[] = {".relaxed.cta", ".acquire.cluster", ".release.gpu",
                                         ".acq_rel.sys", ".gpu"};
    for (enum group_place place = IN_GLOBAL; place < PLACES; place++)
        for (unsigned x = 0; x < ATOMIC_TYPES; x++)
            for (enum operation op = AND; op <= DEC; op++) {
                if (!takes(op, &atomic_types[x]))
                    continue;
                bool few = op == CAS || op >= INC;
                add_atomic(place, "atom", "", x, op, few);
                if (op != EXCH && op != CAS)
                    add_atomic(place, "red", "", x, op, few);
            }
    for (unsigned i = 0; i < sizeof orders / sizeof *orders; i++) {
        char name[40];
        snprintf(name, sizeof name, "atom%s", orders[i]);
        add_atomic(IN_GLOBAL, name, "", 2, SUM, false);
        snprintf(name, sizeof name, "red%s", orders[i]);
        add_atomic(IN_GENERIC_SHARED, name, "", 4, MAX, false);
    }
    add_vector_atomics();
    add_wide_atomics();
}

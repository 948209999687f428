/* setp, set and testp: all comparisons of all types, in the manual's words (9.7.6, 9.7.7). */
#include <math.h>
#include <stdio.h>

#include "rows_typed.h"

static const char *const comparisons[] = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",
                                          "lo",  "ls",  "hi",  "hs",  "equ", "neu",
                                          "ltu", "leu", "gtu", "geu", "num", "nan"};
static bool compares(unsigned y, unsigned i)
{
    bool is_float = y >= FLOATS;
    return y >= BITS && y < FLOATS ? i < 2
           : is_float              ? i < 6 || i >= 10
                                   : i < 6 || (i < 10 && !row_types[y].is_signed);
}

static bool compare(unsigned y, unsigned i, uint64_t x, uint64_t z, bool ftz)
{
    const struct row_type *type = &row_types[y];
    double a = 0, b = 0;
    if (y >= FLOATS) {
        a = decode(x & mask_of(type->bits), type->fraction, type->exponent);
        b = decode(z & mask_of(type->bits), type->fraction, type->exponent);
        double least = ldexp(1, 2 - (1 << (type->exponent - 1)));
        a = ftz && fabs(a) < least ? 0 : a, b = ftz && fabs(b) < least ? 0 : b;
    }
    bool nan = isnan(a) || isnan(b);
    int order = y >= FLOATS ? (a > b) - (a < b)
                            : (value_of(type, x) > value_of(type, z))
                                  - (value_of(type, x) < value_of(type, z));
    const bool results[] = {order == 0, order != 0, order<0, order <= 0, order> 0, order >= 0};
    return i == 16   ? !nan
           : i == 17 ? nan
           : i >= 10 ? nan || results[i - 10]
           : i >= 6  ? results[i - 4]
                     : !nan && results[i];
}

static bool combined(int z, bool t, uint64_t c)
{
    bool input = c & 1;
    return z == 0 ? t : z == 1 ? t && input : z == 2 ? t || input : t != input;
}

/* x: ftz; y: type; z: how the predicate of c is combined. */
static void set_predicates(struct group *g, const struct group_row *row)
{
    unsigned y = (unsigned)row->y;
    for (unsigned t = 0; t < GROUP; t++)
        for (unsigned i = 0; i < 18; i++) {
            if (!compares(y, i))
                continue;
            bool p = compare(y, i, g->a[t], g->b[t], row->x), q = !p;
            if (y >= PAIRS)
                q = compare(y, i, g->a[t] >> 16, g->b[t] >> 16, row->x);
            g->d[t] = g->d[t] * 4 + 2 * combined(row->z, p, g->c[t]) + combined(row->z, q, g->c[t]);
        }
}

/* z: the combination, and from bit 4 the destination's type. */
static void set_values(struct group *g, const struct group_row *row)
{
    unsigned y = (unsigned)row->y;
    const struct row_type *to = &row_types[row->z >> 4];
    for (unsigned t = 0; t < GROUP; t++)
        for (unsigned i = 0; i < 18; i++) {
            if (!compares(y, i))
                continue;
            bool high = combined(row->z & 3, compare(y, i, g->a[t] >> 16, g->b[t] >> 16, row->x),
                                 g->c[t]),
                 low = combined(row->z & 3, compare(y, i, g->a[t], g->b[t], row->x), g->c[t]);
            uint64_t one = to->fraction ? encode(1, to->fraction, to->exponent)
                                        : mask_of(y >= PAIRS ? 16 : to->bits);
            g->d[t] = g->d[t] * 3 + (low ? one : 0) + (y >= PAIRS && high ? one << 16 : 0);
        }
}

static const char *const combinations[] = {"", ".and", ".or", ".xor"};

static void add_comparison(unsigned y, int z, bool ftz, int to)
{
    char text[2400], all[40];
    const struct row_type *type = &row_types[y];
    size_t at = 0;
    for (unsigned i = 0; i < 18; i++) {
        if (!compares(y, i))
            continue;
        if (to < 0)
            at += (size_t)sprintf(text + at,
                                  " setp.%s%s%s.%s p|q, %%a, %%b%s; selp.b64 s, 2, 0, p;"
                                  " @q add.u64 s, s, 1; mad.lo.u64 %%d, %%d, 4, s;",
                                  comparisons[i], combinations[z], ftz ? ".ftz" : "", type->name,
                                  z ? ", r" : "");
        else
            at += (size_t)sprintf(text + at,
                                  " set.%s%s%s.%s.%s x, %%a, %%b%s;%s cvt.u64.u%s s, %s;"
                                  " mad.lo.u64 %%d, %%d, 3, s;",
                                  comparisons[i], combinations[z], ftz ? ".ftz" : "",
                                  row_types[to].name, type->name, z ? ", r" : "",
                                  to == F32 ? " mov.b32 k, x;" : "", row_types[to].reg + 1,
                                  to == F32 ? "k" : "x");
    }
    snprintf(all, sizeof all, "b64 %s %s b32", type->reg, type->reg);
    struct group_row *row = group_add(IN_GLOBAL, all,
                                      "{.reg .pred p, q, r; .reg .b64 s; .reg .b32 k; .reg .%s x;"
                                      " and.b32 k, %%c, 1; setp.ne.u32 r, k, 0; mov.b64 %%d, 0;%s}",
                                      to < 0 ? "b32" : row_types[to].reg, text);
    row->expected = to < 0 ? set_predicates : set_values;
    row->x = ftz, row->y = (int)y, row->z = z | (to < 0 ? 0 : to << 4);
}

static void add_all(void)
{
    static const int singles[] = {2, 3, F32}, halves[] = {11, 12, 0, 1, 2, 3},
                     pairs[] = {15, 16, 2, 3};
    for (unsigned y = 0; y < TYPES; y++)
        for (int z = 0; z < 4; z++)
            for (int ftz = 0; ftz < (y == F32 || y == 11 || y == 15 ? 2 : 1); ftz++) {
                if (row_types[y].bits == 8)
                    continue;
                add_comparison(y, z, ftz, -1);
                bool half = y == 11 || y == 12;
                const int *to = y >= PAIRS ? pairs : half ? halves : singles;
                for (unsigned i = 0; i < (y >= PAIRS ? 4u : half ? 6u : 3u); i++)
                    if (y < PAIRS || i > 1 || to[i] == (int)y)
                        if (!half || i > 1 || to[i] == (int)y)
                            add_comparison(y, z, ftz, to[i]);
            }
}

/* testp: all of a type, y. */
static const char *const tests[] = {"finite",     "infinite", "number",
                                    "notanumber", "normal",   "subnormal"};
static void tested(struct group *g, const struct group_row *row)
{
    for (unsigned t = 0; t < GROUP; t++) {
        double x = decode(g->a[t], row_types[row->y].fraction, row_types[row->y].exponent),
               least = row->y == F32 ? 0x1p-126 : 0x1p-1022;
        const bool results[] = {isfinite(x),
                                isinf(x),
                                !isnan(x),
                                isnan(x),
                                isfinite(x) && fabs(x) >= least,
                                x != 0 && fabs(x) < least};
        for (unsigned i = 0; i < 6; i++)
            g->d[t] = 2 * g->d[t] + results[i];
    }
}

static void add_tests(void)
{
    for (unsigned y = F32; y < PAIRS; y++) {
        char text[600], all[20];
        size_t at = 0;
        for (unsigned i = 0; i < 6; i++)
            at += (size_t)sprintf(text + at,
                                  " testp.%s.%s p, %%a; selp.u32 x, 1, 0, p;"
                                  " mad.lo.u32 %%d, %%d, 2, x;",
                                  tests[i], row_types[y].name);
        snprintf(all, sizeof all, "b32 %s - -", row_types[y].reg);
        struct group_row *row =
            group_add(IN_GLOBAL, all, "{.reg .pred p; .reg .b32 x; mov.b32 %%d, 0;%s}", text);
        row->expected = tested, row->y = (int)y;
    }
}

void group_add_comparisons(void)
{
    add_all();
    add_tests();
}

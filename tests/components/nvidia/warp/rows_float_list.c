/* The list of floating-point instructions with their modifiers; see rows_float.h. */
#include <stdio.h>
#include <string.h>

#include "runtime/engine/bug.h"

#include "rows_float.h"

static const char *const names[] = {"add", "sub", "mul", "mad", "fma", "div", "sqrt", "rcp"};
static const int sources[] = {2, 2, 2, 3, 3, 2, 1, 1};
static const char *const roundings[] = {".rn", ".rz", ".rm", ".rp", ""}; /* none: nearest */
static const char *const whole_roundings[] = {".rni", ".rzi", ".rmi", ".rpi"};
enum { UNNAMED = 4 };

static struct float_row *next, *last;

static const char *register_of(enum float_format f, int parts)
{
    return parts == 1 || f >= E4M3 ? float_formats[f].reg : f == F32 ? "b64" : "b32";
}

/* A row of `count` sources of one format, with the text's name up to the operands. */
static struct float_row *add(enum float_kind kind, enum float_format to, enum float_format from,
                             int count, int parts, const char *name)
{
    static const char *const operands[] = {"", ", %a", ", %a, %b", ", %a, %b, %c"};
    if (next == last)
        bug("there are more rows of floats than expected");
    memset(next, 0, sizeof *next);
    snprintf(next->text, sizeof next->text, "%s %%d%s;", name, operands[count]);
    next->d = register_of(to, parts);
    next->a = register_of(from, parts);
    next->b = count > 1 ? next->a : NULL;
    next->c = count > 2 ? next->a : NULL;
    next->kind = kind, next->to = to, next->parts = parts;
    for (int i = 0; i < 3; i++)
        next->from[i] = from;
    return next++;
}

static const char *suffix(enum float_format f, int parts)
{
    static char text[4][16];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(text[turn], sizeof text[turn], "%s%s", float_formats[f].name, parts == 2 ? "x2" : "");
    return text[turn];
}

/* `bits`: 1 ftz, 2 sat, 4 relu. */
static void add_arithmetic(enum float_kind kind, enum float_format f, int parts, int rounding,
                           int bits)
{
    char name[80];
    snprintf(name, sizeof name, "%s%s%s%s%s.%s", names[kind], roundings[rounding],
             bits & 1 ? ".ftz" : "", bits & 2 ? ".sat" : "", bits & 4 ? ".relu" : "",
             suffix(f, parts));
    struct float_row *row = add(kind, f, f, sources[kind], parts, name);
    row->rounding = rounding == UNNAMED ? 0 : rounding;
    row->ftz = bits & 1, row->sat = bits & 2, row->relu = bits & 4;
}

static void add_singles(void)
{
    for (enum float_kind kind = ADD; kind <= RCP; kind++) {
        int last_rounding = kind <= MUL ? UNNAMED : 3;
        for (int r = 0; r <= last_rounding; r++) {
            for (int bits = 0; bits < (kind <= FMA ? 4 : 2); bits++)
                add_arithmetic(kind, F32, 1, r, bits);
            add_arithmetic(kind, F64, 1, r, 0);
            for (int bits = 0; bits < 2 && kind <= FMA && kind != MAD && r < UNNAMED; bits++)
                add_arithmetic(kind, F32, 2, r, bits);
        }
    }
}

static void add_halves(void)
{
    for (int parts = 1; parts <= 2; parts++)
        for (enum float_kind kind = ADD; kind <= FMA; kind++) {
            if (kind == MAD)
                continue;
            for (int r = 0; r <= (kind == FMA ? 0 : UNNAMED); r += UNNAMED) {
                for (int bits = 0; bits < 4; bits++)
                    add_arithmetic(kind, F16, parts, r, bits);
                add_arithmetic(kind, BF16, parts, r, 0);
            }
            if (kind == FMA) {
                add_arithmetic(kind, F16, parts, 0, 4);
                add_arithmetic(kind, F16, parts, 0, 5);
                add_arithmetic(kind, BF16, parts, 0, 4);
            }
        }
}

/* f32 with halves: the last operand is f32. */
static void add_mixed(void)
{
    static const enum float_kind kinds[] = {ADD, SUB, FMA};
    for (int i = 0; i < 3; i++)
        for (enum float_format f = F16; f <= BF16; f++)
            for (int r = 0; r <= (kinds[i] == FMA ? 3 : UNNAMED); r++)
                for (int sat = 0; sat < 2; sat++) {
                    char name[80];
                    int n = sources[kinds[i]];
                    snprintf(name, sizeof name, "%s%s%s.f32.%s", names[kinds[i]], roundings[r],
                             sat ? ".sat" : "", float_formats[f].name);
                    struct float_row *row = add(kinds[i], F32, f, n, 1, name);
                    row->from[n - 1] = F32;
                    *(n == 2 ? &row->b : &row->c) = "f32";
                    row->rounding = r == UNNAMED ? 0 : r, row->sat = sat;
                }
}

static void add_extremes(void)
{
    static const char *const ends[] = {"min", "max"};
    for (int most = 0; most < 2; most++) {
        add(most ? MAX : MIN, F64, F64, 2, 1, most ? "max.f64" : "min.f64");
        for (int bits = 0; bits < 8; bits++) /* 1 ftz, 2 NaN, 4 xorsign.abs, or abs */
            for (enum float_format f = F16; f <= F32; f++)
                for (int parts = 1; parts <= (f == F32 ? 1 : 2); parts++)
                    for (int n = 2; n <= (f == F32 ? 3 : 2); n++) {
                        char name[80];
                        if (bits & 1 && f == BF16)
                            continue;
                        snprintf(name, sizeof name, "%s%s%s%s.%s", ends[most],
                                 bits & 1 ? ".ftz" : "", bits & 2 ? ".NaN" : "",
                                 !(bits & 4) ? ""
                                 : n == 3    ? ".abs"
                                             : ".xorsign.abs",
                                 suffix(f, parts));
                        struct float_row *row = add(most ? MAX : MIN, f, f, n, parts, name);
                        row->ftz = bits & 1, row->nan = bits & 2, row->absolute = bits & 4;
                        row->xorsign = row->absolute && n == 2;
                    }
    }
    for (int sign = 0; sign < 2; sign++)
        for (enum float_format f = F16; f <= F64; f++)
            for (int parts = 1; parts <= (f >= F32 ? 1 : 2); parts++)
                for (int ftz = 0; ftz <= (f == F16 || f == F32); ftz++) {
                    char name[40];
                    snprintf(name, sizeof name, "%s%s.%s", sign ? "neg" : "abs", ftz ? ".ftz" : "",
                             suffix(f, parts));
                    add(sign ? NEG : ABS, f, f, 1, parts, name)->ftz = ftz;
                }
}

/* ---- conversions ---- */

static void add_integers(void)
{
    static const int integers[] = {8, -8, 16, -16, 32, -32, 64, -64};
    for (int i = 0; i < 8; i++)
        for (enum float_format f = F16; f <= F64; f++)
            for (int r = 0; r < 4; r++)
                for (int bits = 0; bits < 4; bits++) {
                    char name[60], type[16];
                    int n = integers[i];
                    const char *reg = n == 64 || n == -64   ? "b64"
                                      : n == 16 || n == -16 ? "b16"
                                                            : "b32";
                    snprintf(type, sizeof type, "%c%d", n < 0 ? 's' : 'u', n < 0 ? -n : n);
                    if ((bits & 1 && f != F32) || (bits > 1 && f == BF16))
                        continue;
                    snprintf(name, sizeof name, "cvt%s%s%s.%s.%s", roundings[r],
                             bits & 1 ? ".ftz" : "", bits & 2 ? ".sat" : "", float_formats[f].name,
                             type);
                    struct float_row *row = add(FROM_INTEGER, f, F32, 1, 1, name);
                    row->a = reg, row->integer = n, row->rounding = r;
                    row->ftz = bits & 1, row->sat = bits & 2;
                    snprintf(name, sizeof name, "cvt%s%s%s.%s.%s", whole_roundings[r],
                             bits & 1 ? ".ftz" : "", bits & 2 ? ".sat" : "", type,
                             float_formats[f].name);
                    row = add(TO_INTEGER, F32, f, 1, 1, name);
                    row->d = reg, row->integer = n, row->rounding = r, row->ftz = bits & 1;
                }
}

static void add_float_conversion(enum float_format to, enum float_format from, int r, int bits)
{
    char name[80];
    const char *round = r < 0 ? "" : to == from ? whole_roundings[r] : roundings[r];
    snprintf(name, sizeof name, "cvt%s%s%s.%s.%s", round, bits & 1 ? ".ftz" : "",
             bits & 2 ? ".sat" : "", float_formats[to].name, float_formats[from].name);
    struct float_row *row = add(to == from && r >= 0 ? WHOLE : CONVERT, to, from, 1, 1, name);
    row->rounding = r < 0 ? 0 : r, row->ftz = bits & 1, row->sat = bits & 2;
}

static void add_float_conversions(void)
{
    for (enum float_format to = F16; to <= F64; to++)
        for (enum float_format from = F16; from <= F64; from++) {
            bool narrows = float_formats[to].bits < float_formats[from].bits
                           || (to != from && to <= BF16 && from <= BF16);
            for (int r = narrows || to == from ? 0 : -1; r < (narrows || to == from ? 4 : 0); r++)
                for (int bits = 0; bits < 4; bits++) {
                    bool ftz = bits & 1, sat = bits & 2, bfloat = to == BF16 || from == BF16;
                    if ((ftz && to != F32 && from != F32) || (sat && bfloat)
                        || (bfloat && to == from) || (ftz && bfloat))
                        continue;
                    if (bfloat && narrows && from == F32 && r > 1)
                        continue;
                    add_float_conversion(to, from, r, bits);
                }
        }
}

/* 9.7.9.21: with .relu and .satfinite. */
static void add_small_formats(void)
{
    static const enum float_format singles[] = {F16, BF16, TF32};
    for (int i = 0; i < 3; i++)
        for (int r = 0; r < 3; r++)
            for (int bits = 0; bits < 4; bits++) {
                static const char *const all[] = {".rn", ".rz", ".rna"};
                char name[80];
                if (r == 2 ? singles[i] != TF32 || bits & 1 : false)
                    continue;
                const char *end = bits == 0   ? ""
                                  : bits == 1 ? ".relu"
                                  : bits == 2 ? ".satfinite"
                                              : ".relu.satfinite";
                snprintf(name, sizeof name, "cvt%s%s.%s.f32", all[r], end,
                         float_formats[singles[i]].name);
                struct float_row *row = add(CONVERT, singles[i], F32, 1, 1, name);
                row->relu = bits & 1, row->finite = bits & 2, row->rounding = r == 2 ? 4 : r;
                if (singles[i] == TF32)
                    continue;
                snprintf(name, sizeof name, "cvt%s%s.%sx2.f32", all[r], end,
                         float_formats[singles[i]].name);
                row = add(CONVERT, singles[i], F32, 2, 2, name);
                row->a = row->b = "f32", row->crosses = true;
                row->relu = bits & 1, row->finite = bits & 2, row->rounding = r;
            }
    for (enum float_format f = E4M3; f <= E2M1; f++)
        for (int relu = 0; relu < 2; relu++) {
            char name[80];
            const char *with = relu ? ".relu" : "";
            snprintf(name, sizeof name, "cvt.rn.satfinite%s.%sx2.f32", with, float_formats[f].name);
            struct float_row *row = add(CONVERT, f, F32, 2, 2, name);
            row->a = row->b = "f32", row->crosses = row->finite = true, row->relu = relu;
            snprintf(name, sizeof name, "cvt.rn%s.f16x2.%sx2", with, float_formats[f].name);
            row = add(CONVERT, F16, f, 1, 2, name);
            row->relu = relu;
            if (f > E5M2)
                continue;
            snprintf(name, sizeof name, "cvt.rn.satfinite%s.%sx2.f16x2", with,
                     float_formats[f].name);
            row = add(CONVERT, f, F16, 1, 2, name);
            row->finite = true, row->relu = relu;
        }
}

static void add_approximations(void)
{
    static const char *const singles[] = {"rcp", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2"};
    for (int i = 0; i < 7; i++)
        for (int ftz = 0; ftz < 2; ftz++) {
            char name[60];
            snprintf(name, sizeof name, "%s.approx%s.f32", singles[i], ftz ? ".ftz" : "");
            add((enum float_kind)(NEAR_RCP + i), F32, F32, 1, 1, name)->ftz = ftz;
        }
    static const struct {
        enum float_kind kind;
        enum float_format format;
        int count, parts;
        bool ftz, upper;
        const char *name;
    } more[] = {{NEAR_TANH, F32, 1, 1, false, false, "tanh.approx.f32"},
                {NEAR_TANH, F16, 1, 1, false, false, "tanh.approx.f16"},
                {NEAR_TANH, F16, 1, 2, false, false, "tanh.approx.f16x2"},
                {NEAR_TANH, BF16, 1, 1, false, false, "tanh.approx.bf16"},
                {NEAR_TANH, BF16, 1, 2, false, false, "tanh.approx.bf16x2"},
                {NEAR_EX2, F16, 1, 1, false, false, "ex2.approx.f16"},
                {NEAR_EX2, F16, 1, 2, false, false, "ex2.approx.f16x2"},
                {NEAR_EX2, BF16, 1, 1, true, false, "ex2.approx.ftz.bf16"},
                {NEAR_EX2, BF16, 1, 2, true, false, "ex2.approx.ftz.bf16x2"},
                {NEAR_DIV, F32, 2, 1, false, false, "div.full.f32"},
                {NEAR_DIV, F32, 2, 1, true, false, "div.full.ftz.f32"},
                {NEAR_DIV, F32, 2, 1, false, false, "div.approx.f32"},
                {NEAR_DIV, F32, 2, 1, true, false, "div.approx.ftz.f32"},
                {NEAR_RCP, F64, 1, 1, true, true, "rcp.approx.ftz.f64"},
                {NEAR_RSQRT, F64, 1, 1, true, true, "rsqrt.approx.ftz.f64"},
                {NEAR_RSQRT, F64, 1, 1, false, false, "rsqrt.approx.f64"}};
    for (unsigned i = 0; i < sizeof more / sizeof *more; i++) {
        struct float_row *row = add(more[i].kind, more[i].format, more[i].format, more[i].count,
                                    more[i].parts, more[i].name);
        row->ftz = more[i].ftz, row->upper = more[i].upper;
    }
}

size_t float_rows(struct float_row *rows, size_t most)
{
    next = rows, last = rows + most;
    add_singles();
    add_halves();
    add_mixed();
    add_extremes();
    add_integers();
    add_float_conversions();
    add_small_formats();
    add_approximations();
    return (size_t)(next - rows);
}

/* Products of matrices by the layouts of 9.7.14, and what moves their parts. Numbers have few bits,
 * so that all sums are exact and only results are rounded. */
#include <math.h>
#include <mpfr.h>
#include <stdio.h>
#include <string.h>

#include "rows_group.h"
#include "vectors.h"

enum { HALF = GROUP_BYTES / 2, MOST = 32 * 256 };

/* ---- elements ---- */

enum element { F64, F32, TF32, F16, BF16, E4M3, E5M2, S32, S8, U8, S4, U4, B1 };
static const struct {
    const char *name;
    unsigned bits;
    int fraction, exponent; /* integers: 0, and 1 if signed */
} elements[] = {{"f64", 64, 52, 11}, {"f32", 32, 23, 8}, {"tf32", 32, 23, 8}, {"f16", 16, 10, 5},
                {"bf16", 16, 7, 8},  {"e4m3", 8, 3, 4},  {"e5m2", 8, 2, 5},   {"s32", 32, 0, 1},
                {"s8", 8, 0, 1},     {"u8", 8, 0, 0},    {"s4", 4, 0, 1},     {"u4", 4, 0, 0},
                {"b1", 1, 0, 0}};

static double value_of(enum element e, uint64_t bits)
{
    if (elements[e].fraction)
        return decode(e == TF32 ? bits & ~(uint64_t)0x1fff : bits, elements[e].fraction,
                      elements[e].exponent);
    uint64_t sign = (uint64_t)1 << (elements[e].bits - 1);
    return elements[e].exponent ? (double)(int64_t)((bits ^ sign) - sign) : (double)bits;
}

static uint64_t bits_of(enum element e, double x, bool saturates)
{
    if (elements[e].fraction)
        return encode(x, elements[e].fraction, elements[e].exponent);
    if (saturates)
        x = x < -2147483648. ? -2147483648. : x > 2147483647. ? 2147483647. : x;
    return (uint64_t)(int64_t)x;
}

/* A number of few bits, now and then an infinity or a NaN; of NaNs of f64 the manual does not say
 * the bits. */
static uint64_t random_element(enum element e, bool special)
{
    uint64_t r = random_bits();
    int f = elements[e].fraction, x = elements[e].exponent;
    if (!f)
        return r;
    if (special && r % 64 == 0 && e != E4M3 && e != F64)
        return (((uint64_t)1 << x) - 1) << f | (r >> 8 & 1) << (f + x) | (r >> 9 & 1) << (f - 1);
    uint64_t low = e == TF32 ? r >> 20 & 0x1fff : 0; /* which is ignored */
    return low | (r >> 8 & 1) << (f + x) | (r >> 10 & 3) << (f - 2)
           | ((((uint64_t)1 << (x - 1)) - 1) + (r >> 16) % 5 - 2) << f;
}

static uint64_t get(const uint8_t *from, size_t number, unsigned bits)
{
    if (bits < 8)
        return from[number * bits / 8] >> number * bits % 8 & ((1u << bits) - 1);
    return bytes_at(from + number * bits / 8, bits / 8);
}

static void put(uint8_t *to, size_t number, unsigned bits, uint64_t value)
{
    uint8_t *at = to + number * bits / 8;
    unsigned shift = number * bits % 8;
    if (bits < 8)
        *at = (uint8_t)((*at & ~(((1u << bits) - 1) << shift))
                        | (value & ((1u << bits) - 1)) << shift);
    else
        put_bytes(at, value, bits / 8);
}

/* d = a b + c; b1: 1 xor, 2 and. */
static void multiply(unsigned m, unsigned n, unsigned k, int b1, const double *a, const double *b,
                     double *c)
{
    for (unsigned i = 0; i < m; i++)
        for (unsigned j = 0; j < n; j++)
            for (unsigned l = 0; l < k; l++) {
                double x = a[i * k + l], y = b[l * n + j];
                c[i * n + j] += b1 == 1 ? x != y : b1 == 2 ? x != 0 && y != 0 : x * y;
            }
}

/* ---- mma: where element i of a lane lies (g: lane / 4, t: lane % 4) ---- */

#define LAYOUT(name, expression)                                                                   \
    static unsigned name(unsigned g, unsigned t, unsigned i)                                       \
    {                                                                                              \
        (void)g, (void)t, (void)i;                                                                 \
        return expression;                                                                         \
    }
LAYOUT(group_row, g)
LAYOUT(row_1, i == 0 ? g : g + 8)
LAYOUT(row_odd, i % 2 == 0 ? g : g + 8)
LAYOUT(row_2, i < 2 ? g : g + 8)
LAYOUT(row_4, i < 4 ? g : g + 8)
LAYOUT(row_8, i < 8 ? g : g + 8)
LAYOUT(row_32, i < 32 ? g : g + 8)
LAYOUT(row_2_4, i < 2 || (4 <= i && i < 6) ? g : g + 8)
LAYOUT(row_4_8, i < 4 || (8 <= i && i < 12) ? g : g + 8)
LAYOUT(row_8_16, i < 8 || (16 <= i && i < 24) ? g : g + 8)
LAYOUT(row_32_64, i < 32 || (64 <= i && i < 96) ? g : g + 8)
LAYOUT(k_1, t)
LAYOUT(k_1_2, i < 2 ? t : t + 4)
LAYOUT(k_1_1, i == 0 ? t : t + 4)
LAYOUT(k_f64, i % 2 == 0 ? i * 2 + t : i * 2 - 2 + t)
LAYOUT(k_f64_b, t + i * 4)
LAYOUT(k_2, t * 2 + (i & 1))
LAYOUT(k_2_4, i < 4 ? t * 2 + (i & 1) : t * 2 + (i & 1) + 8)
LAYOUT(k_2_2, i < 2 ? t * 2 + (i & 1) : t * 2 + (i & 1) + 8)
LAYOUT(k_4, t * 4 + (i & 3))
LAYOUT(k_4_8, i < 8 ? t * 4 + (i & 3) : t * 4 + (i & 3) + 16)
LAYOUT(k_4_4, i < 4 ? t * 4 + (i & 3) : t * 4 + (i & 3) + 16)
LAYOUT(k_8, t * 8 + (i & 7))
LAYOUT(k_8_16, i < 16 ? t * 8 + (i & 7) : t * 8 + (i & 7) + 32)
LAYOUT(k_8_8, i < 8 ? t * 8 + (i & 7) : t * 8 + (i & 7) + 32)
LAYOUT(k_32, t * 32 + (i & 31))
LAYOUT(k_32_64, i < 64 ? t * 32 + (i & 31) : t * 32 + (i & 31) + 128)
LAYOUT(k_32_32, i < 32 ? t * 32 + (i & 31) : t * 32 + (i & 31) + 128)

typedef unsigned layout(unsigned, unsigned, unsigned);
static const struct shape {
    const char *name;
    unsigned m, n, k;
    unsigned bits; /* size of an element */
    layout *a_row, *a_column, *b_row;
} shapes[] = {{"m8n8k4", 8, 8, 4, 64, group_row, k_1, k_1},
              {"m16n8k4", 16, 8, 4, 64, row_1, k_1, k_1},
              {"m16n8k8", 16, 8, 8, 64, row_odd, k_1_2, k_f64_b},
              {"m16n8k16", 16, 8, 16, 64, row_odd, k_f64, k_f64_b},
              {"m16n8k4", 16, 8, 4, 32, row_1, k_1, k_1},
              {"m16n8k8", 16, 8, 8, 32, row_odd, k_1_2, k_1_1},
              {"m16n8k8", 16, 8, 8, 16, row_2, k_2, k_2},
              {"m16n8k16", 16, 8, 16, 16, row_2_4, k_2_4, k_2_2},
              {"m8n8k16", 8, 8, 16, 8, group_row, k_4, k_4},
              {"m16n8k16", 16, 8, 16, 8, row_4, k_4, k_4},
              {"m16n8k32", 16, 8, 32, 8, row_4_8, k_4_8, k_4_4},
              {"m8n8k32", 8, 8, 32, 4, group_row, k_8, k_8},
              {"m16n8k32", 16, 8, 32, 4, row_8, k_8, k_8},
              {"m16n8k64", 16, 8, 64, 4, row_8_16, k_8_16, k_8_8},
              {"m8n8k128", 8, 8, 128, 1, group_row, k_32, k_32},
              {"m16n8k128", 16, 8, 128, 1, row_32, k_32, k_32},
              {"m16n8k256", 16, 8, 256, 1, row_32_64, k_32_64, k_32_32}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* d = a b + c in f64, each step rounded, the first product first. */
static void multiply_rounded(const struct shape *s, mpfr_rnd_t rounding, const double *a,
                             const double *b, double *c)
{
    mpfr_t x, y, sum;
    mpfr_inits2(53, x, y, sum, (mpfr_ptr)0);
    for (unsigned i = 0; i < s->m; i++)
        for (unsigned j = 0; j < s->n; j++) {
            mpfr_set_d(sum, c[i * s->n + j], rounding);
            for (unsigned l = 0; l < s->k; l++) {
                mpfr_set_d(x, a[i * s->k + l], rounding);
                mpfr_set_d(y, b[l * s->n + j], rounding);
                mpfr_fma(sum, x, y, sum, rounding);
            }
            c[i * s->n + j] = mpfr_get_d(sum, rounding);
        }
    mpfr_clears(x, y, sum, (mpfr_ptr)0);
}

/* A lane's fragments in memory: 128 bytes, of which c, and then d, are the last. */
enum { LANE = 128, B_AT = 64, C_AT = 96 };

/* y: elements of a, b and of c and d, a byte each; z: 1 saturates, 2 xor, 4 and, above that the
 * rounding of f64. */
static enum element element_of(const struct group_row *row, unsigned which)
{
    return (enum element)(row->y >> 8 * which & 255);
}

static const mpfr_rnd_t roundings[] = {MPFR_RNDN, MPFR_RNDN, MPFR_RNDZ, MPFR_RNDD, MPFR_RNDU};
static const char *const rounding_names[] = {"", ".rn", ".rz", ".rm", ".rp"};

static unsigned held(unsigned elements_of_matrix)
{
    return elements_of_matrix / 32;
}

static void fill_fragments(struct group *g, const struct group_row *row)
{
    const struct shape *s = &shapes[row->x];
    const unsigned counts[] = {held(s->m * s->k), held(s->k * s->n), held(s->m * s->n)};
    static const unsigned at[] = {0, B_AT, C_AT};
    bool special = random_bits() % 4 == 0;
    memset(g->memory, 0, GROUP_BYTES);
    for (unsigned t = 0; t < GROUP; t++)
        for (unsigned w = 0; w < 3; w++)
            for (unsigned i = 0; i < counts[w]; i++) {
                enum element e = element_of(row, w);
                uint64_t full = (random_bits() & 0x803fffffffffffff) | 0x3fc0000000000000;
                put(g->memory + t * LANE + at[w], i, elements[e].bits,
                    row->z >> 3 ? full : random_element(e, special));
            }
}

static void multiplied(struct group *g, const struct group_row *row)
{
    static double a[MOST], b[MOST], c[MOST];
    const struct shape *s = &shapes[row->x];
    enum element ea = element_of(row, 0), eb = element_of(row, 1), ec = element_of(row, 2);
    layout *c_row = s->m == 8 ? group_row : row_2;
    for (unsigned w = 0; w < 2; w++) {
        for (unsigned lane = 0; lane < 32; lane++) {
            const uint8_t *from = g->memory + (32 * w + lane) * LANE;
            unsigned x = lane / 4, t = lane % 4;
            for (unsigned i = 0; i < held(s->m * s->k); i++)
                a[s->a_row(x, t, i) * s->k + s->a_column(x, t, i)] =
                    value_of(ea, get(from, i, s->bits));
            for (unsigned i = 0; i < held(s->k * s->n); i++)
                b[s->b_row(x, t, i) * s->n + x] = value_of(eb, get(from + B_AT, i, s->bits));
            for (unsigned i = 0; i < held(s->m * s->n); i++)
                c[c_row(x, t, i) * s->n + k_2(x, t, i)] =
                    value_of(ec, get(from + C_AT, i, elements[ec].bits));
        }
        if (row->z >> 3)
            multiply_rounded(s, roundings[row->z >> 3], a, b, c);
        else
            multiply(s->m, s->n, s->k, row->z >> 1, a, b, c);
        for (unsigned lane = 0; lane < 32; lane++)
            for (unsigned i = 0; i < held(s->m * s->n); i++)
                put(g->memory + (32 * w + lane) * LANE + C_AT, i, elements[ec].bits,
                    bits_of(ec, c[c_row(lane / 4, lane % 4, i) * s->n + k_2(0, lane % 4, i)],
                            row->z & 1));
    }
}

/* "{a0, a1}" and the loads or stores of its registers. */
static size_t registers(char *list, char *moves, char name, unsigned bytes, unsigned at,
                        unsigned reg, bool stores)
{
    size_t l = (size_t)sprintf(list, "{"), m = 0;
    for (unsigned i = 0; i < (bytes + reg - 1) / reg; i++) {
        l += (size_t)sprintf(list + l, "%s%c%u", i ? ", " : "", name, i);
        m += (size_t)(stores ? sprintf(moves + m, " st.global.b%u [o+%u], %c%u;", 8 * reg,
                                       at + i * reg, name, i)
                             : sprintf(moves + m, " ld.global.b%u %c%u, [o+%u];", 8 * reg, name, i,
                                       at + i * reg));
    }
    sprintf(list + l, "}");
    return m;
}

static void add_mma(unsigned x, enum element ea, enum element eb, enum element ec, int z,
                    const char *before)
{
    const struct shape *s = &shapes[x];
    char a[80], b[80], c[80], moves[1000], stores[300], d[80];
    unsigned reg = ea == F64 ? 8 : 4, bytes = held(s->m * s->n) * elements[ec].bits / 8;
    size_t at = registers(a, moves, 'a', held(s->m * s->k) * s->bits / 8, 0, reg, false);
    at += registers(b, moves + at, 'b', held(s->k * s->n) * s->bits / 8, B_AT, reg, false);
    registers(c, moves + at, 'c', bytes, C_AT, reg, false);
    registers(d, stores, 'c', bytes, C_AT, reg, true);
    const char *r = ea == F64 ? "f64" : "b32", *n = elements[ec].name, *f = "b32";
    f = ea == F64 ? "f64" : ec == F32 ? "f32" : "b32";
    struct group_row *row =
        group_add(IN_GLOBAL, "b32 - - -",
                  "{.reg .b64 o; .reg .%s a<8>, b<4>; .reg .%s c<4>; mad.wide.u32 o, %%l, %u, %%m;"
                  "%s mma.sync.aligned.%s.row.col%s.%s.%s.%s.%s%s %s, %s, %s, %s;%s"
                  " mov.b32 %%d, 0;}",
                  r, f, LANE, moves, s->name, before, n, elements[ea].name, elements[eb].name, n,
                  z & 2   ? ".xor.popc"
                  : z & 4 ? ".and.popc"
                          : "",
                  c, a, b, c, stores);
    row->expected = multiplied, row->prepare = fill_fragments;
    row->x = (int)x, row->y = (int)(ea | eb << 8 | ec << 16), row->z = z;
}

static void add_mmas(void)
{
    for (unsigned x = 0; x < SHAPES; x++)
        switch (shapes[x].bits) {
        case 64:
            for (int z = 0; z < 5; z++)
                add_mma(x, F64, F64, F64, z << 3, rounding_names[z]);
            break;
        case 32:
            add_mma(x, TF32, TF32, F32, 0, "");
            break;
        case 16:
            add_mma(x, F16, F16, F16, 0, "");
            add_mma(x, F16, F16, F32, 0, "");
            add_mma(x, BF16, BF16, F32, 0, "");
            break;
        case 8:
            for (int z = 0; z < 4; z++)
                add_mma(x, z & 1 ? S8 : U8, z & 2 ? S8 : U8, S32, 0, "");
            add_mma(x, S8, S8, S32, 1, ".satfinite");
            for (int z = 0; z < 8 && shapes[x].m == 16; z++)
                add_mma(x, z & 1 ? E4M3 : E5M2, z & 2 ? E4M3 : E5M2, z & 4 ? F32 : F16, 0, "");
            break;
        case 4:
            for (int z = 0; z < 4; z++)
                add_mma(x, z & 1 ? S4 : U4, z & 2 ? S4 : U4, S32, 0, "");
            add_mma(x, U4, S4, S32, 1, ".satfinite");
            break;
        default:
            add_mma(x, B1, B1, S32, 2, "");
            add_mma(x, B1, B1, S32, 4, "");
        }
}

/* ---- wmma: a, b and c from memory, d to where c was ---- */

enum { WMMA_B = 1024, WMMA_C = 2048 };
static const struct wmma {
    unsigned m, n, k;
    enum element ab, c, d;
    unsigned a_regs, b_regs, c_regs, d_regs;
    int z;
} wmmas[] = {
    {16, 16, 16, F16, F32, F32, 8, 8, 8, 8, 0},  {16, 16, 16, F16, F16, F16, 8, 8, 4, 4, 0},
    {32, 8, 16, F16, F16, F32, 8, 8, 4, 8, 0},   {8, 32, 16, F16, F32, F16, 8, 8, 8, 4, 0},
    {16, 16, 16, BF16, F32, F32, 4, 4, 8, 8, 0}, {32, 8, 16, BF16, F32, F32, 8, 2, 8, 8, 0},
    {8, 32, 16, BF16, F32, F32, 2, 8, 8, 8, 0},  {16, 16, 8, TF32, F32, F32, 4, 4, 8, 8, 0},
    {16, 16, 16, S8, S32, S32, 2, 2, 8, 8, 1},   {32, 8, 16, U8, S32, S32, 4, 1, 8, 8, 0},
    {8, 32, 16, S8, S32, S32, 1, 4, 8, 8, 0},    {8, 8, 4, F64, F64, F64, 1, 1, 2, 2, 0},
    {8, 8, 32, S4, S32, S32, 1, 1, 2, 2, 0},     {8, 8, 32, U4, S32, S32, 1, 1, 2, 2, 1},
    {8, 8, 128, B1, S32, S32, 1, 1, 2, 2, 2},    {8, 8, 128, B1, S32, S32, 1, 1, 2, 2, 4}};

/* z: bit 0 to 3 say whether a, b, c and d lie by columns, above them the padding of lines. */
static size_t number_of(unsigned row, unsigned column, unsigned rows, unsigned columns, int z,
                        unsigned which)
{
    unsigned padding = (unsigned)z >> 4;
    return z >> which & 1 ? column * (rows + padding) + row : row * (columns + padding) + column;
}

static void fill_matrices(struct group *g, const struct group_row *row)
{
    const struct wmma *x = &wmmas[row->x];
    memset(g->memory, 0, GROUP_BYTES);
    for (unsigned w = 0; w < 2; w++) {
        for (unsigned i = 0; i < WMMA_B * 8 / elements[x->ab].bits; i++) {
            put(g->memory + w * HALF, i, elements[x->ab].bits, random_element(x->ab, false));
            put(g->memory + w * HALF + WMMA_B, i, elements[x->ab].bits,
                random_element(x->ab, false));
        }
        for (unsigned i = 0; i < WMMA_C * 8 / elements[x->c].bits; i++)
            put(g->memory + w * HALF + WMMA_C, i, elements[x->c].bits, random_element(x->c, false));
    }
}

static void multiplied_in_memory(struct group *g, const struct group_row *row)
{
    static double a[MOST], b[MOST], c[MOST];
    const struct wmma *x = &wmmas[row->x];
    for (unsigned w = 0; w < 2; w++) {
        uint8_t *from = g->memory + w * HALF;
        for (unsigned i = 0; i < x->m; i++)
            for (unsigned j = 0; j < x->k; j++)
                a[i * x->k + j] = value_of(
                    x->ab, get(from, number_of(i, j, x->m, x->k, row->z, 0), elements[x->ab].bits));
        for (unsigned i = 0; i < x->k; i++)
            for (unsigned j = 0; j < x->n; j++)
                b[i * x->n + j] =
                    value_of(x->ab, get(from + WMMA_B, number_of(i, j, x->k, x->n, row->z, 1),
                                        elements[x->ab].bits));
        for (unsigned i = 0; i < x->m; i++)
            for (unsigned j = 0; j < x->n; j++)
                c[i * x->n + j] =
                    value_of(x->c, get(from + WMMA_C, number_of(i, j, x->m, x->n, row->z, 2),
                                       elements[x->c].bits));
        multiply(x->m, x->n, x->k, x->z >> 1, a, b, c);
        for (unsigned i = 0; i < x->m; i++)
            for (unsigned j = 0; j < x->n; j++)
                put(from + WMMA_C, number_of(i, j, x->m, x->n, row->z, 3), elements[x->d].bits,
                    bits_of(x->d, c[i * x->n + j], x->z & 1));
    }
}

static const char *list_of(char *to, char name, unsigned count)
{
    size_t at = (size_t)sprintf(to, "{");
    for (unsigned i = 0; i < count; i++)
        at += (size_t)sprintf(to + at, "%s%c%u", i ? ", " : "", name, i);
    sprintf(to + at, "}");
    return to;
}

static unsigned stride_of(unsigned rows, unsigned columns, int z, unsigned which)
{
    return (z >> which & 1 ? rows : columns) + ((unsigned)z >> 4);
}

static void add_wmma(unsigned number, enum group_place place, int z)
{
    const struct wmma *x = &wmmas[number];
    char a[100], b[100], c[100], d[100], types[40], shape[20];
    static const char *const lines[] = {"row", "col"};
    const char *ab = elements[x->ab].name, *tc = elements[x->c].name, *td = elements[x->d].name;
    const char *reg = x->ab == F64 ? "f64" : "b32";
    if (x->ab == F16)
        snprintf(types, sizeof types, ".%s.%s", td, tc);
    else
        snprintf(types, sizeof types, ".%s.%s.%s.%s", td, ab, ab, tc);
    snprintf(shape, sizeof shape, "m%un%uk%u", x->m, x->n, x->k);
    struct group_row *row = group_add(
        place, "b32 - - -",
        "{.reg .%s a<8>, b<8>; .reg .%s c<8>; .reg .%s d<8>;"
        " wmma.load.a.sync.aligned.%s.%s#.%s %s, [%%m], %u;"
        " wmma.load.b.sync.aligned.%s.%s#.%s %s, [%%m+%u], %u;"
        " wmma.load.c.sync.aligned.%s.%s#.%s %s, [%%m+%u], %u;"
        " wmma.mma%s.sync.aligned.%s.%s.%s%s%s %s, %s, %s, %s;"
        " wmma.store.d.sync.aligned.%s.%s#.%s [%%m+%u], %s, %u; mov.b32 %%d, 0;}",
        reg, x->c == F32 ? "f32" : reg, x->d == F32 ? "f32" : reg, lines[z & 1], shape, ab,
        list_of(a, 'a', x->a_regs), stride_of(x->m, x->k, z, 0), lines[z >> 1 & 1], shape, ab,
        list_of(b, 'b', x->b_regs), WMMA_B, stride_of(x->k, x->n, z, 1), lines[z >> 2 & 1], shape,
        tc, list_of(c, 'c', x->c_regs), WMMA_C, stride_of(x->m, x->n, z, 2),
        x->z & 2   ? ".xor.popc"
        : x->z & 4 ? ".and.popc"
                   : "",
        lines[z & 1], lines[z >> 1 & 1], shape, types, x->z & 1 ? ".satfinite" : "",
        list_of(d, 'd', x->d_regs), a, b, c, lines[z >> 3 & 1], shape, td, WMMA_C, d,
        stride_of(x->m, x->n, z, 3));
    row->expected = multiplied_in_memory, row->prepare = fill_matrices;
    row->x = (int)number, row->z = z;
}

static void add_wmmas(void)
{
    for (unsigned i = 0; i < sizeof wmmas / sizeof *wmmas; i++) {
        bool small = elements[wmmas[i].ab].bits < 8;
        for (int z = 0; z < 16; z++)
            if (!small || (z & 3) == 2)
                add_wmma(i, (enum group_place)(z % PLACES == IN_CLUSTER ? IN_GLOBAL : z % PLACES),
                         small ? z : z | (z & 4 ? 8 << 4 : 0));
    }
}

void group_add_matrices(void)
{
    add_mmas();
    add_wmmas();
}

/* Video instructions by the pseudocode of 9.7.18: all operations and types, with parts and masks
 * that are drawn. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rows_group.h"
#include "vectors.h"

enum operation { ADD, SUB, ABSDIFF, MIN, MAX, SHL, SHR, AVRG, SET };
static const char *const names[] = {"vadd", "vsub", "vabsdiff", "vmin", "vmax",
                                    "vshl", "vshr", "vavrg",    "vset"};
static const char *const comparisons[] = {"eq", "ne", "lt", "le", "gt", "ge"};
static const char *const types[] = {"u32", "s32"};

/* In x, bit by bit. */
enum {
    SIGNED_A = 16,
    SIGNED_B = 32,
    SIGNED_D = 64,
    SATURATES = 128,
    WRAPS = 256,
    SECOND = 9,
    COMPARES = 12
};
enum second { NONE, WITH_ADD, WITH_MIN, WITH_MAX, MERGED };
static const char *const seconds[] = {"", ".add", ".min", ".max", ""};

/* Shifts go beyond 64 bits. */
typedef __int128 wide;

static wide clamped(wide x, unsigned bits, bool is_signed)
{
    int64_t most = ((int64_t)1 << (bits - is_signed)) - 1, least = is_signed ? -most - 1 : 0;
    return x < least ? least : x > most ? most : x;
}

static int64_t part_of(uint64_t x, unsigned at, unsigned bits, bool is_signed)
{
    int64_t part = (int64_t)(x >> at & (((uint64_t)1 << bits) - 1));
    return is_signed && part >> (bits - 1) ? part - ((int64_t)1 << bits) : part;
}

static wide combine(int x, int64_t a, int64_t b)
{
    enum operation op = (enum operation)(x & 15);
    const bool order[] = {a == b, a != b, a<b, a <= b, a> b, a >= b};
    switch (op) {
    case ADD:
        return a + b;
    case SUB:
        return a - b;
    case ABSDIFF:
        return llabs(a - b);
    case MIN:
        return a < b ? a : b;
    case MAX:
        return a > b ? a : b;
    case AVRG:
        return a + b >= 0 ? (a + b + 1) >> 1 : (a + b) >> 1;
    case SET:
        return order[x >> COMPARES & 7];
    default: /* shifts: b is not negative */
        b = x & WRAPS ? b & 31 : b > 32 ? 32 : b;
        return op == SHL ? (wide)a << b : a >> b;
    }
}

/* ---- scalar: y: places of a, b and d, four bits each: all, b0 to b3, h0, h1 ---- */

static const char *const places[] = {"", ".b0", ".b1", ".b2", ".b3", ".h0", ".h1"};
static unsigned at_of(unsigned place)
{
    return place == 0 ? 0 : place < 5 ? 8 * (place - 1) : 16 * (place - 5);
}
static unsigned bits_at(unsigned place)
{
    return place == 0 ? 32 : place < 5 ? 8 : 16;
}

static void scalar(struct group *g, const struct group_row *row)
{
    unsigned a_at = row->y & 15, b_at = row->y >> 4 & 15, d_at = row->y >> 8 & 15;
    enum second second = (enum second)(row->x >> SECOND & 7);
    for (unsigned t = 0; t < GROUP; t++) {
        int64_t a = part_of(g->a[t], at_of(a_at), bits_at(a_at), row->x & SIGNED_A),
                b = part_of(g->b[t], at_of(b_at), bits_at(b_at), row->x & SIGNED_B),
                c = part_of(g->c[t], 0, 32, row->x & SIGNED_D);
        wide d = combine(row->x, a, b);
        uint64_t where = (((uint64_t)1 << bits_at(d_at)) - 1) << at_of(d_at);
        if (row->x & SATURATES)
            d = clamped(d, bits_at(d_at), row->x & SIGNED_D);
        g->d[t] = second == WITH_ADD   ? (uint64_t)(d + c)
                  : second == WITH_MIN ? (uint64_t)(d < c ? d : c)
                  : second == WITH_MAX ? (uint64_t)(d > c ? d : c)
                  : second == MERGED   ? ((uint64_t)d << at_of(d_at) & where) | (g->c[t] & ~where)
                                       : (uint64_t)d;
    }
}

static void add_scalar(int x)
{
    enum operation op = (enum operation)(x & 15);
    enum second second = (enum second)(x >> SECOND & 7);
    uint64_t r = random_bits();
    unsigned a = r % 7, b = r / 7 % 7, d = second == MERGED ? 1 + r / 49 % 6 : 0;
    bool shifts = op == SHL || op == SHR;
    char name[80];
    size_t at = (size_t)sprintf(name, "%s", names[op]);
    if (op != SET)
        at += (size_t)sprintf(name + at, ".%s", types[(x & SIGNED_D) != 0]);
    at += (size_t)sprintf(name + at, ".%s.%s", types[(x & SIGNED_A) != 0],
                          types[(x & SIGNED_B) != 0]);
    sprintf(name + at, "%s%s%s%s%s", x & SATURATES ? ".sat" : "",
            shifts ? (x & WRAPS ? ".wrap" : ".clamp") : "", op == SET ? "." : "",
            op == SET ? comparisons[x >> COMPARES & 7] : "", seconds[second]);
    struct group_row *row =
        group_add(IN_GLOBAL, "b32 b32 b32 b32", "%s %%d%s, %%a%s, %%b%s%s;", name, places[d],
                  places[a], places[b], second == NONE ? "" : ", %c");
    row->expected = scalar, row->x = x, row->y = (int)(a | b << 4 | d << 8);
}

/* .min and .max take results that 32 bits hold: of others the manual says nothing. */
static void add_scalars(void)
{
    for (int op = ADD; op <= SHR; op++)
        for (int bits = 0; bits < 32; bits++)
            for (int second = NONE; second <= MERGED; second++) {
                int x = op | bits * SIGNED_A | second << SECOND;
                bool shifts = op >= SHL, one = !(bits & 7) || (bits & 7) == 7;
                if ((!shifts && x & WRAPS) || (shifts && x & SIGNED_B))
                    continue;
                if ((second == WITH_MIN || second == WITH_MAX)
                    && !(x & SATURATES && (one || shifts)))
                    continue;
                add_scalar(x);
            }
    for (int compare = 0; compare < 6; compare++)
        for (int bits = 0; bits < 4; bits++)
            for (int second = NONE; second <= MERGED; second++)
                if (second != WITH_MIN && second != WITH_MAX)
                    add_scalar(SET | bits * SIGNED_A | second << SECOND | compare << COMPARES);
}

/* ---- SIMD ---- */

/* y: four places of a and four of b in {b, a}, four bits each; z: the mask, and 16 for halves. */
static void simd(struct group *g, const struct group_row *row)
{
    unsigned bits = row->z & 16 ? 16 : 8;
    bool adds = (row->x >> SECOND & 7) == WITH_ADD;
    for (unsigned t = 0; t < GROUP; t++) {
        uint64_t both = g->b[t] << 32 | g->a[t], d = adds ? g->c[t] : 0;
        for (unsigned i = 0; i < 32 / bits; i++) {
            int64_t a = part_of(both, ((unsigned)row->y >> 4 * i & 15) * bits, bits,
                                row->x & SIGNED_A),
                    b = part_of(both, ((unsigned)row->y >> (16 + 4 * i) & 15) * bits, bits,
                                row->x & SIGNED_B);
            wide s = combine(row->x, a, b);
            uint64_t where = (((uint64_t)1 << bits) - 1) << bits * i;
            bool taken = row->z >> i & 1;
            if (row->x & SATURATES)
                s = clamped(s, bits, row->x & SIGNED_D);
            if (adds)
                d += taken ? (uint64_t)s : 0;
            else
                d |= (taken ? (uint64_t)s << bits * i : g->c[t]) & where;
        }
        g->d[t] = d;
    }
}

static void add_simd(int x, bool halves)
{
    unsigned n = halves ? 2 : 4, mask = 0, y = 0;
    char mask_text[8] = "", parts[2][8] = {"", ""}, name[60];
    enum operation op = (enum operation)(x & 15);
    for (unsigned i = n; i-- > 0;) { /* the highest is written first */
        if (random_bits() % 4) {
            mask |= 1u << i;
            sprintf(mask_text + strlen(mask_text), "%u", i);
        }
        for (unsigned k = 0; k < 2; k++) {
            unsigned place = (unsigned)(random_bits() % (2 * n));
            y |= place << (16 * k + 4 * i);
            sprintf(parts[k] + strlen(parts[k]), "%u", place);
        }
    }
    if (!mask)
        mask = 1, sprintf(mask_text, "0");
    size_t at = (size_t)sprintf(name, "%s%u", names[op], n);
    if (op != SET)
        at += (size_t)sprintf(name + at, ".%s", types[(x & SIGNED_D) != 0]);
    sprintf(name + at, ".%s.%s%s%s%s%s", types[(x & SIGNED_A) != 0], types[(x & SIGNED_B) != 0],
            x & SATURATES ? ".sat" : "", op == SET ? "." : "",
            op == SET ? comparisons[x >> COMPARES & 7] : "", seconds[x >> SECOND & 7]);
    char letter = halves ? 'h' : 'b';
    struct group_row *row =
        group_add(IN_GLOBAL, "b32 b32 b32 b32", "%s %%d.%c%s, %%a.%c%s, %%b.%c%s, %%c;", name,
                  letter, mask_text, letter, parts[0], letter, parts[1]);
    row->expected = simd, row->x = x, row->y = (int)y, row->z = (int)mask | (halves ? 16 : 0);
}

void group_add_video(void)
{
    static const enum operation ops[] = {ADD, SUB, ABSDIFF, MIN, MAX, AVRG};
    add_scalars();
    for (int halves = 0; halves < 2; halves++) {
        for (unsigned i = 0; i < 6; i++)
            for (int bits = 0; bits < 8; bits++) {
                int x = (int)ops[i] | bits * SIGNED_A;
                add_simd(x, halves);
                add_simd(x | SATURATES, halves);
                add_simd(x | WITH_ADD << SECOND, halves);
            }
        for (int compare = 0; compare < 6; compare++)
            for (int bits = 0; bits < 4; bits++) {
                add_simd(SET | bits * SIGNED_A | compare << COMPARES, halves);
                add_simd(SET | bits * SIGNED_A | compare << COMPARES | WITH_ADD << SECOND, halves);
            }
    }
}

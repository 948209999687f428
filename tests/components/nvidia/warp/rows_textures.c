/* Textures and surfaces (9.7.10, 9.7.11) by the formulas of the CUDA C++ Programming Guide,
 * "Texture Fetching". Coordinates are multiples of 1/256 of a texel, and floats have few bits, so
 * that weights and sums are exact. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "components/protocols/texture/texture_object.h"

#include "rows_group.h"
#include "vectors.h"

enum { HALF = GROUP_BYTES / 2, TEXELS = 256, PADDING = 16, GATHERS = 8 };

static const struct {
    unsigned bytes, channels, kind;
    int fraction, exponent;
} formats[] = {{1, 4, TEXTURE_UNSIGNED, 0, 0}, {1, 1, TEXTURE_SIGNED, 0, 0},
               {2, 2, TEXTURE_UNSIGNED, 0, 0}, {2, 4, TEXTURE_SIGNED, 0, 0},
               {4, 1, TEXTURE_UNSIGNED, 0, 0}, {4, 4, TEXTURE_SIGNED, 0, 0},
               {2, 4, TEXTURE_FLOAT, 10, 5},   {2, 1, TEXTURE_FLOAT, 10, 5},
               {4, 2, TEXTURE_FLOAT, 23, 8},   {4, 4, TEXTURE_FLOAT, 23, 8}};
enum { FORMATS = sizeof formats / sizeof *formats };
static const unsigned sizes[4][3] = {{1, 1, 1}, {16, 1, 1}, {8, 4, 1}, {4, 4, 4}};

/* The object of a warp, whose base the row's text has written. */
static struct texture_object object_of(const struct group *g, unsigned t)
{
    struct texture_object o;
    memcpy(&o, g->memory + t / 32 * HALF, sizeof o);
    return o;
}

/* x: format; y: dimensions, and GATHERS and above it of what; z: 1 coordinates are whole numbers,
 * 2 integers are read as floats. */
static void fill_texture(struct group *g, const struct group_row *row)
{
    unsigned dimensions = (unsigned)row->y & 3, f = (unsigned)row->x;
    bool floats = formats[f].kind == TEXTURE_FLOAT;
    struct texture_object o = {
        .magic = TEXTURE_MAGIC,
        .pitch = sizes[dimensions][0] * formats[f].bytes * formats[f].channels + PADDING,
        .channel_bytes = (uint8_t)formats[f].bytes,
        .channels = (uint8_t)formats[f].channels,
        .kind = (uint8_t)formats[f].kind};
    uint64_t r = random_bits();
    memcpy(o.size, sizes[dimensions], sizeof o.size);
    o.normalised_coordinates = r & 1;
    o.interpolates = r >> 1 & floats;
    o.normalised_read = !floats && formats[f].bytes < 4 && row->z == 2;
    for (unsigned d = 0; d < 3; d++)
        o.address[d] = r >> (8 + 2 * d) & 3, o.border[d] = 2;
    for (unsigned i = 0; floats && i < GROUP_BYTES; i += formats[f].bytes)
        put_bytes(
            g->memory + i,
            encode((double)(random_bits() % 33) - 16, formats[f].fraction, formats[f].exponent),
            formats[f].bytes);
    uint64_t *const coordinates[] = {g->a, g->b, g->c};
    for (unsigned d = 0; d < 3; d++)
        for (unsigned t = 0; t < GROUP; t++) {
            double x = (double)(random_bits() % (sizes[dimensions][d] * 3 * 256)) / 256
                       - (double)sizes[dimensions][d];
            coordinates[d][t] =
                row->z == 1
                    ? (uint64_t)(int64_t)x & 0xffffffff
                    : encode(o.normalised_coordinates ? x / sizes[dimensions][d] : x, 23, 8);
        }
    memcpy(g->memory, &o, sizeof o);
    memcpy(g->memory + HALF, &o, sizeof o);
}

/* Channel k of a texel: its value, or its number. */
static double texel(const struct group *g, unsigned t, const struct group_row *row, const int at[3],
                    unsigned k)
{
    struct texture_object o = object_of(g, t);
    unsigned bytes = o.channel_bytes, f = (unsigned)row->x;
    const uint8_t *from = g->memory + t / 32 * HALF + TEXELS
                          + (at[2] * (int)o.size[1] + at[1]) * (int)o.pitch
                          + (at[0] * o.channels + (int)k) * (int)bytes;
    uint64_t n = bytes_at(from, bytes), sign = (uint64_t)1 << (8 * bytes - 1);
    if (o.kind == TEXTURE_FLOAT)
        return decode(n, formats[f].fraction, formats[f].exponent);
    double x = o.kind == TEXTURE_SIGNED ? (double)(int64_t)((n ^ sign) - sign) : (double)n;
    if (!o.normalised_read)
        return x;
    x /= o.kind == TEXTURE_SIGNED ? (double)(sign - 1) : (double)(2 * sign - 1);
    return x < -1 ? -1 : x;
}

/* The texel that address modes give for a number; border gives its colour. */
static double addressed(const struct group *g, unsigned t, const struct group_row *row,
                        const int number[3], unsigned k)
{
    struct texture_object o = object_of(g, t);
    int at[3];
    for (unsigned d = 0; d < 3; d++) {
        int n = (int)o.size[d], mode = row->z == 1 ? TEXTURE_BORDER : o.address[d];
        at[d] = number[d];
        if (!o.normalised_coordinates && mode != TEXTURE_BORDER)
            mode = TEXTURE_CLAMP;
        if (mode == TEXTURE_BORDER && (at[d] < 0 || at[d] >= n))
            return o.kind == TEXTURE_FLOAT || o.normalised_read ? (double)o.border[k] : 0;
        if (mode == TEXTURE_WRAP)
            at[d] = (at[d] + 64 * n) % n;
        at[d] = at[d] < 0 ? 0 : at[d] >= n ? n - 1 : at[d];
    }
    return texel(g, t, row, at, k);
}

/* Numbers of texels and weights of a thread. */
static void find_place(const struct group *g, unsigned t, const struct group_row *row, bool between,
                       int at[3], double weight[3])
{
    struct texture_object o = object_of(g, t);
    const uint64_t bits[] = {g->a[t], g->b[t], g->c[t]};
    for (unsigned d = 0; d < 3; d++) {
        double x = decode(bits[d], 23, 8), whole = floor(x);
        at[d] = (int32_t)bits[d];
        weight[d] = 0;
        if (d >= ((unsigned)row->y & 3))
            at[d] = 0;
        if (d >= ((unsigned)row->y & 3) || row->z == 1)
            continue;
        if (o.normalised_coordinates) {
            if (o.address[d] == TEXTURE_WRAP)
                x -= whole;
            if (o.address[d] == TEXTURE_MIRROR)
                x = fabs(fmod(whole, 2)) == 1 ? 1 - (x - whole) : x - whole;
            x *= o.size[d];
        }
        x -= between ? 0.5 : 0;
        at[d] = (int)floor(x);
        weight[d] = between ? x - floor(x) : 0;
    }
}

static uint64_t result_of(const struct texture_object *o, double x)
{
    return o->kind == TEXTURE_FLOAT || o->normalised_read ? encode(x, 23, 8)
                                                          : (uint64_t)(int64_t)x & 0xffffffff;
}

static void fetched(struct group *g, const struct group_row *row)
{
    for (unsigned t = 0; t < GROUP; t++) {
        struct texture_object o = object_of(g, t);
        bool gathers = row->y & GATHERS;
        int at[3];
        double weight[3];
        find_place(g, t, row, gathers || (o.interpolates && row->z != 1), at, weight);
        for (unsigned k = 0; k < (gathers ? 4 : o.channels); k++) {
            static const int corners[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
            double sum = 0;
            if (gathers) {
                const int corner[] = {at[0] + corners[k][0], at[1] + corners[k][1], 0};
                sum = addressed(g, t, row, corner, (unsigned)row->y >> 4);
            }
            for (unsigned step = 0; !gathers && step < 8; step++) {
                double w = 1;
                int corner[3];
                for (unsigned d = 0; d < 3; d++) {
                    w *= step >> d & 1 ? weight[d] : 1 - weight[d];
                    corner[d] = at[d] + (int)(step >> d & 1);
                }
                sum += w != 0 ? w * addressed(g, t, row, corner, k) : 0;
            }
            g->d[t] = g->d[t] * 3 + result_of(&o, sum);
        }
    }
}

/* The text writes the object's base, and takes it back. */
#define OBJECT                                                                                     \
    "{.reg .b64 t, s; add.u64 t, %%m, 256; st.global.b64 [%%m+16], t; bar.warp.sync -1;"           \
    " mov.b64 %%d, 0;"
#define OVER " bar.warp.sync -1; mov.b64 t, 0; st.global.b64 [%%m+16], t;}"

static const char *const geometries[] = {"", "1d", "2d", "3d"};
static const char *const places[] = {"", "{%a}", "{%a, %b}", "{%a, %b, %c, %c}"};

static void add_fetch(const char *name, unsigned f, unsigned dimensions, int y, int z)
{
    char fold[400];
    size_t at = 0;
    bool floats = formats[f].kind == TEXTURE_FLOAT || z == 2;
    const char *type = floats ? "f32" : formats[f].kind == TEXTURE_SIGNED ? "s32" : "u32";
    unsigned count = y & GATHERS ? 4 : formats[f].channels;
    for (unsigned k = 0; k < count; k++)
        at += (size_t)sprintf(fold + at, " cvt.u64.u32 s, x%u; mad.lo.u64 %%d, %%d, 3, s;", k);
    struct group_row *row = group_add(
        IN_GLOBAL, "b64 b32 b32 b32",
        OBJECT " .reg .b32 x<4>; %s.%s.v4.%s.%s {x0, x1, x2, x3}, [%%m, %s];%s" OVER, name,
        geometries[dimensions], type, z == 1 ? "s32" : "f32", places[dimensions], fold);
    row->expected = fetched, row->prepare = fill_texture;
    row->x = (int)f, row->y = y | (int)dimensions, row->z = z;
}

/* z: the answer, by x of the object's fields. */
static void asked(struct group *g, const struct group_row *row)
{
    for (unsigned t = 0; t < GROUP; t++) {
        struct texture_object o = object_of(g, t);
        g->d[t] = row->z < 3 ? o.size[row->z] : o.normalised_coordinates;
    }
}

/* ---- surfaces ---- */

enum mode { TRAP, CLAMP, ZERO };
static const char *const modes[] = {"trap", "clamp", "zero"};
enum access { LOADS, STORES, SUM, MIN, MAX, AND, OR };
static const char *const reductions[] = {"", "", "add", "min", "max", "and", "or"};

/* z: bytes of an element, from bit 4 elements, from 8 enum mode, from 12 enum access, 16 signed. */
static void on_surface(struct group *g, const struct group_row *row)
{
    unsigned size = row->z & 15, count = row->z >> 4 & 15, dimensions = (unsigned)row->y & 3;
    enum mode mode = (enum mode)(row->z >> 8 & 15);
    enum access access = (enum access)(row->z >> 12 & 15);
    for (unsigned t = 0; t < GROUP; t++) {
        struct texture_object o = object_of(g, t);
        const int64_t most[] = {(int64_t)(o.size[0] * o.channels * o.channel_bytes) - size * count,
                                o.size[1] - 1, o.size[2] - 1},
                      given[] = {(int32_t)g->a[t], (int32_t)g->b[t], (int32_t)g->c[t]};
        int64_t at[3] = {0, 0, 0};
        bool inside = true;
        for (unsigned d = 0; d < dimensions; d++) {
            inside &= given[d] >= 0 && given[d] <= most[d];
            at[d] = given[d] < 0 ? 0 : given[d] > most[d] ? most[d] : given[d];
        }
        uint8_t *bytes = g->memory + t / 32 * HALF + TEXELS
                         + (at[2] * o.size[1] + at[1]) * (int64_t)o.pitch + at[0];
        for (unsigned k = 0; k < count; k++, bytes += size) {
            uint64_t own = (uint64_t)(t * 77 + k), old = bytes_at(bytes, size),
                     sign = row->z >> 16 ? (uint64_t)1 << (8 * size - 1) : 0;
            bool less = (old ^ sign) < (own ^ sign);
            const uint64_t results[] = {
                old, own, old + own, less ? old : own, less ? own : old, old & own, old | own};
            if (access == LOADS)
                g->d[t] = g->d[t] * 3 + (inside || mode == CLAMP ? old : 0);
            else if (inside || mode == CLAMP)
                put_bytes(bytes, results[access], size);
        }
    }
}

/* In bytes, at multiples of what is accessed; outside, too, but where that is a fault. */
static void fill_surface(struct group *g, const struct group_row *row)
{
    unsigned bytes = (row->z & 15) * (unsigned)(row->z >> 4 & 15),
             dimensions = (unsigned)row->y & 3;
    bool outside = (row->z >> 8 & 15) != TRAP;
    uint64_t *const coordinates[] = {g->a, g->b, g->c};
    fill_texture(g, row);
    struct texture_object o = object_of(g, 0);
    for (unsigned t = 0; t < GROUP; t++)
        for (unsigned d = 0; d < 3; d++) {
            int64_t step = d ? 1 : bytes,
                    n = d ? o.size[d] : o.size[0] * o.channels * o.channel_bytes / bytes,
                    x = (int64_t)(random_bits() % (uint64_t)(outside ? 3 * n : n))
                        - (outside ? n : 0);
            coordinates[d][t] = d < dimensions ? (uint64_t)(x * step) & 0xffffffff : 0;
        }
}

static void add_surface(enum access access, unsigned dimensions, unsigned size, unsigned count,
                        enum mode mode, const char *type)
{
    static const char *const vectors[] = {"", "", ".v2", "", ".v4"};
    static const char *const lists[] = {"", "x0", "{x0, x1}", "", "{x0, x1, x2, x3}"};
    char operands[100], text[900], name[60];
    size_t at = 0;
    const char *reg = size == 8 ? "b64" : size == 4 ? "b32" : "b16";
    snprintf(operands, sizeof operands, "[%%m, %s]", places[dimensions]);
    if (access <= STORES)
        snprintf(name, sizeof name, "%s.b.%s%s.b%u.%s", access == LOADS ? "suld" : "sust",
                 geometries[dimensions], vectors[count], 8 * size, modes[mode]);
    else
        snprintf(name, sizeof name, "sured.b.%s.%s.%s.%s", reductions[access],
                 geometries[dimensions], type, modes[mode]);
    for (unsigned k = 0; access != LOADS && k < count; k++)
        at += (size_t)sprintf(text + at, " cvt.u%s.u32 x%u, k; add.u32 k, k, 1;", reg + 1, k);
    at += (size_t)sprintf(text + at, " %s %s, %s;", name, access == LOADS ? lists[count] : operands,
                          access == LOADS ? operands : lists[count]);
    for (unsigned k = 0; access == LOADS && k < count; k++)
        at += (size_t)sprintf(text + at, " cvt.u64.u%s s, x%u; mad.lo.u64 %%d, %%d, 3, s;", reg + 1,
                              k);
    struct group_row *row =
        group_add(IN_GLOBAL, "b64 b32 b32 b32",
                  OBJECT " .reg .%s x<4>; .reg .b32 k; mul.lo.u32 k, %%i, 77;%s" OVER, reg, text);
    row->expected = on_surface, row->prepare = fill_surface;
    row->x = 5, row->y = (int)dimensions; /* texels of 16 bytes */
    row->z = (int)(size | count << 4 | mode << 8 | access << 12 | (type[0] == 's') << 16);
}

void group_add_textures(void)
{
    static const char *const questions[] = {
        "txq.width", "txq.height", "txq.depth", "txq.normalized_coords",
        "suq.width", "suq.height", "suq.depth"};
    static const char *const components[] = {"r", "g", "b", "a"};
    static const char *const types[] = {"u32", "s32", "u64", "s64", "b32"};
    for (unsigned f = 0; f < FORMATS; f++) {
        for (unsigned d = 1; d <= 3; d++)
            for (int z = 0; z < 3; z++)
                if (z < 2 || (formats[f].kind != TEXTURE_FLOAT && formats[f].bytes < 4))
                    add_fetch("tex", f, d, 0, z);
        for (unsigned k = 0; k < formats[f].channels; k++) {
            char name[16];
            snprintf(name, sizeof name, "tld4.%s", components[k]);
            add_fetch(name, f, 2, (int)(GATHERS | k << 4), 0);
        }
    }
    for (int i = 0; i < 7; i++) {
        struct group_row *row = group_add(IN_GLOBAL, "b64 - - -",
                                          OBJECT " .reg .b32 x; %s.b32 x, [%%m];"
                                                 " cvt.u64.u32 %%d, x;" OVER,
                                          questions[i]);
        row->expected = asked, row->prepare = fill_texture;
        row->y = 1 + i % 3, row->z = i % 4;
    }
    for (unsigned d = 1; d <= 3; d++)
        for (enum mode mode = TRAP; mode <= ZERO; mode++) {
            for (unsigned size = 1; size <= 8; size *= 2)
                for (unsigned count = 1; count <= 4 && count * size <= 16; count *= 2) {
                    add_surface(LOADS, d, size, count, mode, "b");
                    add_surface(STORES, d, size, count, mode, "b");
                }
            for (enum access access = SUM; access <= OR; access++)
                for (unsigned i = access <= MAX ? 0 : 4; i < (access <= MAX ? 4u : 5u); i++)
                    add_surface(access, d, i < 4 && i > 1 ? 8 : 4, 1, mode, types[i]);
        }
}

/* ldmatrix, stmatrix and movmatrix (9.7.14.5): matrices of 8 by 8 of 16 bits, a row at the address
 * of each lane. */
#include <stdio.h>
#include <string.h>

#include "rows_group.h"

enum { HALF = GROUP_BYTES / 2 };

static uint8_t *row_of(struct group *g, unsigned w, unsigned lane)
{
    return g->memory + w * HALF + g->b[32 * w + lane] % 128 * 16;
}

/* x: matrices; z: transposed. Register n of a lane has row lane / 4, columns 2 (lane % 4), + 1. */
static void matrices_loaded(struct group *g, const struct group_row *row)
{
    for (unsigned t = 0; t < GROUP; t++)
        for (unsigned n = 0; n < (unsigned)row->x; n++) {
            uint64_t word = 0;
            for (unsigned j = 0; j < 2; j++) {
                unsigned i = t % 32 / 4, k = 2 * (t % 4) + j;
                const uint8_t *from = row_of(g, t / 32, 8 * n + (row->z ? k : i));
                word |= bytes_at(from + 2 * (row->z ? i : k), 2) << 16 * j;
            }
            g->d[t] = g->d[t] * 3 + word;
        }
}

/* Matrix n is n * a + c; where lanes name one row, which is not told, a row is its lane's. */
static void matrices_stored(struct group *g, const struct group_row *row)
{
    for (unsigned t = 0; t < GROUP; t++)
        for (unsigned n = 0; n < (unsigned)row->x; n++)
            for (unsigned j = 0; j < 2; j++) {
                unsigned i = t % 32 / 4, k = 2 * (t % 4) + j;
                uint8_t *to = g->memory + t / 32 * HALF + (8 * n + (row->z ? k : i)) * 48;
                put_bytes(to + 2 * (row->z ? i : k), (n * g->a[t] + g->c[t]) >> 16 * j, 2);
            }
}

static void transposed(struct group *g, const struct group_row *row)
{
    uint64_t matrix[8][8];
    (void)row;
    for (unsigned w = 0; w < 2; w++) {
        for (unsigned i = 0; i < 64; i++)
            matrix[i / 8][i % 8] = g->a[32 * w + i / 2] >> 16 * (i % 2) & 0xffff;
        for (unsigned i = 0; i < 32; i++)
            g->d[32 * w + i] = matrix[2 * (i % 4)][i / 4] | matrix[2 * (i % 4) + 1][i / 4] << 16;
    }
}

void group_add_fragments(void)
{
    static const char *const lists[] = {"", "{x0}", "{x0, x1}", "", "{x0, x1, x2, x3}"};
    static const char *const folds = " cvt.u64.u32 s, x0; mad.lo.u64 %d, %d, 3, s;"
                                     " cvt.u64.u32 s, x1; mad.lo.u64 %d, %d, 3, s;"
                                     " cvt.u64.u32 s, x2; mad.lo.u64 %d, %d, 3, s;"
                                     " cvt.u64.u32 s, x3; mad.lo.u64 %d, %d, 3, s;";
    for (int count = 1; count <= 4; count *= 2)
        for (int z = 0; z < 2; z++)
            for (enum group_place place = IN_SHARED; place <= IN_GENERIC_SHARED; place += 2) {
                struct group_row *row = group_add(
                    place, "b64 - b32 -",
                    "{.reg .b64 o, s; .reg .b32 x<4>, k; and.b32 k, %%b, 127;"
                    " mad.wide.u32 o, k, 16, %%m; mov.b64 %%d, 0;"
                    " ldmatrix.sync.aligned.m8n8.x%d%s#.b16 %s, [o];%.*s}",
                    count, z ? ".trans" : "", lists[count], (int)strlen(folds) / 4 * count, folds);
                row->expected = matrices_loaded, row->x = count, row->z = z;
                row = group_add(place, "b32 b32 - b32",
                                "{.reg .b64 o; .reg .b32 x<4>; mad.wide.u32 o, %%l, 48, %%m;"
                                " mov.b32 x0, %%c; add.u32 x1, x0, %%a; add.u32 x2, x1, %%a;"
                                " add.u32 x3, x2, %%a; mov.b32 %%d, 0;"
                                " stmatrix.sync.aligned.m8n8.x%d%s#.b16 [o], %s;}",
                                count, z ? ".trans" : "", lists[count]);
                row->expected = matrices_stored, row->x = count, row->z = z;
            }
    group_add(IN_GLOBAL, "b32 b32 - -", "movmatrix.sync.aligned.m8n8.trans.b16 %%d, %%a;")
        ->expected = transposed;
}

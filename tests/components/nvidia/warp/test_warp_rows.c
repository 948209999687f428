/* Single instructions against the manual's words (rows_integer.c) and MPFR (rows_float.c): each row
 * is a kernel, each lane a vector of operands. HEDDLE_WARP_VECTORS is how many each row gets; with
 * it rows and their number of vectors are listed. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx_run.h"
#include "rows.h"
#include "rows_float.h"
#include "vectors.h"

enum { ROWS_MAX = 1500, TEXT = 1 << 20 };

/* Appends the kernel of a row: operands lie in arrays of n words of 8 bytes, d before a, b, c. */
static size_t write_kernel(char *to, size_t number, const struct row *row, uint64_t n)
{
    const char *types[4] = {row->d, row->a, row->b, row->c};
    size_t at = (size_t)sprintf(to,
                                ".visible .entry k%zu(.param .u64 p) {\n"
                                ".reg .b64 %%base, %%at;\n.reg .b32 %%i, %%x, %%y;\n",
                                number);
    for (int i = 0; i < 4; i++)
        if (types[i])
            at += (size_t)sprintf(to + at, ".reg .%s %%%c;\n", types[i], "dabc"[i]);
    at += (size_t)sprintf(to + at, "ld.param.u64 %%base, [p];\nmov.u32 %%i, %%tid.x;\n"
                                   "mov.u32 %%x, %%ctaid.x;\nmov.u32 %%y, %%ntid.x;\n"
                                   "mad.lo.u32 %%i, %%x, %%y, %%i;\n"
                                   "mad.wide.u32 %%at, %%i, 8, %%base;\n");
    for (int i = 1; i < 4; i++)
        if (types[i])
            at += (size_t)sprintf(to + at, "ld.global.%s %%%c, [%%at+%" PRIu64 "];\n", types[i],
                                  "dabc"[i], 8 * n * (uint64_t)i);
    return at
           + (size_t)sprintf(to + at, "%s\nst.global.%s [%%at], %%d;\nret;\n}\n", row->text,
                             row->d);
}

static struct row rows[ROWS_MAX];
static struct float_row of_floats[ROWS_MAX];

/* Runs row k on fresh operands and tells `judge` of each. */
static void run_row(struct ptx_run *r, size_t k, uint64_t n)
{
    char name[32];
    uint64_t p = PTX_RUN_BUFFER, *data = (uint64_t *)(void *)r->buffer;
    const char *types[4] = {rows[k].d, rows[k].a, rows[k].b, rows[k].c};
    memset(data, 0, 8 * n);
    for (unsigned i = 1; i < 4; i++)
        for (uint64_t v = 0; v < n; v++)
            data[i * n + v] = types[i] ? operand(types[i]) : 0;
    snprintf(name, sizeof name, "k%zu", k);
    enum warp_end end = ptx_run_launch(r, name, (uint32_t)(n / 256), 256, 0, &p);
    cr_assert_eq(end, WARP_DONE, "%s: %s", rows[k].text,
                 end == WARP_FAULT ? r->fault.text : r->text);
}

static void open_rows(struct ptx_run *r, size_t count, uint64_t n)
{
    char *text = malloc(TEXT);
    size_t at = (size_t)sprintf(text, ".version 8.5\n.target sm_90\n.address_size 64\n");
    for (size_t k = 0; k < count; k++) {
        at += write_kernel(text + at, k, &rows[k], n);
        if (getenv("HEDDLE_WARP_VECTORS"))
            fprintf(stderr, "%" PRIu64 " vectors: %s\n", n, rows[k].text);
    }
    cr_assert(at < TEXT);
    cr_assert(ptx_run_open(r, "rows.ptx", text, 32 * n), "%s", r->text);
    free(text);
}

Test(warp_rows, integers_are_what_the_manual_says)
{
    struct ptx_run r;
    uint64_t n = vectors_of_a_row(1024), bad = 0;
    memcpy(rows, integer_rows, integer_row_count * sizeof *rows);
    open_rows(&r, integer_row_count, n);
    const uint64_t *data = (const uint64_t *)(const void *)r.buffer;
    for (size_t k = 0; k < integer_row_count; k++) {
        run_row(&r, k, n);
        unsigned wrong = 0;
        for (uint64_t v = 0; v < n; v++) {
            uint64_t a = data[n + v], b = data[2 * n + v], c = data[3 * n + v];
            uint64_t mask = bits_of_type(rows[k].d) == 64
                                ? UINT64_MAX
                                : ((uint64_t)1 << bits_of_type(rows[k].d)) - 1;
            uint64_t expected = rows[k].expected(a, b, c) & mask;
            if (data[v] != expected && !wrong++)
                fprintf(stderr,
                        "%s a %" PRIx64 " b %" PRIx64 " c %" PRIx64 ": %" PRIx64
                        ", where the manual says %" PRIx64 "\n",
                        rows[k].text, a, b, c, data[v], expected);
        }
        bad += wrong;
    }
    ptx_run_close(&r);
    cr_assert_eq(bad, 0, "%" PRIu64 " vectors differ", bad);
}

Test(warp_rows, floats_are_rounded_once)
{
    struct ptx_run r;
    uint64_t n = vectors_of_a_row(256), bad = 0;
    size_t count = float_rows(of_floats, ROWS_MAX);
    for (size_t k = 0; k < count; k++)
        rows[k] = (struct row){of_floats[k].text, of_floats[k].d, of_floats[k].a,
                               of_floats[k].b,    of_floats[k].c, NULL};
    open_rows(&r, count, n);
    const uint64_t *data = (const uint64_t *)(const void *)r.buffer;
    for (size_t k = 0; k < count; k++) {
        run_row(&r, k, n);
        unsigned wrong = 0;
        for (uint64_t v = 0; v < n; v++) {
            uint64_t a = data[n + v], b = data[2 * n + v], c = data[3 * n + v], expected;
            if (!float_row_accepts(&of_floats[k], a, b, c, data[v], &expected) && !wrong++)
                fprintf(stderr,
                        "%s a %" PRIx64 " b %" PRIx64 " c %" PRIx64 ": %" PRIx64 ", not %" PRIx64
                        "\n",
                        rows[k].text, a, b, c, data[v], expected);
        }
        bad += wrong;
    }
    ptx_run_close(&r);
    cr_assert_eq(bad, 0, "%" PRIu64 " vectors differ", bad);
}

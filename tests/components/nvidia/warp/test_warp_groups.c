/* Instructions by which threads reach memory and each other, against the manual's words in C
 * (rows_memory.c, rows_lanes.c, rows_blocks.c, rows_matrices.c, rows_textures.c): each row is a
 * kernel, 64 threads of it a case. HEDDLE_WARP_VECTORS is how many threads each row gets; with it
 * rows and their number of threads are listed. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx_run.h"
#include "rows_group.h"
#include "vectors.h"

enum { ROWS_MAX = 4000, KERNEL = 6000 };

static struct group_row rows[ROWS_MAX];

/* Arrays of n operands, d before a, b and c, and the memory of each case behind them. */
static const char *const types_of[] = {"d", "a", "b", "c"};

static const char *type_of(const struct group_row *row, unsigned i)
{
    const char *const types[] = {row->d, row->a, row->b, row->c};
    return types[i];
}

static bool is_shared(const struct group_row *row)
{
    return row->place == IN_SHARED || row->place == IN_GENERIC_SHARED || row->place == IN_CLUSTER;
}

/* The block's shared memory is a copy of its global memory, and goes back there. */
static size_t write_copy(char *to, const struct group_row *row, bool back)
{
    if (!is_shared(row))
        return 0;
    return (size_t)sprintf(
        to,
        "mov.b32 %%y, %%tid.x; mul.lo.u32 %%x, %%y, 128; mad.wide.u32 %%at, %%y, 128, %%all;\n"
        "mov.b32 %%y, shared_memory; add.u32 %%x, %%x, %%y; mov.b32 %%y, 0;\n"
        "%s: ld.%s.v2.b64 {%%u, %%v}, [%s]; st.%s.v2.b64 [%s], {%%u, %%v};\n"
        "add.u32 %%x, %%x, 16; add.u64 %%at, %%at, 16; add.u32 %%y, %%y, 16;\n"
        "setp.lt.u32 %%more, %%y, 128; @%%more bra %s;\n",
        back ? "BACK" : "THERE", back ? "shared" : "global", back ? "%x" : "%at",
        back ? "global" : "shared", back ? "%at" : "%x", back ? "BACK" : "THERE");
}

static size_t write_kernel(char *to, size_t number, const struct group_row *row, uint64_t n)
{
    bool cluster = row->place == IN_CLUSTER;
    const char *sync =
        cluster ? "barrier.cluster.arrive; barrier.cluster.wait;\n" : "bar.sync 0;\n";
    size_t at = (size_t)sprintf(to,
                                ".visible .entry k%zu(.param .u64 buffer)%s {\n"
                                ".reg .b64 %%base, %%at, %%own, %%m, %%g, %%all, %%u, %%v;\n"
                                ".reg .b32 %%i, %%l, %%w, %%x, %%y; .reg .pred %%more;\n",
                                number, cluster ? " .reqnctapercluster 2" : "");
    if (is_shared(row))
        at += (size_t)sprintf(to + at, ".shared .align 128 .b8 shared_memory[%u];\n",
                              GROUP_BYTES / (cluster ? 2 : 1));
    for (unsigned i = 0; i < 4; i++)
        if (type_of(row, i))
            at += (size_t)sprintf(to + at, ".reg .%s %%%s;\n", type_of(row, i), types_of[i]);
    at += (size_t)sprintf(
        to + at,
        "ld.param.u64 %%base, [buffer]; mov.b32 %%x, %%ctaid.x; mov.b32 %%y, %%ntid.x;\n"
        "mov.b32 %%i, %%tid.x; mad.lo.u32 %%x, %%x, %%y, %%i; mad.wide.u32 %%own, %%x, 8, %%base;\n"
        "and.b32 %%i, %%x, 63; and.b32 %%l, %%x, 31; shr.u32 %%w, %%i, 5; shr.u32 %%x, %%x, 6;\n"
        "mad.wide.u32 %%g, %%x, %u, %%base; add.u64 %%g, %%g, %" PRIu64 ";\n"
        "mad.wide.u32 %%v, %%w, %u, 0; add.u64 %%u, %%g, %%v; mov.b64 %%all, %%%s;"
        " mov.b64 %%g, %%u; mov.b64 %%m, %%%s;\n",
        GROUP_BYTES, 32 * n, GROUP_BYTES / 2, cluster ? "u" : "g", "g");
    at += write_copy(to + at, row, false);
    if (is_shared(row))
        at += (size_t)sprintf(to + at,
                              "%smov.b64 %%m, shared_memory; mad.wide.u32 %%m, %%w, %u, %%m;\n",
                              sync, cluster ? 0 : GROUP_BYTES / 2);
    if (row->place == IN_GENERIC_SHARED)
        at += (size_t)sprintf(to + at, "cvta.shared.u64 %%m, %%m;\n");
    for (unsigned i = 1; i < 4; i++)
        if (type_of(row, i))
            at += (size_t)sprintf(to + at, "ld.global.%s %%%s, [%%own+%" PRIu64 "];\n",
                                  type_of(row, i), types_of[i], 8 * n * i);
    at += (size_t)sprintf(to + at, "%s\nst.global.%s [%%own], %%d;\n", row->text, row->d);
    if (is_shared(row)) {
        at += (size_t)sprintf(to + at, "%s", sync);
        at += write_copy(to + at, row, true);
    }
    return at + (size_t)sprintf(to + at, "ret;\n}\n");
}

static void open_rows(struct ptx_run *r, size_t count, uint64_t n)
{
    char *text = malloc(count * KERNEL);
    size_t at = (size_t)sprintf(text, ".version 8.5\n.target sm_90\n.address_size 64\n"
                                      ".const .align 8 .b64 group_constant = 77;\n"
                                      ".const .align 16 .b8 group_constants[64] = {");
    for (unsigned i = 0; i < 64; i++)
        at += (size_t)sprintf(text + at, "%s%u", i ? ", " : "", (i * 37 + 11) & 255);
    at += (size_t)sprintf(text + at, "};\n%s", group_functions);
    for (size_t k = 0; k < count; k++) {
        at += write_kernel(text + at, k, &rows[k], n);
        if (getenv("HEDDLE_WARP_VECTORS"))
            fprintf(stderr, "%" PRIu64 " vectors: %s\n", n, rows[k].text);
    }
    cr_assert(at < count * KERNEL);
    cr_assert(ptx_run_open(r, "groups.ptx", text, 32 * n + n / GROUP * GROUP_BYTES), "%s", r->text);
    free(text);
}

/* Operands and memory of case k, before the row runs. */
static void fill(struct group *g, const struct group_row *row)
{
    uint64_t *const to[] = {g->d, g->a, g->b, g->c};
    for (unsigned i = 0; i < 4; i++)
        for (unsigned t = 0; t < GROUP; t++)
            to[i][t] = i && type_of(row, i) ? operand(type_of(row, i)) : 0;
    for (unsigned i = 0; i < GROUP_BYTES; i += 8)
        put_bytes(g->memory + i, random_bits(), 8);
    if (row->prepare)
        row->prepare(g, row);
    memcpy(g->global, g->memory, GROUP_BYTES);
}

static void put_case(struct ptx_run *r, const struct group *g, uint64_t n, uint64_t k)
{
    uint64_t *data = (uint64_t *)(void *)r->buffer;
    const uint64_t *const from[] = {g->d, g->a, g->b, g->c};
    for (unsigned i = 0; i < 4; i++)
        memcpy(data + i * n + k * GROUP, from[i], sizeof g->d);
    memcpy(r->buffer + 32 * n + k * GROUP_BYTES, g->memory, GROUP_BYTES);
}

/* How many threads and bytes of memory differ. */
static unsigned judge_case(const struct ptx_run *r, struct group *g, const struct group_row *row,
                           uint64_t n, uint64_t k)
{
    const uint64_t *d = (const uint64_t *)(const void *)r->buffer + k * GROUP;
    const uint8_t *memory = r->buffer + 32 * n + k * GROUP_BYTES;
    unsigned wrong = 0, bits = bits_of_type(row->d);
    row->expected(g, row);
    for (unsigned t = 0; t < GROUP; t++) {
        uint64_t mask = ~(uint64_t)0 >> (64 - bits);
        if (d[t] != (g->d[t] & mask) && !wrong++)
            fprintf(stderr,
                    "%s\n  thread %u, a %" PRIx64 " b %" PRIx64 " c %" PRIx64 ": %" PRIx64
                    ", where the manual says %" PRIx64 "\n",
                    row->text, t, g->a[t], g->b[t], g->c[t], d[t], g->d[t] & mask);
    }
    for (unsigned i = 0; i < GROUP_BYTES; i++)
        if (memory[i] != g->memory[i] && !wrong++)
            fprintf(stderr, "%s\n  byte %u: %x, where the manual says %x\n", row->text, i,
                    memory[i], g->memory[i]);
    return wrong;
}

Test(warp_groups, threads_reach_memory_and_each_other_as_the_manual_says)
{
    struct ptx_run r;
    uint64_t n = vectors_of_a_row(256), buffer = PTX_RUN_BUFFER;
    size_t count = group_rows(rows, ROWS_MAX), bad = 0;
    struct group *cases = malloc(n / GROUP * sizeof *cases);
    open_rows(&r, count, n);
    for (size_t i = 0; i < count; i++) {
        char name[32];
        unsigned wrong = 0, threads = rows[i].place == IN_CLUSTER ? GROUP / 2 : GROUP;
        for (uint64_t k = 0; k < n / GROUP; k++) {
            fill(&cases[k], &rows[i]);
            put_case(&r, &cases[k], n, k);
        }
        snprintf(name, sizeof name, "k%zu", i);
        enum warp_end end = ptx_run_launch(&r, name, (uint32_t)(n / threads), threads, 0, &buffer);
        cr_expect_eq(end, WARP_DONE, "%s: %s", rows[i].text,
                     end == WARP_FAULT ? r.fault.text : r.text);
        for (uint64_t k = 0; end == WARP_DONE && k < n / GROUP && !wrong; k++)
            wrong += judge_case(&r, &cases[k], &rows[i], n, k);
        bad += wrong;
    }
    free(cases);
    ptx_run_close(&r);
    cr_assert_eq(bad, 0, "%zu vectors differ", bad);
}

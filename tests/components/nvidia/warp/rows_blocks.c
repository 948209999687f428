/* What warps of a block and blocks of a cluster do with each other (9.7.13): barriers, mbarriers,
 * addresses of shared memory. */
#include <stdio.h>
#include <string.h>

#include "rows_group.h"

/* ---- bar, barrier, barrier.cluster ---- */

/* Each thread takes what the thread `b` further has stored; x: only the second warp does, which
 * waits for the first one. */
static void passed_on(struct group *g, const struct group_row *row)
{
    for (unsigned t = 0; t < GROUP; t++)
        put_bytes(g->memory + t / 32 * (GROUP_BYTES / 2) + t % 32 * 4, g->a[t], 4);
    for (unsigned t = row->x ? 32 : 0; t < GROUP; t++)
        g->d[t] = g->a[row->x ? g->b[t] % 32 : (t + g->b[t]) % GROUP];
}

static void passed_in_warp(struct group *g, const struct group_row *row)
{
    (void)row;
    for (unsigned t = 0; t < GROUP; t++) {
        put_bytes(g->memory + t / 32 * (GROUP_BYTES / 2) + t % 32 * 4, g->a[t], 4);
        g->d[t] = g->a[t / 32 * 32 + (t + g->b[t]) % 32];
    }
}

/* x: popc, and, or; y: of so many threads. */
static void barrier_reduced(struct group *g, const struct group_row *row)
{
    unsigned count = 0, from = row->y == 32 ? 32 : 0;
    for (unsigned t = from; t < GROUP; t++)
        count += g->a[t] & 1;
    const uint64_t results[] = {count, count == GROUP - from, count > 0};
    for (unsigned t = from; t < GROUP; t++)
        g->d[t] = results[row->x];
}
static void mostly_odd(struct group *g, const struct group_row *row)
{
    uint64_t all = g->a[0] & 3;
    for (unsigned t = 0; t < GROUP && all; t++)
        g->a[t] = (g->a[t] & ~(uint64_t)1) | (all > 1);
    (void)row;
}

static void add_barriers(void)
{
    static const char *const whole[] = {"bar.sync 0",
                                        "bar.sync n, 64",
                                        "bar.cta.sync 1",
                                        "barrier.sync n",
                                        "barrier.cta.sync.aligned 15, 64",
                                        "bar.sync 3; bar.sync 3; bar.sync 4"};
    static const struct {
        const char *producer, *consumer;
    } pairs[] = {{"bar.arrive 2, 64", "bar.sync 2, 64"},
                 {"bar.cta.arrive n, 64", "bar.cta.sync n, 64"},
                 {"barrier.arrive 2, 64", "barrier.sync 2, 64"},
                 {"barrier.cta.arrive.aligned 5, 64", "barrier.cta.sync.aligned 5, 64"}};
    static const char *const reductions[] = {"popc%s.u32 %%d, ", "and%s.pred q, ", "or%s.pred q, "};
#define STORED                                                                                     \
    "{.reg .b64 o; .reg .b32 n, k; .reg .pred p; mad.wide.u32 o, %%l, 4, %%m; mov.b32 n, 6;"       \
    " st#.b32 [o], %%a; "
#define TAKEN                                                                                      \
    " add.u32 k, %%%c, %%b; and.b32 k, k, %d; and.b32 n, k, 31; mad.wide.u32 o, n, 4, %%m;"        \
    " shr.u32 k, k, 5; {.reg .b64 s; sub.u32 k, k, %%w; mul.wide.s32 s, k, 4096;"                  \
    " add.s64 o, o, s;} ld#.b32 %%d, [o];"
    for (unsigned i = 0; i < sizeof whole / sizeof *whole; i++)
        group_add(i % 2 ? IN_GLOBAL : IN_SHARED, "b32 b32 b32 -", STORED "%s;" TAKEN "}", whole[i],
                  'i', 63)
            ->expected = passed_on;
    group_add(IN_SHARED, "b32 b32 b32 -",
              STORED "and.b32 k, %%a, 1; setp.eq.u32 p, k, 0; @p bra S; bar.warp.sync -1; bra E; "
                     "S: bar.warp.sync -1; E: add.u32 k, %%l, %%b; and.b32 n, k, 31;"
                     " mad.wide.u32 o, n, 4, %%m; ld#.b32 %%d, [o];}")
        ->expected = passed_in_warp;
    for (unsigned i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct group_row *row = group_add(
            IN_SHARED, "b32 b32 b32 -",
            STORED "mov.b32 %%d, 0; setp.ne.u32 p, %%w, 0; @p bra C; %s; bra E; C: %s;"
                   " and.b32 n, %%b, 31; mad.wide.u32 o, n, 4, %%m; ld#.b32 %%d, [o+-4096]; E: }",
            pairs[i].producer, pairs[i].consumer);
        row->expected = passed_on, row->x = 1;
    }
    for (int x = 0; x < 3; x++)
        for (int form = 0; form < 5; form++) {
            static const char *const names[] = {"bar.red.", "bar.cta.red.", "barrier.red.",
                                                "barrier.cta.red.", "barrier.red."};
            char text[80];
            snprintf(text, sizeof text, reductions[x], form == 3 ? ".aligned" : "");
            struct group_row *row =
                group_add(IN_GLOBAL, "b32 b32 - -",
                          "{.reg .pred p, q; .reg .b32 k; and.b32 k, %%a, 1; setp.%s.u32 p, k, 0;"
                          " setp.eq.u32 q, %%w, 0; mov.b32 %%d, 0; %s %s%s%s%sp;%s E: }",
                          form == 1 ? "eq" : "ne", form == 4 ? "@q bra E;" : "", names[form], text,
                          form == 4   ? "7, 32, "
                          : form == 2 ? "4, 64, "
                                      : "0, ",
                          form == 1 ? "!" : "", x ? " selp.u32 %d, 1, 0, q;" : "");
            row->expected = barrier_reduced, row->prepare = mostly_odd;
            row->x = x, row->y = form == 4 ? 32 : 64;
        }
}

/* ---- clusters ---- */

/* Takes what the other block's thread of the same number has stored. */
static void taken_across(struct group *g, const struct group_row *row)
{
    (void)row;
    for (unsigned t = 0; t < GROUP; t++) {
        put_bytes(g->memory + t / 32 * (GROUP_BYTES / 2) + t % 32 * 8, g->a[t], 8);
        g->d[t] = g->a[t ^ 32];
    }
}

static const char *const reductions[] = {"add.u32", "inc.u32", "dec.u32", "min.u32",
                                         "max.u32", "min.s32", "max.s32", "and.b32",
                                         "or.b32",  "xor.b32", "add.s32", "add.u64"};
static uint64_t reduced(int which, uint64_t old, uint64_t a, unsigned bytes)
{
    a &= ~(uint64_t)0 >> (64 - 8 * bytes);
    bool less = old < a, signed_less = (int32_t)old < (int32_t)a;
    const uint64_t results[] = {old + a,
                                old >= a ? 0 : old + 1,
                                old == 0 || old > a ? a : old - 1,
                                less ? old : a,
                                less ? a : old,
                                signed_less ? old : a,
                                signed_less ? a : old,
                                old & a,
                                old | a,
                                old ^ a,
                                old + a,
                                old + a};
    return results[which];
}

/* x: st.async of so many elements, 8 red.async: each thread to its place in the other block. */
static void sent_across(struct group *g, const struct group_row *row)
{
    for (unsigned t = 0; t < GROUP; t++) {
        uint8_t *to = g->memory + (t ^ 32) / 32 * (GROUP_BYTES / 2) + 64 + t % 32 * 16;
        unsigned bytes = (unsigned)row->y, count = row->x & 7;
        for (unsigned k = 0; k < count; k++)
            put_bytes(to + k * bytes, g->a[t] + k * g->b[t], bytes);
        if (row->x & 8)
            put_bytes(to, reduced(row->z, bytes_at(to, bytes), g->a[t], bytes), bytes);
        g->d[t] = 1;
    }
    put_bytes(g->memory, 0, 8); /* the barriers, which the rows invalidate and clear */
    put_bytes(g->memory + GROUP_BYTES / 2, 0, 8);
}

static struct group_row *add_sent(const char *text, int x, int bytes)
{
    struct group_row *row = group_add(
        IN_CLUSTER, "b32 b64 b64 -",
        "{.reg .pred p, q; .reg .b32 m, r, f, h, o, x, y; .reg .b64 s, z; cvt.u32.u64 m, %%m;"
        " xor.b32 r, %%w, 1; setp.eq.u32 p, %%l, 0; @p mbarrier.init.shared.b64 [m], 1;"
        " @p mbarrier.arrive.expect_tx.shared.b64 _, [m], %d; fence.mbarrier_init.release.cluster;"
        " barrier.cluster.arrive.relaxed; barrier.cluster.wait;"
        " mapa.shared::cluster.u32 f, m, r; mad.lo.u32 o, %%l, 16, f; add.u32 o, o, 64;"
        " add.u64 s, %%a, %%b; cvt.u32.u64 x, %%a; cvt.u32.u64 y, s;"
        " %s W: mbarrier.try_wait.parity.shared.b64 q, [m], 0; @!q bra W; mov.b32 %%d, 1;"
        " barrier.cluster.arrive; barrier.cluster.wait; mov.b64 s, 0;"
        " @p mbarrier.inval.shared.b64 [m]; @p st.shared.b64 [m], s;}",
        32 * bytes * (x & 8 ? 1 : x), text);
    row->expected = sent_across, row->x = x, row->y = bytes;
    return row;
}

/* d: the rank that an address has, own and the other's; which spaces it is in. */
static void ranks_found(struct group *g, const struct group_row *row)
{
    (void)row;
    for (unsigned t = 0; t < GROUP; t++)
        g->d[t] = t / 32 + 10 * (1 - t / 32) + 100 * (1 - t / 32);
}
static void spaces_found(struct group *g, const struct group_row *row)
{
    for (unsigned t = 0; t < GROUP; t++)
        g->d[t] = (uint64_t)row->x;
}

/* Bits: shared, shared::cta, shared::cluster, global, local, const, param. */
static void add_spaces(const char *make, int bits)
{
    static const char *const names[] = {"shared", "shared::cta", "shared::cluster", "global",
                                        "local",  "const",       "param::entry"};
    char text[900];
    size_t at = 0;
    for (int i = 0; i < 7; i++)
        at += (size_t)snprintf(text + at, sizeof text - at,
                               " isspacep.%s p, o; selp.u32 x, %d, 0, p; or.b32 %%d, %%d, x;",
                               names[i], 1 << i);
    struct group_row *row =
        group_add(IN_CLUSTER, "b32 - - -",
                  "{.reg .b64 o; .reg .b32 x; .reg .pred p; .local .b32 v; mov.b32 %%d, 0; %s%s"
                  " barrier.cluster.arrive; barrier.cluster.wait;}",
                  make, text);
    row->expected = spaces_found, row->x = bits;
}

static void round_trips(struct group *g, const struct group_row *row)
{
    (void)row;
    for (unsigned t = 0; t < GROUP; t++)
        g->d[t] = g->a[t] % 4096;
}

static void add_clusters(void)
{
    static const char *const arrives[] = {"arrive", "arrive.release.aligned", "arrive.relaxed",
                                          "arrive.aligned"};
    static const char *const waits[] = {"wait", "wait.acquire.aligned", "wait.acquire", "wait"};
    static const char *const reaches[] = {
        "mapa.shared::cluster.u64 o, o, k; ld.shared::cluster.b64 %d, [o];",
        "cvta.shared.u64 o, o; mapa.u64 o, o, k; ld.b64 %d, [o];",
        "{.reg .b32 x; cvt.u32.u64 x, o; mapa.shared::cluster.u32 x, x, k;"
        " ld.shared::cluster.b64 %d, [x];}",
        "mapa.shared::cluster.u64 o, o, k; cvta.shared::cluster.u64 o, o;"
        " atom.or.b64 %d, [o], 0;"};
    for (int i = 0; i < 4; i++)
        group_add(IN_CLUSTER, "b64 b64 - -",
                  "{.reg .b64 o; .reg .b32 k; mad.wide.u32 o, %%l, 8, %%m; st.shared.b64 [o], %%a;"
                  " barrier.cluster.%s; barrier.cluster.%s; xor.b32 k, %%w, 1; %s"
                  " barrier.cluster.arrive; barrier.cluster.wait;}",
                  arrives[i], waits[i], reaches[i])
            ->expected = taken_across;
#define ASYNC   "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes"
#define REDUCED "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes"
    add_sent(ASYNC ".b32 [o], x, [f];", 1, 4);
    add_sent(ASYNC ".u64 [o], %a, [f];", 1, 8);
    add_sent(ASYNC ".v2.b32 [o], {x, y}, [f];", 2, 4);
    add_sent(ASYNC ".v2.s64 [o], {%a, s}, [f];", 2, 8);
    add_sent("add.u32 h, y, y; sub.u32 h, h, x; cvt.u32.u64 r, %b; add.u32 r, r, h; " ASYNC
             ".v4.b32 [o], {x, y, h, r}, [f];",
             4, 4);
    for (int i = 0; i < 12; i++) {
        char text[160];
        snprintf(text, sizeof text, REDUCED ".%s [o], %s, [f];", reductions[i],
                 i == 11 ? "%a" : "x");
        add_sent(text, 8, i == 11 ? 8 : 4)->z = i;
    }
    group_add(IN_CLUSTER, "b32 - - -",
              "{.reg .b64 o, s; .reg .b32 k, x; getctarank.shared::cluster.u64 %%d, %%m;"
              " xor.b32 k, %%w, 1; mapa.shared::cluster.u64 o, %%m, k;"
              " getctarank.shared::cluster.u64 x, o; mad.lo.u32 %%d, x, 10, %%d;"
              " cvta.shared::cluster.u64 s, o; getctarank.u64 x, s; mad.lo.u32 %%d, x, 100, %%d;"
              " barrier.cluster.arrive; barrier.cluster.wait;}")
        ->expected = ranks_found;
    add_spaces("cvta.shared.u64 o, %m;", 7);
    add_spaces("{.reg .b32 k; xor.b32 k, %w, 1; cvta.shared.u64 o, %m; mapa.u64 o, o, k;}", 4);
    add_spaces("mov.u64 o, %g;", 8);
    add_spaces("cvta.local.u64 o, v;", 16);
    add_spaces("cvta.const.u64 o, group_constant;", 8 + 32);
    add_spaces("cvta.param::entry.u64 o, buffer;", 8 + 64);
    static const char *const ways[] = {"shared", "shared::cta", "shared::cluster", "local"};
    for (unsigned i = 0; i < 4; i++)
        group_add(IN_GLOBAL, "b64 b32 - -",
                  "{.reg .b64 o; .reg .b32 x, y; and.b32 x, %%a, 4095; cvt.u64.u32 o, x;"
                  " cvta.%s.u64 o, o; cvta.to.%s.u64 %%d, o;}",
                  ways[i], ways[i])
            ->expected = round_trips;
}

/* ---- mbarrier: the manual's object, a thread its own ---- */

struct mbarrier {
    uint32_t expected, pending, phase;
    int64_t tx;
};

static void settle(struct mbarrier *m)
{
    if (m->pending || m->tx)
        return;
    m->phase++;
    m->pending = m->expected;
}
/* Arrive-on; the state before it. */
static struct mbarrier arrive(struct mbarrier *m, uint32_t count, int64_t tx, uint32_t drop)
{
    struct mbarrier before = *m;
    m->tx += tx;
    m->expected -= drop;
    m->pending -= count;
    settle(m);
    return before;
}
static void complete(struct mbarrier *m, int64_t bytes)
{
    m->tx -= bytes;
    settle(m);
}
static uint64_t is_over(const struct mbarrier *m, struct mbarrier state)
{
    return m->phase != state.phase;
}

enum protocol { COUNTS, BYTES, DROPS, COMPLETES, COPIES };

/* n arrivals are expected; what is asked is collected in d, bit by bit or number by number. */
static uint64_t run_protocol(enum protocol which, uint32_t n)
{
    struct mbarrier m = {n, n, 0, 0}, s;
    uint64_t d = 0;
#define NOTE(x) d = d * 8 + (x)
    switch (which) {
    case COUNTS:
        for (int round = 0; round < 2; round++) {
            s = arrive(&m, 1, 0, 0);
            NOTE(s.pending), NOTE(is_over(&m, s));
            s = n > 1 ? arrive(&m, n - 1, 0, 0) : s;
            NOTE(is_over(&m, s)), NOTE(m.phase & 1);
        }
        break;
    case BYTES:
        m.tx += 48;
        s = arrive(&m, n, 0, 0), NOTE(is_over(&m, s));
        complete(&m, 16), NOTE(is_over(&m, s));
        complete(&m, 32), NOTE(is_over(&m, s));
        for (uint32_t i = 0; i < n; i++)
            s = arrive(&m, 1, 8, 0);
        NOTE(s.pending), NOTE(is_over(&m, s));
        complete(&m, 8 * n), NOTE(is_over(&m, s));
        break;
    case DROPS:
        s = arrive(&m, 1, 0, 1), NOTE(s.pending), NOTE(is_over(&m, s));
        s = n > 1 ? arrive(&m, n - 1, 0, 0) : s, NOTE(is_over(&m, s));
        s = arrive(&m, 1, 0, 0), NOTE(s.pending), NOTE(is_over(&m, s));
        break;
    case COMPLETES:
        s = arrive(&m, n - 1, 0, 0), NOTE(s.pending), NOTE(is_over(&m, s));
        s = arrive(&m, 1, 0, 0), NOTE(s.pending), NOTE(is_over(&m, s));
        break;
    default:
        for (uint32_t i = 0; i < n; i++)
            s = arrive(&m, 1, 0, 0);
        NOTE(is_over(&m, s)), NOTE(m.phase & 1);
    }
    return d;
}
static void waited(struct group *g, const struct group_row *row)
{
    for (unsigned t = 0; t < GROUP; t++) {
        uint64_t n = row->y + g->a[t] % 4;
        g->d[t] = run_protocol((enum protocol)row->x, (uint32_t)n);
        memset(g->memory + t / 32 * (GROUP_BYTES / 2) + t % 32 * 8, 0, 8);
    }
}

#define ASK(state) " mbarrier.test_wait#.b64 p, [o], " state "; selp.u64 v, 1, 0, p;" KEEP
#define ASK_PARITY " mbarrier.test_wait.parity#.b64 p, [o], 0; selp.u64 v, 1, 0, p;" KEEP
#define TRY(state)                                                                                 \
    " mbarrier.try_wait.acquire.cta#.b64 p, [o], " state ", 9; selp.u64 v, 1, 0, p;" KEEP
#define TRY_PARITY     " mbarrier.try_wait.parity#.b64 p, [o], 0; selp.u64 v, 1, 0, p;" KEEP
#define COUNTED(state) " mbarrier.pending_count.b64 x, " state "; cvt.u64.u32 v, x;" KEEP
#define KEEP           " mad.lo.u64 %d, %d, 8, v;"
#define ONE_BY_ONE(label, text)                                                                    \
    " mov.b32 i, 0; " label ": " text " add.u32 i, i, 1; setp.lt.u32 q, i, n; @q bra " label ";"

static void add_protocol(enum protocol which, int least, const char *text)
{
    for (enum group_place place = IN_SHARED; place <= IN_GENERIC_SHARED; place += 2) {
        struct group_row *row = group_add(
            place, "b64 b32 - -",
            "{.reg .b64 o, s, v, z; .reg .b32 n, k, i, x; .reg .pred p, q; and.b32 n, %%a, 3;"
            " add.u32 n, n, %d; sub.u32 k, n, 1; setp.ne.u32 q, k, 0; mov.b64 %%d, 0;"
            " mad.wide.u32 o, %%l, 8, %%m; mbarrier.init#.b64 [o], n; mov.b64 z, 0; %s"
            " mbarrier.inval#.b64 [o]; st#.b64 [o], z;}",
            least, text);
        row->expected = waited, row->x = which, row->y = least;
    }
}

/* Each thread arrives at the other block's barrier of its number; x: how. */
static void arrived_across(struct group *g, const struct group_row *row)
{
    for (unsigned t = 0; t < GROUP; t++) {
        struct mbarrier m = {2, 2, 0, 0};
        uint64_t d = is_over(&m, arrive(&m, row->x ? 1 : 2, 0, 0)) && row->x;
        if (row->x) {
            arrive(&m, 1, row->x == 2 ? 16 : 0, 0);
            d = d * 2 + (m.phase & 1);
            complete(&m, row->x == 2 ? 16 : 0);
        }
        g->d[t] = d * 2 + (m.phase & 1);
        memset(g->memory + t / 32 * (GROUP_BYTES / 2) + t % 32 * 8, 0, 8);
    }
}

static void add_arrivals(void)
{
#define REMOTE ".shared::cluster.b64 _, [r]"
#define PHASE                                                                                      \
    " mbarrier.test_wait.parity.shared::cta.b64 p, [o], 0; selp.u64 v, 1, 0, p;"                   \
    " mad.lo.u64 %%d, %%d, 2, v; MEET"
    static const char *const ways[] = {
        "mbarrier.arrive.release.cluster" REMOTE ", 2; MEET" PHASE,
        "mbarrier.arrive" REMOTE "; MEET" PHASE "mbarrier.arrive_drop" REMOTE "; MEET" PHASE PHASE,
        "mbarrier.arrive" REMOTE "; MEET" PHASE "mbarrier.arrive.expect_tx" REMOTE
        ", 16; MEET" PHASE
        " mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [r], 16; MEET" PHASE,
        "mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [r], 16; mbarrier.arrive" REMOTE
        "; MEET" PHASE "mbarrier.arrive_drop.expect_tx" REMOTE ", 0; MEET" PHASE
        " mbarrier.complete_tx.shared::cluster.b64 [r], 16; MEET" PHASE};
    for (int x = 0; x < 4; x++) {
        char text[1200];
        size_t at = 0;
        for (const char *from = ways[x]; *from; from++) {
            bool meets = !strncmp(from, "MEET", 4);
            at += (size_t)sprintf(text + at, meets ? "%s" : "%.1s",
                                  meets ? " barrier.cluster.arrive; barrier.cluster.wait;" : from);
            from += meets ? 3 : *from == '%' && from[1] == '%';
        }
        struct group_row *row = group_add(
            IN_CLUSTER, "b64 - - -",
            "{.reg .b64 o, r, v, z; .reg .b32 k; .reg .pred p; mad.wide.u32 o, %%l, 8, %%m;"
            " xor.b32 k, %%w, 1; mapa.shared::cluster.u64 r, o, k; mov.b64 %%d, 0; mov.b64 z, 0;"
            " mbarrier.init.shared::cta.b64 [o], 2; barrier.cluster.arrive; barrier.cluster.wait;"
            " %s mbarrier.inval.shared::cta.b64 [o]; st.shared.b64 [o], z;}",
            text);
        row->expected = arrived_across, row->x = x == 3 ? 2 : x;
    }
}

static void add_mbarriers(void)
{
#define ROUND(again)                                                                               \
    " mbarrier.arrive#.b64 s, [o];" COUNTED("s")                                                   \
        ASK("s") " @q mbarrier.arrive.release.cta#.b64 s, [o], k;" ASK("s") again
    add_protocol(COUNTS, 1, ROUND(ASK_PARITY) ROUND(" not.pred p, p; " ASK_PARITY));
    add_protocol(COUNTS, 1, ROUND(TRY_PARITY) ROUND(TRY_PARITY));
    add_protocol(BYTES, 1,
                 " mbarrier.expect_tx.relaxed.cta#.b64 [o], 48; mbarrier.arrive#.b64 s, [o], "
                 "n;" ASK("s") " mbarrier.complete_tx#.b64 [o], 16;" TRY(
                     "s") " mbarrier.complete_tx.relaxed.cluster#.b64 [o], 32;" ASK("s")
                     ONE_BY_ONE("L", " mbarrier.arrive.expect_tx#.b64 s, [o], 8;") COUNTED("s") ASK(
                         "s") " mul.lo.u32 x, n, 8; mbarrier.complete_tx#.b64 [o], x;" ASK("s"));
    add_protocol(DROPS, 2,
                 " mbarrier.arrive_drop#.b64 s, [o];" COUNTED("s")
                     ASK("s") " mbarrier.arrive#.b64 s, [o], k;" ASK(
                         "s") " mbarrier.arrive#.b64 s, [o];" COUNTED("s") ASK("s"));
    add_protocol(COMPLETES, 2,
                 " mbarrier.arrive.noComplete#.b64 s, [o], k;" COUNTED("s")
                     ASK("s") " mbarrier.arrive_drop#.b64 s, [o];" COUNTED("s") ASK("s"));
    add_protocol(
        COPIES, 1,
        " cp.async.mbarrier.arrive#.b64 [o];" ONE_BY_ONE(
            "L",
            " cp.async.mbarrier.arrive.noinc#.b64 [o];") " mbarrier.test_wait.parity#.b64 p, [o], "
                                                         "0; selp.u64 v, 1, 0, p;" KEEP ASK_PARITY);
    add_protocol(DROPS, 2,
                 " mbarrier.arrive_drop.release.cta#.b64 s, [o];" COUNTED("s")
                     ASK("s") " mbarrier.arrive.relaxed.cluster#.b64 s, [o], k;" ASK(
                         "s") " mbarrier.arrive_drop.expect_tx#.b64 s, [o], 0;" COUNTED("s")
                         ASK("s"));
    add_protocol(COMPLETES, 2,
                 " mbarrier.arrive_drop.noComplete#.b64 s, [o], k;" COUNTED("s")
                     ASK("s") " mbarrier.arrive#.b64 s, [o];" COUNTED("s") TRY("s"));
}

void group_add_blocks(void)
{
    add_barriers();
    add_clusters();
    add_mbarriers();
    add_arrivals();
}

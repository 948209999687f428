/* What the lanes of a warp exchange, where they go, and what changes nothing (9.7.9.6, 9.7.12,
 * 9.7.13). */
#include <math.h>
#include <stdio.h>

#include "rows_group.h"

/* ---- shfl, vote, match, redux, elect ---- */

/* The lanes that take part: all, or with `z` those whose a is odd. */
static uint32_t members(const struct group *g, const struct group_row *row, unsigned warp)
{
    uint32_t lanes = 0;
    for (unsigned i = 0; i < 32; i++)
        lanes |= (uint32_t)(!row->z || (g->a[32 * warp + i] & 1)) << i;
    return lanes;
}

enum shuffle { UP, DOWN, BFLY, IDX };

/* The pseudocode of 9.7.9.6; c: clamp in bits 0 to 4, the mask of the segments in 8 to 12. */
static void shuffled(struct group *g, const struct group_row *row)
{
    for (unsigned t = 0; t < GROUP; t++) {
        int lane = (int)t % 32, bval = (int)(g->c[t] & 31), cval = (int)(g->c[t] >> 8 & 31),
            mask = (int)(g->c[t] >> 16 & 31), j;
        int max_lane = (lane & mask) | (cval & ~mask), min_lane = lane & mask;
        bool in;
        if (!(members(g, row, t / 32) >> lane & 1))
            continue;
        switch (row->x) {
        case UP:
            j = lane - bval, in = j >= max_lane;
            break;
        case DOWN:
            j = lane + bval, in = j <= max_lane;
            break;
        case BFLY:
            j = lane ^ bval, in = j <= max_lane;
            break;
        default:
            j = min_lane | (bval & ~mask), in = j <= max_lane;
        }
        g->d[t] = g->b[t / 32 * 32 + (unsigned)(in ? j : lane)] << 1 | in;
    }
}

enum vote { ALL, ANY, UNI, BALLOT };

static void voted(struct group *g, const struct group_row *row)
{
    for (unsigned w = 0; w < 2; w++) {
        uint32_t lanes = members(g, row, w), yes = 0;
        for (unsigned i = 0; i < 32; i++)
            yes |= (uint32_t)(g->b[32 * w + i] != 0) << i;
        yes &= lanes;
        const uint32_t results[] = {yes == lanes, yes != 0, yes == lanes || !yes, yes};
        for (unsigned i = 0; i < 32; i++)
            if (lanes >> i & 1)
                g->d[32 * w + i] = results[row->x];
    }
}

/* x: all, 2 where they are equal; d is the mask, and for all the predicate in bit 32. */
static void matched(struct group *g, const struct group_row *row)
{
    for (unsigned t = 0; t < GROUP; t++) {
        uint32_t lanes = members(g, row, t / 32), equal = 0;
        for (unsigned i = 0; i < 32; i++)
            equal |= (uint32_t) !((g->b[t / 32 * 32 + i] ^ g->b[t]) & 0x100000003) << i;
        equal = row->x == 2 ? lanes : equal & lanes;
        if (lanes >> t % 32 & 1)
            g->d[t] = !row->x ? equal : equal == lanes ? lanes | (uint64_t)1 << 32 : 0;
    }
}

enum redux { SUM, MIN_S, MIN_U, MAX_S, MAX_U, AND, OR, XOR };

static void reduced(struct group *g, const struct group_row *row)
{
    for (unsigned w = 0; w < 2; w++) {
        uint32_t lanes = members(g, row, w), d = 0;
        bool first = true;
        for (unsigned i = 0; i < 32; i++) {
            uint32_t x = (uint32_t)g->b[32 * w + i], flip = 0x80000000;
            if (!(lanes >> i & 1))
                continue;
            const uint32_t results[] = {d + x,         (x ^ flip) < (d ^ flip) ? x : d,
                                        x < d ? x : d, (x ^ flip) > (d ^ flip) ? x : d,
                                        x > d ? x : d, d & x,
                                        d | x,         d ^ x};
            d = first ? x : results[row->x];
            first = false;
        }
        for (unsigned i = 0; i < 32; i++)
            if (lanes >> i & 1)
                g->d[32 * w + i] = d;
    }
}

/* x: 1 max, 2 .abs, 4 .NaN. */
static void reduced_floats(struct group *g, const struct group_row *row)
{
    for (unsigned w = 0; w < 2; w++) {
        uint32_t lanes = members(g, row, w);
        double d = (double)NAN;
        bool nan = false;
        for (unsigned i = 0; i < 32; i++) {
            double x = decode(g->b[32 * w + i], 23, 8);
            if (!(lanes >> i & 1))
                continue;
            nan |= isnan(x);
            x = row->x & 2 ? fabs(x) : x;
            bool less = x < d || (x == d && signbit(x) > signbit(d)),
                 more = x > d || (x == d && signbit(x) < signbit(d));
            if (!isnan(x) && (isnan(d) || (row->x & 1 ? more : less)))
                d = x;
        }
        for (unsigned i = 0; i < 32; i++)
            if (lanes >> i & 1)
                g->d[32 * w + i] = encode(nan && row->x & 4 ? (double)NAN : d, 23, 8);
    }
}

static void counted_members(struct group *g, const struct group_row *row)
{
    for (unsigned t = 0; t < GROUP; t++) {
        uint32_t lanes = members(g, row, t / 32), low = lanes & -lanes, leader = 0;
        while (low >> leader > 1)
            leader++;
        if (lanes >> t % 32 & 1)
            g->d[t] = row->x ? leader | (uint64_t)(leader == t % 32) << 32 : lanes;
    }
}

/* Once with all lanes and once with some, whose mask is k; `b` is the type of %b. */
static void add_exchange(const char *b, const char *text,
                         void (*expected)(struct group *, const struct group_row *), int x)
{
    for (int z = 0; z < 2; z++) {
        char types[40];
        snprintf(types, sizeof types, "b64 b32 %s b32", b);
        struct group_row *row =
            group_add(IN_GLOBAL, types,
                      "{.reg .pred p, q, r; .reg .b32 k, x, y; and.b32 x, %%a, 1;"
                      " setp.%s.u32 p, x, 0; vote.sync.ballot.b32 k, p, -1; mov.b64 %%d, 0;"
                      " @!p bra S; setp.ne.%s q, %%b, 0; %s S: bar.warp.sync -1;}",
                      z ? "ne" : "ge", b, text);
        row->expected = expected, row->x = x, row->z = z;
    }
}

#define SHUFFLE(sync, mode, end)                                                                   \
    "shfl" sync "." mode ".b32 x|r, %b, y, x" end "; selp.u32 y, 1, 0, r;"                         \
    "{.reg .b64 s, t; cvt.u64.u32 s, x; cvt.u64.u32 t, y; mad.lo.u64 %d, s, 2, t;}"
/* y: the lane; x: the bounds; both lie in c as shuffled() takes them. */
#define BOUNDS                                                                                     \
    "{.reg .b32 s; and.b32 y, %c, 31; shr.u32 x, %c, 8; and.b32 x, x, 31; shr.u32 s, %c, 16;"      \
    " and.b32 s, s, 31; shl.b32 s, s, 8; or.b32 x, x, s;}"
#define PREDICATE " selp.u32 x, 1, 0, r; cvt.u64.u32 %d, x;"

static void add_exchanges(void)
{
    static const char *const sums[] = {"add.s32", "min.s32", "min.u32", "max.s32",
                                       "max.u32", "and.b32", "or.b32",  "xor.b32"};
    static const char *const floats[] = {"min",     "max",     "min.abs",     "max.abs",
                                         "min.NaN", "max.NaN", "min.abs.NaN", "max.abs.NaN"};
    add_exchange("b32", BOUNDS SHUFFLE(".sync", "up", ", k"), shuffled, UP);
    add_exchange("b32", BOUNDS SHUFFLE(".sync", "down", ", k"), shuffled, DOWN);
    add_exchange("b32", BOUNDS SHUFFLE(".sync", "bfly", ", k"), shuffled, BFLY);
    add_exchange("b32", BOUNDS SHUFFLE(".sync", "idx", ", k"), shuffled, IDX);
    add_exchange("b32", BOUNDS SHUFFLE("", "up", ""), shuffled, UP);
    add_exchange("b32", BOUNDS SHUFFLE("", "down", ""), shuffled, DOWN);
    add_exchange("b32", BOUNDS SHUFFLE("", "bfly", ""), shuffled, BFLY);
    add_exchange("b32", BOUNDS SHUFFLE("", "idx", ""), shuffled, IDX);
    add_exchange("b32", "vote.sync.all.pred r, q, k;" PREDICATE, voted, ALL);
    add_exchange("b32", "vote.sync.any.pred r, q, k;" PREDICATE, voted, ANY);
    add_exchange("b32", "vote.sync.uni.pred r, q, k;" PREDICATE, voted, UNI);
    add_exchange("b32", "vote.sync.ballot.b32 x, q, k; cvt.u64.u32 %d, x;", voted, BALLOT);
    add_exchange("b32", "vote.ballot.sync.b32 x, q, k; cvt.u64.u32 %d, x;", voted, BALLOT);
    add_exchange("b32", "vote.all.pred r, q;" PREDICATE, voted, ALL);
    add_exchange("b32", "vote.any.pred r, q;" PREDICATE, voted, ANY);
    add_exchange("b32", "not.pred q, q; vote.uni.pred r, !q;" PREDICATE, voted, UNI);
    add_exchange("b32", "vote.ballot.b32 x, q; cvt.u64.u32 %d, x;", voted, BALLOT);
#define FEW32 "and.b32 x, %b, 3;"
#define FEW64 "{.reg .b64 v; and.b64 v, %b, 0x100000003;"
#define BOTH  " selp.u32 y, 1, 0, r; mov.b64 %d, {x, y};"
    add_exchange("b32", FEW32 "match.any.sync.b32 x, x, k; cvt.u64.u32 %d, x;", matched, 0);
    add_exchange("b64", FEW64 "match.any.sync.b64 x, v, k; cvt.u64.u32 %d, x;}", matched, 0);
    add_exchange("b32", FEW32 "match.all.sync.b32 x|r, x, k;" BOTH, matched, 1);
    add_exchange("b64", FEW64 "match.all.sync.b64 x|r, v, k;}" BOTH, matched, 1);
    add_exchange("b64", "{.reg .b64 v; and.b64 v, %b, 0; match.all.sync.b64 x|r, v, k;}" BOTH,
                 matched, 2);
    for (int i = SUM; i <= XOR; i++) {
        char text[80];
        snprintf(text, sizeof text, "redux.sync.%s x, %%b, k; cvt.u64.u32 %%d, x;", sums[i]);
        add_exchange("b32", text, reduced, i);
    }
    for (int i = 0; i < 8; i++) {
        char text[120];
        snprintf(text, sizeof text,
                 "{.reg .f32 f; mov.b32 f, %%b; redux.sync.%s.f32 f, f, k; mov.b32 x, f; "
                 "cvt.u64.u32 %%d, x;}",
                 floats[i]);
        add_exchange("b32", text, reduced_floats, i);
    }
    add_exchange("b32", "activemask.b32 x; cvt.u64.u32 %d, x;", counted_members, 0);
    add_exchange("b32", "elect.sync x|r, k; selp.u32 y, 1, 0, r; mov.b64 %d, {x, y};",
                 counted_members, 1);
}

/* ---- bra, brx.idx, call, ret, exit ---- */

const char group_functions[] =
    ".func (.param .b32 o) twice(.param .b32 n) {.reg .b32 r; ld.param.u32 r, [n];"
    " add.u32 r, r, r; st.param.b32 [o], r; ret.uni;}\n"
    ".func (.param .b32 o) ten(.param .b32 n) {.reg .b32 r; .reg .pred p; ld.param.u32 r, [n];"
    " and.b32 r, r, 1; setp.eq.u32 p, r, 0; @p bra E; mov.u32 r, 11; st.param.b32 [o], r; ret;\n"
    "E: mov.u32 r, 10; st.param.b32 [o], r; ret;}\n"
    ".func (.reg .u32 o, .reg .b64 v) both(.reg .u32 n, .reg .b64 w) {add.u32 o, n, 7;"
    " xor.b64 v, w, -1; ret;}\n"
    ".func (.param .align 8 .b8 o[16]) wide(.param .align 8 .b8 n[16], .param .b8 s) {"
    " .reg .b64 x, y, z; ld.param.v2.b64 {x, y}, [n]; ld.param.s8 z, [s]; add.s64 x, x, z;"
    " st.param.b64 [o+8], x; st.param.b64 [o], y; ret;}\n"
    ".func (.param .b32 o) down(.param .b32 n) {.reg .b32 r, s; .reg .pred p; ld.param.u32 r, [n];"
    " setp.eq.u32 p, r, 0; mov.u32 s, 0; @p bra E; sub.u32 s, r, 1;\n"
    " {.param .b32 x, y; st.param.b32 [x], s; call (y), down, (x); ld.param.b32 s, [y];}\n"
    " mad.lo.u32 s, s, 3, r;\nE: st.param.b32 [o], s; ret;}\n";

static void sum_of_odds(struct group *g, const struct group_row *row)
{
    (void)row;
    for (unsigned t = 0; t < GROUP; t++)
        for (uint32_t i = 0; i < g->b[t] % 16; i++)
            g->d[t] += (i ^ g->a[t]) & 1 ? i : g->a[t];
}
static void switched(struct group *g, const struct group_row *row)
{
    static const uint32_t results[] = {5, 77, 5, 1000};
    (void)row;
    for (unsigned t = 0; t < GROUP; t++)
        g->d[t] = results[g->a[t] & 3];
}
/* x: what is called. */
static void called(struct group *g, const struct group_row *row)
{
    for (unsigned t = 0; t < GROUP; t++) {
        uint64_t a = g->a[t], b = g->b[t], down = 0;
        for (uint32_t i = 1; i <= a % 8; i++)
            down = down * 3 + i;
        const uint64_t results[] = {2 * (uint32_t)a, b & 1 ? 10 + (a & 1) : 2 * (uint32_t)a,
                                    (uint32_t)(a + 7) ^ ~b, 3 * b + (a + (uint64_t)(int8_t)b),
                                    down};
        g->d[t] = row->x == 2 ? results[2] : row->x == 3 ? results[3] : (uint32_t)results[row->x];
    }
}
/* Even ones leave before anything is stored. */
static void left(struct group *g, const struct group_row *row)
{
    (void)row;
    for (unsigned t = 0; t < GROUP; t++)
        g->d[t] = g->a[t] & 1 ? g->b[t] : 0;
}
static void as_it_was(struct group *g, const struct group_row *row)
{
    (void)row;
    for (unsigned t = 0; t < GROUP; t++)
        g->d[t] = g->a[t];
}

static void add_control(void)
{
    group_add(IN_GLOBAL, "b32 b32 b32 -",
              "{.reg .pred p, q; .reg .b32 i, n, x; mov.b32 %%d, 0; and.b32 n, %%b, 15;"
              " mov.b32 i, 0; L: setp.ge.u32 p, i, n; @p bra E; xor.b32 x, i, %%a;"
              " and.b32 x, x, 1; setp.ne.u32 q, x, 0; @q bra O; add.u32 %%d, %%d, %%a; bra.uni N; "
              "O: add.u32 %%d, %%d, i; N: add.u32 i, i, 1; bra L; E: }")
        ->expected = sum_of_odds;
    static const char *const uniform[] = {"", ".uni"};
    for (int i = 0; i < 2; i++)
        group_add(IN_GLOBAL, "b32 b32 - -",
                  "{.reg .b32 x; and.b32 x, %%a, 3; T: .branchtargets A, B, A, C; "
                  "brx.idx%s x, T; A: mov.b32 %%d, 5; bra E; B: mov.b32 %%d, 77; bra E; "
                  "C: mov.b32 %%d, 1000; E: }",
                  uniform[i])
            ->expected = switched;
    static const struct {
        const char *types, *text;
    } calls[] = {
        {"b32 b32 b32 -", "{.param .b32 x, y; st.param.b32 [x], %%a; call.uni (y), twice, (x);"
                          " ld.param.b32 %%d, [y];}"},
        {"b32 b32 b32 -",
         "{.reg .b64 f, h; .reg .b32 k; .reg .pred p; .param .b32 x, y; mov.u64 f, twice;"
         " mov.u64 h, ten; and.b32 k, %%b, 1; setp.ne.u32 p, k, 0; selp.b64 f, h, f, p;"
         " st.param.b32 [x], %%a; P: .callprototype (.param .b32 _) _ (.param .b32 _); "
         " call (y), f, (x), P; ld.param.b32 %%d, [y];}"},
        {"b64 b32 b64 -", "{.reg .u32 x; .reg .b64 y; call (x, y), both, (%%a, %%b);"
                          " cvt.u64.u32 %%d, x; xor.b64 %%d, %%d, y;}"},
        {"b64 b64 b64 -",
         "{.param .align 8 .b8 x[16], y[16]; .param .b8 s; .reg .b64 u, v; st.param.b64 [x], %%a;"
         " st.param.b64 [x+8], %%b; st.param.b8 [s], %%b; call (y), wide, (x, s);"
         " ld.param.v2.b64 {u, v}, [y]; mad.lo.u64 %%d, u, 3, v;}"},
        {"b32 b32 - -", "{.param .b32 x, y; .reg .b32 n; and.b32 n, %%a, 7; st.param.b32 [x], n;"
                        " call (y), down, (x); ld.param.b32 %%d, [y];}"}};
    for (int i = 0; i < 5; i++) {
        struct group_row *row = group_add(IN_GLOBAL, calls[i].types, calls[i].text, 0);
        row->expected = called, row->x = i;
    }
    static const char *const leaves[] = {"exit", "ret"};
    for (int i = 0; i < 2; i++)
        group_add(IN_GLOBAL, "b32 b32 b32 -",
                  "{.reg .pred p; .reg .b32 k; and.b32 k, %%a, 1; setp.eq.u32 p, k, 0; @p %s;"
                  " mov.b32 %%d, %%b;}",
                  leaves[i])
            ->expected = left;
}

/* ---- what threads do not notice ---- */

static void add_hints(void)
{
    static const char *const hints[] = {"membar.cta",
                                        "membar.gl",
                                        "membar.sys",
                                        "membar.gpu",
                                        "membar.cluster",
                                        "membar.proxy.alias",
                                        "membar.proxy.async",
                                        "fence.gpu",
                                        "fence.acquire.sync_restrict.shared::cluster.cluster",
                                        "fence.proxy.alias",
                                        "fence.proxy.async::generic.acquire.sync_restrict.shared"
                                        "::cluster.cluster",
                                        "fence.proxy.async.global",
                                        "fence.proxy.async.shared::cta",
                                        "fence.proxy.async.shared::cluster",
                                        "fence.proxy.tensormap::generic.release.gpu",
                                        "prefetch.local.L1 [0]",
                                        "prefetch.global.L2::evict_normal [%m]",
                                        "fence.sc.gpu",
                                        "fence.acq_rel.cta",
                                        "fence.acquire.cluster",
                                        "fence.release.sys",
                                        "fence.proxy.async",
                                        "fence.mbarrier_init.release.cluster",
                                        "prefetch.global.L1 [%m]",
                                        "prefetch.L2 [%m]",
                                        "prefetch.global.L2::evict_last [%m]",
                                        "prefetchu.L1 [%m]",
                                        "applypriority.global.L2::evict_normal [%m], 128",
                                        "discard.global.L2 [%m], 128",
                                        "nanosleep.u32 20",
                                        "nanosleep.u32 %a",
                                        "pmevent 3",
                                        "pmevent.mask 5",
                                        "griddepcontrol.wait",
                                        "griddepcontrol.launch_dependents",
                                        "setmaxnreg.inc.sync.aligned.u32 64",
                                        "setmaxnreg.dec.sync.aligned.u32 64",
                                        "cp.async.commit_group",
                                        "cp.async.wait_group 1",
                                        "cp.async.wait_all"};
    for (unsigned i = 0; i < sizeof hints / sizeof *hints; i++)
        group_add(IN_GLOBAL, "b32 b32 - -", "%s; mov.b32 %%d, %%a;", hints[i])->expected =
            as_it_was;
    static const char *const never[] = {"trap", "brkpt"};
    for (unsigned i = 0; i < 2; i++)
        group_add(IN_GLOBAL, "b32 b32 - -",
                  "{.reg .pred p; setp.ne.u32 p, %%a, %%a; @p %s; mov.b32 %%d, %%a;}", never[i])
            ->expected = as_it_was;
}

void group_add_lanes(void)
{
    add_exchanges();
    add_control();
    add_hints();
}

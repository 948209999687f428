/* Loads, stores, atomics and copies, in the manual's words (9.7.9, 9.7.13). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "rows_group.h"

enum { HALF = GROUP_BYTES / 2, OFFSET = 32, SLOTS_BYTES = 2048 };

static uint8_t *half_of(struct group *g, unsigned t)
{
    return g->memory + t / 32 * HALF;
}

/* ---- ld, st ---- */

static const struct {
    const char *name;
    unsigned bytes;
    bool is_signed;
    /* register; how element e%u goes into the sum s, and is made of s */
    const char *reg, *fold, *make;
} types[] = {
#define WHOLE "mad.lo.u64 s, s, 3, e%u;"
#define MOVED "mov.b64 e%u, s;"
#define CUT32 "cvt.u32.u64 e%u, s;"
#define CUT16 "cvt.u16.u64 e%u, s;"
#define SMALL "cvt.u64.u16 t, e%u; mad.lo.u64 s, s, 3, t;"
    {"b8", 1, false, "b64", WHOLE, MOVED},
    {"u8", 1, false, "u16", SMALL, CUT16},
    {"s8", 1, true, "s64", WHOLE, MOVED},
    {"b16", 2, false, "b32", "cvt.u64.u32 t, e%u; mad.lo.u64 s, s, 3, t;", CUT32},
    {"u16", 2, false, "u64", WHOLE, MOVED},
    {"s16", 2, true, "s64", WHOLE, MOVED},
    {"f16", 2, false, "b16", SMALL, CUT16},
    {"bf16", 2, false, "b16", SMALL, CUT16},
    {"b32", 4, false, "b64", WHOLE, MOVED},
    {"u32", 4, false, "u32", "cvt.u64.u32 t, e%u; mad.lo.u64 s, s, 3, t;", CUT32},
    {"s32", 4, true, "s64", WHOLE, MOVED},
    {"f32", 4, false, "f32", "mov.b32 h, e%u; cvt.u64.u32 t, h; mad.lo.u64 s, s, 3, t;",
     "cvt.u32.u64 h, s; mov.b32 e%u, h;"},
    {"b64", 8, false, "b64", WHOLE, MOVED},
    {"u64", 8, false, "u64", WHOLE, MOVED},
    {"s64", 8, false, "s64", WHOLE, MOVED},
    {"f64", 8, false, "f64", "mov.b64 t, e%u; mad.lo.u64 s, s, 3, t;", MOVED},
    {"b128", 16, false, "b128",
     "mov.b128 {t, u}, e%u; mad.lo.u64 s, s, 3, t; mad.lo.u64 s, s, 3, u;",
     "not.b64 t, s; mov.b128 e%u, {s, t};"}};
enum { TYPES = sizeof types / sizeof *types, U32_TYPE = 9, S16_TYPE = 5 };

#define ADDRESS                                                                                    \
    "{.reg .b64 o, s, t, u; .reg .b32 h; .reg .%s e<8>; cvt.u64.u32 o, %%b;"                       \
    " and.b64 o, o, %u; mad.lo.u64 o, o, %u, %%m; mov.b64 s, 0;"

static uint8_t *element_of_lane(struct group *g, unsigned t, unsigned bytes)
{
    return half_of(g, t) + OFFSET + g->b[t] % (SLOTS_BYTES / bytes) * bytes;
}

static void loaded(struct group *g, const struct group_row *row)
{
    unsigned bytes = types[row->x].bytes, count = (unsigned)row->y;
    for (unsigned t = 0; t < GROUP; t++) {
        const uint8_t *from = element_of_lane(g, t, bytes * count);
        for (unsigned k = 0; k < count; k++, from += bytes) {
            uint64_t e = bytes_at(from, bytes > 8 ? 8 : bytes);
            if (types[row->x].is_signed && e >> (8 * bytes - 1))
                e |= ~(uint64_t)0 << (8 * bytes - 1);
            g->d[t] = 3 * g->d[t] + e;
            if (bytes == 16)
                g->d[t] = 3 * g->d[t] + bytes_at(from + 8, 8);
        }
    }
}

/* Element k is a + k * c; a later lane's bytes win. */
static void stored(struct group *g, const struct group_row *row)
{
    unsigned bytes = types[row->x].bytes, count = (unsigned)row->y;
    for (unsigned t = 0; t < GROUP; t++)
        for (unsigned k = 0; k < count; k++) {
            uint8_t *to = element_of_lane(g, t, bytes * count) + k * bytes;
            uint64_t e = g->a[t] + k * g->c[t];
            put_bytes(to, e, bytes > 8 ? 8 : bytes);
            if (bytes == 16)
                put_bytes(to + 8, ~e, 8);
        }
}

static const char *const vectors[] = {"", "", ".v2", "", ".v4", "", "", "", ".v8"};

static size_t list_elements(char *to, unsigned count)
{
    size_t at = 0;
    for (unsigned k = 0; k < count; k++)
        at += (size_t)sprintf(to + at, "%se%u", k ? ", " : count > 1 ? "{" : "", k);
    return at + (size_t)sprintf(to + at, "%s", count > 1 ? "}" : "");
}

/* `name` is that of the instruction before the vector's size. */
static void add_load(enum group_place place, const char *name, unsigned x, unsigned count)
{
    char list[64], folds[600];
    size_t at = 0;
    list_elements(list, count);
    for (unsigned k = 0; k < count; k++) {
        const char *number = strstr(types[x].fold, "%u");
        at += (size_t)sprintf(folds + at, " %.*s%u%s", (int)(number - types[x].fold), types[x].fold,
                              k, number + 2);
    }
    unsigned bytes = types[x].bytes * count;
    struct group_row *row = group_add(
        place, "b64 - b32 -", ADDRESS " %s%s.%s %s, [o+%u];%s mov.b64 %%d, s;}", types[x].reg,
        SLOTS_BYTES / bytes - 1, bytes, name, vectors[count], types[x].name, list, OFFSET, folds);
    row->expected = loaded, row->x = (int)x, row->y = (int)count;
}

static void add_store(enum group_place place, const char *name, unsigned x, unsigned count)
{
    char list[64], make[800];
    size_t at = 0;
    const char *reg = types[x].reg;
    list_elements(list, count);
    for (unsigned k = 0; k < count; k++) {
        const char *number = strstr(types[x].make, "%u");
        at += (size_t)sprintf(make + at, " mad.lo.u64 s, %%c, %u, %%a; %.*s%u%s", k,
                              (int)(number - types[x].make), types[x].make, k, number + 2);
    }
    unsigned bytes = types[x].bytes * count;
    struct group_row *row = group_add(
        place, "b64 b64 b32 b64", ADDRESS "%s %s%s.%s [o+%u], %s; mov.b64 %%d, 0;}", reg,
        SLOTS_BYTES / bytes - 1, bytes, make, name, vectors[count], types[x].name, OFFSET, list);
    row->expected = stored, row->x = (int)x, row->y = (int)count;
}

/* Bytes that the module has in constant memory: i * 37 + 11. */
static void constant_loaded(struct group *g, const struct group_row *row)
{
    unsigned bytes = types[row->x].bytes;
    for (unsigned t = 0; t < GROUP; t++) {
        uint8_t from[8];
        for (unsigned i = 0; i < bytes; i++)
            from[i] = (uint8_t)((g->b[t] % (64 / bytes) * bytes + i) * 37 + 11);
        g->d[t] = bytes_at(from, bytes);
        if (types[row->x].is_signed && g->d[t] >> (8 * bytes - 1))
            g->d[t] |= ~(uint64_t)0 << (8 * bytes - 1);
    }
}

static void number_element(char *to, size_t size, const char *text)
{
    const char *at = strstr(text, "%u");
    snprintf(to, size, "%.*s0%s", (int)(at - text), text, at + 2);
}

static void add_constant(unsigned x)
{
    char fold[120];
    number_element(fold, sizeof fold, types[x].fold);
    struct group_row *row =
        group_add(IN_GLOBAL, "b64 - b32 -",
                  "{.reg .b64 o, p, s, t, u; .reg .b32 h; .reg .%s e<1>; and.b32 h, %%b, %u;"
                  " mul.wide.u32 o, h, %u; mov.u64 p, group_constants; add.u64 o, o, p;"
                  " mov.b64 s, 0; ld.const.%s e0, [o]; %s mov.b64 %%d, s;}",
                  types[x].reg, 64 / types[x].bytes - 1, types[x].bytes, types[x].name, fold);
    row->expected = constant_loaded, row->x = (int)x;
}

/* Stored in the thread's own memory and loaded from there, by both kinds of address. */
static void kept(struct group *g, const struct group_row *row)
{
    unsigned bits = 8 * types[row->x].bytes;
    for (unsigned t = 0; t < GROUP; t++) {
        uint64_t e = g->a[t] & (~(uint64_t)0 >> (64 - bits));
        if (types[row->x].is_signed && e >> (bits - 1))
            e |= ~(uint64_t)0 << (bits - 1);
        g->d[t] = 3 * e + e;
    }
}

static void add_local(unsigned x)
{
    char fold[120], make[120];
    number_element(fold, sizeof fold, types[x].fold);
    number_element(make, sizeof make, types[x].make);
    struct group_row *row = group_add(
        IN_GLOBAL, "b64 b64 b32 -",
        "{.local .align 16 .b8 own[128]; .reg .b64 o, p, q, s, t, u; .reg .b32 h; .reg .%s e<1>;"
        " and.b32 h, %%b, 7; mul.wide.u32 o, h, 16; mov.u64 p, own; add.u64 o, o, p;"
        " cvta.local.u64 q, o; mov.b64 s, %%a; %s st.local.%s [o], e0; mov.b64 s, 0;"
        " ld.%s e0, [q]; %s ld.volatile.local.%s e0, [o]; %s mov.b64 %%d, s;}",
        types[x].reg, make, types[x].name, types[x].name, fold, types[x].name, fold);
    row->expected = kept, row->x = (int)x;
}

static void add_loads_and_stores(void)
{
    static const char *const loads[] = {"ld.volatile#",
                                        "ld.relaxed.gpu#",
                                        "ld.acquire.sys#",
                                        "ld.weak#",
                                        "ld#.ca",
                                        "ld#.cg",
                                        "ld#.cs",
                                        "ld#.lu",
                                        "ld#.cv",
                                        "ld.global.nc",
                                        "ld.global.ca.nc",
                                        "ldu.global",
                                        "ld.global.L1::evict_last.L2::128B",
                                        "ld.shared::cta",
                                        "ld.acquire.cta#",
                                        "ld.volatile.shared",
                                        "ld.mmio.relaxed.sys.global"};
    static const char *const stores[] = {"st.volatile#",
                                         "st.relaxed.cluster#",
                                         "st.release.gpu#",
                                         "st.weak#",
                                         "st#.wb",
                                         "st#.cg",
                                         "st#.cs",
                                         "st#.wt",
                                         "st.global.L1::no_allocate",
                                         "st.shared::cta",
                                         "st.volatile.shared",
                                         "st.mmio.relaxed.sys.global"};
    for (enum group_place place = IN_GLOBAL; place < PLACES; place++)
        for (unsigned x = 0; x < TYPES; x++)
            for (unsigned count = 1; count * types[x].bytes <= 16 && count <= 4; count *= 2) {
                add_load(place, "ld#", x, count);
                add_store(place, "st#", x, count);
            }
    for (unsigned i = 0; i < sizeof loads / sizeof *loads; i++)
        for (unsigned count = 1; count < (strstr(loads[i], "mmio") ? 2 : 3); count++) {
            enum group_place place = strstr(loads[i], "shared") ? IN_SHARED : IN_GLOBAL;
            add_load(place, loads[i], U32_TYPE, count);
            add_load(place, loads[i], S16_TYPE, count);
        }
    for (unsigned i = 0; i < sizeof stores / sizeof *stores; i++)
        for (unsigned count = 1; count < (strstr(stores[i], "mmio") ? 2 : 3); count++)
            add_store(strstr(stores[i], "shared") ? IN_SHARED : IN_GLOBAL, stores[i], S16_TYPE,
                      count);
    add_load(IN_GLOBAL, "ld#", U32_TYPE, 8);
    add_store(IN_GLOBAL, "st#", U32_TYPE, 8);
    for (unsigned x = 0; x < TYPES - 1; x++) {
        add_constant(x);
        add_local(x);
    }
}

/* ---- cp.async, st.bulk ---- */

/* From the global memory: y bytes of which z (or a % (y + 1), if z is negative) are read. */
static void copied(struct group *g, const struct group_row *row)
{
    unsigned bytes = (unsigned)row->y;
    for (unsigned t = 0; t < GROUP; t++) {
        unsigned taken = row->z == -1   ? (unsigned)(g->a[t] % (bytes + 1))
                         : row->z == -2 ? (g->a[t] & 1 ? 0 : bytes)
                                        : bytes;
        uint8_t *to = half_of(g, t) + t % 32 * 16;
        memset(to, 0, bytes);
        memcpy(to, g->global + t / 32 * HALF + g->b[t] % 64 * 16, taken);
    }
}

static void add_copies(void)
{
    static const struct {
        const char *name, *rest;
        int bytes, taken;
    } forms[] = {{"cp.async.ca#.global", "4", 4, 0},
                 {"cp.async.ca#.global", "8", 8, 0},
                 {"cp.async.ca#.global.L2::64B", "16", 16, 0},
                 {"cp.async.cg.shared::cta.global.L2::128B", "16", 16, 0},
                 {"cp.async.ca#.global", "4, n", 4, -1},
                 {"cp.async.ca#.global", "8, n", 8, -1},
                 {"cp.async.cg#.global", "16, n", 16, -1},
                 {"cp.async.ca#.global", "8, p", 8, -2},
                 {"cp.async.ca#.global.L2::cache_hint.L2::256B", "4, n, o", 4, -1},
                 {"cp.async.cg#.global.L2::cache_hint", "16, o", 16, 0}};
    static const char *const waits[] = {"cp.async.wait_all;",
                                        "cp.async.commit_group; cp.async.wait_group 0;"};
    for (unsigned i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct group_row *row = group_add(
            IN_SHARED, "b32 b32 b32 -",
            "{.reg .b64 o, q; .reg .b32 n, k; .reg .pred p; and.b32 k, %%b, 63;"
            " mad.wide.u32 o, k, 16, %%g; mad.wide.u32 q, %%l, 16, %%m; rem.u32 n, %%a, %d;"
            " and.b32 k, %%a, 1; setp.ne.u32 p, k, 0; %s [q], [o], %s; %s mov.b32 %%d, 0;}",
            forms[i].bytes + 1, forms[i].name, forms[i].rest, waits[i % 2]);
        row->expected = copied, row->y = forms[i].bytes, row->z = forms[i].taken;
    }
}

/* Bulk copies of the first lane of each warp; x: from where to where. */
static void moved_in_bulk(struct group *g, const struct group_row *row)
{
    for (unsigned w = 0; w < 2; w++) {
        unsigned lane = 32 * w, bytes = (unsigned)(g->a[lane] % 64 + 1) * 16,
                 from = (unsigned)(g->b[lane] % 16 * 16);
        uint8_t *half = g->memory + w * HALF;
        if (row->x == 0) /* from global to shared memory */
            memcpy(half + 1024, g->global + w * HALF + from, bytes);
        else if (row->x == 1) /* back, of what the row has put there */
            for (unsigned i = 0; i < bytes; i++)
                half[1024 + i] = (uint8_t)((i / 4 + from / 4) * 3 >> 8 * (i % 4));
        else
            memcpy(g->memory + (1 - w) * HALF + 1024, g->global + w * HALF + 2048 + from, bytes);
        memset(half, 0, row->x == 1 ? 0 : 8);
        for (unsigned t = lane; t < lane + 32; t++)
            g->d[t] = 1;
    }
}

#define SIZES                                                                                      \
    "{.reg .b64 o, q, r, z; .reg .b32 n, f, k; .reg .pred p, c; setp.eq.u32 p, %%l, 0;"            \
    " and.b32 n, %%a, 63; add.u32 n, n, 1; shl.b32 n, n, 4; and.b32 f, %%b, 15; shl.b32 f, f, 4;"  \
    " mov.b64 z, 0; mov.b32 %%d, 1;"
#define BEGUN                                                                                      \
    " @p mbarrier.init.shared.b64 [%%m], 1; @p mbarrier.arrive.expect_tx.shared.b64 _, [%%m], n;"
#define ENDED                                                                                      \
    " W: mbarrier.try_wait.parity.shared.b64 c, [%%m], 0; @!c bra W; bar.warp.sync -1;"            \
    " @p mbarrier.inval.shared.b64 [%%m]; @p st.shared.b64 [%%m], z;}"

static void add_bulk_copies(void)
{
    static const char *const spaces[] = {"shared::cta.global", "shared::cluster.global"};
    for (int i = 0; i < 2; i++)
        group_add(IN_SHARED, "b32 b32 b32 -",
                  SIZES BEGUN " cvt.u64.u32 q, f; add.u64 q, q, %%g; createpolicy.fractional.L2::"
                              "evict_first.b64 r, 0f3F800000; @p cp.async.bulk.prefetch.L2.global"
                              " [q], n; @p cp.async.bulk.%s.mbarrier::complete_tx::bytes"
                              "%s [%%m+1024], [q], n, [%%m]%s;" ENDED,
                  spaces[i], i ? ".L2::cache_hint" : "", i ? ", r" : "")
            ->expected = moved_in_bulk;
    struct group_row *row =
        group_add(IN_GLOBAL, "b32 b32 b32 -",
                  ".shared .align 16 .b8 bulk[4096]; " SIZES
                  " mov.u64 o, bulk; mad.wide.u32 o, %%w, 2048, o; mov.b32 k, %%l;"
                  " L: mad.wide.u32 q, k, 4, o; mul.lo.u32 f, k, 3; st.shared.b32 [q], f;"
                  " add.u32 k, k, 32; setp.lt.u32 c, k, 512; @c bra L; bar.warp.sync -1;"
                  " and.b32 f, %%b, 15; mad.wide.u32 q, f, 16, o; fence.proxy.async.shared::cta;"
                  " @p cp.async.bulk.global.shared::cta.bulk_group [%%m+1024], [q], n;"
                  " cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;"
                  " cp.async.bulk.wait_group 0;}");
    row->expected = moved_in_bulk, row->x = 1;
    row =
        group_add(IN_CLUSTER, "b32 b32 b32 -",
                  SIZES " xor.b32 k, %%w, 1; mapa.shared::cluster.u64 q, %%m, k; cvt.u64.u32 o, f;"
                        " add.u64 o, o, %%m; @p mbarrier.init.shared.b64 [%%m], 1;"
                        " barrier.cluster.arrive; barrier.cluster.wait;"
                        " @p cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx"
                        "::bytes [q+1024], [o+2048], n, [q]; @p mbarrier.arrive.expect_tx"
                        ".release.cluster.shared::cluster.b64 _, [q], n; W: mbarrier.try_wait"
                        ".parity.shared.b64 c, [%%m], 0; @!c bra W; bar.warp.sync -1;"
                        " barrier.cluster.arrive; barrier.cluster.wait;"
                        " @p mbarrier.inval.shared.b64 [%%m]; @p st.shared.b64 [%%m], z;}");
    row->expected = moved_in_bulk, row->x = 2;
}

static void zeroed(struct group *g, const struct group_row *row)
{
    (void)row;
    for (unsigned t = 0; t < GROUP; t++)
        memset(half_of(g, t) + t % 32 * 64, 0, g->a[t] % 8 * 8);
}

/* st.async and red.async to global memory: x adds; y bytes. */
static void sent(struct group *g, const struct group_row *row)
{
    unsigned bytes = (unsigned)row->y;
    for (unsigned t = 0; t < GROUP; t++) {
        uint8_t *to = half_of(g, t) + t % 32 * 8;
        put_bytes(to, g->a[t] + (row->x ? bytes_at(to, bytes) : 0), bytes);
    }
}

static void add_sent(void)
{
    static const char *const names[] = {
        "st.async.release.gpu.global.b32", "st.async.mmio.release.sys.global.u64",
        "red.async.release.gpu.global.add.u32", "red.async.mmio.release.sys.global.add.s64"};
    for (int i = 0; i < 4; i++) {
        struct group_row *row = group_add(
            IN_GLOBAL, i % 2 ? "b32 b64 - -" : "b32 b32 - -",
            "{.reg .b64 o; mad.wide.u32 o, %%l, 8, %%m; %s [o], %%a; mov.b32 %%d, 0;}", names[i]);
        row->expected = sent, row->x = i / 2, row->y = i % 2 ? 8 : 4;
    }
}

void group_add_memory(void)
{
    add_sent();
    add_bulk_copies();
    add_loads_and_stores();
    add_copies();
    group_add(IN_SHARED, "b32 b32 - -",
              "{.reg .b64 o, n; .reg .b32 k; mad.wide.u32 o, %%l, 64, %%m; and.b32 k, %%a, 7;"
              " mul.wide.u32 n, k, 8; st.bulk.weak.shared::cta [o], n, 0; mov.b32 %%d, 0;}")
        ->expected = zeroed;
}

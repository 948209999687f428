/* Loads and stores of the functional executor against bytes moved lane by lane: a span of known
 * bytes, random kinds of addresses and masks. What isa_memory_addresses says of an instruction is
 * judged by tests/components/amd/isa. */
#include <criterion/criterion.h>

#include "base/number.h"
#include "components/amd/functional/access.h"
#include "components/amd/functional/access_lines.h"
#include "components/amd/functional/footprint.h"

enum { BYTES = 1 << 14, REGISTERS = 16, ROUNDS = 6000 };
#define START ((uint64_t)0x12 << 40)

static uint64_t state = 0x9e3779b97f4a7c15u;

static uint64_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

struct machine {
    uint32_t vgpr[REGISTERS * 64];
    uint8_t bytes[BYTES];
    struct isa_wave wave;
    const char *wrong;
};

/* flat_load and flat_store: opcode, bytes a lane, kind, from the ISA manual 13.11; the opcodes of
 * gfx803 and gfx90a are the same. */
static const struct row {
    uint8_t opcode, bytes;
    bool store, is_signed;
} rows[] = {{16, 1, false, false},  {17, 1, false, true},   {18, 2, false, false},
            {19, 2, false, true},   {20, 4, false, false},  {21, 8, false, false},
            {22, 12, false, false}, {23, 16, false, false}, {24, 1, true, false},
            {26, 2, true, false},   {28, 4, true, false},   {29, 8, true, false},
            {30, 12, true, false},  {31, 16, true, false}};

static uint64_t address_of(const struct machine *m, unsigned lane)
{
    return (uint64_t)m->vgpr[lane] | (uint64_t)m->vgpr[64 + lane] << 32;
}

/* The oracle: one lane after the other, byte by byte; data in v4 and up. */
static void move_lanes(struct machine *m, const struct row *row, uint64_t exec)
{
    for (unsigned lane = 0; lane < 64; lane++) {
        if (!(exec >> lane & 1))
            continue;
        uint8_t *at = m->bytes + (address_of(m, lane) - START);
        uint32_t word[4] = {0};
        for (unsigned i = 0; i < row->bytes; i++)
            if (row->store)
                at[i] = (uint8_t)(m->vgpr[(4 + i / 4) * 64 + lane] >> 8 * (i % 4));
            else
                word[i / 4] |= (uint32_t)at[i] << 8 * (i % 4);
        if (row->is_signed && at[row->bytes - 1] & 0x80)
            word[0] |= row->bytes == 1 ? 0xffffff00 : 0xffff0000;
        for (unsigned i = 0; !row->store && i < (row->bytes + 3u) / 4; i++)
            m->vgpr[(4 + i) * 64 + lane] = word[i];
    }
}

static void random_addresses(struct machine *m, unsigned bytes)
{
    uint64_t kind = next_random() % 8, room = BYTES - bytes;
    uint64_t start = kind == 6 ? BYTES - 64 * bytes : next_random() % 4096;
    for (uint64_t lane = 0; lane < 64; lane++) {
        uint64_t offset = kind == 0   ? start + lane * bytes
                          : kind == 1 ? start
                          : kind == 2 ? start + lane * 100
                          : kind == 3 ? start + (63 - lane) * bytes
                          : kind == 6 ? start + lane * bytes
                          : kind == 7 ? start + lane % 16 * bytes + lane / 16 * 1000
                                      : next_random() % (room + 1);
        uint64_t address = START + offset;
        m->vgpr[lane] = (uint32_t)address;
        m->vgpr[64 + lane] = (uint32_t)(address >> 32);
    }
}

typedef const char *accessor(struct host_view *, struct isa_context *, struct isa_wave *,
                             const struct isa_ready *, uint8_t *, uint32_t *);
static accessor *const accessors[] = {
#ifdef ISA_V2
    access_vector_v2,
#endif
#ifdef ISA_V3
    access_vector_v3,
#endif
};

/* With accumulators a0 is the fifth register: data lies there instead of in v4. Marks what is
 * accessed in *marks, if that is not NULL: the memory then has the machine's bytes. */
static void run_marked(accessor *access, struct machine *m, const struct row *row, uint64_t exec,
                       bool accumulators, struct footprint *marks)
{
    unsigned vgprs = accumulators ? 4 : REGISTERS, data = accumulators ? 0 : 4;
    static struct program_table no_program;
    static struct page_table no_pages;
    struct host_view view = {.program = &no_program,
                             .pages = &no_pages,
                             .unit = HOST_VIEW_UNIT_NONE,
                             .footprint = marks,
                             .count = 1};
    view.span[0] = (struct host_span){START, BYTES, marks ? memory.bytes : (char *)m->bytes, false};
    const uint32_t word[3] = {0xdc000000u | (uint32_t)row->opcode << 18,
                              data << (row->store ? 8 : 24) | (uint32_t)accumulators << 23};
    struct isa_context context = {
        .vgpr = m->vgpr, .vgpr_count = vgprs, .agpr_count = REGISTERS - vgprs};
    struct isa_inst inst;
    struct isa_ready ready;
    uint8_t hint = 0;
    uint32_t lane;
    cr_assert_eq(isa_decode(accumulators ? ISA_GFX90A : ISA_GFX803, word, sizeof word, &inst), 8);
    isa_prepare(&inst, vgprs, REGISTERS - vgprs, &ready);
    isa_wave_set_pair(&m->wave, ISA_EXEC, exec);
    m->wrong = access(&view, &context, &m->wave, &ready, &hint, &lane);
}

static void run_one(accessor *access, struct machine *m, const struct row *row, uint64_t exec,
                    bool accumulators)
{
    run_marked(access, m, row, exec, accumulators, NULL);
}

static void randomise(struct machine *m)
{
    memset(&m->wave, 0, sizeof m->wave);
    for (unsigned i = 0; i < REGISTERS * 64; i++)
        m->vgpr[i] = (uint32_t)(next_random() >> 16);
    for (unsigned i = 0; i < BYTES; i++)
        m->bytes[i] = (uint8_t)(next_random() >> 24);
}

Test(access, loads_and_stores_move_the_bytes_of_their_lanes)
{
    static struct machine expected, actual;
    for (unsigned round = 0; round < ROUNDS; round++) {
        const struct row *row = &rows[round % ARRAY_COUNT(rows)];
        unsigned variant = round / 14 % isa_variant_count();
        if (!isa_variant_select(variant))
            continue;
        uint64_t exec = next_random() % 2 ? UINT64_MAX : next_random();
        exec = next_random() % 4 ? exec : exec >> (next_random() % 64);
        if (round < 42)
            randomise(&expected);
        random_addresses(&expected, row->bytes);
        actual = expected;
        move_lanes(&expected, row, exec);
        run_one(accessors[variant], &actual, row, exec, next_random() % 4 == 0);
        cr_assert_null(actual.wrong, "%s", actual.wrong);
        cr_assert_eq(memcmp(expected.vgpr, actual.vgpr, sizeof actual.vgpr), 0,
                     "opcode %u, exec %" PRIx64, row->opcode, exec);
        cr_assert_eq(memcmp(expected.bytes, actual.bytes, BYTES), 0, "opcode %u, exec %" PRIx64,
                     row->opcode, exec);
    }
}

Test(access, one_lane_outside_moves_nothing)
{
    static struct machine before, after;
    for (unsigned round = 0; round < 300; round++) {
        const struct row *row = &rows[round % ARRAY_COUNT(rows)];
        unsigned lane = (unsigned)(next_random() % 64);
        randomise(&before);
        for (uint64_t i = 0; i < 64; i++) {
            before.vgpr[i] = (uint32_t)(i * row->bytes);
            before.vgpr[64 + i] = (uint32_t)(START >> 32);
        }
        before.vgpr[lane] = round % 2 ? BYTES - row->bytes + 1u : 0u - row->bytes;
        if (round % 3 == 0)
            before.vgpr[64 + lane] ^= 1;
        if (round % 5 == 0) /* the last one of lanes that follow each other */
            for (uint64_t i = 0; i < 64; i++)
                before.vgpr[i] = BYTES - (uint32_t)((63 - i) * row->bytes);
        after = before;
        run_one(accessors[isa_variant_current()], &after, row, UINT64_MAX, round % 5 == 0);
        cr_assert_not_null(after.wrong);
        cr_assert_eq(memcmp(before.vgpr, after.vgpr, sizeof after.vgpr), 0);
        cr_assert_eq(memcmp(before.bytes, after.bytes, BYTES), 0);
        cr_assert_eq(after.wave.pc, 0);
    }
}

Test(access, loads_and_stores_mark_the_dwords_of_their_lanes)
{
    static struct machine m;
    memory_reserve(0, BYTES);
    randomise(&m);
    for (unsigned round = 0; round < ROUNDS / 4; round++) {
        const struct row *row = &rows[round % ARRAY_COUNT(rows)];
        uint64_t exec = round % 2 ? UINT64_MAX : next_random() | 1, want[BYTES / 4 / 64] = {0};
        enum footprint_kind kind = row->store ? FOOTPRINT_WRITTEN : FOOTPRINT_READ;
        random_addresses(&m, row->bytes);
        for (unsigned lane = 0; lane < 64; lane++)
            for (unsigned i = 0; i < row->bytes && (exec >> lane & 1); i++) {
                uint32_t dword = (m.vgpr[lane] - (uint32_t)START + i) / 4;
                want[dword / 64] |= UINT64_C(1) << dword % 64;
            }
        footprint_begin(1);
        const struct footprint *f = footprint_of(0);
        run_marked(accessors[isa_variant_current()], &m, row, exec, false, footprint_of(0));
        cr_assert_null(m.wrong);
        cr_assert(!memcmp(f->mark[kind], want, sizeof want), "opcode %u, exec %" PRIx64,
                  row->opcode, exec);
        memset(want, 0, sizeof want);
        cr_assert(!memcmp(f->mark[!kind], want, sizeof want));
        cr_assert(footprint_end(1));
    }
}

/* ---- lines ---- */

/* The oracle: every byte of every active lane, in order. */
static void lines_of(const uint32_t *offset, uint64_t base, unsigned bytes, uint64_t exec,
                     struct touch_lines *out)
{
    out->count = 0;
    for (unsigned lane = 0; lane < 64; lane++) {
        for (unsigned i = 0; i < bytes && (exec >> lane & 1); i++) {
            uint64_t at = base + offset[lane] + i;
            uint32_t line = (uint32_t)(at / 64 - out->base / 64), k = 0;
            while (k < out->count && out->line[k] != line)
                k++;
            if (k == out->count) {
                out->line[k] = line;
                out->mask[out->count++] = 0;
            }
            out->mask[k] |= UINT64_C(1) << at % 64;
        }
    }
}

Test(access, lines_come_in_the_order_of_their_lowest_lanes)
{
    unsigned found = 0;
    for (unsigned round = 0; round < 4000; round++) {
        static const unsigned sizes[] = {1, 2, 4, 8, 16};
        unsigned bytes = sizes[round % 5], spread = 1u << next_random() % 12;
        uint64_t exec = next_random() % 2 ? UINT64_MAX : next_random() | 1u << next_random() % 30;
        uint64_t base = START + next_random() % 64 / bytes * bytes;
        uint32_t offset[64], start = 0, limit = spread * 64;
        for (unsigned lane = 0; lane < 64; lane++) {
            start = next_random() % 4 ? start + 1 : (uint32_t)(next_random() % limit);
            offset[lane] = start * bytes;
            if (!(exec >> lane & 1) && next_random() & 1)
                offset[lane] = (uint32_t)next_random();
        }
        struct lanes_span s = lanes_span_of(offset, exec, bytes);
        struct touch_lines expected, actual;
        bool stores = next_random() & 1;
        if (!find_lines(&s, base, bytes, stores, exec, &actual))
            continue;
        expected.base = actual.base;
        lines_of(offset, base, bytes, exec, &expected);
        cr_assert_eq(actual.count, expected.count, "%u lines, not %u", actual.count,
                     expected.count);
        for (unsigned i = 0; i < actual.count; i++) {
            cr_assert_eq(actual.line[i], expected.line[i]);
            cr_assert_eq(actual.mask[i], stores ? expected.mask[i] : UINT64_MAX);
        }
        found++;
    }
    cr_assert_gt(found, 2000);
}

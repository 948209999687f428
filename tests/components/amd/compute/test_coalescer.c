/* The coalescer against a byte-by-byte model: every byte of every lane in exactly one line, and
 * data that arrives. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdlib.h>

#include "base/number.h"
#include "components/amd/execute/coalescer.h"

enum pattern { LINEAR, STRIDE_LINE, SAME, REVERSED, MISALIGNED, SCATTERED, SWIZZLED, UNALIGNED };

struct coalescer_case {
    char name[40];
    enum pattern pattern;
    uint8_t bytes;
    uint64_t mask;
    unsigned lines; /* expected; 0: not stated */
};

static struct coalescer_case cases[] = {
    {"dwords, all lanes", LINEAR, 4, UINT64_MAX, 4},
    {"dwords, one lane", LINEAR, 4, 1ull << 17, 1},
    {"dwords, every second quarter", LINEAR, 4, 0xffff0000ffff0000, 2},
    {"bytes", LINEAR, 1, UINT64_MAX, 1},
    {"dwordx2", LINEAR, 8, UINT64_MAX, 8},
    {"dwordx4", LINEAR, 16, UINT64_MAX, 16},
    {"one line a lane", STRIDE_LINE, 4, UINT64_MAX, 64},
    {"all lanes at one address", SAME, 4, UINT64_MAX, 1},
    {"reversed, every third lane", REVERSED, 4, 0x9249249249249249, 4},
    {"reversed", REVERSED, 4, UINT64_MAX, 4},
    {"two bytes off", MISALIGNED, 4, UINT64_MAX, 5},
    {"dwordx4 across lines", MISALIGNED, 16, UINT64_MAX, 17},
    {"scattered dwords", SCATTERED, 4, 0x5555aaaaf0f00f0f, 0},
    {"scattered dwordx4", SCATTERED, 16, UINT64_MAX, 0},
    {"scratch dwordx4", SWIZZLED, 16, UINT64_MAX, 16},
    {"scratch dwordx2, some lanes", SWIZZLED, 8, 0x00000000ffffffff, 4},
    {"unaligned scratch words", UNALIGNED, 2, UINT64_MAX, 0},
    {"unaligned scratch dwords, some lanes", UNALIGNED, 4, 0x5555aaaaf0f00f0f, 0},
    {"unaligned scratch dwordx2", UNALIGNED, 8, UINT64_MAX, 0},
    {"unaligned scratch dwordx4", UNALIGNED, 16, UINT64_MAX, 0},
};

ParameterizedTestParameters(coalescer, moves_every_byte_once)
{
    return cr_make_param_array(struct coalescer_case, cases, ARRAY_COUNT(cases));
}

enum { SPACE = 1 << 16, BASE = 0x10000 };

static void fill(struct isa_memory *m, const struct coalescer_case *c)
{
    memset(m, 0, sizeof *m);
    m->bytes = c->bytes;
    m->mask = c->mask;
    srand(7);
    for (unsigned lane = 0; lane < 64; lane++) {
        uint64_t offset = 0;
        switch (c->pattern) {
        case LINEAR:
            offset = (uint64_t)lane * c->bytes;
            break;
        case STRIDE_LINE:
            offset = (uint64_t)lane * 64;
            break;
        case SAME:
            offset = 12;
            break;
        case REVERSED:
            offset = (uint64_t)(63 - lane) * c->bytes;
            break;
        case MISALIGNED:
            offset = 2 + (uint64_t)lane * c->bytes;
            break;
        case SCATTERED:
            offset = (uint64_t)(rand() % (SPACE - 64));
            break;
        case SWIZZLED:
            offset = (uint64_t)lane * 4;
            break;
        case UNALIGNED: /* private offsets up to 767 */
            offset = (uint64_t)(rand() % 192) * 256 + (uint64_t)lane * 4 + lane % 4;
            break;
        }
        m->address[lane] = BASE + offset;
    }
    if (c->pattern == SWIZZLED || c->pattern == UNALIGNED) {
        m->swizzle_mask = UINT64_MAX;
        m->dword_stride = 256;
        isa_memory_find_straddling(m, m->mask);
    }
}

/* Address of byte `i` of the lane, by the definition of struct isa_memory. */
static uint64_t byte_address(const struct isa_memory *m, unsigned lane, unsigned i)
{
    uint64_t begin = m->address[lane] % 4;
    if (m->swizzle_mask >> lane & 1)
        return m->address[lane] - begin + (begin + i) / 4 * m->dword_stride + (begin + i) % 4;
    return m->address[lane] + i;
}

static void check_lines(const struct coalescer_case *c, const struct coalesced_line *lines,
                        unsigned count)
{
    if (c->lines)
        cr_assert_eq(count, c->lines, "%s: %u lines instead of %u", c->name, count, c->lines);
    for (unsigned i = 0; i < count; i++) {
        cr_assert_eq(lines[i].address % 64, 0);
        cr_assert_eq(lines[i].lanes & ~c->mask, 0, "%s: a lane that is not active", c->name);
        for (unsigned k = 0; k < i; k++)
            cr_assert_neq(lines[i].address, lines[k].address, "%s: a line twice", c->name);
    }
}

ParameterizedTest(struct coalescer_case *c, coalescer, moves_every_byte_once)
{
    static uint8_t memory[SPACE], written[SPACE], expected[SPACE];
    struct coalesced_line lines[COALESCER_LINES_MAX];
    struct isa_memory m;
    uint8_t stage[64 * 16] = {0};
    fill(&m, c);
    for (unsigned i = 0; i < SPACE; i++)
        memory[i] = (uint8_t)(i * 31 + i / 256);
    struct isa_reach reach;
    isa_memory_reach(&m, &reach);
    bool linear = coalescer_is_linear(&m, &reach);
    bool simple = !linear && coalescer_stays_in_lines(&m, &reach);
    unsigned count = linear   ? coalescer_linear_lines(&m, reach.base, lines)
                     : simple ? coalescer_simple_lines(&m, lines)
                              : coalescer_lines(&m, lines);
    uint8_t offset[64];
    for (unsigned lane = 0; lane < 64; lane++)
        offset[lane] = m.address[lane] % 64;
    if (c->pattern == LINEAR)
        cr_assert(linear, "%s: not recognised as linear", c->name);
    check_lines(c, lines, count);
    for (unsigned i = 0; i < count; i++) {
        const uint8_t *line = memory + (lines[i].address - BASE);
        if (linear)
            coalescer_linear_from_line(m.bytes, reach.base, lines[i].address, line, stage);
        else if (simple && m.bytes == 4)
            coalescer_dwords_from_line(offset, lines[i].lanes, line, stage);
        else if (simple)
            coalescer_inside_from_line(offset, m.bytes, lines[i].lanes, line, stage);
        else
            coalescer_from_line(&m, lines[i], line, stage);
    }
    for (unsigned lane = 0; lane < 64; lane++) {
        for (unsigned i = 0; c->mask >> lane & 1 && i < c->bytes; i++)
            cr_assert_eq(stage[lane * c->bytes + i], memory[byte_address(&m, lane, i) - BASE],
                         "%s: lane %u byte %u", c->name, lane, i);
    }
    for (unsigned i = 0; i < sizeof stage; i++)
        stage[i] = (uint8_t)(i * 7 + 1);
    memset(written, 0, sizeof written);
    memset(expected, 0, sizeof expected);
    for (unsigned i = 0; i < count; i++) {
        uint8_t line[64];
        uint64_t mask =
            linear && c->mask == UINT64_MAX
                ? coalescer_linear_to_line(m.bytes, reach.base, lines[i].address, stage, line)
            : simple ? coalescer_inside_to_line(offset, m.bytes, lines[i].lanes, stage, line)
                     : coalescer_to_line(&m, lines[i], stage, line);
        for (unsigned b = 0; b < 64; b++)
            if (mask >> b & 1)
                written[lines[i].address - BASE + b] = line[b];
    }
    for (unsigned lane = 0; lane < 64; lane++)
        for (unsigned i = 0; c->mask >> lane & 1 && i < c->bytes; i++)
            expected[byte_address(&m, lane, i) - BASE] = stage[lane * c->bytes + i];
    cr_assert_arr_eq(written, expected, SPACE, "%s: stored bytes", c->name);
}

static uint64_t random_mask(void)
{
    return ((uint64_t)rand() << 40) ^ ((uint64_t)rand() << 20) ^ (uint64_t)rand();
}

/* The same lane by lane. */
static struct isa_reach reach_by_lanes(const struct isa_memory *m)
{
    unsigned first = (unsigned)__builtin_ctzll(m->mask);
    struct isa_reach r = {.low = UINT64_MAX, .is_linear = true, .stays_in_lines = true};
    r.base = m->address[first] - first * m->bytes;
    for (unsigned lane = 0; lane < 64; lane++) {
        uint64_t a = m->address[lane];
        if (!(m->mask >> lane & 1))
            continue;
        r.low = min(a, r.low);
        r.high = max(a, r.high);
        r.is_linear &= a == r.base + lane * m->bytes;
        r.stays_in_lines &= a / 64 == (a + m->bytes - 1) / 64;
    }
    return r;
}

static uint64_t breaks_by_lanes(const struct isa_memory *m)
{
    uint64_t breaks = 1;
    for (unsigned lane = 1; lane < 64; lane++)
        breaks |= (uint64_t)(m->address[lane] / 64 != m->address[lane - 1] / 64) << lane;
    return breaks;
}

Test(coalescer, all_lanes_at_once_are_seen_as_one_by_one)
{
    unsigned chosen = isa_variant_current();
    srand(6);
    for (unsigned round = 0; round < 3000; round++) {
        struct isa_memory m = {.bytes = (uint8_t)(1u << (round % 5)), .mask = UINT64_MAX};
        uint64_t base = (uint64_t)rand() << (round % 34), step = rand() % 3 ? m.bytes : 68;
        m.mask = rand() % 3 ? m.mask : random_mask() | (uint64_t)1 << (rand() % 64);
        if (round % 9 == 0) /* some lanes are behind the end of all addresses */
            base = -(uint64_t)(rand() % 600);
        for (unsigned lane = 0; lane < 64; lane++)
            m.address[lane] = base + lane * step;
        if (rand() % 2)
            m.address[rand() % 64] += (uint64_t)(rand() % 200) << (rand() % 50);
        struct isa_reach own = reach_by_lanes(&m);
        for (unsigned v = 0; v < isa_variant_count(); v++) {
            struct isa_reach r;
            if (!isa_variant_select(v))
                continue;
            isa_memory_reach(&m, &r);
            cr_assert_eq(r.low, own.low, "%s: round %u: low", isa_variant_name(v), round);
            cr_assert_eq(r.high, own.high, "%s: round %u: high", isa_variant_name(v), round);
            cr_assert_eq(r.base, own.base, "%s: round %u: base", isa_variant_name(v), round);
            cr_assert_eq(r.is_linear, own.is_linear, "%s: round %u: linear", isa_variant_name(v),
                         round);
            cr_assert_eq(r.stays_in_lines, own.stays_in_lines, "%s: round %u: lines",
                         isa_variant_name(v), round);
            cr_assert_eq(isa_memory_breaks(m.address), breaks_by_lanes(&m), "%s: round %u: breaks",
                         isa_variant_name(v), round);
        }
    }
    isa_variant_select(chosen);
}

Test(coalescer, ways_to_find_lines_agree)
{
    struct coalesced_line simple[COALESCER_LINES_MAX], general[COALESCER_LINES_MAX];
    srand(5);
    for (unsigned round = 0; round < 2000; round++) {
        struct isa_memory m = {.bytes = 4, .mask = random_mask()};
        for (unsigned lane = 0; lane < 64; lane++)
            m.address[lane] = 0x10000 + (uint64_t)(rand() % (1 << (round % 12))) * 4;
        struct isa_reach reach;
        isa_memory_reach(&m, &reach);
        cr_assert(coalescer_stays_in_lines(&m, &reach));
        unsigned count = coalescer_simple_lines(&m, simple);
        cr_assert_eq(count, coalescer_lines(&m, general));
        cr_assert_arr_eq(simple, general, count * sizeof simple[0]);
    }
}

Test(coalescer, atomics_never_share_an_address_in_one_message)
{
    struct coalesced_line lines[64];
    struct isa_memory m = {.kind = ISA_MEMORY_ATOMIC, .bytes = 4, .mask = UINT64_MAX};
    uint64_t seen = 0;
    for (unsigned lane = 0; lane < 64; lane++)
        m.address[lane] =
            0x1000 + (lane % 20) * 4; /* 20 addresses in 2 lines, up to 4 lanes each */
    unsigned count = coalescer_atomics(&m, lines);
    cr_assert_eq(
        count,
        4 + 3); /* addresses 0 to 3 have four lanes each, 16 to 19 in the second line three */
    for (unsigned i = 0; i < count; i++) {
        uint64_t taken = 0;
        for (unsigned lane = 0; lane < 64; lane++) {
            if (!(lines[i].lanes >> lane & 1))
                continue;
            uint64_t bit = 1ull << (m.address[lane] - lines[i].address);
            cr_assert_eq(m.address[lane] & ~63ull, lines[i].address);
            cr_assert_eq(taken & bit, 0, "message %u has an address twice", i);
            taken |= bit;
        }
        cr_assert_eq(seen & lines[i].lanes, 0, "a lane in two messages");
        seen |= lines[i].lanes;
    }
    cr_assert_eq(seen, UINT64_MAX);
}

Test(coalescer, one_address_for_all_lanes_is_one_message_a_lane)
{
    struct coalesced_line lines[64];
    struct isa_memory m = {.kind = ISA_MEMORY_ATOMIC, .bytes = 8, .mask = UINT64_MAX};
    for (unsigned lane = 0; lane < 64; lane++)
        m.address[lane] = 0x2008;
    cr_assert_eq(coalescer_atomics(&m, lines), 64);
}

Test(coalescer, highest_lane_wins_a_store_to_one_address)
{
    struct coalesced_line lines[COALESCER_LINES_MAX];
    struct isa_memory m = {.kind = ISA_MEMORY_STORE, .bytes = 4, .mask = 0xff};
    uint32_t stage[64];
    uint8_t line[64];
    for (unsigned lane = 0; lane < 64; lane++) {
        m.address[lane] = 0x1008;
        stage[lane] = lane;
    }
    cr_assert_eq(coalescer_lines(&m, lines), 1);
    cr_assert_eq(coalescer_to_line(&m, lines[0], (const uint8_t *)stage, line), 0xf00);
    cr_assert_eq(line[8], 7);
}

/* ---- time that addresses take ---- */

/* Lanes `stride` bytes apart, the first `offset` bytes behind the start of a line. */
struct address_case {
    const char *name;
    unsigned stride, offset, bytes;
    uint64_t mask;
    unsigned cycles;
    unsigned with_four_rams; /* of lines of 128 bytes */
};

/* Strides of floats: 16, 32 and 64 cycles a wavefront are 16, 8 and 4 bytes a cycle, as RRZE
 * gpu-benches measures on MI210 (15.9, 7.9 and 4.0); 28 and 48 are the ends of its 5.3 to 9.1 at
 * odd strides. */
Test(coalescer, addresses_take_the_time_that_was_measured)
{
    static const struct address_case all[] = {
        {"one float", 0, 0, 4, UINT64_MAX, 4, 4},
        {"stride 1", 4, 0, 4, UINT64_MAX, 4, 4},
        {"stride 1 across lines", 4, 32, 4, UINT64_MAX, 4, 4},
        {"stride 2", 8, 0, 4, UINT64_MAX, 32, 4},
        {"stride 3, in lines", 12, 0, 4, 0x000f000f000f000f, 4, 4},
        {"stride 4", 16, 0, 4, UINT64_MAX, 64, 64},
        {"stride 8", 32, 0, 4, UINT64_MAX, 64, 64},
        {"stride 32", 128, 0, 4, UINT64_MAX, 64, 64},
        {"stride 5", 20, 0, 4, UINT64_MAX, 28, 16},
        {"stride 11", 44, 0, 4, UINT64_MAX, 48, 16},
        {"bytes", 1, 0, 1, UINT64_MAX, 4, 4},
        {"pairs", 8, 0, 8, UINT64_MAX, 4, 4},
        {"fours", 16, 0, 16, UINT64_MAX, 4, 4},
        {"fours, a line apart", 64, 0, 16, UINT64_MAX, 64, 64},
        {"fours, some lanes", 16, 0, 16, 0x5555555555555555, 4, 4},
        {"one lane", 64, 0, 4, 1, 4, 4},
        {"a line and a word apart", 132, 0, 4, UINT64_MAX, 64, 16},
        {"512 bytes and a word apart", 516, 0, 4, UINT64_MAX, 64, 64},
    };
    for (size_t i = 0; i < ARRAY_COUNT(all); i++) {
        const struct address_case *c = &all[i];
        struct isa_memory m = {
            .kind = ISA_MEMORY_LOAD, .bytes = (uint8_t)c->bytes, .mask = c->mask};
        for (unsigned lane = 0; lane < ISA_LANES; lane++)
            m.address[lane] = BASE + c->offset + (uint64_t)lane * c->stride;
        unsigned cycles = coalescer_address_cycles(&m, 16, (struct coalescer_tags){64, 1});
        cr_expect_eq(cycles, c->cycles, "%s: %u", c->name, cycles);
        cycles = coalescer_address_cycles(&m, 16, (struct coalescer_tags){128, 4});
        cr_expect_eq(cycles, c->with_four_rams, "%s, four RAMs: %u", c->name, cycles);
    }
}

/* Of scratch, each dword of the lanes is a run. */
Test(coalescer, addresses_of_scratch_take_a_pass_for_each_dword)
{
    struct isa_memory m = {
        .kind = ISA_MEMORY_LOAD, .bytes = 16, .mask = UINT64_MAX, .swizzle_mask = UINT64_MAX};
    m.dword_stride = 256;
    for (unsigned lane = 0; lane < ISA_LANES; lane++)
        m.address[lane] = BASE + (uint64_t)lane * 4;
    cr_expect_eq(coalescer_address_cycles(&m, 16, (struct coalescer_tags){64, 1}), 16);
    cr_expect_eq(coalescer_address_cycles(&m, 32, (struct coalescer_tags){64, 1}), 8);
}

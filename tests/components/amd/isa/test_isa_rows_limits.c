/* Clamp of integer results, dot products with their modifiers, sums of absolute differences, cube
 * maps: against arithmetic of 128 bits written here, and the manuals' tables. */
#include "covered.h"
#include "machine.h"

typedef __int128 exact;

static void mark(enum isa_target target, const uint32_t *word)
{
    struct isa_inst inst;
    cr_assert_gt(isa_decode(target, word, 12, &inst), 0);
    covered_mark(&inst);
}

#define FOR_TARGETS(target, name)                                                                  \
    for (enum isa_target target = (enum isa_target)0; target < ISA_TARGET_COUNT; target++)         \
        if (encode_opcode(name, target) >= 0)

enum { EDGES_MAX = 12, CLAMP = 1 << 15 };

static const uint32_t edges[EDGES_MAX] = {0,          1,          0x7fff,     0x8000,
                                          0xffff,     0x7fffff,   0x800000,   0xffffff,
                                          0x7fffffff, 0x80000000, 0xffffffff, 0x1234abcd};

/* ---- what the rows compute ---- */

static exact u(uint64_t x, unsigned bits)
{
    exact value = 0;
    for (unsigned bit = 0; bit < bits; bit++)
        value += (exact)(x >> bit & 1) << bit;
    return value;
}

static exact s(uint64_t x, unsigned bits)
{
    return u(x, bits) - (x >> (bits - 1) & 1 ? (exact)1 << bits : 0);
}

static exact distance(uint64_t a, uint64_t b, unsigned bits, unsigned fields)
{
    exact sum = 0;
    for (unsigned i = 0; i < fields; i++) {
        exact x = u(a >> bits * i, bits), y = u(b >> bits * i, bits);
        sum += x > y ? x - y : y - x;
    }
    return sum;
}

static exact masked(uint64_t a, uint64_t b)
{
    exact sum = 0;
    for (unsigned i = 0; i < 4; i++)
        sum += b >> 8 * i & 255 ? distance(a >> 8 * i, b >> 8 * i, 8, 1) : 0;
    return sum;
}

static exact dot(uint64_t a, uint64_t b, unsigned bits, bool is_signed)
{
    exact sum = 0;
    for (unsigned i = 0; i < 32; i += bits)
        sum += is_signed ? s(a >> i, bits) * s(b >> i, bits) : u(a >> i, bits) * u(b >> i, bits);
    return sum;
}

#define ROW(name, expression)                                                                      \
    static exact exact_##name(uint64_t a, uint64_t b, uint64_t c)                                  \
    {                                                                                              \
        (void)a, (void)b, (void)c;                                                                 \
        return expression;                                                                         \
    }
ROW(v_add_u16, u(a, 16) + u(b, 16))
ROW(v_sub_u16, u(a, 16) - u(b, 16))
ROW(v_subrev_u16, u(b, 16) - u(a, 16))
ROW(v_add_u32, u(a, 32) + u(b, 32))
ROW(v_sub_u32, u(a, 32) - u(b, 32))
ROW(v_subrev_u32, u(b, 32) - u(a, 32))
ROW(v_add_i32, s(a, 32) + s(b, 32))
ROW(v_sub_i32, s(a, 32) - s(b, 32))
ROW(v_add_i16, s(a, 16) + s(b, 16))
ROW(v_sub_i16, s(a, 16) - s(b, 16))
ROW(v_mul_i32_i24, s(a, 24) * s(b, 24))
ROW(v_mul_u32_u24, u(a, 24) * u(b, 24))
ROW(v_mad_i32_i24, s(a, 24) * s(b, 24) + s(c, 32))
ROW(v_mad_u32_u24, u(a, 24) * u(b, 24) + u(c, 32))
ROW(v_mad_u16, u(a, 16) * u(b, 16) + u(c, 16))
ROW(v_mad_i16, s(a, 16) * s(b, 16) + s(c, 16))
ROW(v_mad_u32_u16, u(a, 16) * u(b, 16) + u(c, 32))
ROW(v_mad_i32_i16, s(a, 16) * s(b, 16) + s(c, 32))
ROW(v_mad_u64_u32, u(a, 32) * u(b, 32) + u(c, 64))
ROW(v_mad_i64_i32, s(a, 32) * s(b, 32) + s(c, 64))
ROW(v_sad_u8, distance(a, b, 8, 4) + u(c, 32))
ROW(v_sad_hi_u8, distance(a, b, 8, 4) * 65536 + u(c, 32))
ROW(v_sad_u16, distance(a, b, 16, 2) + u(c, 32))
ROW(v_sad_u32, distance(a, b, 32, 1) + u(c, 32))
ROW(v_msad_u8, masked(a, b) + u(c, 32))
ROW(v_dot2_i32_i16, dot(a, b, 16, true) + s(c, 32))
ROW(v_dot2_u32_u16, dot(a, b, 16, false) + u(c, 32))
ROW(v_dot4_i32_i8, dot(a, b, 8, true) + s(c, 32))
ROW(v_dot4_u32_u8, dot(a, b, 8, false) + u(c, 32))
ROW(v_dot8_i32_i4, dot(a, b, 4, true) + s(c, 32))
ROW(v_dot8_u32_u4, dot(a, b, 4, false) + u(c, 32))
ROW(v_pk_mad_u16, u(a, 16) * u(b, 16) + u(c, 16))
ROW(v_pk_mad_i16, s(a, 16) * s(b, 16) + s(c, 16))
ROW(v_pk_mul_lo_u16, u(a, 16) * u(b, 16))
ROW(v_pk_add_u16, u(a, 16) + u(b, 16))
ROW(v_pk_sub_u16, u(a, 16) - u(b, 16))
ROW(v_pk_add_i16, s(a, 16) + s(b, 16))
ROW(v_pk_sub_i16, s(a, 16) - s(b, 16))
#undef ROW

enum shape { VOP3, DOT, PACKED, CARRY };

static const struct row {
    const char *name;
    exact (*exact)(uint64_t, uint64_t, uint64_t);
    enum isa_target target;
    enum shape shape;
    unsigned bits;
    bool is_signed;
} rows[] = {
#define ROW(target, name, ...) {#name, exact_##name, ISA_##target, __VA_ARGS__},
    ROW(GFX803, v_add_u16, VOP3, 16, false) ROW(GFX803, v_sub_u16, VOP3, 16, false) ROW(
        GFX906, v_subrev_u16, VOP3, 16, false) ROW(GFX906, v_add_u32, VOP3, 32, false)
        ROW(GFX906, v_sub_u32, VOP3, 32, false) ROW(GFX906, v_subrev_u32, VOP3, 32, false) ROW(
            GFX906, v_add_i32, VOP3, 32, true) ROW(GFX906, v_sub_i32, VOP3, 32, true)
            ROW(GFX906, v_add_i16, VOP3, 16, true) ROW(GFX906, v_sub_i16, VOP3, 16, true) ROW(
                GFX803, v_mul_i32_i24, VOP3, 32, true) ROW(GFX803, v_mul_u32_u24, VOP3, 32, false)
                ROW(GFX803, v_mad_i32_i24, VOP3, 32,
                    true) ROW(GFX803, v_mad_u32_u24, VOP3, 32, false)
                    ROW(GFX803, v_mad_u16, VOP3, 16, false) ROW(GFX906, v_mad_i16, VOP3, 16, true)
                        ROW(GFX906, v_mad_u32_u16, VOP3, 32,
                            false) ROW(GFX906, v_mad_i32_i16, VOP3, 32,
                                       true) ROW(GFX803, v_mad_u64_u32, CARRY, 64,
                                                 false) ROW(GFX803, v_mad_i64_i32, CARRY, 64, true)
                            ROW(GFX803, v_sad_u8, VOP3, 32,
                                false) ROW(GFX803, v_sad_hi_u8, VOP3, 32,
                                           false) ROW(GFX803, v_sad_u16, VOP3, 32, false)
                                ROW(GFX803, v_sad_u32, VOP3, 32,
                                    false) ROW(GFX803, v_msad_u8, VOP3, 32,
                                               false) ROW(GFX906, v_dot2_i32_i16, DOT, 32, true)
                                    ROW(GFX906, v_dot2_u32_u16, DOT, 32,
                                        false) ROW(GFX906, v_dot4_i32_i8, DOT, 32,
                                                   true) ROW(GFX906, v_dot4_u32_u8, DOT, 32, false)
                                        ROW(GFX906, v_dot8_i32_i4, DOT, 32,
                                            true) ROW(GFX906, v_dot8_u32_u4, DOT, 32, false)
                                            ROW(GFX906, v_pk_mad_u16, PACKED, 16,
                                                false) ROW(GFX906, v_pk_mad_i16, PACKED, 16, true)
                                                ROW(GFX906, v_pk_mul_lo_u16, PACKED, 16, false)
                                                    ROW(GFX906, v_pk_add_u16, PACKED, 16, false)
                                                        ROW(GFX906, v_pk_sub_u16, PACKED, 16, false)
                                                            ROW(GFX906, v_pk_add_i16, PACKED, 16,
                                                                true) ROW(GFX906, v_pk_sub_i16,
                                                                          PACKED, 16, true)
#undef ROW
};

/* ---- the rows, with and without clamp ---- */

static uint64_t expected_of(const struct row *r, bool clamp, uint64_t a, uint64_t b, uint64_t c)
{
    exact value = r->exact(a, b, c);
    exact most = ((exact)1 << (r->bits - r->is_signed)) - 1, least = r->is_signed ? -most - 1 : 0;
    if (clamp)
        value = value > most ? most : value < least ? least : value;
    return (uint64_t)value & (UINT64_MAX >> (64 - r->bits));
}

static uint64_t expected_word(const struct row *r, bool clamp, uint64_t a, uint64_t b, uint64_t c)
{
    if (r->shape != PACKED)
        return expected_of(r, clamp, a, b, c);
    return expected_of(r, clamp, a, b, c) | expected_of(r, clamp, a >> 16, b >> 16, c >> 16) << 16;
}

static void encode_row_of(uint32_t *word, const struct row *r, bool clamp)
{
    if (r->shape == DOT || r->shape == PACKED)
        encode_vop3p(word, r->name, 8, V0, V0 + 2, V0 + 4);
    else
        encode_vop3_on(word, r->target, r->name, 8, V0, V0 + 2, V0 + 4);
    if (r->shape == CARRY)
        word[0] |= 20 << 8;
    word[0] |= clamp ? CLAMP : 0;
}

static void check_row(const struct row *r, bool clamp)
{
    static struct machine m;
    uint32_t word[3] = {0};
    encode_row_of(word, r, clamp);
    for (unsigned start = 0; start < EDGES_MAX * EDGES_MAX * EDGES_MAX; start += 64) {
        machine_init(&m);
        for (unsigned lane = 0; lane < 64; lane++) {
            unsigned n = start + lane;
            m.vgpr[lane] = edges[n % EDGES_MAX];
            m.vgpr[2 * 64 + lane] = edges[n / EDGES_MAX % EDGES_MAX];
            m.vgpr[4 * 64 + lane] = edges[n / EDGES_MAX / EDGES_MAX % EDGES_MAX];
            m.vgpr[5 * 64 + lane] = edges[(n + n / 64) % EDGES_MAX];
        }
        cr_assert_eq(machine_run_on(&m, r->target, word), ISA_OK);
        for (unsigned lane = 0; lane < 64; lane++) {
            uint64_t a = m.vgpr[lane], b = m.vgpr[2 * 64 + lane];
            uint64_t c = r->bits == 64 ? machine_get64(&m, 4, lane) : m.vgpr[4 * 64 + lane];
            uint64_t got = r->bits == 64 ? machine_get64(&m, 8, lane) : m.vgpr[8 * 64 + lane];
            uint64_t want = expected_word(r, clamp, a, b, c);
            cr_assert_eq(got, want, "%s%s of %lx, %lx, %lx: %lx, not %lx", r->name,
                         clamp ? " clamp" : "", a, b, c, got, want);
        }
    }
}

Test(isa_limits, integers_wrap_without_clamp_and_saturate_with_it)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(&rows[i], false);
        check_row(&rows[i], true);
    }
}

Test(isa_limits, clamp_changes_nothing_where_nothing_overflows)
{
    static const char *const names[] = {"v_cvt_pk_u8_f32", "v_cvt_i32_f32", "v_min_u32",
                                        "v_lshrrev_b32"};
    static struct machine plain, clamped;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        uint32_t word[3] = {0};
        machine_init(&plain);
        for (unsigned lane = 0; lane < 64; lane++)
            for (unsigned reg = 0; reg < 3; reg++)
                plain.vgpr[reg * 64 + lane] = edges[(lane + 5 * reg) % EDGES_MAX];
        clamped = plain;
        clamped.ctx.vgpr = clamped.vgpr;
        encode_vop3(word, names[i], 8, V0, V0 + 1, i ? 0 : V0 + 2);
        word[1] &= i == 1 ? 0x1ff : UINT32_MAX;
        machine_run(&plain, word);
        word[0] |= CLAMP;
        machine_run(&clamped, word);
        cr_expect_arr_eq(plain.vgpr + 8 * 64, clamped.vgpr + 8 * 64, 256, "%s", names[i]);
    }
}

/* ---- several sums ---- */

/* Of four sums at one byte further each, in fields of 16 or 32 bits. */
static void check_quad(enum isa_target target, const char *name, bool with_mask, unsigned bits,
                       bool clamp)
{
    static struct machine m;
    uint32_t word[3] = {0};
    const uint64_t pixels = UINT64_C(0xff00807f01fe10ef);
    const uint32_t reference[4] = {0x00ff00ff, 0xffffffff, 0x807f0100, 0};
    machine_init(&m);
    machine_set64(&m, 0, pixels);
    for (unsigned lane = 0; lane < 64; lane++)
        m.vgpr[2 * 64 + lane] = reference[lane % 4];
    for (unsigned i = 0; i < 4; i++)
        machine_set(&m, 4 + i, i % 2 ? 0xffff0001 : 0xfffffff0);
    encode_vop3_on(word, target, name, 8, V0, V0 + 2, V0 + 4);
    word[0] |= clamp ? CLAMP : 0;
    cr_assert_eq(machine_run_on(&m, target, word), ISA_OK);
    for (unsigned lane = 0; lane < 4; lane++) {
        for (unsigned i = 0; i < 4; i++) {
            unsigned reg = bits == 32 ? i : i / 2, shift = bits == 32 ? 0 : i % 2 * 16;
            uint64_t a = pixels >> 8 * i, b = reference[lane];
            exact sum = (with_mask ? masked(a, b) : distance(a, b, 8, 4))
                        + u(m.vgpr[(4 + reg) * 64 + lane] >> shift, bits);
            exact most = ((exact)1 << bits) - 1;
            sum = clamp && sum > most ? most : sum & most;
            uint32_t got = (uint32_t)u(m.vgpr[(8 + reg) * 64 + lane] >> shift, bits);
            cr_expect_eq(got, (uint32_t)sum, "%s, lane %u, sum %u: %x", name, lane, i, got);
        }
    }
}

Test(isa_limits, quads_of_sums_of_absolute_differences)
{
    uint32_t word[3] = {0};
    FOR_TARGETS(target, "v_mqsad_u32_u8")
    {
        for (unsigned clamp = 0; clamp < 2; clamp++) {
            check_quad(target, "v_qsad_pk_u16_u8", false, 16, clamp);
            check_quad(target, "v_mqsad_pk_u16_u8", true, 16, clamp);
            check_quad(target, "v_mqsad_u32_u8", true, 32, clamp);
        }
        encode_vop3_on(word, target, "v_mqsad_u32_u8", 8, V0, V0 + 2, V0 + 4);
        mark(target, word);
    }
}

Test(isa_limits, packed_conversion_keeps_the_other_bytes)
{
    static const float values[] = {0.0f, 1.0f, 254.6f, 255.0f, 300.0f, -3.0f};
    static const uint8_t bytes[] = {0, 1, 255, 255, 255, 0};
    static struct machine m;
    uint32_t word[3] = {0};
    for (unsigned n = 0; n < 4 * (sizeof values / sizeof *values); n++) {
        FOR_TARGETS(target, "v_cvt_pkaccum_u8_f32")
        {
            unsigned i = n / 4, place = n % 4;
            uint32_t bits, expected = 0x11223344;
            memcpy(&bits, &values[i], 4);
            ((uint8_t *)&expected)[place] = bytes[i];
            machine_init(&m);
            machine_set(&m, 1, bits);
            machine_set(&m, 2, place + 4); /* only two bits count */
            machine_set(&m, 3, 0x11223344);
            encode_vop3_on(word, target, "v_cvt_pkaccum_u8_f32", 3, V0 + 1, V0 + 2, 0);
            machine_run_on(&m, target, word);
            cr_expect_eq(m.vgpr[3 * 64 + 9], expected, "%g at %u", (double)values[i], place);
            mark(target, word);
        }
    }
}

/* ---- modifiers of dot products ---- */

static uint32_t run_dot(const char *name, uint32_t a, uint32_t b, uint32_t c, uint32_t low,
                        uint32_t high)
{
    static struct machine m;
    uint32_t word[3] = {0};
    machine_init(&m);
    machine_set(&m, 1, a);
    machine_set(&m, 2, b);
    machine_set(&m, 3, c);
    encode_vop3p(word, name, 4, V0 + 1, V0 + 2, V0 + 3);
    word[0] ^= low;
    word[1] ^= high;
    cr_assert_eq(machine_run_on(&m, ISA_GFX906, word), ISA_OK);
    return m.vgpr[4 * 64 + 63];
}

Test(isa_limits, dot_products_choose_halves_and_signs)
{
    enum { SEL0 = 1 << 11, SEL_HI0 = 1 << 27, SEL1 = 1 << 12, NEG0 = 1 << 29, NEG2 = 1u << 31 };
    enum { NEG_HI0 = 1 << 8, NEG_HI2 = 1 << 10 };
    const uint32_t one_two = 0x40003c00, three_four = 0x44004200; /* halves: 1, 2; 3, 4 */
    static const struct {
        uint32_t low, high, expected;
    } cases[] = {
        {0, 0, 0x41400000},          /* 1*3 + 2*4 + 1 = 12 */
        {SEL0, 0, 0x41700000},       /* 2*3 + 2*4 + 1 = 15 */
        {0, SEL_HI0, 0x41000000},    /* 1*3 + 1*4 + 1 = 8 */
        {SEL0, SEL_HI0, 0x41300000}, /* 2*3 + 1*4 + 1 = 11 */
        {SEL1, 0, 0x41500000},       /* 1*4 + 2*4 + 1 = 13 */
        {0, NEG0, 0x40c00000},       /* -1*3 + 2*4 + 1 = 6 */
        {NEG_HI0, 0, 0xc0800000},    /* 1*3 - 2*4 + 1 = -4 */
        {NEG_HI0, NEG0, 0xc1200000}, /* -1*3 - 2*4 + 1 = -10 */
        {0, NEG2, 0x41200000},       /* 1*3 + 2*4 - 1 = 10 */
        {NEG_HI2, NEG2, 0x41200000}, /* what compilers emit for -c */
        {CLAMP, 0, 0x3f800000},      {CLAMP | NEG_HI0, NEG0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_eq(
            run_dot("v_dot2_f32_f16", one_two, three_four, 0x3f800000, cases[i].low, cases[i].high),
            cases[i].expected, "case %zu", i);
    cr_expect_eq(run_dot("v_dot2_i32_i16", 0x0002ffff, 0x00050003, 10, SEL0, 0),
                 2 * 3 + 2 * 5 + 10);
    cr_expect_eq(run_dot("v_dot2_u32_u16", 0x0002ffff, 0x00050003, 10, 0, SEL_HI0 | NEG0),
                 0xffff * 3 + 0xffff * 5 + 10);
    cr_expect_eq(run_dot("v_dot4_u32_u8", 0x04030201, 0x01010101, 0, SEL0, 0), 3 + 4 + 3 + 4);
}

/* ---- cube maps and screens ---- */

Test(isa_limits, cube_maps)
{
    /* Face, s, t and twice the major axis by the manual's rules, for each face and for ties. */
    static const struct {
        float x, y, z, id, sc, tc, ma;
    } cases[] = {
        {3, 1, 2, 0, -2, -1, 6},  {-3, 1, 2, 1, 2, -1, -6},  {1, 3, 2, 2, 1, 2, 6},
        {1, -3, 2, 3, 1, -2, -6}, {1, 2, 3, 4, 1, -2, 6},    {1, 2, -3, 5, -1, -2, -6},
        {1, 1, 1, 4, 1, -1, 2},   {-1, -1, -1, 5, 1, 1, -2}, {2, 2, 1, 2, 2, 1, 4},
        {2, -2, 1, 3, 2, -1, -4}, {-2, 1, 2, 4, -2, -1, 4},  {0, 0, 0, 4, 0, 0, 0},
    };
    static const char *const names[] = {"v_cubeid_f32", "v_cubesc_f32", "v_cubetc_f32",
                                        "v_cubema_f32"};
    static struct machine m;
    uint32_t word[3] = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const float *value = &cases[i].x;
        for (unsigned n = 0; n < 4 * ISA_TARGET_COUNT; n++) {
            unsigned name = n % 4;
            enum isa_target target = (enum isa_target)(n / 4);
            float got;
            machine_init(&m);
            for (unsigned reg = 0; reg < 3; reg++) {
                uint32_t bits;
                memcpy(&bits, &value[reg], 4);
                machine_set(&m, reg, bits);
            }
            encode_vop3_on(word, target, names[name], 8, V0, V0 + 1, V0 + 2);
            machine_run_on(&m, target, word);
            mark(target, word);
            memcpy(&got, &m.vgpr[8 * 64 + 7], 4);
            cr_expect(got == value[3 + name], "%s, case %zu: %g", names[name], i, (double)got);
        }
    }
}

/* The table of V_SCREEN_PARTITION_4SE_B32 (Vega ISA manual), a digit an entry. */
Test(isa_limits, screen_partition_is_the_manuals_table)
{
    static const char table[] = "137f5fff7ffffffff26efafffbffffffdf4cff5fffdfffff9bf8fffafffeffff"
                                "ffff4cdf6fffeffffffff89bf99ffdffffff7f13ff9fffbfffff6ef26ff6fff7"
                                "bfffffff23bfaffff7fffffff19df5ffffefffffef8cffaffffdffff67f4fff5"
                                "9fffdfffffff8ceff66ffefffffff467ff6fff7fffffbf239ff9fffbffff9df1";
    static struct machine m;
    uint32_t word[3] = {0};
    cr_assert_eq(sizeof table, 257);
    for (unsigned n = 0; n < 4 * ISA_TARGET_COUNT * 4; n++) {
        enum isa_target target = (enum isa_target)(n / 16);
        unsigned start = n % 4 * 64, form = n / 4 % 4; /* VOP3, VOP1, SDWA, DPP */
        if (encode_opcode("v_screen_partition_4se_b32", target) < 0)
            continue;
        machine_init(&m);
        for (unsigned lane = 0; lane < 64; lane++)
            m.vgpr[64 + lane] = start + lane + 0x5500; /* only eight bits count */
        encode_vop3_on(word, target, "v_screen_partition_4se_b32", 2, V0 + 1, 0, 0);
        if (form)
            word[0] = 0x7e000000u | 2 << 17 | 0x37 << 9 | (form == 1 ? V0 + 1 : 247 + form);
        if (form == 2)
            word[1] = 0x00060601; /* a double word of a double word */
        if (form == 3)
            word[1] = 0xff00e401; /* each lane its own */
        cr_assert_eq(machine_run_on(&m, target, word), ISA_OK);
        for (unsigned lane = 0; lane < 64; lane++) {
            const char digit[2] = {table[start + lane], 0};
            cr_expect_eq(m.vgpr[2 * 64 + lane], strtoul(digit, NULL, 16), "entry %u", start + lane);
        }
        mark(target, word);
    }
}

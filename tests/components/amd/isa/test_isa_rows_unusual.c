/* Rows that compilers seldom emit, on every target that has them: indexed registers, the branch
 * stack, skipped vector instructions; operands in LDS; scalar atomics, scratch and probes; typed
 * buffers, transfers to and from LDS, and elements that reach beyond a buffer. Expectations are
 * worked out here, bit by bit. */
#include <math.h>

#include "covered.h"
#include "machine.h"

static struct machine m;

/* Runs what does not touch memory, and counts it as tested; the checks follow. */
static void run(enum isa_target target, const uint32_t *word)
{
    struct isa_inst inst;
    cr_assert_gt(isa_decode(target, word, 12, &inst), 0, "%08x %08x", word[0], word[1]);
    uint64_t pc = m.wave.pc;
    cr_assert_eq(isa_execute(&m.ctx, &m.wave, &inst), ISA_OK);
    if (!(inst.flags & ISA_IS_BRANCH))
        cr_assert_eq(m.wave.pc, pc + inst.size);
    covered_mark(&inst);
}

static void scalar(uint32_t *word, enum isa_target target, const char *name, unsigned dst,
                   unsigned src0, unsigned src1)
{
    struct isa_row row = encode_row(name, target);
    unsigned opcode = (unsigned)row.opcode[target];
    word[0] = row.format == ISA_SOP1   ? 0xbe800000u | dst << 16 | opcode << 8 | src0
              : row.format == ISA_SOPC ? 0xbf000000u | opcode << 16 | src1 << 8 | src0
              : row.format == ISA_SOPK ? 0xb0000000u | opcode << 23 | dst << 16 | (src0 & 0xffff)
              : row.format == ISA_SOPP ? 0xbf800000u | opcode << 16 | (src0 & 0xffff)
                                       : 0x80000000u | opcode << 23 | dst << 16 | src1 << 8 | src0;
}

#define FOR_TARGETS(target, name)                                                                  \
    for (enum isa_target target = (enum isa_target)0; target < ISA_TARGET_COUNT; target++)         \
        if (encode_opcode(name, target) >= 0)

/* ---- indexed registers ---- */

enum { SRC0 = 1, SRC1 = 2, SRC2 = 4, DST = 8 };

static void index_on(enum isa_target target, unsigned index, unsigned which)
{
    uint32_t word[3] = {0};
    m.wave.sgpr[4] = 0xabcdef00 | index; /* only eight bits count */
    scalar(word, target, "s_set_gpr_idx_on", 0, 4, which);
    run(target, word);
}

Test(isa_rows_unusual, indexing_keeps_the_rest_of_m0)
{
    uint32_t word[3] = {0};
    FOR_TARGETS(target, "s_set_gpr_idx_on")
    {
        machine_init(&m);
        m.wave.sgpr[ISA_M0] = 0x12345678;
        index_on(target, 0x9a, SRC1 | DST);
        cr_expect_eq(m.wave.sgpr[ISA_M0], 0x1234a69a);
        cr_expect_eq(m.wave.mode, ISA_MODE_DEFAULT | 1u << 27);
        scalar(word, target, "s_set_gpr_idx_idx", 0, 128 + 33, 0);
        run(target, word);
        cr_expect_eq(m.wave.sgpr[ISA_M0], 0x1234a621);
        scalar(word, target, "s_set_gpr_idx_mode", 0, SRC0 | SRC2, 0);
        run(target, word);
        cr_expect_eq(m.wave.sgpr[ISA_M0], 0x12345621);
        scalar(word, target, "s_set_gpr_idx_off", 0, 0, 0);
        run(target, word);
        cr_expect_eq(m.wave.sgpr[ISA_M0], 0x12345621);
        cr_expect_eq(m.wave.mode, ISA_MODE_DEFAULT);
    }
}

/* Registers hold 100 times their number, plus the lane. */
static void number_registers(void)
{
    machine_init(&m);
    for (unsigned reg = 0; reg < MACHINE_VGPRS; reg++)
        for (unsigned lane = 0; lane < 64; lane++)
            m.vgpr[reg * 64 + lane] = reg * 100 + lane;
}

Test(isa_rows_unusual, indexed_operands)
{
    static const struct {
        unsigned which, index, d, a, b, c; /* registers that v_add3-like v9 = v1, v2, v3 uses */
    } cases[] = {
        {0, 20, 9, 1, 2, 3},     {SRC0, 20, 9, 21, 2, 3},        {SRC1, 20, 9, 1, 22, 3},
        {SRC2, 20, 9, 1, 2, 23}, {DST, 20, 29, 1, 2, 3},         {15, 20, 29, 21, 22, 23},
        {SRC0, 31, 9, 0, 2, 3},  {SRC1 | SRC2, 29, 9, 1, 31, 0}, {SRC0, 255, 9, 0, 2, 3},
        {DST, 23, 256, 1, 2, 3}, {DST, 22, 31, 1, 2, 3},
    };
    uint32_t word[3] = {0};
    FOR_TARGETS(target, "s_set_gpr_idx_on")
    {
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            number_registers();
            m.ctx.vgpr_count = 32;
            index_on(target, cases[i].index, cases[i].which);
            encode_vop3_on(word, target, "v_mad_u32_u24", 9, V0 + 1, V0 + 2, V0 + 3);
            machine_run_on(&m, target, word);
            for (unsigned reg = 0; reg < 32; reg++) {
                uint32_t product = (cases[i].a * 100 + 7) * (cases[i].b * 100 + 7);
                uint32_t expected =
                    reg == cases[i].d ? product + cases[i].c * 100 + 7 : reg * 100 + 7;
                cr_expect_eq(m.vgpr[reg * 64 + 7], expected, "case %zu, v%u: %u, not %u", i, reg,
                             m.vgpr[reg * 64 + 7], expected);
            }
        }
    }
}

Test(isa_rows_unusual, indexing_moves_pairs_and_leaves_scalars)
{
    uint32_t word[3] = {0};
    number_registers();
    m.ctx.vgpr_count = 32;
    m.wave.sgpr[10] = 77;
    index_on(ISA_GFX906, 29, 15);
    encode_vop3_on(word, ISA_GFX906, "v_lshlrev_b64", 2, 128, V0 + 1, 0); /* v[31:32] is none */
    machine_run_on(&m, ISA_GFX906, word);
    cr_expect_eq(m.vgpr[31 * 64], 3100);
    index_on(ISA_GFX906, 20, 15);
    machine_run_on(&m, ISA_GFX906, word);
    cr_expect_eq(machine_get64(&m, 22, 5), 2105 | (uint64_t)2205 << 32);
    encode_vop(word, "v_mov_b32", 3, 10, 0);
    machine_run_on(&m, ISA_GFX906, word);
    cr_expect_eq(m.vgpr[23 * 64], 77);
    index_on(ISA_GFX906, 20, DST);
    encode_vop(word, "v_mac_f32", 3, V0 + 1, 2); /* the sum stands where the result goes */
    machine_set(&m, 1, 0x40000000);
    machine_set(&m, 2, 0x40400000);
    machine_set(&m, 23, 0x3f800000);
    machine_run_on(&m, ISA_GFX906, word);
    cr_expect_eq(m.vgpr[23 * 64], 0x40e00000);
}

/* ---- skipping, branch stack, returns ---- */

Test(isa_rows_unusual, skipped_vector_instructions_do_nothing)
{
    static struct isa_memory memory;
    uint32_t word[3] = {0};
    struct isa_inst inst;
    FOR_TARGETS(target, "s_setvskip")
    {
        number_registers();
        m.wave.sgpr[6] = 1u << 13;
        scalar(word, target, "s_setvskip", 0, 6, 128 + 13 + 32); /* five bits of the number count */
        run(target, word);
        cr_expect_eq(m.wave.mode, ISA_MODE_DEFAULT | 1u << 28);
        encode_vop3_on(word, target, "v_mad_u32_u24", 9, V0 + 1, V0 + 2, V0 + 3);
        machine_run_on(&m, target, word);
        encode_ds(word, "ds_write_b32", 0, 1, 2, 0, 0);
        machine_run_on(&m, target, word);
        cr_expect_eq(m.vgpr[9 * 64], 900);
        cr_expect_eq(m.lds[100], 0);
        encode_mubuf(word, "buffer_load_dword", 4, 0, 0, 128, 0, 0);
        cr_assert_gt(isa_decode(target, word, 12, &inst), 0);
        cr_assert_eq(isa_memory_addresses(&m.ctx, &m.wave, &inst, &memory), ISA_OK);
        cr_expect_eq(memory.mask | memory.zero_mask, 0);
        scalar(word, target, "s_setvskip", 0, 6, 128 + 12);
        run(target, word);
        cr_expect_eq(m.wave.mode, ISA_MODE_DEFAULT);
    }
}

static void part_ways(enum isa_target target, bool immediate, uint64_t condition)
{
    uint32_t word[3] = {0};
    m.wave.pc = 0x1000;
    isa_wave_set_pair(&m.wave, 20, condition);
    isa_wave_set_pair(&m.wave, 22, 0x2000);
    if (immediate)
        scalar(word, target, "s_cbranch_i_fork", 20, (0x2000 - 0x1004) / 4, 0);
    else
        scalar(word, target, "s_cbranch_g_fork", 0, 20, 22);
    run(target, word);
}

Test(isa_rows_unusual, the_smaller_party_goes_first)
{
    static const struct {
        uint64_t exec, condition, first, second; /* masks of the parties that run; 0: none */
        bool jumps;
    } cases[] = {
        {0xff, 0xff00, 0xff, 0, false},
        {0xff, ~UINT64_C(0), 0xff, 0, true},
        {0xff, 0x07, 0x07, 0xf8, true},
        {0xff, 0x1f, 0xe0, 0x1f, false},
        {0xff, 0x0f, 0x0f, 0xf0, true},
        {~UINT64_C(0), UINT64_C(1) << 63, UINT64_C(1) << 63, ~UINT64_C(0) >> 1, true},
    };
    uint32_t word[3] = {0};
    FOR_TARGETS(target, "s_cbranch_g_fork")
    {
        for (unsigned i = 0; i < 2 * (sizeof cases / sizeof *cases); i++) {
            unsigned n = i / 2;
            machine_init(&m);
            m.wave.mode |= 2u << 29; /* two are on the stack */
            isa_wave_set_pair(&m.wave, ISA_EXEC, cases[n].exec);
            part_ways(target, i % 2, cases[n].condition);
            uint64_t here = cases[n].jumps ? 0x2000 : 0x1004, other = 0x3004 - here;
            cr_expect_eq(m.wave.pc, here, "case %u", i);
            cr_expect_eq(isa_wave_exec(&m.wave), cases[n].first, "case %u", i);
            cr_expect_eq(m.wave.mode >> 29, cases[n].second ? 3 : 2, "case %u", i);
            m.wave.pc = 0x4000;
            m.wave.sgpr[30] = 2;
            scalar(word, target, "s_cbranch_join", 0, 30, 0);
            run(target, word);
            cr_expect_eq(m.wave.pc, cases[n].second ? other : 0x4004, "case %u", i);
            cr_expect_eq(isa_wave_exec(&m.wave),
                         cases[n].second ? cases[n].second : cases[n].first);
            cr_expect_eq(m.wave.mode >> 29, 2, "case %u", i);
        }
    }
}

Test(isa_rows_unusual, returns_from_traps_jump)
{
    uint32_t word[3] = {0};
    FOR_TARGETS(target, "s_rfe_b64")
    {
        machine_init(&m);
        isa_wave_set_pair(&m.wave, 8, UINT64_C(0x123456789abc));
        scalar(word, target, "s_rfe_b64", 0, 8, 0);
        run(target, word);
        cr_expect_eq(m.wave.pc, UINT64_C(0x123456789abc));
    }
    FOR_TARGETS(target, "s_rfe_restore_b64")
    {
        machine_init(&m);
        isa_wave_set_pair(&m.wave, 8, UINT64_C(0x123456789abc));
        scalar(word, target, "s_rfe_restore_b64", 0, 8, 10);
        run(target, word);
        cr_expect_eq(m.wave.pc, UINT64_C(0x123456789abc));
    }
}

Test(isa_rows_unusual, relative_scalar_moves_outside_take_s0_or_do_nothing)
{
    uint32_t word[3] = {0};
    static struct machine before;
    machine_init(&m);
    for (unsigned reg = 0; reg < 102; reg++)
        m.wave.sgpr[reg] = 1000 + reg;
    for (unsigned i = 0; i < 3; i++) {
        m.wave.sgpr[ISA_M0] = i == 0 ? 100 : i == 1 ? 0xfffffffe : 92;
        scalar(word, ISA_GFX803, "s_movrels_b64", 20, 10, 0);
        machine_run(&m, word);
        cr_expect_eq(isa_wave_pair(&m.wave, 20), 1000 | UINT64_C(1001) << 32, "M0 %u", i);
        before = m;
        scalar(word, ISA_GFX803, "s_movreld_b64", 10, 40, 0);
        machine_run(&m, word);
        cr_expect_arr_eq(m.wave.sgpr, before.wave.sgpr, sizeof m.wave.sgpr, "M0 %u", i);
    }
    m.wave.sgpr[ISA_M0] = 90;
    scalar(word, ISA_GFX803, "s_movreld_b64", 10, 40, 0);
    machine_run(&m, word);
    cr_expect_eq(m.wave.sgpr[100], 1040);
    cr_expect_eq(m.wave.sgpr[101], 1041);
}

/* ---- operands in LDS ---- */

static uint64_t read_lds(uint64_t at, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value |= at + i < MACHINE_LDS ? (uint64_t)m.lds[at + i] << 8 * i : 0;
    return value;
}

static double number(uint64_t bits, unsigned bytes)
{
    float single;
    double wide;
    memcpy(&single, &bits, 4);
    memcpy(&wide, &bits, 8);
    return bytes == 4 ? (double)single : wide;
}

static uint64_t sum_of(double x, double y, unsigned bytes)
{
    float single = (float)(x + y);
    double wide = x + y;
    uint64_t bits = 0;
    memcpy(&bits, bytes == 4 ? (void *)&single : (void *)&wide, bytes);
    return bits;
}

/* The manual's table of ds_*_src2_*: what DS[A] becomes. */
static uint64_t after_of(const char *operation, uint64_t a, uint64_t b, unsigned bytes)
{
    uint64_t mask = UINT64_MAX >> (64 - 8 * bytes), sign = UINT64_C(1) << (8 * bytes - 1);
    bool less = a < b;
    if (!strncmp(operation, "add_f", 5))
        return sum_of(number(a, bytes), number(b, bytes), bytes);
    if (operation[4] == 'f' && number(a, bytes) != number(a, bytes))
        return b;
    if (operation[4] == 'f' && number(b, bytes) != number(b, bytes))
        return a;
    if (!strncmp(operation, "min_f", 5))
        return number(b, bytes) < number(a, bytes) ? b : a;
    if (!strncmp(operation, "max_f", 5))
        return number(b, bytes) > number(a, bytes) ? b : a;
    if (!strncmp(operation, "min_i", 5) || !strncmp(operation, "max_i", 5))
        less = (a ^ sign) < (b ^ sign);
    if (!strncmp(operation, "min", 3))
        return less ? a : b;
    if (!strncmp(operation, "max", 3))
        return less ? b : a;
    if (!strncmp(operation, "add", 3))
        return (a + b) & mask;
    if (!strncmp(operation, "sub", 3))
        return (a - b) & mask;
    if (!strncmp(operation, "rsub", 4))
        return (b - a) & mask;
    if (!strncmp(operation, "inc", 3))
        return a >= b ? 0 : a + 1;
    if (!strncmp(operation, "dec", 3))
        return a == 0 || a > b ? b : a - 1;
    return !strncmp(operation, "and", 3)   ? a & b
           : !strncmp(operation, "or", 2)  ? a | b
           : !strncmp(operation, "xor", 3) ? a ^ b
                                           : b; /* write */
}

static const uint64_t operands[] = {0,
                                    1,
                                    2,
                                    0x7fffffff,
                                    0x80000000,
                                    0xffffffff,
                                    0x3f800000,
                                    0xbf800000,
                                    UINT64_C(0x3ff0000000000000),
                                    UINT64_C(0xbff8000000000000),
                                    UINT64_C(0x8000000000000000),
                                    UINT64_C(0x7fffffffffffffff),
                                    UINT64_MAX - 1};

/* Lane l's A at 16 l, B `distance` dwords behind it. */
static void check_src2(enum isa_target target, const char *name, const char *operation,
                       unsigned bytes)
{
    enum { COUNT = sizeof operands / sizeof *operands, DISTANCE = 512 };
    uint32_t word[3] = {0};
    for (unsigned start = 0; start < COUNT * COUNT; start += 64) {
        uint64_t a[64], b[64];
        machine_init(&m);
        for (unsigned lane = 0; lane < 64; lane++) {
            a[lane] = operands[(start + lane) % COUNT] & (UINT64_MAX >> (64 - 8 * bytes));
            b[lane] = operands[(start + lane) / COUNT % COUNT] & (UINT64_MAX >> (64 - 8 * bytes));
            m.vgpr[64 + lane] = lane * 16;
            memcpy(m.lds + lane * 16, &a[lane], bytes);
            memcpy(m.lds + lane * 16 + 4 * DISTANCE, &b[lane], bytes);
        }
        encode_ds(word, name, 0, 1, 0, 0, DISTANCE);
        run(target, word);
        for (unsigned lane = 0; lane < 64; lane++) {
            if (!strncmp(operation, "add_f", 5) && number(a[lane], bytes) != number(a[lane], bytes))
                continue; /* any NaN will do */
            uint64_t got = read_lds(lane * 16, bytes),
                     want = after_of(operation, a[lane], b[lane], bytes);
            cr_expect_eq(got, want, "%s of %lx, %lx: %lx, not %lx", name, a[lane], b[lane], got,
                         want);
            cr_expect_eq(read_lds(lane * 16 + 4 * DISTANCE, bytes), b[lane]);
        }
    }
}

Test(isa_rows_unusual, both_operands_in_lds)
{
    for (size_t i = 0; i < isa_row_count(); i++) {
        struct isa_row row = isa_row(i);
        const char *src2 = strstr(row.mnemonic, "_src2_");
        char operation[16] = "";
        if (!src2 || row.format != ISA_DS)
            continue;
        snprintf(operation, sizeof operation, "%.*s%s", (int)(src2 - row.mnemonic - 3),
                 row.mnemonic + 3, src2 + 5); /* ds_min_src2_i32: min_i32 */
        for (unsigned target = 0; target < ISA_TARGET_COUNT; target++)
            if (row.opcode[target] >= 0)
                check_src2((enum isa_target)target, row.mnemonic, operation,
                           strstr(operation, "64") ? 8 : 4);
    }
}

Test(isa_rows_unusual, the_second_place_is_signed_and_may_be_outside)
{
    uint32_t word[3] = {0};
    static const struct {
        uint32_t address;
        unsigned offset;
        uint32_t a, after;
    } cases[] = {
        {64, 0x7fff, 16, 15}, /* -1 dword */
        {64, 1, 16, 17},
        {64 | 0xfffeu << 16, 0x8000, 16, 15}, /* -1 in the address's upper bits */
        {64 | 4u << 16, 0x8000, 16, 18},      /* 2 */
        {0, 0x7fff, 0, 0xdeadbeef},           /* before the beginning: 0 is written */
        {64, 0x3fff, 16, 0xdeadbeef},
        {MACHINE_LDS, 0x7fff, 0, 0}, /* no A: dropped */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        machine_init(&m);
        for (unsigned n = 0; n < MACHINE_LDS / 4; n++)
            memcpy(m.lds + 4 * n, &n, 4);
        machine_set(&m, 1, cases[i].address);
        isa_wave_set_pair(&m.wave, ISA_EXEC, 1);
        encode_ds(word, "ds_write_src2_b32", 0, 1, 0, 0, cases[i].offset);
        run(ISA_GFX803, word);
        uint32_t got = (uint32_t)read_lds(4 * cases[i].a, 4);
        uint32_t want = cases[i].after == 0xdeadbeef ? 0 : cases[i].after;
        cr_expect_eq(got, want, "case %zu: %u", i, got);
    }
}

Test(isa_rows_unusual, marked_dwords_are_exchanged)
{
    uint32_t word[3] = {0};
    FOR_TARGETS(target, "ds_condxchg32_rtn_b64")
    {
        for (unsigned marks = 0; marks < 4; marks++) {
            machine_init(&m);
            for (unsigned n = 0; n < 256; n++)
                memcpy(m.lds + 4 * n, &n, 4);
            for (unsigned lane = 0; lane < 64; lane++)
                m.vgpr[64 + lane] = lane * 8 + 4; /* the low three bits do not count */
            machine_set(&m, 2, 0x1111 | (marks & 1) << 31);
            machine_set(&m, 3, 0x2222 | (marks & 2) << 30);
            encode_ds(word, "ds_condxchg32_rtn_b64", 4, 1, 2, 0, 16);
            run(target, word);
            for (unsigned lane = 0; lane < 64; lane++) {
                unsigned n = lane * 2 + 4 + (lane * 8 + 20 - (lane * 8 + 16) >= 8 ? 2 : 0);
                cr_expect_eq(machine_get64(&m, 4, lane), n | (uint64_t)(n + 1) << 32, "lane %u",
                             lane);
                cr_expect_eq(read_lds(4 * n, 4), marks & 1 ? 0x1111 : n);
                cr_expect_eq(read_lds(4 * n + 4, 4), marks & 2 ? 0x2222 : n + 1);
            }
        }
    }
}

/* ---- scalar memory ---- */

static struct isa_inst decode_scalar(enum isa_target target, const char *name, unsigned data,
                                     bool glc, bool immediate, unsigned offset)
{
    struct isa_row row = encode_row(name, target);
    struct isa_inst inst;
    uint32_t word[3] = {0xc0000000u | (unsigned)row.opcode[target] << 18 | (unsigned)immediate << 17
                            | (unsigned)glc << 16 | data << 6 | 8 / 2,
                        offset};
    cr_assert_gt(isa_decode(target, word, 12, &inst), 0, "%s", name);
    return inst;
}

static void check_scalar_atomic(enum isa_target target, const char *name, const char *operation)
{
    static const char *const names[] = {"swap", "cmpswap", "add", "sub", "smin", "umin", "smax",
                                        "umax", "and",     "or",  "xor", "inc",  "dec"};
    struct isa_scalar access;
    unsigned n = 0, dwords = strstr(name, "_x2") ? 2 : 1;
    bool buffer = strstr(name, "buffer");
    size_t length = strcspn(operation, "_");
    while (strlen(names[n]) != length || strncmp(names[n], operation, length))
        n++;
    for (unsigned glc = 0; glc < 2; glc++) {
        struct isa_inst inst = decode_scalar(target, name, 20, glc, true, 0x40);
        uint32_t data[32] = {0}, old[2] = {0xaaaa, 0xbbbb};
        machine_init(&m);
        isa_wave_set_pair(&m.wave, 8, UINT64_C(0x700001000));
        m.wave.sgpr[10] = 0x40 + 4 * dwords;
        for (unsigned i = 0; i < 4; i++)
            m.wave.sgpr[20 + i] = 500 + i;
        cr_assert_eq(isa_scalar_address(&m.ctx, &m.wave, &inst, &access), ISA_OK);
        cr_expect_eq(access.kind, ISA_SCALAR_ATOMIC);
        cr_expect_eq(access.atomic, n, "%s: %u", name, access.atomic);
        cr_expect_eq(access.address, UINT64_C(0x700001040));
        cr_expect_eq(access.dwords, dwords);
        cr_expect_eq(access.valid, dwords);
        cr_expect_eq(access.glc, glc);
        isa_scalar_store_data(&m.wave, &inst, data);
        for (unsigned i = 0; i < dwords * (n == 1 ? 2 : 1); i++)
            cr_expect_eq(data[i], 500 + i);
        isa_scalar_load(&m.wave, &inst, old);
        cr_expect_eq(m.wave.sgpr[20], 0xaaaa);
        cr_expect_eq(m.wave.sgpr[21], dwords == 2 ? 0xbbbb : 501);
        m.wave.sgpr[10]--; /* the last byte lies outside */
        cr_assert_eq(isa_scalar_address(&m.ctx, &m.wave, &inst, &access), ISA_OK);
        cr_expect_eq(access.valid, buffer ? 0 : dwords);
        covered_mark(&inst);
    }
}

Test(isa_rows_unusual, scalar_atomics)
{
    for (size_t i = 0; i < isa_row_count(); i++) {
        struct isa_row row = isa_row(i);
        const char *operation = strstr(row.mnemonic, "atomic_");
        for (unsigned target = 0; row.format == ISA_SMEM && operation && target < ISA_TARGET_COUNT;
             target++)
            if (row.opcode[target] >= 0)
                check_scalar_atomic((enum isa_target)target, row.mnemonic, operation + 7);
    }
}

Test(isa_rows_unusual, scalar_scratch_counts_registers_in_64_bytes)
{
    static const char *const names[] = {"s_scratch_load_dword",    "s_scratch_load_dwordx2",
                                        "s_scratch_load_dwordx4",  "s_scratch_store_dword",
                                        "s_scratch_store_dwordx2", "s_scratch_store_dwordx4"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        FOR_TARGETS(target, names[i])
        {
            struct isa_scalar access;
            machine_init(&m);
            isa_wave_set_pair(&m.wave, 8, UINT64_C(0x700001003));
            m.wave.sgpr[30] = 5;
            struct isa_inst inst = decode_scalar(target, names[i], 20, false, false, 30);
            cr_assert_eq(isa_scalar_address(&m.ctx, &m.wave, &inst, &access), ISA_OK);
            cr_expect_eq(access.address, UINT64_C(0x700001140));
            cr_expect_eq(access.kind, i < 3 ? ISA_SCALAR_LOAD : ISA_SCALAR_STORE);
            cr_expect_eq(access.dwords, 1u << i % 3);
            inst = decode_scalar(target, names[i], 20, false, true, 0x44);
            cr_assert_eq(isa_scalar_address(&m.ctx, &m.wave, &inst, &access), ISA_OK);
            cr_expect_eq(access.address, UINT64_C(0x700001044));
            covered_mark(&inst);
        }
    }
}

Test(isa_rows_unusual, probes_and_discards_do_nothing)
{
    static const char *const names[] = {"s_atc_probe", "s_atc_probe_buffer", "s_dcache_discard",
                                        "s_dcache_discard_x2"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        FOR_TARGETS(target, names[i])
        {
            struct isa_scalar access;
            machine_init(&m);
            struct isa_inst inst = decode_scalar(target, names[i], 20, false, true, 0x40);
            cr_assert_eq(isa_scalar_address(&m.ctx, &m.wave, &inst, &access), ISA_OK);
            cr_expect_eq(access.kind, ISA_SCALAR_CACHE_OP);
            cr_expect_eq(access.cache_op, ISA_CACHE_NONE);
            covered_mark(&inst);
        }
    }
}

/* ---- typed buffers ---- */

enum { UNORM, SNORM, USCALED, SSCALED, UINT, SINT, RESERVED, FLOAT, NUMBERS };
enum { DATA_FORMATS = 15, ROOM = 16, TYPED_LANES = 10 };

/* Widths from the lowest bit on. */
static const unsigned char layout[DATA_FORMATS][5] = {{0},
                                                      {8},
                                                      {16},
                                                      {8, 8},
                                                      {32},
                                                      {16, 16},
                                                      {11, 11, 10},
                                                      {10, 11, 11},
                                                      {2, 10, 10, 10},
                                                      {10, 10, 10, 2},
                                                      {8, 8, 8, 8},
                                                      {32, 32},
                                                      {16, 16, 16, 16},
                                                      {32, 32, 32},
                                                      {32, 32, 32, 32}};

static unsigned element_bytes(unsigned data)
{
    unsigned bits = 0;
    for (unsigned i = 0; layout[data][i]; i++)
        bits += layout[data][i];
    return bits / 8;
}

static bool format_exists(unsigned data, unsigned number_format)
{
    bool floats = data == 2 || (data >= 4 && data <= 7) || data >= 11;
    return data && number_format != RESERVED && (number_format != FLOAT || floats);
}

static uint32_t bits_at(const uint8_t *bytes, unsigned first, unsigned width)
{
    uint32_t field = 0;
    for (unsigned bit = 0; bit < width; bit++)
        field |= (uint32_t)(bytes[(first + bit) / 8] >> (first + bit) % 8 & 1) << bit;
    return field;
}

static uint32_t single(long double x)
{
    float rounded = (float)x;
    uint32_t bits;
    memcpy(&bits, &rounded, 4);
    return bits;
}

/* A float of five bits of exponent; NaNs and infinities are left out of the test's data. */
static long double small_float(uint32_t field, unsigned mantissa, bool has_sign)
{
    unsigned exponent = field >> mantissa & 31;
    long double fraction = (long double)(field & ((1u << mantissa) - 1)) / (1 << mantissa);
    long double value = exponent ? ldexpl(1 + fraction, (int)exponent - 15) : ldexpl(fraction, -14);
    return has_sign && field >> (mantissa + 5) & 1 ? -value : value;
}

static uint32_t component_of(uint32_t field, unsigned width, unsigned number_format)
{
    int64_t value = (int64_t)field - (field >> (width - 1) & 1 ? INT64_C(1) << width : 0);
    long double most = ldexpl(1, (int)width) - 1, half = ldexpl(1, (int)width - 1) - 1;
    switch (number_format) {
    case UNORM:
        return single(field / most);
    case SNORM:
        return single(value / half < -1 ? -1 : value / half);
    case USCALED:
        return single(field);
    case SSCALED:
        return single(value);
    case SINT:
        return (uint32_t)value;
    case FLOAT:
        return width == 32   ? field
               : width == 16 ? single(small_float(field, 10, true))
                             : single(small_float(field, width - 5, false));
    default:
        return field;
    }
}

/* The nearest half, among all: even where two are as near. */
static uint32_t half_of(uint32_t bits)
{
    enum { INFINITE = 0x7c00 };
    static long double halves[INFINITE];
    float x;
    memcpy(&x, &bits, 4);
    uint32_t low = 0, high = INFINITE; /* low is not above, high is */
    for (uint32_t half = 0; !halves[1] && half < INFINITE; half++)
        halves[INFINITE - 1 - half] = small_float(INFINITE - 1 - half, 10, true);
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        *(halves[middle] <= fabsl(x) ? &low : &high) = middle;
    }
    long double above = high == INFINITE ? 65536 : halves[high];
    long double down = fabsl(x) - halves[low], up = above - fabsl(x);
    uint32_t best = up < down || (up == down && low % 2) ? high : low;
    return best | (bits >> 31) << 15;
}

/* Bytes without NaNs and infinities in any float format. */
static void random_bytes(uint8_t bytes[ROOM], unsigned *state, unsigned data,
                         unsigned number_format)
{
    for (bool again = true; again;) {
        unsigned bit = 0;
        again = false;
        for (unsigned i = 0; i < ROOM; i++) {
            *state = *state * 1103515245 + 12345;
            bytes[i] = (uint8_t)(*state >> 16);
        }
        for (unsigned i = 0; number_format == FLOAT && layout[data][i]; bit += layout[data][i++]) {
            unsigned width = layout[data][i], low = width == 32 ? 23 : width == 16 ? 10 : width - 5;
            uint32_t ones = width == 32 ? 255 : 31;
            again |= width > 5 && (bits_at(bytes, bit, width) >> low & ones) == ones;
        }
    }
}

static void set_buffer(unsigned data, unsigned number_format, uint32_t records)
{
    machine_init(&m);
    m.wave.sgpr[8] = 0x1000;
    m.wave.sgpr[9] = 7;
    m.wave.sgpr[10] = records;
    m.wave.sgpr[11] = 4 | 5 << 3 | 6 << 6 | 7 << 9 | number_format << 12 | data << 15;
}

static struct isa_inst decode_typed(enum isa_target target, const char *name, unsigned data,
                                    unsigned number_format)
{
    enum { OFFEN = 1 << 12 };
    struct isa_row row = encode_row(name, target);
    struct isa_inst inst;
    uint32_t word[3] = {0, 1 | 8u << 8 | 8 / 4 << 16 | 128u << 24};
    word[0] = row.format == ISA_MTBUF ? 0xe8000000u | (unsigned)row.opcode[target] << 15
                                            | data << 19 | number_format << 23 | OFFEN
                                      : 0xe0000000u | (unsigned)row.opcode[target] << 18 | OFFEN;
    cr_assert_gt(isa_decode(target, word, 12, &inst), 0, "%s", name);
    return inst;
}

struct shape {
    const char *name;
    enum isa_target target;
    unsigned components;
    bool d16, upper, load;
};

/* Where component i stands among the registers from v8 on. */
static uint32_t *register_of(const struct shape *s, unsigned i, unsigned lane, unsigned *shift)
{
    bool packed = s->d16 && s->target != ISA_GFX803;
    *shift = s->upper || (packed && i % 2) ? 16 : 0;
    return &m.vgpr[(8 + (packed ? i / 2 : i)) * 64 + lane];
}

static uint32_t in_register(const struct shape *s, uint32_t value, unsigned number_format)
{
    bool integer = number_format == UINT || number_format == SINT;
    return !s->d16 ? value : integer ? value & 0xffff : half_of(value);
}

static void check_typed_load(const struct shape *s, unsigned data, unsigned number_format,
                             unsigned *state)
{
    static struct isa_memory memory;
    uint8_t bytes[64][ROOM] = {{0}};
    set_buffer(data, number_format, 64 * 16);
    isa_wave_set_pair(&m.wave, ISA_EXEC, (1u << TYPED_LANES) - 1);
    for (unsigned lane = 0; lane < TYPED_LANES; lane++) {
        m.vgpr[64 + lane] = lane * 16;
        random_bytes(bytes[lane], state, data, number_format);
    }
    for (unsigned reg = 8; reg < 12; reg++)
        machine_set(&m, reg, 0xdddddddd);
    struct isa_inst inst = decode_typed(s->target, s->name, data, number_format);
    cr_assert_eq(isa_memory_addresses(&m.ctx, &m.wave, &inst, &memory), ISA_OK);
    if (!format_exists(data, number_format)) {
        cr_expect_eq(memory.mask, 0);
        return;
    }
    cr_expect_eq(memory.bytes, element_bytes(data), "%s, format %u", s->name, data);
    cr_expect_eq(memory.address[3], UINT64_C(0x700001030));
    isa_memory_load(&m.ctx, &inst, &memory, bytes, ROOM);
    unsigned lanes = s->d16 ? 3 : TYPED_LANES;
    for (unsigned lane = 0; lane < lanes; lane++) {
        unsigned bit = 0;
        for (unsigned i = 0; i < s->components; i++) {
            unsigned shift, width = i && !layout[data][i - 1] ? 0 : layout[data][i];
            uint32_t one = number_format == UINT || number_format == SINT ? 1 : 0x3f800000;
            uint32_t got = *register_of(s, i, lane, &shift);
            got >>= shift;
            uint32_t want =
                width    ? component_of(bits_at(bytes[lane], bit, width), width, number_format)
                : i == 3 ? one
                         : 0;
            want = in_register(s, want, number_format);
            got &= s->d16 ? 0xffff : UINT32_MAX;
            cr_assert_eq(got, want, "%s, %s, format %u %u, component %u: %x, not %x", s->name,
                         isa_target_name(s->target), data, number_format, i, got, want);
            bit += width;
        }
    }
    covered_mark(&inst);
}

/* What is loaded, stored again, gives the same bytes: in each format each value has one code, but
 * for the smallest signed one and zeros of halves. */
static void check_typed_store(const struct shape *s, unsigned data, unsigned number_format,
                              unsigned *state)
{
    static struct isa_memory memory;
    uint8_t bytes[64][ROOM] = {{0}}, out[64][ROOM];
    unsigned has = 0;
    while (layout[data][has] && has < 4)
        has++;
    set_buffer(data, number_format, 64 * 16);
    isa_wave_set_pair(&m.wave, ISA_EXEC, (1u << TYPED_LANES) - 1);
    bool loses =
        s->d16 && (layout[data][0] > 8 || number_format == UNORM || number_format == SNORM);
    bool wide = layout[data][0] == 32 && number_format != UINT && number_format != SINT
                && number_format != FLOAT; /* a float does not hold it */
    if (!format_exists(data, number_format) || s->components < has || loses || wide)
        return;
    for (unsigned lane = 0; lane < TYPED_LANES; lane++) {
        unsigned bit = 0;
        m.vgpr[64 + lane] = lane * 16;
        random_bytes(bytes[lane], state, data, number_format);
        for (unsigned i = 0; i < has; bit += layout[data][i++]) {
            unsigned shift, width = layout[data][i];
            uint32_t field = bits_at(bytes[lane], bit, width);
            if (number_format == SNORM && field == 1u << (width - 1)) {
                for (unsigned b = 0; b < width; b++)
                    bytes[lane][(bit + b) / 8] |= (uint8_t)(1u << (bit + b) % 8);
                field = width == 32 ? UINT32_MAX : (1u << width) - 1;
            }
            uint32_t value =
                in_register(s, component_of(field, width, number_format), number_format);
            uint32_t *word = register_of(s, i, lane, &shift);
            *word = (*word & (s->d16 ? ~(0xffffu << shift) : 0)) | value << shift;
        }
    }
    struct isa_inst inst = decode_typed(s->target, s->name, data, number_format);
    cr_assert_eq(isa_memory_addresses(&m.ctx, &m.wave, &inst, &memory), ISA_OK);
    cr_expect_eq(memory.kind, ISA_MEMORY_STORE);
    isa_memory_store(&m.ctx, &inst, &memory, out, ROOM);
    for (unsigned lane = 0; lane < TYPED_LANES; lane++)
        cr_assert_eq(memcmp(out[lane], bytes[lane], element_bytes(data)), 0,
                     "%s, %s, format %u %u, lane %u: %08x, not %08x", s->name,
                     isa_target_name(s->target), data, number_format, lane,
                     bits_at(out[lane], 0, 32), bits_at(bytes[lane], 0, 32));
    covered_mark(&inst);
}

static struct shape shape_of(const struct isa_row *row, enum isa_target target)
{
    const char *last = strrchr(row->mnemonic, '_');
    return (struct shape){.name = row->mnemonic,
                          .target = target,
                          .components = (unsigned)strlen(last + 1),
                          .d16 = strstr(row->mnemonic, "d16"),
                          .upper = strstr(row->mnemonic, "_hi_"),
                          .load = strstr(row->mnemonic, "load")};
}

Test(isa_rows_unusual, typed_elements_in_every_format)
{
    unsigned state = 1;
    for (size_t i = 0; i < isa_row_count(); i++) {
        struct isa_row row = isa_row(i);
        if (!strstr(row.mnemonic, "buffer_") || !strstr(row.mnemonic, "_format_"))
            continue;
        for (unsigned target = 0; target < ISA_TARGET_COUNT; target++) {
            struct shape s = shape_of(&row, (enum isa_target)target);
            for (unsigned n = 0; row.opcode[target] >= 0 && n < DATA_FORMATS * NUMBERS; n++)
                (s.load ? check_typed_load : check_typed_store)(&s, n / NUMBERS, n % NUMBERS,
                                                                &state);
        }
    }
}

/* Values that the format does not have, by hand. */
Test(isa_rows_unusual, typed_stores_round_and_limit)
{
    static const struct {
        unsigned data, number_format;
        uint32_t value, expected;
    } cases[] = {
        {1, UNORM, 0x3f000000, 0x80}, /* 0.5 * 255 = 127.5: to even */
        {1, UNORM, 0x40000000, 0xff},
        {1, UNORM, 0xbf800000, 0},
        {1, UNORM, 0x7fc00000, 0},
        {1, SNORM, 0xc0000000, 0x81},
        {1, SNORM, 0xbf000000, 0xc0}, /* -63.5: to even, -64 */
        {1, USCALED, 0x40b33333, 5},
        {1, USCALED, 0x43fa0000, 255},
        {1, SSCALED, 0xc0b33333, 0xfb},
        {1, SSCALED, 0xc3fa0000, 0x80},
        {1, UINT, 0x12345678, 0xff},
        {1, SINT, 0xffffff00, 0x80},
        {1, SINT, 0x100, 0x7f},
        {2, FLOAT, 0x477fefff, 0x7bff},
        {2, FLOAT, 0x477ff000, 0x7c00},
        {2, FLOAT, 0x33000000, 0},
        {2, FLOAT, 0x33000001, 1},
        {6, FLOAT, 0x3f800000, 0x3c0},
        {6, FLOAT, 0x3f810000, 0x3c0}, /* 1 + 2^-7: to even */
        {6, FLOAT, 0x3f830000, 0x3c2},
        {6, FLOAT, 0xbf800000, 0},
        {6, FLOAT, 0x7f800000, 0x7c0},
        {6, FLOAT, 0x477fffff, 0x7c0},
        {6, FLOAT, 0x477c0000, 0x7be},
        {6, FLOAT, 0x35800000, 1},
        {6, FLOAT, 0x7fc00000, 0x7ff},
        {7, FLOAT, 0x3f820000, 0x1e0},
        {7, FLOAT, 0x3f860000, 0x1e2},
        {9, UNORM, 0x3f800000, 0x3ff},
        {8, UINT, 7, 3},
    };
    static struct isa_memory memory;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t out[64] = {0};
        set_buffer(cases[i].data, cases[i].number_format, 64);
        machine_set(&m, 8, cases[i].value);
        isa_wave_set_pair(&m.wave, ISA_EXEC, 1);
        struct isa_inst inst = decode_typed(ISA_GFX803, "buffer_store_format_x", 0, 0);
        cr_assert_eq(isa_memory_addresses(&m.ctx, &m.wave, &inst, &memory), ISA_OK);
        isa_memory_store(&m.ctx, &inst, &memory, out, 4);
        cr_expect_eq(out[0], cases[i].expected, "case %zu: %x", i, out[0]);
    }
}

Test(isa_rows_unusual, typed_loads_select_components)
{
    static struct isa_memory memory;
    const uint32_t pixel = 0x44332211;
    set_buffer(10, UINT, 8);
    m.wave.sgpr[11] = (m.wave.sgpr[11] & ~0xfffu) | 7 | 1 << 3 | 0 << 6 | 4 << 9;
    for (unsigned lane = 0; lane < 64; lane++)
        m.vgpr[64 + lane] = lane * 4;
    for (unsigned reg = 8; reg < 12; reg++)
        machine_set(&m, reg, 99);
    struct isa_inst inst = decode_typed(ISA_GFX803, "buffer_load_format_xyzw", 0, 0);
    cr_assert_eq(isa_memory_addresses(&m.ctx, &m.wave, &inst, &memory), ISA_OK);
    cr_expect_eq(memory.mask, 3);
    isa_memory_load(&m.ctx, &inst, &memory, &pixel, 0);
    const uint32_t inside[4] = {0x44, 1, 0, 0x11}, outside[4] = {0, 1, 0, 0};
    for (unsigned i = 0; i < 4; i++) {
        cr_expect_eq(m.vgpr[(8 + i) * 64 + 1], inside[i]);
        cr_expect_eq(m.vgpr[(8 + i) * 64 + 2], outside[i], "%u: a selected 1 is 1 outside, too", i);
    }
}

/* ---- LDS, status, elements beyond the buffer ---- */

enum { OFFEN = 1 << 12, IDXEN = 1 << 13, GLC = 1 << 14, TO_LDS = 1 << 16, TFE = 1 << 23 };

static struct isa_inst decode_buffer(enum isa_target target, const char *name, unsigned flags,
                                     unsigned offset, unsigned second)
{
    struct isa_inst inst;
    uint32_t word[3] = {0};
    encode_mubuf(word, name, 8, 1, 8, 128, flags, offset);
    word[1] |= second;
    cr_assert_gt(isa_decode(target, word, 12, &inst), 0, "%s", name);
    return inst;
}

Test(isa_rows_unusual, loads_to_lds)
{
    static const struct {
        const char *name;
        uint32_t expected;
    } cases[] = {{"buffer_load_dword", 0x8182f3f4},
                 {"buffer_load_ubyte", 0xf4},
                 {"buffer_load_sbyte", 0xfffffff4},
                 {"buffer_load_ushort", 0xf3f4},
                 {"buffer_load_sshort", 0xfffff3f4}};
    static struct isa_memory memory;
    const uint32_t data = 0x8182f3f4;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        set_buffer(4, UINT, 4 * 40);
        memset(m.lds, 0x55, sizeof m.lds);
        m.ctx.lds_size = 512;
        m.wave.sgpr[ISA_M0] = 0xabc00000 | (512 - 16 - 4 * 60); /* lanes 60 and up: outside */
        for (unsigned lane = 0; lane < 64; lane++)
            m.vgpr[64 + lane] = lane * 4 - 16 * (lane >= 16);
        isa_wave_set_pair(&m.wave, ISA_EXEC, ~UINT64_C(4));
        struct isa_inst inst = decode_buffer(ISA_GFX803, cases[i].name, OFFEN | TO_LDS, 16, 0);
        cr_assert_eq(isa_memory_addresses(&m.ctx, &m.wave, &inst, &memory), ISA_OK);
        cr_expect_eq(memory.address[3], UINT64_C(0x700001000) + 16 + 12);
        isa_memory_load(&m.ctx, &inst, &memory, &data, 0);
        for (unsigned lane = 0; lane < 60; lane++) {
            uint32_t got = (uint32_t)read_lds(512 - 240 + 4 * lane, 4);
            uint32_t want = lane == 2 ? 0x55555555 : lane >= 40 ? 0 : cases[i].expected;
            cr_expect_eq(got, want, "%s, lane %u: %x", cases[i].name, lane, got);
        }
        cr_expect_eq(m.lds[512], 0x55);
        cr_expect_eq(m.vgpr[8 * 64], 0);
    }
}

Test(isa_rows_unusual, stores_from_lds)
{
    static struct isa_memory memory;
    FOR_TARGETS(target, "buffer_store_lds_dword")
    {
        uint32_t out[64];
        uint32_t word[3] = {0};
        struct isa_inst inst;
        set_buffer(0, 0, 4 * 64);
        m.wave.sgpr[9] |= 4 << 16;
        m.wave.sgpr[11] |= 1 << 23; /* lane l has record l */
        m.wave.sgpr[ISA_M0] = 40;
        for (unsigned n = 0; n < 200; n++)
            memcpy(m.lds + 4 * n, &n, 4);
        struct isa_row row = encode_row("buffer_store_lds_dword", target);
        word[0] = 0xe0000000u | (unsigned)row.opcode[target] << 18 | TO_LDS | 8;
        word[1] = 8 / 4 << 16 | 128u << 24;
        cr_assert_gt(isa_decode(target, word, 12, &inst), 0);
        cr_assert_eq(isa_memory_addresses(&m.ctx, &m.wave, &inst, &memory), ISA_OK);
        cr_expect_eq(memory.kind, ISA_MEMORY_STORE);
        cr_expect_eq(memory.address[5], UINT64_C(0x700001000) + 8 + 20);
        cr_expect_eq(memory.mask, ~UINT64_C(0) >> 2, "eight bytes more are outside");
        isa_memory_store(&m.ctx, &inst, &memory, out, 4);
        for (unsigned lane = 0; lane < 62; lane++)
            cr_expect_eq(out[lane], 12 + lane);
        covered_mark(&inst);
    }
}

Test(isa_rows_unusual, the_status_register_is_zero)
{
    static struct isa_memory memory;
    static const uint32_t data[4] = {11, 12, 13, 14};
    set_buffer(4, UINT, 4 * 32);
    for (unsigned lane = 0; lane < 64; lane++)
        m.vgpr[64 + lane] = lane * 4;
    for (unsigned reg = 8; reg < 13; reg++)
        machine_set(&m, reg, 99);
    struct isa_inst inst = decode_buffer(ISA_GFX803, "buffer_load_dwordx2", OFFEN, 0, TFE);
    cr_expect_eq(inst.vgprs, 11);
    cr_assert_eq(isa_memory_addresses(&m.ctx, &m.wave, &inst, &memory), ISA_OK);
    isa_memory_load(&m.ctx, &inst, &memory, data, 0);
    for (unsigned lane = 0; lane < 64; lane++) {
        cr_expect_eq(m.vgpr[8 * 64 + lane], lane < 32 ? 11 : 0);
        cr_expect_eq(m.vgpr[9 * 64 + lane], lane < 31 ? 12 : 0);
        cr_expect_eq(m.vgpr[10 * 64 + lane], 0);
        cr_expect_eq(m.vgpr[11 * 64 + lane], 99);
    }
}

Test(isa_rows_unusual, dwords_beyond_the_buffer_alone_are_zero_or_dropped)
{
    static struct isa_memory memory;
    static const uint32_t data[4] = {11, 12, 13, 14};
    for (unsigned inside = 0; inside <= 18; inside++) {
        set_buffer(0, 0, 1600 + inside);
        machine_set(&m, 1, 1600);
        for (unsigned reg = 8; reg < 12; reg++)
            machine_set(&m, reg, 99);
        isa_wave_set_pair(&m.wave, ISA_EXEC, 1u << 5);
        struct isa_inst inst = decode_buffer(ISA_GFX803, "buffer_load_dwordx4", OFFEN, 0, 0);
        cr_assert_eq(isa_memory_addresses(&m.ctx, &m.wave, &inst, &memory), ISA_OK);
        if (memory.mask)
            isa_memory_load(&m.ctx, &inst, &memory, data, 0);
        for (unsigned i = 0; i < 4; i++)
            cr_expect_eq(m.vgpr[(8 + i) * 64 + 5], inside >= 4 * (i + 1) ? 11 + i : 0,
                         "%u bytes, dword %u", inside, i);
        inst = decode_buffer(ISA_GFX803, "buffer_store_dwordx3", OFFEN, 0, 0);
        cr_assert_eq(isa_memory_addresses(&m.ctx, &m.wave, &inst, &memory), ISA_OK);
        cr_expect_eq(memory.mask, inside >= 4 ? 1u << 5 : 0);
        cr_expect_eq(memory.short_mask, inside >= 4 && inside < 12 ? 1u << 5 : 0);
        if (memory.short_mask)
            cr_expect_eq(memory.dwords[5], inside / 4);
        inst = decode_buffer(ISA_GFX803, "buffer_atomic_add_x2", OFFEN, 0, 0);
        cr_assert_eq(isa_memory_addresses(&m.ctx, &m.wave, &inst, &memory), ISA_OK);
        cr_expect_eq(memory.mask, inside >= 8 ? 1u << 5 : 0, "atomics are all or nothing");
        cr_expect_eq(memory.short_mask, 0);
    }
}

Test(isa_rows_unusual, records_are_counted_in_bytes_or_strides)
{
    static const struct {
        enum isa_target target;
        unsigned flags, last; /* the first lane that is outside, of indices or offsets 0, 1, ... */
    } cases[] = {{ISA_GFX803, IDXEN, 3},  /* 3 * 12 + 4 is more than 36 bytes */
                 {ISA_GFX906, IDXEN, 36}, /* records */
                 {ISA_GFX906, OFFEN, 33}};
    static struct isa_memory memory;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        set_buffer(4, UINT, 36);
        m.wave.sgpr[9] |= 12 << 16;
        for (unsigned lane = 0; lane < 64; lane++)
            m.vgpr[64 + lane] = lane;
        struct isa_inst inst =
            decode_buffer(cases[i].target, "buffer_load_dword", cases[i].flags, 0, 0);
        cr_assert_eq(isa_memory_addresses(&m.ctx, &m.wave, &inst, &memory), ISA_OK);
        cr_expect_eq(memory.mask, (UINT64_C(1) << cases[i].last) - 1, "case %zu: %lx", i,
                     memory.mask);
    }
}

/* ---- global wave sync ---- */

/* What is asked: the resource is M0[21:16] and the offset, of 64; the value is that of the first
 * active lane. Nothing else changes. */
Test(isa_rows_unusual, global_wave_sync)
{
    static const struct {
        const char *name;
        enum isa_sync_operation operation;
        bool has_value;
    } rows[] = {{"ds_gws_init", ISA_SYNC_INIT, true},
                {"ds_gws_barrier", ISA_SYNC_BARRIER, true},
                {"ds_gws_sema_v", ISA_SYNC_SIGNAL, false},
                {"ds_gws_sema_br", ISA_SYNC_SIGNAL_MANY, true},
                {"ds_gws_sema_p", ISA_SYNC_WAIT, false},
                {"ds_gws_sema_release_all", ISA_SYNC_RELEASE_ALL, false}};
    static const struct {
        uint32_t m0, offset;
        unsigned resource;
        uint64_t exec;
        unsigned lane;
    } cases[] = {{0, 0, 0, ~UINT64_C(0), 0},
                 {0, 5, 5, 1, 0},
                 {0xffffffff, 0, 63, UINT64_C(1) << 63, 63},
                 {0x003f0000, 2, 1, UINT64_C(0xf0), 4},
                 {0x00c00000, 63, 63, UINT64_C(6), 1},
                 {0x00120000, 0x14, 38, 0, 0}};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        FOR_TARGETS(target, rows[r].name)
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static struct machine before;
        uint32_t opcode = (uint32_t)encode_opcode(rows[r].name, target);
        uint32_t word[3] = {0xd8010000 | opcode << 17 | cases[i].offset, rows[r].has_value ? 7 : 0};
        struct isa_inst inst;
        struct isa_sync asked;
        machine_init(&m);
        for (unsigned lane = 0; lane < 64; lane++)
            m.vgpr[7 * 64 + lane] = 1000 * lane + 3;
        m.wave.sgpr[ISA_M0] = cases[i].m0;
        isa_wave_set_pair(&m.wave, ISA_EXEC, cases[i].exec);
        before = m;
        run(target, word);
        cr_expect_eq(m.wave.pc, before.wave.pc + 8);
        m.wave.pc = before.wave.pc;
        cr_expect(!memcmp(&m, &before, sizeof m), "%s changed something", rows[r].name);
        cr_assert_gt(isa_decode(target, word, 12, &inst), 0);
        cr_expect(inst.flags & ISA_IS_SYNC && inst.flags & ISA_RAISES_LGKM);
        cr_expect(isa_sync(&m.ctx, &m.wave, &inst, &asked));
        cr_expect_eq(asked.operation, rows[r].operation);
        cr_expect_eq(asked.resource, cases[i].resource);
        cr_expect_eq(asked.value, rows[r].has_value ? 1000 * cases[i].lane + 3 : 0);
        m.wave.mode |= ISA_MODE_SKIP;
        cr_expect_not(isa_sync(&m.ctx, &m.wave, &inst, &asked));
    }
}

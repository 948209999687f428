/* Prepared instructions (isa_ready.h) leave the same bytes as isa_execute, which the other tests
 * judge, and LDS accesses of many lanes the same as those of its lanes one by one.
 *
 * Instructions come in runs of random ones on random registers in one workspace, so that what one
 * leaves behind there (and in the host's MXCSR) meets the next. Values are rich in denormals, NaNs,
 * and numbers whose products are denormals. */
#include <inttypes.h>
#include <xmmintrin.h>

#include "components/amd/isa/execute/isa_ready.h"

#include "machine.h"

enum { REGISTERS = 16, RUNS = 900, RUN_LENGTH = 40 };

static uint64_t state = 0x2545f4914f6cdd1du;

static uint64_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static uint32_t random_word(void)
{
    static const uint32_t special[] = {
        0,          0x80000000, 0x3f800000, 0x7f800000, 0xff800000, 0x7fc00001, 0x7f800001,
        0x00000001, 0x807fffff, 0x00800000, 0x80800001, 0xffffffff, 0x1fffffff, 0x9f800000,
        0x20000001, 0x00ffffff, 0x00400000, 0x00007c00, 0x00000400, 0x7ff00000, 0x3f7fffff};
    uint64_t r = next_random();
    return r % 2 ? special[(r >> 8) % (sizeof special / sizeof *special)] : (uint32_t)(r >> 32);
}

/* Few lanes with NaNs: they hide what arithmetic does. */
static void randomise(struct machine *m)
{
    machine_init(m);
    m->ctx.vgpr_count = REGISTERS;
    for (unsigned i = 0; i < REGISTERS * 64; i++) {
        uint32_t word = random_word();
        bool nan = (word & 0x7fffffff) > 0x7f800000;
        m->vgpr[i] = nan && next_random() % 64 ? word & 0x80ffffff : word;
    }
    for (unsigned i = 0; i < 102; i++)
        m->wave.sgpr[i] = random_word();
    isa_wave_set_pair(&m->wave, ISA_VCC, next_random());
    m->wave.sgpr[ISA_M0] = (uint32_t)next_random();
    isa_wave_set_pair(&m->wave, ISA_EXEC, next_random() % 2 ? next_random() : ~UINT64_C(0));
    m->wave.mode = 0xc0 | 0x300;
    m->wave.mode |= (next_random() % 4 ? (next_random() & 1) * 3 : next_random() & 3) << 4;
    m->wave.mode |= next_random() % 8 ? 0 : (uint32_t)(next_random() & 15);
}

static unsigned random_source(void)
{
    static const unsigned others[] = {0,   7,   40,  100, 106, 124, 126, 128, 129, 150,
                                      192, 193, 208, 240, 242, 247, 248, 251, 252, 253};
    uint64_t r = next_random();
    return r % 3 ? V0 + (unsigned)(r >> 8) % (REGISTERS - 2)
                 : others[(r >> 8) % (sizeof others / sizeof *others)];
}

/* Words of a random form of the row; whether they decode says the decoder. */
static void random_form(const struct isa_row *row, uint32_t word[3])
{
    uint64_t r = next_random();
    bool mask = row->format == ISA_VOPC || !strncmp(row->mnemonic, "v_readlane", 10);
    unsigned dst = mask ? 20 + 2 * (r % 8) : r % (REGISTERS - 2);
    word[2] = random_word();
    if (row->unit != ISA_UNIT_VALU) {
        encode_scalar(word, row->mnemonic, row->format == ISA_SOPC ? 0 : 2 * (r % 48),
                      row->format == ISA_SOPK || row->format == ISA_SOPP ? (r >> 8) & 0xffff
                                                                         : (r >> 8) % 255,
                      (r >> 24) % 255);
        word[1] = random_word();
        return;
    }
    bool sdwa = (row->format == ISA_VOP1 || row->format == ISA_VOP2) && !(r >> 61);
    if (sdwa) { /* word[1]: src0, dst_sel, dst_unused, src0_sel, sext, src1_sel */
        encode_vop(word, row->mnemonic, dst, 249, (r >> 40) % (REGISTERS - 2));
        word[1] = (uint32_t)((r >> 8) % (REGISTERS - 2) | (r >> 16) % 7 << 8 | (r >> 24) % 3 << 11
                             | (r >> 28) % 7 << 16 | (r >> 33 & 1) << 19 | (r >> 34) % 7 << 24
                             | (r >> 38 & 1) << 27);
        return;
    }
    bool shortest = row->format != ISA_VOP3 && row->format != ISA_VOP3P && r >> 60 < 8;
    if (shortest) {
        unsigned source = r >> 32 & 15 ? random_source() : 255;
        encode_vop(word, row->mnemonic, mask ? 0 : dst, source, (r >> 40) % (REGISTERS - 2));
        word[1] = random_word();
        return;
    }
    encode_vop3(word, row->mnemonic, dst, random_source(), random_source(),
                r >> 36 & 1 ? 2 * ((r >> 37) % 50) : random_source());
    if (r >> 44 & 1)
        word[1] |= (uint32_t)(r >> 45 & 7) << 29;
    if (!(r >> 48 & 7))
        word[1] |= (uint32_t)(r >> 51 & 3) << 27;
    if (!(r >> 53 & 7))
        word[0] |= (uint32_t)(next_random() & 7) << 8;
    if (next_random() & 1)
        word[0] |= 40 << 8; /* a scalar destination, where the row has one */
}

static bool random_instruction(enum isa_target target, struct isa_inst *inst)
{
    struct isa_row row = isa_row(next_random() % isa_row_count());
    uint32_t word[3];
    if (row.opcode[ISA_GFX803] < 0 || !row.is_implemented
        || (row.unit != ISA_UNIT_VALU && row.unit != ISA_UNIT_SALU && row.unit != ISA_UNIT_BRANCH))
        return false;
    random_form(&row, word);
    return isa_decode(target, word, 12, inst) > 0;
}

static void compare(const struct machine *a, const struct machine *b, const struct isa_inst *inst,
                    unsigned variant)
{
    char text[ISA_TEXT_MAX];
    bool same =
        !memcmp(a->vgpr, b->vgpr, REGISTERS * 256) && !memcmp(&a->wave, &b->wave, sizeof a->wave);
    if (same)
        return;
    isa_format(inst, UINT64_MAX, text, sizeof text);
    cr_assert_fail("%s: '%s' differs, mode %x", isa_variant_name(variant), text, a->wave.mode);
}

Test(isa_ready, prepared_instructions_do_what_isa_execute_does)
{
    static struct machine expected, actual;
    static struct isa_workspace work;
    unsigned compared = 0, host = _mm_getcsr() & 0x6040;
    for (unsigned round = 0; round < RUNS; round++) {
        unsigned variant = round % isa_variant_count();
        enum isa_target target = round / 3 % 2 ? ISA_GFX906 : ISA_GFX803;
        if (!isa_variant_select(variant))
            continue;
        randomise(&expected);
        actual = expected;
        actual.ctx.vgpr = actual.vgpr;
        actual.ctx.lds = actual.lds;
        isa_workspace_begin(&work);
        for (unsigned i = 0; i < RUN_LENGTH; i++) {
            struct isa_inst inst;
            struct isa_ready ready;
            if (!random_instruction(target, &inst))
                continue;
            isa_prepare(&inst, REGISTERS, 0, &ready);
            enum isa_status status = ready.run(&actual.ctx, &actual.wave, &ready, &work);
            bool daz = work.daz; /* the reference has the host as it was */
            isa_workspace_plain(&work);
            cr_assert_eq(isa_execute(&expected.ctx, &expected.wave, &inst), status);
            compare(&expected, &actual, &inst, variant);
            isa_workspace_set_daz(&work, daz);
            compared++;
        }
        isa_workspace_end(&work);
        cr_assert_eq(_mm_getcsr() & 0x6040, host, "MXCSR is not as it was");
    }
    cr_assert_gt(compared, 9000, "only %u comparisons", compared);
}

/* Maxima of gfx8 keep denormals, also of halves behind an instruction that flushes fp32's. */
Test(isa_ready, maxima_of_halves_keep_denormals)
{
    static const uint32_t words[] = {0x0a020702 /* v_mul_f32 v1, v2, v3 */,
                                     0x5a080b00 /* v_max_f16 v4, v0, v5 */};
    static struct machine m;
    static struct isa_workspace work;
    for (unsigned variant = 0; variant < isa_variant_count(); variant++) {
        if (!isa_variant_select(variant))
            continue;
        machine_init(&m);
        m.ctx.vgpr_count = REGISTERS;
        m.wave.mode = 0x3c0;
        isa_wave_set_pair(&m.wave, ISA_EXEC, ~UINT64_C(0));
        memset(m.vgpr, 0, REGISTERS * 256);
        m.vgpr[5 * 64] = 1;
        isa_workspace_begin(&work);
        for (unsigned i = 0; i < 2; i++) {
            struct isa_inst inst;
            struct isa_ready ready;
            cr_assert_eq(isa_decode(ISA_GFX803, &words[i], 4, &inst), 4);
            isa_prepare(&inst, REGISTERS, 0, &ready);
            cr_assert_eq(ready.run(&m.ctx, &m.wave, &ready, &work), ISA_OK);
        }
        isa_workspace_end(&work);
        cr_expect_eq(m.vgpr[4 * 64], 1, "%s", isa_variant_name(variant));
    }
}

Test(isa_ready, registers_outside_the_allocation_are_refused)
{
    static struct machine m;
    static struct isa_workspace work;
    struct isa_inst inst;
    struct isa_ready ready;
    uint32_t word[3] = {0};
    machine_init(&m);
    m.ctx.vgpr_count = 4;
    encode_vop(word, "v_mul_f32", 4, V0, 1);
    cr_assert_gt(isa_decode(ISA_GFX803, word, 12, &inst), 0);
    isa_prepare(&inst, 4, 0, &ready);
    isa_workspace_begin(&work);
    cr_expect_eq(ready.run(&m.ctx, &m.wave, &ready, &work), ISA_BAD_REGISTER);
    cr_expect_eq(m.wave.pc, 0);
    isa_workspace_end(&work);
}

/* ---- LDS ---- */

/* Addresses that follow each other, are all one, stand apart, or are anywhere, also outside. */
static struct isa_inst rsq_inst;
static struct isa_ready rsq_ready;

/* Of 64 values; prepared and not, which the other tests judge. */
static void compare_rsq(const uint32_t value[64], uint64_t exec)
{
    static struct machine expected, actual;
    static struct isa_workspace work;
    if (!expected.ctx.vgpr) {
        machine_init(&expected);
        machine_init(&actual);
    }
    memcpy(expected.vgpr, value, 256);
    memcpy(actual.vgpr, value, 256);
    isa_wave_set_pair(&expected.wave, ISA_EXEC, exec);
    isa_wave_set_pair(&actual.wave, ISA_EXEC, exec);
    cr_assert_eq(isa_execute(&expected.ctx, &expected.wave, &rsq_inst), ISA_OK);
    isa_workspace_begin(&work);
    cr_assert_eq(rsq_ready.run(&actual.ctx, &actual.wave, &rsq_ready, &work), ISA_OK);
    isa_workspace_end(&work);
    for (unsigned i = 0; memcmp(actual.vgpr + 64, expected.vgpr + 64, 256) && i < 64; i++)
        cr_assert_eq(actual.vgpr[64 + i], expected.vgpr[64 + i], "%s: %08x gives %08x, not %08x",
                     isa_variant_name(isa_variant_current()), value[i], actual.vgpr[64 + i],
                     expected.vgpr[64 + i]);
}

static void prepare_rsq(void)
{
    uint32_t word[3];
    encode_vop(word, "v_rsq_f32", 1, V0, 0);
    cr_assert_gt(isa_decode(ISA_GFX803, word, 12, &rsq_inst), 0);
    isa_prepare(&rsq_inst, REGISTERS, 0, &rsq_ready);
}

/* All significands of two octaves, and all octaves with some significands. */
Test(isa_ready, reciprocal_square_roots_are_those_of_the_table)
{
    const uint64_t all = ~UINT64_C(0), some = UINT64_C(0x5555aaaa0f0ffffe);
    uint32_t value[64];
    for (unsigned variant = 0; variant < isa_variant_count(); variant++) {
        if (!isa_variant_select(variant))
            continue;
        prepare_rsq();
        for (uint32_t first = 0x3f800000; first < 0x40800000; first += 64) {
            for (unsigned i = 0; i < 64; i++)
                value[i] = first + i;
            compare_rsq(value, all);
        }
        for (uint32_t octave = 0; octave < 512; octave++) {
            for (unsigned i = 0; i < 64; i++)
                value[i] = octave << 23 | (i < 4 ? i * 0x2aaaaa : random_word() & 0x7fffff);
            compare_rsq(value, octave & 1 ? some : all);
            for (unsigned i = 0; i < 64; i++)
                value[i] = i % 7 ? 0x40000000 + (i << 17) : value[0];
            compare_rsq(value, octave & 2 ? some : all);
        }
    }
}

static void random_addresses(uint32_t *address, unsigned bytes, uint64_t exec)
{
    uint32_t start = (uint32_t)(next_random() % 512), kind = (uint32_t)(next_random() % 6);
    for (uint32_t lane = 0; lane < 64; lane++) {
        uint32_t any = (uint32_t)(next_random() % (kind == 5 ? 4400 : 3900));
        address[lane] = kind == 0   ? start + lane * bytes
                        : kind == 1 ? start
                        : kind == 2 ? start + lane * (bytes + 4)
                        : kind == 3 ? start + 63 * bytes - lane * bytes
                                    : any;
        if (!(exec >> lane & 1) && next_random() & 1)
            address[lane] = random_word();
    }
}

static void run_prepared(struct machine *m, const uint32_t *word)
{
    static struct isa_workspace work;
    struct isa_inst inst;
    struct isa_ready ready;
    int size = isa_decode(ISA_GFX803, word, 12, &inst);
    cr_assert_gt(size, 0);
    isa_prepare(&inst, MACHINE_VGPRS, 0, &ready);
    isa_workspace_begin(&work);
    uint64_t pc = m->wave.pc;
    cr_assert_eq(ready.run(&m->ctx, &m->wave, &ready, &work), ISA_OK);
    cr_assert_eq(m->wave.pc, pc + (uint64_t)size);
    isa_workspace_end(&work);
}

Test(isa_ready, lds_accesses_of_many_lanes_are_those_of_each)
{
    static const struct {
        const char *name;
        unsigned bytes, registers;
    } rows[] = {
        {"ds_read_u8", 1, 1},       {"ds_read_i8", 1, 1},       {"ds_read_u16", 2, 1},
        {"ds_read_i16", 2, 1},      {"ds_read_b32", 4, 1},      {"ds_read_b64", 8, 2},
        {"ds_read_b96", 12, 3},     {"ds_read_b128", 16, 4},    {"ds_read2_b32", 4, 2},
        {"ds_read2st64_b32", 4, 2}, {"ds_read2_b64", 8, 4},     {"ds_write_b8", 1, 0},
        {"ds_write_b16", 2, 0},     {"ds_write_b32", 4, 0},     {"ds_write_b64", 8, 0},
        {"ds_write_b96", 12, 0},    {"ds_write_b128", 16, 0},   {"ds_add_u32", 4, 0},
        {"ds_add_rtn_u32", 4, 1},   {"ds_max_rtn_i32", 4, 1},   {"ds_inc_u32", 4, 0},
        {"ds_add_rtn_u64", 8, 2},   {"ds_cmpst_rtn_b32", 4, 1},
    };
    static struct machine many, each;
    for (unsigned round = 0; round < 3000; round++) {
        size_t row = round % (sizeof rows / sizeof *rows);
        if (!isa_variant_select(round / 23 % isa_variant_count()))
            continue;
        randomise(&many);
        many.wave.mode = ISA_MODE_DEFAULT;
        uint64_t exec = next_random() % 3 == 0 ? next_random() : ~UINT64_C(0);
        exec = next_random() % 8 ? exec : exec >> (next_random() % 64);
        unsigned to = next_random() % 4 ? 8 : next_random() & 1; /* perhaps over the address */
        random_addresses(many.vgpr + 64, rows[row].bytes, exec);
        for (unsigned i = 0; i < MACHINE_LDS; i++)
            many.lds[i] = (uint8_t)next_random();
        each = many;
        each.ctx.vgpr = each.vgpr;
        each.ctx.lds = each.lds;
        uint32_t word[3] = {0};
        encode_ds(word, rows[row].name, rows[row].registers ? to : 0, 1, 2, 6,
                  round % 5 ? (unsigned)(next_random() & 15) : 0x0f01);
        isa_wave_set_pair(&many.wave, ISA_EXEC, exec);
        run_prepared(&many, word);
        for (unsigned lane = 0; lane < 64; lane++) {
            if (!(exec >> lane & 1))
                continue;
            isa_wave_set_pair(&each.wave, ISA_EXEC, UINT64_C(1) << lane);
            machine_run(&each, word);
        }
        cr_assert_eq(memcmp(many.lds, each.lds, sizeof many.lds), 0, "%s: LDS", rows[row].name);
        cr_assert_eq(memcmp(many.vgpr, each.vgpr, REGISTERS * 256), 0, "%s, exec %" PRIx64,
                     rows[row].name, exec);
    }
}

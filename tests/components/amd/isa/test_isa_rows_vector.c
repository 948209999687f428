/* Every vector instruction on integers, bits and masks, on every target, in every form that it has,
 * with random operands and modifiers, against vector_model.c; and those that move values between
 * lanes, one by one. */
#include "encode.h"
#include "vector_model.h"

enum { TRIES = 4 };

/* ---- random forms ---- */

static unsigned random_vgpr(bool is_pair)
{
    return is_pair ? 2 * random_below(ROWS_VGPRS / 2) : random_below(ROWS_VGPRS);
}

/* Not a VGPR: registers, integers, floats, conditions, apertures. */
static unsigned random_scalar(const struct vector_form *f, bool is_pair)
{
    static const unsigned registers[] = {0, 2, 16, 98, 100, ISA_VCC, ISA_EXEC};
    switch (random_below(8)) {
    case 0:
    case 1:
        return 128 + random_below(81);
    case 2:
        return 240 + random_below(9);
    case 3:
        return is_pair ? 128 : 251 + random_below(3);
    case 4:
        return isa_is_gfx9(f->target) ? 235 + random_below(4) : ISA_VCC;
    case 5:
        return is_pair ? 20 : ISA_M0;
    default:
        return registers[random_below(sizeof registers / sizeof *registers)]
               + !is_pair * random_below(2);
    }
}

static bool is_scalar_register(unsigned code)
{
    return code < 128 || (code >= 235 && code <= 238) || (code >= 251 && code <= 255);
}

/* At most one source reads scalar registers, as the constant bus asks, and masks count. */
static void random_sources(struct vector_form *f)
{
    bool bus_is_free = !(f->row->flags & (CARRIES | SELECTS));
    for (unsigned i = 0; i < vector_sources(f->row); i++) {
        bool is_pair = exact_is_wide(f->row->signature[2 + i]);
        bool only_vgpr = f->form == COVERED_DPP || (f->form == COVERED_PLAIN && i == 1);
        f->src[i] = 256 + random_vgpr(is_pair);
        if (only_vgpr || random_below(3))
            continue;
        unsigned code = random_scalar(f, is_pair);
        if (f->form == COVERED_SDWA && (!isa_is_gfx9(f->target) || code > 127))
            continue;
        if (f->form == COVERED_PLAIN && !random_below(5) && f->format != ISA_VOP3)
            code = 255;
        if (is_scalar_register(code) && !bus_is_free)
            continue;
        bus_is_free = bus_is_free && !is_scalar_register(code);
        f->src[i] = code;
    }
}

static void random_sdwa(struct vector_form *f)
{
    f->dst_select = f->row->flags & COMPARES ? 6 : random_below(7);
    f->unused = f->row->flags & COMPARES ? 0 : random_below(3);
    f->clamp = f->row->flags & COMPARES ? 0 : random_below(3) == 0;
    for (unsigned i = 0; i < vector_sources(f->row) && i < 2; i++) {
        f->select[i] = random_below(7);
        if (!vector_takes_signs(f->row->signature[2 + i]))
            f->sext |= random_below(2) << i;
    }
}

static void random_dpp(struct vector_form *f)
{
    static const unsigned controls[] = {0x101, 0x10f, 0x105, 0x111, 0x11f, 0x118,
                                        0x121, 0x12f, 0x124, 0x130, 0x134, 0x138,
                                        0x13c, 0x140, 0x141, 0x142, 0x143};
    f->control = random_below(4) ? controls[random_below(sizeof controls / sizeof *controls)]
                                 : random_below(256);
    f->row_mask = random_below(3) ? 15 : random_below(16);
    f->bank_mask = random_below(3) ? 15 : random_below(16);
    f->bound = random_below(2);
}

static void random_modifiers(struct vector_form *f)
{
    bool has_abs = f->form != COVERED_PLAIN && !(f->row->flags & (BORROWS | PACKED | DOT));
    for (unsigned i = 0; i < vector_sources(f->row) && f->form != COVERED_PLAIN; i++) {
        if (!vector_takes_signs(f->row->signature[2 + i]))
            continue;
        f->neg |= random_below(2) << i;
        f->abs |= (has_abs & random_below(2)) << i;
    }
    if (f->form == COVERED_SDWA)
        random_sdwa(f);
    if (f->form == COVERED_DPP)
        random_dpp(f);
    if (f->form != COVERED_VOP3)
        return;
    f->clamp = f->row->flags & SATURATES ? random_below(2) : 0;
    f->opsel_hi = f->row->flags & (PACKED | DOT) ? 7 : 0;
    if (f->row->flags & PACKED) {
        f->opsel = random_below(8) & ((1u << vector_sources(f->row)) - 1);
        f->opsel_hi = random_below(8);
    }
    if (f->row->flags & HALVES) {
        bool half = strchr("hHn", f->row->signature[0]) != NULL;
        for (unsigned i = 0; i < vector_sources(f->row); i++)
            if (strchr("hHn", f->row->signature[2 + i]))
                f->opsel |= random_below(2) << i;
        f->opsel |= half ? random_below(2) << 3 : 0;
    }
}

static void random_form(struct vector_form *f)
{
    static const unsigned masks[] = {ISA_VCC, 4, 40, 96};
    bool is_long = f->form == COVERED_VOP3,
         to_any = is_long || (f->form == COVERED_SDWA && isa_is_gfx9(f->target));
    f->dst = random_vgpr(exact_is_wide(f->row->signature[0]));
    f->mask_to = to_any && !(f->form == COVERED_SDWA && (f->row->flags & BORROWS))
                     ? masks[random_below(4)]
                     : ISA_VCC;
    f->mask_from = is_long ? masks[random_below(4)] : ISA_VCC;
    f->literal = rows_word();
    random_sources(f);
    random_modifiers(f);
}

/* ---- one instruction ---- */

/* Decodes; without clamp where that is refused, which the coverage page lists. */
static int decode(struct vector_form *f, uint32_t word[3], unsigned *words, struct isa_inst *inst)
{
    *words = vector_encode(f, word);
    int size = isa_decode(f->target, word, 12, inst);
    if (size != ISA_ERROR_UNIMPLEMENTED || !f->clamp)
        return size;
    f->clamp = 0;
    vector_encode(f, word);
    return isa_decode(f->target, word, 12, inst);
}

static bool check(struct vector_form *f)
{
    static struct rows_machine before, expected, actual;
    uint32_t word[3] = {0};
    struct isa_inst inst;
    unsigned words;
    int size = decode(f, word, &words, &inst);
    cr_assert_eq(size, (int)(4 * words), "%s, %s: %08x %08x decodes to %d", f->row->name,
                 isa_target_name(f->target), word[0], word[1], size);
    rows_machine_init(&before);
    rows_machine_copy(&expected, &before);
    rows_machine_copy(&actual, &before);
    vector_expect(f, &expected);
    expected.wave.pc += 4 * words;
    rows_next_variant();
    cr_assert_eq(isa_execute(&actual.ctx, &actual.wave, &inst), ISA_OK, "%s", f->row->name);
    if (!rows_equal(&expected, &actual)) {
        rows_fail(&before, &expected, &actual, &inst);
        return false;
    }
    covered_mark(&inst);
    return true;
}

static bool form_exists(const struct vector_form *f)
{
    bool has_short = f->format != ISA_VOP3 && f->format != ISA_VOP3P;
    const char *signature = f->row->signature;
    if (f->form == COVERED_VOP3)
        return true;
    if (f->form == COVERED_PLAIN)
        return has_short;
    for (unsigned i = 0; signature[i]; i++)
        if (exact_is_wide(signature[i]))
            return false;
    return has_short;
}

static bool check_row(const struct isa_row *row, enum isa_target target)
{
    struct vector_row model;
    if (!vector_row_find(row->mnemonic, target, &model))
        return true;
    for (unsigned form = 0; form < COVERED_FORMS; form++) {
        for (unsigned i = 0; i < TRIES; i++) {
            struct vector_form f = {.row = &model,
                                    .target = target,
                                    .format = row->format,
                                    .form = (enum covered_form)form,
                                    .opcode = (unsigned)row->opcode[target]};
            if (!form_exists(&f))
                break;
            random_form(&f);
            if (!check(&f))
                return false;
        }
    }
    return true;
}

Test(isa_rows_vector, integers_bits_and_masks)
{
    unsigned failed = 0;
    for (unsigned target = 0; target < ISA_TARGET_COUNT; target++) {
        for (size_t i = 0; i < isa_row_count(); i++) {
            struct isa_row row = isa_row(i);
            if (row.unit == ISA_UNIT_VALU && row.is_implemented && row.opcode[target] >= 0)
                failed += !check_row(&row, (enum isa_target)target);
        }
    }
    cr_assert_eq(failed, 0, "%u rows", failed);
}

/* ---- one by one ---- */

static struct rows_machine start, end;

static void begin(uint32_t m0)
{
    rows_machine_init(&start);
    start.wave.sgpr[ISA_M0] = m0;
    rows_machine_copy(&end, &start);
}

static void finish(enum isa_target target, const uint32_t *word, unsigned words)
{
    static struct rows_machine actual;
    struct isa_inst inst;
    cr_assert_eq(isa_decode(target, word, 12, &inst), (int)(4 * words), "%s: %08x %08x",
                 isa_target_name(target), word[0], word[1]);
    end.wave.pc += 4 * words;
    rows_machine_copy(&actual, &start);
    rows_next_variant();
    cr_assert_eq(isa_execute(&actual.ctx, &actual.wave, &inst), ISA_OK);
    if (!rows_equal(&end, &actual)) {
        rows_fail(&start, &end, &actual, &inst);
        cr_assert_fail("as above");
    }
    covered_mark(&inst);
}

/* The 32-bit form of a VOP1 row, or its VOP3 form. */
static unsigned encode_vop1(uint32_t *word, bool is_long, int opcode, unsigned dst, unsigned src)
{
    word[0] = is_long ? 0xd0000000u | (0x140u + (unsigned)opcode) << 16 | dst
                      : 0x7e000000u | dst << 17 | (unsigned)opcode << 9 | src;
    word[1] = is_long ? src : 0;
    return 1u + is_long;
}

static void check_lanes_by_number(enum isa_target target)
{
    uint32_t word[3] = {0};
    unsigned lane = random_below(64), code = random_below(2) ? 128 + lane : 40;
    int opcode = encode_opcode("v_readlane_b32", target);
    begin(0);
    start.wave.sgpr[40] = end.wave.sgpr[40] = lane + 64 * random_below(3);
    word[0] = 0xd0000000u | (unsigned)opcode << 16 | 50;
    word[1] = (256 + 3) | code << 9;
    end.wave.sgpr[50] = start.vgpr[3 * 64 + lane];
    finish(target, word, 2);

    opcode = encode_opcode("v_writelane_b32", target);
    begin(lane);
    unsigned value = random_below(2) ? 128 + random_below(65) : 50;
    word[0] = 0xd0000000u | (unsigned)opcode << 16 | 5;
    word[1] = value | (unsigned)ISA_M0 << 9;
    end.vgpr[5 * 64 + lane] = value == 50 ? start.wave.sgpr[50] : value - 128;
    finish(target, word, 2);
}

static void check_first_lane(enum isa_target target)
{
    uint32_t word[3] = {0};
    begin(0);
    uint64_t exec = isa_wave_exec(&start.wave);
    unsigned lane = 0;
    if (!random_below(4))
        isa_wave_set_pair(&start.wave, ISA_EXEC, exec = 0);
    rows_machine_copy(&end, &start);
    while (exec && !(exec >> lane & 1))
        lane++;
    end.wave.sgpr[51] = start.vgpr[7 * 64 + lane];
    finish(target, word,
           encode_vop1(word, false, encode_opcode("v_readfirstlane_b32", target), 51, 256 + 7));
}

static void check_nothing(enum isa_target target)
{
    static const char *const names[2] = {"v_nop", "v_clrexcp"};
    uint32_t word[3] = {0};
    for (unsigned form = 0; form < 4; form++) {
        unsigned words;
        begin(0);
        words = encode_vop1(word, form / 2, encode_opcode(names[form % 2], target), 0, 0);
        finish(target, word, words);
    }
}

static void check_swap(enum isa_target target)
{
    uint32_t word[3] = {0};
    int opcode = encode_opcode("v_swap_b32", target);
    if (opcode < 0)
        return;
    begin(0);
    for (unsigned lane = 0; lane < 64; lane++) {
        if (!(isa_wave_exec(&start.wave) >> lane & 1))
            continue;
        end.vgpr[3 * 64 + lane] = start.vgpr[9 * 64 + lane];
        end.vgpr[9 * 64 + lane] = start.vgpr[3 * 64 + lane];
    }
    finish(target, word, encode_vop1(word, false, opcode, 3, 256 + 9));
}

/* Register numbers plus M0: of the destination, the source, or both. */
static void check_relative(enum isa_target target, const char *name, bool to, bool from)
{
    uint32_t word[3] = {0};
    int opcode = encode_opcode(name, target);
    if (opcode < 0)
        return;
    for (unsigned is_long = 0; is_long < 2; is_long++) {
        unsigned by = random_below(8), dst = to ? 2 + by : 2, src = from ? 5 + by : 5;
        begin(by);
        for (unsigned lane = 0; lane < 64; lane++)
            if (isa_wave_exec(&start.wave) >> lane & 1)
                end.vgpr[dst * 64 + lane] = start.vgpr[src * 64 + lane];
        finish(target, word, encode_vop1(word, is_long, opcode, 2, 256 + 5));
    }
}

Test(isa_rows_vector, moves_between_lanes_and_registers)
{
    for (unsigned i = 0; i < ISA_TARGET_COUNT * 12; i++) {
        enum isa_target target = (enum isa_target)(i % ISA_TARGET_COUNT);
        check_lanes_by_number(target);
        check_first_lane(target);
        check_nothing(target);
        check_swap(target);
        check_relative(target, "v_movreld_b32", true, false);
        check_relative(target, "v_movrels_b32", false, true);
        check_relative(target, "v_movrelsd_b32", true, true);
    }
}

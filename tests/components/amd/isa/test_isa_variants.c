/* The vector code gives the same bytes whichever x86-64 level it was compiled for.
 *
 * Every vector ALU instruction of the tables, in plain, modified and partially masked form, on
 * random registers. */
#include "machine.h"

static uint64_t state = 0x9e3779b97f4a7c15u;

static uint64_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static void randomise(struct machine *m)
{
    static const uint32_t special[] = {0,          0x80000000, 0x3f800000, 0x7f800000, 0xff800000,
                                       0x7fc00001, 0x7f800001, 0x00000001, 0x007fffff, 0x00800000,
                                       0xffffffff, 0x7fffffff, 0x7ff00000, 0x7ff80000, 0x00007c00,
                                       0x00007e01, 0x00000400, 0xfff00000, 0x3ff00000, 0x43300000};
    machine_init(m);
    for (unsigned i = 0; i < 16 * 64; i++) {
        uint64_t r = next_random();
        m->vgpr[i] = r % 3 == 0 ? special[(r >> 8) % (sizeof special / sizeof *special)]
                                : (uint32_t)(r >> 32);
    }
    for (unsigned i = 0; i < 102; i++)
        m->wave.sgpr[i] = (uint32_t)(next_random() >> 32);
    isa_wave_set_pair(&m->wave, ISA_VCC, next_random());
    isa_wave_set_pair(&m->wave, ISA_EXEC, next_random() % 3 ? next_random() : ~UINT64_C(0));
    m->wave.mode =
        ISA_MODE_DEFAULT | (next_random() % 4 << 4) | (next_random() & next_random() & 15);
}

/* A VOP3 form with random modifiers that the row accepts. */
static bool random_form(const struct isa_row *row, uint32_t word[3])
{
    static const char *const with_scalar[] = {"v_add_u32",   "v_sub_u32",  "v_subrev_u32",
                                              "v_addc_u32",  "v_subb_u32", "v_subbrev_u32",
                                              "v_div_scale", "v_mad_u64",  "v_mad_i64"};
    bool has_sdst = false;
    for (size_t i = 0; i < sizeof with_scalar / sizeof *with_scalar; i++)
        has_sdst |= !strncmp(row->mnemonic, with_scalar[i], strlen(with_scalar[i]));
    bool takes_mask = !strcmp(row->mnemonic, "v_cndmask_b32")
                      || !strcmp(row->mnemonic, "v_addc_u32")
                      || !strncmp(row->mnemonic, "v_subb", 6);
    encode_vop3(word, row->mnemonic, row->format == ISA_VOPC ? 40 : 12, V0 + 2, V0 + 4,
                takes_mask ? ISA_VCC : V0 + 6);
    if (next_random() & 1) {
        word[1] |= (uint32_t)(next_random() & 7) << 29;
        word[0] |= has_sdst ? 0 : (uint32_t)(next_random() & 7) << 8;
        word[1] |= (uint32_t)(next_random() & 3) << 27;
    }
    if (has_sdst)
        word[0] |= 40 << 8;
    struct isa_inst inst;
    return isa_decode(ISA_GFX803, word, 12, &inst) > 0;
}

Test(isa_variants, all_give_the_same_bytes)
{
    static struct machine start, result, other;
    unsigned runnable = 0, compared = 0;
    for (unsigned variant = 0; variant < isa_variant_count(); variant++)
        runnable += isa_variant_select(variant);
    if (runnable < 2) {
        cr_skip_test("this host runs only one variant of the vector code");
        return;
    }
    for (size_t i = 0; i < isa_row_count(); i++) {
        struct isa_row row = isa_row(i);
        uint32_t word[3] = {0};
        if (row.unit != ISA_UNIT_VALU || row.opcode[ISA_GFX803] < 0 || !row.is_implemented
            || !strncmp(row.mnemonic, "v_madm", 6) || !strncmp(row.mnemonic, "v_mada", 6))
            continue;
        for (unsigned round = 0; round < 24; round++) {
            if (!random_form(&row, word))
                continue;
            randomise(&start);
            bool first = true;
            for (unsigned variant = 0; variant < isa_variant_count(); variant++) {
                if (!isa_variant_select(variant))
                    continue;
                struct machine *m = first ? &result : &other;
                *m = start;
                m->ctx.vgpr = m->vgpr;
                machine_run(m, word);
                if (!first) {
                    cr_assert_eq(memcmp(result.vgpr, other.vgpr, sizeof other.vgpr), 0,
                                 "%s differs in %s", row.mnemonic, isa_variant_name(variant));
                    cr_assert_eq(memcmp(&result.wave, &other.wave, sizeof other.wave), 0,
                                 "%s masks differ in %s", row.mnemonic, isa_variant_name(variant));
                    compared++;
                }
                first = false;
            }
        }
    }
    cr_assert_gt(compared, 5000, "only %u comparisons", compared);
}

/* Scalar ALU, branches and program control against values worked out by hand. */
#include "machine.h"

struct scalar_case {
    const char *name;
    uint64_t a, b;
    bool scc_in;
    uint64_t expected;
    int scc_out;
}; /* scc_out -1: unchanged */

/* Sources are s[4:5] and s[6:7], destination s[8:9], which holds 0x1111111122222222 before. */
static const struct scalar_case cases[] = {
    {"s_add_u32", 0xffffffff, 1, 0, 0, 1},
    {"s_add_u32", 0x7fffffff, 1, 0, 0x80000000, 0},
    {"s_sub_u32", 0, 1, 0, 0xffffffff, 1},
    {"s_add_i32", 0x7fffffff, 1, 0, 0x80000000, 1},
    {"s_add_i32", 0xffffffff, 1, 0, 0, 0},
    {"s_sub_i32", 0x80000000, 1, 0, 0x7fffffff, 1},
    {"s_addc_u32", 0xffffffff, 0, 1, 0, 1},
    {"s_addc_u32", 1, 1, 0, 2, 0},
    {"s_subb_u32", 0, 0, 1, 0xffffffff, 1},
    {"s_subb_u32", 5, 3, 1, 1, 0},
    {"s_min_i32", 0xffffffff, 1, 0, 0xffffffff, 1},
    {"s_min_u32", 0xffffffff, 1, 1, 1, 0},
    {"s_max_i32", 0xffffffff, 1, 1, 1, 0},
    {"s_max_u32", 0xffffffff, 1, 0, 0xffffffff, 1},
    {"s_cselect_b32", 3, 4, 1, 3, -1},
    {"s_cselect_b32", 3, 4, 0, 4, -1},
    {"s_and_b32", 0xf0, 0x0f, 1, 0, 0},
    {"s_or_b32", 0xf0, 0x0f, 0, 0xff, 1},
    {"s_xor_b32", 0xff, 0xff, 1, 0, 0},
    {"s_andn2_b32", 0xff, 0x0f, 0, 0xf0, 1},
    {"s_orn2_b32", 0, 0xffffffff, 1, 0, 0},
    {"s_nand_b32", 0xffffffff, 0xffffffff, 1, 0, 0},
    {"s_nor_b32", 0, 0, 0, 0xffffffff, 1},
    {"s_xnor_b32", 5, 5, 0, 0xffffffff, 1},
    {"s_lshl_b32", 1, 33, 0, 2, 1},
    {"s_lshr_b32", 0x80000000, 31, 0, 1, 1},
    {"s_ashr_i32", 0x80000000, 31, 0, 0xffffffff, 1},
    {"s_bfm_b32", 8, 4, 0, 0xff0, -1},
    {"s_mul_i32", 0x10001, 0x10001, 0, 0x20001, -1},
    {"s_bfe_u32", 0x12345678, 12 << 16 | 8, 0, 0x456, 1},
    {"s_bfe_u32", 0x12345678, 8, 1, 0, 0},
    {"s_bfe_i32", 0x00000f80, 5 << 16 | 7, 0, 0xffffffff, 1},
    {"s_absdiff_i32", 0x80000000, 0x7fffffff, 0, 1, 1},
    {"s_absdiff_i32", 0x80000000, 1, 0, 0x7fffffff, 1},
    {"s_absdiff_i32", 0x80000000, 0, 0, 0x80000000, 1},
    {"s_absdiff_i32", 0x80000000, 0xfffffffe, 0, 0x7ffffffe, 1},
    {"s_mov_b32", 77, 0, 0, 77, -1},
    {"s_cmov_b32", 77, 0, 0, 0x22222222, -1},
    {"s_cmov_b32", 77, 0, 1, 77, -1},
    {"s_not_b32", 0xffffffff, 0, 1, 0, 0},
    {"s_wqm_b32", 0x00100001, 0, 0, 0x00f0000f, 1},
    {"s_quadmask_b32", 0x00100001, 0, 0, 0x21, 1},
    {"s_brev_b32", 1, 0, 0, 0x80000000, -1},
    {"s_bcnt0_i32_b32", 0xffff0000, 0, 0, 16, 1},
    {"s_bcnt1_i32_b32", 0, 0, 1, 0, 0},
    {"s_ff0_i32_b32", 0x0000000f, 0, 0, 4, -1},
    {"s_ff0_i32_b32", 0xffffffff, 0, 0, 0xffffffff, -1},
    {"s_ff1_i32_b32", 0x00000100, 0, 0, 8, -1},
    {"s_flbit_i32_b32", 0x00008000, 0, 0, 16, -1},
    {"s_flbit_i32", 0xffff8000, 0, 0, 17, -1},
    {"s_flbit_i32", 0xffffffff, 0, 0, 0xffffffff, -1},
    {"s_sext_i32_i8", 0x80, 0, 0, 0xffffff80, -1},
    {"s_sext_i32_i16", 0x8000, 0, 0, 0xffff8000, -1},
    {"s_bitset0_b32", 1, 0, 0, 0x22222220, -1},
    {"s_bitset1_b32", 32, 0, 0, 0x22222223, -1},
    {"s_abs_i32", 0x80000000, 0, 0, 0x80000000, 1},
    {"s_abs_i32", 0xfffffffe, 0, 0, 2, 1},
};

static const struct scalar_case wide_cases[] = {
    {"s_cselect_b64", 0x100000003, 4, 1, 0x100000003, -1},
    {"s_and_b64", 0xf000000000, 0x0f00000000, 1, 0, 0},
    {"s_or_b64", 0xf000000000, 0x0f, 0, 0xf00000000f, 1},
    {"s_xor_b64", 1, 1, 1, 0, 0},
    {"s_andn2_b64", UINT64_C(0xffffffffffffffff), 0xff, 0, UINT64_C(0xffffffffffffff00), 1},
    {"s_lshl_b64", 1, 65, 0, 2, 1},
    {"s_lshr_b64", UINT64_C(0x8000000000000000), 63, 0, 1, 1},
    {"s_ashr_i64", UINT64_C(0x8000000000000000), 63, 0, UINT64_C(0xffffffffffffffff), 1},
    {"s_bfm_b64", 8, 36, 0, 0xff000000000, -1},
    {"s_bfe_u64", UINT64_C(0x123456789abcdef0), 16 << 16 | 32, 0, 0x5678, 1},
    {"s_bfe_i64", UINT64_C(0xf000000000000000), 64 << 16 | 60, 0, UINT64_C(0xffffffffffffffff), 1},
    {"s_mov_b64", 0x123456789, 0, 0, 0x123456789, -1},
    {"s_not_b64", 0, 0, 0, UINT64_C(0xffffffffffffffff), 1},
    {"s_wqm_b64", UINT64_C(0x2000000000000000), 0, 0, UINT64_C(0xf000000000000000), 1},
    {"s_brev_b64", 1, 0, 0, UINT64_C(0x8000000000000000), -1},
    {"s_bitset1_b64", 63, 0, 0, UINT64_C(0x9111111122222222), -1},
};

static void run_case(const struct scalar_case *k, bool wide)
{
    static struct machine m;
    uint32_t word[3] = {0};
    machine_init(&m);
    isa_wave_set_pair(&m.wave, 4, k->a);
    isa_wave_set_pair(&m.wave, 6, k->b);
    isa_wave_set_pair(&m.wave, 8, UINT64_C(0x1111111122222222));
    m.wave.scc = k->scc_in;
    encode_scalar(word, k->name, 8, 4, 6);
    cr_assert_eq(machine_run(&m, word), ISA_OK);
    uint64_t got = wide ? isa_wave_pair(&m.wave, 8) : m.wave.sgpr[8];
    cr_expect_eq(got, k->expected, "%s(%llx, %llx) = %llx", k->name, (unsigned long long)k->a,
                 (unsigned long long)k->b, (unsigned long long)got);
    cr_expect_eq(m.wave.scc, k->scc_out < 0 ? k->scc_in : k->scc_out, "%s(%llx, %llx) scc %d",
                 k->name, (unsigned long long)k->a, (unsigned long long)k->b, m.wave.scc);
    if (!wide)
        cr_expect_eq(m.wave.sgpr[9], 0x11111111, "%s wrote the next register", k->name);
}

Test(isa_salu, results_and_scc)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        run_case(&cases[i], false);
    for (size_t i = 0; i < sizeof wide_cases / sizeof *wide_cases; i++)
        run_case(&wide_cases[i], true);
}

Test(isa_salu, counts_of_pairs)
{
    static const struct {
        const char *name;
        uint64_t a;
        uint32_t expected;
    } counts[] = {{"s_bcnt1_i32_b64", UINT64_C(0xf00000000000000f), 8},
                  {"s_bcnt0_i32_b64", UINT64_C(0xf00000000000000f), 56},
                  {"s_ff1_i32_b64", UINT64_C(0x100000000), 32},
                  {"s_ff0_i32_b64", 0xffffffff, 32},
                  {"s_flbit_i32_b64", 1, 63},
                  {"s_flbit_i32_i64", UINT64_C(0xfffffffffffffffe), 63}};
    static struct machine m;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        uint32_t word[3] = {0};
        machine_init(&m);
        isa_wave_set_pair(&m.wave, 4, counts[i].a);
        encode_scalar(word, counts[i].name, 8, 4, 0);
        machine_run(&m, word);
        cr_expect_eq(m.wave.sgpr[8], counts[i].expected, "%s", counts[i].name);
    }
}

Test(isa_salu, compares)
{
    static const struct {
        const char *name;
        uint64_t a, b;
        bool expected;
    } compares[] = {{"s_cmp_lt_i32", 0xffffffff, 0, true},
                    {"s_cmp_lt_u32", 0xffffffff, 0, false},
                    {"s_cmp_eq_u32", 5, 5, true},
                    {"s_cmp_lg_i32", 5, 5, false},
                    {"s_cmp_ge_i32", 5, 5, true},
                    {"s_cmp_gt_u32", 0x80000000, 1, true},
                    {"s_cmp_le_i32", 0x80000000, 1, true},
                    {"s_bitcmp1_b32", 8, 35, true},
                    {"s_bitcmp0_b32", 8, 3, false},
                    {"s_bitcmp1_b64", UINT64_C(0x100000000), 32, true},
                    {"s_cmp_eq_u64", UINT64_C(0x100000000), 0, false},
                    {"s_cmp_lg_u64", UINT64_C(0x100000000), 0, true}};
    static struct machine m;
    for (size_t i = 0; i < sizeof compares / sizeof *compares; i++) {
        uint32_t word[3] = {0};
        machine_init(&m);
        isa_wave_set_pair(&m.wave, 4, compares[i].a);
        isa_wave_set_pair(&m.wave, 6, compares[i].b);
        m.wave.scc = !compares[i].expected;
        encode_scalar(word, compares[i].name, 0, 4, 6);
        machine_run(&m, word);
        cr_expect_eq(m.wave.scc, compares[i].expected, "%s", compares[i].name);
    }
}

Test(isa_salu, immediates)
{
    static const struct {
        const char *name;
        uint32_t before;
        uint16_t imm;
        uint32_t expected;
        int scc;
    } rows[] = {{"s_movk_i32", 0, 0x8000, 0xffff8000, 0},
                {"s_addk_i32", 0x7fffffff, 1, 0x80000000, 1},
                {"s_addk_i32", 5, 0xffff, 4, 0},
                {"s_mulk_i32", 7, 0xfffe, 0xfffffff2, 0},
                {"s_cmpk_lt_i32", 0xfffffffe, 0xffff, 0xfffffffe, 1},
                {"s_cmpk_eq_u32", 0x8000, 0x8000, 0x8000, 1},
                {"s_cmpk_eq_i32", 0x8000, 0x8000, 0x8000, 0}};
    static struct machine m;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t word[3] = {0};
        machine_init(&m);
        m.wave.sgpr[8] = rows[i].before;
        encode_scalar(word, rows[i].name, 8, rows[i].imm, 0);
        machine_run(&m, word);
        cr_expect_eq(m.wave.sgpr[8], rows[i].expected, "%s", rows[i].name);
        cr_expect_eq(m.wave.scc, rows[i].scc, "%s scc", rows[i].name);
    }
}

Test(isa_salu, save_exec)
{
    static const struct {
        const char *name;
        uint64_t expected;
    } rows[] = {{"s_and_saveexec_b64", 0x0c},
                {"s_or_saveexec_b64", 0xff},
                {"s_xor_saveexec_b64", 0xf3},
                {"s_andn2_saveexec_b64", 0xf0},
                {"s_nand_saveexec_b64", ~UINT64_C(0x0c)},
                {"s_nor_saveexec_b64", ~UINT64_C(0xff)},
                {"s_xnor_saveexec_b64", ~UINT64_C(0xf3)},
                {"s_orn2_saveexec_b64", ~UINT64_C(0x03)}};
    static struct machine m;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t word[3] = {0};
        machine_init(&m);
        isa_wave_set_pair(&m.wave, ISA_EXEC, 0x0f);
        isa_wave_set_pair(&m.wave, 4, 0xfc);
        encode_scalar(word, rows[i].name, 8, 4, 0);
        machine_run(&m, word);
        cr_expect_eq(isa_wave_pair(&m.wave, 8), 0x0f, "%s", rows[i].name);
        cr_expect_eq(isa_wave_exec(&m.wave), rows[i].expected, "%s: %llx", rows[i].name,
                     (unsigned long long)isa_wave_exec(&m.wave));
        cr_expect_eq(m.wave.scc, 1);
    }
}

Test(isa_salu, branches)
{
    static const struct {
        const char *name;
        bool scc;
        uint64_t vcc, exec;
        bool taken;
    } rows[] = {
        {"s_branch", 0, 0, 1, true},         {"s_cbranch_scc0", 0, 0, 1, true},
        {"s_cbranch_scc0", 1, 0, 1, false},  {"s_cbranch_scc1", 1, 0, 1, true},
        {"s_cbranch_vccz", 0, 0, 1, true},   {"s_cbranch_vccnz", 0, UINT64_C(1) << 63, 1, true},
        {"s_cbranch_execz", 0, 0, 0, true},  {"s_cbranch_execnz", 0, 0, UINT64_C(1) << 40, true},
        {"s_cbranch_execnz", 0, 0, 0, false}};
    static struct machine m;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t word[3] = {0};
        machine_init(&m);
        m.wave.pc = 0x1000;
        m.wave.scc = rows[i].scc;
        isa_wave_set_pair(&m.wave, ISA_VCC, rows[i].vcc);
        isa_wave_set_pair(&m.wave, ISA_EXEC, rows[i].exec);
        encode_scalar(word, rows[i].name, 0, 0xfffe, 0); /* -2 words */
        machine_run(&m, word);
        cr_expect_eq(m.wave.pc, rows[i].taken ? 0xffc : 0x1004, "%s", rows[i].name);
    }
}

Test(isa_salu, calls_and_returns)
{
    static struct machine m;
    uint32_t word[3] = {0};
    machine_init(&m);
    m.wave.pc = UINT64_C(0x700000001000);
    encode_scalar(word, "s_getpc_b64", 8, 0, 0);
    machine_run(&m, word);
    cr_expect_eq(isa_wave_pair(&m.wave, 8), UINT64_C(0x700000001004));
    isa_wave_set_pair(&m.wave, 4, UINT64_C(0x700000002000));
    encode_scalar(word, "s_swappc_b64", 30, 4, 0);
    machine_run(&m, word);
    cr_expect_eq(m.wave.pc, UINT64_C(0x700000002000));
    cr_expect_eq(isa_wave_pair(&m.wave, 30), UINT64_C(0x700000001008));
    encode_scalar(word, "s_setpc_b64", 0, 30, 0);
    machine_run(&m, word);
    cr_expect_eq(m.wave.pc, UINT64_C(0x700000001008));
}

Test(isa_salu, mode_register)
{
    static struct machine m;
    uint32_t word[3] = {0};
    machine_init(&m);
    encode_scalar(word, "s_setreg_imm32_b32", 0, 1 | 4 << 6 | 1 << 11, 0); /* MODE, bit 4, 2 bits */
    word[1] = 3;
    machine_run(&m, word);
    cr_expect_eq(m.wave.mode, ISA_MODE_DEFAULT | 0x30);
    encode_scalar(word, "s_getreg_b32", 8, 1 | 4 << 6 | 3 << 11, 0); /* 4 bits from bit 4 */
    machine_run(&m, word);
    cr_expect_eq(m.wave.sgpr[8], 0xf);
}

Test(isa_salu, control_instructions_carry_flags)
{
    static const struct {
        const char *name;
        uint16_t imm;
        uint32_t flag;
    } rows[] = {{"s_endpgm", 0, ISA_IS_ENDPGM},        {"s_barrier", 0, ISA_IS_BARRIER},
                {"s_waitcnt", 0x0f72, ISA_IS_WAITCNT}, {"s_sleep", 7, ISA_IS_SLEEP},
                {"s_setprio", 2, ISA_IS_SETPRIO},      {"s_trap", 2, ISA_IS_TRAP},
                {"s_sendmsg", 1, ISA_IS_SENDMSG}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t word[3] = {0};
        struct isa_inst inst;
        encode_scalar(word, rows[i].name, 0, rows[i].imm, 0);
        cr_assert_eq(isa_decode(ISA_GFX803, word, 12, &inst), 4);
        cr_expect(inst.flags & rows[i].flag, "%s", rows[i].name);
        cr_expect_eq(inst.unit, ISA_UNIT_SPECIAL);
        cr_expect_eq(inst.simm, rows[i].imm);
        if (rows[i].flag == ISA_IS_WAITCNT) {
            cr_expect_eq(inst.wait_vm, 2);
            cr_expect_eq(inst.wait_lgkm, ISA_WAIT_NONE);
            cr_expect_eq(inst.wait_exp, ISA_WAIT_NONE);
        }
    }
}

Test(isa_salu, trap_is_reported)
{
    static struct machine m;
    uint32_t word[3] = {0};
    machine_init(&m);
    encode_scalar(word, "s_trap", 0, 2, 0);
    cr_expect_eq(machine_run(&m, word), ISA_TRAPPED);
    cr_expect_eq(m.wave.trapped, 3);
    cr_expect_eq(m.wave.pc, 4);
}

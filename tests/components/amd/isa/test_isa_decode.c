/* The decoder on every row of the tables, on truncated input and on nonsense.
 * (The text of decoded instructions is compared with llvm-mc's in test_isa_oracle.c.) */
#include "base/splitmix64.h"

#include "machine.h"

/* The words of an encoding whose fields are all legal: registers 0 and up, no modifiers. */
static const struct plain {
    uint32_t first, second;
    unsigned shift; /* of the opcode in the first word */
    unsigned words;
} plain[] = {
    [ISA_SOP2] = {0x80000000u, 0, 23, 1},
    [ISA_SOPK] = {0xb0000000u, 0, 23, 1},
    [ISA_SOP1] = {0xbe800000u, 0, 8, 1},
    [ISA_SOPC] = {0xbf000000u, 0, 16, 1},
    [ISA_SOPP] = {0xbf800000u, 0, 16, 1},
    [ISA_SMEM] = {0xc0000000u | 1 << 17, 0, 18, 2},
    [ISA_VOP2] = {V0, 0, 25, 1},
    [ISA_VOP1] = {0x7e000000u | V0, 0, 9, 1},
    [ISA_VOPC] = {0x7c000000u | V0, 0, 17, 1},
    [ISA_VOP3] = {0xd0000000u, V0 | V0 << 9 | V0 << 18, 16, 2},
    [ISA_VOP3P] = {0xd3804000u, V0 | V0 << 9 | V0 << 18 | 3u << 27, 16, 2},
    [ISA_DS] = {0xd8000000u, 0, 17, 2},
    [ISA_MUBUF] = {0xe0000000u, 128u << 24, 18, 2},
    [ISA_MTBUF] = {0xe8000000u, 128u << 24, 15, 2},
    [ISA_FLAT] = {0xdc000000u, 0, 18, 2},
    [ISA_GLOBAL] = {0xdc008000u, 0x7f << 16, 18, 2},
    [ISA_SCRATCH] = {0xdc004000u, 0x7f << 16, 18, 2},
};

/* Encodes the row. Returns the words; 0 for none. */
static unsigned plain_encoding(const struct isa_row *row, enum isa_target target, uint32_t word[3])
{
    unsigned opcode = (unsigned)row->opcode[target];
    memset(word, 0, 12);
    if ((size_t)row->format >= sizeof plain / sizeof plain[0])
        return 0;
    const struct plain *p = &plain[row->format];
    word[0] = p->first | opcode << p->shift;
    word[1] = p->second;
    if (!strcmp(row->mnemonic, "v_readlane_b32"))
        word[1] = V0;
    if (!strcmp(row->mnemonic, "v_writelane_b32"))
        word[1] = 0;
    bool has_literal = (row->format == ISA_SOPK && opcode == 0x14)
                       || (row->format == ISA_VOP2
                           && (strstr(row->mnemonic, "v_mad") || strstr(row->mnemonic, "v_fmamk")
                               || strstr(row->mnemonic, "v_fmaak")));
    return p->words + has_literal;
}

Test(isa_decode, every_row_of_the_tables_is_found_again)
{
    for (unsigned target = 0; target < ISA_TARGET_COUNT; target++) {
        for (size_t i = 0; i < isa_row_count(); i++) {
            struct isa_row row = isa_row(i);
            uint32_t word[3];
            struct isa_inst inst;
            if (row.opcode[target] < 0)
                continue;
            unsigned words = plain_encoding(&row, (enum isa_target)target, word);
            cr_assert_gt(words, 0, "%s", row.mnemonic);
            int size = isa_decode((enum isa_target)target, word, 12, &inst);
            cr_assert(size > 0 || size == ISA_ERROR_UNIMPLEMENTED, "%s: %d", row.mnemonic, size);
            cr_expect_str_eq(isa_mnemonic(&inst), row.mnemonic);
            cr_expect_eq(inst.size, words * 4, "%s is %u bytes", row.mnemonic, inst.size);
            cr_expect_eq(inst.unit, row.unit, "%s", row.mnemonic);
            cr_expect_eq(inst.timing, row.timing, "%s", row.mnemonic);
            cr_expect_eq(size == ISA_ERROR_UNIMPLEMENTED, !row.is_implemented, "%s", row.mnemonic);
            cr_expect_eq(isa_decode((enum isa_target)target, word, words * 4 - 1, &inst),
                         ISA_ERROR_TRUNCATED, "%s", row.mnemonic);
        }
    }
}

Test(isa_decode, no_two_rows_share_an_encoding)
{
    size_t count = isa_row_count();
    for (unsigned target = 0; target < ISA_TARGET_COUNT; target++) {
        for (size_t i = 0; i < count; i++) {
            struct isa_row a = isa_row(i);
            for (size_t j = i + 1; j < count && a.opcode[target] >= 0; j++) {
                struct isa_row b = isa_row(j);
                cr_assert(a.format != b.format || a.opcode[target] != b.opcode[target], "%s and %s",
                          a.mnemonic, b.mnemonic);
            }
        }
    }
}

Test(isa_decode, nonsense_is_invalid_and_zeroed)
{
    static const uint32_t words[] = {0xffffffff,
                                     0xbf000000u | 127 << 16,
                                     0xbe80ff00,
                                     0x7e000000u | 0xff << 9,
                                     0xf4000000,
                                     0x7e000200u | 209 /* reserved source */,
                                     0xd0000000u | 0x3ff << 16,
                                     0xc0000000u | 0xff << 18};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        uint32_t word[3] = {words[i], 0, 0};
        struct isa_inst inst, zero;
        memset(&zero, 0, sizeof zero);
        cr_expect_eq(isa_decode(ISA_GFX803, word, 12, &inst), ISA_ERROR_INVALID, "%08x", words[i]);
        cr_expect_eq(memcmp(&inst, &zero, sizeof inst), 0);
    }
}

Test(isa_decode, random_words_never_escape_their_bounds)
{
    uint64_t state = 12345;
    for (unsigned i = 0; i < 2000000; i++) {
        uint32_t word[3];
        for (unsigned j = 0; j < 3; j++)
            word[j] = (uint32_t)(splitmix64(&state) >> 32);
        struct isa_inst inst;
        char text[ISA_TEXT_MAX];
        int size = isa_decode(i & 1 ? ISA_GFX803 : ISA_GFX906, word, 12, &inst);
        if (size < 0 && size != ISA_ERROR_UNIMPLEMENTED)
            continue;
        cr_assert(inst.size == 4 || inst.size == 8 || inst.size == 12);
        cr_assert_leq(inst.vgprs, 256);
        cr_assert_lt(isa_format(&inst, 0, text, sizeof text), sizeof text);
    }
}

Test(isa_decode, targets_by_name)
{
    enum isa_target target;
    cr_expect_eq(isa_target_by_name("gfx803", &target), 0);
    cr_expect_eq(target, ISA_GFX803);
    cr_expect_eq(isa_target_by_name("gfx906:sramecc+:xnack-", &target), 0);
    cr_expect_eq(target, ISA_GFX906);
    cr_expect_eq(isa_target_by_name("gfx80", &target), -1);
    cr_expect_eq(isa_target_by_name("gfx8033", &target), -1);
}

Test(isa_decode, flags_of_operands)
{
    uint32_t word[3] = {0};
    struct isa_inst inst;
    encode_scalar(word, "s_mov_b64", ISA_EXEC, ISA_VCC, 0);
    isa_decode(ISA_GFX803, word, 12, &inst);
    cr_expect(inst.flags & ISA_WRITES_EXEC);
    cr_expect(inst.flags & ISA_READS_VCC);
    encode_vop(word, "v_cmp_lt_f32", 0, V0, 1);
    isa_decode(ISA_GFX803, word, 12, &inst);
    cr_expect(inst.flags & ISA_WRITES_VCC);
    encode_vop3(word, "v_add_f64", 250, V0 + 4, V0 + 6, 0);
    isa_decode(ISA_GFX803, word, 12, &inst);
    cr_expect_eq(inst.vgprs, 252);
    encode_flat(word, "flat_store_dwordx4", 0, 2, 9, false);
    isa_decode(ISA_GFX803, word, 12, &inst);
    cr_expect_eq(inst.vgprs, 13);
    cr_expect(inst.flags & ISA_IS_STORE);
}

/* gfx9's sub-dword forms may name an SGPR as the second source; the words are llvm-mc's. */
Test(isa_decode, scalar_sources_of_sub_dword_forms_are_no_vgprs)
{
    static const struct {
        uint32_t word[2];
        uint16_t source;
        unsigned vgprs, sgprs;
    } cases[] = {
        /* v_mul_i32_i24_sdwa v20, sext(v4), s30 src0_sel:WORD_0 */
        {{0x0c283cf9, 0x860c0604}, 30, 21, 31},
        /* v_cmp_lt_u32_sdwa vcc, v4, s90 src0_sel:WORD_0 */
        {{0x7d92b4f9, 0x86040004}, 90, 5, 91},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct isa_inst inst;
        cr_assert_eq(isa_decode(ISA_GFX906, cases[i].word, 8, &inst), 8);
        cr_expect_eq(inst.src[1], cases[i].source);
        cr_expect_eq(inst.vgprs, cases[i].vgprs, "case %zu: %u VGPRs", i, inst.vgprs);
        cr_expect_eq(inst.sgprs, cases[i].sgprs, "case %zu: %u SGPRs", i, inst.sgprs);
    }
}

/* What LLVM 19 prints, for where it is not installed: each line is a kind of operand or field that
 * was once wrong or that only newer targets have. */
static const struct {
    enum isa_target target;
    uint32_t word[2];
    const char *text; /* NULL: no instruction */
} printed[] = {
    {ISA_GFX906, {0xc0027467, 0x3c3a3a54}, "s_load_dword s81, s[78:79], s30 offset:-0x5c5ac"},
    {ISA_GFX906,
     {0xd3a30080, 0x40000010},
     "v_dot2_f32_f16 v128, s16, s0, s0 op_sel_hi:[0,0,0] neg_lo:[0,1,0]"},
    {ISA_GFX906,
     {0x7e4002f9, 0x004903ef},
     "v_mov_b32_sdwa v32, sext(v239) dst_sel:BYTE_3 dst_unused:UNUSED_PAD src0_sel:BYTE_1"},
    {ISA_GFX906, {0x660000ff, 0x00003800}, "v_ldexp_f16_e32 v0, 0.5, v0"},
    {ISA_GFX906, {0xd28000ff, 0x02020200}, NULL}, /* v[255:256] */
    {ISA_GFX906, {0x00000000, 0x00000000}, "v_cndmask_b32_e32 v0, s0, v0, vcc"},
    {ISA_GFX900, {0xd3a00000, 0x1c0a0501}, "v_mad_mix_f32 v0, v1, v2, v2 op_sel_hi:[1,1,0]"},
    {ISA_GFX908, {0xd3d94003, 0x18000105}, "v_accvgpr_write_b32 a3, v5"},
    {ISA_GFX90A,
     {0xd3c80a03, 0xbc060304},
     "v_mfma_f32_32x32x4f16 v[3:34], a[4:5], a[1:2], v[1:32] cbsz:2 abid:1 blgp:5"},
    {ISA_GFX90A, {0xd8da0000, 0x02000000}, "ds_wrxchg_rtn_b64 v[2:3], v0, v[0:1]"},
    {ISA_GFX942, {0xde508000, 0x84ff0002}, "global_load_dword a132, v[2:3], off sc1"},
    {ISA_GFX942, {0xdc506010, 0x00040000}, "scratch_load_dword v0, v0, s4 offset:16"},
    {ISA_GFX942,
     {0xd3ee0000, 0xa4020500},
     "v_mfma_f64_16x16x4_f64 v[0:7], v[0:1], v[2:3], v[0:7] neg:[1,0,1]"},
    {ISA_GFX942,
     {0x7e0070fa, 0xff015502},
     "v_mov_b64_dpp v[0:1], v[2:3] row_newbcast:5 row_mask:0xf bank_mask:0xf"},
    {ISA_GFX942, {0x7e00a8f9, 0x00050602}, "v_cvt_f32_fp8_sdwa v0, v2 src0_sel:WORD_1"},
};

Test(isa_decode, prints_what_llvm_prints)
{
    for (size_t i = 0; i < sizeof printed / sizeof *printed; i++) {
        uint32_t word[3] = {printed[i].word[0], printed[i].word[1], 0};
        struct isa_inst inst;
        char text[ISA_TEXT_MAX];
        int size = isa_decode(printed[i].target, word, 12, &inst);
        cr_expect_eq(size > 0 || size == ISA_ERROR_UNIMPLEMENTED, printed[i].text != NULL, "%08x",
                     word[0]);
        isa_format(&inst, UINT64_MAX, text, sizeof text);
        if (printed[i].text)
            cr_expect_str_eq(text, printed[i].text);
    }
}

/* Vector ALU semantics against values worked out by hand and against host arithmetic written here.
 */
#include <fenv.h>
#include <math.h>

#include "machine.h"

#define F(x) float_bits(x)
#define D(x) double_bits(x)

static uint32_t float_bits(float x)
{
    uint32_t u;
    memcpy(&u, &x, 4);
    return u;
}
static float bits_float(uint32_t u)
{
    float x;
    memcpy(&x, &u, 4);
    return x;
}
static uint64_t double_bits(double x)
{
    uint64_t u;
    memcpy(&u, &x, 8);
    return u;
}
static double bits_double(uint64_t u)
{
    double x;
    memcpy(&x, &u, 8);
    return x;
}

enum {
    INF = 0x7f800000,
    NEG_INF = 0xff800000u,
    QNAN = 0x7fc00000,
    SNAN_PAYLOAD = 0x7f812345,
    ONE = 0x3f800000,
    TWO = 0x40000000,
    HALF = 0x3f000000,
    DENORMAL = 0x00000123,
    NEG_ZERO = 0x80000000u
};

/* ---- 32-bit results of up to three 32-bit sources ---- */

struct case32 {
    const char *name;
    uint32_t a, b, c, expected;
};

static const struct case32 cases32[] = {
    {"v_mov_b32", 0xdeadbeef, 0, 0, 0xdeadbeef},
    {"v_not_b32", 0x0f0f0f0f, 0, 0, 0xf0f0f0f0},
    {"v_bfrev_b32", 0x00000001, 0, 0, 0x80000000},
    {"v_bfrev_b32", 0x12345678, 0, 0, 0x1e6a2c48},
    {"v_ffbh_u32", 0x00008000, 0, 0, 16},
    {"v_ffbh_u32", 0, 0, 0, 0xffffffff},
    {"v_ffbh_u32", 0xffffffff, 0, 0, 0},
    {"v_ffbl_b32", 0x00008000, 0, 0, 15},
    {"v_ffbl_b32", 0, 0, 0, 0xffffffff},
    {"v_ffbh_i32", 0xffff0000, 0, 0, 16},
    {"v_ffbh_i32", 0x00000000, 0, 0, 0xffffffff},
    {"v_ffbh_i32", 0xffffffff, 0, 0, 0xffffffff},
    {"v_bcnt_u32_b32", 0xf0f0f0f1, 100, 0, 117},
    /* float arithmetic: ordinary, infinities, NaN choice, denormals flushed on both sides */
    {"v_add_f32", ONE, TWO, 0, 0x40400000},
    {"v_add_f32", INF, NEG_INF, 0, QNAN},
    {"v_add_f32", SNAN_PAYLOAD, ONE, 0, 0x7fc12345},
    {"v_add_f32", ONE, 0xffc00055, 0, 0xffc00055},
    {"v_add_f32", DENORMAL, 0, 0, 0},
    {"v_add_f32", 0x80000123, 0x80000000, 0, NEG_ZERO},
    {"v_add_f32", 0x00800001, 0x80800000, 0, 0},
    {"v_sub_f32", ONE, TWO, 0, 0xbf800000},
    {"v_subrev_f32", ONE, TWO, 0, ONE},
    {"v_mul_f32", 0x7f000000, 0x7f000000, 0, INF},
    {"v_mul_f32", 0x00800000, 0x3f000000, 0, 0},
    {"v_mul_f32", 0, INF, 0, QNAN},
    {"v_mul_legacy_f32", 0, INF, 0, 0},
    {"v_min_f32", NEG_ZERO, 0, 0, NEG_ZERO},
    {"v_min_f32", 0, NEG_ZERO, 0, NEG_ZERO},
    {"v_max_f32", NEG_ZERO, 0, 0, 0},
    {"v_max_f32", 0, NEG_ZERO, 0, 0},
    {"v_min_f32", QNAN, ONE, 0, ONE},
    {"v_max_f32", ONE, QNAN, 0, ONE},
    {"v_max_f32", QNAN, QNAN, 0, QNAN},
    {"v_min3_f32", ONE, TWO, HALF, HALF},
    {"v_max3_f32", ONE, TWO, HALF, TWO},
    {"v_med3_f32", ONE, TWO, HALF, ONE},
    {"v_med3_f32", TWO, HALF, ONE, ONE},
    {"v_med3_f32", QNAN, HALF, ONE, HALF},
    {"v_fma_f32", 0x3f800001, 0x3f800001, 0xbf800002, 0x28800000},
    {"v_mad_f32", 0x3f800001, 0x3f800001, 0xbf800002, 0},
    {"v_fract_f32", 0xbf400000, 0, 0, 0x3e800000},
    {"v_fract_f32", 0xb3000000, 0, 0, 0x3f7fffff},
    {"v_floor_f32", 0xbfc00000, 0, 0, 0xc0000000},
    {"v_ceil_f32", 0xbfc00000, 0, 0, 0xbf800000},
    {"v_trunc_f32", 0xbfc00000, 0, 0, 0xbf800000},
    {"v_rndne_f32", 0x40200000, 0, 0, 0x40000000},
    {"v_rndne_f32", 0x40600000, 0, 0, 0x40800000},
    {"v_rcp_f32", TWO, 0, 0, HALF},
    {"v_rcp_f32", 0, 0, 0, INF},
    {"v_rcp_f32", NEG_ZERO, 0, 0, NEG_INF},
    {"v_rcp_f32", DENORMAL, 0, 0, INF},
    {"v_rcp_f32", 0x7f000000, 0, 0, 0},
    {"v_rsq_f32", 0x40800000, 0, 0, HALF},
    {"v_rsq_f32", 0, 0, 0, INF},
    {"v_rsq_f32", 0xbf800000, 0, 0, QNAN},
    {"v_sqrt_f32", 0x40800000, 0, 0, TWO},
    {"v_sqrt_f32", 0xbf800000, 0, 0, QNAN},
    {"v_exp_f32", 0x40400000, 0, 0, 0x41000000},
    {"v_exp_f32", 0x43000000, 0, 0, INF},
    {"v_exp_f32", 0xc3000000, 0, 0, 0},
    {"v_exp_f32", NEG_INF, 0, 0, 0},
    {"v_log_f32", 0x41000000, 0, 0, 0x40400000},
    {"v_log_f32", 0, 0, 0, NEG_INF},
    {"v_log_f32", 0xbf800000, 0, 0, QNAN},
    {"v_log_f32", INF, 0, 0, INF},
    {"v_sin_f32", 0x3e800000, 0, 0, ONE},
    {"v_sin_f32", NEG_ZERO, 0, 0, NEG_ZERO},
    {"v_sin_f32", INF, 0, 0, QNAN},
    {"v_cos_f32", 0, 0, 0, ONE},
    {"v_cos_f32", HALF, 0, 0, 0xbf800000},
    {"v_frexp_exp_i32_f32", 0x41000000, 0, 0, 4},
    {"v_frexp_exp_i32_f32", 0, 0, 0, 0},
    {"v_frexp_exp_i32_f32", INF, 0, 0, 0},
    {"v_frexp_mant_f32", 0x41400000, 0, 0, 0x3f400000},
    {"v_ldexp_f32", ONE, 10, 0, 0x44800000},
    {"v_ldexp_f32", ONE, 0xffffff00, 0, 0},
    {"v_ldexp_f32", ONE, 0x7fffffff, 0, INF},
    /* conversions */
    {"v_cvt_f32_i32", 0xffffffff, 0, 0, 0xbf800000},
    {"v_cvt_f32_u32", 0xffffffff, 0, 0, 0x4f800000},
    {"v_cvt_f32_u32", 0x01000001, 0, 0, 0x4b800000},
    {"v_cvt_i32_f32", 0xcf000000, 0, 0, 0x80000000},
    {"v_cvt_i32_f32", 0x4f000000, 0, 0, 0x7fffffff},
    {"v_cvt_i32_f32", QNAN, 0, 0, 0},
    {"v_cvt_i32_f32", 0xbfe00000, 0, 0, 0xffffffff},
    {"v_cvt_u32_f32", 0xbf800000, 0, 0, 0},
    {"v_cvt_u32_f32", 0x4f800000, 0, 0, 0xffffffff},
    {"v_cvt_u32_f32", 0x4f7fffff, 0, 0, 0xffffff00},
    {"v_cvt_u32_f32", INF, 0, 0, 0xffffffff},
    {"v_cvt_rpi_i32_f32", 0x40200000, 0, 0, 3},
    {"v_cvt_flr_i32_f32", 0xbf000000, 0, 0, 0xffffffff},
    {"v_cvt_off_f32_i4", 0x00000008, 0, 0, 0xbf000000},
    {"v_cvt_off_f32_i4", 0x00000007, 0, 0, 0x3ee00000},
    {"v_cvt_f32_ubyte0", 0x44332211, 0, 0, 0x41880000},
    {"v_cvt_f32_ubyte3", 0xff332211, 0, 0, 0x437f0000},
    {"v_cvt_f16_f32", ONE, 0, 0, 0x3c00},
    {"v_cvt_f16_f32", 0x477ff000, 0, 0, 0x7c00},
    {"v_cvt_f16_f32", 0x477fefff, 0, 0, 0x7bff},
    {"v_cvt_f16_f32", 0x33000001, 0, 0, 0x0001},
    {"v_cvt_f16_f32", 0x33000000, 0, 0, 0x0000},
    {"v_cvt_f16_f32", 0xff800000, 0, 0, 0xfc00},
    {"v_cvt_f32_f16", 0x00000001, 0, 0, 0x33800000},
    {"v_cvt_f32_f16", 0x0000fc00, 0, 0, 0xff800000},
    {"v_cvt_f32_f16", 0x000003ff, 0, 0, 0x387fc000},
    {"v_cvt_pkrtz_f16_f32", 0x3f801fff, 0xbf801fff, 0, 0xbc003c00},
    {"v_cvt_pkrtz_f16_f32", 0x47800000, INF, 0, 0x7c007bff},
    {"v_cvt_pknorm_i16_f32", ONE, 0xbf800000, 0, 0x80017fff},
    {"v_cvt_pknorm_u16_f32", ONE, 0xbf800000, 0, 0x0000ffff},
    {"v_cvt_pk_u16_u32", 0x12345, 0x1234, 0, 0x1234ffff},
    {"v_cvt_pk_i16_i32", 0x12345, 0xfffe0000, 0, 0x80007fff},
    {"v_cvt_pk_u8_f32", 0x43008000, 2, 0x11223344, 0x11803344},
    {"v_cvt_f16_u16", 0x0001ffff, 0, 0, 0x7c00},
    {"v_cvt_f16_i16", 0x0000ffff, 0, 0, 0xbc00},
    {"v_cvt_u16_f16", 0xbc00, 0, 0, 0},
    {"v_cvt_i16_f16", 0xc500, 0, 0, 0xfffb},
    /* integers */
    {"v_mul_i32_i24", 0x00ffffff, 0x01000005, 0, 0xfffffffb},
    {"v_mul_hi_i32_i24", 0x00800000, 0x00800000, 0, 0x00004000},
    {"v_mul_u32_u24", 0xff000003, 0xff000005, 0, 15},
    {"v_mul_hi_u32_u24", 0x00ffffff, 0x00ffffff, 0, 0x0000ffff},
    {"v_mad_i32_i24", 0x00ffffff, 5, 7, 2},
    {"v_mad_u32_u24", 0x01000003, 5, 0xffffffff, 14},
    {"v_min_i32", 0xffffffff, 1, 0, 0xffffffff},
    {"v_max_i32", 0xffffffff, 1, 0, 1},
    {"v_min_u32", 0xffffffff, 1, 0, 1},
    {"v_max_u32", 0xffffffff, 1, 0, 0xffffffff},
    {"v_lshrrev_b32", 36, 0x80000000, 0, 0x08000000},
    {"v_ashrrev_i32", 36, 0x80000000, 0, 0xf8000000},
    {"v_lshlrev_b32", 36, 0x00000001, 0, 0x00000010},
    {"v_and_b32", 0xff00ff00, 0x0ff00ff0, 0, 0x0f000f00},
    {"v_or_b32", 0xff00ff00, 0x0ff00ff0, 0, 0xfff0fff0},
    {"v_xor_b32", 0xff00ff00, 0x0ff00ff0, 0, 0xf0f0f0f0},
    {"v_mul_lo_u32", 0x12345678, 0x9abcdef0, 0, 0x242d2080},
    {"v_mul_hi_u32", 0xffffffff, 0xffffffff, 0, 0xfffffffe},
    {"v_mul_hi_i32", 0xffffffff, 0xffffffff, 0, 0},
    {"v_mul_hi_i32", 0x80000000, 0x80000000, 0, 0x40000000},
    {"v_bfe_u32", 0x12345678, 8, 12, 0x456},
    {"v_bfe_u32", 0x12345678, 8, 0, 0},
    {"v_bfe_i32", 0x00000f80, 7, 5, 0xffffffff},
    {"v_bfe_i32", 0x80000000, 28, 8, 0xfffffff8},
    {"v_bfi_b32", 0xffff0000, 0x12345678, 0x9abcdef0, 0x1234def0},
    {"v_bfm_b32", 8, 4, 0, 0xff0},
    {"v_alignbit_b32", 0x12345678, 0x9abcdef0, 8, 0x789abcde},
    {"v_alignbit_b32", 0x12345678, 0x9abcdef0, 32, 0x9abcdef0},
    {"v_alignbyte_b32", 0x12345678, 0x9abcdef0, 3, 0x3456789a},
    {"v_perm_b32", 0x44332211, 0x88776655, 0x0c040003, 0x00115588},
    {"v_perm_b32", 0x80332211, 0x08776655, 0x0d0b0908, 0xffff0000},
    {"v_min3_i32", 5, 0xfffffff0, 7, 0xfffffff0},
    {"v_max3_u32", 5, 0xfffffff0, 7, 0xfffffff0},
    {"v_med3_i32", 5, 0xfffffff0, 7, 5},
    {"v_med3_u32", 5, 0xfffffff0, 7, 7},
    {"v_sad_u8", 0x01ff0305, 0x02000104, 10, 269},
    {"v_sad_hi_u8", 0x00000005, 0x00000003, 1, 0x00020001},
    {"v_sad_u16", 0x00050003, 0x00010007, 1, 9},
    {"v_sad_u32", 3, 10, 5, 12},
    {"v_msad_u8", 0x10203040, 0x00213041, 3, 5},
    {"v_lerp_u8", 0x01030507, 0x01020304, 0x01010101, 0x01030406},
    {"v_cndmask_b32", 0, 0, 0, 0},
    /* 16 bits: the upper half of the result is zero */
    {"v_add_u16", 0x1234ffff, 0x00000002, 0, 1},
    {"v_sub_u16", 0, 1, 0, 0xffff},
    {"v_mul_lo_u16", 0xffff, 0xffff, 0, 1},
    {"v_lshlrev_b16", 20, 0x0fff, 0, 0xfff0},
    {"v_lshrrev_b16", 4, 0xffff8000, 0, 0x0800},
    {"v_ashrrev_i16", 4, 0x00008000, 0, 0xf800},
    {"v_max_i16", 0x8000, 1, 0, 1},
    {"v_max_u16", 0x8000, 1, 0, 0x8000},
    {"v_min_i16", 0x8000, 1, 0, 0x8000},
    {"v_mad_u16", 0xffff, 0xffff, 0xffff, 0},
    {"v_mad_i16", 0xffff, 5, 3, 0xfffe},
    {"v_add_f16", 0x3c00, 0x4000, 0, 0x4200},
    {"v_add_f16", 0x0001, 0x0001, 0, 0x0002},
    {"v_mul_f16", 0x7bff, 0x7bff, 0, 0x7c00},
    {"v_mul_f16", 0x0400, 0x3800, 0, 0x0200},
    {"v_fma_f16", 0x3c01, 0x3c01, 0xbc02, 0x0010},
    {"v_mad_f16", 0x3c01, 0x3c01, 0xbc02, 0x0000},
    {"v_rcp_f16", 0x4000, 0, 0, 0x3800},
    {"v_ldexp_f16", 0x3c00, 3, 0, 0x4800},
    {"v_max_f16", 0x7e00, 0x3c00, 0, 0x3c00},
    {"v_fract_f16", 0xb400, 0, 0, 0x3a00},
    {"v_floor_f16", 0xb400, 0, 0, 0xbc00},
    {"v_frexp_mant_f16", 0x4600, 0, 0, 0x3a00},
    {"v_frexp_exp_i16_f16", 0x4600, 0, 0, 3},
    {"v_cvt_f16_f32", 0x7fc12345, 0, 0, 0x7e09},
    /* division: the helpers' special cases */
    {"v_div_fixup_f32", ONE, 0, 0, 0xffc00000},
    {"v_div_fixup_f32", QNAN, 0x80800000, ONE, NEG_INF},
    {"v_div_fixup_f32", ONE, 0, 0xbf800000, NEG_INF},
    {"v_div_fixup_f32", ONE, INF, 0xbf800000, NEG_ZERO},
    {"v_div_fixup_f32", 0xbf800000, TWO, TWO, ONE},
    {"v_div_fmas_f32", TWO, TWO, ONE, 0x40a00000},
};

Test(isa_valu, fixed_32_bit_cases)
{
    static struct machine m;
    for (size_t i = 0; i < sizeof cases32 / sizeof *cases32; i++) {
        const struct case32 *k = &cases32[i];
        uint32_t word[3] = {0};
        machine_init(&m);
        machine_set(&m, 1, k->a);
        machine_set(&m, 2, k->b);
        machine_set(&m, 3, k->c);
        machine_set(&m, 0, 0x55555555);
        isa_wave_set_pair(&m.wave, ISA_EXEC, UINT64_C(0x8000000000000001));
        bool mask = !strcmp(k->name, "v_cndmask_b32");
        encode_vop3(word, k->name, 0, V0 + 1, V0 + 2, mask ? ISA_VCC : V0 + 3);
        cr_assert_eq(machine_run(&m, word), ISA_OK, "%s", k->name);
        cr_expect_eq(m.vgpr[0], k->expected, "%s(%08x, %08x, %08x) = %08x, expected %08x", k->name,
                     k->a, k->b, k->c, m.vgpr[0], k->expected);
        cr_expect_eq(m.vgpr[63], k->expected, "%s lane 63", k->name);
        cr_expect_eq(m.vgpr[1], 0x55555555, "%s wrote an inactive lane", k->name);
    }
}

/* ---- 64-bit ---- */

enum { W_D = 1, W_A = 2, W_B = 4, W_C = 8 }; /* which operands are 64 bits wide */

struct case64 {
    const char *name;
    unsigned wide;
    uint64_t a, b, c, expected;
};

static const struct case64 cases64[] = {
    {"v_lshlrev_b64", W_D | W_B, 65, UINT64_C(0x8000000000000001), 0, 2},
    {"v_lshrrev_b64", W_D | W_B, 4, UINT64_C(0x8000000000000010), 0, UINT64_C(0x0800000000000001)},
    {"v_ashrrev_i64", W_D | W_B, 4, UINT64_C(0x8000000000000010), 0, UINT64_C(0xf800000000000001)},
    {"v_add_f64", W_D | W_A | W_B, 0x3ff0000000000000, 0x4000000000000000, 0, 0x4008000000000000},
    {"v_add_f64", W_D | W_A | W_B, 1, 1, 0, 2},
    {"v_add_f64", W_D | W_A | W_B, 0x7ff0000000000000, UINT64_C(0xfff0000000000000), 0,
     0x7ff8000000000000},
    {"v_mul_f64", W_D | W_A | W_B, 0x3ff8000000000000, 0x3ff8000000000000, 0, 0x4002000000000000},
    {"v_fma_f64", 15, 0x3ff0000000000001, 0x3ff0000000000001, UINT64_C(0xbff0000000000002),
     0x3970000000000000},
    {"v_min_f64", W_D | W_A | W_B, 0x7ff8000000000000, 0x3ff0000000000000, 0, 0x3ff0000000000000},
    {"v_max_f64", W_D | W_A | W_B, UINT64_C(0x8000000000000000), 0, 0, 0},
    {"v_ldexp_f64", W_D | W_A, 0x3ff0000000000000, 5, 0, 0x4040000000000000},
    {"v_ldexp_f64", W_D | W_A, 0x3ff0000000000000, 0xfffffbce, 0, 1},
    {"v_ldexp_f64", W_D | W_A, 1, 1074, 0, 0x3ff0000000000000},
    {"v_ldexp_f64", W_D | W_A, 0x3ff8000000000000, 0xfffffbcd, 0, 1},
    {"v_ldexp_f64", W_D | W_A, 0x3ff0000000000000, 0xfffffbcd, 0, 0},
    {"v_ldexp_f64", W_D | W_A, 0x3ff0000000000000, 0x7fffffff, 0, 0x7ff0000000000000},
    {"v_rcp_f64", W_D | W_A, 0x4010000000000000, 0, 0, 0x3fd0000000000000},
    {"v_rsq_f64", W_D | W_A, 0x4010000000000000, 0, 0, 0x3fe0000000000000},
    {"v_sqrt_f64", W_D | W_A, 0x4010000000000000, 0, 0, 0x4000000000000000},
    {"v_floor_f64", W_D | W_A, UINT64_C(0xbfe0000000000000), 0, 0, UINT64_C(0xbff0000000000000)},
    {"v_ceil_f64", W_D | W_A, 0x3fe0000000000000, 0, 0, 0x3ff0000000000000},
    {"v_trunc_f64", W_D | W_A, UINT64_C(0xbff8000000000000), 0, 0, UINT64_C(0xbff0000000000000)},
    {"v_rndne_f64", W_D | W_A, 0x4004000000000000, 0, 0, 0x4000000000000000},
    {"v_fract_f64", W_D | W_A, UINT64_C(0xbfd0000000000000), 0, 0, 0x3fe8000000000000},
    {"v_frexp_mant_f64", W_D | W_A, 0x4018000000000000, 0, 0, 0x3fe8000000000000},
    {"v_frexp_exp_i32_f64", W_A, 0x4018000000000000, 0, 0, 3},
    {"v_frexp_exp_i32_f64", W_A, 1, 0, 0, 0xfffffbcf},
    {"v_cvt_f64_i32", W_D, 0xffffffff, 0, 0, UINT64_C(0xbff0000000000000)},
    {"v_cvt_f64_u32", W_D, 0xffffffff, 0, 0, 0x41efffffffe00000},
    {"v_cvt_f64_f32", W_D, ONE, 0, 0, 0x3ff0000000000000},
    {"v_cvt_f32_f64", W_A, 0x3ff0000010000000, 0, 0, ONE},
    {"v_cvt_f32_f64", W_A, 0x3ff0000030000000, 0, 0, 0x3f800002},
    {"v_cvt_i32_f64", W_A, UINT64_C(0xc1e0000000100000), 0, 0, 0x80000000},
    {"v_cvt_u32_f64", W_A, 0x41efffffffffffff, 0, 0, 0xffffffff},
    {"v_cvt_u32_f64", W_A, 0x7ff8000000000000, 0, 0, 0},
    {"v_mad_u64_u32", W_D | W_C, 0xffffffff, 0xffffffff, 0xffffffff, UINT64_C(0xffffffff00000000)},
    {"v_mad_i64_i32", W_D | W_C, 0xffffffff, 5, 2, UINT64_C(0xfffffffffffffffd)},
    {"v_trig_preop_f64", W_D | W_A, 0x3ff0000000000000, 0, 0, 0x3fe45f306dc9c882},
    {"v_div_fixup_f64", 15, 0x3ff0000000000000, 0, UINT64_C(0xbff0000000000000),
     UINT64_C(0xfff0000000000000)},
    {"v_qsad_pk_u16_u8", W_D | W_A | W_C, UINT64_C(0x0000000004030201), 0x04030201,
     UINT64_C(0x0001000100010001), UINT64_C(0x000d000c00080001)},
};

static void set_operand(struct machine *m, unsigned reg, uint64_t value, bool wide)
{
    if (wide)
        machine_set64(m, reg, value);
    else
        machine_set(m, reg, (uint32_t)value);
}

Test(isa_valu, fixed_64_bit_cases)
{
    static struct machine m;
    for (size_t i = 0; i < sizeof cases64 / sizeof *cases64; i++) {
        const struct case64 *k = &cases64[i];
        uint32_t word[3] = {0};
        machine_init(&m);
        set_operand(&m, 2, k->a, k->wide & W_A);
        set_operand(&m, 4, k->b, k->wide & W_B);
        set_operand(&m, 6, k->c, k->wide & W_C);
        encode_vop3(word, k->name, 8, V0 + 2, V0 + 4, V0 + 6);
        if (!strncmp(k->name, "v_mad_", 6))
            word[0] |= 20 << 8; /* the carry goes to s[20:21] */
        cr_assert_eq(machine_run(&m, word), ISA_OK, "%s", k->name);
        uint64_t got = k->wide & W_D ? machine_get64(&m, 8, 17) : m.vgpr[8 * 64 + 17];
        cr_expect_eq(got, k->expected, "%s(%llx, %llx, %llx) = %llx, expected %llx", k->name,
                     (unsigned long long)k->a, (unsigned long long)k->b, (unsigned long long)k->c,
                     (unsigned long long)got, (unsigned long long)k->expected);
    }
}

/* ---- random sources against the host's arithmetic ---- */

static uint64_t random_state = 88172645463325252u;

static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* Bits that make interesting floats: anything, or with the exponent near the ends or near 1. */
static uint32_t random_word(void)
{
    uint64_t r = next_random();
    uint32_t word = (uint32_t)(r >> 32);
    switch (r & 7) {
    case 0:
        return (word & 0x807fffff) | 0x7f000000;
    case 1:
        return (word & 0x80ffffff) | 0x00400000;
    case 2:
    case 3:
    case 4:
        return (word & 0x83ffffff) | 0x3c000000;
    default:
        return word;
    }
}

static float flushed(uint32_t u)
{
    return bits_float((u & 0x7f800000) ? u : u & 0x80000000);
}
static uint32_t stored(float x)
{
    uint32_t u = float_bits(x);
    return u & 0x7f800000 ? u : u & 0x80000000;
}

static uint32_t host_add(uint32_t a, uint32_t b, uint32_t c)
{
    (void)c;
    return stored(flushed(a) + flushed(b));
}
static uint32_t host_mul(uint32_t a, uint32_t b, uint32_t c)
{
    (void)c;
    return stored(flushed(a) * flushed(b));
}
static uint32_t host_fma(uint32_t a, uint32_t b, uint32_t c)
{
    return stored(fmaf(flushed(a), flushed(b), flushed(c)));
}
static uint32_t host_mad(uint32_t a, uint32_t b, uint32_t c)
{
    volatile float product = flushed(a) * flushed(b);
    return stored(flushed(stored(product)) + flushed(c));
}
static uint32_t host_rcp(uint32_t a, uint32_t b, uint32_t c)
{
    (void)b, (void)c;
    return stored((float)(1.0L / (long double)flushed(a)));
}
static uint32_t host_sqrt(uint32_t a, uint32_t b, uint32_t c)
{
    (void)b, (void)c;
    return stored(sqrtf(flushed(a)));
}
static uint32_t host_floor(uint32_t a, uint32_t b, uint32_t c)
{
    (void)b, (void)c;
    return stored(floorf(flushed(a)));
}
static uint32_t host_rndne(uint32_t a, uint32_t b, uint32_t c)
{
    (void)b, (void)c;
    return stored(nearbyintf(flushed(a)));
}
static uint32_t host_ldexp(uint32_t a, uint32_t b, uint32_t c)
{
    (void)c;
    return stored(ldexpf(flushed(a), (int)b));
}
static uint32_t host_mul_hi(uint32_t a, uint32_t b, uint32_t c)
{
    (void)c;
    return (uint32_t)(((unsigned __int128)a * b) >> 32);
}
static uint32_t host_frexp(uint32_t a, uint32_t b, uint32_t c)
{
    int exponent = 0;
    float x = flushed(a);
    (void)b, (void)c;
    if (isfinite(x))
        frexpf(x, &exponent);
    return (uint32_t)exponent;
}
static uint32_t host_cvt_i32(uint32_t a, uint32_t b, uint32_t c)
{
    long double x = (long double)flushed(a);
    (void)b, (void)c;
    return isnan(x)              ? 0
           : x >= 2147483647.0L  ? 0x7fffffff
           : x <= -2147483648.0L ? 0x80000000
                                 : (uint32_t)(int32_t)x;
}
static uint32_t host_cvt_u32(uint32_t a, uint32_t b, uint32_t c)
{
    long double x = (long double)flushed(a);
    (void)b, (void)c;
    return isnan(x) || x <= 0 ? 0 : x >= 4294967295.0L ? 0xffffffff : (uint32_t)x;
}
static uint32_t host_cvt_f16(uint32_t a, uint32_t b, uint32_t c)
{
    _Float16 half = (_Float16)flushed(a);
    uint16_t u;
    (void)b, (void)c;
    memcpy(&u, &half, 2);
    return u;
}
static uint32_t half_operation(uint32_t a, uint32_t b, int operation)
{
    uint16_t ua = (uint16_t)a, ub = (uint16_t)b, u;
    _Float16 x, y, z;
    memcpy(&x, &ua, 2);
    memcpy(&y, &ub, 2);
    z = operation ? x * y : x + y;
    memcpy(&u, &z, 2);
    return u;
}
static uint32_t host_add_f16(uint32_t a, uint32_t b, uint32_t c)
{
    (void)c;
    return half_operation(a, b, 0);
}
static uint32_t host_mul_f16(uint32_t a, uint32_t b, uint32_t c)
{
    (void)c;
    return half_operation(a, b, 1);
}

struct oracle {
    const char *name;
    uint32_t (*host)(uint32_t, uint32_t, uint32_t);
    int result;
}; /* result: 0 int, 32, 16 float bits */

static const struct oracle oracles[] = {
    {"v_add_f32", host_add, 32},
    {"v_mul_f32", host_mul, 32},
    {"v_fma_f32", host_fma, 32},
    {"v_mad_f32", host_mad, 32},
    {"v_rcp_f32", host_rcp, 32},
    {"v_sqrt_f32", host_sqrt, 32},
    {"v_floor_f32", host_floor, 32},
    {"v_rndne_f32", host_rndne, 32},
    {"v_ldexp_f32", host_ldexp, 32},
    {"v_mul_hi_u32", host_mul_hi, 0},
    {"v_frexp_exp_i32_f32", host_frexp, 0},
    {"v_cvt_i32_f32", host_cvt_i32, 0},
    {"v_cvt_u32_f32", host_cvt_u32, 0},
    {"v_cvt_f16_f32", host_cvt_f16, 16},
    {"v_add_f16", host_add_f16, 16},
    {"v_mul_f16", host_mul_f16, 16},
};

static bool is_nan(uint32_t u, int result)
{
    return result == 32 ? (u & 0x7fffffff) > 0x7f800000 : result == 16 && (u & 0x7fff) > 0x7c00;
}

Test(isa_valu, random_sources_agree_with_host_arithmetic)
{
    static struct machine m;
    for (size_t i = 0; i < sizeof oracles / sizeof *oracles; i++) {
        const struct oracle *o = &oracles[i];
        for (unsigned round = 0; round < 300; round++) {
            uint32_t word[3] = {0};
            machine_init(&m);
            for (unsigned lane = 0; lane < 64; lane++)
                for (unsigned reg = 1; reg <= 3; reg++)
                    m.vgpr[reg * 64 + lane] = random_word();
            if (o->host == host_ldexp)
                for (unsigned lane = 0; lane < 64; lane++)
                    m.vgpr[2 * 64 + lane] = (m.vgpr[2 * 64 + lane] & 511) - 256;
            encode_vop3(word, o->name, 0, V0 + 1, V0 + 2, V0 + 3);
            machine_run(&m, word);
            for (unsigned lane = 0; lane < 64; lane++) {
                uint32_t a = m.vgpr[64 + lane], b = m.vgpr[128 + lane], c = m.vgpr[192 + lane];
                uint32_t expected = o->host(a, b, c), got = m.vgpr[lane];
                bool same =
                    got == expected || (is_nan(got, o->result) && is_nan(expected, o->result));
                cr_assert(same, "%s(%08x, %08x, %08x) = %08x, expected %08x", o->name, a, b, c, got,
                          expected);
            }
        }
    }
}

/* ---- accuracy of the approximations, against libm in extended precision ---- */

struct approximation {
    const char *name;
    long double (*host)(long double);
    float low, high;
};

static long double host_sin_turns(long double x)
{
    return sinl(x * 6.283185307179586476925286766559L);
}
static long double host_cos_turns(long double x)
{
    return cosl(x * 6.283185307179586476925286766559L);
}
static long double host_rsq(long double x)
{
    return 1.0L / sqrtl(x);
}

static const struct approximation approximations[] = {
    {"v_exp_f32", exp2l, -125.0f, 127.5f},      {"v_log_f32", log2l, 1e-30f, 1e30f},
    {"v_log_f32", log2l, 0.9f, 1.1f},           {"v_sin_f32", host_sin_turns, -256.0f, 256.0f},
    {"v_cos_f32", host_cos_turns, -3.0f, 3.0f}, {"v_rsq_f32", host_rsq, 1e-30f, 1e30f},
};

Test(isa_valu, approximations_are_within_one_ulp_or_2_to_minus_24_absolute)
{
    static struct machine m;
    for (size_t i = 0; i < sizeof approximations / sizeof *approximations; i++) {
        const struct approximation *k = &approximations[i];
        uint32_t word[3] = {0};
        encode_vop3(word, k->name, 0, V0 + 1, 0, 0);
        for (unsigned round = 0; round < 100; round++) {
            machine_init(&m);
            for (unsigned lane = 0; lane < 64; lane++) {
                double part = (double)(next_random() >> 11) * 0x1p-53;
                bool scale = k->low > 0 && k->high > 1e20f;
                float x = scale
                              ? (float)exp(log((double)k->low)
                                           + part * (log((double)k->high) - log((double)k->low)))
                              : (float)((double)k->low + part * ((double)k->high - (double)k->low));
                m.vgpr[64 + lane] = float_bits(x);
            }
            machine_run(&m, word);
            for (unsigned lane = 0; lane < 64; lane++) {
                float x = bits_float(m.vgpr[64 + lane]), got = bits_float(m.vgpr[lane]);
                long double exact = k->host((long double)x),
                            error = fabsl((long double)got - exact);
                float rounded = (float)exact;
                long double ulp =
                    fabsl((long double)nextafterf(rounded, INFINITY) - (long double)rounded);
                cr_assert(error <= ulp || error < 0x1p-40L, "%s(%a) = %a, exactly %La", k->name,
                          (double)x, (double)got, exact);
            }
        }
    }
}

/* ---- division: the sequence that the compiler emits ---- */

static void step(struct machine *m, const char *name, unsigned dst, unsigned a, unsigned b,
                 unsigned c, unsigned neg, unsigned sdst)
{
    uint32_t word[3] = {0};
    encode_vop3(word, name, dst, a, b, c);
    word[0] |= sdst << 8;
    word[1] |= neg << 29;
    cr_assert_eq(machine_run(m, word), ISA_OK);
}

/* v1 / v2 -> v3, as LLVM lowers fdiv: denormals are allowed for the iteration only. */
static void divide_f32(struct machine *m)
{
    step(m, "v_div_scale_f32", 10, V0 + 2, V0 + 2, V0 + 1, 0, 20);
    step(m, "v_rcp_f32", 11, V0 + 10, 0, 0, 0, 0);
    step(m, "v_div_scale_f32", 12, V0 + 1, V0 + 2, V0 + 1, 0, ISA_VCC);
    m->wave.mode |= 0x30;
    step(m, "v_fma_f32", 13, V0 + 10, V0 + 11, 242, 1, 0);
    step(m, "v_fma_f32", 11, V0 + 13, V0 + 11, V0 + 11, 0, 0);
    step(m, "v_mul_f32", 14, V0 + 12, V0 + 11, 0, 0, 0);
    step(m, "v_fma_f32", 15, V0 + 10, V0 + 14, V0 + 12, 1, 0);
    step(m, "v_fma_f32", 14, V0 + 15, V0 + 11, V0 + 14, 0, 0);
    step(m, "v_fma_f32", 10, V0 + 10, V0 + 14, V0 + 12, 1, 0);
    m->wave.mode &= ~0x30u;
    step(m, "v_div_fmas_f32", 10, V0 + 10, V0 + 11, V0 + 14, 0, 0);
    step(m, "v_div_fixup_f32", 3, V0 + 10, V0 + 2, V0 + 1, 0, 0);
}

Test(isa_valu, division_of_floats_is_correctly_rounded)
{
    static struct machine m;
    for (unsigned round = 0; round < 400; round++) {
        machine_init(&m);
        for (unsigned i = 64; i < 192; i++)
            m.vgpr[i] = random_word();
        divide_f32(&m);
        for (unsigned lane = 0; lane < 64; lane++) {
            uint32_t a = m.vgpr[64 + lane], b = m.vgpr[128 + lane], got = m.vgpr[192 + lane];
            uint32_t expected = stored(flushed(a) / flushed(b));
            bool tiny = (expected & 0x7fffffff) <= 0x00800000
                        && (got & 0x7fffffff) <= 0x00800000; /* flushed on the way */
            bool same = got == expected || tiny || (is_nan(got, 32) && is_nan(expected, 32));
            cr_assert(same, "%08x / %08x = %08x, expected %08x", a, b, got, expected);
        }
    }
}

static void step64(struct machine *m, const char *name, unsigned dst, unsigned a, unsigned b,
                   unsigned c, unsigned neg, unsigned sdst)
{
    step(m, name, dst, a, b, c, neg, sdst);
}

/* v[2:3] / v[4:5] -> v[6:7] */
static void divide_f64(struct machine *m)
{
    step64(m, "v_div_scale_f64", 20, V0 + 4, V0 + 4, V0 + 2, 0, 20);
    step64(m, "v_div_scale_f64", 22, V0 + 2, V0 + 4, V0 + 2, 0, ISA_VCC);
    step64(m, "v_rcp_f64", 24, V0 + 20, 0, 0, 0, 0);
    step64(m, "v_fma_f64", 26, V0 + 20, V0 + 24, 242, 1, 0);
    step64(m, "v_fma_f64", 24, V0 + 24, V0 + 26, V0 + 24, 0, 0);
    step64(m, "v_fma_f64", 26, V0 + 20, V0 + 24, 242, 1, 0);
    step64(m, "v_fma_f64", 24, V0 + 24, V0 + 26, V0 + 24, 0, 0);
    step64(m, "v_mul_f64", 28, V0 + 22, V0 + 24, 0, 0, 0);
    step64(m, "v_fma_f64", 20, V0 + 20, V0 + 28, V0 + 22, 1, 0);
    step64(m, "v_div_fmas_f64", 20, V0 + 20, V0 + 24, V0 + 28, 0, 0);
    step64(m, "v_div_fixup_f64", 6, V0 + 20, V0 + 4, V0 + 2, 0, 0);
}

Test(isa_valu, division_of_doubles_is_correctly_rounded)
{
    static struct machine m;
    for (unsigned round = 0; round < 400; round++) {
        machine_init(&m);
        for (unsigned lane = 0; lane < 64; lane++) {
            for (unsigned reg = 2; reg < 6; reg += 2) {
                uint64_t u = next_random();
                if (lane & 1)
                    u = (u & UINT64_C(0x800fffffffffffff)) | (next_random() % 40 + 1003) << 52;
                m.vgpr[reg * 64 + lane] = (uint32_t)u;
                m.vgpr[(reg + 1) * 64 + lane] = (uint32_t)(u >> 32);
            }
        }
        divide_f64(&m);
        for (unsigned lane = 0; lane < 64; lane++) {
            double a = bits_double(machine_get64(&m, 2, lane)),
                   b = bits_double(machine_get64(&m, 4, lane));
            double got = bits_double(machine_get64(&m, 6, lane)), expected = a / b;
            bool tiny = fabs(expected) < 0x1p-1020
                        && fabs(got) < 0x1p-1020; /* scaled results round twice there */
            cr_assert(double_bits(got) == double_bits(expected) || tiny
                          || (isnan(got) && isnan(expected)),
                      "%a / %a = %a, expected %a", a, b, got, expected);
        }
    }
}

/* ---- masks, carries ---- */

Test(isa_valu, add_with_carry_chains_and_clears_inactive_lanes)
{
    static struct machine m;
    uint32_t word[3] = {0};
    machine_init(&m);
    for (unsigned lane = 0; lane < 64; lane++) {
        m.vgpr[1 * 64 + lane] = lane % 3 ? 0xffffffff : 5;
        m.vgpr[2 * 64 + lane] = 1;
        m.vgpr[3 * 64 + lane] = 0xffffffff;
        m.vgpr[4 * 64 + lane] = lane % 2;
    }
    isa_wave_set_pair(&m.wave, ISA_VCC, ~UINT64_C(0));
    isa_wave_set_pair(&m.wave, ISA_EXEC, UINT64_C(0xfffffffffffffff0));
    encode_vop(word, "v_add_u32", 5, V0 + 1, 2);
    machine_run(&m, word);
    encode_vop(word, "v_addc_u32", 6, V0 + 3, 4);
    uint64_t low_carry = isa_wave_vcc(&m.wave);
    machine_run(&m, word);
    uint64_t high_carry = isa_wave_vcc(&m.wave);
    for (unsigned lane = 0; lane < 64; lane++) {
        bool active = lane >= 4, low = active && lane % 3;
        uint64_t sum = UINT64_C(0xffffffff) + lane % 2 + low;
        cr_expect_eq(low_carry >> lane & 1, low, "lane %u low carry", lane);
        cr_expect_eq(high_carry >> lane & 1, active && sum >> 32, "lane %u high carry", lane);
        cr_expect_eq(m.vgpr[6 * 64 + lane], active ? (uint32_t)sum : 0, "lane %u", lane);
    }
}

struct carry_operation {
    const char *name;
    bool subtracts, reversed, takes_carry;
};

static const struct carry_operation carry_operations[] = {
    {"v_add_u32", false, false, false},  {"v_addc_u32", false, false, true},
    {"v_sub_u32", true, false, false},   {"v_subb_u32", true, false, true},
    {"v_subrev_u32", true, true, false}, {"v_subbrev_u32", true, true, true},
};

/* Against sums of 64 bits, at the values where a carry comes and goes; carries in by lane. */
Test(isa_valu, carries_at_the_limits)
{
    static const uint32_t values[8] = {0,          1,          2,          0x7fffffff,
                                       0x80000000, 0xfffffffd, 0xfffffffe, 0xffffffff};
    for (size_t i = 0; i < 2 * sizeof carry_operations / sizeof carry_operations[0]; i++) {
        const struct carry_operation *o = &carry_operations[i / 2];
        static struct machine m;
        uint32_t word[3] = {0};
        machine_init(&m);
        for (unsigned lane = 0; lane < 64; lane++) {
            m.vgpr[1 * 64 + lane] = values[lane % 8];
            m.vgpr[2 * 64 + lane] = values[lane / 8];
        }
        isa_wave_set_pair(&m.wave, ISA_VCC, i % 2 ? ~UINT64_C(0) : 0);
        encode_vop(word, o->name, 3, V0 + 1, 2);
        machine_run(&m, word);
        for (unsigned lane = 0; lane < 64; lane++) {
            uint64_t a = values[o->reversed ? lane / 8 : lane % 8];
            uint64_t b = values[o->reversed ? lane % 8 : lane / 8];
            uint64_t in = o->takes_carry && i % 2, sum = o->subtracts ? a - b - in : a + b + in;
            cr_expect_eq(m.vgpr[3 * 64 + lane], (uint32_t)sum, "%s lane %u", o->name, lane);
            cr_expect_eq(isa_wave_vcc(&m.wave) >> lane & 1, sum >> 32 & 1, "%s of 0x%x, 0x%x, %u",
                         o->name, (unsigned)a, (unsigned)b, (unsigned)in);
        }
    }
}

Test(isa_valu, subtract_with_borrow)
{
    static struct machine m;
    uint32_t word[3] = {0};
    machine_init(&m);
    machine_set(&m, 1, 5);
    machine_set(&m, 2, 5);
    isa_wave_set_pair(&m.wave, ISA_VCC, UINT64_C(0x00000000ffffffff));
    encode_vop(word, "v_subb_u32", 3, V0 + 1, 2);
    machine_run(&m, word);
    cr_expect_eq(isa_wave_vcc(&m.wave), UINT64_C(0x00000000ffffffff));
    cr_expect_eq(m.vgpr[3 * 64], 0xffffffff);
    cr_expect_eq(m.vgpr[3 * 64 + 63], 0);
    machine_set(&m, 1, 7);
    encode_vop(word, "v_subrev_u32", 3, V0 + 1, 2);
    machine_run(&m, word);
    cr_expect_eq(isa_wave_vcc(&m.wave), ~UINT64_C(0));
    cr_expect_eq(m.vgpr[3 * 64], 0xfffffffe);
}

struct comparison {
    const char *name;
    uint32_t a, b;
    bool expected;
};

static const struct comparison comparisons[] = {
    {"v_cmp_lt_f32", ONE, TWO, true},
    {"v_cmp_lt_f32", QNAN, TWO, false},
    {"v_cmp_nge_f32", QNAN, TWO, true},
    {"v_cmp_nlt_f32", QNAN, TWO, true},
    {"v_cmp_eq_f32", 0, NEG_ZERO, true},
    {"v_cmp_eq_f32", 0, DENORMAL, true},
    {"v_cmp_lg_f32", QNAN, ONE, false},
    {"v_cmp_neq_f32", QNAN, ONE, true},
    {"v_cmp_o_f32", QNAN, ONE, false},
    {"v_cmp_u_f32", QNAN, ONE, true},
    {"v_cmp_nlg_f32", QNAN, ONE, true},
    {"v_cmp_tru_f32", 0, 0, true},
    {"v_cmp_lt_i32", 0xffffffff, 0, true},
    {"v_cmp_lt_u32", 0xffffffff, 0, false},
    {"v_cmp_ge_i32", 5, 5, true},
    {"v_cmp_ne_u32", 5, 5, false},
    {"v_cmp_lt_i16", 0x0000ffff, 0x00010000, true},
    {"v_cmp_gt_u16", 0x0000ffff, 0xffff0000, true},
    {"v_cmp_lt_f16", 0x3c00, 0x4000, true},
    {"v_cmp_class_f32", QNAN, 2, true},
    {"v_cmp_class_f32", SNAN_PAYLOAD, 1, true},
    {"v_cmp_class_f32", NEG_INF, 4, true},
    {"v_cmp_class_f32", 0xbf800000, 8, true},
    {"v_cmp_class_f32", 0x80000001, 16, true},
    {"v_cmp_class_f32", NEG_ZERO, 32, true},
    {"v_cmp_class_f32", 0, 64, true},
    {"v_cmp_class_f32", DENORMAL, 128, true},
    {"v_cmp_class_f32", ONE, 256, true},
    {"v_cmp_class_f32", INF, 512, true},
    {"v_cmp_class_f32", INF, 511, false},
    {"v_cmp_class_f16", 0x0001, 128, true},
    {"v_cmp_class_f16", 0xfc00, 4, true},
};

Test(isa_valu, comparisons_write_masks)
{
    static struct machine m;
    for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++) {
        const struct comparison *k = &comparisons[i];
        uint32_t word[3] = {0};
        uint64_t exec = UINT64_C(0xf0f0f0f00f0f0f0f);
        machine_init(&m);
        machine_set(&m, 1, k->a);
        machine_set(&m, 2, k->b);
        isa_wave_set_pair(&m.wave, ISA_EXEC, exec);
        isa_wave_set_pair(&m.wave, ISA_VCC, ~UINT64_C(0));
        encode_vop(word, k->name, 0, V0 + 1, 2);
        machine_run(&m, word);
        cr_expect_eq(isa_wave_vcc(&m.wave), k->expected ? exec : 0, "%s(%08x, %08x)", k->name, k->a,
                     k->b);
        encode_vop3(word, k->name, 30, V0 + 1, V0 + 2, 0);
        machine_run(&m, word);
        cr_expect_eq(isa_wave_pair(&m.wave, 30), k->expected ? exec : 0, "%s to s[30:31]", k->name);
    }
}

Test(isa_valu, compare_and_write_exec)
{
    static struct machine m;
    uint32_t word[3] = {0};
    machine_init(&m);
    for (unsigned lane = 0; lane < 64; lane++)
        m.vgpr[64 + lane] = lane;
    isa_wave_set_pair(&m.wave, ISA_EXEC, UINT64_C(0x00000000ffffffff));
    encode_vop(word, "v_cmpx_gt_u32", 0, 128 + 8, 1); /* 8 > lane */
    machine_run(&m, word);
    cr_expect_eq(isa_wave_exec(&m.wave), 0xff);
    cr_expect_eq(isa_wave_vcc(&m.wave), 0xff);
}

Test(isa_valu, sixty_four_bit_comparisons)
{
    static struct machine m;
    uint32_t word[3] = {0};
    machine_init(&m);
    machine_set64(&m, 2, UINT64_C(0xffffffff00000000));
    machine_set64(&m, 4, 1);
    encode_vop(word, "v_cmp_lt_i64", 0, V0 + 2, 4);
    machine_run(&m, word);
    cr_expect_eq(isa_wave_vcc(&m.wave), ~UINT64_C(0));
    encode_vop(word, "v_cmp_lt_u64", 0, V0 + 2, 4);
    machine_run(&m, word);
    cr_expect_eq(isa_wave_vcc(&m.wave), 0);
    machine_set64(&m, 2, D(-1.5));
    machine_set64(&m, 4, D(NAN));
    encode_vop(word, "v_cmp_nlt_f64", 0, V0 + 2, 4);
    machine_run(&m, word);
    cr_expect_eq(isa_wave_vcc(&m.wave), ~UINT64_C(0));
}

Test(isa_valu, cndmask_and_mac)
{
    static struct machine m;
    uint32_t word[3] = {0};
    machine_init(&m);
    machine_set(&m, 1, 11);
    machine_set(&m, 2, 22);
    isa_wave_set_pair(&m.wave, ISA_VCC, UINT64_C(0x5555555555555555));
    encode_vop(word, "v_cndmask_b32", 3, V0 + 1, 2);
    machine_run(&m, word);
    cr_expect_eq(m.vgpr[3 * 64], 22);
    cr_expect_eq(m.vgpr[3 * 64 + 1], 11);
    machine_set(&m, 1, F(3.0f));
    machine_set(&m, 2, F(4.0f));
    machine_set(&m, 3, F(5.0f));
    encode_vop(word, "v_mac_f32", 3, V0 + 1, 2);
    machine_run(&m, word);
    cr_expect_eq(m.vgpr[3 * 64 + 5], F(17.0f));
    encode_vop(word, "v_madmk_f32", 4, V0 + 1, 2);
    word[1] = F(10.0f);
    machine_run(&m, word);
    cr_expect_eq(m.vgpr[4 * 64], F(34.0f));
    encode_vop(word, "v_madak_f32", 4, V0 + 1, 2);
    machine_run(&m, word);
    cr_expect_eq(m.vgpr[4 * 64], F(22.0f));
}

/* ---- operand forms ---- */

Test(isa_valu, scalar_sources)
{
    static const struct {
        unsigned code;
        uint32_t expected;
    } sources[] = {{128, 0},
                   {192, 64},
                   {193, 0xffffffff},
                   {208, 0xfffffff0},
                   {240, 0x3f000000},
                   {241, 0xbf000000},
                   {242, 0x3f800000},
                   {247, 0xc0800000},
                   {248, 0x3e22f983},
                   {30, 0x1234},
                   {ISA_M0, 0x77},
                   {ISA_VCC, 0x88},
                   {ISA_EXEC, 0xffffffff},
                   {ISA_SCC, 1},
                   {ISA_VCCZ, 0},
                   {ISA_EXECZ, 0},
                   {ISA_LITERAL, 0xcafebabe}};
    static struct machine m;
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        uint32_t word[3] = {0, 0xcafebabe, 0};
        machine_init(&m);
        m.wave.sgpr[30] = 0x1234;
        m.wave.sgpr[ISA_M0] = 0x77;
        m.wave.sgpr[ISA_VCC] = 0x88;
        m.wave.scc = 1;
        encode_vop(word, "v_mov_b32", 7, sources[i].code, 0);
        machine_run(&m, word);
        cr_expect_eq(m.vgpr[7 * 64 + 33], sources[i].expected, "source %u", sources[i].code);
    }
}

Test(isa_valu, sixty_four_bit_inline_constants_and_pairs)
{
    static struct machine m;
    uint32_t word[3] = {0};
    machine_init(&m);
    encode_vop3(word, "v_add_f64", 2, 242, 240, 0); /* 1.0 + 0.5 */
    machine_run(&m, word);
    cr_expect_eq(machine_get64(&m, 2, 9), D(1.5));
    isa_wave_set_pair(&m.wave, 10, D(2.25));
    encode_vop3(word, "v_mul_f64", 2, 10, V0 + 2, 0);
    machine_run(&m, word);
    cr_expect_eq(machine_get64(&m, 2, 9), D(3.375));
    encode_vop3(word, "v_lshrrev_b64", 2, 128 + 4, 193, 0); /* -1 >> 4 */
    machine_run(&m, word);
    cr_expect_eq(machine_get64(&m, 2, 9), UINT64_C(0x0fffffffffffffff));
}

Test(isa_valu, modifiers)
{
    static struct machine m;
    uint32_t word[3] = {0};
    machine_init(&m);
    machine_set(&m, 1, F(-3.0f));
    machine_set(&m, 2, F(2.0f));
    m.wave.mode = 0x100; /* without IEEE, denormals flushed: omod holds */
    encode_vop3(word, "v_add_f32", 3, V0 + 1, V0 + 2, 0);
    word[0] |= 1 << 8;   /* |v1| */
    word[1] |= 2u << 29; /* -v2 */
    machine_run(&m, word);
    cr_expect_eq(m.vgpr[3 * 64], F(1.0f));
    word[1] |= 2u << 27; /* mul:4 */
    machine_run(&m, word);
    cr_expect_eq(m.vgpr[3 * 64], F(4.0f));
    word[0] |= 1 << 15; /* clamp */
    machine_run(&m, word);
    cr_expect_eq(m.vgpr[3 * 64], F(1.0f));
    word[1] |= 1u << 29; /* -|v1| */
    machine_run(&m, word);
    cr_expect_eq(m.vgpr[3 * 64], 0);
    machine_set(&m, 1, QNAN);
    machine_run(&m, word);
    cr_expect_eq(m.vgpr[3 * 64], 0, "dx10_clamp turns NaN into 0");
    machine_set64(&m, 4, D(3.0));
    encode_vop3(word, "v_mul_f64", 6, V0 + 4, V0 + 4, 0);
    word[1] |= 3u << 27 | 1u << 29; /* div:2, -a */
    machine_run(&m, word);
    cr_expect_eq(machine_get64(&m, 6, 0), D(-4.5));
    encode_vop3(word, "v_add_u32", 8, 193, V0 + 2, 0);
    word[0] |= 1 << 15 | 20 << 8;
    machine_run(&m, word);
    cr_expect_eq(m.vgpr[8 * 64], 0xffffffff, "integer clamp saturates");
}

/* `clamp` of integer operations without a carry; the words are llvm-mc's, for gfx906, of v3, v1,
 * v2. */
Test(isa_valu, integers_saturate)
{
    static const struct {
        uint32_t word[2], a, b, expected;
    } cases[] = {
        {{0xd1348003, 0x00020501}, 0xfffffff0, 0x20, 0xffffffff}, /* v_add_u32 */
        {{0xd1348003, 0x00020501}, 0x7fffffff, 1, 0x80000000},
        {{0xd1358003, 0x00020501}, 5, 7, 0}, /* v_sub_u32 */
        {{0xd1358003, 0x00020501}, 7, 5, 2},
        {{0xd1368003, 0x00020501}, 7, 5, 0}, /* v_subrev_u32 */
        {{0xd1368003, 0x00020501}, 5, 0xffffffff, 0xfffffffa},
        {{0xd1268003, 0x00020501},
         0xabcdffff,
         2,
         0xffff},                                     /* v_add_u16; upper halves do not count */
        {{0xd1278003, 0x00020501}, 0xffff0001, 2, 0}, /* v_sub_u16 */
        {{0xd1288003, 0x00020501}, 2, 0xffff0001, 0}, /* v_subrev_u16 */
        {{0xd29c8003, 0x00020501}, 0x7fffffff, 1, 0x7fffffff}, /* v_add_i32 */
        {{0xd29c8003, 0x00020501}, 0x80000000, 0xffffffff, 0x80000000},
        {{0xd29d8003, 0x00020501}, 0x80000000, 1, 0x80000000}, /* v_sub_i32 */
        {{0xd29d8003, 0x00020501}, 3, 5, 0xfffffffe},
        {{0xd29e8003, 0x00020501}, 0x7ff0, 0x7000, 0x7fff},             /* v_add_i16 */
        {{0xd29f8003, 0x00020501}, 0x8000, 1, 0x8000},                  /* v_sub_i16 */
        {{0xd38ac003, 0x18020501}, 0xfff00001, 0x00200002, 0xffff0003}, /* v_pk_add_u16 */
        {{0xd38bc003, 0x18020501}, 0x00010009, 0x00020002, 0x00000007}, /* v_pk_sub_u16 */
        {{0xd382c003, 0x18020501}, 0x80007fff, 0xffff0001, 0x80007fff}, /* v_pk_add_i16 */
        {{0xd383c003, 0x18020501}, 0x80007fff, 0x0001ffff, 0x80007fff}, /* v_pk_sub_i16 */
    };
    static struct machine m;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct isa_inst inst;
        machine_init(&m);
        machine_set(&m, 1, cases[i].a);
        machine_set(&m, 2, cases[i].b);
        cr_assert_eq(isa_decode(ISA_GFX906, cases[i].word, 8, &inst), 8, "case %zu", i);
        cr_assert_eq(isa_execute(&m.ctx, &m.wave, &inst), ISA_OK, "case %zu", i);
        cr_expect_eq(m.vgpr[3 * 64 + 63], cases[i].expected, "case %zu: 0x%x", i,
                     m.vgpr[3 * 64 + 63]);
    }
}

Test(isa_valu, denormals_follow_mode)
{
    static struct machine m;
    uint32_t word[3] = {0};
    machine_init(&m);
    machine_set(&m, 1, DENORMAL);
    encode_vop3(word, "v_add_f32", 3, V0 + 1, V0 + 1, 0);
    m.wave.mode = ISA_MODE_DEFAULT | 0x30;
    machine_run(&m, word);
    cr_expect_eq(m.vgpr[3 * 64], 2 * DENORMAL);
    m.wave.mode = ISA_MODE_DEFAULT | 0x10; /* sources kept, results flushed */
    machine_run(&m, word);
    cr_expect_eq(m.vgpr[3 * 64], 0);
}

Test(isa_valu, rounding_follows_mode_and_leaves_the_host_alone)
{
    static const uint32_t expected[4] = {0x3f800001, 0x3f800002, 0x3f800001, 0x3f800001};
    static const uint32_t expected_negative[4] = {0xbf800001, 0xbf800001, 0xbf800002, 0xbf800001};
    static struct machine m;
    for (uint32_t mode = 0; mode < 4; mode++) {
        uint32_t word[3] = {0};
        machine_init(&m);
        m.wave.mode = ISA_MODE_DEFAULT | mode;
        machine_set(&m, 1, 0x3f800001);
        machine_set(&m, 2, 0x32000000);
        encode_vop3(word, "v_add_f32", 3, V0 + 1, V0 + 2, 0);
        machine_run(&m, word);
        cr_expect_eq(m.vgpr[3 * 64], expected[mode], "mode %u", mode);
        word[1] |= 3u << 29;
        machine_run(&m, word);
        cr_expect_eq(m.vgpr[3 * 64], expected_negative[mode], "mode %u, negative", mode);
        machine_set64(&m, 4, D(1.0));
        machine_set64(&m, 6, D(0x1p-60));
        encode_vop3(word, "v_add_f64", 8, V0 + 4, V0 + 6, 0);
        machine_run(&m, word);
        cr_expect_eq(machine_get64(&m, 8, 0), D(1.0), "fp64 has a mode of its own");
        cr_expect_eq(fegetround(), FE_TONEAREST);
    }
    m.wave.mode = ISA_MODE_DEFAULT | 1 << 2;
    uint32_t word[3] = {0};
    encode_vop3(word, "v_add_f64", 8, V0 + 4, V0 + 6, 0);
    machine_run(&m, word);
    cr_expect_eq(machine_get64(&m, 8, 0), D(1.0) + 1);
}

Test(isa_valu, sdwa_selects_and_preserves)
{
    static struct machine m;
    uint32_t word[3] = {0};
    machine_init(&m);
    machine_set(&m, 1, 0x11f23344);
    machine_set(&m, 2, 0x00050006);
    machine_set(&m, 3, 0xaabbccdd);
    encode_vop(word, "v_add_u32", 3, 249, 2);
    /* src0 = sext(v1 byte 2), src1 = v2 word 1, result to byte 1, rest preserved */
    word[1] = 1 | 1 << 8 | 2 << 11 | 2 << 16 | 1 << 19 | 5u << 24;
    machine_run(&m, word);
    cr_expect_eq(m.vgpr[3 * 64], 0xaabbf7dd, "%08x", m.vgpr[3 * 64]);
    word[1] = 1 | 5 << 8 | 1 << 11 | 2 << 16 | 1 << 19
              | 5u << 24; /* to the upper word, sign-extended: nothing above */
    machine_run(&m, word);
    cr_expect_eq(m.vgpr[3 * 64], 0xfff70000, "%08x", m.vgpr[3 * 64]);
    encode_vop(word, "v_mul_f16", 3, 249, 2);
    machine_set(&m, 1, 0x40003c00);
    machine_set(&m, 2, 0x44000000);
    word[1] = 1 | 6 << 8 | 5 << 16 | 1 << 20 | 5u << 24; /* -v1.hi * v2.hi */
    machine_run(&m, word);
    cr_expect_eq(m.vgpr[3 * 64], 0xc800, "%08x", m.vgpr[3 * 64]);
}

static void run_dpp(struct machine *m, unsigned control, unsigned row_mask, unsigned bank_mask,
                    bool bound)
{
    uint32_t word[3] = {0};
    encode_vop(word, "v_mov_b32", 2, 250, 0);
    word[1] = 1 | control << 8 | (uint32_t)bound << 19 | bank_mask << 24 | row_mask << 28;
    machine_set(m, 2, 1000);
    machine_run(m, word);
}

Test(isa_valu, dpp_moves_between_lanes)
{
    static struct machine m;
    static const struct {
        unsigned control;
        int source[4];
        unsigned lane[4];
    } moves[] = {
        {0x1b, {3, 2, 61, 60}, {0, 1, 62, 63}},       /* quad_perm:[3,2,1,0] */
        {0x101, {1, -1, 17, -1}, {0, 15, 16, 63}},    /* row_shl:1 */
        {0x112, {-1, 0, 30, 61}, {1, 2, 32 + 0, 63}}, /* row_shr:2 */
        {0x121, {15, 0, 31, 62}, {0, 1, 16, 63}},     /* row_ror:1 */
        {0x130, {1, 16, -1, 33}, {0, 15, 63, 32}},    /* wave_shl:1 */
        {0x134, {1, 16, 0, 33}, {0, 15, 63, 32}},     /* wave_rol:1 */
        {0x138, {-1, 15, 62, 31}, {0, 16, 63, 32}},   /* wave_shr:1 */
        {0x140, {15, 0, 31, 48}, {0, 15, 16, 63}},    /* row_mirror */
        {0x141, {7, 0, 15, 56}, {0, 7, 8, 63}},       /* row_half_mirror */
        {0x142, {-1, 15, 31, 47}, {0, 16, 33, 63}},   /* row_bcast:15 */
        {0x143, {-1, -1, 31, 31}, {0, 31, 32, 63}},   /* row_bcast:31 */
    };
    machine_init(&m);
    for (unsigned lane = 0; lane < 64; lane++)
        m.vgpr[64 + lane] = lane;
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++) {
        if (moves[i].control == 0x112)
            continue;
        run_dpp(&m, moves[i].control, 15, 15, false);
        for (unsigned j = 0; j < 4; j++) {
            uint32_t expected = moves[i].source[j] < 0 ? 1000 : (uint32_t)moves[i].source[j];
            cr_expect_eq(m.vgpr[128 + moves[i].lane[j]], expected, "control %x lane %u: %u",
                         moves[i].control, moves[i].lane[j], m.vgpr[128 + moves[i].lane[j]]);
        }
    }
    run_dpp(&m, 0x112, 15, 15, true);
    cr_expect_eq(m.vgpr[128 + 1], 0, "bound_ctrl gives 0");
    cr_expect_eq(m.vgpr[128 + 2], 0);
    cr_expect_eq(m.vgpr[128 + 63], 61);
    run_dpp(&m, 0xe4, 5, 3, false);
    cr_expect_eq(m.vgpr[128 + 4], 4);
    cr_expect_eq(m.vgpr[128 + 8], 1000, "bank 2 is masked");
    cr_expect_eq(m.vgpr[128 + 16], 1000, "row 1 is masked");
    isa_wave_set_pair(&m.wave, ISA_EXEC, ~UINT64_C(0) << 1);
    run_dpp(&m, 0x00, 15, 15, false);
    cr_expect_eq(m.vgpr[128 + 1], 1000, "a disabled source lane disables the destination");
    cr_expect_eq(m.vgpr[128 + 5], 4);
}

Test(isa_valu, lane_reads_and_writes)
{
    static struct machine m;
    uint32_t word[3] = {0};
    machine_init(&m);
    for (unsigned lane = 0; lane < 64; lane++)
        m.vgpr[64 + lane] = 100 + lane;
    m.wave.sgpr[9] = 64 + 5;
    encode_vop3(word, "v_readlane_b32", 20, V0 + 1, 9, 0);
    machine_run(&m, word);
    cr_expect_eq(m.wave.sgpr[20], 105);
    isa_wave_set_pair(&m.wave, ISA_EXEC, UINT64_C(0xff00));
    encode_vop(word, "v_readfirstlane_b32", 21, V0 + 1, 0);
    machine_run(&m, word);
    cr_expect_eq(m.wave.sgpr[21], 108);
    isa_wave_set_pair(&m.wave, ISA_EXEC, 0);
    machine_run(&m, word);
    cr_expect_eq(m.wave.sgpr[21], 100);
    encode_vop3(word, "v_writelane_b32", 2, 21, 128 + 63, 0);
    machine_run(&m, word);
    cr_expect_eq(m.vgpr[2 * 64 + 63], 100);
    cr_expect_eq(m.vgpr[2 * 64 + 62], 0);
}

Test(isa_valu, lane_counting)
{
    static struct machine m;
    uint32_t word[3] = {0};
    machine_init(&m);
    encode_vop3(word, "v_mbcnt_lo_u32_b32", 1, 193, 128, 0);
    machine_run(&m, word);
    encode_vop3(word, "v_mbcnt_hi_u32_b32", 1, 193, V0 + 1, 0);
    machine_run(&m, word);
    for (unsigned lane = 0; lane < 64; lane++)
        cr_expect_eq(m.vgpr[64 + lane], lane);
}

Test(isa_valu, relative_moves_outside_take_v0_or_do_nothing)
{
    static struct machine m;
    uint32_t word[3] = {0};
    machine_init(&m);
    machine_set(&m, 5, 555);
    m.wave.sgpr[ISA_M0] = 3;
    encode_vop(word, "v_movrels_b32", 1, V0 + 2, 0);
    machine_run(&m, word);
    cr_expect_eq(m.vgpr[64], 555);
    encode_vop(word, "v_movreld_b32", 6, V0 + 5, 0);
    machine_run(&m, word);
    cr_expect_eq(m.vgpr[9 * 64], 555);
    encode_vop(word, "v_movrelsd_b32", 7, V0 + 2, 0); /* v10 = v5 */
    machine_run(&m, word);
    cr_expect_eq(m.vgpr[10 * 64], 555);
    static struct machine before;
    machine_set(&m, 0, 77);
    for (unsigned i = 0; i < 3; i++) {
        m.wave.sgpr[ISA_M0] = i == 0 ? 1000 : i == 1 ? 250 : 0xffffffff;
        m.ctx.vgpr_count = 252;
        before = m;
        encode_vop(word, "v_movreld_b32", 6, V0 + 5, 0);
        cr_expect_eq(machine_run(&m, word), ISA_OK);
        if (i < 2)
            cr_expect_arr_eq(m.vgpr, before.vgpr, sizeof m.vgpr, "M0 %x", m.wave.sgpr[ISA_M0]);
        encode_vop(word, "v_movrels_b32", 1, V0 + 6, 0);
        cr_expect_eq(machine_run(&m, word), ISA_OK);
        cr_expect_eq(m.vgpr[64], 77, "M0 %x: %u", m.wave.sgpr[ISA_M0], m.vgpr[64]);
    }
}

Test(isa_valu, registers_beyond_the_allocation_are_refused)
{
    static struct machine m;
    uint32_t word[3] = {0};
    machine_init(&m);
    m.ctx.vgpr_count = 8;
    encode_vop(word, "v_mov_b32", 8, V0 + 1, 0);
    cr_expect_eq(machine_run(&m, word), ISA_BAD_REGISTER);
    encode_vop3(word, "v_add_f64", 7, V0 + 1, V0 + 3, 0);
    cr_expect_eq(machine_run(&m, word), ISA_BAD_REGISTER);
    encode_vop3(word, "v_add_f64", 6, V0 + 1, V0 + 3, 0);
    cr_expect_eq(machine_run(&m, word), ISA_OK);
}

Test(isa_valu, overlapping_registers)
{
    static struct machine m;
    uint32_t word[3] = {0};
    machine_init(&m);
    machine_set64(&m, 2, UINT64_C(0x0000000180000000));
    encode_vop3(word, "v_lshlrev_b64", 3, 129, V0 + 2, 0); /* v[3:4] = v[2:3] << 1 */
    machine_run(&m, word);
    cr_expect_eq(machine_get64(&m, 3, 40), UINT64_C(0x0000000300000000));
}

/* What parameters of CDNA2 and CDNA3 change in a compute unit: blocks of code, ports of the LDS,
 * addresses of vector memory, peak rates of matrix instructions. Words are llvm-mc's for gfx942,
 * where nothing else is said. */
#include "base/number.h"
#include "runtime/engine/platform_table.h"
#include "runtime/engine/run_control.h"

#include "cu_fixture.h"

enum {
    V_PK_FMA = 0xd3b04002u, /* v_pk_fma_f32 v[2:3], v[0:1], v[0:1], v[0:1] */
    V_PK_FMA_SOURCES = 0x1c020100u,
    V_MAD = 0xd1e80602u, /* v_mad_u64_u32 v[2:3], s[6:7], v1, 3, 1 */
    V_MAD_SOURCES = 0x02050701u,
    V_MAD_S4 = 0xd1e80402u,  /* the same with s[4:5] */
    V_CVT = 0x7e040d00u,     /* v_cvt_f32_u32 v2, v0 */
    V_ZERO = 0x7e000280u,    /* v_mov_b32 v0, 0 */
    V_SHIFT_4 = 0x24000084u, /* v_lshlrev_b32 v0, 4, v0 */
    DS_READ = 0xd86c0000u,   /* ds_read_b32 v2, v0 */
    DS_READ_TO = 0x02000000u,
    DS_READ4 = 0xd9fe0000u, /* ds_read_b128 v[4:7], v0 */
    DS_READ4_TO = 0x04000000u,
    DS_WRITE_FROM = 0x00000100u, /* v1 */
    DS_WRITE4 = 0xd9be0000u,     /* ds_write_b128 v0, v[4:7] */
    DS_WRITE4_FROM = 0x00000400u,
    DS_SWIZZLE = 0xd87a8001u, /* ds_swizzle_b32 v2, v0 offset:0x8001 */
    DS_SWIZZLE_TO = 0x02000000u
};

/* A place of `address` that all lanes of v[0:1] are to point to, `bytes` each. */
#define POINT_TO(shift, address)                                                                   \
    0x24000080u | (shift), 0x680000ffu, (address), V_MOV_V1 /* v_lshlrev, v_add_u32, v_mov */

static struct compute_unit_params cdna(void)
{
    struct compute_unit_params p = defaults;
    p.isa = COMPUTE_UNIT_ISA_GFX942;
    p.wavefronts = 8;
    p.vgprs = 512;
    p.matrix_pass = 4;
    p.conversion = 16;
    p.integer_multiply = 4;
    return p;
}

/* Cycles from first issue to the end of wavefronts on SIMDs places[], which run `words`. */
static uint64_t cycles_on(const struct compute_unit_params *p, const uint32_t *words, size_t count,
                          const struct work_wavefront *places, unsigned wavefronts)
{
    set_up_with(p);
    load(0, words, count);
    launch(ARRIVAL - 1, 0, 0, wavefronts, places, 0);
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    accounts();
    return ended(0) - first_issue(ARRIVAL, 0);
}

/* ---- vector instructions ---- */

struct sequence {
    const char *name;
    uint32_t words[16];
    unsigned count, cycles;
};

/* `count` times the instruction of one or two words. */
static uint64_t cycles_of_many(const struct compute_unit_params *p, const uint32_t word[2],
                               unsigned count)
{
    static uint32_t words[128];
    unsigned used = 0;
    for (unsigned i = 0; i < count; i++) {
        words[used++] = word[0];
        if (word[1])
            words[used++] = word[1];
    }
    return cycles_on(p, words, used, one, 1);
}

/* Code comes in blocks of 32 bytes: four instructions of 8 bytes, or eight of 4. */
Test(cdna, straight_code_comes_in_blocks)
{
    static const struct {
        const char *name;
        uint32_t word[2];
        unsigned latency, cycles; /* of 16 further instructions */
    } rows[] = {
        {"with its lines", {V_PK_FMA, V_PK_FMA_SOURCES}, 1, 16 * 4},
        {"as fast as they issue", {V_PK_FMA, V_PK_FMA_SOURCES}, 16, 16 * 4},
        {"slower", {V_PK_FMA, V_PK_FMA_SOURCES}, 28, 4 * 28},
        {"short instructions", {V_MOV, 0}, 28, 16 * 4},
        {"short ones, slower", {V_MOV, 0}, 40, 2 * 40},
    };
    struct compute_unit_params p = cdna();
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        p.fetch_latency = rows[i].latency;
        uint64_t cycles =
            cycles_of_many(&p, rows[i].word, 48) - cycles_of_many(&p, rows[i].word, 32);
        cr_expect_eq(cycles, rows[i].cycles, "%s: %llu", rows[i].name, (unsigned long long)cycles);
    }
}

/* v_mad_u64_u32 has its carry in s[6:7]; the other one writes s[4:5]. */
Test(cdna, writes_of_the_same_scalar_registers_keep_their_order)
{
    static const struct sequence sequences[] = {
        {"the same", {V_MAD, V_MAD_SOURCES, V_MAD, V_MAD_SOURCES}, 4, 12 + 4},
        {"others", {V_MAD, V_MAD_SOURCES, V_MAD_S4, V_MAD_SOURCES}, 4, 4 + 4},
        {"none", {V_MAD, V_MAD_SOURCES, V_MOV}, 3, 4 + 4},
        {"the same, later", {V_MAD, V_MAD_SOURCES, V_MOV, V_MAD, V_MAD_SOURCES}, 5, 12 + 4},
    };
    struct compute_unit_params p = cdna();
    p.sgpr_order = 12;
    for (size_t i = 0; i < ARRAY_COUNT(sequences); i++) {
        const struct sequence *s = &sequences[i];
        uint64_t cycles = cycles_on(&p, s->words, s->count, one, 1);
        cr_expect_eq(cycles, s->cycles, "%s: %llu", s->name, (unsigned long long)cycles);
    }
}

Test(cdna, a_conversion_keeps_the_vector_alu)
{
    static const uint32_t words[] = {V_CVT, V_MOV};
    struct compute_unit_params p = cdna();
    cr_expect_eq(cycles_on(&p, words, 2, one, 1), 20);
}

/* The older of two work-groups stands in the later slot. */
Test(cdna, the_oldest_wavefront_issues_first)
{
    enum { COUNT = 16 };
    static const struct work_wavefront first[] = {{.simd = 0, .slot = 1}};
    static const struct work_wavefront second[] = {{.simd = 0, .slot = 0}};
    static const int orders[] = {COMPUTE_UNIT_ISSUE_ORDER_TURNS, COMPUTE_UNIT_ISSUE_ORDER_OLDEST};
    uint32_t words[COUNT];
    int64_t apart[2];
    for (unsigned i = 0; i < COUNT; i++)
        words[i] = V_MOV;
    for (unsigned i = 0; i < 2; i++) {
        struct compute_unit_params p = cdna();
        p.issue_order = orders[i];
        set_up_with(&p);
        load(0, words, COUNT);
        load(1, words, COUNT);
        launch(ARRIVAL - 1, 0, 0, 1, first, 0);
        launch(ARRIVAL - 1, 1, 1, 1, second, 0);
        cr_assert_eq(harness_run(), ENGINE_IDLE);
        accounts();
        apart[i] = (int64_t)(ended(1) - ended(0));
    }
    cr_expect_leq(apart[0], 4, "in turns %lld", (long long)apart[0]);
    cr_expect_geq(apart[0], -4, "in turns %lld", (long long)apart[0]);
    cr_expect_eq(apart[1], 4 * COUNT, "%lld", (long long)apart[1]);
}

/* ---- matrix instructions ---- */

struct matrix {
    const char *name;
    int isa;
    uint32_t word[2];
    unsigned flops, rate; /* a clock and compute unit */
};

/* AMD matrix instruction calculator; peak rates of ROCm's MI250 and MI300 pages. */
static const struct matrix matrices[] = {
    {"v_mfma_f64_16x16x4_f64", COMPUTE_UNIT_ISA_GFX942, {0xd3ee0008, 0x04220500}, 2048, 256},
    {"v_mfma_f64_4x4x4_4b_f64", COMPUTE_UNIT_ISA_GFX942, {0xd3ef0008, 0x04220500}, 512, 128},
    {"v_mfma_f32_32x32x2_f32", COMPUTE_UNIT_ISA_GFX942, {0xd3c40008, 0x04220300}, 4096, 256},
    {"v_mfma_f32_16x16x4_f32", COMPUTE_UNIT_ISA_GFX942, {0xd3c50008, 0x04220300}, 2048, 256},
    {"v_mfma_f32_16x16x8_xf32", COMPUTE_UNIT_ISA_GFX942, {0xd3be0008, 0x04220500}, 4096, 1024},
    {"v_mfma_f32_32x32x4_2b_f16", COMPUTE_UNIT_ISA_GFX942, {0xd3c80008, 0x04220500}, 16384, 1024},
    {"v_mfma_f32_32x32x8_f16", COMPUTE_UNIT_ISA_GFX942, {0xd3cc0008, 0x04220500}, 16384, 2048},
    {"v_mfma_f32_16x16x16_bf16", COMPUTE_UNIT_ISA_GFX942, {0xd3e10008, 0x04220500}, 8192, 2048},
    {"v_mfma_i32_32x32x16_i8", COMPUTE_UNIT_ISA_GFX942, {0xd3d60008, 0x04220500}, 32768, 4096},
    {"v_mfma_f32_16x16x32_fp8_fp8", COMPUTE_UNIT_ISA_GFX942, {0xd3f30008, 0x04220500}, 16384, 4096},
    {"v_smfmac_f32_32x32x16_f16", COMPUTE_UNIT_ISA_GFX942, {0xd3e40008, 0x041a0500}, 32768, 4096},
    {"v_smfmac_i32_16x16x64_i8", COMPUTE_UNIT_ISA_GFX942, {0xd3ea0008, 0x041a0500}, 32768, 8192},
    {"v_mfma_f64_16x16x4f64", COMPUTE_UNIT_ISA_GFX90A, {0xd3ee0008, 0x04220500}, 2048, 256},
    {"v_mfma_f32_32x32x2f32", COMPUTE_UNIT_ISA_GFX90A, {0xd3c40008, 0x04220300}, 4096, 256},
    {"v_mfma_f32_32x32x8f16", COMPUTE_UNIT_ISA_GFX90A, {0xd3cc0008, 0x04220500}, 16384, 1024},
    {"v_mfma_f32_16x16x16bf16_1k", COMPUTE_UNIT_ISA_GFX90A, {0xd3e70008, 0x04220500}, 8192, 1024},
    {"v_mfma_f32_32x32x4bf16", COMPUTE_UNIT_ISA_GFX90A, {0xd3ec0008, 0x04220300}, 8192, 512},
    {"v_mfma_i32_16x16x16i8", COMPUTE_UNIT_ISA_GFX90A, {0xd3d50008, 0x04220300}, 8192, 1024},
};

/* Each result is the next one's addend: nothing waits for it. */
Test(cdna, matrix_instructions_reach_their_peak_rate)
{
    enum { COUNT = 12 };
    launch_vgprs = 64;
    for (size_t i = 0; i < ARRAY_COUNT(matrices); i++) {
        const struct matrix *m = &matrices[i];
        uint32_t words[2 * COUNT];
        struct compute_unit_params p = cdna();
        p.isa = m->isa;
        for (unsigned n = 0; n < COUNT; n++)
            memcpy(words + 2 * n, m->word, 8);
        uint64_t busy = cycles_on(&p, words, 2 * COUNT, one, 1) - 4; /* of all but the last */
        cr_expect_eq(4u * m->flops * (COUNT - 1), m->rate * busy, "%s: %llu cycles", m->name,
                     (unsigned long long)busy);
    }
}

/* The ALU goes on beside most; doubles, and floats on gfx942, keep it. */
Test(cdna, some_matrix_instructions_keep_the_alu)
{
    static const struct {
        unsigned matrix, cycles;
    } expected[] = {{0, 32}, {3, 32}, {6, 4}, {10, 8}, {12, 32}, {13, 4}, {14, 4}};
    launch_vgprs = 64;
    for (size_t i = 0; i < ARRAY_COUNT(expected); i++) {
        const struct matrix *m = &matrices[expected[i].matrix];
        const uint32_t words[] = {m->word[0], m->word[1], V_MOV};
        struct compute_unit_params p = cdna();
        p.isa = m->isa;
        uint64_t cycles = cycles_on(&p, words, 3, one, 1);
        cr_expect_eq(cycles, expected[i].cycles + 4, "%s: %llu", m->name,
                     (unsigned long long)cycles);
    }
}

/* ---- LDS ---- */

/* `first` makes v0 an address of the lane; `access` then happens four times. */
struct access {
    const char *name;
    uint32_t first, access[2];
    unsigned alone, pair, apart; /* cycles each: one wavefront; two of a port; one of each port */
};

Test(cdna, ports_and_banks_of_the_lds_limit_accesses)
{
    static const struct work_wavefront pair[] = {{.simd = 0, .slot = 0}, {.simd = 1, .slot = 0}};
    static const struct work_wavefront apart[] = {{.simd = 0, .slot = 0}, {.simd = 2, .slot = 0}};
    static const struct access accesses[] = {
        {"reads", V_SHIFT_2, {DS_READ, DS_READ_TO}, 4, 8, 4},
        {"writes", V_SHIFT_2, {DS_WRITE, DS_WRITE_FROM}, 8, 16, 8},
        {"reads of 16 bytes", V_SHIFT_4, {DS_READ4, DS_READ4_TO}, 16, 32, 16},
        {"writes of 16 bytes", V_SHIFT_4, {DS_WRITE4, DS_WRITE4_FROM}, 20, 40, 32},
        {"reads of one bank", V_SHIFT_7, {DS_READ, DS_READ_TO}, 64, 128, 128},
        {"writes of one bank", V_SHIFT_7, {DS_WRITE, DS_WRITE_FROM}, 128, 256, 256},
    };
    enum { COUNT = 6 }; /* twice as many are fewer than lgkmcnt counts */
    struct compute_unit_params p = cdna();
    p.lds_ports = 2;
    p.lds_write_cycles = 2;
    for (size_t i = 0; i < ARRAY_COUNT(accesses); i++) {
        const struct access *a = &accesses[i];
        uint64_t cycles[3][2];
        for (unsigned twice = 0; twice < 2; twice++) {
            uint32_t words[2 + 4 * COUNT] = {a->first};
            unsigned n = 1;
            for (unsigned k = 0; k < (unsigned)COUNT << twice; k++, n += 2)
                memcpy(words + n, a->access, 8);
            words[n++] = S_WAIT_LGKM;
            cycles[0][twice] = cycles_on(&p, words, n, one, 1);
            cycles[1][twice] = cycles_on(&p, words, n, pair, 2);
            cycles[2][twice] = cycles_on(&p, words, n, apart, 2);
        }
        const unsigned expected[3] = {a->alone, a->pair, a->apart};
        for (unsigned k = 0; k < 3; k++)
            cr_expect_eq(cycles[k][1] - cycles[k][0], COUNT * expected[k], "%s, %u: %llu of %u",
                         a->name, k, (unsigned long long)(cycles[k][1] - cycles[k][0]),
                         COUNT * expected[k]);
    }
}

/* What ds_swizzle_b32 has in place of an address is data: lanes of one bank, if it were one. */
Test(cdna, swizzled_data_are_no_addresses)
{
    static const uint32_t words[] = {V_SHIFT_7, DS_SWIZZLE, DS_SWIZZLE_TO, S_WAIT_LGKM};
    struct compute_unit_params p = cdna();
    set_up_with(&p);
    load(0, words, sizeof words / 4);
    launch(ARRIVAL - 1, 0, 0, 1, one, 0);
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    struct work_account a = accounts();
    cr_expect_eq(a.lds_busy, 2, "%llu", (unsigned long long)a.lds_busy);
    cr_expect_eq(a.lds_conflict, 0);
}

Test(cdna, a_write_keeps_its_registers_and_its_place)
{
    static const struct sequence sequences[] = {
        {"behind a write", {DS_WRITE, DS_WRITE_FROM, V_MOV}, 3, 8},
        {"over its data", {DS_WRITE, DS_WRITE_FROM, V_MOV_V1}, 3, 60 + 4},
        {"over its address", {DS_WRITE, DS_WRITE_FROM, V_ZERO}, 3, 60 + 4},
        {"another write", {DS_WRITE, DS_WRITE_FROM, DS_WRITE, DS_WRITE_FROM, V_MOV}, 5, 12 + 4},
        {"a read", {DS_WRITE, DS_WRITE_FROM, DS_READ, DS_READ_TO, V_MOV}, 5, 48 + 4 + 4},
    };
    struct compute_unit_params p = cdna();
    p.lds_ports = 2;
    p.lds_write_delay = 40;
    p.lds_write_hold = 60;
    for (size_t i = 0; i < ARRAY_COUNT(sequences); i++) {
        const struct sequence *s = &sequences[i];
        static const struct work_wavefront place[] = {{.simd = 0, .slot = 0}};
        uint32_t words[24] = {V_SHIFT_2};
        memcpy(words + 1, s->words, s->count * 4);
        /* An s_nop behind it, since s_endpgm waits for the LDS. */
        set_up_with(&p);
        load(0, words, s->count + 1);
        launch(ARRIVAL - 1, 0, 0, 1, place, 0);
        cr_assert_eq(harness_run(), ENGINE_IDLE);
        struct work_account a = accounts();
        uint64_t last = ended(0) - first_issue(ARRIVAL, 0) - a.slot_cycles[WORK_WAITING_STORES];
        cr_expect_eq(last, 4 + s->cycles, "%s: %llu", s->name, (unsigned long long)last);
    }
}

/* ---- memory on large platforms ---- */

static struct compute_unit_params on_a_large_platform(void)
{
    struct compute_unit_params p = cdna();
    bystanders = PLATFORM_LARGE;
    set_up_with(&p);
    return p;
}

static uint32_t word_at(uint32_t address)
{
    uint32_t word;
    memcpy(&word, harness_memory + address, sizeof word);
    return word;
}

/* v[vgpr] and a3 keep values over a load, and are stored then, at DATA + 512 * number. */
static void load_keeper(unsigned number, unsigned vgpr)
{
    const uint32_t keeper[] = {
        POINT_TO(2, DATA + 512 * number),
        0x7e0002ffu | vgpr << 17,
        0x1000 + number, /* v_mov_b32 v[vgpr] */
        0x7e0602ffu,
        0x2000 + number, /* v_mov_b32 v3 */
        0xd3d94003u,
        0x18000103u, /* v_accvgpr_write_b32 a3, v3 */
        FLAT_LOAD,
        0x02000000u,
        S_WAIT_VM,
        S_WAIT_LGKM,
        0x7e040300u | vgpr, /* v_mov_b32 v2, v[vgpr] */
        FLAT_STORE,
        0x00000200u,
        0xd3d84002u,
        0x18000103u, /* v_accvgpr_read_b32 v2, a3 */
        FLAT_STORE | 256,
        0x00000200u,
    };
    load(number, keeper, ARRAY_COUNT(keeper));
}

/* Numbers 0, 2 and 3 are alike; number 1 has other registers, between theirs. */
Test(cdna, of_a_large_platform_wavefronts_have_registers_of_their_own)
{
    static const struct work_wavefront places[] = {
        {.slot = 0}, {.slot = 1, .vgpr = 96}, {.slot = 2, .vgpr = 160}, {.slot = 3, .vgpr = 40}};
    on_a_large_platform();
    for (unsigned i = 0; i < 4; i++) {
        load_keeper(i, i == 1 ? 51 : 35);
        launch_vgprs = i == 1 ? 60 : 36;
        launch_agprs = 4;
        launch(ARRIVAL - 1 + 30 * i, (uint16_t)i, i, 1, &places[i], i == 1);
    }
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    for (unsigned i = 0; i < 4; i++) {
        for (unsigned lane = 0; lane < 64; lane++) {
            cr_assert_eq(word_at(DATA + 512 * i + 4 * lane), 0x1000 + i, "number %u", i);
            cr_assert_eq(word_at(DATA + 512 * i + 256 + 4 * lane), 0x2000 + i, "number %u", i);
        }
    }
}

/* 32 stores of 1 KiB wait for the port; what those have stored that are through is forgotten. */
Test(cdna, of_a_large_platform_stores_keep_their_bytes_until_they_are_sent)
{
    enum { WAVES = 8 };
    on_a_large_platform();
    launch_vgprs = 12;
    launch_agprs = 4;
    for (unsigned i = 0; i < WAVES; i++) {
        const uint32_t words[] = {
            POINT_TO(4, DATA + 4096 * i),
            0x7e0802ffu,
            0x3000 + i, /* v_mov_b32 v4, v5, v6, v7 */
            0x7e0a02ffu,
            0x4000 + i,
            0x7e0c02ffu,
            0x5000 + i,
            0x7e0e02ffu,
            0x6000 + i,
            0xdc7c0000u,
            0x00000400u,
            0xdc7c0400u,
            0x00000400u, /* flat_store_dwordx4 */
            0xdc7c0800u,
            0x00000400u,
            0xdc7c0c00u,
            0x00000400u,
        };
        const struct work_wavefront place = {.simd = (uint8_t)(i % 4), .slot = (uint8_t)(i / 4)};
        load(i, words, ARRAY_COUNT(words));
        launch(ARRIVAL - 1 + i, (uint16_t)i, i, 1, &place, 0);
    }
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    for (unsigned i = 0; i < WAVES; i++)
        for (unsigned at = 0; at < 4096; at += 4)
            cr_assert_eq(word_at(DATA + 4096 * i + at), 0x3000 + 0x1000 * (at / 4 % 4) + i,
                         "wavefront %u, byte %u", i, at);
}

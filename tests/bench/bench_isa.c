/* Nanoseconds of one wavefront instruction, decoded once, by operation and by variant of the vector
 * code.
 *
 * Prints a table: operation, then a column a variant the host can run; exec full, and in a last
 * column a partial exec. */
#include <stdio.h>
#include <time.h>

#include "base/number.h"
#include "tests/components/amd/isa/encode.h"

enum { REPEATS = 200000, ROUNDS = 5 };

static _Alignas(64) uint32_t registers[256 * 64];
static uint8_t lds[65536];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double measure(const struct isa_inst *inst, uint64_t exec)
{
    struct isa_context ctx = {
        .vgpr = registers, .vgpr_count = 256, .lds = lds, .lds_size = sizeof lds};
    struct isa_wave wave = {.mode = ISA_MODE_DEFAULT};
    double best = 1e30;
    for (unsigned round = 0; round < ROUNDS; round++) {
        isa_wave_set_pair(&wave, ISA_EXEC, exec);
        double start = now();
        for (unsigned i = 0; i < REPEATS; i++)
            isa_execute(&ctx, &wave, inst);
        double each = (now() - start) / REPEATS;
        best = min(each, best);
    }
    return best;
}

/* Address computation and data movement of a vector-memory instruction, without the memory. */
static void report_memory(const char *name, const uint32_t *word)
{
    static struct isa_memory memory;
    static uint8_t data[64 * 16];
    struct isa_context ctx = {.vgpr = registers,
                              .vgpr_count = 256,
                              .lds = lds,
                              .lds_size = sizeof lds,
                              .shared_aperture = UINT64_C(0x1000000000000),
                              .private_aperture = UINT64_C(0x2000000000000)};
    struct isa_wave wave = {.mode = ISA_MODE_DEFAULT};
    struct isa_inst inst;
    double best[2] = {1e30, 1e30};
    isa_wave_set_pair(&wave, ISA_EXEC, ~UINT64_C(0));
    wave.sgpr[10] = 1 << 20;
    if (isa_decode(ISA_GFX803, word, 12, &inst) < 0)
        return;
    for (unsigned round = 0; round < ROUNDS; round++) {
        double start = now();
        for (unsigned i = 0; i < REPEATS; i++)
            isa_memory_addresses(&ctx, &wave, &inst, &memory);
        double middle = now();
        for (unsigned i = 0; i < REPEATS; i++)
            if (memory.kind == ISA_MEMORY_LOAD)
                isa_memory_load(&ctx, &inst, &memory, data, 16);
            else
                isa_memory_store(&ctx, &inst, &memory, data, 16);
        double each[2] = {(middle - start) / REPEATS, (now() - middle) / REPEATS};
        for (unsigned i = 0; i < 2; i++)
            best[i] = min(each[i], best[i]);
    }
    printf("%-24s addresses %6.1f  data %6.1f\n", name, best[0], best[1]);
}

static void report(const char *name, const uint32_t *word)
{
    struct isa_inst inst;
    if (isa_decode(ISA_GFX803, word, 12, &inst) < 0) {
        printf("%-24s does not decode\n", name);
        return;
    }
    printf("%-24s", name);
    unsigned best = isa_variant_current();
    for (unsigned variant = 0; variant < isa_variant_count(); variant++)
        if (isa_variant_select(variant))
            printf(" %9.1f", measure(&inst, ~UINT64_C(0)));
    isa_variant_select(best);
    printf(" %9.1f\n", measure(&inst, UINT64_C(0x5555ffff0000ffff)));
}

static void fill(void)
{
    for (unsigned i = 0; i < 256 * 64; i++) {
        float value = 1.0f + (float)(i % 977) / 977.0f;
        memcpy(&registers[i], &value, 4);
    }
    for (unsigned lane = 0; lane < 64; lane++)
        registers[100 * 64 + lane] = lane * 4;
}

int main(void)
{
    static const char *const vector[] = {
        "v_mov_b32",     "v_add_u32",    "v_add_f32",       "v_mul_f32",     "v_mac_f32",
        "v_fma_f32",     "v_mad_f32",    "v_lshlrev_b32",   "v_and_b32",     "v_max_f32",
        "v_cndmask_b32", "v_cmp_lt_f32", "v_cmp_lt_i32",    "v_cmp_eq_u64",  "v_cvt_f32_i32",
        "v_cvt_i32_f32", "v_mul_lo_u32", "v_mul_hi_u32",    "v_mad_u64_u32", "v_lshlrev_b64",
        "v_add_f64",     "v_mul_f64",    "v_fma_f64",       "v_rcp_f32",     "v_sqrt_f32",
        "v_exp_f32",     "v_log_f32",    "v_sin_f32",       "v_add_f16",     "v_mad_u32_u24",
        "v_bfe_u32",     "v_addc_u32",   "v_div_scale_f32", "v_div_fmas_f64"};
    static const char *const scalar[] = {"s_mov_b32", "s_add_u32", "s_and_b64", "s_cmp_lt_i32",
                                         "s_and_saveexec_b64"};
    uint32_t word[3] = {0};
    fill();
    printf("%-24s", "ns a wavefront");
    for (unsigned variant = 0; variant < isa_variant_count(); variant++)
        printf(" %9s", isa_variant_name(variant));
    printf(" %9s\n", "part exec");
    for (size_t i = 0; i < ARRAY_COUNT(vector); i++) {
        bool compare = !strncmp(vector[i], "v_cmp", 5),
             mask = !strcmp(vector[i], "v_cndmask_b32") || !strcmp(vector[i], "v_addc_u32");
        encode_vop3(word, vector[i], compare ? 20 : 10, V0 + 20, V0 + 30, mask ? ISA_VCC : V0 + 40);
        report(vector[i], word);
    }
    encode_vop3(word, "v_add_f32", 10, 20, V0 + 30, 0);
    report("v_add_f32 with sgpr", word);
    for (size_t i = 0; i < ARRAY_COUNT(scalar); i++) {
        encode_scalar(word, scalar[i], 10, 20, 30);
        report(scalar[i], word);
    }
    encode_ds(word, "ds_read_b32", 10, 100, 0, 0, 0);
    report("ds_read_b32", word);
    encode_ds(word, "ds_write_b32", 0, 100, 20, 0, 0);
    report("ds_write_b32", word);
    encode_ds(word, "ds_add_u32", 0, 100, 20, 0, 0);
    report("ds_add_u32", word);
    encode_flat(word, "flat_load_dword", 10, 100, 0, false);
    report_memory("flat_load_dword", word);
    encode_flat(word, "flat_load_dwordx4", 10, 100, 0, false);
    report_memory("flat_load_dwordx4", word);
    encode_flat(word, "flat_store_dword", 0, 100, 20, false);
    report_memory("flat_store_dword", word);
    encode_mubuf(word, "buffer_load_dword", 10, 100, 8, 128, 1 << 12, 0);
    report_memory("buffer_load_dword", word);
    return 0;
}

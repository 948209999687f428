/* A / b, sqrt(a) and fma(a, b, c) of compiled kernels, in fp16, fp32 and fp64, against MPFR.
 *
 * Operands are all pairs, and some triples, of edges, and random ones with many halfway cases and
 * denormal results. A kernel runs with the treatment of denormals that it was compiled for, in each
 * rounding mode. The instructions of a quotient or root round as MODE says, so the whole is
 * correctly rounded to nearest only; in the other modes it is within a unit in the last place.
 *
 * What a unit off means in the other modes: each instruction of a quotient or root on floats, with
 * the sources that it really had, gives what float_oracle.c computes, bit for bit, or, of
 * reciprocals and roots, within their units. So the sequence gives what the same sequence of exact
 * instructions gives, and what is not correctly rounded is so by the compiler's sequence.
 *
 * HEDDLE_FULL in the environment: ten million of each to nearest, and all triples. Skipped, loudly,
 * without clang or the device libraries. */
#include <unistd.h>

#include "float_operands.h"
#include "kernel_wave.h"

enum { WAVES = 64, ITEMS = WAVES * 64, EDGES = 2 * FLOAT_EDGES };
enum function { DIVIDE, ROOT, FUSED, FUNCTIONS };

static uint8_t operand[3][ITEMS * 8];
static unsigned long checked[FUNCTIONS][3][4], inexact[FUNCTIONS][3][4], wrong;

static uint64_t get(const void *from, enum float_format f, unsigned i)
{
    uint64_t u = 0;
    memcpy(&u, (const uint8_t *)from + ((size_t)i << (f + 1)), (size_t)2 << f);
    return u;
}

static void put(void *to, enum float_format f, unsigned i, uint64_t u)
{
    memcpy((uint8_t *)to + ((size_t)i << (f + 1)), &u, (size_t)2 << f);
}

static uint64_t any_edge(enum float_format f, unsigned i)
{
    uint64_t sign = UINT64_C(1) << (fraction_bits(f) + exponent_bits(f));
    return edge_float(f, i % FLOAT_EDGES) | (i / FLOAT_EDGES % 2 ? sign : 0);
}

/* Numbers each combination of edges; the rest is random. */
static void fill(enum function function, enum float_format f, unsigned long from)
{
    unsigned long pairs = (unsigned long)EDGES * EDGES;
    unsigned long all = function == FUSED ? pairs * EDGES : pairs;
    for (unsigned i = 0; i < ITEMS; i++) {
        unsigned long n = from + i;
        uint64_t u[3] = {any_edge(f, (unsigned)(n % EDGES)),
                         any_edge(f, (unsigned)(n / EDGES % EDGES)),
                         any_edge(f, (unsigned)(n / pairs % EDGES))};
        if (n >= all) {
            for (unsigned j = 0; j < 3; j++)
                u[j] = random_float(f);
            relate_floats(f, u, 3);
            if (function == DIVIDE && random_below(2)) /* the quotient is known, or nearly */
                u[0] = float_fma(f, u[1], u[2], 0, random_below(4)) + random_below(3) - 1;
            if (function == ROOT && random_below(2))
                u[0] = float_fma(f, u[1], u[1], 0, random_below(4)) + random_below(3) - 1;
        }
        for (unsigned j = 0; j < 3; j++)
            put(operand[j], f, i, u[j]);
    }
}

static uint64_t expected_of(enum function function, enum float_format f, const uint64_t u[3],
                            unsigned round)
{
    switch (function) {
    case DIVIDE:
        return float_divide(f, u[0], u[1], round);
    case ROOT:
        return float_square_root(f, u[0], round);
    default:
        return float_fma(f, u[0], u[1], u[2], round);
    }
}

/* The distance of two numbers, counted in numbers between them. */
static uint64_t distance(enum float_format f, uint64_t a, uint64_t b)
{
    uint64_t sign = UINT64_C(1) << (fraction_bits(f) + exponent_bits(f));
    int64_t x = (int64_t)(a & (sign - 1)), y = (int64_t)(b & (sign - 1));
    x = a & sign ? -x : x;
    y = b & sign ? -y : y;
    return (uint64_t)(x < y ? y - x : x - y);
}

/* Next to each other; where denormals are flushed, zero is next to the least normal number. */
static bool is_close(enum float_format f, uint64_t got, uint64_t expected, bool flushes)
{
    uint64_t sign = UINT64_C(1) << (fraction_bits(f) + exponent_bits(f));
    uint64_t least = UINT64_C(1) << fraction_bits(f);
    bool flushed = flushes && (expected & (sign - 1)) == least && got == (expected & sign);
    return flushed || distance(f, got, expected) <= 1;
}

static void compare(enum function function, enum float_format f, unsigned round,
                    const uint8_t *addend)
{
    static const char *const names[FUNCTIONS] = {"divide", "root", "fused"};
    struct float_mode mode = float_mode_of(m.wave.mode);
    bool keeps = f == FP32 ? mode.keep32_in : mode.keep64_in;
    for (unsigned i = 0; i < ITEMS; i++) {
        uint64_t u[3] = {get(operand[0], f, i), get(operand[1], f, i), get(addend, f, i)};
        uint64_t got = get(operand[2], f, i);
        for (unsigned j = 0; j < 3 && !keeps; j++)
            u[j] = float_flush(f, u[j]);
        uint64_t expected = expected_of(function, f, u, round);
        bool nan = float_is_nan(f, expected) && float_is_nan(f, got);
        expected = keeps ? expected : float_flush(f, expected);
        checked[function][f][round]++;
        if (got == expected || nan)
            continue;
        inexact[function][f][round]++;
        bool approximate = round || (function == DIVIDE && f == FP16);
        if (function != FUSED && approximate && is_close(f, got, expected, !keeps))
            continue;
        if (wrong++ < 10)
            cr_log_error("%s %s%u(%llx, %llx, %llx), rounding %u: %llx, expected %llx",
                         isa_target_name(target), names[function], 16u << f,
                         (unsigned long long)u[0], (unsigned long long)u[1],
                         (unsigned long long)u[2], round, (unsigned long long)got,
                         (unsigned long long)expected);
    }
}

static void run_function(enum function function, enum float_format f, unsigned round,
                         unsigned long count)
{
    static const char *const names[FUNCTIONS] = {"divide", "root", "fused"};
    static uint8_t addend[sizeof operand[2]];
    char name[16];
    snprintf(name, sizeof name, "%s%u", names[function], 16u << f);
    for (unsigned long n = 0; n < count; n += ITEMS) {
        fill(function, f, n);
        memcpy(addend, operand[2], sizeof addend);
        run_kernel(name, WAVES, round, operand[0], operand[1], operand[2]);
        compare(function, f, round, addend);
    }
}

static bool compile(const char *output)
{
    const char *clang = getenv("CLANG") ? getenv("CLANG") : "clang-15";
    char command[1024];
    snprintf(
        command, sizeof command,
        "%s -x cl -cl-std=CL2.0 -target amdgcn-amd-amdhsa -mcpu=%s -mcode-object-version=4 -O3 "
        "-cl-fp32-correctly-rounded-divide-sqrt "
        "--rocm-device-lib-path=/usr/lib/x86_64-linux-gnu/amdgcn/bitcode "
        "%s/division.cl -o %s 2>/dev/null",
        clang, isa_target_name(target), TEST_SOURCE_DIR, output);
    return system(command) == 0;
}

static bool open_kernels(enum isa_target for_target)
{
    char path[64];
    target = for_target;
    snprintf(path, sizeof path, "/tmp/test_isa_division_%s_%d.hsaco", isa_target_name(target),
             (int)getpid());
    bool opened = compile(path) && load_code_object(path);
    remove(path);
    if (!opened) {
        fprintf(stderr, "SKIPPED: clang cannot compile for %s; no quotient was computed\n",
                isa_target_name(target));
        cr_skip_test("no compiler for %s", isa_target_name(target));
    }
    return opened;
}

/* ---- step by step ---- */

/* The instruction that is executed, as the oracle sees it before; row NULL: not on floats. */
static struct float_call now[64];
static unsigned long followed[512];

static const struct float_row *row_of(const struct isa_inst *inst)
{
    for (size_t i = 0; i < float_row_count; i++)
        if (!strcmp(float_rows[i].mnemonic, isa_mnemonic(inst)))
            return &float_rows[i];
    return NULL;
}

static uint64_t constant_of(uint16_t code, char type, uint32_t literal)
{
    static const double floats[] = {0.5, -0.5, 1, -1, 2, -2, 4, -4};
    int format = float_format_of(type);
    uint64_t u;
    if (code == 255)
        return type == 'd' ? (uint64_t)literal << 32 : literal;
    if (code < 240)
        return (uint64_t)(code <= 192 ? code - 128 : 192 - code);
    cr_assert_lt(code, 248);
    memcpy(&u, &floats[code - 240], sizeof u);
    return format < 0 ? u : float_round(FP64, (enum float_format)format, u, 0);
}

static uint64_t source_of(const struct isa_inst *inst, const struct float_row *row, unsigned i,
                          unsigned lane)
{
    char type = row->signature[2 + i];
    bool wide = strchr("do", type), half = strchr("hnuH", type), to = strstr(row->mnemonic, "ac_");
    uint16_t code = i == 2 && to ? inst->dst : inst->src[i];
    uint64_t sign = UINT64_C(1) << (half ? 15 : wide ? 63 : 31), u;
    if (code >= 256 && code < 512)
        u = m.vgpr[(code - 256) * 64 + lane]
            | (wide ? (uint64_t)m.vgpr[(code - 255) * 64 + lane] << 32 : 0);
    else if (code < 128)
        u = m.wave.sgpr[code] | (wide ? (uint64_t)m.wave.sgpr[code + 1] << 32 : 0);
    else
        u = constant_of(code, type, inst->literal);
    u &= sign | (sign - 1);
    u = inst->abs >> i & 1 ? u & ~sign : u;
    return inst->neg >> i & 1 ? u ^ sign : u;
}

static void step_begins(const struct isa_inst *inst, const struct float_row *row)
{
    for (unsigned lane = 0; lane < 64; lane++) {
        struct float_call c = {.row = row,
                               .mode = float_mode_of(m.wave.mode),
                               .gfx8 = !isa_is_gfx9(target),
                               .bit = isa_wave_vcc(&m.wave) >> lane & 1};
        for (unsigned i = 0; i < strlen(row->signature) - 2; i++)
            c.source[i] = source_of(inst, row, i, lane);
        now[lane] = c;
    }
}

static bool lane_is_right(const struct isa_inst *inst, struct float_call *c, unsigned lane)
{
    bool mask = false;
    unsigned at = (inst->dst - 256u) * 64 + lane;
    uint64_t expected = float_row_result(c, &mask), got;
    if (c->to < 0 && strchr("bB", c->row->signature[0]))
        return expected == (isa_wave_pair(&m.wave, inst->sdst) >> lane & 1);
    got = m.vgpr[at] | (c->to == FP64 ? (uint64_t)m.vgpr[at + 64] << 32 : 0);
    got &= c->to == FP16 ? 0xffff : ~UINT64_C(0);
    if (c->to >= 0)
        expected =
            float_output((enum float_format)c->to, expected, &c->mode, inst->omod, inst->clamp);
    if ((c->row->flags & ROW_FLAG) && mask != (isa_wave_pair(&m.wave, inst->sdst) >> lane & 1))
        return false;
    return got == expected || ((c->row->flags & ROW_APPROX) && float_row_accepts(c, got));
}

static void follow(const struct isa_inst *inst, bool done)
{
    const struct float_row *row = row_of(inst);
    const char *name = isa_mnemonic(inst);
    if (!row) {
        bool floats = name[0] == 'v'
                      && (strstr(name, "_f16") || strstr(name, "_f32") || strstr(name, "_f64"));
        cr_assert(!floats || strstr(name, "cndmask"), "nobody knows what %s computes", name);
        return;
    }
    cr_assert_eq(inst->opsel | (inst->flags & (ISA_IS_SDWA | ISA_IS_DPP)), 0, "%s", name);
    if (!done) {
        step_begins(inst, row);
        return;
    }
    for (unsigned lane = 0; lane < 64; lane++) {
        struct float_call c = now[lane];
        if (!(isa_wave_pair(&m.wave, ISA_EXEC) >> lane & 1) || lane_is_right(inst, &c, lane))
            continue;
        if (wrong++ < 10)
            cr_log_error("%s %s(%llx, %llx, %llx), mode %x", isa_target_name(target), name,
                         (unsigned long long)now[lane].source[0],
                         (unsigned long long)now[lane].source[1],
                         (unsigned long long)now[lane].source[2], m.wave.mode);
    }
    followed[row - float_rows]++;
}

static void follow_all(enum isa_target for_target)
{
    const char *setting = getenv("HEDDLE_FULL");
    unsigned long count = setting && *setting ? 100000 : 1;
    if (!open_kernels(for_target))
        return;
    watch = follow;
    for (unsigned function = 0; function < FUSED; function++)
        for (unsigned f = FP16; f <= FP64; f++)
            for (unsigned round = 0; round < 4; round++)
                run_function((enum function)function, (enum float_format)f, round, count);
    cr_assert_eq(wrong, 0, "%lu results are wrong", wrong);
    for (size_t i = 0; i < float_row_count; i++) {
        const char *name = float_rows[i].mnemonic;
        if (strstr("v_div_scale_f32 v_div_fmas_f32 v_div_fixup_f32 v_rcp_f32 v_fma_f32 "
                   "v_div_scale_f64 v_div_fmas_f64 v_div_fixup_f64 v_rcp_f64 v_fma_f64 "
                   "v_rsq_f64 v_sqrt_f16 v_div_fixup_f16",
                   name))
            cr_assert_gt(followed[i], 0, "no %s was executed", name);
    }
}

Test(isa_division, of_gfx803_is_exact_step_by_step_in_each_mode)
{
    follow_all(ISA_GFX803);
}

Test(isa_division, of_gfx906_is_exact_step_by_step_in_each_mode)
{
    follow_all(ISA_GFX906);
}

/* ---- as a whole ---- */

static void run_all(enum isa_target for_target)
{
    const char *setting = getenv("HEDDLE_FULL");
    bool full = setting && *setting;
    unsigned long edges = (unsigned long)EDGES * EDGES;
    if (!open_kernels(for_target))
        return;
    for (unsigned function = 0; function < FUNCTIONS; function++)
        for (unsigned f = FP16; f <= FP64; f++)
            for (unsigned round = 0; round < 4; round++) {
                unsigned long some = edges + 4000;
                unsigned long many = (round ? 2000000 : 10000000) + edges * EDGES;
                run_function((enum function)function, (enum float_format)f, round,
                             full    ? many
                             : round ? edges
                                     : some);
                if (full)
                    fprintf(stderr,
                            "%s function %u fp%u rounding %u: %lu, not correctly rounded %lu\n",
                            isa_target_name(target), function, 16u << f, round,
                            checked[function][f][round], inexact[function][f][round]);
            }
    cr_assert_eq(wrong, 0, "%lu results are wrong", wrong);
}

Test(isa_division, of_gfx803_is_correctly_rounded)
{
    run_all(ISA_GFX803);
}

Test(isa_division, of_gfx906_is_correctly_rounded)
{
    run_all(ISA_GFX906);
}

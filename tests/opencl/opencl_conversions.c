/* Convert_TYPE[_sat][_ROUNDING]() and vstore_half[_ROUNDING]() on a simulated GPU against exact
 * conversions by MPFR.
 *
 * opencl_conversions [TYPE...]: from these types, or from all. Results that OpenCL leaves open
 * (what does not fit, without _sat) are not compared. */
#include <hip/hip_runtime_api.h>
#include <mpfr.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "components/opencl/compiler/opencl_compiler.h"

#define HIP_MUST(call)                                                                             \
    do {                                                                                           \
        hipError_t must_error = (call);                                                            \
        if (must_error != hipSuccess) {                                                            \
            printf("FAIL opencl_conversions: line %d: %s\n", __LINE__,                             \
                   hipGetErrorName(must_error));                                                   \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

enum { VALUES = 512, GROUP = 256 };

/* Floats have a precision. */
static const struct type {
    const char *name;
    int bits;
    bool is_signed;
    int precision, most;
    const char *as; /* of bits, or what makes 64 bits of it */
} types[] = {
    {"char", 8, true, 0, 0, "(ulong)(long)"},   {"uchar", 8, false, 0, 0, "(ulong)"},
    {"short", 16, true, 0, 0, "(ulong)(long)"}, {"ushort", 16, false, 0, 0, "(ulong)"},
    {"int", 32, true, 0, 0, "(ulong)(long)"},   {"uint", 32, false, 0, 0, "(ulong)"},
    {"long", 64, true, 0, 0, "(ulong)"},        {"ulong", 64, false, 0, 0, ""},
    {"half", 16, true, 11, 15, "as_ushort"},    {"float", 32, true, 24, 127, "as_uint"},
    {"double", 64, true, 53, 1023, "as_ulong"},
};
enum { TYPES = sizeof types / sizeof types[0], HALF = 8 };

static const struct {
    const char *suffix;
    mpfr_rnd_t of_floats, of_integers;
} roundings[] = {{"", MPFR_RNDN, MPFR_RNDZ},
                 {"_rte", MPFR_RNDN, MPFR_RNDN},
                 {"_rtz", MPFR_RNDZ, MPFR_RNDZ},
                 {"_rtp", MPFR_RNDU, MPFR_RNDU},
                 {"_rtn", MPFR_RNDD, MPFR_RNDD}};
enum { ROUNDINGS = sizeof roundings / sizeof roundings[0] };

/* One column of results. */
struct column {
    const struct type *to;
    int rounding;
    bool saturates, stores; /* stores: vstore_half */
};

static uint64_t state = 1;

static uint64_t any(void) /* splitmix64 */
{
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* ---- numbers ---- */

static void load(const struct type *type, uint64_t bits, mpfr_t value)
{
    int fraction_bits = type->precision - 1;
    if (type->precision == 0) {
        if (type->is_signed)
            mpfr_set_sj(value, (int64_t)(bits << (64 - type->bits)) >> (64 - type->bits),
                        MPFR_RNDN);
        else
            mpfr_set_uj(value, bits, MPFR_RNDN);
        return;
    }
    uint64_t fraction = bits & ((UINT64_C(1) << fraction_bits) - 1);
    int field = (int)(bits >> fraction_bits) & (2 * type->most + 1);
    bool negative = bits >> (type->bits - 1) & 1;
    if (field == 2 * type->most + 1) {
        mpfr_set_inf(value, negative ? -1 : 1);
        if (fraction)
            mpfr_set_nan(value);
        return;
    }
    fraction |= field ? UINT64_C(1) << fraction_bits : 0;
    mpfr_set_ui_2exp(value, fraction, (field ? field : 1) - type->most - fraction_bits, MPFR_RNDN);
    mpfr_setsign(value, value, negative, MPFR_RNDN);
}

/* Bits of the number, rounded to the float type. */
static uint64_t round_to_float(const struct type *type, const mpfr_t value, mpfr_rnd_t rounding)
{
    mpfr_exp_t least = mpfr_get_emin(), most = mpfr_get_emax();
    uint64_t sign = mpfr_signbit(value) ? UINT64_C(1) << (type->bits - 1) : 0;
    uint64_t one = UINT64_C(1) << (type->precision - 1), bits;
    mpfr_t r;
    mpfr_init2(r, type->precision);
    int ternary = mpfr_set(r, value, rounding);
    mpfr_set_emin(3 - type->most - type->precision + 1 - 1);
    mpfr_set_emax(type->most + 1);
    ternary = mpfr_check_range(r, ternary, rounding);
    mpfr_subnormalize(r, ternary, rounding);
    mpfr_set_emin(least);
    mpfr_set_emax(most);
    mpfr_abs(r, r, MPFR_RNDN);
    if (mpfr_inf_p(r)) {
        bits = (uint64_t)(2 * type->most + 1) * one;
    } else if (mpfr_zero_p(r)) {
        bits = 0;
    } else {
        int field = (int)mpfr_get_exp(r) - 1 + type->most;
        field = field < 1 ? 1 : field;
        mpfr_mul_2si(r, r, type->most + type->precision - 1 - field, MPFR_RNDN);
        bits = mpfr_get_uj(r, MPFR_RNDN) + (uint64_t)(field - 1) * one;
    }
    mpfr_clear(r);
    return sign | bits;
}

/* rocm-device-libs 5.2.3 clamps an int or long to 16 bits before it rounds it to a half other than
 * to the nearest, and rounds a short to a half towards zero where it is to be rounded down. */
static bool is_wrong_in_library(const struct type *from, const struct column *column,
                                const mpfr_t value)
{
    bool to_half = column->to->precision == 11 && !column->stores && column->rounding > 1;
    if (!to_half || from->precision > 0 || !from->is_signed)
        return false;
    return from->bits == 16
               ? column->rounding == 4 && mpfr_sgn(value) < 0
               : from->bits > 16 && mpfr_cmp_si(value, 32767) * mpfr_cmp_si(value, -32768) >= 0;
}

/* Sets what the conversion makes. False: that is open, as it is for a NaN, which "should" be 0. */
static bool convert(const struct column *column, const mpfr_t value, uint64_t *bits)
{
    const struct type *to = column->to;
    mpfr_t whole, least, most;
    bool defined = true;
    if (to->precision > 0) {
        *bits = round_to_float(to, value, roundings[column->rounding].of_floats);
        return !mpfr_nan_p(value);
    }
    mpfr_inits2(1100, whole, least, most, (mpfr_ptr)NULL);
    mpfr_set_ui_2exp(most, 1, to->bits - to->is_signed, MPFR_RNDN);
    mpfr_neg(least, most, MPFR_RNDN);
    mpfr_sub_ui(most, most, 1, MPFR_RNDN);
    if (!to->is_signed)
        mpfr_set_zero(least, 1);
    if (mpfr_nan_p(value))
        mpfr_set_zero(whole, 1);
    else
        mpfr_rint(whole, value, roundings[column->rounding].of_integers);
    defined = !mpfr_nan_p(value) && mpfr_cmp(whole, least) >= 0 && mpfr_cmp(whole, most) <= 0;
    if (mpfr_cmp(whole, least) < 0)
        mpfr_set(whole, least, MPFR_RNDN);
    if (mpfr_cmp(whole, most) > 0)
        mpfr_set(whole, most, MPFR_RNDN);
    *bits = to->is_signed ? (uint64_t)mpfr_get_sj(whole, MPFR_RNDN)
                          : (uint64_t)mpfr_get_uj(whole, MPFR_RNDN);
    mpfr_clears(whole, least, most, (mpfr_ptr)NULL);
    return defined || (column->saturates && !mpfr_nan_p(value));
}

static uint64_t any_value(const struct type *from)
{
    static const int64_t whole[] = {0,
                                    1,
                                    2,
                                    127,
                                    128,
                                    129,
                                    255,
                                    256,
                                    32767,
                                    32768,
                                    65535,
                                    65536,
                                    2047,
                                    2048,
                                    2049,
                                    16777215,
                                    16777216,
                                    16777217,
                                    65504,
                                    65519,
                                    65520,
                                    2147483647,
                                    2147483648,
                                    4294967295,
                                    4294967296,
                                    INT64_MAX,
                                    INT64_MAX - 511,
                                    INT64_MAX - 1024};
    uint64_t bits = any(), mask = from->bits == 64 ? ~UINT64_C(0) : (UINT64_C(1) << from->bits) - 1;
    mpfr_t value;
    if (bits % 4 == 0)
        return any() & mask;
    mpfr_init2(value, 80);
    mpfr_set_sj(value, whole[bits / 4 % (sizeof whole / sizeof whole[0])], MPFR_RNDN);
    if (from->precision > 0 && bits >> 20 & 1) /* or a part of it */
        mpfr_div_2ui(value, value, bits >> 21 & 31, MPFR_RNDN);
    if (from->precision > 0 && bits >> 26 & 1)
        mpfr_mul_ui(value, value, (bits >> 27 & 1023) + 1, MPFR_RNDN);
    if (bits >> 40 & 1)
        mpfr_neg(value, value, MPFR_RNDN);
    uint64_t made = from->precision > 0 ? round_to_float(from, value, MPFR_RNDN)
                                        : (uint64_t)mpfr_get_sj(value, MPFR_RNDN) & mask;
    mpfr_clear(value);
    return made;
}

/* ---- running ---- */

static unsigned make_columns(const struct type *from,
                             struct column columns[TYPES * ROUNDINGS * 2 + 5])
{
    unsigned count = 0;
    for (int to = 0; to < TYPES; to++)
        for (int rounding = 0; rounding < ROUNDINGS; rounding++)
            for (int saturates = 0; saturates < (types[to].precision ? 1 : 2); saturates++)
                columns[count++] = (struct column){&types[to], rounding, saturates, false};
    for (int rounding = 0; rounding < ROUNDINGS && from->precision > 11; rounding++)
        columns[count++] = (struct column){&types[HALF], rounding, false, true};
    return count;
}

static char *make_source(const struct type *from, const struct column *columns, unsigned count)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    fprintf(out,
            "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
            "kernel void k(global const %s *in, global ulong *out) {\n"
            "  size_t i = get_global_id(0), n = get_global_size(0); %s a = in[i];\n",
            from->name, from->name);
    for (unsigned i = 0; i < count; i++) {
        const char *suffix = roundings[columns[i].rounding].suffix;
        if (columns[i].stores)
            fprintf(
                out,
                "  out[n * %u + i] = 0; vstore_half%s(a, 0, (global half *)(out + n * %u + i));\n",
                i, suffix, i);
        else
            fprintf(out, "  out[n * %u + i] = %s(convert_%s%s%s(a));\n", i, columns[i].to->as,
                    columns[i].to->name, columns[i].saturates ? "_sat" : "", suffix);
    }
    fputs("}\n", out);
    fclose(out);
    return text;
}

static void execute(const char *source, const uint8_t *in, size_t in_bytes, uint64_t *out,
                    size_t out_bytes)
{
    hipDeviceProp_t properties;
    hipModule_t module;
    hipFunction_t function;
    void *device_in, *device_out, *arguments[] = {&device_in, &device_out};
    struct opencl_built built;
    const struct opencl_text text = {NULL, source, strlen(source)};
    HIP_MUST(hipGetDeviceProperties(&properties, 0));
    const struct opencl_job job = {.sources = &text,
                                   .source_count = 1,
                                   .options = "-cl-std=CL2.0 -w",
                                   .target = properties.gcnArchName,
                                   .links = true};
    if (opencl_compile(&job, &built) != OPENCL_BUILD_OK) {
        printf("FAIL opencl_conversions: %s\n", built.log);
        exit(1);
    }
    HIP_MUST(hipModuleLoadData(&module, built.bytes));
    opencl_built_release(&built);
    HIP_MUST(hipModuleGetFunction(&function, module, "k"));
    HIP_MUST(hipMalloc(&device_in, in_bytes));
    HIP_MUST(hipMalloc(&device_out, out_bytes));
    HIP_MUST(hipMemcpy(device_in, in, in_bytes, hipMemcpyHostToDevice));
    HIP_MUST(hipModuleLaunchKernel(function, VALUES / GROUP, 1, 1, GROUP, 1, 1, 0, NULL, arguments,
                                   NULL));
    HIP_MUST(hipMemcpy(out, device_out, out_bytes, hipMemcpyDeviceToHost));
    HIP_MUST(hipFree(device_in));
    HIP_MUST(hipFree(device_out));
    HIP_MUST(hipModuleUnload(module));
}

/* A denormal float may be a zero where the device flushes it. */
static bool agree(const struct column *column, uint64_t got, uint64_t expected, bool flushes)
{
    uint64_t magnitude = expected & 0x7fffffff;
    bool tiny = column->to->precision == 24 && magnitude < 0x800000;
    return got == expected || (flushes && tiny && (got & 0x7fffffff) == 0);
}

/* As above, where the device takes a denormal argument for a zero. */
static bool agrees_with_zero(const struct type *from, const struct column *column, uint64_t bits,
                             uint64_t got, mpfr_t value)
{
    uint64_t expected;
    if (from->precision != 24 || (bits & 0x7fffffff) >= 0x800000)
        return false;
    mpfr_set_zero(value, bits >> 31 ? -1 : 1);
    return convert(column, value, &expected) && agree(column, got, expected, true);
}

/* Returns how many results are wrong. */
static unsigned check(const struct type *from, bool flushes, unsigned *checked)
{
    struct column columns[TYPES * ROUNDINGS * 2 + 5];
    unsigned count = make_columns(from, columns), wrong = 0, bytes = (unsigned)from->bits / 8;
    uint64_t values[VALUES], *out = calloc((size_t)count * VALUES, sizeof *out);
    uint8_t in[VALUES * 8];
    char *source = make_source(from, columns, count);
    mpfr_t value;
    for (unsigned i = 0; i < VALUES; i++) {
        values[i] = any_value(from);
        memcpy(in + (size_t)i * bytes, &values[i], bytes);
    }
    execute(source, in, (size_t)VALUES * bytes, out, (size_t)count * VALUES * sizeof *out);
    mpfr_init2(value, 80);
    for (unsigned c = 0; c < count; c++)
        for (unsigned i = 0, told = 0; i < VALUES; i++) {
            uint64_t expected, got = out[(size_t)c * VALUES + i];
            load(from, values[i], value);
            if (!convert(&columns[c], value, &expected)
                || is_wrong_in_library(from, &columns[c], value))
                continue;
            ++*checked;
            if (agree(&columns[c], got, expected, flushes)
                || (flushes && agrees_with_zero(from, &columns[c], values[i], got, value)))
                continue;
            wrong++;
            if (told++ == 0)
                printf("BAD  %s(%s %#llx) is %#llx, not %#llx; %s%s%s\n",
                       columns[c].stores ? "vstore_half" : "convert", from->name,
                       (unsigned long long)values[i], (unsigned long long)got,
                       (unsigned long long)expected, columns[c].to->name,
                       columns[c].saturates ? "_sat" : "", roundings[columns[c].rounding].suffix);
        }
    mpfr_clear(value);
    free(source);
    free(out);
    return wrong;
}

int main(int count, char **words)
{
    hipDeviceProp_t properties;
    unsigned wrong = 0, checked = 0;
    HIP_MUST(hipGetDeviceProperties(&properties, 0));
    bool flushes = strncmp(properties.gcnArchName, "gfx8", 4) == 0;
    for (int i = 0; i < TYPES; i++) {
        bool chosen = count == 1;
        for (int word = 1; word < count; word++)
            chosen |= strcmp(words[word], types[i].name) == 0;
        if (chosen)
            wrong += check(&types[i], flushes, &checked);
    }
    printf("%s opencl_conversions: %u of %u results are wrong\n",
           wrong || !checked ? "FAIL" : "PASS", wrong, checked);
    return wrong || !checked;
}

/* Built-in functions of OpenCL C on a simulated GPU against MPFR.
 *
 * opencl_builtins [--values N] [--table] [--format FORMAT] [NAME...]: compiles a kernel for each
 * row of builtin_rows.c, for the device, and compares N results of each with the exact ones.
 * --table prints the largest error of each. A row's name may end in '*'. */
#include <hip/hip_runtime_api.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "components/opencl/compiler/opencl_compiler.h"

#include "builtin_rows.h"

#define HIP_MUST(call)                                                                             \
    do {                                                                                           \
        hipError_t must_error = (call);                                                            \
        if (must_error != hipSuccess) {                                                            \
            printf("FAIL opencl_builtins: line %d: %s\n", __LINE__, hipGetErrorName(must_error));  \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

enum { BUILTIN_ROWS_MAX = 100, GROUP = 256, PRECISION = 240, PRECISION_WIDE = 4600 };

struct options {
    unsigned values;
    bool table;
    const char *format;
    char **names;
    int name_count;
};

static unsigned failures;
static double worst[BUILTIN_ROWS_MAX][BUILTIN_FORMATS]; /* ulps; NaN: not checked */

/* ---- arguments ---- */

static uint64_t random_state = 1;

static uint64_t random_bits(void) /* splitmix64 */
{
    uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* The number's bits in the format; what does not fit is cut off or infinite. */
static uint64_t bits_of(const struct builtin_shape *shape, double number)
{
    int exponent, fraction_bits = shape->precision - 1;
    uint64_t sign = signbit(number) ? UINT64_C(1) << (shape->bits - 1) : 0;
    uint64_t infinity = (uint64_t)(2 * shape->most + 1) << fraction_bits;
    double fraction = frexp(fabs(number), &exponent);
    if (isnan(number))
        return infinity | UINT64_C(1) << (fraction_bits - 1);
    if (number == 0)
        return sign;
    if (isinf(number) || exponent - 1 > shape->most)
        return sign | infinity;
    int field = exponent - 1 + shape->most;
    if (field < 1)
        return sign | (uint64_t)ldexp(fraction, fraction_bits + field);
    uint64_t whole = (uint64_t)ldexp(fraction, fraction_bits + 1);
    return sign | (((uint64_t)field << fraction_bits) + whole - (UINT64_C(1) << fraction_bits));
}

static const double simple[] = {0,
                                0.25,
                                0.5,
                                1,
                                1.5,
                                2,
                                2.5,
                                3,
                                3.5,
                                4,
                                5,
                                7.5,
                                8,
                                10,
                                16,
                                33,
                                63.5,
                                100,
                                127,
                                128,
                                M_PI_4,
                                M_PI_2,
                                M_PI,
                                3 * M_PI_2,
                                M_LN2,
                                M_E,
                                11.09,
                                88.7228,
                                89,
                                103.9,
                                104,
                                149,
                                150,
                                171.62,
                                709.78,
                                745.13,
                                1024,
                                4096,
                                8388607.5,
                                8388608,
                                16777216,
                                1e10,
                                4503599627370496.0,
                                1e16,
                                1e30,
                                INFINITY,
                                NAN};

static uint64_t any_value(const struct builtin_shape *shape)
{
    uint64_t bits = random_bits(), way = random_bits() % 16, sign = bits & 1 ? ~UINT64_C(0) : 0;
    uint64_t top = UINT64_C(1) << (shape->bits - 1);
    uint64_t one = UINT64_C(1) << (shape->precision - 1);
    uint64_t infinity = (uint64_t)(2 * shape->most + 1) * one;
    if (way < 5) { /* a simple number, or a neighbour */
        uint64_t value = bits_of(shape, simple[bits / 4 % (sizeof simple / sizeof simple[0])]);
        uint64_t near = random_bits() % 4 == 0 ? 1 : 0;
        return (sign & top) | (value + near < infinity ? value + near : value);
    }
    if (way < 7) { /* at the ends of the format's ranges */
        const uint64_t ends[] = {1,   2,       one / 2,      one - 1,
                                 one, one + 1, infinity - 1, infinity - one};
        return (sign & top) | ends[bits / 4 % 8];
    }
    if (way < 10) /* any */
        return bits & (top | (top - 1));
    int exponent = (int)(random_bits() % 24) - 14;
    double value = ldexp(1 + (double)(bits >> 12) / 0x1p52, exponent);
    return bits_of(shape, bits & 2 ? -value : value);
}

static int64_t any_integer(void)
{
    static const int ends[] = {0,    1,   -1,  2,    -2,    3,          -3,
                               4,    5,   -5,  7,    10,    31,         -126,
                               -149, 127, 128, 1023, -1074, 2147483647, -2147483647 - 1};
    uint64_t bits = random_bits();
    if (bits & 1)
        return ends[bits / 2 % (sizeof ends / sizeof ends[0])];
    return (int64_t)(bits / 2 % 65) - 32;
}

/* ---- kernels ---- */

static bool is_chosen(const struct builtin_row *row, enum builtin_format format,
                      const struct options *options)
{
    const char *type = builtin_shapes[format].type;
    if (format != BUILTIN_FLOAT && row->flags & BUILTIN_HALF_FORM)
        return false;
    if (options->format && strcmp(options->format, type) != 0)
        return false;
    for (int i = 0; i < options->name_count; i++) {
        const char *name = options->names[i], *star = strchr(name, '*');
        if (star ? strncmp(row->name, name, (size_t)(star - name)) == 0
                 : strcmp(row->name, name) == 0)
            return true;
    }
    return options->name_count == 0;
}

/* OpenCL C: kernel f12 evaluates row 12. */
static char *make_source(enum builtin_format format, const struct options *options)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    const char *type = builtin_shapes[format].type;
    fprintf(out,
            "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
            "#pragma OPENCL FP_CONTRACT OFF\n"
            "typedef %s T;\n",
            type);
    for (unsigned i = 0; i < builtin_row_count; i++) {
        const struct builtin_row *row = &builtin_rows[i];
        if (!is_chosen(row, format, options))
            continue;
        fprintf(out,
                "kernel void f%u(global const T *as, global const %s *bs, global const T *cs,\n"
                "                global %s *out)\n"
                "{ size_t i = get_global_id(0); T a = as[i]; %s b = bs[i]; T c = cs[i];\n"
                "  out[i] = %s; }\n",
                i, row->flags & BUILTIN_INTEGER_B ? "int" : "T",
                row->flags & BUILTIN_INTEGER ? "int" : "T",
                row->flags & BUILTIN_INTEGER_B ? "int" : "T", row->expression);
    }
    fclose(out);
    return text;
}

static hipModule_t load(enum builtin_format format, const struct options *options)
{
    hipDeviceProp_t properties;
    hipModule_t module;
    struct opencl_built built;
    char *source = make_source(format, options);
    const struct opencl_text text = {NULL, source, strlen(source)};
    HIP_MUST(hipGetDeviceProperties(&properties, 0));
    const struct opencl_job job = {.sources = &text,
                                   .source_count = 1,
                                   .options = "-cl-std=CL2.0 -w",
                                   .target = properties.gcnArchName,
                                   .links = true};
    if (opencl_compile(&job, &built) != OPENCL_BUILD_OK) {
        printf("FAIL opencl_builtins: %s\n", built.log);
        exit(1);
    }
    HIP_MUST(hipModuleLoadData(&module, built.bytes));
    opencl_built_release(&built);
    free(source);
    return module;
}

/* ---- one row ---- */

struct run {
    const struct builtin_row *row;
    enum builtin_format format;
    bool flushes;
    unsigned count;
    uint64_t *inputs[3], *results;
    double worst;
    uint64_t worst_inputs[3], worst_result;
};

static unsigned bytes_of(const struct run *run, unsigned argument)
{
    bool integer = argument == 3 ? run->row->flags & BUILTIN_INTEGER
                                 : argument == 1 && run->row->flags & BUILTIN_INTEGER_B;
    return integer ? 4 : (unsigned)builtin_shapes[run->format].bits / 8;
}

static void fill(struct run *run)
{
    const struct builtin_shape *shape = &builtin_shapes[run->format];
    bool all = shape->bits == 16 && run->row->arguments == 1 && run->count >= 65536;
    for (unsigned i = 0; i < run->count; i++)
        for (unsigned argument = 0; argument < 3; argument++) {
            bool integer = argument == 1 && run->row->flags & BUILTIN_INTEGER_B;
            run->inputs[argument][i] = integer ? (uint64_t)any_integer()
                                       : all   ? i & 0xffff
                                               : any_value(shape);
        }
}

/* Copies numbers of 64 bits into an array of narrower ones, or back. */
static void pack(uint64_t *wide, uint8_t *narrow, unsigned bytes, unsigned count, bool back)
{
    for (unsigned i = 0; i < count; i++) {
        if (back)
            wide[i] = 0;
        memcpy(back ? (uint8_t *)&wide[i] : narrow + (size_t)i * bytes,
               back ? narrow + (size_t)i * bytes : (uint8_t *)&wide[i], bytes);
    }
}

static void execute(struct run *run, hipModule_t module, unsigned number)
{
    void *device[4], *arguments[4];
    uint8_t *narrow = malloc((size_t)run->count * 8);
    hipFunction_t function;
    char name[16];
    snprintf(name, sizeof name, "f%u", number);
    HIP_MUST(hipModuleGetFunction(&function, module, name));
    for (unsigned i = 0; i < 4; i++) {
        HIP_MUST(hipMalloc(&device[i], (size_t)run->count * 8));
        arguments[i] = &device[i];
        if (i == 3)
            break;
        pack(run->inputs[i], narrow, bytes_of(run, i), run->count, false);
        HIP_MUST(hipMemcpy(device[i], narrow, (size_t)run->count * bytes_of(run, i),
                           hipMemcpyHostToDevice));
    }
    HIP_MUST(hipModuleLaunchKernel(function, run->count / GROUP, 1, 1, GROUP, 1, 1, 0, NULL,
                                   arguments, NULL));
    HIP_MUST(
        hipMemcpy(narrow, device[3], (size_t)run->count * bytes_of(run, 3), hipMemcpyDeviceToHost));
    pack(run->results, narrow, bytes_of(run, 3), run->count, true);
    for (unsigned i = 0; i < 4; i++)
        HIP_MUST(hipFree(device[i]));
    free(narrow);
}

/* How far result `i` is from the exact one; `flushed`: denormal arguments are zeros. */
static double distance(const struct run *run, unsigned i, bool flushed, mpfr_t values[3],
                       mpfr_t exact)
{
    const struct builtin_row *row = run->row;
    struct builtin_inputs inputs = {.value = values, .format = run->format};
    for (unsigned argument = 0; argument < row->arguments; argument++) {
        uint64_t bits = run->inputs[argument][i];
        if (argument == 1 && row->flags & BUILTIN_INTEGER_B) {
            inputs.integer = (int32_t)bits;
            continue;
        }
        if (flushed && builtin_is_denormal(run->format, bits))
            bits &= UINT64_C(1) << (builtin_shapes[run->format].bits - 1);
        builtin_load(run->format, bits, values[argument]);
    }
    if (row->flags & BUILTIN_HALF_FORM && mpfr_number_p(values[0])
        && fabs(mpfr_get_d(values[0], MPFR_RNDN)) > 65536)
        return 0;
    if (!row->exact(&inputs, exact))
        return 0;
    if (row->flags & BUILTIN_INTEGER)
        return mpfr_get_si(exact, MPFR_RNDN) == (int32_t)run->results[i] ? 0 : INFINITY;
    return builtin_distance(row, run->format, run->results[i], exact, run->flushes);
}

static void compare(struct run *run)
{
    mpfr_t values[3], exact;
    bool wide = run->row->limit[run->format] == 0 && !(run->row->flags & BUILTIN_UNLIMITED);
    for (int i = 0; i < 3; i++)
        mpfr_init2(values[i], 64);
    mpfr_init2(exact, wide ? PRECISION_WIDE : PRECISION);
    for (unsigned i = 0; i < run->count; i++) {
        double ulps = distance(run, i, false, values, exact);
        if (run->flushes && ulps > 0)
            ulps = fmin(ulps, distance(run, i, true, values, exact));
        if (ulps <= run->worst)
            continue;
        run->worst = ulps;
        run->worst_result = run->results[i];
        for (int argument = 0; argument < 3; argument++)
            run->worst_inputs[argument] = run->inputs[argument][i];
    }
    for (int i = 0; i < 3; i++)
        mpfr_clear(values[i]);
    mpfr_clear(exact);
}

/* Says what is beyond the limit, and keeps the error for the table. */
static void report(const struct run *run)
{
    const struct builtin_row *row = run->row;
    double limit = fmax(row->limit[run->format], row->library[run->format]);
    worst[row - builtin_rows][run->format] = run->worst;
    if (run->worst <= limit || row->flags & BUILTIN_UNLIMITED)
        return;
    failures++;
    printf("BAD %s of %s: %.4g of %g ulp, %#llx for", row->name, builtin_shapes[run->format].type,
           run->worst, limit, (unsigned long long)run->worst_result);
    for (unsigned i = 0; i < row->arguments; i++)
        printf(" %#llx", (unsigned long long)run->worst_inputs[i]);
    printf("\n");
}

/* In Markdown: the largest error that was found, and the limit. */
static void print_table(void)
{
    printf("| function | float | double | half |\n| --- | --- | --- | --- |\n");
    for (unsigned i = 0; i < builtin_row_count; i++) {
        const struct builtin_row *row = &builtin_rows[i];
        printf("| %s |", row->name);
        for (int format = 0; format < BUILTIN_FORMATS; format++)
            if (isnan(worst[i][format]))
                printf(" |");
            else if (row->flags & BUILTIN_UNLIMITED)
                printf(" %.2f |", worst[i][format]);
            else if (row->limit[format] == 0)
                printf(worst[i][format] > 0 ? " %.2f of 0 |" : " exact |", worst[i][format]);
            else
                printf(" %.2f of %g |", worst[i][format], row->limit[format]);
        printf("\n");
    }
}

static void check(const struct options *options, hipModule_t module, unsigned number,
                  enum builtin_format format, bool flushes)
{
    struct run run = {.row = &builtin_rows[number],
                      .format = format,
                      .flushes = (flushes && format == BUILTIN_FLOAT)
                                 || builtin_rows[number].flags & BUILTIN_HALF_FORM,
                      .count = options->values};
    for (int i = 0; i < 3; i++)
        run.inputs[i] = calloc(run.count, sizeof(uint64_t));
    run.results = calloc(run.count, sizeof(uint64_t));
    fill(&run);
    execute(&run, module, number);
    compare(&run);
    report(&run);
    for (int i = 0; i < 3; i++)
        free(run.inputs[i]);
    free(run.results);
}

static void read_options(struct options *options, int count, char **words)
{
    *options = (struct options){.values = 4 * GROUP};
    int i = 1;
    for (; i < count && strncmp(words[i], "--", 2) == 0; i++)
        if (strcmp(words[i], "--table") == 0)
            options->table = true;
        else if (strcmp(words[i], "--values") == 0 && i + 1 < count)
            options->values = ((unsigned)strtoul(words[++i], NULL, 10) + GROUP - 1) / GROUP * GROUP;
        else if (strcmp(words[i], "--format") == 0 && i + 1 < count)
            options->format = words[++i];
    options->names = words + i;
    options->name_count = count - i;
}

int main(int count, char **words)
{
    struct options options;
    hipDeviceProp_t properties;
    unsigned checked = 0;
    for (unsigned i = 0; i < BUILTIN_ROWS_MAX * BUILTIN_FORMATS; i++)
        worst[i / BUILTIN_FORMATS][i % BUILTIN_FORMATS] = NAN;
    read_options(&options, count, words);
    mpfr_set_emin(-100000); /* beyond all formats: what overflows does so soon */
    mpfr_set_emax(100000);
    HIP_MUST(hipGetDeviceProperties(&properties, 0));
    bool flushes = strncmp(properties.gcnArchName, "gfx8", 4) == 0;
    for (int format = 0; format < BUILTIN_FORMATS; format++) {
        unsigned before = checked;
        hipModule_t module = NULL;
        for (unsigned i = 0; i < builtin_row_count; i++) {
            if (!is_chosen(&builtin_rows[i], (enum builtin_format)format, &options))
                continue;
            if (checked++ == before)
                module = load((enum builtin_format)format, &options);
            check(&options, module, i, (enum builtin_format)format, flushes);
        }
    }
    if (options.table)
        print_table();
    printf("%s opencl_builtins: %u of %u functions beyond their limits\n",
           failures || checked == 0 ? "FAIL" : "PASS", failures, checked);
    return failures || checked == 0;
}

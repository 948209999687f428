/* Executes the OpenCL cases on a GPU and compares with the host's results.
 *
 * opencl_kernels FOLDER SUFFIX RESULTS [--flushes] [CASE...]: FOLDER/FILE.SUFFIX are code objects,
 * RESULTS is what opencl_oracle wrote for the same cases. --flushes: the target's code has
 * denormal floats flushed, so zeros may stand for them. */
#include <hip/hip_runtime_api.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"

#define HIP_MUST(call)                                                                             \
    do {                                                                                           \
        hipError_t must_error = (call);                                                            \
        if (must_error != hipSuccess) {                                                            \
            printf("FAIL opencl_kernels: line %d: %s\n", __LINE__, hipGetErrorName(must_error));   \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static bool flushes;

/* ---- comparing ---- */

struct shape { /* of a floating-point type */
    int precision, least_exponent, most_exponent;
};
static const struct shape float_shape = {24, -126, 127};
static const struct shape double_shape = {53, -1022, 1023};
static const struct shape half_shape = {11, -14, 15};

static double half_value(uint16_t bits)
{
    int exponent = bits >> 10 & 31, mantissa = bits & 1023;
    double value = exponent == 31  ? mantissa ? NAN : INFINITY
                   : exponent == 0 ? ldexp(mantissa, -24)
                                   : ldexp(mantissa | 1024, exponent - 25);
    return bits & 0x8000 ? -value : value;
}

/* How many units in the last place `value` is from `right`, which may be more exact. */
static double distance(double value, double right, const struct shape *shape)
{
    if (isnan(value) || isnan(right))
        return isnan(value) && isnan(right) ? 0 : INFINITY;
    int exponent = shape->least_exponent;
    if (right != 0 && !isinf(right)) {
        int above;
        frexp(right, &above);
        exponent = above - 1 > exponent ? above - 1 : exponent;
    }
    double unit = ldexp(1, exponent - shape->precision + 1);
    double most = ldexp(2 - ldexp(1, 1 - shape->precision), shape->most_exponent);
    if (isinf(value) && fabs(right) >= most) /* rounds to it, or nearly */
        return signbit(value) == signbit(right) ? 0 : INFINITY;
    if (flushes && shape == &float_shape && value == 0 && fabs(right) < 0x1p-126)
        return 0;
    return fabs(value - right) / unit;
}

static double value_at(const void *from, enum opencl_type type, unsigned i, bool host)
{
    if (type == F64 || (host && type >= REAL16))
        return ((const double *)from)[i];
    return type == REAL16 ? half_value(((const uint16_t *)from)[i]) : ((const float *)from)[i];
}

static bool is_near(const void *ours, const void *right, const struct opencl_argument *argument,
                    unsigned i)
{
    size_t bytes = opencl_element_bytes(argument->type, false);
    if (argument->type < F32)
        return !memcmp((const char *)ours + i * bytes, (const char *)right + i * bytes, bytes);
    double a = value_at(ours, argument->type, i, false);
    double b = value_at(right, argument->type, i, true);
    if (argument->limit < 0)
        return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
    const struct shape *shape = argument->type == F64      ? &double_shape
                                : argument->type == REAL16 ? &half_shape
                                                           : &float_shape;
    return distance(a, b, shape) <= argument->limit;
}

static void tell(const struct opencl_case *c, unsigned number, unsigned i, const void *ours,
                 const void *right)
{
    const struct opencl_argument *argument = &c->arguments[number];
    printf("FAIL %s: argument %u, element %u: ", c->kernel, number, i);
    if (argument->type >= F32) {
        double a = value_at(ours, argument->type, i, false);
        double b = value_at(right, argument->type, i, true);
        printf("%a, the host has %a (%.17g, %.17g)\n", a, b, a, b);
        return;
    }
    uint64_t a = 0, b = 0;
    size_t bytes = opencl_element_bytes(argument->type, false);
    memcpy(&a, (const char *)ours + i * bytes, bytes);
    memcpy(&b, (const char *)right + i * bytes, bytes);
    printf("0x%llx, the host has 0x%llx\n", (unsigned long long)a, (unsigned long long)b);
}

/* Number of elements that are wrong; the first few are told. */
static unsigned compare(const struct opencl_case *c, unsigned number, const void *ours,
                        const void *right)
{
    const struct opencl_argument *argument = &c->arguments[number];
    unsigned wrong = 0;
    for (unsigned i = 0; i < argument->count; i++)
        if (!is_near(ours, right, argument, i) && ++wrong <= 3)
            tell(c, number, i, ours, right);
    return wrong;
}

/* ---- running ---- */

struct launch {
    hipDeviceptr_t buffers[OPENCL_ARGUMENTS];
    void *contents[OPENCL_ARGUMENTS];
    uint32_t offsets[OPENCL_ARGUMENTS]; /* of local memory */
    void *parameters[OPENCL_ARGUMENTS];
    unsigned local_bytes;
};

static void make_arguments(struct launch *launch, const struct opencl_case *c, hipFunction_t kernel)
{
    int own_bytes = 0;
    HIP_MUST(hipFuncGetAttribute(&own_bytes, HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, kernel));
    unsigned own = ((unsigned)own_bytes + 15) / 16 * 16;
    unsigned next = own;
    for (unsigned i = 0; i < OPENCL_ARGUMENTS && c->arguments[i].way; i++) {
        const struct opencl_argument *argument = &c->arguments[i];
        size_t bytes = opencl_argument_bytes(argument, false);
        launch->contents[i] = opencl_argument_contents(c, i, false);
        if (argument->way == WAY_LOCAL) {
            launch->offsets[i] = next;
            launch->parameters[i] = &launch->offsets[i];
            next += (unsigned)(bytes + 15) / 16 * 16;
        } else if (argument->way == WAY_VALUE) {
            launch->parameters[i] = launch->contents[i];
        } else {
            HIP_MUST(hipMalloc(&launch->buffers[i], bytes));
            HIP_MUST(hipMemcpyHtoD(launch->buffers[i], launch->contents[i], bytes));
            launch->parameters[i] = &launch->buffers[i];
        }
    }
    launch->local_bytes = next == own ? 0 : next - (unsigned)own_bytes;
}

static unsigned run_case(hipModule_t module, const struct opencl_case *c, FILE *results)
{
    struct launch launch = {0};
    hipFunction_t kernel;
    HIP_MUST(hipModuleGetFunction(&kernel, module, c->kernel));
    make_arguments(&launch, c, kernel);
    HIP_MUST(hipModuleLaunchKernel(kernel, c->size[0] / c->group[0], c->size[1] / c->group[1],
                                   c->size[2] / c->group[2], c->group[0], c->group[1], c->group[2],
                                   launch.local_bytes, NULL, launch.parameters, NULL));
    HIP_MUST(hipDeviceSynchronize());
    unsigned wrong = 0;
    for (unsigned i = 0; i < OPENCL_ARGUMENTS && c->arguments[i].way; i++) {
        const struct opencl_argument *argument = &c->arguments[i];
        if (opencl_is_compared(argument)) {
            size_t bytes = opencl_argument_bytes(argument, true);
            void *right = malloc(bytes);
            if (fread(right, 1, bytes, results) != bytes) {
                printf("FAIL %s: the results of the host end before it\n", c->kernel);
                exit(1);
            }
            HIP_MUST(hipMemcpyDtoH(launch.contents[i], launch.buffers[i],
                                   opencl_argument_bytes(argument, false)));
            wrong += compare(c, i, launch.contents[i], right);
            free(right);
        }
        if (launch.buffers[i])
            HIP_MUST(hipFree(launch.buffers[i]));
        free(launch.contents[i]);
    }
    return wrong;
}

static hipModule_t load(const char *folder, const char *file, const char *suffix)
{
    hipModule_t module;
    char path[1024];
    snprintf(path, sizeof path, "%s/%s.%s", folder, file, suffix);
    HIP_MUST(hipModuleLoad(&module, path));
    return module;
}

static unsigned run_cases(char **argv, FILE *results, char *const *names, int name_count)
{
    unsigned done = 0, failed = 0;
    const char *loaded = "";
    hipModule_t module = NULL;
    for (unsigned i = 0; i < opencl_case_count; i++) {
        const struct opencl_case *c = &opencl_cases[i];
        if (!opencl_is_chosen(c, names, name_count))
            continue;
        if (strcmp(loaded, c->file) != 0) {
            module = load(argv[1], c->file, argv[2]);
            loaded = c->file;
        }
        failed += run_case(module, c, results) > 0;
        done++;
    }
    if (done == 0 || fgetc(results) != EOF) {
        printf("FAIL opencl_kernels: the host's results are of other cases\n");
        return 1;
    }
    printf("%s opencl_kernels: %u kernels, %u differ from the host\n", failed ? "FAIL" : "PASS",
           done, failed);
    return failed;
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: opencl_kernels FOLDER SUFFIX RESULTS [--flushes] [CASE...]\n");
        return 2;
    }
    FILE *results = fopen(argv[3], "rb");
    if (!results) {
        printf("FAIL opencl_kernels: %s cannot be read\n", argv[3]);
        return 1;
    }
    flushes = argc > 4 && !strcmp(argv[4], "--flushes");
    int first = flushes ? 5 : 4;
    unsigned failed = run_cases(argv, results, argv + first, argc - first);
    fclose(results);
    return failed > 0;
}

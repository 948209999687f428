/* Whole compiled kernels, executed instruction by instruction, against the host's results.
 *
 * clang compiles kernels.cl for each target, optimised and not. Skipped, loudly, without clang or
 * the device libraries. CLANG names another compiler. */
#include <math.h>
#include <tgmath.h>

#include "base/splitmix64.h"

#include "kernel_ops.h"
#include "kernel_wave.h"

enum { GROUPS = 8, ITEMS = GROUPS * 64, SLOTS = 64 };

/* ---- expected values ---- */

#define PUT(T, e) out[slot++] = (T)(e);
#define HOST(NAME, T, LIST)                                                                        \
    static int host_##NAME(const void *xs, const void *ys, void *all, unsigned i)                  \
    {                                                                                              \
        T x = ((const T *)xs)[i], y = ((const T *)ys)[i], *out = (T *)all + i * SLOTS;             \
        int slot = 0;                                                                              \
        LIST return slot;                                                                          \
    }

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wtype-limits"
#pragma GCC diagnostic ignored "-Wextra"
HOST(int_char, signed char, INTEGER_OPS(PUT, signed char, unsigned char, 8))
HOST(int_short, short, INTEGER_OPS(PUT, short, unsigned short, 16))
HOST(int_int, int, INTEGER_OPS(PUT, int, unsigned, 32))
HOST(int_uint, unsigned, INTEGER_OPS(PUT, unsigned, unsigned, 32))
HOST(int_long, int64_t, INTEGER_OPS(PUT, int64_t, uint64_t, 64))
HOST(int_ulong, uint64_t, INTEGER_OPS(PUT, uint64_t, uint64_t, 64))
HOST(exact_float, float, FLOAT_OPS(PUT, float))
HOST(exact_double, double, FLOAT_OPS(PUT, double))
HOST(library_float, float, LIBRARY_OPS(PUT, float))
HOST(library_double, double, LIBRARY_OPS(PUT, double))
#pragma GCC diagnostic pop

static int host_private_array(const void *xs, const void *ys, void *all, unsigned i)
{
    int x = ((const int *)xs)[i], y = ((const int *)ys)[i], *out = (int *)all + i * SLOTS;
    int table[48];
    signed char bytes[40];
    double wide[12];
    for (int k = 0; k < 48; k++)
        table[k] = (int)((unsigned)x * (unsigned)k);
    for (int k = 0; k < 40; k++)
        bytes[k] = (signed char)(y + k);
    for (int k = 0; k < 12; k++)
        wide[k] = k * 0.5;
    int at = x & 31;
    for (int k = 0; k < 100; k++) {
        table[(at + k) % 48] ^= bytes[(at * 3 + k) % 40];
        bytes[k % 40] = (signed char)(bytes[k % 40] + (signed char)table[(k * 7) % 48]);
        wide[(k + at) % 12] += table[k % 48];
    }
    memcpy(out, table, sizeof table);
    out[48] = bytes[at];
    out[49] = wide[at % 12] >= 2147483647.0    ? INT32_MAX
              : wide[at % 12] <= -2147483648.0 ? INT32_MIN
                                               : (int)wide[at % 12];
    return 50;
}

static int host_local_memory(const void *xs, const void *ys, void *all, unsigned i)
{
    const int *x = (const int *)xs + (i & ~63u), *y = (const int *)ys + (i & ~63u);
    int *out = (int *)all + i * SLOTS, l = (int)(i & 63);
    out[0] = x[63 - l];
    out[1] = (short)y[l ^ 5];
    out[2] = (unsigned char)x[(l + 9) & 63];
    out[3] = y[(l * 3) & 63];
    out[4] = (int)((unsigned)x[(l + 1) & 63] + (unsigned)x[(l + 2) & 63]);
    out[5] = 5 + 63 * 64 / 2;
    out[6] = x[l & 7] > (l & 7) + 56 ? x[l & 7] : (l & 7) + 56;
    return 7;
}

static int host_generic_pointers(const void *xs, const void *ys, void *all, unsigned i)
{
    int x = ((const int *)xs)[i], add = ((const int *)ys)[i] & 255, *out = (int *)all + i * SLOTS;
    int own[4] = {1, 2, 3, 4}, shared = 1000 + (int)(i & 63);
    for (int k = 0; k < 4; k++) {
        int which = (x + k) % 3;
        out[8 + k] = 50 + k;
        int *p = which == 0 ? &own[k] : which == 1 ? &shared : &out[8 + k];
        *p += add;
        out[k] = *p;
    }
    out[4] = own[0] + own[1] * 3 + own[2] * 5 + own[3] * 7;
    out[5] = shared;
    return 6;
}

static int host_global_atomics(const void *xs, const void *ys, void *all, unsigned i)
{
    int x = ((const int *)xs)[i], y = ((const int *)ys)[i], *out = (int *)all + i * SLOTS;
    for (int k = 0; k < 16; k++)
        out[k] = out[32 + k] = y;
    for (int k = 16; k < 32; k++)
        out[k] = 0;
    out[0] = (int)((unsigned)y + (unsigned)x);
    out[1] = (int)((unsigned)y - (unsigned)x);
    out[2] = x;
    out[3] = x < y ? x : y;
    out[4] = x > y ? x : y;
    out[5] = x & y;
    out[6] = x | y;
    out[7] = x ^ y;
    out[8] = (int)((unsigned)y + 1);
    out[9] = (int)((unsigned)y - 1);
    out[10] = 77;
    out[12] = (unsigned)x < (unsigned)y ? x : y;
    out[13] = (unsigned)x > (unsigned)y ? x : y;
    uint64_t wide = (uint32_t)y | (uint64_t)(uint32_t)y << 32;
    wide += UINT64_C(0x100000001);
    memcpy(out + 14, &wide, 8);
    return 47;
}

static int host_cross_lane(const void *xs, const void *ys, void *all, unsigned i)
{
    const int *x = (const int *)xs + (i & ~63u), *y = (const int *)ys + (i & ~63u);
    int *out = (int *)all + i * SLOTS, most = INT32_MIN, least = INT32_MAX;
    uint32_t sum = 0, scan = 0, first = 0, any = 0;
    for (unsigned lane = 0; lane < 64; lane++) {
        sum += (uint32_t)x[lane];
        scan += lane <= (i & 63) ? (uint32_t)x[lane] : 0;
        first += lane < 24 ? (uint32_t)y[lane] : 0;
        most = x[lane] > most ? x[lane] : most;
        least = lane < (i & 63) && y[lane] < least ? y[lane] : least;
        any |= x[lane] == 5;
    }
    const int values[8] = {
        (int)sum,     most, (int)scan, least, x[37], (int)any, (i & 63) < 24 ? (int)first : 0,
        (int)(i & 63)};
    memcpy(out, values, sizeof values);
    return 8;
}

static int host_half_precision(const void *xs, const void *ys, void *all, unsigned i)
{
    _Float16 x = (_Float16)((const float *)xs)[i], y = (_Float16)((const float *)ys)[i];
    float *out = (float *)all + i * SLOTS;
    out[0] = x;
    out[1] = (_Float16)(x + y);
    out[2] = (_Float16)(x * y);
    out[3] = (_Float16)(x - y);
    out[4] = x < y;
    out[5] = x < y ? x : y;
    out[6] = (_Float16)floorf(x);
    out[7] = (_Float16)fma((double)x, (double)y, (double)x);
    out[8] = (_Float16)(short)x;
    return 9;
}

/* ---- comparison ---- */

enum kind { EXACT, FLOATS, DOUBLES };

struct kernel_case {
    const char *name;
    unsigned bytes; /* of an element */
    enum kind kind;
    double tolerance; /* units in the last place, for FLOATS and DOUBLES */
    int (*host)(const void *, const void *, void *, unsigned);
};

static const struct kernel_case kernels[] = {
    {"int_char", 1, EXACT, 0, host_int_char},
    {"int_short", 2, EXACT, 0, host_int_short},
    {"int_int", 4, EXACT, 0, host_int_int},
    {"int_uint", 4, EXACT, 0, host_int_uint},
    {"int_long", 8, EXACT, 0, host_int_long},
    {"int_ulong", 8, EXACT, 0, host_int_ulong},
    {"exact_float", 4, FLOATS, 0, host_exact_float},
    {"exact_double", 8, DOUBLES, 0, host_exact_double},
    {"library_float", 4, FLOATS, 8, host_library_float},
    {"library_double", 8, DOUBLES, 8, host_library_double},
    {"private_array", 4, EXACT, 0, host_private_array},
    {"local_memory", 4, EXACT, 0, host_local_memory},
    {"generic_pointers", 4, EXACT, 0, host_generic_pointers},
    {"global_atomics", 4, EXACT, 0, host_global_atomics},
    {"half_precision", 4, FLOATS, 0, host_half_precision},
    {"cross_lane", 4, EXACT, 0, host_cross_lane},
};

static uint64_t xs[ITEMS], ys[ITEMS], got[ITEMS * SLOTS], expected[ITEMS * SLOTS];

static void fill_inputs(const struct kernel_case *k)
{
    uint64_t state = 42;
    for (unsigned i = 0; i < ITEMS; i++) {
        uint64_t drawn = splitmix64(&state);
        double x = ((double)(drawn >> 11) * 0x1p-53 - 0.5) * 200.0;
        uint64_t a = drawn >> 8 >> (i % 40);
        drawn = splitmix64(&state);
        double y = ((double)(drawn >> 11) * 0x1p-53 - 0.5) * 60.0;
        uint64_t b = (drawn >> 7 >> (i % 50)) | 1;
        float fx = (float)x, fy = (float)y;
        bool raw = k->kind == EXACT;
        memcpy((uint8_t *)xs + i * k->bytes,
               raw                 ? (const void *)&a
               : k->kind == FLOATS ? (const void *)&fx
                                   : (const void *)&x,
               k->bytes);
        memcpy((uint8_t *)ys + i * k->bytes,
               raw                 ? (const void *)&b
               : k->kind == FLOATS ? (const void *)&fy
                                   : (const void *)&y,
               k->bytes);
    }
}

static double distance(enum kind kind, const uint8_t *a, const uint8_t *b)
{
    double x, y, ulp;
    if (kind == FLOATS) {
        float fx, fy;
        memcpy(&fx, a, 4);
        memcpy(&fy, b, 4);
        x = (double)fx, y = (double)fy;
        ulp = (double)nextafterf(fabsf(fy), INFINITY) - (double)fabsf(fy);
    } else {
        memcpy(&x, a, 8);
        memcpy(&y, b, 8);
        ulp = nextafter(fabs(y), (double)INFINITY) - fabs(y);
    }
    if (isnan(x) && isnan(y))
        return 0;
    return x == y ? 0 : isnan(x) || isnan(y) || isinf(x) || isinf(y) ? 1e30 : fabs(x - y) / ulp;
}

static void check_kernel(const struct kernel_case *k, const char *options)
{
    unsigned failures = 0;
    fill_inputs(k);
    memset(got, 0, sizeof got);
    memset(expected, 0, sizeof expected);
    run_kernel(k->name, GROUPS, 0, xs, ys, got);
    for (unsigned i = 0; i < ITEMS; i++) {
        int slots = k->host(xs, ys, expected, i);
        for (int slot = 0; slot < slots; slot++) {
            const uint8_t *a = (const uint8_t *)got + (i * SLOTS + (unsigned)slot) * k->bytes;
            const uint8_t *b = (const uint8_t *)expected + (i * SLOTS + (unsigned)slot) * k->bytes;
            double error =
                k->kind == EXACT ? (memcmp(a, b, k->bytes) ? 1e30 : 0) : distance(k->kind, a, b);
            uint64_t ua = 0, ub = 0;
            memcpy(&ua, a, k->bytes);
            memcpy(&ub, b, k->bytes);
            if (error > k->tolerance && failures++ < 5)
                cr_expect(false, "%s %s item %u slot %d: %llx, expected %llx (%g ulp)", k->name,
                          options, i, slot, (unsigned long long)ua, (unsigned long long)ub, error);
        }
    }
    cr_expect_eq(failures, 0, "%s %s: %u wrong values", k->name, options, failures);
}

static bool compile(const char *options, const char *output)
{
    const char *clang = getenv("CLANG") ? getenv("CLANG") : "clang-15";
    char command[1024];
    snprintf(command, sizeof command,
             "%s -x cl -cl-std=CL2.0 -target amdgcn-amd-amdhsa -mcpu=%s -mcode-object-version=4 %s "
             "-Wno-everything "
             "-cl-fp32-correctly-rounded-divide-sqrt "
             "--rocm-device-lib-path=/usr/lib/x86_64-linux-gnu/amdgcn/bitcode "
             "%s/kernels.cl -o %s 2>/dev/null",
             clang, isa_target_name(target), options, TEST_SOURCE_DIR, output);
    return system(command) == 0;
}

static void check_all(enum isa_target for_target, const char *options)
{
    char path[64];
    target = for_target;
    snprintf(path, sizeof path, "/tmp/test_isa_kernels_%s%s.hsaco", isa_target_name(target),
             options);
    if (!compile(options, path) || !load_code_object(path)) {
        fprintf(stderr, "SKIPPED: clang cannot compile for %s; no kernel was executed\n",
                isa_target_name(target));
        cr_skip_test("no compiler for %s", isa_target_name(target));
        return;
    }
    remove(path);
    scratch = aligned_alloc(4096, SCRATCH_PER_LANE * 64);
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        if (strcmp(options, "-O0") || kernels[i].host != host_cross_lane)
            check_kernel(&kernels[i], options);
}

Test(isa_kernels, optimised_kernels_of_gfx803)
{
    check_all(ISA_GFX803, "-O3");
}

Test(isa_kernels, unoptimised_kernels_of_gfx803)
{
    check_all(ISA_GFX803, "-O0");
}

Test(isa_kernels, optimised_kernels_of_gfx906)
{
    check_all(ISA_GFX906, "-O3");
}

Test(isa_kernels, unoptimised_kernels_of_gfx906)
{
    check_all(ISA_GFX906, "-O0");
}

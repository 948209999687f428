/* cases.c - the list of OpenCL cases, and what their arguments hold. See cases.h. */
#include "cases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ONE_D(items, group)                                                                        \
    {items, 1, 1},                                                                                 \
    {                                                                                              \
        group, 1, 1                                                                                \
    }
#define TWO_D(x, y, gx, gy)                                                                        \
    {x, y, 1},                                                                                     \
    {                                                                                              \
        gx, gy, 1                                                                                  \
    }
#define THREE_D(x, y, z, gx, gy, gz)                                                               \
    {x, y, z},                                                                                     \
    {                                                                                              \
        gx, gy, gz                                                                                 \
    }
#define ANY             .fill = FILL_ANY
#define MASK            .fill = FILL_MASK
#define RANGE(from, to) .fill = FILL_RANGE, .low = from, .high = to
#define EXACT           -1
#define IN(type, count, ...)                                                                       \
    {                                                                                              \
        WAY_IN, type, count, __VA_ARGS__                                                           \
    }
#define OUT(type, count, ulps)                                                                     \
    {                                                                                              \
        WAY_OUT, type, count, .fill = FILL_ZERO, .limit = ulps                                     \
    }
#define INOUT(type, count, ...)                                                                    \
    {                                                                                              \
        WAY_INOUT, type, count, .limit = EXACT, __VA_ARGS__                                        \
    }
#define WORK(type, count, ...)                                                                     \
    {                                                                                              \
        WAY_WORK, type, count, __VA_ARGS__                                                         \
    }
#define VALUE(type, count, ...)                                                                    \
    {                                                                                              \
        WAY_VALUE, type, count, __VA_ARGS__                                                        \
    }
#define LOCAL(bytes)                                                                               \
    {                                                                                              \
        WAY_LOCAL, U8, bytes, .fill = FILL_ZERO                                                    \
    }

const struct opencl_case opencl_cases[] = {
#define KERNEL(file, name, shape, ...) {#file, #name, shape, {__VA_ARGS__}},
#include "cases.tab"
#undef KERNEL
};
const unsigned opencl_case_count = sizeof opencl_cases / sizeof *opencl_cases;

size_t opencl_element_bytes(enum opencl_type type, bool host)
{
    static const uint8_t bytes[] = {
        [I8] = 1,  [U8] = 1,  [I16] = 2, [U16] = 2, [I32] = 4,    [U32] = 4,
        [I64] = 8, [U64] = 8, [F32] = 4, [F64] = 8, [REAL16] = 2, [REAL32] = 4};
    return host && type >= REAL16 ? sizeof(double) : bytes[type];
}

size_t opencl_argument_bytes(const struct opencl_argument *argument, bool host)
{
    return argument->count * opencl_element_bytes(argument->type, host);
}

bool opencl_is_compared(const struct opencl_argument *argument)
{
    return argument->way == WAY_OUT || argument->way == WAY_INOUT;
}

/* ---- contents ---- */

/* splitmix64 (Steele, Lea, Flood 2014). */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static uint64_t any_integer(uint64_t *state)
{
    static const uint64_t extremes[] = {0,          1,          2,          7,
                                        0x7f,       0x80,       0x7fff,     0x8000,
                                        0xffff,     0x7fffffff, 0x80000000, 0xffffffff,
                                        1ull << 63, INT64_MAX,  UINT64_MAX, UINT64_MAX - 1};
    uint64_t random = next_random(state);
    switch (random & 3) {
    case 0:
        return extremes[random >> 8 & 15];
    case 1:
        return next_random(state) >> (random >> 8 & 63);
    default:
        return next_random(state);
    }
}

static double any_double(uint64_t *state)
{
    static const double extremes[] = {
        0.0,  -0.0,      1,        -1,  0.5,   -0.5,   1.5,          2.5,
        1e30, -INFINITY, INFINITY, NAN, 255.5, -128.5, 2147483648.0, 4294967296.0};
    uint64_t random = next_random(state);
    double mantissa = (double)(next_random(state) >> 11) * 0x1p-53 + 1;
    int exponent = (int)(random >> 8 & 127) - 64;
    double small = (double)(int64_t)next_random(state) * 0x1p-55;
    switch (random & 3) {
    case 0:
        return extremes[random >> 8 & 15];
    case 1:
        return round(small * 2) / 2;
    case 2:
        return small;
    default:
        return ldexp(random >> 20 & 1 ? -mantissa : mantissa, exponent);
    }
}

/* IEEE half of a value that is in its range of normal numbers, or zero. */
static uint16_t half_of(double value)
{
    if (value == 0)
        return 0;
    int exponent;
    double mantissa = frexp(fabs(value), &exponent);
    uint64_t bits = (uint64_t)nearbyint(mantissa * 2048) + (uint64_t)(exponent + 13) * 1024;
    return (uint16_t)(bits | (value < 0 ? 0x8000 : 0));
}

static void put_element(void *to, const struct opencl_argument *argument, uint64_t *state)
{
    double part = (double)(next_random(state) >> 11) * 0x1p-53;
    double value = argument->low + part * (argument->high - argument->low);
    bool any = argument->fill == FILL_ANY;
    uint64_t integer = argument->fill == FILL_RANGE ? (uint64_t)(int64_t)floor(value)
                       : any                        ? any_integer(state)
                                                    : next_random(state);
    double real = any ? any_double(state) : value;
    float single = (float)real;
    uint16_t half = half_of(value);
    switch (argument->type) {
    case F32:
        memcpy(to, &single, sizeof single);
        break;
    case F64:
        memcpy(to, &real, sizeof real);
        break;
    case REAL16: /* of inputs: the bits of a half, on the host, too */
        memcpy(to, &half, sizeof half);
        break;
    default:
        memcpy(to, &integer, opencl_element_bytes(argument->type, false));
    }
}

void *opencl_argument_contents(const struct opencl_case *c, unsigned number, bool host)
{
    const struct opencl_argument *argument = &c->arguments[number];
    if (argument->way == WAY_LOCAL)
        return NULL;
    size_t element = opencl_element_bytes(argument->type, false);
    uint8_t *contents = calloc(opencl_argument_bytes(argument, host) + 1, 1);
    uint64_t state = number * 1000003u;
    for (const char *name = c->kernel; *name; name++)
        state = state * 131 + (unsigned char)*name;
    for (unsigned i = 0; argument->fill != FILL_ZERO && i < argument->count; i++)
        put_element(contents + i * element, argument, &state);
    return contents;
}

bool opencl_is_chosen(const struct opencl_case *c, char *const *names, int name_count)
{
    for (int i = 0; i < name_count; i++) {
        size_t length = strlen(names[i]);
        bool prefix = length > 0 && names[i][length - 1] == '*';
        if (prefix ? !strncmp(c->kernel, names[i], length - 1) : !strcmp(c->kernel, names[i]))
            return true;
    }
    return name_count == 0;
}

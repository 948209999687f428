/* The closed list of units and the small algebra of dimensions. A dimension is a triple of
 * exponents (bytes, cycles, seconds); hertz is cycles a second, so that seconds times hertz are
 * cycles. Called by the lexer and by eval.c. */
#include "quantity.h"

#include <string.h>

#include "base/number.h"
#include "base/wide.h"

struct unit {
    const char *name;
    enum model_dimension dimension;
    int64_t factor;
};

#define KI ((int64_t)1024)

static const struct unit units[] = {
    {"B", MODEL_DIM_BYTES, 1},
    {"KB", MODEL_DIM_BYTES, 1000},
    {"MB", MODEL_DIM_BYTES, 1000000},
    {"GB", MODEL_DIM_BYTES, 1000000000},
    {"TB", MODEL_DIM_BYTES, 1000000000000},
    {"KiB", MODEL_DIM_BYTES, KI},
    {"MiB", MODEL_DIM_BYTES, KI *KI},
    {"GiB", MODEL_DIM_BYTES, KI *KI *KI},
    {"TiB", MODEL_DIM_BYTES, KI *KI *KI *KI},
    {"cy", MODEL_DIM_CYCLES, 1},
    {"ps", MODEL_DIM_SECONDS, 1},
    {"ns", MODEL_DIM_SECONDS, 1000},
    {"us", MODEL_DIM_SECONDS, 1000000},
    {"ms", MODEL_DIM_SECONDS, 1000000000},
    {"s", MODEL_DIM_SECONDS, PS_PER_S},
    {"Hz", MODEL_DIM_HZ, 1},
    {"kHz", MODEL_DIM_HZ, 1000},
    {"MHz", MODEL_DIM_HZ, 1000000},
    {"GHz", MODEL_DIM_HZ, 1000000000},
    {"B/s", MODEL_DIM_BYTES_PER_S, 1},
    {"KB/s", MODEL_DIM_BYTES_PER_S, 1000},
    {"MB/s", MODEL_DIM_BYTES_PER_S, 1000000},
    {"GB/s", MODEL_DIM_BYTES_PER_S, 1000000000},
    {"TB/s", MODEL_DIM_BYTES_PER_S, 1000000000000},
    {"KiB/s", MODEL_DIM_BYTES_PER_S, KI},
    {"MiB/s", MODEL_DIM_BYTES_PER_S, KI *KI},
    {"GiB/s", MODEL_DIM_BYTES_PER_S, KI *KI *KI},
    {"TiB/s", MODEL_DIM_BYTES_PER_S, KI *KI *KI *KI},
    {"B/cy", MODEL_DIM_BYTES_PER_CY, 1},
    {"KiB/cy", MODEL_DIM_BYTES_PER_CY, KI},
};

#define UNIT_COUNT ARRAY_COUNT(units)

/* The names of each dimension, in type position and in messages. */
struct dimension_info {
    const char *type;
    const char *message;
    const char *example;
    bool is_quantity;
    signed char bytes, cycles, seconds; /* exponents */
};

static const struct dimension_info dimensions[] = {
    [MODEL_DIM_NONE] = {"int", "a plain number", "", true, 0, 0, 0},
    [MODEL_DIM_BOOL] = {"bool", "a truth value", "", false, 0, 0, 0},
    [MODEL_DIM_ENUM] = {NULL, "a choice", "", false, 0, 0, 0},
    [MODEL_DIM_BYTES] = {"bytes", "bytes", "B", true, 1, 0, 0},
    [MODEL_DIM_CYCLES] = {"cycles", "cycles", "cy", true, 0, 1, 0},
    [MODEL_DIM_HZ] = {"Hz", "a frequency", "MHz", true, 0, 1, -1},
    [MODEL_DIM_SECONDS] = {"seconds", "seconds", "ns", true, 0, 0, 1},
    [MODEL_DIM_BYTES_PER_S] = {"B/s", "bytes a second", "GB/s", true, 1, 0, -1},
    [MODEL_DIM_BYTES_PER_CY] = {"B/cy", "bytes a cycle", "B/cy", true, 1, -1, 0},
    [MODEL_DIM_STRING] = {"string", "a string", "", false, 0, 0, 0},
};

#define DIMENSION_COUNT ARRAY_COUNT(dimensions)

static const struct unit *find_unit(const char *name, size_t length)
{
    for (size_t i = 0; i < UNIT_COUNT; i++)
        if (strlen(units[i].name) == length && memcmp(units[i].name, name, length) == 0)
            return &units[i];
    return NULL;
}

bool quantity_unit_exists(const char *unit, size_t length)
{
    return find_unit(unit, length) != NULL;
}

static bool is_digit(char ch)
{
    return ch >= '0' && ch <= '9';
}

static int hex_value(char ch)
{
    if (is_digit(ch))
        return ch - '0';
    if (ch >= 'a' && ch <= 'f')
        return ch - 'a' + 10;
    if (ch >= 'A' && ch <= 'F')
        return ch - 'A' + 10;
    return -1;
}

size_t quantity_digits(const char *text, size_t length)
{
    size_t i = 0;
    while (i < length && (is_digit(text[i]) || (i > 0 && text[i] == '_')))
        i++;
    if (i == 0 || i + 1 >= length || text[i] != '.' || !is_digit(text[i + 1]))
        return i;
    for (i++; i < length && is_digit(text[i]);)
        i++;
    return i;
}

static enum quantity_problem parse_hex(const char *text, size_t length, int64_t *value)
{
    uint64_t sum = 0;
    size_t digits = 0;
    for (size_t i = 2; i < length; i++) {
        if (text[i] == '_')
            continue;
        int digit = hex_value(text[i]);
        if (digit < 0)
            return QUANTITY_MALFORMED;
        if (sum >> 59 != 0)
            return QUANTITY_TOO_LARGE;
        sum = sum * 16 + (uint64_t)digit;
        digits++;
    }
    if (digits == 0)
        return QUANTITY_MALFORMED;
    *value = (int64_t)sum;
    return QUANTITY_FINE;
}

enum quantity_problem quantity_parse(const char *text, size_t length, int64_t *value,
                                     enum model_dimension *dimension)
{
    *value = 0;
    *dimension = MODEL_DIM_NONE;
    if (length > 1 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
        return parse_hex(text, length, value);
    size_t digits = quantity_digits(text, length);
    if (digits == 0)
        return QUANTITY_MALFORMED;
    signed_wide sum = 0, divisor = 1;
    bool after_point = false;
    for (size_t i = 0; i < digits; i++) {
        if (text[i] == '.')
            after_point = true;
        if (!is_digit(text[i]))
            continue;
        sum = sum * 10 + (text[i] - '0');
        if (after_point)
            divisor *= 10;
        if (sum > INT64_MAX || divisor > INT64_MAX)
            return QUANTITY_TOO_LARGE;
    }
    int64_t factor = 1;
    if (digits < length) {
        const struct unit *unit = find_unit(text + digits, length - digits);
        if (!unit)
            return QUANTITY_UNKNOWN_UNIT;
        factor = unit->factor;
        *dimension = unit->dimension;
    }
    sum *= factor; /* at most 2^63 * 2^40: fits */
    if (sum % divisor != 0)
        return QUANTITY_NOT_WHOLE;
    sum /= divisor;
    if (sum > INT64_MAX)
        return QUANTITY_TOO_LARGE;
    *value = (int64_t)sum;
    return QUANTITY_FINE;
}

const char *quantity_format(struct region *region, int64_t value, enum model_dimension dimension)
{
    const struct unit *best = NULL;
    for (size_t i = 0; i < UNIT_COUNT; i++) {
        const struct unit *unit = &units[i];
        if (unit->dimension != dimension || value % unit->factor != 0
            || (value == 0 && unit->factor != 1))
            continue;
        /* 1024B reads better as 1KiB and 1000B as 1KB: the larger exact unit wins, binary ones on a
         * tie of length */
        if (!best || unit->factor > best->factor)
            best = unit;
    }
    if (!best)
        return region_printf(region, "%lld", (long long)value);
    return region_printf(region, "%lld%s", (long long)(value / best->factor), best->name);
}

const char *quantity_dimension_name(enum model_dimension dimension)
{
    return dimensions[dimension].message;
}

const char *quantity_example_unit(enum model_dimension dimension)
{
    return dimensions[dimension].example;
}

bool quantity_type_named(const char *name, enum model_dimension *dimension)
{
    for (size_t i = 0; i < DIMENSION_COUNT; i++)
        if (dimensions[i].type && strcmp(dimensions[i].type, name) == 0) {
            *dimension = (enum model_dimension)i;
            return true;
        }
    return false;
}

const char *const *quantity_type_names(size_t *count)
{
    static const char *const names[] = {"int",     "bool", "string", "bytes", "cycles",
                                        "seconds", "Hz",   "B/s",    "B/cy"};
    *count = ARRAY_COUNT(names);
    return names;
}

const char *quantity_unit_name(size_t i)
{
    return i < UNIT_COUNT ? units[i].name : NULL;
}

static bool with_exponents(int bytes, int cycles, int seconds, enum model_dimension *result)
{
    for (size_t i = 0; i < DIMENSION_COUNT; i++)
        if (dimensions[i].is_quantity && dimensions[i].bytes == bytes
            && dimensions[i].cycles == cycles && dimensions[i].seconds == seconds) {
            *result = (enum model_dimension)i;
            return true;
        }
    return false;
}

bool quantity_multiply(enum model_dimension a, enum model_dimension b, enum model_dimension *result)
{
    const struct dimension_info *x = &dimensions[a], *y = &dimensions[b];
    return x->is_quantity && y->is_quantity
           && with_exponents(x->bytes + y->bytes, x->cycles + y->cycles, x->seconds + y->seconds,
                             result);
}

bool quantity_divide(enum model_dimension a, enum model_dimension b, enum model_dimension *result)
{
    const struct dimension_info *x = &dimensions[a], *y = &dimensions[b];
    return x->is_quantity && y->is_quantity
           && with_exponents(x->bytes - y->bytes, x->cycles - y->cycles, x->seconds - y->seconds,
                             result);
}

bool quantity_is_ordered(enum model_dimension dimension)
{
    return dimensions[dimension].is_quantity;
}

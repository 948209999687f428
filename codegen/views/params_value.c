/* Values with the largest unit that divides them. Units are the ones the language reads, so every
 * text can be pasted into a description. */
#include "params_value.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"

struct unit {
    const char *name;
    uint64_t factor;
};

static const struct unit binary_units[] = {
    {"TiB", (uint64_t)1 << 40},
    {"GiB", (uint64_t)1 << 30},
    {"MiB", (uint64_t)1 << 20},
    {"KiB", 1 << 10},
    {"B", 1},
};
static const struct unit decimal_rates[] = {
    {"TB/s", 1000000000000}, {"GB/s", 1000000000}, {"MB/s", 1000000}, {"KB/s", 1000}, {"B/s", 1},
};
static const struct unit binary_rates[] = {
    {"TiB/s", (uint64_t)1 << 40},
    {"GiB/s", (uint64_t)1 << 30},
    {"MiB/s", (uint64_t)1 << 20},
    {"KiB/s", 1 << 10},
    {"B/s", 1},
};
static const struct unit time_units[] = {
    {"s", 1000000000000}, {"ms", 1000000000}, {"us", 1000000}, {"ns", 1000}, {"ps", 1},
};
static const struct unit hz_units[] = {
    {"GHz", 1000000000},
    {"MHz", 1000000},
    {"kHz", 1000},
    {"Hz", 1},
};

/* The largest unit that divides `value` without rest; zero takes the smallest. */
static const char *scale(uint64_t value, const struct unit *units, size_t count, char *buffer)
{
    size_t u = count - 1;
    if (value)
        for (u = 0; value % units[u].factor; u++)
            continue;
    snprintf(buffer, PARAMS_VALUE_MAX, "%" PRIu64 "%s", value / units[u].factor, units[u].name);
    return buffer;
}

const char *params_bytes_text(uint64_t bytes, char *buffer)
{
    return scale(bytes, binary_units, ARRAY_COUNT(binary_units), buffer);
}

/* In whichever of the two kinds of unit needs fewer characters; decimal when they are equal. */
static const char *rate_text(uint64_t bytes_per_s, char *buffer)
{
    char binary[PARAMS_VALUE_MAX];
    scale(bytes_per_s, decimal_rates, ARRAY_COUNT(decimal_rates), buffer);
    scale(bytes_per_s, binary_rates, ARRAY_COUNT(binary_rates), binary);
    return strlen(binary) < strlen(buffer) ? strcpy(buffer, binary) : buffer;
}

const char *params_bandwidth_text(uint64_t bytes_per_s, char *buffer)
{
    return bytes_per_s ? rate_text(bytes_per_s, buffer) : "unlimited";
}

const char *params_time_text(uint64_t picoseconds, char *buffer)
{
    return scale(picoseconds, time_units, ARRAY_COUNT(time_units), buffer);
}

const char *params_hz_text(uint64_t hz, char *buffer)
{
    return scale(hz, hz_units, ARRAY_COUNT(hz_units), buffer);
}

/* Units that keep their number as it is. */
static const char *plain_suffix(enum model_dimension dimension)
{
    if (dimension == MODEL_DIM_CYCLES)
        return "cy";
    return dimension == MODEL_DIM_BYTES_PER_CY ? "B/cy" : "";
}

static const char *scaled_text(const struct model_value *value, char *buffer)
{
    uint64_t v = (uint64_t)value->integer;
    switch (value->dimension) {
    case MODEL_DIM_BYTES:
        return params_bytes_text(v, buffer);
    case MODEL_DIM_HZ:
        return params_hz_text(v, buffer);
    case MODEL_DIM_SECONDS:
        return params_time_text(v, buffer);
    case MODEL_DIM_BYTES_PER_S:
        return params_bandwidth_text(v, buffer);
    default:
        return NULL;
    }
}

const char *params_value_text(const struct model_value *value, char *buffer)
{
    if (value->dimension == MODEL_DIM_STRING)
        return value->string ? value->string : "";
    if (value->dimension == MODEL_DIM_BOOL)
        return value->integer ? "true" : "false";
    if (value->dimension == MODEL_DIM_ENUM && value->choice && value->integer >= 0
        && (uint64_t)value->integer < value->choice->count)
        return value->choice->names[value->integer];
    if (value->integer >= 0) {
        const char *text = scaled_text(value, buffer);
        if (text)
            return text;
    }
    snprintf(buffer, PARAMS_VALUE_MAX, "%" PRId64 "%s", value->integer,
             plain_suffix(value->dimension));
    return buffer;
}

const char *params_dimension_name(enum model_dimension dimension)
{
    static const char *const names[] = {
        [MODEL_DIM_NONE] = "int",          [MODEL_DIM_BOOL] = "bool",
        [MODEL_DIM_ENUM] = "enum",         [MODEL_DIM_BYTES] = "bytes",
        [MODEL_DIM_CYCLES] = "cycles",     [MODEL_DIM_HZ] = "Hz",
        [MODEL_DIM_SECONDS] = "seconds",   [MODEL_DIM_BYTES_PER_S] = "B/s",
        [MODEL_DIM_BYTES_PER_CY] = "B/cy", [MODEL_DIM_STRING] = "string",
    };
    return names[dimension];
}

const char *params_source_name(enum model_value_source source)
{
    static const char *const names[] = {
        [MODEL_FROM_DEFAULT] = "default",
        [MODEL_FROM_BODY] = "body",
        [MODEL_FROM_OVERRIDE] = "override",
        [MODEL_FROM_LET] = "let",
    };
    return names[source];
}

const char *params_collapse(struct region *region, const char *path)
{
    char *text = region_take(region, 2 * strlen(path) + 1), *to = text;
    while (*path) {
        *to++ = *path;
        if (*path++ != '[')
            continue;
        *to++ = '*';
        path += strcspn(path, "]");
    }
    *to = '\0';
    return text;
}

bool params_value_equal(const struct model_value *a, const struct model_value *b)
{
    if (a->dimension != b->dimension || a->integer != b->integer)
        return false;
    return a->dimension != MODEL_DIM_STRING
           || strcmp(a->string ? a->string : "", b->string ? b->string : "") == 0;
}

const char *params_group_text(const struct model_instance *const *instances, uint32_t count,
                              uint32_t index, char *buffer)
{
    const struct model_value *low = &instances[0]->params[index].value;
    const struct model_value *high = low;
    bool differ = false;
    for (uint32_t i = 1; i < count; i++) {
        const struct model_value *v = &instances[i]->params[index].value;
        differ |= !params_value_equal(v, low);
        low = v->integer < low->integer ? v : low;
        high = v->integer > high->integer ? v : high;
    }
    if (!differ)
        return params_value_text(low, buffer);
    char a[PARAMS_VALUE_MAX], b[PARAMS_VALUE_MAX];
    snprintf(buffer, 2 * PARAMS_VALUE_MAX + 8, "%s .. %s", params_value_text(low, a),
             params_value_text(high, b));
    return buffer;
}

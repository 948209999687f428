/* See memory_model.h. */
#include "memory_model.h"

bool memory_element_of(const char *word, struct memory_element *out)
{
    static const struct {
        const char *word;
        struct memory_element element;
    } words[] = {
        {"ubyte", {1, false, MEMORY_WHOLE}},      {"sbyte", {1, true, MEMORY_WHOLE}},
        {"ushort", {2, false, MEMORY_WHOLE}},     {"sshort", {2, true, MEMORY_WHOLE}},
        {"byte", {1, false, MEMORY_WHOLE}},       {"short", {2, false, MEMORY_WHOLE}},
        {"dword", {4, false, MEMORY_WHOLE}},      {"dwordx2", {8, false, MEMORY_WHOLE}},
        {"dwordx3", {12, false, MEMORY_WHOLE}},   {"dwordx4", {16, false, MEMORY_WHOLE}},
        {"byte_d16_hi", {1, false, MEMORY_HIGH}}, {"short_d16_hi", {2, false, MEMORY_HIGH}},
        {"ubyte_d16", {1, false, MEMORY_LOW}},    {"ubyte_d16_hi", {1, false, MEMORY_HIGH}},
        {"sbyte_d16", {1, true, MEMORY_LOW}},     {"sbyte_d16_hi", {1, true, MEMORY_HIGH}},
        {"short_d16", {2, false, MEMORY_LOW}},    {"u8", {1, false, MEMORY_WHOLE}},
        {"i8", {1, true, MEMORY_WHOLE}},          {"u16", {2, false, MEMORY_WHOLE}},
        {"i16", {2, true, MEMORY_WHOLE}},         {"b8", {1, false, MEMORY_WHOLE}},
        {"b16", {2, false, MEMORY_WHOLE}},        {"b32", {4, false, MEMORY_WHOLE}},
        {"b64", {8, false, MEMORY_WHOLE}},        {"b96", {12, false, MEMORY_WHOLE}},
        {"b128", {16, false, MEMORY_WHOLE}},      {"b8_d16_hi", {1, false, MEMORY_HIGH}},
        {"b16_d16_hi", {2, false, MEMORY_HIGH}},  {"u8_d16", {1, false, MEMORY_LOW}},
        {"u8_d16_hi", {1, false, MEMORY_HIGH}},   {"i8_d16", {1, true, MEMORY_LOW}},
        {"i8_d16_hi", {1, true, MEMORY_HIGH}},    {"u16_d16", {2, false, MEMORY_LOW}},
        {"u16_d16_hi", {2, false, MEMORY_HIGH}},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(words[i].word, word) != 0)
            continue;
        *out = words[i].element;
        return true;
    }
    return false;
}

void memory_load(const struct memory_element *element, const uint8_t *bytes, uint32_t *registers)
{
    if (element->bytes >= 4) {
        for (unsigned i = 0; i < element->bytes; i++) {
            uint32_t *to = &registers[64 * (i / 4)];
            *to = i % 4 ? *to + ((uint32_t)bytes[i] << 8 * (i % 4)) : bytes[i];
        }
        return;
    }
    uint64_t raw = bytes[0] + (element->bytes == 2 ? 256u * bytes[1] : 0);
    unsigned width = 8 * element->bytes;
    wide value = element->is_signed ? signed_part(raw, 0, width) : (wide)raw;
    uint64_t low = (uint64_t)part((uint64_t)value, 0, element->part == MEMORY_WHOLE ? 32 : 16);
    *registers =
        (uint32_t)(element->part == MEMORY_WHOLE ? low
                   : element->part == MEMORY_LOW ? low + part(*registers, 16, 16) * power(16)
                                                 : part(*registers, 0, 16) + low * power(16));
}

void memory_store(const struct memory_element *element, const uint32_t *registers, uint8_t *bytes)
{
    unsigned from = element->part == MEMORY_HIGH ? 16 : 0;
    for (unsigned i = 0; i < element->bytes; i++)
        bytes[i] = (uint8_t)part(registers[64 * (i / 4)], from + 8 * (i % 4), 8);
}

/* ---- atomics ---- */

static double as_double(uint64_t bits, unsigned width)
{
    uint32_t word = (uint32_t)bits;
    float single;
    double out;
    memcpy(&single, &word, sizeof single);
    memcpy(&out, &bits, sizeof out);
    return width == 32 ? (double)single : out;
}

/* Ordered by value; of zeros of both signs neither is less. */
static wide rank(uint64_t bits, unsigned width)
{
    wide size = part(bits, 0, width - 1);
    return bit_of(bits, width - 1) ? -size : size;
}

/* Sums are exact in twice the precision, then rounded once. */
static uint64_t sum(uint64_t a, uint64_t b, unsigned width)
{
    uint64_t out = 0;
    if (width == 32) {
        float single = (float)(as_double(a, 32) + as_double(b, 32));
        memcpy(&out, &single, sizeof single);
    } else {
        double rounded = (double)((long double)as_double(a, 64) + (long double)as_double(b, 64));
        memcpy(&out, &rounded, sizeof rounded);
    }
    return out;
}

static bool arithmetic(const char *operation, wide old, wide data, wide second, wide *out)
{
    bool equals = !strcmp(operation, "inc");
    if (!strcmp(operation, "add"))
        *out = old + data;
    else if (!strcmp(operation, "sub"))
        *out = old - data;
    else if (!strcmp(operation, "rsub"))
        *out = data - old;
    else if (equals)
        *out = old < data ? old + 1 : 0;
    else if (!strcmp(operation, "dec"))
        *out = old >= 1 && old <= data ? old - 1 : data;
    else if (!strcmp(operation, "wrap"))
        *out = old < data ? old + second : old - data;
    else if (!strcmp(operation, "swap"))
        *out = data;
    else if (!strcmp(operation, "cmpswap"))
        *out = old == second ? data : old;
    else
        return false;
    return true;
}

static bool logic(const char *operation, uint64_t old, uint64_t data, uint64_t second, wide *out)
{
    unsigned table = !strcmp(operation, "and")     ? 0xc0
                     : !strcmp(operation, "or")    ? 0xfc
                     : !strcmp(operation, "xor")   ? 0x3c
                     : !strcmp(operation, "mskor") ? 0xba
                                                   : 0;
    *out = bitwise(old, data, second, table);
    return table;
}

bool memory_atomic(const char *operation, char type, unsigned bits, uint64_t old, uint64_t data,
                   uint64_t second, uint64_t *out)
{
    wide value = 0, a = type == 'i' ? signed_part(old, 0, bits) : (wide)old,
         b = type == 'i' ? signed_part(data, 0, bits) : (wide)data;
    bool is_float = type == 'f';
    if (is_float)
        a = rank(old, bits), b = rank(data, bits);
    if (!strcmp(operation, "min"))
        value = b < a ? data : old;
    else if (!strcmp(operation, "max"))
        value = b > a ? data : old;
    else if (is_float && !strcmp(operation, "add"))
        value = sum(old, data, bits);
    else if (is_float && !strcmp(operation, "cmpswap"))
        value = a == rank(second, bits) ? data : old;
    else if (!arithmetic(operation, old, data, second, &value)
             && !logic(operation, old, data, second, &value))
        return false;
    *out = bits == 64 ? (uint64_t)value : (uint64_t)part((uint64_t)value, 0, 32);
    return true;
}

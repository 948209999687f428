/* Numbers out of a NUL-terminated line: each function takes a token that ends at a blank or at the
 * end, moves past the blanks that follow, and returns false without moving when it is no such
 * number. */
#ifndef HEDDLE_COMPONENTS_TRACES_INSTRUCTION_TRACE_READER_ITRACE_TEXT_H
#define HEDDLE_COMPONENTS_TRACES_INSTRUCTION_TRACE_READER_ITRACE_TEXT_H

#include <stdbool.h>
#include <stdint.h>

static inline bool itrace_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static inline const char *itrace_skip_blanks(const char *at)
{
    while (itrace_is_blank(*at))
        at++;
    return at;
}

static inline bool itrace_ends_token(char c)
{
    return c == '\0' || itrace_is_blank(c);
}

static inline bool itrace_parse_decimal(const char **at, uint64_t *value)
{
    const char *p = *at;
    uint64_t v = 0;
    for (; *p >= '0' && *p <= '9'; p++) {
        uint64_t digit = (uint64_t)(*p - '0');
        if (v > UINT64_MAX / 10 || v * 10 > UINT64_MAX - digit)
            return false;
        v = v * 10 + digit;
    }
    if (p == *at || !itrace_ends_token(*p))
        return false;
    *value = v;
    *at = itrace_skip_blanks(p);
    return true;
}

/* The value of a hexadecimal digit, or 16 and more. */
static inline unsigned itrace_hex_digit(char c)
{
    unsigned digit = (unsigned)c - '0';
    if (digit < 10)
        return digit;
    unsigned letter = ((unsigned)c | 0x20) - 'a';
    return letter < 6 ? letter + 10 : 16;
}

/* Three whole numbers with commas between them, and nothing after. */
static inline bool itrace_is_triple(const char *at, uint32_t triple[3])
{
    for (unsigned i = 0; i < 3; i++) {
        uint64_t value = 0;
        const char *begin = at = itrace_skip_blanks(at);
        for (; *at >= '0' && *at <= '9' && value <= UINT32_MAX; at++)
            value = value * 10 + (uint64_t)(*at - '0');
        if (at == begin || value > UINT32_MAX)
            return false;
        triple[i] = (uint32_t)value;
        at = itrace_skip_blanks(at);
        if (i < 2 && *at++ != ',')
            return false;
    }
    return *at == '\0';
}

/* Hexadecimal without 0x; *digits gets how many there were. */
static inline bool itrace_parse_hex(const char **at, uint64_t *value, unsigned *digits)
{
    const char *p = *at;
    uint64_t v = 0;
    unsigned digit;
    for (; (digit = itrace_hex_digit(*p)) < 16; p++) {
        if (v >> 60)
            return false;
        v = v << 4 | digit;
    }
    if (p == *at || !itrace_ends_token(*p))
        return false;
    *digits = (unsigned)(p - *at);
    *value = v;
    *at = itrace_skip_blanks(p);
    return true;
}

/* Hexadecimal with 0x. */
static inline bool itrace_parse_address(const char **at, uint64_t *value)
{
    const char *p = *at + 2;
    unsigned digits;
    if ((*at)[0] != '0' || ((*at)[1] != 'x' && (*at)[1] != 'X')
        || !itrace_parse_hex(&p, value, &digits))
        return false;
    *at = p;
    return true;
}

/* Hexadecimal, with or without 0x, as tracers write addresses. */
static inline bool itrace_parse_base(const char **at, uint64_t *value)
{
    unsigned digits;
    return itrace_parse_address(at, value) || itrace_parse_hex(at, value, &digits);
}

static inline bool itrace_parse_signed(const char **at, int64_t *value)
{
    const char *p = *at + (**at == '-');
    uint64_t size;
    if (!itrace_parse_decimal(&p, &size) || size > (uint64_t)INT64_MAX + (**at == '-'))
        return false;
    *value = (int64_t)(**at == '-' ? 0 - size : size);
    *at = p;
    return true;
}

#endif

/* Text functions for the readers of lines, values and arguments: mistakes, numbers, "WORD-N",
 * pointers. Nothing here calls them. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api_trace_internal.h"

#define MESSAGE_BYTES 512

bool api_trace_fail(struct api_trace_reader *r, const char *format, ...)
{
    char text[MESSAGE_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    r->sink->report(r->sink->context, r->line, text);
    r->failed = true;
    return false;
}

/* The value of a digit; 16: it is none. */
static uint64_t digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return (uint64_t)(c - '0');
    if (c >= 'a' && c <= 'f')
        return (uint64_t)(c - 'a' + 10);
    return c >= 'A' && c <= 'F' ? (uint64_t)(c - 'A' + 10) : 16;
}

bool api_trace_number(const char *text, size_t size, uint64_t most, uint64_t *value)
{
    uint64_t base = 10, sum = 0;
    size_t i = 0;
    if (size > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
        base = 16;
        i = 2;
    }
    if (i == size)
        return false;
    for (; i < size; i++) {
        uint64_t digit = digit_value(text[i]);
        if (digit >= base || sum > (most - digit) / base)
            return false;
        sum = sum * base + digit;
    }
    *value = sum;
    return true;
}

static bool has_prefix(const char *text, size_t size, const char *prefix)
{
    return size > strlen(prefix) && memcmp(text, prefix, strlen(prefix)) == 0;
}

/* "WORD-N". */
bool api_trace_symbol_number(const char *text, size_t size, const char *prefix, uint32_t *number)
{
    uint64_t value;
    size_t skip = strlen(prefix);
    if (!has_prefix(text, size, prefix)
        || !api_trace_number(text + skip, size - skip, UINT32_MAX, &value))
        return false;
    *number = (uint32_t)value;
    return true;
}

/* "module-N.NAME". */
static bool symbol_text(struct api_trace_reader *r, const char *text, size_t size,
                        struct api_trace_pointer *pointer)
{
    const char *dot = memchr(text, '.', size);
    size_t head = dot ? (size_t)(dot - text) : 0;
    if (!dot || head + 1 == size
        || !api_trace_symbol_number(text, head, "module-", &pointer->allocation))
        return false;
    pointer->space = API_TRACE_SYMBOL;
    pointer->symbol = region_strndup(&r->trace->memory, dot + 1, size - head - 1);
    return true;
}

bool api_trace_pointer_text(struct api_trace_reader *r, const char *text, size_t size,
                            struct api_trace_pointer *pointer)
{
    const char *plus = memchr(text, '+', size);
    size_t head = plus ? (size_t)(plus - text) : size;
    *pointer = (struct api_trace_pointer){0};
    if (plus && !api_trace_number(plus + 1, size - head - 1, INT64_MAX, &pointer->offset))
        return false;
    if (api_trace_symbol_number(text, head, "dptr-", &pointer->allocation))
        return true;
    if (r->trace->version > 1
        && api_trace_symbol_number(text, head, "hptr-", &pointer->allocation)) {
        pointer->space = API_TRACE_HOST;
        return true;
    }
    return r->trace->version > 1 && symbol_text(r, text, head, pointer);
}

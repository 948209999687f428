/* Prints a format of C. Functions of the front end fetch its arguments and strings. */
#include "kernel_printf.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

enum { SHAPE = 48, ELEMENTS = 16, WIDTH_MAX = 4096, PIECE = 512 + WIDTH_MAX };

/* Flags, width and precision, with their '*' replaced; then how many numbers of which size. */
struct conversion {
    char shape[SHAPE]; /* from '%' on; there is capacity for a length and the kind */
    size_t used;
    unsigned elements; /* 0: no vector */
    unsigned bytes;    /* size of a number, by its length */
    char kind;
};

struct printing {
    const struct kernel_printf *with;
    int printed; /* -1: an argument is missing */
};

static void put_text(struct printing *p, const char *text, size_t size)
{
    p->with->put(p->with->context, text, size);
    p->printed += (int)size;
}

static uint64_t take_argument(struct printing *p, unsigned bytes, unsigned *argument_bytes)
{
    uint64_t value = 0;
    *argument_bytes = p->with->number(p->with->context, bytes, &value);
    if (*argument_bytes == 0)
        p->printed = -1;
    return value;
}

/* ---- reading ---- */

/* A width or a precision, within reason. */
static void add_number(struct conversion *c, long value)
{
    char digits[16];
    value = value > WIDTH_MAX ? WIDTH_MAX : value < -WIDTH_MAX ? -WIDTH_MAX : value;
    size_t size = (size_t)snprintf(digits, sizeof digits, "%ld", value);
    if (c->used + size < SHAPE - 4) {
        memcpy(c->shape + c->used, digits, size);
        c->used += size;
    }
}

static const char *read_shape(struct printing *p, struct conversion *c, const char *at)
{
    for (; *at && strchr("-+ #0.*123456789", *at) && p->printed >= 0; at++) {
        unsigned argument_bytes;
        if (*at == '*') {
            add_number(c, (int32_t)take_argument(p, 4, &argument_bytes));
        } else if (*at >= '1' && *at <= '9') {
            add_number(c, strtol(at, NULL, 10));
            at += strspn(at, "0123456789") - 1;
        } else if (c->used < SHAPE - 4) {
            c->shape[c->used++] = *at;
        }
    }
    return at;
}

static const char *read_length(struct conversion *c, const char *at)
{
    unsigned halves = 0;
    size_t length = strspn(at, "hljztqL");
    c->bytes = 4;
    for (size_t i = 0; i < length; i++) {
        halves += at[i] == 'h';
        c->bytes = at[i] == 'h' ? c->bytes : 8;
    }
    if (halves && c->bytes == 8)
        c->bytes = 4; /* "hl", of vectors */
    else if (halves)
        c->bytes = halves > 1 ? 1 : 2;
    return at + length;
}

/* From the '%' to the end of the conversion; NULL: it is none. */
static const char *read_conversion(struct printing *p, struct conversion *c, const char *at)
{
    *c = (struct conversion){.shape = "%", .used = 1};
    at = read_shape(p, c, at);
    if (*at == 'v') {
        char *end;
        c->elements = (unsigned)strtoul(at + 1, &end, 10);
        at = end;
    }
    at = read_length(c, at);
    c->kind = *at;
    return *at && strchr("diouxXfFeEgGaAcpsn", *at) && c->elements <= ELEMENTS ? at + 1 : NULL;
}

/* ---- printing ---- */

static double half_value(uint16_t bits)
{
    int exponent = bits >> 10 & 31;
    double fraction = (bits & 1023) / 1024.0;
    double value = (1 + fraction) * __builtin_ldexp(1, exponent - 15);
    if (exponent == 0)
        value = fraction / 16384;
    else if (exponent == 31)
        value = fraction > 0 ? __builtin_nan("") : __builtin_inf();
    return bits >> 15 ? -value : value;
}

static double real_value(uint64_t bits, unsigned bytes)
{
    float narrow;
    double wide;
    if (bytes == 2)
        return half_value((uint16_t)bits);
    memcpy(&narrow, &bits, sizeof narrow);
    memcpy(&wide, &bits, sizeof wide);
    return bytes == 4 ? (double)narrow : wide;
}

static uint64_t integer_value(uint64_t value, unsigned bytes, bool is_signed)
{
    unsigned shift = 64 - 8 * bytes;
    return is_signed ? (uint64_t)((int64_t)(value << shift) >> shift) : value << shift >> shift;
}

static void put_number(struct printing *p, const struct conversion *c, uint64_t value,
                       unsigned argument_bytes)
{
    char piece[PIECE], shape[SHAPE];
    bool is_real = strchr("fFeEgGaA", c->kind), is_integer = strchr("diouxX", c->kind);
    unsigned bytes = min(c->bytes, argument_bytes);
    int size;
    snprintf(shape, sizeof shape, "%.*s%s%c", (int)c->used, c->shape, is_integer ? "ll" : "",
             c->kind);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    if (is_real)
        size = snprintf(piece, PIECE, shape, real_value(value, argument_bytes));
    else if (is_integer)
        size = snprintf(piece, PIECE, shape,
                        (long long)integer_value(value, bytes, strchr("di", c->kind)));
    else if (c->kind == 'c')
        size = snprintf(piece, PIECE, shape, (int)(value & 255));
    else
        size = snprintf(piece, PIECE, shape, (void *)(uintptr_t)value);
#pragma GCC diagnostic pop
    put_text(p, piece, size < 0 ? 0 : size < PIECE ? (size_t)size : PIECE - 1);
}

static void put_string(struct printing *p, const struct conversion *c)
{
    const char *text = p->with->string(p->with->context);
    char shape[SHAPE];
    if (!text) {
        p->printed = -1;
        return;
    }
    snprintf(shape, sizeof shape, "%.*ss", (int)c->used, c->shape);
    size_t capacity = strlen(text) + WIDTH_MAX + 1;
    char *piece = malloc(capacity);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    int size = piece ? snprintf(piece, capacity, shape, text) : 0;
#pragma GCC diagnostic pop
    put_text(p, piece, size < 0 ? 0 : (size_t)size);
    free(piece);
}

static void put_conversion(struct printing *p, const struct conversion *c)
{
    bool is_real = strchr("fFeEgGaA", c->kind);
    unsigned alone = is_real || strchr("pn", c->kind) ? 8 : max(c->bytes, 4);
    if (p->with->begin)
        p->with->begin(p->with->context, c->elements);
    if (c->kind == 's') {
        put_string(p, c);
        return;
    }
    for (unsigned i = 0; i < (c->elements ? c->elements : 1) && p->printed >= 0; i++) {
        unsigned argument_bytes;
        uint64_t value = take_argument(p, c->elements ? c->bytes : alone, &argument_bytes);
        if (argument_bytes && i > 0)
            put_text(p, ",", 1);
        if (argument_bytes && c->kind != 'n') /* as on devices: nowhere to write to */
            put_number(p, c, value, argument_bytes);
    }
}

int kernel_printf(const struct kernel_printf *with, const char *format)
{
    struct printing p = {.with = with};
    while (*format && p.printed >= 0) {
        size_t plain = strcspn(format, "%");
        put_text(&p, format, plain);
        format += plain;
        if (!*format)
            break;
        struct conversion c;
        const char *end = format[1] == '%' ? NULL : read_conversion(&p, &c, format + 1);
        if (end && p.printed >= 0)
            put_conversion(&p, &c);
        else if (p.printed >= 0)
            put_text(&p, "%", 1);
        format = end ? end : format + 1 + (format[1] == '%');
    }
    return p.printed;
}

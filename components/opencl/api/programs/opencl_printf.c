/* See opencl_printf.h. The buffer is that of ROCm's device library (opencl: printf_alloc): two
 * words with the bytes used and the size of all, then records. A record is the number of the call's
 * format and its arguments, each of as many bytes as the code object says, strings in place. What
 * does not fit is left out by the device. */
#include "opencl_printf.h"

#include "components/opencl/api/commands/opencl_driver.h"
#include "components/opencl/api/devices/opencl_features.h"
#include "components/opencl/compiler/opencl_compiler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD_BYTES = 8 };

struct output {
    struct output *next;
    uint64_t address, ticket;
    const struct opencl_facts *formats;
    struct opencl_object *owner; /* held */
    uint8_t bytes[OPENCL_PRINTF_BYTES];
};

static struct output *outputs; /* in the order of launches */

/* Buffers that are free, by device. */
static struct {
    uint64_t *list;
    size_t count;
} spare[HIP_DEVICES_MAX];

static const uint32_t fresh[2] = {0, OPENCL_PRINTF_BYTES};

cl_int opencl_printf_prepare(int number, uint32_t lane, uint64_t *buffer)
{
    uint64_t ticket = 0;
    cl_int error = CL_SUCCESS;
    if (spare[number].count > 0)
        *buffer = spare[number].list[--spare[number].count];
    else
        error = opencl_error_of(opencl.face->allocate_device(number, OPENCL_PRINTF_BYTES,
                                                             OPENCL_ALIGN, HIP_MODULE_MEMORY,
                                                             buffer)); /* not the program's */
    return error == CL_SUCCESS ? opencl_driver_write(lane, *buffer, fresh, sizeof fresh, &ticket)
                               : error;
}

cl_int opencl_printf_queued(uint64_t buffer, uint32_t lane, const struct opencl_facts *formats,
                            struct opencl_object *owner, uint64_t *ticket)
{
    struct output *made = opencl_allocate(sizeof *made);
    made->address = buffer;
    made->formats = formats;
    made->owner = owner;
    opencl_hold(owner);
    struct output **end = &outputs;
    while (*end)
        end = &(*end)->next;
    *end = made;
    cl_int error =
        opencl_status(opencl.api->read(lane, made->bytes, buffer, sizeof made->bytes, ticket));
    made->ticket = *ticket;
    return error;
}

/* ---- formatting ---- */

/* "%-8.3v4hlf": flags, width and precision; the number of elements; their length; the kind. */
struct conversion {
    char flags[32];
    unsigned elements; /* 0: no vector */
    unsigned bytes;    /* of an element of a vector */
    char kind;
    const char *end; /* behind it */
};

static bool read_conversion(const char *text, struct conversion *found)
{
    size_t length = strspn(text, "-+ #0123456789.");
    *found = (struct conversion){.bytes = 4};
    if (length >= sizeof found->flags)
        return false;
    memcpy(found->flags, text, length);
    text += length;
    if (*text == 'v') {
        char *end = NULL;
        found->elements = (unsigned)strtoul(text + 1, &end, 10);
        text = end;
    }
    if (strncmp(text, "hh", 2) == 0) {
        found->bytes = 1;
        text += 2;
    } else if (strncmp(text, "hl", 2) == 0) {
        text += 2;
    } else if (*text == 'h' || *text == 'l') {
        found->bytes = *text == 'h' ? 2 : 8;
        text++;
    }
    found->kind = *text;
    found->end = text + (*text != '\0');
    return strchr("diouxXcsfFeEgGaAp", found->kind) && found->kind != '\0' && found->elements <= 16;
}

static double half_value(uint16_t bits)
{
    int exponent = bits >> 10 & 31;
    double fraction = (bits & 1023) / 1024.0;
    double value = exponent == 0    ? fraction / 16384
                   : exponent == 31 ? (fraction > 0 ? __builtin_nan("") : __builtin_inf())
                                    : (1 + fraction) * __builtin_ldexp(1, exponent - 15);
    return bits >> 15 ? -value : value;
}

static double float_value(const uint8_t *bytes, unsigned size)
{
    double wide = 0;
    float narrow = 0;
    uint16_t half = 0;
    if (size == 2) {
        memcpy(&half, bytes, sizeof half);
        return half_value(half);
    }
    if (size >= 8) {
        memcpy(&wide, bytes, sizeof wide);
        return wide;
    }
    memcpy(&narrow, bytes, sizeof narrow);
    return (double)narrow;
}

static uint64_t integer_value(const uint8_t *bytes, unsigned size, bool is_signed)
{
    uint64_t value = 0;
    memcpy(&value, bytes, size < 8 ? size : 8);
    unsigned bits = size < 8 ? 64 - 8 * size : 0;
    return is_signed ? (uint64_t)((int64_t)(value << bits) >> bits) : value << bits >> bits;
}

static void print_element(const struct conversion *c, const uint8_t *bytes, unsigned size)
{
    char format[sizeof c->flags + 8];
    bool is_float = strchr("fFeEgGaA", c->kind) != NULL, is_signed = strchr("di", c->kind) != NULL;
    snprintf(format, sizeof format, "%%%s%s%c", c->flags, strchr("diouxX", c->kind) ? "ll" : "",
             c->kind);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    if (is_float)
        printf(format, float_value(bytes, size));
    else if (c->kind == 's') {
        char *text = opencl_allocate((size_t)size + 1);
        memcpy(text, bytes, size);
        printf(format, text);
        free(text);
    } else if (c->kind == 'c')
        printf(format, (int)integer_value(bytes, size, false));
    else if (c->kind == 'p')
        printf(format, (void *)(uintptr_t)integer_value(bytes, size, false));
    else
        printf(format, (long long)integer_value(bytes, size, is_signed));
#pragma GCC diagnostic pop
}

static void print_argument(const struct conversion *c, const uint8_t *bytes, unsigned size)
{
    if (c->elements == 0) {
        print_element(c, bytes, size);
        return;
    }
    for (unsigned i = 0; i < c->elements && (i + 1) * c->bytes <= size; i++) {
        fputs(i > 0 ? "," : "", stdout);
        print_element(c, bytes + (size_t)i * c->bytes, c->bytes);
    }
}

static unsigned whole_words(unsigned size)
{
    return (size + 3) / 4 * 4;
}

/* LLVM 19 reserves a word for the end of a string whose length is a multiple of 4, and does not
 * write it. So what comes next stands in that word, unless it looks like the end of a string. */
static bool lacks_end(const uint8_t *bytes, unsigned size)
{
    const uint8_t *word = bytes + size - 4;
    unsigned letters = 0;
    while (letters < 4
           && (word[letters] >= ' ' || (word[letters] >= '\a' && word[letters] <= '\r')))
        letters++;
    for (unsigned i = letters; i < 4; i++)
        if (word[i] != 0)
            return true;
    return letters == 0 || letters == 4;
}

static void print_record(const struct opencl_format *format, const uint8_t *bytes)
{
    struct conversion c;
    uint32_t next = 0;
    for (const char *at = format->text; *at;) {
        if (*at != '%') {
            size_t plain = strcspn(at, "%");
            fwrite(at, 1, plain, stdout);
            at += plain;
        } else if (at[1] == '%' || !read_conversion(at + 1, &c)) {
            putchar('%');
            at += at[1] == '%' ? 2 : 1;
        } else {
            if (next < format->argument_count) {
                unsigned size = whole_words(format->argument_bytes[next++]);
                size -= c.kind == 's' && size > 4 && lacks_end(bytes, size) ? 4 : 0;
                print_argument(&c, bytes, size);
                bytes += size;
            }
            at = c.end;
        }
    }
}

static const struct opencl_format *find_format(const struct opencl_facts *facts, uint32_t number)
{
    for (size_t i = 0; i < facts->format_count; i++)
        if (facts->formats[i].number == number)
            return &facts->formats[i];
    return NULL;
}

/* Bytes of the arguments of a record. */
static uint64_t record_bytes(const struct opencl_format *format)
{
    uint64_t size = 0;
    for (uint32_t i = 0; i < format->argument_count; i++)
        size += whole_words(format->argument_bytes[i]);
    return size;
}

/* The device leaves out what does not fit, and counts none of it. */
static void tell_full(const struct output *output, uint64_t used)
{
    uint64_t largest = 0, left = sizeof output->bytes - HEAD_BYTES - used;
    for (size_t i = 0; i < output->formats->format_count; i++) {
        uint64_t size = sizeof(uint32_t) + record_bytes(&output->formats->formats[i]);
        largest = size > largest ? size : largest;
    }
    if (left < largest)
        opencl_complain("a kernel has filled the %d KiB that a launch has for printf; what it "
                        "prints beyond them is lost",
                        OPENCL_PRINTF_BYTES / 1024);
}

static void print_all(const struct output *output)
{
    uint32_t used = 0, number = 0;
    memcpy(&used, output->bytes, sizeof used);
    const uint8_t *at = output->bytes + HEAD_BYTES;
    const uint8_t *end = at + (used <= sizeof output->bytes - HEAD_BYTES ? used : 0);
    while ((size_t)(end - at) >= sizeof number) {
        memcpy(&number, at, sizeof number);
        at += sizeof number;
        const struct opencl_format *format = find_format(output->formats, number);
        uint64_t size = format ? record_bytes(format) : 0;
        if (!format || size > (uint64_t)(end - at)) {
            opencl_complain("the buffer of printf has been overwritten");
            return;
        }
        print_record(format, at);
        at += size;
    }
    fflush(stdout);
    tell_full(output, (uint64_t)(end - output->bytes) - HEAD_BYTES);
}

void opencl_printf_flush(void)
{
    while (outputs && opencl.face->ticket_done(outputs->ticket)) {
        struct output *first = outputs;
        outputs = first->next;
        if (opencl.face->library->lost == hipSuccess)
            print_all(first);
        struct hip_location location = opencl.face->location_of(first->address);
        int number = location.allocation.device;
        spare[number].list =
            opencl_grow(spare[number].list, (spare[number].count + 1) * sizeof *spare[number].list);
        spare[number].list[spare[number].count++] = first->address;
        opencl_drop(first->owner);
        free(first);
    }
}

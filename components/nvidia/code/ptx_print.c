/* What kernels print. The format and the arguments are in the device's memory: each argument at a
 * multiple of its size, as the ABI of PTX lays them out (CUDA, "PTX Writer's Guide to
 * Interoperability", vprintf). The texts of launches are kept until the driver asks for them. */
#include "components/nvidia/code/ptx_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FORMAT_BYTES = 64 << 10, /* of a format or a string, at most */
    SPECIFICATION = 64,
    PIECE = 512, /* of a number in words: the longest double has 309 digits before the point */
    MOST_WIDTH = 4096
};

/* ---- texts of launches ---- */

struct ptx_output {
    struct ptx_output *next;
    uint32_t gpu;
    uint64_t key;
    struct ptx_text text;
};

static struct ptx_output *outputs;

static void text_add(struct ptx_text *t, const char *bytes, size_t size)
{
    if (t->room - t->size < size) {
        t->room = 2 * t->room + size;
        t->bytes = ptx_code_memory(t->bytes, t->room);
    }
    if (size)
        memcpy(t->bytes + t->size, bytes, size);
    t->size += size;
}

struct ptx_text *ptx_output_of(uint32_t gpu, uint64_t key)
{
    struct ptx_output *o = outputs;
    while (o && (o->gpu != gpu || o->key != key))
        o = o->next;
    if (!o) {
        o = ptx_code_memory(NULL, sizeof *o);
        *o = (struct ptx_output){.next = outputs, .gpu = gpu, .key = key};
        outputs = o;
    }
    return &o->text;
}

void ptx_output_give(uint32_t gpu, uint64_t key, void (*print)(const char *text, size_t size))
{
    for (struct ptx_output **link = &outputs; *link; link = &(*link)->next) {
        struct ptx_output *o = *link;
        if (o->gpu != gpu || o->key != key)
            continue;
        *link = o->next;
        if (print)
            print(o->text.bytes, o->text.size);
        else
            fwrite(o->text.bytes, 1, o->text.size, stdout);
        free(o->text.bytes);
        free(o);
        return;
    }
}

void ptx_output_give_all(void (*print)(const char *text, size_t size))
{
    while (outputs)
        ptx_output_give(outputs->gpu, outputs->key, print);
}

/* ---- one call of vprintf() ---- */

struct ptx_printing {
    const struct warp_launch *launch;
    const struct warp_block *block;
    uint32_t thread;
    uint64_t at; /* of the next argument */
    int arguments;
    struct ptx_text *to;
};

/* A string of the device, which the caller frees; NULL: it is not there. */
static char *print_string(const struct ptx_printing *p, uint64_t address)
{
    size_t size = 0, room = 0;
    char *text = NULL;
    do {
        if (size == room)
            text = ptx_code_memory(text, room = 2 * room + 64);
        if (size == FORMAT_BYTES
            || !warp_read(p->launch, p->block, p->thread, address + size, text + size, 1)) {
            free(text);
            return NULL;
        }
    } while (text[size++]);
    return text;
}

static uint64_t print_argument(struct ptx_printing *p, unsigned bytes)
{
    uint64_t value = 0;
    p->at = (p->at + bytes - 1) / bytes * bytes;
    warp_read(p->launch, p->block, p->thread, p->at, &value, bytes);
    p->at += bytes;
    p->arguments++;
    return value;
}

/* A width or a precision given by '*', within reason. */
static int print_star(struct ptx_printing *p)
{
    int32_t value = (int32_t)print_argument(p, 4);
    return value > MOST_WIDTH ? MOST_WIDTH : value < -MOST_WIDTH ? -MOST_WIDTH : value;
}

/* Copies flags, width and precision of a specification to `to`, with the values of '*' in their
 * place; returns what follows. Numbers beyond reason are cut. */
static const char *print_shape(struct ptx_printing *p, const char *at, char *to)
{
    size_t used = 0;
    to[used++] = '%';
    while (*at && strchr("-+ #0.*123456789", *at)) {
        char number[24] = {*at, 0};
        if (*at == '*')
            snprintf(number, sizeof number, "%d", print_star(p));
        else if (*at >= '1' && *at <= '9') {
            long value = strtol(at, NULL, 10);
            snprintf(number, sizeof number, "%ld", value < MOST_WIDTH ? value : MOST_WIDTH);
            at += strspn(at, "0123456789") - 1;
        }
        size_t length = strlen(number);
        if (used + length < SPECIFICATION - 4) {
            memcpy(to + used, number, length);
            used += length;
        }
        at++;
    }
    to[used] = 0;
    return at;
}

static void print_text(struct ptx_printing *p, const char *shape, uint64_t address)
{
    char *text = address ? print_string(p, address) : NULL;
    const char *shown = text ? text : "(null)";
    size_t room = strlen(shown) + MOST_WIDTH + 1;
    char *piece = ptx_code_memory(NULL, room);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    int size = snprintf(piece, room, shape, shown);
#pragma GCC diagnostic pop
    text_add(p->to, piece, size < 0 ? 0 : (size_t)size < room ? (size_t)size : room - 1);
    free(piece);
    free(text);
}

/* Prints a number: `shape` ends in its conversion, with a length for 64 bits. */
static void print_number(struct ptx_printing *p, const char *shape, char kind, uint64_t value)
{
    char piece[PIECE + MOST_WIDTH];
    double real;
    memcpy(&real, &value, sizeof real);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    int size = kind == 'f'   ? snprintf(piece, sizeof piece, shape, real)
               : kind == 'c' ? snprintf(piece, sizeof piece, shape, (int)value)
                             : snprintf(piece, sizeof piece, shape, (unsigned long long)value);
#pragma GCC diagnostic pop
    size_t most = sizeof piece - 1;
    text_add(p->to, piece, size < 0 ? 0 : (size_t)size < most ? (size_t)size : most);
}

/* The bytes of an integer by its length modifier; moves behind that. */
static unsigned print_length(const char **at)
{
    unsigned bytes = 4, halves = 0;
    for (; **at && strchr("hljztL", **at); ++*at) {
        halves += **at == 'h';
        bytes = **at == 'h' ? bytes : 8;
    }
    return halves ? 4u >> halves : bytes;
}

static uint64_t print_widen(uint64_t value, unsigned bytes, bool is_signed)
{
    unsigned shift = 64 - 8 * bytes;
    uint64_t high = value << shift;
    return is_signed ? (uint64_t)((int64_t)high >> shift) : high >> shift;
}

/* Prints one specification, from behind its '%'; returns what follows. */
static const char *print_one(struct ptx_printing *p, const char *at)
{
    char shape[SPECIFICATION];
    const char *begin = at - 1;
    at = print_shape(p, at, shape);
    unsigned bytes = print_length(&at);
    size_t end = strlen(shape);
    char kind = *at;
    if (kind == '%') {
        text_add(p->to, "%", 1);
    } else if (kind && strchr("diouxX", kind)) {
        uint64_t value = print_argument(p, bytes < 4 ? 4 : bytes);
        snprintf(shape + end, sizeof shape - end, "ll%c", kind);
        print_number(p, shape, 'd', print_widen(value, bytes, kind == 'd' || kind == 'i'));
    } else if (kind && strchr("fFeEgGaA", kind)) {
        snprintf(shape + end, sizeof shape - end, "%c", kind);
        print_number(p, shape, 'f', print_argument(p, 8));
    } else if (kind == 'c') {
        snprintf(shape + end, sizeof shape - end, "c");
        print_number(p, shape, 'c', print_argument(p, 4) & 0xff);
    } else if (kind == 'p') {
        text_add(p->to, "0x", 2);
        snprintf(shape + end, sizeof shape - end, "llx");
        print_number(p, shape, 'd', print_argument(p, 8));
    } else if (kind == 's') {
        snprintf(shape + end, sizeof shape - end, "s");
        print_text(p, shape, print_argument(p, 8));
    } else {
        text_add(p->to, begin, (size_t)(at - begin) + (kind != 0));
    }
    return at + (kind != 0);
}

int ptx_print(const struct warp_launch *launch, const struct warp_block *block, uint32_t thread,
              uint64_t format, uint64_t arguments, struct ptx_text *to)
{
    struct ptx_printing p = {
        .launch = launch, .block = block, .thread = thread, .at = arguments, .to = to};
    char *text = print_string(&p, format);
    if (!text)
        return -1;
    for (const char *at = text; *at;) {
        size_t plain = strcspn(at, "%");
        text_add(to, at, plain);
        at += plain;
        if (*at)
            at = print_one(&p, at + 1);
    }
    free(text);
    return p.arguments;
}

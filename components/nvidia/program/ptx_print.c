/* Prints for kernels. The format and the arguments are in the device's memory: each argument at a
 * multiple of its size, as the ABI of PTX lays them out (CUDA, "PTX Writer's Guide to
 * Interoperability", vprintf). The texts of launches are kept until the driver asks for them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/number.h"
#include "components/printf/kernel_printf.h"

#include "ptx_internal.h"

enum { FORMAT_BYTES_MAX = 64 << 10 }; /* a format's or a string's */

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
    grow_list(t->bytes, t->size + size, t->capacity, PTX_PROGRAM);
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
        o = grow_memory(NULL, sizeof *o, PTX_PROGRAM);
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
    uint64_t next; /* address of the next argument */
    int arguments;
    struct ptx_text *to;
    char *string; /* printed last */
};

/* A string of the device, which the caller frees; NULL: it is not there. */
static char *print_string(const struct ptx_printing *p, uint64_t address)
{
    size_t size = 0, capacity = 0;
    char *text = NULL;
    do {
        grow_list(text, size + 1, capacity, PTX_PROGRAM);
        if (size == FORMAT_BYTES_MAX
            || !warp_read(p->launch, p->block, p->thread, address + size, text + size, 1)) {
            free(text);
            return NULL;
        }
    } while (text[size++]);
    return text;
}

static unsigned print_number(void *context, unsigned bytes, uint64_t *value)
{
    struct ptx_printing *p = context;
    p->next = round_up(p->next, bytes);
    bool there = warp_read(p->launch, p->block, p->thread, p->next, value, bytes);
    p->next += bytes;
    p->arguments++;
    return there ? bytes : 0;
}

static const char *print_text(void *context)
{
    struct ptx_printing *p = context;
    uint64_t address = 0;
    free(p->string);
    p->string = print_number(p, 8, &address) && address ? print_string(p, address) : NULL;
    return p->string ? p->string : "(null)";
}

static void print_put(void *context, const char *bytes, size_t size)
{
    struct ptx_printing *p = context;
    text_add(p->to, bytes, size);
}

int ptx_print(const struct warp_launch *launch, const struct warp_block *block, uint32_t thread,
              uint64_t format, uint64_t arguments, struct ptx_text *to)
{
    struct ptx_printing p = {
        .launch = launch, .block = block, .thread = thread, .next = arguments, .to = to};
    const struct kernel_printf with = {
        .context = &p, .number = print_number, .string = print_text, .put = print_put};
    char *text = print_string(&p, format);
    if (!text)
        return -1;
    kernel_printf(&with, text);
    free(p.string);
    free(text);
    return p.arguments;
}

/* Prints what kernels have written to the buffer of printf. The buffer is that of ROCm's device
 * library (opencl: printf_alloc): two words with the bytes used and the size of all, then records.
 * A record is the number of the call's format and its arguments, each of as many bytes as the code
 * object says, strings in place. What does not fit is left out by the device. */
#include "opencl_printf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/number.h"
#include "components/opencl/api/commands/opencl_driver_commands.h"
#include "components/opencl/api/devices/opencl_features.h"
#include "components/opencl/compiler/opencl_compiler.h"
#include "components/printf/kernel_printf.h"

enum { HEAD_BYTES = 8 };

struct output {
    struct output *next;
    uint64_t address, ticket;
    const struct opencl_facts *formats;
    struct opencl_object *owner; /* held */
    uint8_t bytes[OPENCL_PRINTF_BYTES];
};

static struct output *outputs, **outputs_end = &outputs; /* in the order of launches */

/* Buffers that are free, by device. */
static struct {
    uint64_t *list;
    size_t count, capacity;
} spare[HIP_DEVICES_MAX];

static const uint32_t fresh[2] = {0, OPENCL_PRINTF_BYTES};

cl_int opencl_printf_prepare(int number, uint32_t lane, uint64_t *buffer)
{
    uint64_t ticket = 0;
    cl_int error = CL_SUCCESS;
    if (spare[number].count > 0)
        *buffer = spare[number].list[--spare[number].count];
    else
        error = opencl_error_of(opencl.hip->allocate_device(number, OPENCL_PRINTF_BYTES,
                                                            OPENCL_ALIGN, HIP_MODULE_MEMORY,
                                                            buffer)); /* not the program's */
    return error == CL_SUCCESS ? opencl_driver_write(lane, *buffer, fresh, sizeof fresh, &ticket)
                               : error;
}

cl_int opencl_printf_queued(uint64_t buffer, uint32_t lane, const struct opencl_facts *formats,
                            struct opencl_object *owner, uint64_t *ticket)
{
    struct output *output = opencl_allocate(sizeof *output);
    output->address = buffer;
    output->formats = formats;
    output->owner = owner;
    opencl_hold(owner);
    *outputs_end = output;
    outputs_end = &output->next;
    cl_int error =
        opencl_status(opencl.api->read(lane, output->bytes, buffer, sizeof output->bytes, ticket));
    output->ticket = *ticket;
    return error;
}

/* ---- records ---- */

static unsigned whole_words(unsigned size)
{
    return round_up(size, 4);
}

/* LLVM 19 reserves a word for the end of a string whose length is a multiple of 4, and does not
 * write it. So what comes next is in that word, unless it looks like the end of a string. */
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

/* The arguments of a record, and the one that is being printed. */
struct record {
    const struct opencl_format *format;
    const uint8_t *next, *at;
    uint32_t argument;
    unsigned size, left; /* bytes of the argument, and those that are not printed */
    bool is_vector;
    char *text;
};

static void begin_argument(void *context, unsigned elements)
{
    struct record *r = context;
    r->is_vector = elements > 0;
    r->at = r->next;
    r->size = r->left = r->argument < r->format->argument_count
                            ? whole_words(r->format->argument_bytes[r->argument++])
                            : 0;
    r->next += r->size;
}

static unsigned read_number(void *context, unsigned bytes, uint64_t *value)
{
    struct record *r = context;
    unsigned taken = r->is_vector || r->size > 8 ? bytes : r->size;
    if (taken == 0 || taken > r->left)
        return 0;
    memcpy(value, r->at, taken);
    r->at += taken;
    r->left -= taken;
    return taken;
}

static const char *read_string(void *context)
{
    struct record *r = context;
    if (r->size > 4 && lacks_end(r->at, r->size)) {
        r->size -= 4;
        r->next -= 4;
    }
    free(r->text);
    r->text = opencl_allocate((size_t)r->size + 1);
    memcpy(r->text, r->at, r->size);
    return r->text;
}

static void put_text(void *context, const char *text, size_t size)
{
    (void)context;
    fwrite(text, 1, size, stdout);
}

static void print_record(const struct opencl_format *format, const uint8_t *bytes)
{
    struct record r = {.format = format, .next = bytes};
    const struct kernel_printf with = {.context = &r,
                                       .begin = begin_argument,
                                       .number = read_number,
                                       .string = read_string,
                                       .put = put_text};
    kernel_printf(&with, format->text);
    free(r.text);
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
static void warn_full(const struct output *output, uint64_t used)
{
    uint64_t largest = 0, left = sizeof output->bytes - HEAD_BYTES - used;
    for (size_t i = 0; i < output->formats->format_count; i++) {
        uint64_t size = sizeof(uint32_t) + record_bytes(&output->formats->formats[i]);
        largest = max(size, largest);
    }
    if (left < largest)
        opencl.hip->say_call("a kernel has filled the %d KiB that a launch has for printf; what it "
                             "prints beyond them is lost",
                             OPENCL_PRINTF_BYTES / 1024);
}

static void print_all(const struct output *output)
{
    uint32_t used = 0, number = 0;
    memcpy(&used, output->bytes, sizeof used);
    const uint8_t *next = output->bytes + HEAD_BYTES;
    const uint8_t *end = next + (used <= sizeof output->bytes - HEAD_BYTES ? used : 0);
    while ((size_t)(end - next) >= sizeof number) {
        memcpy(&number, next, sizeof number);
        next += sizeof number;
        const struct opencl_format *format = find_format(output->formats, number);
        uint64_t size = format ? record_bytes(format) : 0;
        if (!format || size > (uint64_t)(end - next)) {
            opencl.hip->say_call("the buffer of printf has been overwritten");
            return;
        }
        print_record(format, next);
        next += size;
    }
    fflush(stdout);
    warn_full(output, (uint64_t)(end - output->bytes) - HEAD_BYTES);
}

void opencl_printf_flush(void)
{
    while (outputs && opencl.hip->is_ticket_done(outputs->ticket)) {
        struct output *first = outputs;
        outputs = first->next;
        if (!outputs)
            outputs_end = &outputs;
        if (opencl.hip->device_error() == hipSuccess)
            print_all(first);
        struct hip_location location = opencl.hip->location_of(first->address);
        int number = location.allocation.device;
        grow_list(spare[number].list, spare[number].count + 1, spare[number].capacity,
                  OPENCL_LIBRARY);
        spare[number].list[spare[number].count++] = first->address;
        opencl_drop(first->owner);
        free(first);
    }
}

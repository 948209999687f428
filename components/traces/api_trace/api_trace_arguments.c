/* Kernel arguments. balar writes values with sizes, "dptr-0/8/131072/4/": a pointer is what
 * contains "dptr", a floating-point number what contains ".", the rest are integers. Ours are exact
 * bytes at exact places, "0=dptr-0/8=00000200/", so that structures with pointers in them can be
 * written. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

#include "api_trace_internal.h"

#define POINTER_BYTES   8
#define ARGUMENTS_BYTES 65536 /* most of a kernel: far above what a code object can ask for */
#define NUMBER_TEXT     64

/* Adds to the call's arguments. They are an array that grows while the line is read. */
struct argument_list {
    struct api_trace_argument *items;
    uint32_t count, capacity;
    uint32_t end; /* bytes of the arguments so far, as members of a C structure */
};

static void add_argument(struct api_trace_reader *r, struct argument_list *list,
                         struct api_trace_argument argument)
{
    list->items = region_grow(&r->trace->memory, list->items, list->count, &list->capacity,
                              sizeof *list->items);
    list->items[list->count++] = argument;
}

static bool finish_arguments(const struct argument_list *list, struct api_trace_call *call)
{
    call->arguments = list->items;
    call->argument_count = list->count;
    return true;
}

static void store_bytes(uint8_t *bytes, uint32_t size, uint64_t value)
{
    for (uint32_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(value >> 8 * i);
}

/* A signed or unsigned integer of `size` bytes. */
static bool store_integer(const char *text, size_t length, uint32_t size, uint8_t *bytes)
{
    bool negative = length > 1 && text[0] == '-';
    uint64_t most = size == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * size) - 1;
    uint64_t value;
    if (!api_trace_number(text + negative, length - negative, negative ? most / 2 + 1 : most,
                          &value))
        return false;
    store_bytes(bytes, size, negative ? 0 - value : value);
    return true;
}

/* Decimal only: strtod() takes more than the grammar has. */
static bool store_float(const char *text, size_t length, uint32_t size, uint8_t *bytes)
{
    char copy[NUMBER_TEXT], *end;
    uint64_t bits = 0;
    if (length >= sizeof copy)
        return false;
    memcpy(copy, text, length);
    copy[length] = 0;
    if (strspn(copy, "0123456789.+-eE") != length)
        return false;
    if (size == 4) {
        float value = strtof(copy, &end);
        uint32_t word;
        memcpy(&word, &value, sizeof word);
        bits = word;
    } else {
        double value = strtod(copy, &end);
        memcpy(&bits, &value, sizeof bits);
    }
    store_bytes(bytes, size, bits);
    return *end == 0;
}

static bool contains_word(const char *text, size_t length, const char *word)
{
    size_t size = strlen(word);
    for (size_t i = 0; i + size <= length; i++)
        if (memcmp(text + i, word, size) == 0)
            return true;
    return false;
}

/* One "V/SIZE", aligned to its size as a member of a C structure is. */
static bool read_sized(struct api_trace_reader *r, const char *text, size_t length, uint32_t size,
                       uint32_t index, struct argument_list *list)
{
    bool is_float = contains_word(text, length, ".");
    struct api_trace_argument argument = {.size = size};
    argument.offset = round_up(list->end, size);
    list->end = argument.offset + size;
    if (list->end > ARGUMENTS_BYTES)
        return api_trace_fail(r, "the arguments have more than %d bytes", ARGUMENTS_BYTES);
    if (contains_word(text, length, "dptr")) {
        argument.is_pointer = true;
        if (!api_trace_pointer_text(r, text, length, &argument.pointer)
            || argument.pointer.space != API_TRACE_DEVICE)
            return api_trace_fail(r, "argument %" PRIu32 " is '%.*s', not device memory (dptr-N)",
                                  index, (int)min(length, 80), text);
        if (size != POINTER_BYTES)
            return api_trace_fail(
                r, "argument %" PRIu32 " is a pointer of %" PRIu32 " bytes, not 8", index, size);
        add_argument(r, list, argument);
        return true;
    }
    uint8_t *bytes = region_take(&r->trace->memory, size);
    if (is_float && size < 4)
        return api_trace_fail(r,
                              "argument %" PRIu32 " has a '.' and %" PRIu32
                              " bytes; floating-point numbers have 4 or 8",
                              index, size);
    if (is_float ? !store_float(text, length, size, bytes)
                 : !store_integer(text, length, size, bytes))
        return api_trace_fail(r,
                              "argument %" PRIu32 " is '%.*s', not a number of %" PRIu32 " byte%s",
                              index, (int)min(length, 80), text, size, size == 1 ? "" : "s");
    argument.bytes = bytes;
    add_argument(r, list, argument);
    return true;
}

/* The text up to the next '/'. False: there is none. */
static bool next_part(const char **at, const char **part, size_t *length)
{
    const char *slash = strchr(*at, '/');
    if (!slash)
        return false;
    *part = *at;
    *length = (size_t)(slash - *at);
    *at = slash + 1;
    return true;
}

bool api_trace_read_arguments(struct api_trace_reader *r, const char *text,
                              struct api_trace_call *call)
{
    struct argument_list list = {0};
    for (uint32_t index = 1; *text != 0; index++) {
        const char *value, *size_text;
        size_t length, size_length;
        uint64_t size;
        if (!next_part(&text, &value, &length) || !next_part(&text, &size_text, &size_length))
            return api_trace_fail(r, "argument %" PRIu32 " is not VALUE/SIZE/", index);
        if (!api_trace_number(size_text, size_length, 8, &size)
            || (size != 1 && size != 2 && size != 4 && size != 8))
            return api_trace_fail(r, "the size of argument %" PRIu32 " is '%.*s', not 1, 2, 4 or 8",
                                  index, (int)min(size_length, 80), size_text);
        if (!read_sized(r, value, length, (uint32_t)size, index, &list))
            return false;
    }
    return finish_arguments(&list, call);
}

static bool read_hex(struct api_trace_reader *r, const char *text, size_t length,
                     struct api_trace_argument *argument)
{
    static const char digits[] = "0123456789abcdef";
    uint8_t *bytes = region_take(&r->trace->memory, length / 2);
    for (size_t i = 0; i < length; i++) {
        const char *digit = text[i] != 0 ? strchr(digits, text[i]) : NULL;
        if (!digit)
            return false;
        bytes[i / 2] = (uint8_t)(bytes[i / 2] << 4 | (digit - digits));
    }
    argument->bytes = bytes;
    argument->size = (uint32_t)(length / 2);
    return length > 0 && length % 2 == 0;
}

bool api_trace_read_pieces(struct api_trace_reader *r, const char *text,
                           struct api_trace_call *call)
{
    struct argument_list list = {0};
    uint64_t end = 0;
    for (uint32_t index = 1; *text != 0; index++) {
        struct api_trace_argument argument = {.size = POINTER_BYTES};
        const char *piece;
        size_t length;
        uint64_t offset;
        const char *equals = NULL;
        if (next_part(&text, &piece, &length))
            equals = memchr(piece, '=', length);
        size_t head = equals ? (size_t)(equals - piece) : 0;
        if (!equals || !api_trace_number(piece, head, ARGUMENTS_BYTES, &offset))
            return api_trace_fail(r, "argument %" PRIu32 " is not OFFSET=BYTES/ or OFFSET=dptr-N/",
                                  index);
        argument.offset = (uint32_t)offset;
        argument.is_pointer =
            api_trace_pointer_text(r, equals + 1, length - head - 1, &argument.pointer)
            && argument.pointer.space != API_TRACE_HOST;
        if (!argument.is_pointer && !read_hex(r, equals + 1, length - head - 1, &argument))
            return api_trace_fail(r,
                                  "argument %" PRIu32
                                  " is neither device memory (dptr-N) nor bytes (0-9, a-f, two "
                                  "a byte)",
                                  index);
        if (offset < end)
            return api_trace_fail(r,
                                  "argument %" PRIu32 " begins at byte %" PRIu64
                                  ", the one before ends at %" PRIu64,
                                  index, offset, end);
        end = offset + argument.size;
        if (end > ARGUMENTS_BYTES)
            return api_trace_fail(r, "the arguments have more than %d bytes", ARGUMENTS_BYTES);
        add_argument(r, &list, argument);
    }
    return finish_arguments(&list, call);
}

/* Values: text between two keys into a member of the call. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api_trace_internal.h"

/* The stream of a handle in balar's grammar, where nothing creates one: numbered by appearance. */
static uint32_t handle_stream(struct api_trace_reader *r, uint64_t handle)
{
    struct api_trace_set *set = &r->streams;
    for (uint32_t i = 0; i < set->count; i++)
        if (set->items[i].handle == handle)
            return set->items[i].number;
    set->items =
        region_grow(&r->trace->memory, set->items, set->count, &set->capacity, sizeof *set->items);
    set->items[set->count] = (struct api_trace_object){
        .number = set->count + 1, .line = r->line, .is_live = true, .handle = handle};
    return set->items[set->count++].number;
}

static bool read_address(const char *text, uint64_t *value)
{
    size_t size = strlen(text);
    *value = 0;
    return strcmp(text, "(nil)") == 0
           || (size > 2 && memcmp(text, "0x", 2) == 0
               && api_trace_number(text, size, UINT64_MAX, value));
}

static bool read_stream(const char *text, uint32_t *stream)
{
    *stream = 0;
    if (strcmp(text, "thread") == 0) {
        *stream = API_TRACE_STREAM_OF_THREAD; /* refused later where there is none */
        return true;
    }
    return strcmp(text, "default") == 0
           || (api_trace_symbol_number(text, strlen(text), "stream-", stream) && *stream > 0);
}

/* Files lie beside the trace: a trace from elsewhere must not make us read other files. */
static bool is_beside(const char *file)
{
    size_t size = strlen(file);
    return size > 0 && file[0] != '/' && strcmp(file, "..") != 0 && strncmp(file, "../", 3) != 0
           && !strstr(file, "/../") && (size < 3 || strcmp(file + size - 3, "/..") != 0);
}

static const char *const expectations[] = {
    [VALUE_NUMBER32] = "a whole number below 4294967296",
    [VALUE_NUMBER64] = "a whole number below 2 to the 63",
    [VALUE_ADDRESS] = "an address (0x...) or (nil)",
    [VALUE_POINTER] = "device memory (dptr-N or dptr-N+OFFSET)",
    [VALUE_ALLOCATION] = "device memory (dptr-N)",
    [VALUE_PLACE] = "host memory (hptr-N+OFFSET), managed memory (dptr-N) or a module's variable",
    [VALUE_HOST] = "host memory (hptr-N)",
    [VALUE_MODULE] = "a module (module-N, N from 1)",
    [VALUE_STREAM] = "a stream (default or stream-N, N from 1)",
    [VALUE_NEW_STREAM] = "a new stream (stream-N, N from 1)",
    [VALUE_HANDLE] = "a stream's address (0x...) or (nil)",
    [VALUE_EVENT] = "an event (event-N)",
    [VALUE_NEW_EVENT] = "an event (event-N)",
    [VALUE_TEXT] = "a name",
    [VALUE_FILE] = "a file in the trace's folder",
};

static bool convert(struct api_trace_reader *r, enum api_trace_value kind, const char *text,
                    void *member)
{
    size_t size = strlen(text);
    uint64_t number;
    uint32_t *number32 = member;
    struct api_trace_pointer *pointer = member;
    switch (kind) {
    case VALUE_NUMBER32:
        if (!api_trace_number(text, size, UINT32_MAX, &number))
            return false;
        *number32 = (uint32_t)number;
        return true;
    case VALUE_NUMBER64:
        return api_trace_number(text, size, INT64_MAX, member);
    case VALUE_ADDRESS:
        return read_address(text, member);
    case VALUE_POINTER:
        return api_trace_pointer_text(r, text, size, pointer) && pointer->space != API_TRACE_HOST;
    case VALUE_PLACE:
        return api_trace_pointer_text(r, text, size, pointer);
    case VALUE_HOST:
        pointer->space = API_TRACE_HOST;
        return api_trace_symbol_number(text, size, "hptr-", &pointer->allocation);
    case VALUE_MODULE:
        return api_trace_symbol_number(text, size, "module-", number32) && *number32 > 0;
    case VALUE_ALLOCATION:
        return api_trace_symbol_number(text, size, "dptr-", &pointer->allocation);
    case VALUE_STREAM:
        return read_stream(text, member);
    case VALUE_NEW_STREAM:
        return read_stream(text, member) && *number32 > 0
               && *number32 != API_TRACE_STREAM_OF_THREAD;
    case VALUE_HANDLE:
        if (!read_address(text, &number))
            return false;
        *number32 = number == 0 ? 0 : handle_stream(r, number);
        return true;
    case VALUE_EVENT:
    case VALUE_NEW_EVENT:
        return api_trace_symbol_number(text, size, "event-", number32);
    case VALUE_TEXT:
        *(const char **)member = text;
        return size > 0;
    case VALUE_FILE:
        *(const char **)member = text;
        return is_beside(text);
    default:
        return false;
    }
}

bool api_trace_read_value(struct api_trace_reader *r, const struct api_trace_key *key,
                          const char *text, struct api_trace_call *call)
{
    if (key->value == VALUE_ARGUMENTS)
        return api_trace_read_arguments(r, text, call);
    if (key->value == VALUE_PIECES)
        return api_trace_read_pieces(r, text, call);
    if (key->value == VALUE_HANDLE && r->trace->version > 0 && strcmp(text, "(nil)") != 0)
        return api_trace_fail(r, "'%s': streams have numbers in this trace, use 'HIP launch'",
                              key->name);
    return convert(r, key->value, text, (char *)call + key->member)
           || api_trace_fail(r, "'%s' is '%.80s', not %s", key->name, text,
                             expectations[key->value]);
}

/* Calls into lines, by the same list of forms as reading. */
#include <inttypes.h>
#include <string.h>

#include "base/number.h"

#include "api_trace_internal.h"

static void write_pointer(FILE *out, const struct api_trace_pointer *pointer)
{
    static const char *const words[] = {
        [API_TRACE_DEVICE] = "dptr", [API_TRACE_SYMBOL] = "module", [API_TRACE_HOST] = "hptr"};
    fprintf(out, "%s-%" PRIu32, words[pointer->space], pointer->allocation);
    if (pointer->space == API_TRACE_SYMBOL)
        fprintf(out, ".%s", pointer->symbol);
    if (pointer->offset != 0)
        fprintf(out, "+%" PRIu64, pointer->offset);
}

static void write_address(FILE *out, uint64_t address)
{
    if (address == 0)
        fputs("(nil)", out);
    else
        fprintf(out, "0x%" PRIx64, address);
}

static uint64_t word_of(const struct api_trace_argument *argument)
{
    uint64_t word = 0;
    for (uint32_t i = 0; i < argument->size && i < 8; i++)
        word |= (uint64_t)argument->bytes[i] << 8 * i;
    return word;
}

/* Bits, as a number of that size: what they mean is in the kernel, not in the trace. */
static void write_arguments(FILE *out, const struct api_trace_call *call)
{
    for (uint32_t i = 0; i < call->argument_count; i++) {
        const struct api_trace_argument *argument = &call->arguments[i];
        if (argument->is_pointer)
            write_pointer(out, &argument->pointer);
        else
            fprintf(out, "%" PRIu64, word_of(argument));
        fprintf(out, "/%" PRIu32 "/", argument->size);
    }
}

static void write_pieces(FILE *out, const struct api_trace_call *call)
{
    for (uint32_t i = 0; i < call->argument_count; i++) {
        const struct api_trace_argument *argument = &call->arguments[i];
        fprintf(out, "%" PRIu32 "=", argument->offset);
        if (argument->is_pointer)
            write_pointer(out, &argument->pointer);
        else
            for (uint32_t k = 0; k < argument->size; k++)
                fprintf(out, "%02x", argument->bytes[k]);
        fputc('/', out);
    }
}

static void write_value(FILE *out, const struct api_trace_key *key,
                        const struct api_trace_call *call)
{
    const void *member = (const char *)call + key->member;
    const char *text;
    switch (key->value) {
    case VALUE_NUMBER32:
        fprintf(out, "%" PRIu32, *(const uint32_t *)member);
        break;
    case VALUE_NUMBER64:
        fprintf(out, "%" PRIu64, *(const uint64_t *)member);
        break;
    case VALUE_ADDRESS:
        write_address(out, *(const uint64_t *)member);
        break;
    case VALUE_POINTER:
    case VALUE_ALLOCATION:
    case VALUE_PLACE:
    case VALUE_HOST:
        write_pointer(out, member);
        break;
    case VALUE_STREAM:
    case VALUE_NEW_STREAM:
        if (*(const uint32_t *)member == 0)
            fputs("default", out);
        else if (*(const uint32_t *)member == API_TRACE_STREAM_OF_THREAD)
            fputs("thread", out);
        else
            fprintf(out, "stream-%" PRIu32, *(const uint32_t *)member);
        break;
    case VALUE_HANDLE:
        write_address(out, *(const uint32_t *)member); /* any handles that differ will do */
        break;
    case VALUE_MODULE:
        fprintf(out, "module-%" PRIu32, *(const uint32_t *)member);
        break;
    case VALUE_EVENT:
    case VALUE_NEW_EVENT:
        fprintf(out, "event-%" PRIu32, *(const uint32_t *)member);
        break;
    case VALUE_TEXT:
    case VALUE_FILE:
        text = *(const char *const *)member;
        fputs(text ? text : call->name, out); /* without a title, the name is one */
        break;
    case VALUE_ARGUMENTS:
        write_arguments(out, call);
        break;
    case VALUE_PIECES:
        write_pieces(out, call);
        break;
    }
}

/* True if the arguments are those that "V/SIZE/" would put there. */
static bool are_sized(const struct api_trace_call *call)
{
    uint32_t end = 0;
    for (uint32_t i = 0; i < call->argument_count; i++) {
        uint32_t size = call->arguments[i].size;
        if (size != 1 && size != 2 && size != 4 && size != 8)
            return false;
        if (call->arguments[i].offset != round_up(end, size))
            return false;
        end = call->arguments[i].offset + size;
    }
    return true;
}

#define MEMBER(name) offsetof(struct api_trace_call, name)

static bool has_key(const struct api_trace_form *form, size_t member)
{
    const struct api_trace_key *key = form->keys;
    while (key->name && key->member != member)
        key++;
    return key->name != NULL;
}

/* True if the form can express the call. A member that it has no key for must not matter. */
static bool fits_form(const struct api_trace *trace, const struct api_trace_form *form,
                      const struct api_trace_call *call)
{
    if (form->kind != call->kind || form->is_async != call->is_async
        || form->since > trace->version)
        return false;
    /* streams of our grammar are created, those of balar's are not, so launches do not mix */
    if (call->kind == API_TRACE_LAUNCH)
        return trace->version == 0
                   ? are_sized(call)
                   : form->since > 0 && (call->module != 0) == has_key(form, MEMBER(module))
                         && (call->cluster != 0) == has_key(form, MEMBER(cluster));
    if (call->kind == API_TRACE_MALLOC)
        return (call->flags != 0) == has_key(form, MEMBER(flags));
    return (call->stream == 0 || has_key(form, MEMBER(stream)))
           && (call->rows <= 1 || has_key(form, MEMBER(rows)));
}

static void write_call(FILE *out, const struct api_trace_form *form,
                       const struct api_trace_call *call)
{
    const char *before = ": ";
    fputs(form->head, out);
    for (const struct api_trace_key *key = form->keys; key->name; key++) {
        if (key->is_optional && call->device_address == 0)
            continue;
        fprintf(out, "%s%s: ", before, key->name);
        write_value(out, key, call);
        before = ", ";
    }
    fputc('\n', out);
}

bool api_trace_write(const struct api_trace *trace, FILE *out, const struct api_trace_sink *sink)
{
    if (trace->version > 0)
        fprintf(out, "%s%" PRIu32 "\n", API_TRACE_HEADER, trace->version);
    for (uint32_t i = 0; i < trace->call_count; i++) {
        const struct api_trace_form *form = NULL;
        for (size_t k = 0; k < api_trace_form_count && !form; k++)
            if (fits_form(trace, &api_trace_forms[k], &trace->calls[i]))
                form = &api_trace_forms[k];
        if (!form) {
            sink->report(sink->context, trace->calls[i].line,
                         "the original grammar cannot say this call: write the extended one");
            return false;
        }
        write_call(out, form, &trace->calls[i]);
    }
    return true;
}

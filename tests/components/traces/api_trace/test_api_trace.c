/* Reader, checks and writer of API traces (components/traces/api_trace). The oracle is written by
 * hand: what each line says, and for each mistake its line and what the message has to name. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "components/traces/api_trace/api_trace.h"
#include "tests/components/traces/damage.h"

#define MISTAKES_MAX 16

struct mistakes {
    uint32_t count;
    uint32_t lines[MISTAKES_MAX];
    char texts[MISTAKES_MAX][256];
};

static void note(void *context, uint32_t line, const char *text)
{
    struct mistakes *m = context;
    cr_assert_lt(m->count, MISTAKES_MAX);
    m->lines[m->count] = line;
    snprintf(m->texts[m->count++], sizeof m->texts[0], "%s", text);
}

/* The text in a buffer of exactly its size, so that the sanitizers see a byte too many. */
static bool parse(struct api_trace *trace, const char *text, size_t size, struct mistakes *m)
{
    struct api_trace_sink sink = {note, m};
    char *exact = malloc(size);
    memcpy(exact, text, size);
    *m = (struct mistakes){0};
    bool good = api_trace_parse(trace, exact, size, &sink);
    free(exact);
    cr_expect_eq(good, m->count == 0);
    return good;
}

static const char *path_of(const char *name)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", getenv("TRACES"), name);
    return path;
}

/* ---- what lines say ---- */

#define SETUP                                                                                      \
    "CUDA memalloc: dptr: dptr-0, size: 4096\n"                                                    \
    "CUDA memalloc: dptr: dptr-1, size: 16\n"
#define OURS     "heddle api-trace 1\n"
#define RECORDED "heddle api-trace 2\n"
#define LAUNCH(args, stream)                                                                       \
    "CUDA cu kernel launch detected: name: k, ptx_name: _Z1kv, funcptr: 0x10, gdx: 1, gdy: 2, "    \
    "gdz: 3, bdx: 4, bdy: 5, bdz: 6, sharedBytes: 7, CUstream: " stream ", args: " args "\n"

Test(api_trace, a_recorded_trace_is_read)
{
    struct api_trace t;
    struct mistakes m = {0};
    struct api_trace_sink sink = {note, &m};
    cr_assert(api_trace_read(&t, path_of("vecadd"), &sink), "line %u: %s", m.lines[0], m.texts[0]);
    cr_assert_eq(t.call_count, 10);
    cr_expect_eq(t.version, 0);
    const struct api_trace_call *malloc_call = &t.calls[2], *copy = &t.calls[4],
                                *launch = &t.calls[5], *back = &t.calls[6], *last = &t.calls[9];
    cr_expect(malloc_call->kind == API_TRACE_MALLOC && malloc_call->to.allocation == 2
              && malloc_call->size == 64 && malloc_call->line == 3);
    cr_expect(copy->kind == API_TRACE_COPY_TO_DEVICE && copy->to.allocation == 1
              && copy->to.offset == 0 && copy->host == 0x7f0000002010
              && copy->device_address == 0x7f3300000200 && copy->size == 64 && !copy->is_async);
    cr_expect_str_eq(copy->file, "cuMemcpyH2D-1-64.data");
    cr_expect_eq(launch->kind, API_TRACE_LAUNCH);
    cr_expect_str_eq(launch->title, "vecAdd");
    cr_expect_str_eq(launch->name, "_Z6vecAddPiS_S_i");
    cr_expect(launch->grid[0] == 2 && launch->grid[1] == 1 && launch->grid[2] == 1);
    cr_expect(launch->block[0] == 8 && launch->stream == 0 && launch->function == 0x560000001890);
    cr_assert_eq(launch->argument_count, 4);
    cr_expect(launch->arguments[2].is_pointer && launch->arguments[2].pointer.allocation == 2
              && launch->arguments[2].offset == 16);
    cr_expect(launch->arguments[3].offset == 24 && launch->arguments[3].size == 4);
    cr_expect_arr_eq(launch->arguments[3].bytes, ((uint8_t[]){16, 0, 0, 0}), 4);
    cr_expect(back->kind == API_TRACE_COPY_FROM_DEVICE && back->from.allocation == 2);
    cr_expect(last->kind == API_TRACE_FREE && last->to.allocation == 2 && last->line == 10,
              "a free does not end the trace");
    api_trace_release(&t);
}

Test(api_trace, our_extension_is_read)
{
    static const enum api_trace_kind kinds[] = {API_TRACE_SET_DEVICE,
                                                API_TRACE_MALLOC,
                                                API_TRACE_MALLOC,
                                                API_TRACE_STREAM_CREATE,
                                                API_TRACE_STREAM_CREATE,
                                                API_TRACE_EVENT_CREATE,
                                                API_TRACE_COPY_TO_DEVICE,
                                                API_TRACE_MEMSET,
                                                API_TRACE_EVENT_RECORD,
                                                API_TRACE_STREAM_WAIT_EVENT,
                                                API_TRACE_SYMBOL_TO_DEVICE,
                                                API_TRACE_LAUNCH,
                                                API_TRACE_COPY_FROM_DEVICE,
                                                API_TRACE_EVENT_SYNCHRONIZE,
                                                API_TRACE_STREAM_SYNCHRONIZE,
                                                API_TRACE_COPY_ON_DEVICE,
                                                API_TRACE_COPY_ON_DEVICE,
                                                API_TRACE_MEMSET,
                                                API_TRACE_SYMBOL_FROM_DEVICE,
                                                API_TRACE_DEVICE_SYNCHRONIZE,
                                                API_TRACE_EVENT_DESTROY,
                                                API_TRACE_STREAM_DESTROY,
                                                API_TRACE_STREAM_DESTROY,
                                                API_TRACE_FREE,
                                                API_TRACE_FREE};
    struct api_trace t;
    struct mistakes m = {0};
    struct api_trace_sink sink = {note, &m};
    cr_assert(api_trace_read(&t, path_of("pipeline/cuda_calls.trace"), &sink), "line %u: %s",
              m.lines[0], m.texts[0]);
    cr_assert_eq(t.call_count, ARRAY_COUNT(kinds));
    cr_expect_eq(t.version, 1);
    for (uint32_t i = 0; i < t.call_count; i++)
        cr_expect_eq(t.calls[i].kind, kinds[i], "line %u", t.calls[i].line);
    const struct api_trace_call *set = &t.calls[7], *symbol = &t.calls[10], *launch = &t.calls[11];
    cr_expect(set->is_async && set->to.offset == 64 && set->value == 165 && set->width == 1
              && set->size == 64 && set->stream == 1);
    cr_expect(symbol->offset == 16 && symbol->size == 4 && !symbol->is_async);
    cr_expect_str_eq(symbol->name, "offsets");
    cr_expect(launch->stream == 2 && launch->shared_bytes == 256 && launch->argument_count == 5);
    cr_expect(launch->arguments[1].is_pointer && launch->arguments[1].pointer.offset == 64);
    cr_expect(launch->arguments[4].offset == 28 && launch->arguments[4].size == 5);
    cr_expect_arr_eq(launch->arguments[4].bytes, ((uint8_t[]){1, 2, 3, 4, 5}), 5);
    cr_expect(t.calls[16].is_async && t.calls[16].stream == 0 && !t.calls[15].is_async);
    api_trace_release(&t);
}

Test(api_trace, a_recording_of_a_whole_program_is_read)
{
    struct api_trace t;
    struct mistakes m = {0};
    struct api_trace_sink sink = {note, &m};
    cr_assert(api_trace_read(&t, path_of("recorded"), &sink), "line %u: %s", m.lines[0],
              m.texts[0]);
    cr_assert_eq(t.version, 2);
    const struct api_trace_call *rows = &t.calls[10], *symbol = &t.calls[11],
                                *pinned = &t.calls[12], *launch = &t.calls[13];
    cr_expect(rows->rows == 4 && rows->pitch == 256 && !rows->is_async
              && rows->stream == API_TRACE_STREAM_OF_THREAD && api_trace_bytes(rows) == 64);
    cr_expect(symbol->to.space == API_TRACE_SYMBOL && symbol->to.allocation == 1
              && symbol->to.offset == 16);
    cr_expect_str_eq(symbol->to.symbol, "table.7");
    cr_expect(pinned->kind == API_TRACE_PINNED_TO_DEVICE && pinned->place.space == API_TRACE_HOST
              && pinned->place.offset == 128 && pinned->host_pitch == 32 && pinned->is_async);
    cr_expect(launch->module == 1 && launch->argument_count == 3);
    cr_expect_str_eq(launch->arguments[1].pointer.symbol, "table");
    cr_expect_eq(t.calls[18].thread, 3);
    cr_expect(t.calls[27].kind == API_TRACE_RETURN && t.calls[27].thread == 3);
    api_trace_release(&t);
}

static const struct {
    const char *text;
    uint32_t offset, size;
    const char *bytes;
} arguments[] = {
    {"0/1/", 0, 1, "\0"},
    {"-1/1/", 0, 1, "\xff"},
    {"255/1/", 0, 1, "\xff"},
    {"-128/1/", 0, 1, "\x80"},
    {"0x1234/2/", 0, 2, "\x34\x12"},
    {"131072/4/", 0, 4, "\0\0\2\0"},
    {"-2/4/", 0, 4, "\xfe\xff\xff\xff"},
    {"-9223372036854775808/8/", 0, 8, "\0\0\0\0\0\0\0\x80"},
    {"18446744073709551615/8/", 0, 8, "\xff\xff\xff\xff\xff\xff\xff\xff"},
    {"1.5/4/", 0, 4, "\0\0\xc0\x3f"},
    {"-0.0/4/", 0, 4, "\0\0\0\x80"},
    {"2.5e-1/8/", 0, 8, "\0\0\0\0\0\0\xd0\x3f"},
    {"1/1/2/8/", 8, 8, "\2\0\0\0\0\0\0\0"},
    {"1/8/2/1/3/2/", 10, 2, "\3\0"},
    {"dptr-0/8/7/4/8/4/", 12, 4, "\x8\0\0\0"},
};

Test(api_trace, values_become_bytes_at_their_places)
{
    for (size_t i = 0; i < ARRAY_COUNT(arguments); i++) {
        char text[1024];
        struct api_trace t;
        struct mistakes m;
        snprintf(text, sizeof text, SETUP LAUNCH("%s", "(nil)"), arguments[i].text);
        cr_assert(parse(&t, text, strlen(text), &m), "%s: %s", arguments[i].text, m.texts[0]);
        const struct api_trace_call *call = &t.calls[2];
        const struct api_trace_argument *last = &call->arguments[call->argument_count - 1];
        cr_expect_eq(last->offset, arguments[i].offset, "%s", arguments[i].text);
        cr_assert_eq(last->size, arguments[i].size, "%s", arguments[i].text);
        cr_expect_arr_eq(last->bytes, (const uint8_t *)arguments[i].bytes, last->size, "%s",
                         arguments[i].text);
        api_trace_release(&t);
    }
}

Test(api_trace, names_may_have_commas_and_lines_any_ending)
{
    static const char text[] =
        "\n# a comment\nCUDA memalloc: dptr: dptr-3, size: 0x10\r\n\n"
        "CUDA cu kernel launch detected: name: void f<int, 3>(int*), ptx_name: _Z1fv, funcptr: "
        "0x1, gdx: 1, gdy: 1, gdz: 1, bdx: 1, bdy: 1, bdz: 1, sharedBytes: 0, CUstream: 0xbeef, "
        "args: \n"
        "CUDA free detected: dptr: dptr-3";
    struct api_trace t;
    struct mistakes m;
    cr_assert(parse(&t, text, sizeof text - 1, &m), "line %u: %s", m.lines[0], m.texts[0]);
    cr_assert_eq(t.call_count, 3);
    cr_expect_str_eq(t.calls[1].title, "void f<int, 3>(int*)");
    cr_expect(t.calls[1].stream == 1 && t.calls[1].argument_count == 0 && t.calls[1].line == 5);
    cr_expect_eq(t.calls[2].line, 6);
    api_trace_release(&t);
}

Test(api_trace, a_number_can_be_used_again_after_its_end)
{
    static const char text[] =
        OURS "CUDA memalloc: dptr: dptr-9, size: 1\nCUDA memalloc: dptr: dptr-2, size: 2\n"
             "CUDA free detected: dptr: dptr-9\nCUDA memalloc: dptr: dptr-9, size: 100\n"
             "HIP memset: device_ptr: dptr-9, value: 0, width: 4, count: 25\n"
             "HIP memset: device_ptr: dptr-2, value: 0, width: 2, count: 1\n";
    struct api_trace t;
    struct mistakes m;
    cr_expect(parse(&t, text, sizeof text - 1, &m), "line %u: %s", m.lines[0], m.texts[0]);
    api_trace_release(&t);
}

/* ---- mistakes ---- */

static const struct {
    const char *text;
    uint32_t line;
    const char *says;
} bad[] = {
    /* form */
    {"CUDA memallok: dptr: dptr-0, size: 1\n", 1,
     "'CUDA memallok: dptr: dptr-0, size: 1' is no call"},
    {"\n\nnonsense\n", 3, "'nonsense' is no call"},
    {"CUDA memalloc\n", 1, "expected 'dptr: ', found 'the end of the line'"},
    {"CUDA memalloc: dptr: dptr-0\n", 1, "expected 'size: '"},
    {"CUDA memalloc: size: 1, dptr: dptr-0\n", 1, "expected 'dptr: ', found 'size: 1"},
    {OURS "HIP device synchronize: now\n", 2, "'now' stands behind the call"},
    {OURS "HIP stream create: stream: stream-1\n", 2, "expected 'flags: '"},
    {"HIP device synchronize\n", 1, "begin the trace with 'heddle api-trace 1'"},
    {"heddle api-trace 3\n", 1, "version 3, this reader knows up to 2"},
    {OURS "HIP stream query: stream: default, ready: 0\n", 2,
     "is not in version 1: begin the trace with 'heddle api-trace 2'"},
    {"heddle api-trace 0\n", 1, "'0' is no version"},
    {"heddle api-trace one\n", 1, "'one' is no version"},
    {SETUP "heddle api-trace 1\n", 3, "is no call"},
    /* values */
    {"CUDA memalloc: dptr: dptr-0, size: 12x\n", 1, "'size' is '12x', not a whole number"},
    {"CUDA memalloc: dptr: dptr-0, size: -1\n", 1, "'size' is '-1'"},
    {"CUDA memalloc: dptr: dptr-0, size: \n", 1, "'size' is ''"},
    {"CUDA memalloc: dptr: dptr-0, size: 9223372036854775808\n", 1,
     "'size' is '9223372036854775808'"},
    {"CUDA memalloc: dptr: dptr-0, size: 99999999999999999999\n", 1, "'size'"},
    {"CUDA memalloc: dptr: dptr-, size: 1\n", 1, "'dptr' is 'dptr-', not device memory"},
    {"CUDA memalloc: dptr: dptr-4294967296, size: 1\n", 1, "'dptr' is"},
    {"CUDA memalloc: dptr: 0x1000, size: 1\n", 1, "'dptr' is '0x1000'"},
    {"CUDA memalloc: dptr: dptr-0+4, size: 1\n", 1, "'dptr' is 'dptr-0+4'"},
    {SETUP LAUNCH("", "7"), 3, "'CUstream' is '7', not a stream's address"},
    {OURS SETUP LAUNCH("", "0x7"), 4, "use 'HIP launch'"},
    {OURS "HIP stream create: stream: default, flags: 0\n", 2, "not a new stream"},
    {OURS "HIP stream create: stream: stream-0, flags: 0\n", 2, "not a new stream"},
    {OURS "HIP event create: event: event, flags: 0\n", 2, "'event' is 'event', not an event"},
    {OURS "HIP set device: device: 4294967296\n", 2, "below 4294967296"},
    {OURS "HIP code object: file: \n", 2, "not a file in the trace's folder"},
    {OURS "HIP code object: file: /etc/passwd\n", 2, "not a file in the trace's folder"},
    {OURS "HIP code object: file: a/../../b\n", 2, "not a file in the trace's folder"},
    {OURS "HIP code object: file: ..\n", 2, "not a file in the trace's folder"},
    /* arguments */
    {SETUP LAUNCH("1/4/2", "(nil)"), 3, "argument 2 is not VALUE/SIZE/"},
    {SETUP LAUNCH("1/4/2/", "(nil)"), 3, "argument 2 is not VALUE/SIZE/"},
    {SETUP LAUNCH("1/3/", "(nil)"), 3, "the size of argument 1 is '3', not 1, 2, 4 or 8"},
    {SETUP LAUNCH("1/16/", "(nil)"), 3, "the size of argument 1 is '16'"},
    {SETUP LAUNCH("256/1/", "(nil)"), 3, "argument 1 is '256', not a number of 1 byte"},
    {SETUP LAUNCH("-129/1/", "(nil)"), 3, "argument 1 is '-129', not a number of 1 byte"},
    {SETUP LAUNCH("-/4/", "(nil)"), 3, "argument 1 is '-'"},
    {SETUP LAUNCH("1e-05/4/", "(nil)"), 3, "argument 1 is '1e-05', not a number of 4 bytes"},
    {SETUP LAUNCH("1.5/2/", "(nil)"), 3, "floating-point numbers have 4 or 8"},
    {SETUP LAUNCH("1.2.3/4/", "(nil)"), 3, "argument 1 is '1.2.3'"},
    {SETUP LAUNCH("./8/", "(nil)"), 3, "argument 1 is '.'"},
    {SETUP LAUNCH("dptr-0/4/", "(nil)"), 3, "argument 1 is a pointer of 4 bytes, not 8"},
    {SETUP LAUNCH("dptr-x/8/", "(nil)"), 3, "argument 1 is 'dptr-x'"},
    {SETUP LAUNCH("dptr-5/8/", "(nil)"), 3, "dptr-5 does not exist"},
    {SETUP LAUNCH("dptr-1+17/8/", "(nil)"), 3, "do not lie in its 16 bytes"},
#define OUR_LAUNCH(args)                                                                           \
    OURS SETUP "HIP launch: kernel: k, gdx: 1, gdy: 1, gdz: 1, bdx: 1, bdy: 1, bdz: 1, "           \
               "sharedBytes: 0, stream: default, args: " args "\n"
    {OUR_LAUNCH("0=00"), 4, "argument 1 is not OFFSET=BYTES/"},
    {OUR_LAUNCH("00/"), 4, "argument 1 is not OFFSET=BYTES/"},
    {OUR_LAUNCH("0=000/"), 4, "argument 1 is neither"},
    {OUR_LAUNCH("0=/"), 4, "argument 1 is neither"},
    {OUR_LAUNCH("0=0G/"), 4, "argument 1 is neither"},
    {OUR_LAUNCH("0=dptr-0/4=00/"), 4, "argument 2 begins at byte 4, the one before ends at 8"},
    {OUR_LAUNCH("65536=00/"), 4, "more than 65536 bytes"},
    {OUR_LAUNCH("0=dptr-2/"), 4, "dptr-2 does not exist"},
    /* what came before */
    {SETUP "CUDA memalloc: dptr: dptr-1, size: 1\n", 3, "dptr-1 exists already, since line 2"},
    {"CUDA free detected: dptr: dptr-0\n", 1, "dptr-0 does not exist"},
    {SETUP "CUDA free detected: dptr: dptr-1\nCUDA free detected: dptr: dptr-1\n", 4,
     "dptr-1 does not exist any more, since line 3"},
    {SETUP "CUDA memcpyH2D detected: device_ptr: dptr-1, host_ptr: 0x0, size: 17, data_file: f\n",
     3, "17 bytes from byte 0 of dptr-1 do not lie in its 16 bytes"},
    {SETUP "CUDA memcpyD2H detected: host_ptr: 0x0, device_ptr: dptr-1+9, size: 8, data_file: f\n",
     3, "8 bytes from byte 9 of dptr-1"},
    {OURS SETUP "HIP memcpy D2D: to: dptr-1, from: dptr-0+4095, size: 2\n", 4,
     "2 bytes from byte 4095 of dptr-0"},
    {OURS SETUP "HIP memset: device_ptr: dptr-1, value: 256, width: 1, count: 1\n", 4,
     "'value' is 256, which does not fit into 1 byte"},
    {OURS SETUP "HIP memset: device_ptr: dptr-1, value: 0, width: 3, count: 1\n", 4,
     "'width' is 3, not 1, 2 or 4"},
    {OURS SETUP "HIP memset: device_ptr: dptr-1, value: 0, width: 4, count: 5\n", 4, "20 bytes"},
    {OURS SETUP "HIP memset: device_ptr: dptr-1, value: 0, width: 4, count: 9223372036854775807\n",
     4, "do not lie in its 16 bytes"},
    {OURS "HIP stream synchronize: stream: stream-1\n", 2, "stream-1 does not exist"},
    {OURS "HIP stream destroy: stream: default\n", 2, "the default stream cannot be destroyed"},
    {OURS "HIP stream create: stream: stream-1, flags: 0\n"
          "HIP stream create: stream: stream-1, flags: 0\n",
     3, "stream-1 exists already, since line 2"},
    {OURS "HIP event record: event: event-0, stream: default\n", 2, "event-0 does not exist"},
    {OURS "HIP event synchronize: event: event-3\n", 2, "event-3 does not exist"},
    {OURS SETUP "HIP memset async: device_ptr: dptr-1, value: 0, width: 1, count: 1, stream: "
                "stream-4\n",
     4, "stream-4 does not exist"},
    {"CUDA cu kernel launch detected: name: k, ptx_name: _Z1kv, funcptr: 0x10, gdx: 0, gdy: 2, "
     "gdz: 3, bdx: 4, bdy: 5, bdz: 6, sharedBytes: 7, CUstream: (nil), args: \n",
     1, "the grid or the block of '_Z1kv' is empty"},
    {"CUDA cu kernel launch detected: name: k, ptx_name: _Z1kv, funcptr: 0x10, gdx: 1, gdy: 1, "
     "gdz: 1, bdx: 4294967295, bdy: 4294967295, bdz: 4294967295, sharedBytes: 7, CUstream: (nil), "
     "args: \n",
     1, "more than 4294967295 work-items"},
    /* what only recordings have */
    {OURS SETUP "HIP memcpy D2D: to: module-1.x, from: dptr-0, size: 2\n", 4,
     "'to' is 'module-1.x'"},
    {RECORDED "HIP stream synchronize: stream: stream-1\n", 2, "stream-1 does not exist"},
    {RECORDED "HIP stream create: stream: thread, flags: 0\n", 2, "not a new stream"},
    {OURS "HIP stream synchronize: stream: thread\n", 2, "stream-4294967295 does not exist"},
    {RECORDED "HIP module load: module: module-0, device: 0, file: f\n", 2, "not a module"},
    {RECORDED "HIP module unload: module: module-3\n", 2, "module-3 does not exist"},
    {RECORDED SETUP "HIP memset: device_ptr: module-1., value: 0, width: 1, count: 1\n", 4,
     "'device_ptr' is 'module-1.'"},
    {RECORDED SETUP "HIP memset: device_ptr: module-1.x, value: 0, width: 1, count: 1\n", 4,
     "module-1 does not exist"},
    {RECORDED SETUP "HIP memset: device_ptr: hptr-1, value: 0, width: 1, count: 1\n", 4,
     "'device_ptr' is 'hptr-1', not device memory"},
    {RECORDED "HIP host free: hptr: hptr-1\n", 2, "hptr-1 does not exist"},
    {RECORDED "HIP host register: hptr: hptr-1, size: 8, flags: 0\n"
              "HIP compare: place: hptr-1+4, size: 5, rows: 1, host_pitch: 0, data_file: f\n",
     3, "5 bytes from byte 4 of hptr-1 do not lie in its 8 bytes"},
    {RECORDED "HIP host register: hptr: hptr-1, size: 8, flags: 0\n"
              "HIP host map: dptr: dptr-1, hptr: hptr-2\n",
     3, "hptr-2 does not exist"},
    {RECORDED SETUP "HIP copy H2D: device_ptr: dptr-0, size: 16, rows: 3, pitch: 2041, data_file: "
                    "f, stream: default\n",
     4, "4098 bytes from byte 0 of dptr-0"},
    {RECORDED SETUP "HIP copy H2D: device_ptr: dptr-0, size: 16, rows: 3, pitch: 15, data_file: f, "
                    "stream: default\n",
     4, "rows of 16 bytes overlap, 15 bytes apart"},
    {RECORDED SETUP "HIP copy H2D: device_ptr: dptr-0, size: 16, rows: 9223372036854775807, pitch: "
                    "4096, data_file: f, stream: default\n",
     4, "more than any memory holds"},
    {RECORDED SETUP "HIP copy D2D: to: dptr-0, to_pitch: 16, from: dptr-0, from_pitch: 2048, size: "
                    "16, rows: 3, stream: default\n",
     4, "4112 bytes from byte 0 of dptr-0"},
    {RECORDED SETUP "HIP fill: device_ptr: dptr-0, value: 0, width: 4, count: 4, rows: 2, pitch: "
                    "4081, stream: default\n",
     4, "4097 bytes from byte 0"},
    {RECORDED SETUP
     "HIP pinned D2H: host_ptr: dptr-0, device_ptr: dptr-0, size: 8, rows: 1, pitch: "
     "0, host_pitch: 0, stream: default\n",
     4, "'host_ptr' is not host memory"},
    {RECORDED "HIP event query: event: event-1, ready: 1\n", 2, "event-1 does not exist"},
    {RECORDED SETUP "HIP module launch: module: module-2, kernel: k, gdx: 1, gdy: 1, gdz: 1, bdx: "
                    "1, bdy: 1, bdz: 1, sharedBytes: 0, stream: default, args: \n",
     4, "module-2 does not exist"},
    {RECORDED SETUP "HIP launch: kernel: k, gdx: 1, gdy: 1, gdz: 1, bdx: 1, bdy: 1, bdz: 1, "
                    "sharedBytes: 0, stream: default, args: 0=hptr-1/\n",
     4, "argument 1 is neither"},
};

Test(api_trace, mistakes_are_reported_once_with_their_line)
{
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
        struct api_trace t;
        struct mistakes m;
        cr_expect(!parse(&t, bad[i].text, strlen(bad[i].text), &m), "%s", bad[i].text);
        cr_expect_eq(m.count, 1, "%u messages: %s\n%s", m.count, bad[i].text, m.texts[1]);
        cr_expect_eq(m.lines[0], bad[i].line, "line %u: %s", m.lines[0], bad[i].text);
        cr_expect_not_null(strstr(m.texts[0], bad[i].says), "%s\nsays: %s", bad[i].text,
                           m.texts[0]);
        api_trace_release(&t);
    }
}

Test(api_trace, reading_goes_on_behind_a_mistake)
{
    static const char text[] =
        "CUDA memalloc: dptr: dptr-0, size: x\nwhat\n"
        "CUDA memalloc: dptr: dptr-1, size: 4\n"
        "CUDA free detected: dptr: dptr-2\nCUDA free detected: dptr: dptr-1\n";
    struct api_trace t;
    struct mistakes m;
    cr_expect(!parse(&t, text, sizeof text - 1, &m));
    cr_assert_eq(m.count, 3);
    cr_expect(m.lines[0] == 1 && m.lines[1] == 2 && m.lines[2] == 4);
    cr_expect_eq(t.call_count, 2);
    api_trace_release(&t);
}

Test(api_trace, bytes_that_are_no_text_are_refused)
{
    struct api_trace t;
    struct mistakes m;
    cr_expect(!parse(&t, "CUDA\0 memalloc\n", 15, &m));
    cr_expect(m.count == 1 && strstr(m.texts[0], "zero byte"));
    api_trace_release(&t);
}

/* ---- files ---- */

Test(api_trace, data_files_are_there_and_long_enough)
{
    struct api_trace t;
    struct mistakes m = {0};
    struct api_trace_sink sink = {note, &m};
    cr_expect(!api_trace_read(&t, path_of("damaged"), &sink));
    cr_assert_eq(m.count, 3);
    cr_expect_eq(m.lines[0], 5);
    cr_expect_str_eq(m.texts[0], "dptr-7 does not exist");
    cr_expect_eq(m.lines[1], 2);
    cr_expect_str_eq(m.texts[1], "the file 'short.data' has 63 bytes, the copy 64");
    cr_expect_eq(m.lines[2], 3);
    cr_expect_not_null(strstr(m.texts[2], "cannot read the file 'missing.data'"));
    cr_expect_str_eq(t.folder, path_of("damaged"));
    api_trace_release(&t);
}

Test(api_trace, a_trace_that_is_not_there_is_named)
{
    struct api_trace t;
    struct mistakes m = {0};
    struct api_trace_sink sink = {note, &m};
    cr_expect(!api_trace_read(&t, path_of("nowhere"), &sink));
    cr_expect(m.count == 1 && m.lines[0] == 0 && strstr(m.texts[0], "nowhere"));
    api_trace_release(&t);
    m.count = 0;
    cr_expect(!api_trace_read(&t, path_of(""), &sink), "a folder without a trace");
    cr_expect(m.count == 1 && strstr(m.texts[0], "cuda_calls.trace"));
    api_trace_release(&t);
}

/* ---- names ---- */

static bool is_known(void *context, const char *name)
{
    return strcmp(context, name) == 0;
}

Test(api_trace, unknown_kernels_and_variables_are_named)
{
    struct api_trace t;
    struct mistakes m = {0};
    struct api_trace_sink sink = {note, &m};
    char kernel[] = "_Z6vecAddPiS_S_i", variable[] = "offsets";
    struct api_trace_names names = {is_known, is_known, kernel, NULL};
    cr_assert(api_trace_read(&t, path_of("pipeline"), &sink));
    cr_expect(!api_trace_check_names(&t, &names, &sink));
    cr_assert_eq(m.count, 2);
    cr_expect(m.lines[0] == 13 && m.lines[1] == 21);
    cr_expect_str_eq(m.texts[0], "no code object has a variable 'offsets'");
    m.count = 0;
    names.context = variable;
    cr_expect(!api_trace_check_names(&t, &names, &sink));
    cr_assert_eq(m.count, 1);
    cr_expect(m.lines[0] == 14 && strstr(m.texts[0], "a kernel '_Z6vecAddPiS_S_i'"));
    api_trace_release(&t);
}

/* ---- writing ---- */

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_arguments(const struct api_trace_call *a, const struct api_trace_call *b)
{
    bool same = a->argument_count == b->argument_count;
    for (uint32_t i = 0; same && i < a->argument_count; i++) {
        const struct api_trace_argument *x = &a->arguments[i], *y = &b->arguments[i];
        same = x->offset == y->offset && x->size == y->size && x->is_pointer == y->is_pointer
               && x->pointer.allocation == y->pointer.allocation
               && x->pointer.offset == y->pointer.offset && x->pointer.space == y->pointer.space
               && same_text(x->pointer.symbol, y->pointer.symbol)
               && (x->is_pointer || memcmp(x->bytes, y->bytes, x->size) == 0);
    }
    return same;
}

/* All members but the line. */
static bool same_call(const struct api_trace_call *a, const struct api_trace_call *b)
{
    return a->kind == b->kind && a->is_async == b->is_async && a->to.allocation == b->to.allocation
           && a->to.offset == b->to.offset && a->from.allocation == b->from.allocation
           && a->from.offset == b->from.offset && a->size == b->size && a->offset == b->offset
           && a->host == b->host && a->device_address == b->device_address
           && a->function == b->function && same_text(a->name, b->name)
           && same_text(a->title, b->title) && same_text(a->file, b->file) && a->value == b->value
           && a->width == b->width && a->flags == b->flags && a->device == b->device
           && a->stream == b->stream && a->event == b->event
           && memcmp(a->grid, b->grid, sizeof a->grid) == 0
           && memcmp(a->block, b->block, sizeof a->block) == 0 && a->shared_bytes == b->shared_bytes
           && a->place.allocation == b->place.allocation && a->place.offset == b->place.offset
           && a->place.space == b->place.space && a->to.space == b->to.space
           && same_text(a->to.symbol, b->to.symbol) && a->module == b->module
           && a->thread == b->thread && a->rows == b->rows && a->pitch == b->pitch
           && a->from_pitch == b->from_pitch && a->host_pitch == b->host_pitch
           && same_arguments(a, b);
}

static char *written(const struct api_trace *t, bool expected)
{
    char *text;
    size_t size;
    struct mistakes m = {0};
    struct api_trace_sink sink = {note, &m};
    FILE *out = open_memstream(&text, &size);
    cr_expect_eq(api_trace_write(t, out, &sink), expected);
    cr_expect_eq(m.count, !expected);
    fclose(out);
    return text;
}

static void expect_round_trip(const struct api_trace *t)
{
    struct api_trace again;
    struct mistakes m;
    char *text = written(t, true);
    cr_assert(parse(&again, text, strlen(text), &m), "line %u: %s\n%s", m.lines[0], m.texts[0],
              text);
    cr_assert_eq(again.call_count, t->call_count);
    cr_expect_eq(again.version, t->version);
    for (uint32_t i = 0; i < t->call_count; i++)
        cr_expect(same_call(&t->calls[i], &again.calls[i]), "call %u of\n%s", i, text);
    free(text);
    api_trace_release(&again);
}

Test(api_trace, what_is_written_reads_the_same)
{
    static const char *const names[] = {"vecadd", "pipeline", "recorded"};
    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        struct api_trace t;
        struct mistakes m = {0};
        struct api_trace_sink sink = {note, &m};
        cr_assert(api_trace_read(&t, path_of(names[i]), &sink));
        expect_round_trip(&t);
        api_trace_release(&t);
    }
    for (size_t i = 0; i < ARRAY_COUNT(arguments); i++) {
        char text[1024];
        struct api_trace t;
        struct mistakes m;
        snprintf(text, sizeof text, SETUP LAUNCH("%s", "0x77"), arguments[i].text);
        cr_assert(parse(&t, text, strlen(text), &m));
        expect_round_trip(&t);
        api_trace_release(&t);
    }
}

Test(api_trace, a_recorded_trace_can_be_written_in_our_grammar_but_not_always_back)
{
    struct api_trace t, again;
    struct mistakes m = {0};
    struct api_trace_sink sink = {note, &m};
    cr_assert(api_trace_read(&t, path_of("vecadd"), &sink));
    t.version = 1;
    char *text = written(&t, true);
    cr_assert(parse(&again, text, strlen(text), &m), "%s", m.texts[0]);
    cr_expect_not_null(strstr(text, "args: 0=dptr-0/8=dptr-1/16=dptr-2/24=10000000/"));
    cr_expect_eq(again.calls[5].argument_count, 4);
    cr_expect(same_arguments(&again.calls[5], &t.calls[5]));
    again.version = 0; /* nothing in it that the original grammar lacks */
    char *back = written(&again, true);
    cr_expect_not_null(strstr(back, "name: _Z6vecAddPiS_S_i, ptx_name: _Z6vecAddPiS_S_i"));
    free(back);
    free(text);
    api_trace_release(&again);
    api_trace_release(&t);
    cr_assert(api_trace_read(&t, path_of("pipeline"), &sink));
    t.version = 0;
    free(written(&t, false));
    api_trace_release(&t);
}

Test(api_trace, any_piece_of_a_trace_is_read_or_refused)
{
    static const char text[] = OUR_LAUNCH("0=dptr-0/8=0102/") "HIP device synchronize\n";
    for (size_t size = 0; size < sizeof text - 1; size++)
        for (size_t from = 0; from < 24 && from < size; from += 23) {
            struct api_trace t;
            struct mistakes m;
            parse(&t, text + from, size - from, &m);
            api_trace_release(&t);
        }
}

/* ---- damage ---- */

struct complaints {
    uint32_t count, without_line;
    const char *what;
};

static void complain(void *context, uint32_t line, const char *text)
{
    struct complaints *c = context;
    c->count++;
    c->without_line += line == 0;
    cr_expect_gt(strlen(text), 5, "%s", c->what);
}

static char *file_text(const char *name)
{
    char *text = NULL;
    size_t size = 0;
    FILE *in = fopen(path_of(name), "r");
    cr_assert_not_null(in, "%s", name);
    cr_assert_gt(getdelim(&text, &size, '\0', in), 0);
    fclose(in);
    return text;
}

/* Each damaged trace is refused, and each complaint names its line, or it is a trace: it can be
 * written, and what was written reads the same. */
Test(api_trace, damaged_traces_are_refused_with_a_line_or_are_traces)
{
    static const char *const names[] = {"pipeline/cuda_calls.trace", "recorded/cuda_calls.trace",
                                        "vecadd/cuda_calls.trace"};
    unsigned refused = 0, all = 0;
    for (size_t n = 0; n < ARRAY_COUNT(names); n++) {
        char *text = file_text(names[n]);
        for (unsigned seed = 1; seed <= damage_seeds(); seed++, all++) {
            struct api_trace t;
            char what[256];
            char *damaged = damage_text(text, seed, what);
            struct complaints c = {.what = what};
            const struct api_trace_sink sink = {complain, &c};
            bool good = api_trace_parse(&t, damaged, strlen(damaged), &sink);
            cr_expect_eq(good, c.count == 0, "seed %u: %s", seed, what);
            cr_expect_eq(c.without_line, 0, "seed %u: %s", seed, what);
            refused += !good;
            if (good) {
                char *once = written(&t, true);
                struct api_trace again;
                cr_expect(api_trace_parse(&again, once, strlen(once), &sink), "seed %u: %s", seed,
                          what);
                cr_expect_eq(again.call_count, t.call_count, "seed %u: %s", seed, what);
                free(once);
                api_trace_release(&again);
            }
            api_trace_release(&t);
            free(damaged);
        }
        free(text);
    }
    cr_expect(refused > all / 4 && refused < all, "%u of %u refused", refused, all);
}

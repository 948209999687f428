/* Traces of GPU API calls: reader, checker and writer. A library by itself; it knows no simulator.
 *
 * The grammar is that of balar's trace player (SST, sst-simulator.org, "Balar In Depth"), one call
 * a line, and our extension of it, which a trace announces in its first line; docs/api-traces.md
 * describes both. Device memory, streams and events are numbers in the trace ("dptr-0"), never
 * addresses, so that a trace can be played on anything.
 *
 * A trace is read whole and is constant from then on; api_trace_release() gives everything back.
 * Mistakes go to the caller's `say`, each with its line, and reading goes on to find more; what is
 * returned says whether there were any. Running out of host memory ends the program. */
#ifndef HEDDLE_API_TRACE_H
#define HEDDLE_API_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define API_TRACE_VERSION 1
#define API_TRACE_FILE    "cuda_calls.trace" /* in a folder, as the tracer calls it */

enum api_trace_kind {
    API_TRACE_MALLOC,             /* to, size */
    API_TRACE_FREE,               /* to */
    API_TRACE_COPY_TO_DEVICE,     /* to, size, file: the data; host and device: as recorded */
    API_TRACE_COPY_FROM_DEVICE,   /* from, size, file: what is expected; host: as recorded */
    API_TRACE_COPY_ON_DEVICE,     /* to, from, size */
    API_TRACE_SYMBOL_TO_DEVICE,   /* name, offset, size, file */
    API_TRACE_SYMBOL_FROM_DEVICE, /* name, offset, size, file */
    API_TRACE_MEMSET,             /* to, value, width, size: elements */
    API_TRACE_LAUNCH, /* name: mangled, title, function, grid, block, shared_bytes, arguments */
    API_TRACE_CODE_OBJECT, /* file */
    API_TRACE_SET_DEVICE,  /* device */
    API_TRACE_DEVICE_SYNCHRONIZE,
    API_TRACE_STREAM_CREATE, /* stream, flags */
    API_TRACE_STREAM_DESTROY,
    API_TRACE_STREAM_SYNCHRONIZE,
    API_TRACE_STREAM_WAIT_EVENT, /* stream, event */
    API_TRACE_EVENT_CREATE,      /* event, flags */
    API_TRACE_EVENT_DESTROY,
    API_TRACE_EVENT_RECORD, /* event, stream */
    API_TRACE_EVENT_SYNCHRONIZE
};

/* A place in device memory: bytes behind the start of an allocation. */
struct api_trace_pointer {
    uint32_t allocation;
    uint64_t offset;
};

/* Bytes of a kernel's explicit arguments. */
struct api_trace_argument {
    uint32_t offset; /* in the arguments */
    uint32_t size;   /* pointers: 8 */
    bool is_pointer;
    struct api_trace_pointer pointer;
    const uint8_t *bytes; /* NULL for a pointer */
};

struct api_trace_call {
    enum api_trace_kind kind;
    bool is_async; /* copies and memset: the caller does not wait */
    uint32_t line; /* from 1 */
    struct api_trace_pointer to, from;
    uint64_t size, offset;
    uint64_t host, device_address, function; /* addresses as recorded: for people */
    const char *name, *title, *file;         /* NULL where the kind has none */
    uint32_t value, width, flags, device;
    uint32_t stream; /* 0: the default stream */
    uint32_t event;
    uint32_t grid[3], block[3], shared_bytes; /* blocks; work-items of a block */
    const struct api_trace_argument *arguments;
    uint32_t argument_count;
};

struct api_trace_memory;

struct api_trace {
    uint32_t version;   /* 0: balar's grammar; otherwise API_TRACE_VERSION */
    const char *folder; /* where its files are; "" for a text */
    const struct api_trace_call *calls;
    uint32_t call_count;
    struct api_trace_memory *memory;
};

/* Told of each mistake: one line of text, without the place. `line` 0: the whole file. */
struct api_trace_sink {
    void (*say)(void *context, uint32_t line, const char *text);
    void *context;
};

/* Reads a text. `trace` holds the calls that could be read, also when false is returned. */
bool api_trace_parse(struct api_trace *trace, const char *text, size_t size,
                     const struct api_trace_sink *sink);

/* Reads `path`: a file, or a folder with an API_TRACE_FILE. Looks also at the data files: each is
 * beside the trace and as long as its copy. */
bool api_trace_read(struct api_trace *trace, const char *path, const struct api_trace_sink *sink);

/* Are all kernels that are launched and all symbols that are copied known? */
struct api_trace_names {
    bool (*has_kernel)(void *context, const char *name);
    bool (*has_symbol)(void *context, const char *name);
    void *context;
};
bool api_trace_check_names(const struct api_trace *trace, const struct api_trace_names *names,
                           const struct api_trace_sink *sink);

/* Writes the trace such that reading it gives the same calls: in balar's grammar when its version
 * is 0, otherwise in ours. false: version 0 cannot say one of the calls, `sink` has its line; what
 * was written before it is there. Errors of `out` stay with `out`. */
bool api_trace_write(const struct api_trace *trace, FILE *out, const struct api_trace_sink *sink);

void api_trace_release(struct api_trace *trace);

#endif

/* Traces of GPU API calls: reader, checker and writer. A library by itself; it knows no simulator.
 *
 * The grammar is the one of balar's trace player (SST, sst-simulator.org, "Balar In Depth"), one
 * call a line, or our extension, which a trace announces in its first line;
 * docs/reference/api-traces.md describes both. Device memory, streams and events are numbers in the
 * trace ("dptr-0"), never addresses, so that a trace can be played on anything.
 *
 * A trace is read whole and is constant from then on; api_trace_release() gives everything back.
 * Mistakes go to the caller's `report`, each with its line, and reading continues to find more; the
 * value returned says whether there were any. Running out of host memory ends the program. */
#ifndef HEDDLE_COMPONENTS_TRACES_API_TRACE_API_TRACE_H
#define HEDDLE_COMPONENTS_TRACES_API_TRACE_API_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/region.h"

#define API_TRACE_VERSION 2                  /* the newest; 1 lacks what recorded programs need */
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
    API_TRACE_EVENT_SYNCHRONIZE,
    /* Version 2. `place` is memory that the host can touch: its own, or managed. */
    API_TRACE_STREAM_QUERY, /* stream, value: 1 it was ready, 0 not yet */
    API_TRACE_EVENT_QUERY,  /* event, value */
    API_TRACE_MODULE_LOAD,  /* module, device, file */
    API_TRACE_MODULE_UNLOAD,
    API_TRACE_MALLOC_MANAGED, /* to, size, flags */
    API_TRACE_HOST_MALLOC,    /* place, size, flags; pinned memory */
    API_TRACE_HOST_FREE,      /* place */
    API_TRACE_HOST_REGISTER,  /* place, size, flags */
    API_TRACE_HOST_UNREGISTER,
    API_TRACE_HOST_MAP,           /* to: the device's side of place, which is pinned */
    API_TRACE_HOST_ACCESS,        /* place, value: 0 read, 1 write; what made managed memory move */
    API_TRACE_HOST_WRITE,         /* place, size, file: the host stores these bytes */
    API_TRACE_COMPARE,            /* place, size, rows, pitch, file: what must be there now */
    API_TRACE_PINNED_TO_DEVICE,   /* to, place, size, rows, pitch, host_pitch, file, stream */
    API_TRACE_PINNED_FROM_DEVICE, /* place, from, size, rows, pitch, host_pitch, stream */
    API_TRACE_PREFETCH,           /* to, size, device, stream */
    API_TRACE_PEER,               /* device, value: 1 on, 0 off */
    API_TRACE_UNIFY,              /* device: the new one, name: "0+1+2" */
    API_TRACE_CONTEXT_CREATE,     /* device: the new one, value: like which */
    API_TRACE_DEVICE_DESTROY,     /* device */
    API_TRACE_REMAP,              /* to, size, device: the GPU */
    API_TRACE_MALLOC_AT,          /* to, size, device_address: where */
    API_TRACE_THREAD,             /* thread: of the host; the lines that follow are its calls */
    API_TRACE_RETURN              /* thread: its last call came back here, not at once */
};

#define API_TRACE_STREAM_OF_THREAD UINT32_MAX /* the calling host thread's own stream */

enum api_trace_space {
    API_TRACE_DEVICE, /* dptr-N+OFFSET */
    API_TRACE_SYMBOL, /* module-N.NAME+OFFSET: a variable of a loaded module */
    API_TRACE_HOST    /* hptr-N+OFFSET: pinned or registered host memory */
};

/* A place in memory: bytes after the start of an allocation, or of a variable. */
struct api_trace_pointer {
    uint32_t allocation; /* its number, or the module's */
    enum api_trace_space space;
    uint64_t offset;
    const char *symbol; /* API_TRACE_SYMBOL */
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
    /* version 2 */
    struct api_trace_pointer place;
    uint32_t module, thread; /* module 0: the launch names none */
    uint64_t rows;           /* copies, fills: 0 or 1 is a plain one; `size` is a row's */
    uint64_t pitch, from_pitch, host_pitch; /* bytes from row to row; pitch: on the device, of `to`
                                               when both are there */
    uint32_t grid[3], block[3], shared_bytes; /* blocks; work-items of a block */
    uint32_t cluster;                         /* PTX: aql_of_cluster(); 0: as the kernel says */
    const struct api_trace_argument *arguments;
    uint32_t argument_count;
};

struct api_trace {
    uint32_t version;   /* 0: balar's grammar; otherwise up to API_TRACE_VERSION */
    const char *folder; /* where its files are; "" for a text */
    const struct api_trace_call *calls;
    uint32_t call_count;
    struct region memory;
};

/* Told of each mistake: one line of text, without the place. `line` 0: the whole file. */
struct api_trace_sink {
    void (*report)(void *context, uint32_t line, const char *text);
    void *context;
};

/* Reads a text. `trace` holds the calls that could be read, also when false is returned. */
bool api_trace_parse(struct api_trace *trace, const char *text, size_t size,
                     const struct api_trace_sink *sink);

/* Reads `path`: a file, or a folder with an API_TRACE_FILE. Looks also at the data files: each is
 * beside the trace and as long as its copy. */
bool api_trace_read(struct api_trace *trace, const char *path, const struct api_trace_sink *sink);

/* The location of an explicit argument of a kernel. */
struct api_trace_parameter {
    uint32_t offset, size; /* bytes */
};

/* True if all kernels that are launched and all symbols that are copied are known, and launches
 * give each byte of the kernel's arguments and no others? */
struct api_trace_names {
    bool (*has_kernel)(void *context, const char *name);
    bool (*has_symbol)(void *context, const char *name);
    void *context;
    /* Parameters of a kernel that is known, by rising offset. NULL: arguments are not looked at. */
    const struct api_trace_parameter *(*parameters)(void *context, const char *name,
                                                    uint32_t *count);
};
bool api_trace_check_names(const struct api_trace *trace, const struct api_trace_names *names,
                           const struct api_trace_sink *sink);

/* Writes the trace such that reading it gives the same calls: in balar's grammar when its version
 * is 0, otherwise in ours. False: version 0 cannot say one of the calls, `sink` has its line; what
 * was written before it is there. Errors of `out` stay with `out`. */
bool api_trace_write(const struct api_trace *trace, FILE *out, const struct api_trace_sink *sink);

/* The rows of a copy or fill; one that has none has a single row. */
uint64_t api_trace_rows(const struct api_trace_call *call);
/* The bytes in the file of a copy: of all rows, without what lies between them. UINT64_MAX: more.
 */
uint64_t api_trace_bytes(const struct api_trace_call *call);

void api_trace_release(struct api_trace *trace);

#endif

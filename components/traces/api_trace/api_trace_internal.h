/* Declarations that the files of this folder share. */
#ifndef HEDDLE_COMPONENTS_TRACES_API_TRACE_API_TRACE_INTERNAL_H
#define HEDDLE_COMPONENTS_TRACES_API_TRACE_API_TRACE_INTERNAL_H

#include "api_trace.h"

/* ---- grammar ---- */

enum api_trace_value {
    VALUE_NUMBER32, /* decimal or 0x */
    VALUE_NUMBER64,
    VALUE_ADDRESS,    /* 0x..., or (nil) */
    VALUE_POINTER,    /* dptr-N or dptr-N+OFFSET, device memory; in version 2 module-N.NAME, too */
    VALUE_ALLOCATION, /* dptr-N, that is allocated or freed here */
    VALUE_PLACE,      /* hptr-N or dptr-N, with +OFFSET: what the host can touch */
    VALUE_HOST,       /* hptr-N, that is allocated or freed here */
    VALUE_MODULE,     /* module-N, N from 1 */
    VALUE_STREAM,     /* default, thread or stream-N */
    VALUE_NEW_STREAM, /* stream-N, that is created here */
    VALUE_HANDLE,     /* a stream in balar's grammar: (nil), or an address */
    VALUE_EVENT,      /* event-N */
    VALUE_NEW_EVENT,
    VALUE_TEXT,
    VALUE_FILE,
    VALUE_ARGUMENTS, /* V/SIZE/V/SIZE/.../ */
    VALUE_PIECES     /* OFFSET=HEX/OFFSET=dptr-N/.../ */
};

struct api_trace_key {
    const char *name;
    enum api_trace_value value;
    size_t member; /* offset in struct api_trace_call */
    bool is_optional;
};

#define API_TRACE_KEYS_MAX 13

/* One kind of line: "HEAD: key: value, key: value". */
struct api_trace_form {
    const char *head;
    enum api_trace_kind kind;
    bool is_async;
    uint32_t since;                                    /* version; 0: balar's grammar */
    struct api_trace_key keys[API_TRACE_KEYS_MAX + 1]; /* in this order; name NULL ends them */
};

extern const struct api_trace_form api_trace_forms[];
extern const size_t api_trace_form_count;

#define API_TRACE_HEADER "heddle api-trace "

/* ---- reading ---- */

/* Numbers in use: allocations, streams, events. Sorted by number. */
struct api_trace_set {
    struct api_trace_object {
        uint32_t number;
        uint32_t line; /* where it was made last */
        bool is_live;
        uint64_t size;   /* allocations */
        uint64_t handle; /* streams of balar's grammar */
    } * items;
    uint32_t count, capacity;
};

struct api_trace_reader {
    struct api_trace *trace;
    const struct api_trace_sink *sink;
    uint32_t line;
    bool failed;
    struct api_trace_set allocations, streams, events, hosts, modules;
};

/* Reports a mistake on the current line. Always false. */
bool api_trace_fail(struct api_trace_reader *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A value into its member. false after a message. */
bool api_trace_read_value(struct api_trace_reader *r, const struct api_trace_key *key,
                          const char *text, struct api_trace_call *call);

/* Whole numbers: decimal or 0x, nothing else. */
/* "WORD-N", with `prefix` "WORD-". */
bool api_trace_symbol_number(const char *text, size_t size, const char *prefix, uint32_t *number);
bool api_trace_number(const char *text, size_t size, uint64_t most, uint64_t *value);
/* dptr-N, hptr-N and module-N.NAME, each with +OFFSET; the name goes to the reader's memory. */
bool api_trace_pointer_text(struct api_trace_reader *r, const char *text, size_t size,
                            struct api_trace_pointer *pointer);

/* V/SIZE/... and OFFSET=.../..., into the call's arguments. */
bool api_trace_read_arguments(struct api_trace_reader *r, const char *text,
                              struct api_trace_call *call);
bool api_trace_read_pieces(struct api_trace_reader *r, const char *text,
                           struct api_trace_call *call);

/* True if the call fits the calls before it. Follows allocations, streams and events. */
bool api_trace_follow(struct api_trace_reader *r, const struct api_trace_call *call);

#endif

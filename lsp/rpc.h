/* Messages of JSON-RPC over a byte stream, each behind a header with its length, as the Language
 * Server Protocol 3.17 frames them ("Base Protocol"). Whatever comes, reading goes on after it. */
#ifndef HEDDLE_LSP_RPC_H
#define HEDDLE_LSP_RPC_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Error codes of JSON-RPC 2.0, and those that the protocol adds. */
enum rpc_error {
    RPC_PARSE_ERROR = -32700,
    RPC_INVALID_REQUEST = -32600,
    RPC_METHOD_NOT_FOUND = -32601,
    RPC_INVALID_PARAMS = -32602,
    RPC_INTERNAL_ERROR = -32603,
    RPC_NOT_INITIALIZED = -32002,
    RPC_REQUEST_FAILED = -32803
};

/* Longer messages are answered with an error and not read; longer headers neither. */
#define RPC_MESSAGE_MAX ((size_t)64 * 1024 * 1024)
#define RPC_HEADER_MAX  ((size_t)8 * 1024)

struct rpc_reader {
    char *bytes;
    size_t begin, end, capacity;
    size_t skip; /* bytes still to come of a message that is too long */
};

enum rpc_result {
    RPC_MORE,    /* no whole message yet */
    RPC_MESSAGE, /* `*body` until the next call */
    RPC_LENGTH_MISSING,
    RPC_TOO_LONG
};

void rpc_feed(struct rpc_reader *reader, const char *bytes, size_t size);
enum rpc_result rpc_next(struct rpc_reader *reader, const char **body, size_t *size);
void rpc_release(struct rpc_reader *reader);

/* A function that sends a value takes the caller's reference to it. False: the stream is broken. */
bool rpc_send_result(FILE *out, const json_t *id, json_t *result);
bool rpc_send_error(FILE *out, const json_t *id, enum rpc_error code, const char *text);
bool rpc_send_notification(FILE *out, const char *method, json_t *params);

#endif

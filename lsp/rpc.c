/* Messages of JSON-RPC with their headers. */
#include "rpc.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/grow.h"
#include "base/number.h"
#include "codegen/views/json_from_text.h"

void rpc_feed(struct rpc_reader *reader, const char *bytes, size_t size)
{
    size_t dropped = min(size, reader->skip);
    reader->skip -= dropped;
    bytes += dropped;
    size -= dropped;
    if (size == 0)
        return;
    if (reader->begin > 0) {
        memmove(reader->bytes, reader->bytes + reader->begin, reader->end - reader->begin);
        reader->end -= reader->begin;
        reader->begin = 0;
    }
    grow_list(reader->bytes, reader->end + size, reader->capacity, "a message");
    memcpy(reader->bytes + reader->end, bytes, size);
    reader->end += size;
}

void rpc_release(struct rpc_reader *reader)
{
    free(reader->bytes);
    *reader = (struct rpc_reader){0};
}

/* The length of a header with the empty line at its end; 0: it has not come yet. */
static size_t header_size(const char *bytes, size_t size)
{
    for (size_t i = 0; i + 1 < size; i++) {
        if (bytes[i] != '\n')
            continue;
        if (bytes[i + 1] == '\n')
            return i + 2;
        if (i + 2 < size && bytes[i + 1] == '\r' && bytes[i + 2] == '\n')
            return i + 3;
    }
    return 0;
}

/* The value of Content-Length. False: there is none, or it is no number. */
static bool find_length(const char *header, size_t size, size_t *length)
{
    static const char name[] = "Content-Length:";
    for (size_t at = 0; at < size;) {
        const char *line = header + at;
        const char *end = memchr(line, '\n', size - at);
        size_t line_size = end ? (size_t)(end - line) : size - at;
        at += line_size + 1;
        if (line_size < sizeof name || strncasecmp(line, name, sizeof name - 1) != 0)
            continue;
        size_t i = sizeof name - 1, digits = 0;
        while (i < line_size && (line[i] == ' ' || line[i] == '\t'))
            i++;
        *length = 0;
        for (; i < line_size && line[i] >= '0' && line[i] <= '9'; i++, digits++)
            *length = *length > SIZE_MAX / 16 ? *length : *length * 10 + (size_t)(line[i] - '0');
        return digits > 0 && (i == line_size || line[i] == '\r' || line[i] == ' ');
    }
    return false;
}

enum rpc_result rpc_next(struct rpc_reader *reader, const char **body, size_t *size)
{
    size_t there = reader->end - reader->begin;
    if (there == 0)
        return RPC_MORE;
    const char *bytes = reader->bytes + reader->begin;
    size_t header = header_size(bytes, min(there, RPC_HEADER_MAX));
    if (header == 0 && there < RPC_HEADER_MAX)
        return RPC_MORE;
    if (header == 0 || !find_length(bytes, header, size)) {
        reader->begin += header > 0 ? header : RPC_HEADER_MAX;
        return RPC_LENGTH_MISSING;
    }
    if (*size > RPC_MESSAGE_MAX) {
        size_t come = min(there - header, *size);
        reader->begin += header + come;
        reader->skip = *size - come;
        return RPC_TOO_LONG;
    }
    if (there - header < *size)
        return RPC_MORE;
    *body = bytes + header;
    reader->begin += header + *size;
    return RPC_MESSAGE;
}

static bool rpc_send(FILE *out, json_t *message)
{
    char *text = message ? json_dumps(message, JSON_COMPACT) : NULL;
    json_decref(message);
    if (!text)
        return false;
    fprintf(out, "Content-Length: %zu\r\n\r\n%s", strlen(text), text);
    free(text);
    return fflush(out) == 0;
}

static json_t *id_of(const json_t *id)
{
    return id ? json_deep_copy(id) : json_null();
}

bool rpc_send_result(FILE *out, const json_t *id, json_t *result)
{
    return rpc_send(out, json_pack("{s:s, s:o, s:o}", "jsonrpc", "2.0", "id", id_of(id), "result",
                                   result ? result : json_null()));
}

bool rpc_send_error(FILE *out, const json_t *id, enum rpc_error code, const char *text)
{
    return rpc_send(out, json_pack("{s:s, s:o, s:{s:i, s:o}}", "jsonrpc", "2.0", "id", id_of(id),
                                   "error", "code", (int)code, "message", json_from_text(text)));
}

bool rpc_send_notification(FILE *out, const char *method, json_t *params)
{
    return rpc_send(
        out, json_pack("{s:s, s:s, s:o}", "jsonrpc", "2.0", "method", method, "params", params));
}

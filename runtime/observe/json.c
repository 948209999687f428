/* The JSON writer; see json.h. */
#include "json.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/likely.h"
#include "base/number.h"

void json_start(struct json *j, int fd)
{
    j->fd = fd;
    j->has_failed = false;
    j->is_first = true;
    j->is_flat = false;
    j->depth = 0;
    j->used = 0;
    j->total = 0;
}

void json_flush(struct json *j)
{
    size_t done = 0;
    while (done < j->used && !j->has_failed) {
        ssize_t n = write(j->fd, j->buffer + done, j->used - done);
        if (n < 0 && errno == EINTR)
            continue;
        j->has_failed = n < 0;
        done += n < 0 ? 0 : (size_t)n;
    }
    j->used = 0;
}

bool json_finish(struct json *j)
{
    json_flush(j);
    return !j->has_failed;
}

int json_publish(struct json *j, struct output_file *file)
{
    if (json_finish(j))
        return output_file_publish(file) ? 0 : errno;
    int reason = errno;
    output_file_discard(file);
    return reason;
}

/* The most that is put together in the buffer before it is looked at again. */
#define PIECE 512

/* Room for a piece; take_buffer() says where it ended. */
static inline char *piece(struct json *j)
{
    if (JSON_BUFFER - j->used < PIECE)
        json_flush(j);
    return j->buffer + j->used;
}

static inline void take_buffer(struct json *j, const char *end)
{
    size_t used = (size_t)(end - j->buffer);
    j->total += used - j->used;
    j->used = used;
}

void json_raw(struct json *j, const char *text, size_t bytes)
{
    j->total += bytes;
    while (bytes) {
        size_t part = min(bytes, JSON_BUFFER - j->used);
        memcpy(j->buffer + j->used, text, part);
        j->used += part;
        text += part;
        bytes -= part;
        if (j->used == JSON_BUFFER)
            json_flush(j);
    }
}

void json_print(struct json *j, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    json_raw(j, text, n < (int)sizeof text ? (size_t)n : sizeof text - 1);
}

/* ---- most of a file is keys and whole numbers, so these call nothing ---- */

/* The character that follows the backslash: 0 if none is needed, 'u' for a number. */
static const char escapes[256] = {[0x00 ... 0x1f] = 'u', ['"'] = '"', ['\\'] = '\\'};

static inline char *escape(char *to, unsigned char c)
{
    static const char digits[] = "0123456789abcdef";
    *to++ = '\\';
    *to++ = escapes[c];
    if (escapes[c] == 'u') {
        *to++ = '0';
        *to++ = '0';
        *to++ = digits[c >> 4];
        *to++ = digits[c & 15];
    }
    return to;
}

/* From `to` on until the end of the text, or of what a piece of a buffer holds. */
static inline char *escape_some(char *to, const char **text)
{
    const char *value = *text, *last = to + PIECE - 16;
    for (; *value && to < last; value++) {
        unsigned char c = (unsigned char)*value;
        if (unlikely(escapes[c]))
            to = escape(to, c);
        else
            *to++ = (char)c;
    }
    *text = value;
    return to;
}

static inline void escaped(struct json *j, const char *value)
{
    char *to = piece(j);
    *to++ = '"';
    for (to = escape_some(to, &value); *value; to = escape_some(to, &value)) {
        take_buffer(j, to);
        to = piece(j);
    }
    *to++ = '"';
    take_buffer(j, to);
}

/* Returns the new end. */
static inline char *break_line(const struct json *j, char *to)
{
    static const char spaces[32] = "\n                              ";
    memcpy(to, spaces, sizeof spaces);
    return to + 1 + 2 * (size_t)min(j->depth, JSON_DEEPEST);
}

static inline void begin_member(struct json *j, const char *key)
{
    char *to = piece(j);
    if (!j->is_first)
        *to++ = ',';
    if (!j->is_first && j->is_flat)
        *to++ = ' ';
    if (j->depth && !j->is_flat)
        to = break_line(j, to);
    take_buffer(j, to);
    j->is_first = false;
    if (!key)
        return;
    escaped(j, key);
    to = piece(j);
    *to++ = ':';
    *to++ = ' ';
    take_buffer(j, to);
}

/* The value after a key. */
static inline void number(struct json *j, uint64_t value, bool is_negative)
{
    char text[20], *to = piece(j);
    size_t at = sizeof text;
    do
        text[--at] = (char)('0' + value % 10);
    while (value /= 10);
    *to = '-';
    to += is_negative;
    while (at < sizeof text)
        *to++ = text[at++];
    take_buffer(j, to);
}

void json_key(struct json *j, const char *key)
{
    begin_member(j, key);
}

void json_open(struct json *j, const char *key, char bracket)
{
    begin_member(j, key);
    char *to = piece(j);
    *to++ = bracket;
    take_buffer(j, to);
    j->depth++;
    j->is_first = true;
}

void json_close(struct json *j, char bracket)
{
    bool is_empty = j->is_first;
    char *to = piece(j);
    j->depth--;
    j->is_first = false;
    if (!is_empty && !j->is_flat)
        to = break_line(j, to);
    *to++ = bracket;
    take_buffer(j, to);
}

void json_uint(struct json *j, const char *key, uint64_t value)
{
    begin_member(j, key);
    number(j, value, false);
}

void json_int(struct json *j, const char *key, int64_t value)
{
    begin_member(j, key);
    number(j, value < 0 ? -(uint64_t)value : (uint64_t)value, value < 0);
}

void json_bool(struct json *j, const char *key, bool value)
{
    begin_member(j, key);
    json_raw(j, value ? "true" : "false", value ? 4 : 5);
}

void json_text(struct json *j, const char *key, const char *value)
{
    begin_member(j, key);
    if (value)
        escaped(j, value);
    else
        json_raw(j, "null", 4);
}

void json_decimal(struct json *j, const char *key, double value)
{
    begin_member(j, key);
    json_print(j, "%.3f", value);
}

void json_seconds(struct json *j, const char *key, double value)
{
    begin_member(j, key);
    json_print(j, "%.6f", value);
}

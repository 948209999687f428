/* The JSON writer; see json.h. */
#include "json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void json_start(struct json *j, int fd)
{
    j->fd = fd;
    j->failed = false;
    j->first = true;
    j->flat = false;
    j->depth = 0;
    j->used = 0;
    j->total = 0;
}

void json_flush(struct json *j)
{
    size_t done = 0;
    while (done < j->used && !j->failed) {
        ssize_t n = write(j->fd, j->buffer + done, j->used - done);
        if (n < 0 && errno == EINTR)
            continue;
        j->failed = n < 0;
        done += n < 0 ? 0 : (size_t)n;
    }
    j->used = 0;
}

bool json_finish(struct json *j)
{
    json_flush(j);
    return !j->failed;
}

int json_publish(struct json *j, struct output_file *file)
{
    if (json_finish(j))
        return output_file_publish(file) ? 0 : errno;
    int reason = errno;
    output_file_discard(file);
    return reason;
}

void json_raw(struct json *j, const char *text, size_t bytes)
{
    j->total += bytes;
    while (bytes) {
        size_t part = bytes < JSON_BUFFER - j->used ? bytes : JSON_BUFFER - j->used;
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

static void escaped(struct json *j, const char *value)
{
    json_raw(j, "\"", 1);
    while (*value) {
        size_t plain = 0;
        while ((unsigned char)value[plain] >= 0x20 && value[plain] != '"' && value[plain] != '\\')
            plain++;
        json_raw(j, value, plain);
        value += plain;
        if (*value == '"' || *value == '\\')
            json_print(j, "\\%c", *value++);
        else if (*value)
            json_print(j, "\\u%04x", (unsigned char)*value++);
    }
    json_raw(j, "\"", 1);
}

static void break_line(struct json *j)
{
    static const char spaces[] = "\n                              ";
    if (!j->flat)
        json_raw(j, spaces, 1 + 2 * (size_t)(j->depth < JSON_DEEPEST ? j->depth : JSON_DEEPEST));
}

void json_key(struct json *j, const char *key)
{
    if (!j->first)
        json_raw(j, j->flat ? ", " : ",", j->flat ? 2 : 1);
    if (j->depth)
        break_line(j);
    j->first = false;
    if (key) {
        escaped(j, key);
        json_raw(j, ": ", 2);
    }
}

void json_open(struct json *j, const char *key, char bracket)
{
    json_key(j, key);
    json_raw(j, &bracket, 1);
    j->depth++;
    j->first = true;
}

void json_close(struct json *j, char bracket)
{
    bool empty = j->first;
    j->depth--;
    j->first = false;
    if (!empty)
        break_line(j);
    json_raw(j, &bracket, 1);
}

void json_uint(struct json *j, const char *key, uint64_t value)
{
    char text[20]; /* a statistics file is mostly of these */
    size_t at = sizeof text;
    do
        text[--at] = (char)('0' + value % 10);
    while (value /= 10);
    json_key(j, key);
    json_raw(j, text + at, sizeof text - at);
}

void json_int(struct json *j, const char *key, int64_t value)
{
    json_key(j, key);
    json_print(j, "%" PRId64, value);
}

void json_bool(struct json *j, const char *key, bool value)
{
    json_key(j, key);
    json_print(j, value ? "true" : "false");
}

void json_text(struct json *j, const char *key, const char *value)
{
    json_key(j, key);
    if (value)
        escaped(j, value);
    else
        json_raw(j, "null", 4);
}

void json_decimal(struct json *j, const char *key, double value)
{
    json_key(j, key);
    json_print(j, "%.3f", value);
}

/* Writing JSON to a file descriptor through a buffer of its own. The caller opens and closes
 * objects and arrays in order; commas and indentation come by themselves. Errors are sticky and
 * reported by json_finish(). Used by stats.c and timeline.c. */
#ifndef HEDDLE_RUNTIME_OBSERVE_JSON_H
#define HEDDLE_RUNTIME_OBSERVE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/engine/output_file.h"

#define JSON_BUFFER  65536
#define JSON_DEEPEST 15

struct json {
    int fd;
    bool has_failed;
    bool is_first; /* nothing yet in the innermost container */
    bool is_flat;  /* no line breaks */
    uint32_t depth;
    size_t used;
    uint64_t total; /* bytes so far, buffered ones included */
    char buffer[JSON_BUFFER];
};

void json_start(struct json *j, int fd);
/* Flushes. False: writing failed, errno says why. */
bool json_finish(struct json *j);
/* Afterwards all so far is in the file, or `has_failed` is set. */
void json_flush(struct json *j);
/* Flushes into `file`, which `j` writes to, and publishes it. 0, or the errno of what failed; then
 * nothing is left. */
int json_publish(struct json *j, struct output_file *file);

/* `key` NULL: an element of an array, or the root. */
void json_open(struct json *j, const char *key, char bracket);
void json_close(struct json *j, char bracket);
void json_uint(struct json *j, const char *key, uint64_t value);
void json_int(struct json *j, const char *key, int64_t value);
void json_bool(struct json *j, const char *key, bool value);
void json_text(struct json *j, const char *key, const char *value); /* NULL: null */
void json_decimal(struct json *j, const char *key, double value);   /* three decimals */
void json_seconds(struct json *j, const char *key, double value);   /* to the microsecond */

/* Without escaping and commas. */
void json_raw(struct json *j, const char *text, size_t bytes);
void json_key(struct json *j, const char *key);
void json_print(struct json *j, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif

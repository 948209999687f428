/* Text under construction, and files that are written only when their content changes.
 *
 * An emitter function writes one output construct, in output order. Lines are indented by the
 * emitter itself: what is in the format string is what is in the output. A file that already
 * has the wanted bytes is left alone, so that programs that look at times (make, ninja) see no
 * change; otherwise it is written beside its place and renamed, so that no reader ever sees half of
 * it. */
#ifndef HEDDLE_CODEGEN_EMIT_EMIT_H
#define HEDDLE_CODEGEN_EMIT_EMIT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/region.h"

struct emit {
    struct region *region; /* owns the text */
    char *text;            /* NUL-terminated; "" before the first emit() */
    size_t size, capacity;
};

void emit_init(struct emit *e, struct region *region);
void emit(struct emit *e, const char *format, ...) __attribute__((format(printf, 2, 3)));
void emit_bytes(struct emit *e, const void *bytes, size_t size);

/* A documentation comment: `text` broken into lines of at most 100 columns. Nothing for "". */
void emit_comment(struct emit *e, const char *indent, const char *text);

enum emit_result { EMIT_UNCHANGED, EMIT_WRITTEN, EMIT_FAILED };

/* Writes the text to `path`; EMIT_FAILED with a message on stderr. */
enum emit_result emit_write(const struct emit *e, const char *path);
enum emit_result emit_write_bytes(const char *path, const void *bytes, size_t size);

/* Makes the folder and its parents; false with a message on stderr. */
bool emit_make_folder(const char *path);
/* Writes a file and makes the folders in which it is. `path` has a '/'; one at its end makes it a
 * folder alone. False: said why on stderr. */
bool emit_write_below(struct region *region, const char *path, const char *text);

#endif

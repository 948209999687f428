/* Source files and places in them.
 *
 * All files of a compilation share one space of 32-bit byte offsets: a place is an offset in that
 * space, a span is two, and the file follows from the offset. Line and column are found only when a
 * diagnostic is printed. Offset 0 belongs to no file: a span that begins there means "no place". */
#ifndef HEDDLE_DSL_SOURCE_H
#define HEDDLE_DSL_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/number.h"
#include "base/region.h"

struct span {
    uint32_t begin, end; /* end is one past */
};

struct source_file {
    const char *name;   /* as the user named it, or as opened by an import */
    const char *folder; /* folder of `name`, without a slash at the end; "" for the current one */
    const char *text;   /* NUL-terminated; lines end with '\n', no byte-order mark */
    uint32_t size;
    uint32_t base;   /* offset of its first byte */
    uint32_t *lines; /* offsets in the file of line starts; NULL until asked for */
    uint32_t line_count;
    bool is_plain; /* the file has exactly this text */
    bool is_library;
    bool is_virtual; /* the text of a --set, not a file */
};

/* A callback as compile_open_text of compile.h. */
typedef const char *source_open_text(void *context, const char *name, size_t *size);

struct source_set {
    struct region *region;
    source_open_text *open_text; /* asked before a file is read; NULL: none */
    void *open_context;
    VECTOR(struct source_file *) files;
    uint32_t next_base;
};

struct source_position {
    const struct source_file *file; /* NULL: no place */
    uint32_t line, column;          /* 1-based; columns count characters, not bytes */
};

/* The largest file that is read; more is an error, so that offsets fit. */
#define SOURCE_BYTES_MAX ((size_t)4 * 1024 * 1024)
#define SOURCE_TOO_LARGE "it is larger than 4 MiB"

void source_set_init(struct source_set *set, struct region *region);
/* Adds text (copied, with plain line ends). NULL when it is too large or the offset space is full.
 */
struct source_file *source_add(struct source_set *set, const char *name, const char *text,
                               size_t size);
/* Reads a regular file. NULL with `*reason` set to a static or errno text. */
struct source_file *source_read(struct source_set *set, const char *name, const char **reason);
/* A file already added under this name, or NULL. */
struct source_file *source_find(const struct source_set *set, const char *name);
struct source_file *source_of(const struct source_set *set, uint32_t offset);
struct source_position source_locate(const struct source_set *set, uint32_t offset);
/* The line (1-based) without its end; *size in bytes. */
const char *source_line(const struct source_set *set, const struct source_file *file, uint32_t line,
                        uint32_t *size);
/* The bytes of a span, copied, runs of white space made one space. */
const char *source_slice(const struct source_set *set, struct span span);
bool source_is_readable(const char *name);
/* True if there is something that is no regular file: a folder, a device. */
bool source_is_no_file(const char *name);
/* True if the file is readable, or open in an editor. */
bool source_exists(const struct source_set *set, const char *name);
/* A path without its folders. */
const char *source_base_name(const char *path);
/* folder/name; the name alone where the folder is "". */
const char *source_join(struct region *region, const char *folder, const char *name);

static inline struct span span_join(struct span a, struct span b)
{
    if (a.begin == 0)
        return b;
    if (b.begin == 0)
        return a;
    return (struct span){min(a.begin, b.begin), max(a.end, b.end)};
}

#endif

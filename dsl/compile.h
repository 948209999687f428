/* The front end's public face: from files to a `struct model`, with diagnostics.
 *
 * One `struct compilation` reads one main file and its imports. Everything that it hands out
 * (models, diagnostics, strings) lives in its region until compile_close(). A compilation is used
 * once: open, one of the compile_*() functions, look at diagnostics, close. Nothing is printed
 * unless asked for; nothing is global, so several may be open at a time.
 *
 * A function that returns a model returns NULL exactly when there is at least one error; warnings
 * do not matter.
 */
#ifndef HEDDLE_DSL_COMPILE_H
#define HEDDLE_DSL_COMPILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "model.h"

struct compilation;

/* The text of a file that an editor has open, which may differ from the file; NULL: the file is
 * read. The text stays as it is until the compilation has read it, which it copies. */
typedef const char *compile_open_text(void *context, const char *name, size_t *size);

struct compile_options {
    const char *library_root; /* folder that holds NAME/NAME.heddle for "std/NAME"; NULL: none */
    const char *const *include_paths; /* -I, searched in order */
    size_t include_count;
    const char *const *overrides; /* --set, each "path=value", later ones win */
    size_t override_count;
    uint32_t max_instances;       /* 0: 1,000,000 */
    bool allow_incoherent;        /* E0507 becomes a warning, W0707 */
    compile_open_text *open_text; /* NULL: no editor */
    void *open_context;
};

enum compile_severity { COMPILE_ERROR, COMPILE_WARNING };

/* A second place of a diagnostic (`note:`) or a likely fix (`help:`, which may have no place: file
 * == NULL). */
struct compile_note {
    bool is_help;
    struct model_place place;
    uint32_t end_line, end_column;
    const char *message;
};

struct compile_diagnostic {
    const char *code; /* "E0123" */
    const char *name; /* "unconnected" */
    enum compile_severity severity;
    struct model_place place;      /* file == NULL: concerns no place */
    uint32_t end_line, end_column; /* one past the span */
    const char *message;
    const struct compile_note *notes;
    size_t note_count;
};

/* One code, for `heddle explain`. */
struct compile_explanation {
    const char *code;
    const char *name;
    enum compile_severity severity;
    const char *summary; /* one line */
    const char *text;    /* long: what, why, a wrong and a right example */
};

/* Copies `options` (NULL: none), but not the strings: they must outlive the compilation. Never
 * NULL. */
struct compilation *compile_open(const struct compile_options *options);
void compile_close(struct compilation *c);

/* Elaborates platform `platform` of `file` (NULL: the last one in it). A file without a platform is
 * an error. */
const struct model *compile_platform(struct compilation *c, const char *file, const char *platform);

/* Compiles text in memory; `name` is what diagnostics call it, and its folder is where imports are
 * searched. */
const struct model *compile_text(struct compilation *c, const char *name, const char *text,
                                 size_t size, const char *platform);

/* For documentation and for checking a library file: the types, protocols, links, interfaces and
 * enums in scope. The model has no instances (root == NULL) and an empty name. Works for files with
 * platforms, too. */
const struct model *compile_components(struct compilation *c, const char *file);

/* `heddle check`: compile_platform() for a file with a platform, else compile_components(). */
const struct model *compile_check(struct compilation *c, const char *file, const char *platform);

/* Diagnostics, sorted by place. */
size_t compile_error_count(const struct compilation *c);
size_t compile_diagnostic_count(const struct compilation *c);
const struct compile_diagnostic *compile_diagnostic_at(const struct compilation *c, size_t index);
/* With source line, caret, notes, and a last line that counts; prints nothing when there are none.
 */
void compile_print_diagnostics(const struct compilation *c, FILE *out, bool colour);

/* Paths of all files read, main file first: for dependency files and content hashes. */
size_t compile_file_count(const struct compilation *c);
const char *compile_file_name(const struct compilation *c, size_t index);
/* Places that were searched in vain for an import found later, so that a file there would be read
 * instead; NULL after the last. */
const char *compile_missed(const struct compilation *c, size_t index);
/* The text of a file; NULL when the file has a byte-order mark or other line ends than it. */
const char *compile_file_text(const struct compilation *c, size_t index, size_t *size);

/* A line (1-based) of a file as places count it, without its end; NULL: no such line. */
const char *compile_line_text(const struct compilation *c, const char *file, uint32_t line,
                              uint32_t *size);

/* The text of `file` in canonical layout, NUL-terminated, in the compilation's region; NULL with a
 * diagnostic when the file cannot be read or has a syntax error. */
const char *compile_format(struct compilation *c, const char *file, size_t *size);
const char *compile_format_text(struct compilation *c, const char *name, const char *text,
                                size_t size, size_t *formatted_size);

/* All codes, in order; and one by code or name (NULL: no such). */
size_t compile_explanation_count(void);
const struct compile_explanation *compile_explanation_at(size_t index);
const struct compile_explanation *compile_explain(const char *code);

/* The candidate nearest in spelling to `word`, or NULL when none is near. For commands and options,
 * too. */
const char *compile_suggest(const char *word, const char *const *candidates, size_t count);

#endif

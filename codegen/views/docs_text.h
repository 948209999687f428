/* Text into HTML, DOT, Markdown and CSV: escaping, and the little that documentation comments may
 * contain.
 *
 * A documentation comment is plain text with `code` in backquotes; an empty line separates
 * paragraphs. */
#ifndef HEDDLE_CODEGEN_DOCS_TEXT_H
#define HEDDLE_CODEGEN_DOCS_TEXT_H

#include <stdio.h>

#include "codegen/views/view.h"
#include "dsl/arena.h"

/* With &, <, >, " as entities: for HTML text and attributes, and for labels of DOT. */
void docs_write_html(FILE *out, const char *text);
/* Paragraphs and `code`; nothing for an empty text. */
void docs_write_html_paragraphs(FILE *out, const char *text);
/* Writes `code` without paragraphs, for a table's cell. */
void docs_write_html_inline(FILE *out, const char *text);
/* For a cell of a Markdown table: one line, with bars escaped. */
void docs_write_markdown_cell(FILE *out, const char *text);
/* A field of CSV (RFC 4180), and what stands behind it. */
void docs_write_csv(FILE *out, const char *text, const char *after);

/* The first sentence, in the arena. */
const char *docs_first_sentence(struct arena *arena, const char *text);

/* A directory, made when missing, with what is above it. */
bool docs_make_directory(const char *dir, struct view_error *error);
/* "DIR/NAME" opened under a temporary name; docs_close() renames it into place. NULL or false:
 * `error` says why. */
FILE *docs_open(const char *dir, const char *name, struct view_error *error);
bool docs_close(FILE *file, const char *dir, const char *name, struct view_error *error);
/* Instead of docs_close(): nothing is left. */
void docs_discard(FILE *file, const char *dir, const char *name);

#endif

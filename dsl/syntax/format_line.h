/* Lines of the formatter's output before they are written: format.c lays them out, format_wrap.c
 * finds where those that are too long break. */
#ifndef HEDDLE_DSL_SYNTAX_FORMAT_LINE_H
#define HEDDLE_DSL_SYNTAX_FORMAT_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/region.h"
#include "dsl/source.h"

#include "token.h"

#define FORMAT_COLUMNS      100 /* most columns of a line that can be broken */
#define FORMAT_INDENT       4   /* columns for a brace level */
#define FORMAT_CONTINUATION 8   /* columns for the second line of a statement, and those after it */
#define FORMAT_CELLS_MAX    6
#define COMMENT_NONE        UINT32_MAX

struct format_cell {
    const char *text;
    int column; /* the aligned column that it begins; 0: none */
};

/* A line before alignment: cells that begin at aligned columns. A line of a comment has one cell
 * and no tokens. */
struct format_line {
    uint32_t indent;
    /* The kind of lines that it is aligned with: a keyword token, WORD for instances, ARROW for
     * connections; 0: none. */
    int kind;
    bool is_blank;
    bool is_continuation; /* its statement begins on a line before */
    struct format_cell cells[FORMAT_CELLS_MAX];
    uint32_t cell_count;
    const char *comment;      /* after the code; NULL: none */
    uint32_t movable_comment; /* index of that comment if it can go before the line; COMMENT_NONE */
    uint32_t from, to;        /* its tokens: [from, to) */
};

struct formatter {
    struct region *region;
    const struct source_file *source;
    struct token_list *list; /* breaks are marked in it */
    uint32_t *columns;       /* where each token begins on its line, without alignment */
    VECTOR(struct format_line) lines;
};

/* Characters of a text. */
size_t format_width(const char *text);

/* Marks where a line of `width` columns, its alignment included, breaks. Returns false if it fits
 * or cannot be broken. */
bool format_break_line(struct formatter *f, const struct format_line *line, size_t width);

/* Moves words of comments that are too long into the lines after them. */
void format_wrap_comments(struct formatter *f);

#endif

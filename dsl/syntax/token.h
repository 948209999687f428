/* Tokens of one file, in an array, with the words that are keywords where they are already told
 * from names.
 *
 * No word is reserved. A word is a keyword only in a place where a keyword can be and where what
 * follows fits: at the start of a statement ("in top : mem;" but "in : cache;" is an instance named
 * `in`), or behind a complete operand ("x -> y via link"). token_scan() decides that once, with the
 * whole file to look at, so that the grammar sees plain keywords and plain names. */
#ifndef HEDDLE_DSL_SYNTAX_TOKEN_H
#define HEDDLE_DSL_SYNTAX_TOKEN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/region.h"
#include "dsl/diagnostic.h"
#include "dsl/model.h"
#include "dsl/source.h"

struct token {
    int kind; /* a token of parser.y, or a character */
    struct span span;
    const char *text; /* names, strings without quotes; token_unclosed */
    int64_t value;    /* numbers */
    enum model_dimension dimension;
    bool first_on_line;
};

struct comment {
    struct span span; /* without the line end */
    bool is_doc;
    bool own_line;  /* nothing before it on its line */
    uint32_t token; /* index of the token that follows */
};

struct token_list {
    VECTOR(struct token) tokens; /* the last one is END (kind 0) */
    VECTOR(struct comment) comments;
    /* From a '{' whose '}' was reported missing to where it was put in: what is there may be
     * read wrongly, so the parser reports no mistakes in it. */
    VECTOR(struct span) unclosed;
    uint32_t cut; /* offset of a comment without end; 0: there is none */
};

/* The text of a string that nothing closes, which has been reported: empty. */
extern const char token_unclosed[];

/* Braces nest no deeper than this. */
#define TOKEN_DEPTH_MAX 64

/* The keyword that begins statements and is nearest to `word`; NULL: none is near. */
const char *token_suggest(const char *word);

/* Scans a file. With `recover`, a missing '}' in front of a top-level declaration is reported and
 * put in. */
void token_scan(struct region *region, struct diagnostics *d, const struct source_file *file,
                bool recover, struct token_list *out);
#endif

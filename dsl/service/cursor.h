/* The context of the cursor: the braces around it, and the words of its statement in front of it.
 * It is read off the tokens, so it works in a statement without an end. Called by complete.c. */
#ifndef HEDDLE_DSL_SERVICE_CURSOR_H
#define HEDDLE_DSL_SERVICE_CURSOR_H

#include "dsl/elaborate/imports.h"

enum cursor_place {
    CURSOR_TOP,
    CURSOR_BODY,     /* the body of a platform, component or part */
    CURSOR_SETTINGS, /* in the braces of an instance, part or link */
    CURSOR_PROTOCOL,
    CURSOR_FIELDS, /* the fields of a message */
    CURSOR_FACTS,
    CURSOR_NOWHERE /* in a comment or number, or between the names of an enumeration */
};

#define CURSOR_LOOPS 64

struct cursor {
    enum cursor_place place;
    const char *around;        /* the declaration at the top that it is in; NULL: none */
    bool around_part;          /* the body around is that of a part */
    const char *target;        /* SETTINGS: the type or link whose braces they are; NULL: unknown */
    const struct token *words; /* words of the statement, before the one that is being written */
    uint32_t count;
    struct span word;                /* the text to replace; may be empty */
    bool in_string;                  /* `word` is what stands between the quotes */
    const char *loops[CURSOR_LOOPS]; /* variables of `for` around it */
    uint32_t loop_count;
};

/* `at` is an offset in the space of all files. */
void cursor_find(struct cursor *cursor, struct region *region, const struct source_file *file,
                 uint32_t at);

/* The text of a word, NULL for anything else. */
const char *token_word(const struct token *token);
bool token_is(const struct token *token, const char *word);
/* The token `back` before the end of the statement (1: the last), NULL: none. */
const struct token *cursor_before(const struct cursor *cursor, uint32_t back);
/* The first token of this kind, or that is this word, counted from the start; UINT32_MAX: none. */
uint32_t cursor_kind(const struct cursor *cursor, int kind);

#endif

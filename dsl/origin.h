/* The origin of a number, as a documentation comment says it: a sentence that begins with one of
 * five words and a colon, and the source up to the end of the comment.
 *
 *     /// Cycles from a load to the next. Measured: 136, MI100 (mt4g).
 *
 * measured: on hardware. published: by the maker, in a standard, or as the setting of a simulator
 * whose machine this is. derived: follows from others. fitted: chosen so that something measured
 * comes out. assumed: none of these. */
#ifndef HEDDLE_DSL_ORIGIN_H
#define HEDDLE_DSL_ORIGIN_H

#include <stddef.h>

enum origin_kind {
    ORIGIN_UNSTATED,
    ORIGIN_MEASURED,
    ORIGIN_PUBLISHED,
    ORIGIN_DERIVED,
    ORIGIN_FITTED,
    ORIGIN_ASSUMED,
    ORIGIN_KINDS
};

struct origin {
    enum origin_kind kind;
    const char *source;     /* behind the colon, "" when there is nothing; inside the comment */
    const char *misspelt;   /* a word that is nearly one of the kinds, or NULL */
    size_t misspelt_length; /* without the colon */
};

/* The first origin that `doc` names; nearly right words are looked for in all of it. */
struct origin origin_in(const char *doc);

/* "measured", "unstated". */
const char *origin_name(enum origin_kind kind);
/* "Measured", as comments write it. */
const char *origin_word(enum origin_kind kind);

#endif

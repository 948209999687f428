/* Diagnostics: collected while the work goes on, sorted by place at the end, printed only when
 * asked for.
 *
 * A code is reported at most once for a span, however many instances run into it; the instances
 * that follow are counted. While `muted` is above zero nothing is recorded: used where a question
 * is asked just to see. */
#ifndef HEDDLE_DSL_DIAGNOSTIC_H
#define HEDDLE_DSL_DIAGNOSTIC_H

#include <stdbool.h>
#include <stdio.h>

#include "base/region.h"

#include "compile.h"
#include "source.h"

enum diagnostic_code {
#define DIAGNOSTIC(code, name, summary, text) code,
#include "codes.def"
#undef DIAGNOSTIC
    DIAGNOSTIC_CODE_COUNT
};

struct diagnostic_note {
    bool is_help;
    struct span span;
    const char *message;
};

struct diagnostic {
    enum diagnostic_code code;
    struct span span;
    uint32_t order;   /* order of reporting, which breaks ties */
    const void *key;  /* tells apart what has the same code and span */
    uint32_t repeats; /* further instances with the same mistake */
    const char *message;
    VECTOR(struct diagnostic_note) notes;
};

/* More diagnostics than this are not recorded: such an input is no description. */
#define DIAGNOSTIC_MAX 200

struct diagnostics {
    struct region *region;
    struct source_set *sources;
    VECTOR(struct diagnostic *) list;
    uint32_t error_count, warning_count;
    int muted;
    bool library_is_quiet; /* warnings at places in the library are not recorded */
    bool is_flooded;
    const void *key;        /* the next diagnostic's, which clears it */
    struct diagnostic sink; /* takes notes of what is not recorded */
    struct compile_diagnostic *published;
};

void diagnostics_init(struct diagnostics *d, struct region *region, struct source_set *sources);
/* Never NULL: what is muted or repeated returns a sink that takes notes and forgets them. */
struct diagnostic *diagnostic_add(struct diagnostics *d, enum diagnostic_code code,
                                  struct span span, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void diagnostic_note(struct diagnostics *d, struct diagnostic *to, struct span span,
                     const char *format, ...) __attribute__((format(printf, 4, 5)));
void diagnostic_help(struct diagnostics *d, struct diagnostic *to, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* "help: did you mean 'X'?" when `suggestion` is not NULL. */
void diagnostic_suggest(struct diagnostics *d, struct diagnostic *to, const char *suggestion);
enum compile_severity diagnostic_severity(enum diagnostic_code code);
/* Sorts, and fills the public form. After this nothing may be added. */
void diagnostics_finish(struct diagnostics *d);
void diagnostics_print(const struct diagnostics *d, FILE *out, bool colour);

#endif

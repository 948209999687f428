/* What a corrected number of cycles was computed from, so that a reader can do it again by hand. */
#ifndef HEDDLE_CODEGEN_ESTIMATE_ACCOUNT_H
#define HEDDLE_CODEGEN_ESTIMATE_ACCOUNT_H

#include <stdio.h>

#include "codegen/report/estimate.h"
#include "codegen/report/estimate_trace.h"

enum { ESTIMATE_TERMS = 24 };

struct estimate_term {
    const char *name;
    double value;
};

/* `law`: assignments separated by "; ", of which the last is the corrected number, over the terms'
 * names, with + - * / ( ) max() and min() as in C. A share of nothing, 0 / 0, is 0. */
struct estimate_account {
    const char *law;
    struct estimate_term terms[ESTIMATE_TERMS];
    unsigned count;
};

/* What estimate_formula() and estimate_cold() compute, and their counterparts for traces. */
void estimate_account_formula(struct estimate_account *a, const struct estimate_input *in);
void estimate_account_cold(struct estimate_account *a, const struct estimate_input *in);
void estimate_account_trace_formula(struct estimate_account *a, const struct estimate_trace *in);
void estimate_account_trace_chain(struct estimate_account *a, const struct estimate_trace *in);

/* What a term is, for a reader. */
const char *estimate_term_meaning(const char *name);
/* "accesses=96 controllers=2": all digits that count. */
void estimate_account_write(FILE *out, const struct estimate_account *a);
/* The law, with its terms' values in place of their names. */
void estimate_account_write_filled(FILE *out, const struct estimate_account *a);

#endif

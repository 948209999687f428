/* The turn of a SIMD; see cu_issue.c. */
#ifndef HEDDLE_COMPUTE_UNIT_CU_ISSUE_H
#define HEDDLE_COMPUTE_UNIT_CU_ISSUE_H

#include "compute_unit_state.h"

static void issue_init(struct compute_unit *c);
static void issue_simd(struct compute_unit *c, unsigned simd, uint64_t now);
static inline void issue_alone(struct compute_unit *c, struct cu_simd *s, unsigned simd,
                               struct cu_wave *w, unsigned wave, uint64_t now);

#endif

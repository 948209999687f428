/* Execution on registers, and turns that are left out; see cu_execute.c and cu_late.c. */
#ifndef HEDDLE_COMPUTE_UNIT_CU_EXECUTE_H
#define HEDDLE_COMPUTE_UNIT_CU_EXECUTE_H

#include "compute_unit_state.h"

static void execute_init(struct compute_unit *c);
static inline enum isa_status execute(const struct compute_unit *c, struct cu_wave *w,
                                      unsigned wave, struct isa_context *context,
                                      struct isa_wave *s);
static bool execute_early(const struct compute_unit *c, struct cu_wave *w, unsigned wave);
static struct cu_late *execute_late(const struct compute_unit *c, const struct cu_wave *w);
static inline void execute_leave_out(const struct compute_unit *c, const struct cu_wave *w);
static void execute_count(const struct compute_unit *c, uint64_t first, uint64_t end);

static void late_init(struct compute_unit *c);
static void late_take_all(struct compute_unit *c, uint64_t cycle);
static void late_end(struct compute_unit *c, unsigned simd, uint64_t now);
static void late_begin(struct compute_unit *c, struct cu_simd *s, unsigned simd, struct cu_wave *w,
                       unsigned wave, uint64_t now);

#endif

/* A wavefront between two instructions; see cu_wavefront.c, and cu_memory_only.c for wave_skip().
 */
#ifndef HEDDLE_COMPUTE_UNIT_CU_WAVEFRONT_H
#define HEDDLE_COMPUTE_UNIT_CU_WAVEFRONT_H

#include "compute_unit_state.h"

static inline uint64_t *wave_account(struct compute_unit *c, const struct cu_wave *w);
static inline void wave_charge(struct compute_unit *c, const struct cu_wave *w,
                               enum work_cycles_kind kind, uint64_t cycles);
static inline void wave_waits(struct compute_unit *c, struct cu_wave *w, uint64_t now,
                              enum work_cycles_kind why);
static inline void wave_issues(struct compute_unit *c, struct cu_wave *w, unsigned issued,
                               uint64_t now);
static inline void wave_executes(struct compute_unit *c, struct cu_wave *w,
                                 enum work_cycles_kind executing, uint64_t now, uint64_t cycles);
static int wave_find_line(const struct compute_unit *c, const struct cu_wave *w, uint64_t line);
static void wave_want_lines(struct compute_unit *c, const struct cu_wave *w);
static bool wave_decode(struct compute_unit *c, struct cu_wave *w, unsigned wave);
static inline void wave_continue(struct compute_unit *c, struct cu_wave *w, unsigned wave,
                                 uint64_t now, uint64_t at);
static void wave_fetched(struct compute_unit *c, struct cu_wave *w, unsigned wave, uint64_t now);
static void wave_sleep(struct compute_unit *c, struct cu_wave *w, uint64_t now);
static inline void wave_begin_ready(struct compute_unit *c, struct cu_wave *w, uint64_t now);
static inline void wave_set_ready(struct cu_simd *s, struct cu_wave *w);
static inline uint64_t wave_next_expiry(const struct compute_unit *c, uint64_t now);
static inline void wave_counted(struct compute_unit *c, struct cu_wave *w, uint64_t now);
static bool wave_skip(struct compute_unit *c, struct cu_wave *w, unsigned wave);

#endif
